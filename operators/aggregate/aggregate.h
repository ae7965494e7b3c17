// GROUP BY and DISTINCT: one row a group, kept up to date.
//
// Groups of windows (`windows`): the operator assigns each row to its windows by a time column, or takes the window that
// the row carries.  A window's groups come out once, as +I, when the watermark reaches its end, in the order of ends, and
// are forgotten.  With an allowed lateness they stay that much longer, and rows that still come change them; with early
// results they come out before.  A row all of whose windows are closed is late (OperatorMetrics::late_rows) and dropped, or
// handed on where `late_columns` says so (engine/runtime/late_rows.h); one without a time is dropped and counted as
// null_event_time.  Sessions need append-only input.
//
// Row kinds: all on the input (only +I when input_retracts is false).  Per batch and group that changed one net change
// comes out: +I for a new group, -U/+U for a changed result, -D when its last row has gone, nothing if the result is
// the same.  Output columns are the group columns, then
// the bounds of the window where it was assigned, then one a call; NULL is a group, -0.0 and 0.0 are one. Without
// group columns there is always one row, in task 0: if no input comes, it is emitted at the first watermark, barrier or
// end. Results follow PostgreSQL: sums are exact and an overflow is an error (kData), AVG of exact numbers is rounded
// half away from zero to the scale of its type, MIN and MAX take NaN as the largest number.  A retraction from a group
// without rows is ignored and counted (OperatorMetrics::ignored_deletes).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/state/keyed_state.h"
#include "sql/plan/plan.h"

namespace weir {

struct AggregateOptions {
  SchemaPtr input;
  SchemaPtr schema;  // of the output
  std::vector<int> group_columns;
  std::vector<AggregateCall> calls;
  bool input_retracts = true;
  StateOptions state;
  std::optional<WindowGrouping> windows = {};
  // Of an aggregate in two phases: the column of the input that has partial results (partial.h), and the schema of the
  // rows that they are of, which the calls are about.
  int partial = -1;
  SchemaPtr rows = nullptr;

  const Schema& arguments() const { return rows ? *rows : *input; }
  // With windows that the operator assigns: it is a LateRowsOperator that gives these columns of late rows.
  std::vector<int> late_columns = {};
  SchemaPtr late_schema = {};
};

Result<std::unique_ptr<Operator>> MakeAggregate(const AggregateOptions& options);

}  // namespace weir
