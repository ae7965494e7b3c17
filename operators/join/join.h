// The join: keeps the rows of both inputs and joins each change with the other side's rows.
//
// Where the rows are kept is the difference between the regular and the delta join: in operator state, which goes into
// every checkpoint (in memory, or in a state table), or in tables, of which a checkpoint holds log positions alone.  In
// both the task takes its inputs one change after the other and has the rows of a change's key in memory when it is
// processed, so both give the same results.
//
// Row kinds: all, on both inputs.  A row is found again by its unique key (a +I or +U replaces it, a -D needs key
// columns only) or, without one, by equality.  A -U/+U pair with one join key is one step: its matches come as -U/+U
// pairs, and outer, semi and anti joins compare before and after, so that no passing NULL row is emitted.  A -D or -U
// of a row that is not there is ignored and counted (OperatorMetrics::ignored_deletes). Keys with a NULL match nothing
// unless null_safe.  Results come in the order in which the changes were taken; Process returns kMore between bounded
// batches when the output has no room. Errors: kData from the condition, kState from the state's cap.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/state/keyed_state.h"
#include "sql/expr/expression.h"
#include "sql/plan/plan.h"
#include "tables/table.h"

namespace weir {

struct JoinInput {
  SchemaPtr schema;
  std::vector<int> keys;    // join columns, pairwise of one type with the other input's
  std::vector<int> unique;  // columns whose equal values mean the same row; empty: rows are a multiset
  ChangelogMode mode = ChangelogMode::kAppend;
  bool whole_rows = false;  // every column is kept, also those that the join does not read: a declared table
  // Interval joins: a row leaves the state (in memory alone) when the watermark is above its time plus the offset, as
  // it can match nothing then.  The column is among those that the condition reads, and the input appends.
  std::optional<RowExpiry> expiry = {};
};

// The tables that hold the rows of the two inputs: both logged (a delta join), or both state tables.
struct JoinTables {
  std::shared_ptr<Table> left;
  std::shared_ptr<Table> right;
  // Logged tables: the columns of each input by whose bucket its rows have come to this task; pairwise join keys.
  std::vector<int> left_bucket;
  std::vector<int> right_bucket;
};

struct JoinOptions {
  JoinType type = JoinType::kInner;
  JoinInput left;               // input 0
  JoinInput right;              // input 1
  std::vector<bool> null_safe;  // for each key column: NULL equals NULL; empty: none
  ExpressionPtr condition;      // over left columns, then right columns; may be null
  // Columns of the output, counted over left columns, then right columns; absent: all (of kSemi and kAnti: the left).
  std::optional<std::vector<int>> output_columns;
  SchemaPtr schema;  // of the output
  std::string time_zone = "UTC";
  StateOptions state;
  std::optional<JoinTables> tables;  // absent: rows are state in memory
};

Result<std::unique_ptr<Operator>> MakeJoin(const JoinOptions& options);

}  // namespace weir
