// One RFC 4180 record to one row: fields by position, in the order of the declared columns without metadata.
//
// An empty field without quotes is NULL, with quotes the empty text.  A record with fewer fields than columns is bad
// unless the missing ones have defaults; one with more is bad.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "connectors/format/value_reader.h"
#include "engine/data/batch.h"

namespace weir {

struct CsvField {
  std::string name;
  ValueReader reader;
  std::vector<int> outputs;  // columns of the builder; may be none
  bool not_null = false;
  ColumnPtr default_value;  // one row; null: none
};

// Used by one thread.
class CsvRowReader {
 public:
  CsvRowReader(std::vector<CsvField> fields, char delimiter) : fields_(std::move(fields)), delimiter_(delimiter) {}

  // Appends one value to every output column of every field.  False: error() says why, the caller truncates the
  // columns.
  bool Read(std::string_view record, BatchBuilder& out);
  RowKind kind() const { return RowKind::kInsert; }
  const std::string& error() const { return error_; }

 private:
  // Takes one field; `last` when the record ends with it.
  bool TakeField(std::string_view& record, std::string_view& field, bool& quoted, bool& last);
  bool TakeQuoted(std::string_view& record, std::string_view& field);
  bool Append(const CsvField& field, std::string_view text, BatchBuilder& out);
  bool AppendNull(const CsvField& field, BatchBuilder& out);
  bool AppendMissing(const CsvField& field, size_t place, BatchBuilder& out);
  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }

  std::vector<CsvField> fields_;
  char delimiter_;
  std::string error_;
  std::string unquoted_;
};

}  // namespace weir
