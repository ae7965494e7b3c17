// Window functions over partitions in order (OVER): the input's columns, then one result a call.
//
// Row kinds: all on the input (only +I when input_retracts is false).  Results are the batch answer kept up to date: per
// batch, rows that went are -D, rows whose result changed -U/+U, new rows +I, in this order over all partitions.
//
// With `time_column` (append-only input in the order of its event time, frames that look back only) results wait for the
// watermark: a row is emitted once, as +I, when the watermark has passed its time, and only rows that a later frame can
// reach are kept.  Rows behind the watermark are dropped and counted (late_rows), as are rows without a time
// (null_event_time).
//
// Order: of rows with equal sort values the earlier one comes first; where rows are retracted that order is one that
// does not depend on their arrival.  Results follow PostgreSQL: sums are exact and an overflow is an error (kData), sums
// of doubles are taken in the order of the rows, MIN and MAX take NaN as the largest number.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/state/keyed_state.h"
#include "sql/plan/over.h"

namespace weir {

struct OverOptions {
  SchemaPtr input;
  SchemaPtr schema;  // of the output
  std::vector<int> partition;
  std::vector<SortColumn> sort;
  std::vector<OverCall> calls;
  bool input_retracts = true;
  int time_column = -1;  // of the input, then also the first sort column; -1: results do not wait
  StateOptions state;
};

Result<std::unique_ptr<Operator>> MakeOver(const OverOptions& options);

}  // namespace weir
