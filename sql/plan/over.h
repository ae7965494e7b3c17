// Rows in order, as plan nodes hold it: kRank (the first rows of each partition) and kOver (window functions).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sql/expr/expression.h"

namespace weir {

struct SortColumn {
  int column = 0;  // of the input
  bool descending = false;
  bool nulls_first = false;

  bool operator==(const SortColumn&) const = default;
};

enum class OverFunction {
  kRowNumber,
  kRank,
  kDenseRank,
  kLag,
  kLead,
  kFirstValue,
  kLastValue,
  kNthValue,
  kCountStar,
  kCount,
  kSum,
  kMin,
  kMax,
  kAvg,
};

struct FrameBound {
  enum class Kind { kUnboundedPreceding, kPreceding, kCurrentRow, kFollowing, kUnboundedFollowing };
  Kind kind = Kind::kUnboundedPreceding;
  // ROWS: rows.  RANGE: a distance in the units of the one sort column (unscaled decimals, microseconds, days).
  int64_t offset = 0;

  bool operator==(const FrameBound&) const = default;
};

struct Frame {
  bool rows = false;  // else RANGE: bounds are peers of a row in the sort order, or a distance from its value
  FrameBound start{FrameBound::Kind::kUnboundedPreceding, 0};
  FrameBound end{FrameBound::Kind::kCurrentRow, 0};

  bool operator==(const Frame&) const = default;
};

struct OverCall {
  OverFunction function = OverFunction::kRowNumber;
  int argument = -1;      // input column; -1 for none
  int filter = -1;        // input column of type boolean; -1 for none
  int default_value = -1; // LAG, LEAD: input column for a row that is not there; -1: NULL
  int64_t offset = 1;     // LAG, LEAD: rows back or ahead; NTH_VALUE: the row of the frame, from 1
  Frame frame;
  DataType type;          // of the result
  std::string name;       // of the result column
};

// Which rows a kRank node lets through, by their number in the partition (from 1).
struct RankBounds {
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  OverFunction function = OverFunction::kRowNumber;  // or kRank, kDenseRank
  int64_t from = 1;
  int64_t to = kAll;          // inclusive
  bool output = false;        // the number is a column behind the input's
  std::string name;           // of that column
  // Of rows with equal sort values the one that arrived last comes first, else the one that arrived first.
  bool latest_first = false;
  // The end of a window, a column of the partition: the rows of a window are let through when it has ended, and then
  // forgotten.  -1: as they come.
  int window_end = -1;
  int64_t lateness = 0;  // microseconds that a window takes rows behind its end
  bool early = false;    // results before the end are wanted: rows do not wait for it

  bool one_row() const { return function == OverFunction::kRowNumber && from == 1 && to == 1; }
};

}  // namespace weir
