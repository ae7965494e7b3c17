#include "connectors/format/message_columns.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>

namespace weir {
namespace {

constexpr size_t kPadding = 64;

// The types that a metadata column can have.
bool Fits(Metadata metadata, const DataType& type) {
  switch (metadata) {
    case Metadata::kTimestamp:
      return type.IsTimestamp() || type.kind == TypeKind::kBigint;
    case Metadata::kPartition:
      return type.kind == TypeKind::kInt || type.kind == TypeKind::kBigint;
    case Metadata::kOffset:
      return type.kind == TypeKind::kBigint;
    default:
      return type.kind != TypeKind::kArray;
  }
}

}  // namespace

std::vector<DeclaredColumn> ColumnsToDecode(const DecoderOptions& options) {
  std::vector<std::vector<int>> outputs(options.columns.size());
  for (size_t output = 0; output < options.read.size(); ++output) {
    outputs[static_cast<size_t>(options.read[output])].push_back(static_cast<int>(output));
  }
  std::vector<DeclaredColumn> out;
  for (size_t i = 0; i < options.columns.size(); ++i) {
    const bool key = std::find(options.primary_key.begin(), options.primary_key.end(), static_cast<int>(i)) !=
                     options.primary_key.end();
    for (const int output : outputs[i]) out.push_back({&options.columns[i], output, key});
    if (outputs[i].empty() && key) out.push_back({&options.columns[i], -1, key});
  }
  return out;
}

Result<MetadataColumns> MetadataColumns::Make(const DecoderOptions& options, const ReadRules& rules) {
  MetadataColumns out;
  for (const DeclaredColumn& declared : ColumnsToDecode(options)) {
    const SourceColumn& column = *declared.column;
    if (column.metadata == Metadata::kNone) continue;
    if (!Fits(column.metadata, column.type)) {
      return ConfigError(fmt::format("column {}: this metadata is not a {}", column.name, column.type.ToString()));
    }
    // The message's time counts milliseconds whatever unit the column's own numbers have.
    const TimeUnit unit = column.metadata == Metadata::kTimestamp ? TimeUnit::kMilliseconds : column.unit;
    out.columns_.push_back(
        {column.name, column.metadata, ValueReader(column.type, unit, rules), declared.output, declared.key});
  }
  return out;
}

bool MetadataColumns::Append(const RawMessage& message, BatchBuilder& out, std::string& error) const {
  return std::all_of(columns_.begin(), columns_.end(),
                     [&](const Column& column) { return AppendValue(column, message, out, error); });
}

bool MetadataColumns::AppendKey(const RawMessage& message, BatchBuilder& out, std::string& error) const {
  return std::all_of(columns_.begin(), columns_.end(),
                     [&](const Column& column) { return !column.key || AppendValue(column, message, out, error); });
}

bool MetadataColumns::AppendValue(const Column& column, const RawMessage& message, BatchBuilder& out,
                                  std::string& error) const {
  const bool is_null = (column.metadata == Metadata::kKey && !message.key) ||
                       (column.metadata == Metadata::kTimestamp && message.timestamp_ms == -1);
  if (is_null && column.key) {
    error = fmt::format("column {}: NULL in the primary key", column.name);
    return false;
  }
  if (column.output < 0) return true;
  weir::Column& to = out.column(static_cast<size_t>(column.output));
  if (is_null) {
    to.AppendNull();
    return true;
  }
  ParseFault fault = ParseFault::kNone;
  std::string_view shown;
  char number[24];
  const DataType& type = column.reader.type();
  if (column.metadata == Metadata::kKey) {
    shown = *message.key;
    if (type.kind == TypeKind::kBytes) {
      to.AppendText(shown);
    } else if (!IsText(shown)) {
      fault = ParseFault::kSyntax;
      shown = "a key that is not UTF-8 text";
    } else {
      fault = column.reader.ReadPlain(shown, to);
    }
  } else {
    int64_t value = message.offset;
    if (column.metadata == Metadata::kPartition) value = message.partition_id;
    if (column.metadata == Metadata::kTimestamp) value = message.timestamp_ms;
    if (column.reader.is_integer() && column.reader.ReadInteger(value, to)) return true;
    shown = {number, static_cast<size_t>(std::to_chars(number, number + sizeof number, value).ptr - number)};
    fault = column.reader.ReadNumber(shown, to);
  }
  if (fault != ParseFault::kNone) error = DescribeFault(column.name, shown, true, type, fault);
  return fault == ParseFault::kNone;
}

TombstoneKeys::TombstoneKeys(const DecoderOptions& options, const ReadRules& rules) {
  std::vector<JsonField> fields;
  for (const DeclaredColumn& declared : ColumnsToDecode(options)) {
    const SourceColumn& column = *declared.column;
    if (!declared.key) {
      others_.push_back(declared.output);
    } else if (column.metadata == Metadata::kNone) {
      ValueReader reader(column.type, column.unit, rules);
      plain_.emplace(reader);
      plain_name_ = column.name;
      plain_output_ = declared.output;
      fields.push_back({column.name, {column.name}, std::move(reader), declared.output, true, nullptr});
    }
  }
  if (fields.size() != 1 || options.primary_key.size() != 1) plain_.reset();
  if (!fields.empty()) object_.emplace(std::move(fields), false);
}

bool TombstoneKeys::Append(const RawMessage& message, const MetadataColumns& metadata, BatchBuilder& out,
                           std::string& error) {
  if (!message.key) {
    error = "a tombstone without a key";
    return false;
  }
  if (object_ && !AppendFromKey(*message.key, out, error)) return false;
  if (!metadata.AppendKey(message, out, error)) return false;
  for (const int output : others_) out.column(static_cast<size_t>(output)).AppendNull();
  return true;
}

bool TombstoneKeys::AppendFromKey(std::string_view key, BatchBuilder& out, std::string& error) {
  padded_key_.assign(key);
  padded_key_.append(kPadding, '\0');
  if (object_->Read(std::string_view(padded_key_).substr(0, key.size()), out)) return true;
  error = "the tombstone's key: " + object_->error();
  if (!plain_) return false;
  TruncateColumns(out);
  if (!IsText(key)) {
    error = "the tombstone's key is not UTF-8 text";
    return false;
  }
  if (plain_output_ < 0) return true;
  const ParseFault fault = plain_->ReadPlain(key, out.column(static_cast<size_t>(plain_output_)));
  if (fault != ParseFault::kNone) error = DescribeFault(plain_name_, key, true, plain_->type(), fault);
  return fault == ParseFault::kNone;
}

void TruncateColumns(BatchBuilder& out) {
  for (size_t i = 0; i < out.schema()->size(); ++i) out.column(i).Truncate(out.rows());
}

bool IsText(std::string_view bytes) {
  return std::memchr(bytes.data(), '\0', bytes.size()) == nullptr &&
         simdjson::validate_utf8(bytes.data(), bytes.size());
}

}  // namespace weir
