#include "connectors/format/csv_row_reader.h"

#include <fmt/format.h>

#include "connectors/format/message_columns.h"

namespace weir {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

bool CsvRowReader::Read(std::string_view record, BatchBuilder& out) {
  if (record.starts_with(kByteOrderMark)) record.remove_prefix(kByteOrderMark.size());
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  if (!IsText(record)) return Fail("not UTF-8 text");
  size_t place = 0;
  for (bool last = false; !last; ++place) {
    std::string_view text;
    bool quoted = false;
    if (!TakeField(record, text, quoted, last)) return false;
    if (place >= fields_.size()) {
      return Fail(fmt::format("the record has more fields than the {} that are declared", fields_.size()));
    }
    const CsvField& field = fields_[place];
    if (text.empty() && !quoted ? !AppendNull(field, out) : !Append(field, text, out)) return false;
  }
  for (; place < fields_.size(); ++place) {
    if (!AppendMissing(fields_[place], place, out)) return false;
  }
  return true;
}

bool CsvRowReader::TakeField(std::string_view& record, std::string_view& field, bool& quoted, bool& last) {
  quoted = record.starts_with('"');
  if (quoted) {
    if (!TakeQuoted(record, field)) return false;
    last = record.empty();
    if (last) return true;
    if (record.front() != delimiter_) {
      return Fail(fmt::format("text behind the quoted field '{}'", field.substr(0, 40)));
    }
    record.remove_prefix(1);
    return true;
  }
  const size_t end = record.find(delimiter_);
  field = record.substr(0, end);
  last = end == std::string_view::npos;
  if (!last) record.remove_prefix(end + 1);
  return true;
}

bool CsvRowReader::TakeQuoted(std::string_view& record, std::string_view& field) {
  const size_t end = record.find('"', 1);
  if (end == std::string_view::npos) return Fail("ends in the middle of a quoted field");
  if (end + 1 == record.size() || record[end + 1] != '"') {
    field = record.substr(1, end - 1);
    record.remove_prefix(end + 1);
    return true;
  }
  unquoted_.clear();
  record.remove_prefix(1);
  while (true) {
    const size_t quote = record.find('"');
    if (quote == std::string_view::npos) return Fail("ends in the middle of a quoted field");
    unquoted_.append(record.substr(0, quote));
    record.remove_prefix(quote + 1);
    if (!record.starts_with('"')) break;
    unquoted_ += '"';
    record.remove_prefix(1);
  }
  field = unquoted_;
  return true;
}

bool CsvRowReader::Append(const CsvField& field, std::string_view text, BatchBuilder& out) {
  for (const int output : field.outputs) {
    const ParseFault fault = field.reader.ReadPlain(text, out.column(static_cast<size_t>(output)));
    if (fault != ParseFault::kNone) return Fail(DescribeFault(field.name, text, true, field.reader.type(), fault));
  }
  return true;
}

bool CsvRowReader::AppendNull(const CsvField& field, BatchBuilder& out) {
  if (field.not_null) return Fail(fmt::format("column {}: NULL in the primary key", field.name));
  for (const int output : field.outputs) out.column(static_cast<size_t>(output)).AppendNull();
  return true;
}

bool CsvRowReader::AppendMissing(const CsvField& field, size_t place, BatchBuilder& out) {
  if (field.default_value == nullptr) {
    return Fail(fmt::format("the record has {} fields, column {} has none", place, field.name));
  }
  for (const int output : field.outputs) out.column(static_cast<size_t>(output)).AppendFrom(*field.default_value, 0);
  return true;
}

}  // namespace weir
