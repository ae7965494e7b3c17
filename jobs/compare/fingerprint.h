// Equality of results as collapsed multisets, in memory that does not grow with them.
//
// A result is changelog_json lines.  Every line adds (+I +U) or takes away (-U -D) one row, whose identity is its text
// without the op: all variants write with one encoder, so equal rows have equal text.  The collapsed result is the map
// row -> count.  Two such maps are compared without being built:
//
// 1. A row has a 128-bit hash h (XXH3).  The weighted sum of count * h, kept in two halves modulo 2^64, does not depend
//    on the order of the lines, and a row that was added and taken away leaves nothing behind.
// 2. Different maps have equal sums with a probability of about 2^-128; hashes of rows are no one's to choose here.
// 3. Sums are kept per group of rows (10 bits of the hash), so that rows that differ can be found by reading the result
//    once more and keeping only rows of groups that differ (differing_rows.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace weir {

struct RowHash {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const RowHash&) const = default;
};

// One line of a result, taken apart.
struct ResultLine {
  int64_t weight = 0;    // 1 or -1
  std::string_view row;  // the object without op and without the opening brace: `"k":1}`
  RowHash hash;
};
// Data error for a line that is no changelog_json.
Result<ResultLine> ReadResultLine(std::string_view line);

class Fingerprint {
 public:
  static constexpr size_t kGroups = 1024;
  static size_t GroupOf(const RowHash& hash) { return hash.high >> 54; }

  void Add(const ResultLine& line);
  // Lines, and rows that are left when all is collapsed.
  int64_t lines() const { return lines_; }
  int64_t rows() const;

  // Whether the collapsed results are equal; how many lines led there does not matter.
  bool SameRows(const Fingerprint& other) const { return groups_ == other.groups_; }
  // Groups whose rows differ.
  std::vector<size_t> Differences(const Fingerprint& other) const;

 private:
  struct Group {
    uint64_t low = 0;
    uint64_t high = 0;
    int64_t rows = 0;
    bool operator==(const Group&) const = default;
  };
  std::array<Group, kGroups> groups_{};
  int64_t lines_ = 0;
};

}  // namespace weir
