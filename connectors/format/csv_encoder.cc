#include "connectors/format/encoders.h"
#include "engine/data/text.h"

namespace weir {
namespace {

constexpr char kDelimiter = ',';

// A field that is not NULL: quoted when it has to be, or when it would read as NULL.
void AppendField(std::string_view text, std::string& out) {
  if (!text.empty() && text.find_first_of("\",\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (size_t quote = text.find('"'); quote != std::string_view::npos; quote = text.find('"')) {
    out.append(text.substr(0, quote + 1));
    out += '"';
    text.remove_prefix(quote + 1);
  }
  out += text;
  out += '"';
}

// The text of any other value needs no quotes, but an array's JSON does.
bool MayNeedQuotes(const DataType& type) { return type.kind == TypeKind::kArray; }

}  // namespace

void CsvEncoder::Encode(const Batch& batch, std::string& out, std::vector<size_t>& ends) const {
  WEIR_CHECK_EQ(batch.schema()->size(), schema_->size());
  std::string array;
  ends.reserve(ends.size() + batch.rows());
  for (size_t row = 0; row < batch.rows(); ++row) {
    for (size_t i = 0; i < batch.columns().size(); ++i) {
      const Column& column = batch.column(i);
      if (i != 0) out += kDelimiter;
      if (column.IsNull(row)) continue;
      if (column.type().kind == TypeKind::kString) {
        AppendField(column.text(row), out);
      } else if (MayNeedQuotes(column.type())) {
        array.clear();
        AppendValueText(column, row, array);
        AppendField(array, out);
      } else if (column.physical() == Physical::kText && column.text(row).empty()) {
        out += "\"\"";
      } else {
        AppendValueText(column, row, out);
      }
    }
    ends.push_back(out.size());
  }
}

std::string CsvHeader(const Schema& schema) {
  std::string out;
  for (size_t i = 0; i < schema.size(); ++i) {
    if (i != 0) out += kDelimiter;
    AppendField(schema[i].name, out);
  }
  return out;
}

Result<std::unique_ptr<Encoder>> MakeEncoder(FormatKind format, SchemaPtr schema) {
  switch (format) {
    case FormatKind::kJson:
    case FormatKind::kChangelogJson:
      return std::make_unique<JsonEncoder>(std::move(schema), format == FormatKind::kChangelogJson);
    case FormatKind::kCsv:
      return std::make_unique<CsvEncoder>(std::move(schema));
    case FormatKind::kDebeziumJson:
      return ConfigError("format debezium_json is not available for sinks yet");
  }
  return ConfigError("an unknown format");
}

}  // namespace weir
