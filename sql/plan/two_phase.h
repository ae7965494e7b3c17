// Aggregates in two phases: before the exchange each task folds its rows by group (kLocalAggregate), behind it one task
// a group adds up what all have folded.  Few or skewed groups then cost the exchange and the state a row a batch and
// group, not a row a row.
//
// The second phase has the state that an aggregate in one phase has: a job goes on from its checkpoint with or without
// the first one, which holds nothing at a barrier.  Only calls whose partial results say all of what their rows said
// are split; the rest stays in one phase (Flink calls the same local-global aggregation, and asks the function for a
// merge method).
#pragma once

#include <string>

#include "sql/plan/plan.h"

namespace weir {

// Why the aggregate cannot be computed in two phases, as "because ..." goes on; empty when it can.  Its input is planned,
// and input_retracts is set.
std::string WhyOnePhase(const PlanNode& aggregate);

// Whether values are counted one by one: for DISTINCT, and for MIN and MAX of rows that change.  Such an aggregate is worth
// two phases only where most of its values repeat within a batch, which the plan cannot know.
bool CountsValues(const PlanNode& aggregate);

// Puts a local aggregate below the aggregate, which becomes the second phase.  REQUIRES: WhyOnePhase is empty.
void AddLocalAggregate(PlanNode& aggregate, const MiniBatch& mini_batch);

}  // namespace weir
