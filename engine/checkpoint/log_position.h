// Where a table's log ends at a checkpoint: the table's whole part of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir {

// A place between two blocks of a bucket's log.
struct LogPosition {
  uint64_t offset = 0;   // changes before it, since the table was made
  uint64_t segment = 0;  // number of the segment file
  uint64_t byte = 0;     // within the segment file

  friend bool operator==(const LogPosition&, const LogPosition&) = default;
};

using TablePositions = std::map<std::string, std::vector<LogPosition>>;  // table -> bucket -> end of its log

}  // namespace weir
