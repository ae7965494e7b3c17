// MakeDecoder: checks the options and puts the parts of a decoder together.
#include <fmt/format.h>

#include "connectors/format/csv_row_reader.h"
#include "connectors/format/message_decoder.h"

namespace weir {
namespace {

ReadRules RulesOf(const DecoderOptions& options) {
  ReadRules rules;
  rules.lenient = options.typing == Typing::kLenient;
  // weir writes a changelog itself, and other tools may write its decimals as text.
  rules.text_decimals = rules.text_not_a_number = options.format == FormatKind::kChangelogJson;
  rules.time_zone = options.time_zone;
  return rules;
}

Status CheckOptions(const DecoderOptions& options) {
  if (options.format == FormatKind::kDebeziumJson) return ConfigError("format debezium_json is not available yet");
  if (!IsKnownZone(options.time_zone)) return ConfigError("unknown time zone " + options.time_zone);
  const int columns = static_cast<int>(options.columns.size());
  for (const auto* indexes : {&options.read, &options.primary_key}) {
    for (const int index : *indexes) {
      WEIR_CHECK_LE(0, index);
      WEIR_CHECK_LT(index, columns);
    }
  }
  for (const SourceColumn& column : options.columns) {
    const bool in_csv = options.format == FormatKind::kCsv && column.metadata == Metadata::kNone;
    if (in_csv && column.type.kind == TypeKind::kArray) {
      return ConfigError(fmt::format("column {}: csv has no arrays", column.name));
    }
    if (in_csv && column.path.size() > 1) {
      return ConfigError(fmt::format("column {}: csv has no nested fields", column.name));
    }
    if (column.default_value && column.metadata != Metadata::kNone) {
      return ConfigError(fmt::format("column {}: metadata has no default", column.name));
    }
  }
  return {};
}

// One row with the default, or null when the column has none.
Result<ColumnPtr> DefaultOf(const SourceColumn& column, const ReadRules& rules) {
  if (!column.default_value) return ColumnPtr();
  auto value = std::make_shared<Column>(column.type);
  if (column.type.kind == TypeKind::kArray) {
    // The text form of an array is JSON.
    JsonField field{column.name, {"value"}, ValueReader(column.type, column.unit, rules), 0, true, nullptr};
    std::vector<JsonField> fields;
    fields.push_back(std::move(field));
    JsonRowReader reader(std::move(fields), false);
    BatchBuilder builder(std::make_shared<Schema>(std::vector<Field>{{column.name, column.type}}));
    std::string text = "{\"value\":" + *column.default_value + "}";
    const size_t size = text.size();
    text.append(64, '\0');
    if (!reader.Read(std::string_view(text).substr(0, size), builder)) {
      return ConfigError(fmt::format("column {}: the default is no {}", column.name, column.type.ToString()));
    }
    value->AppendFrom(builder.column(0), 0);
    return ColumnPtr(std::move(value));
  }
  const ParseFault fault = ValueReader(column.type, column.unit, rules).ReadPlain(*column.default_value, *value);
  if (fault != ParseFault::kNone) {
    return ConfigError("default of " + DescribeFault(column.name, *column.default_value, true, column.type, fault));
  }
  return ColumnPtr(std::move(value));
}

SchemaPtr OutputSchema(const DecoderOptions& options) {
  std::vector<Field> fields(options.read.size());
  for (const DeclaredColumn& declared : ColumnsToDecode(options)) {
    if (declared.output < 0) continue;
    fields[static_cast<size_t>(declared.output)] = {declared.column->name, declared.column->type, !declared.key};
  }
  return std::make_shared<const Schema>(std::move(fields));
}

Result<std::vector<JsonField>> JsonFields(const DecoderOptions& options, const ReadRules& rules) {
  std::vector<JsonField> fields;
  for (const DeclaredColumn& declared : ColumnsToDecode(options)) {
    const SourceColumn& column = *declared.column;
    if (column.metadata != Metadata::kNone) continue;
    WEIR_ASSIGN(ColumnPtr default_value, DefaultOf(column, rules));
    fields.push_back({column.name, column.path.empty() ? std::vector<std::string>{column.name} : column.path,
                      ValueReader(column.type, column.unit, rules), declared.output, declared.key,
                      std::move(default_value)});
  }
  return fields;
}

Result<std::vector<CsvField>> CsvFields(const DecoderOptions& options, const ReadRules& rules) {
  std::vector<CsvField> fields;
  const std::vector<DeclaredColumn> wanted = ColumnsToDecode(options);
  for (const SourceColumn& column : options.columns) {
    if (column.metadata != Metadata::kNone) continue;
    CsvField field{column.name, ValueReader(column.type, column.unit, rules), {}, false, nullptr};
    WEIR_ASSIGN(field.default_value, DefaultOf(column, rules));
    for (const DeclaredColumn& declared : wanted) {
      if (declared.column != &column) continue;
      if (declared.output >= 0) field.outputs.push_back(declared.output);
      field.not_null = declared.key;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

template <class RowReader>
std::unique_ptr<Decoder> Assemble(const DecoderOptions& options, const ReadRules& rules, RowReader reader,
                                  MetadataColumns metadata) {
  std::optional<TombstoneKeys> tombstones;
  if (options.upsert && !options.primary_key.empty()) tombstones.emplace(options, rules);
  return std::make_unique<MessageDecoder<RowReader>>(OutputSchema(options), std::move(reader), std::move(metadata),
                                                     std::move(tombstones));
}

}  // namespace

Result<std::unique_ptr<Decoder>> MakeDecoder(const DecoderOptions& options) {
  WEIR_TRY(CheckOptions(options));
  const ReadRules rules = RulesOf(options);
  WEIR_ASSIGN(MetadataColumns metadata, MetadataColumns::Make(options, rules));
  if (options.format == FormatKind::kCsv) {
    WEIR_ASSIGN(std::vector<CsvField> fields, CsvFields(options, rules));
    return Assemble(options, rules, CsvRowReader(std::move(fields), options.csv_delimiter), std::move(metadata));
  }
  WEIR_ASSIGN(std::vector<JsonField> fields, JsonFields(options, rules));
  JsonRowReader reader(std::move(fields), options.format == FormatKind::kChangelogJson);
  return Assemble(options, rules, std::move(reader), std::move(metadata));
}

}  // namespace weir
