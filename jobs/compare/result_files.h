// Results on disk: the folders of file sinks that a run wrote, read line by line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "jobs/compare/fingerprint.h"

namespace weir {

// Calls `take` for every line of the finished parts of a folder, in the order of their names; a folder that is not
// there is an empty result.  Stops at the first error.
Status ReadResult(const std::string& folder, const std::function<Status(const ResultLine&)>& take);

Result<Fingerprint> FingerprintOf(const std::string& folder);

// A row that one result has more often than the other.
struct DifferingRow {
  std::string row;     // as JSON
  int64_t excess = 0;  // how many more `left` has; negative: `right`
};
// Up to `limit` rows that differ, in the order of the row's text.  Reads both results again; memory holds the rows of a
// few groups only.
Result<std::vector<DifferingRow>> DifferingRows(const std::string& left_folder, const Fingerprint& left,
                                                const std::string& right_folder, const Fingerprint& right,
                                                size_t limit);

}  // namespace weir
