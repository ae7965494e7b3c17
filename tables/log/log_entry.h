// One change of a row in a table's log, and the form in which rows lie in a table's base.
//
// A row is three byte strings: `group`, the key by which rows are looked up together (a join's key, a bucket key; it
// delimits itself), `unique`, which tells the rows of a group apart (empty where a group has one row), and `rest`, the
// other columns.  The key of a row is group and unique; what the bytes mean is the owner's business (row_codec.h).
#pragma once

#include <string_view>

namespace weir {

struct LogEntry {
  bool remove = false;  // the row goes; `rest` is empty
  std::string_view group;
  std::string_view unique;
  std::string_view rest;
};

}  // namespace weir
