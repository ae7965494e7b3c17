#include "connectors/file/csv_header.h"

#include <algorithm>

namespace weir {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::vector<std::string> SplitFields(std::string_view line, char delimiter) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == delimiter) {
      fields.emplace_back();
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

Result<DecoderOptions> ForCsvHeader(const DecoderOptions& options, std::string_view header) {
  if (header.starts_with(kByteOrderMark)) header.remove_prefix(kByteOrderMark.size());
  DecoderOptions out = options;
  out.csv_header = false;
  out.columns.clear();
  std::vector<int> new_index(options.columns.size(), -1);
  for (const std::string& name : SplitFields(header, options.csv_delimiter)) {
    const auto declared = std::find_if(options.columns.begin(), options.columns.end(), [&](const SourceColumn& column) {
      return column.metadata == Metadata::kNone && (column.path.size() == 1 ? column.path[0] : column.name) == name;
    });
    if (declared == options.columns.end()) {
      SourceColumn unread;
      unread.name = name;
      unread.type = StringType();
      unread.path = {name};
      out.columns.push_back(std::move(unread));
      continue;
    }
    int& index = new_index[static_cast<size_t>(declared - options.columns.begin())];
    if (index >= 0) return DataError("the header has the column '" + name + "' twice");
    index = static_cast<int>(out.columns.size());
    out.columns.push_back(*declared);
  }
  for (size_t i = 0; i < options.columns.size(); ++i) {
    if (new_index[i] >= 0) continue;
    const SourceColumn& column = options.columns[i];
    if (column.metadata == Metadata::kNone && !column.default_value) {
      return DataError("the header has no column '" + column.name + "'");
    }
    new_index[i] = static_cast<int>(out.columns.size());
    out.columns.push_back(column);
  }
  for (int& column : out.read) column = new_index[static_cast<size_t>(column)];
  for (int& column : out.primary_key) column = new_index[static_cast<size_t>(column)];
  return out;
}

}  // namespace weir
