// The first of two phases of an aggregate: folds the rows of its task by group before the exchange.
//
// Input: any row kinds.  Output: only +I, one row a group and flush: the group columns, where windows are assigned the
// start of the row's slice of time (which all windows have in whole or not at all) and the condition, then a partial
// result (partial.h).  What it holds goes at the end of each batch, or with an allowed latency when that is over, when
// there are `size` rows or kBatchRows groups, and always before a watermark, a barrier and the end: it has no state in
// a checkpoint, and no row comes behind a watermark it was before.
//
// Folding that saves little is left: when of a sample of rows more than a third come out again, the next rows pass
// as partial results of one row each, without being hashed, until it is time for another sample.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/runtime/operator.h"
#include "sql/plan/plan.h"

namespace weir {

struct LocalAggregateOptions {
  SchemaPtr input;
  SchemaPtr schema;  // of the output
  std::vector<int> group_columns;
  std::vector<AggregateCall> calls;
  bool input_retracts = true;
  std::optional<WindowGrouping> windows = {};
  MiniBatch mini_batch = {};
};

// The calls are such as sql/plan/two_phase.h splits.
Result<std::unique_ptr<Operator>> MakeLocalAggregate(const LocalAggregateOptions& options);

}  // namespace weir
