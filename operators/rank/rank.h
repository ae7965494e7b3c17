// The first rows of each partition: ROW_NUMBER, RANK or DENSE_RANK with a bound, LIMIT and OFFSET, DISTINCT ON.
//
// Row kinds: all on the input (only +I when input_retracts is false).  Per batch and partition the net change comes out.
// With ROW_NUMBER as a column, and where one row is let through, it is by number: -U/+U for another row at a number, +I
// and -D at the end.  Otherwise rows that enter are +I and rows that leave are -D, and a row whose RANK or DENSE_RANK
// changes is -U/+U; all that leaves in a batch comes before all that enters.
//
// With bounds.window_end the rows of a window come out once, as +I, when the watermark has reached its end and the
// lateness, and are forgotten; rows of a window that has ended are dropped and counted (late_rows).
//
// Order: of rows with equal sort values the earlier one comes first (the later one with latest_first); where rows are
// retracted that order is one that does not depend on their arrival.  -0.0 is 0.0, NaN is the largest number, texts
// compare byte by byte.  A retraction of a row that is not there is ignored and counted.
//
// State: all rows where they can be retracted, else those that are let through and those before them; of ROW_NUMBER = 1
// over append-only input one record a partition.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/state/keyed_state.h"
#include "sql/plan/over.h"

namespace weir {

struct RankOptions {
  SchemaPtr input;
  SchemaPtr schema;  // of the output: the input's columns, and the number if bounds.output
  std::vector<int> partition;
  std::vector<SortColumn> sort;
  RankBounds bounds;
  bool input_retracts = true;
  StateOptions state;
};

Result<std::unique_ptr<Operator>> MakeRank(const RankOptions& options);

}  // namespace weir
