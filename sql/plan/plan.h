// The plan of a job: a DAG of nodes, from scans to sinks.  One form serves as logical and physical plan; rules rewrite
// it until every property that the runtime needs (exchanges, normalise, key order, join keys) is explicit.
//
// Nodes are immutable after planning; a node used twice (a self join, a view) is shared.  Ids are assigned in a
// depth-first walk, so the same job text gives the same ids: they name state in checkpoints.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/expr/expression.h"
#include "sql/plan/catalog.h"
#include "sql/plan/over.h"
#include "sql/plan/window.h"

namespace weir {

enum class JoinType { kInner, kLeft, kRight, kFull, kSemi, kAnti };
enum class JoinStrategy { kRegular, kDelta };

// Their names and types: aggregate_functions.h.
enum class AggregateFunction {
  kCountStar,
  kCount,
  kSum,
  kMin,
  kMax,
  kAvg,
  kStddevSamp,
  kStddevPop,
  kVarSamp,
  kVarPop,
  kBoolAnd,
  kBoolOr,
  kBitAnd,
  kBitOr,
  kBitXor,
  kFirstValue,  // in the order of arrival, NULLs skipped
  kLastValue,
  kStringAgg,
  kArrayAgg,
  kApproxCountDistinct,
  // Of integers.  "cardinality" is NULL without a value, the count is 0.
  kBitmapBuild,
  kBitmapBuildCardinality,
  kBitmapCountDistinct,
  // Of bitmaps.
  kBitmapAnd,
  kBitmapAndCardinality,
  kBitmapOr,
  kBitmapOrCardinality,
  kBitmapXor,
  kBitmapXorCardinality,
};

// One column of ORDER BY inside an aggregate call.
struct AggregateOrder {
  int column = -1;  // of the input
  bool descending = false;
  bool nulls_first = false;

  bool operator==(const AggregateOrder&) const = default;
};

struct AggregateCall {
  AggregateFunction function = AggregateFunction::kCountStar;
  int argument = -1;  // input column; -1 for COUNT(*)
  bool distinct = false;
  int filter = -1;    // input column of type boolean; -1 for none
  DataType type;      // of the result
  std::string name;   // of the result column
  std::vector<AggregateOrder> order = {};  // kStringAgg, kArrayAgg; none: the order of arrival
  std::string separator = {};              // kStringAgg
};

enum class UnnestFunction {
  kArrays,  // UNNEST(array, ...)
  kSeries,  // generate_series(from, to[, step]) over bigints
};

enum class NodeKind {
  kScan,
  kFilter,
  kProject,
  kJoin,
  kAggregate,
  kNormalise,
  kExchange,
  kUnion,
  kKeyOrder,
  kSink,
  kValues,
  kWindow,  // a row becomes one for each window that its time is in
  kTable,  // a primary-key table: takes the changes of all its inputs (each behind an exchange by bucket), keeps the
           // last row of each key, and emits its changelog (kFull); or a log table (TableKind::kLog), which has no key:
           // takes rows that are only added and passes them on (kAppend)
  kRank,   // the first rows of each partition, with their number or without
  kOver,   // window functions: the input's columns, then one a call
  kTemporalJoin,  // each left row with the newest right row of its keys at or before its time
  kUnnest,  // a row for each element of an array: the input's columns, then the added ones
  kLocalAggregate,  // the first of two phases of an aggregate: rows of a task folded by group, before the exchange
  kLateRows,  // what its input, an aggregate with `late_rows`, drops because it is late: a second output of that node
};

// What becomes of the rows that are too late for the windows of an aggregate.
struct LateRows {
  std::string sink;
  std::vector<int> columns;   // of the aggregate's input
  std::vector<Field> fields;  // their names and types in the sink
};

// A table of the table store, as a kTable node or an input of a delta join holds it.  Its columns are those of the
// node, or of the rows that reach the join on that side.
enum class TableKind {
  kDeclared,   // in the job file
  kLog,        // in the job file, without a primary key
  kAutomatic,  // of a source with a primary key, for a delta join
  kIndex,      // the rows of a table, by other columns
  kInternal,   // the result of a join or an aggregate below a delta join
};

struct TableRef {
  std::string name;                 // "orders", "orders[user_id]", "join-1.left"; unique in the job
  std::vector<int> bucket_columns;  // columns of the node's (of the join input's) schema, in the order of the hash; empty
                                    // for a log table whose rows go to any bucket
  int buckets = 0;
  bool declared = false;  // in the job file
  TableKind kind = TableKind::kAutomatic;
  bool declared_index = false;  // kIndex: one of the table's `indexes`
};

// Rows of a join's input can match nothing any more once the watermark is above their time plus the offset.
struct RowExpiry {
  int column = -1;  // of that input: the time
  Micros offset = 0;
};

// How long a local aggregate may hold rows before it passes on what they add up to.
struct MiniBatch {
  int64_t size = 5000;       // rows at most
  Micros allow_latency = 0;  // 0: no longer than the batch in which they came

  bool operator==(const MiniBatch&) const = default;
};

struct PlanNode;
using PlanPtr = std::shared_ptr<PlanNode>;

struct PlanNode {
  NodeKind kind = NodeKind::kScan;
  std::string id;            // "join-2"
  SchemaPtr schema;          // of the output
  std::vector<PlanPtr> inputs;

  // --- properties derived by the planner ---------------------------------------------------------------------------
  ChangelogMode changelog = ChangelogMode::kAppend;
  std::vector<std::vector<int>> unique_keys;  // of the collapsed result; smallest first
  // Columns by which changes are distributed over tasks (all changes of equal values come from one task, in order).
  // Empty with `single` = all from one task; empty without = unknown (per source partition).
  std::vector<int> distribution;
  int distribution_buckets = 0;  // > 0: by the bucket of these columns out of so many, not by their hash
  bool single = false;

  // kScan
  std::string relation;
  std::vector<int> scan_columns;  // columns of the relation that are read, in output order

  // kFilter: the condition.  kProject: one a column of the schema.
  ExpressionPtr condition;
  std::vector<ExpressionPtr> expressions;

  // kJoin: equality columns of the left and right input (same type, pairwise), and a further condition over left columns
  // followed by right columns.  null_safe[i]: IS NOT DISTINCT FROM.  left_unique/right_unique: columns of that input
  // whose equal values mean "the same row": a +I/+U replaces it (empty: rows are a multiset, retracted by equality).
  // Output of kSemi/kAnti: the left columns; of the others: left columns then right columns.
  JoinType join_type = JoinType::kInner;
  JoinStrategy strategy = JoinStrategy::kRegular;
  std::string strategy_reason;  // why not delta, with what to change
  std::string mixed_keys;       // an equality whose sides have different types, in words; empty when there is none
  std::vector<int> left_keys;
  std::vector<int> right_keys;
  std::vector<bool> null_safe;
  std::vector<int> left_unique;
  std::vector<int> right_unique;
  ChangelogMode left_mode = ChangelogMode::kAppend;
  ChangelogMode right_mode = ChangelogMode::kAppend;
  // Strategy kDelta: the table of each side's rows; without a name otherwise.  Both have the same pairs as bucket columns
  // and the same count.  The rows of a side are keyed by its keys and left_unique/right_unique; where that is empty
  // (a key that holds only at barriers) they are a multiset as in a regular join: keyed by all columns, and counted.
  TableRef left_table;
  TableRef right_table;

  // Interval join: the rows that a side may forget.  Absent: it keeps them.
  std::optional<RowExpiry> left_expiry;
  std::optional<RowExpiry> right_expiry;

  // kTemporalJoin: left_keys and right_keys as above; kInner or kLeft.  Times of the inputs; `before`: only right rows
  // before the left row's time, not at it.
  int left_time = -1;
  int right_time = -1;
  bool before = false;

  // kUnnest: the arguments are `expressions`, over the input.  Added behind the input's columns: one an array (one for a
  // series), then, with ordinality, the element's place.  Outer: a row without elements stays, with NULL in them.
  UnnestFunction unnest_function = UnnestFunction::kArrays;
  std::vector<Field> unnest_fields;  // what is added
  bool ordinality = false;
  bool unnest_outer = false;

  // kAggregate: output = group columns, then one column a call.  DISTINCT is an aggregate without calls.
  // With windows that it assigns, window_start, window_end and window_time stand between them.
  // Without group columns there is always one row (count 0, sum NULL), in one task.
  std::vector<int> group_columns;
  std::vector<AggregateCall> calls;
  bool input_retracts = true;  // false: append-only input, cheaper state
  std::optional<WindowGrouping> windows;
  // In two phases: the aggregate's input is that of a kLocalAggregate, whose column `partial` has what was counted.  The
  // calls and input_retracts are about the rows below that, which have the schema `rows`.  Null, and -1: in one phase.
  SchemaPtr rows;
  int partial = -1;

  // kLocalAggregate: group_columns, calls, windows and input_retracts as the aggregate's, over the rows.  Output = group
  // columns, the start of the slice in place of the time and the condition where windows are assigned, then the partial
  // results as bytes (operators/aggregate/partial.h).  All its rows are +I: what is taken back is counted below zero.
  MiniBatch mini_batch;

  // kWindow: output = the columns of the input, then window_start, window_end and window_time.  session_keys: of the
  // input; a session is of rows with equal ones.
  WindowSpec window;
  int time_column = -1;
  std::vector<int> session_keys;
  bool sessions_by_groups = false;  // the keys are what the aggregate above groups by: GROUP BY SESSION(time, gap)

  // kNormalise, kKeyOrder: the key.  kExchange: the hash columns (empty = to one task).  kSink: the upsert key.
  // kTable: the primary key; empty for a log table.
  std::vector<int> key;
  // kExchange: > 0: by the bucket of the columns `key` (engine/data/bucket.h) out of so many, not by their hash.
  int buckets = 0;

  // kTable.  Its inputs have the table's columns, are append, upsert or full, and bring all changes of a key in order.
  TableRef table;

  // kRank, kOver: the partition and the order in it (no partition columns: all rows in one task).  kRank uses
  // input_retracts too: false: append-only input, rows behind the last number are forgotten.
  std::vector<int> partition;
  std::vector<SortColumn> sort;
  RankBounds rank;               // kRank
  std::vector<OverCall> over;    // kOver
  // kOver: the event time, by which rows are in order; results wait for the watermark.  -1: they do not.
  int over_time = -1;

  // kValues: one row a batch row.
  Batch values;

  // Position in the job file's query (1-based line and column within the query text), for messages.
  size_t query = 0;  // index
  int line = 0;
  int column = 0;

  // kAggregate with windows that it assigns, over append-only input.  Absent: late rows are only counted.
  std::optional<LateRows> late_rows;
};

struct JobPlan {
  std::vector<PlanPtr> sinks;          // kSink nodes, one an INSERT, in order, and behind them those of late rows
  std::vector<PlanPtr> tables_unread;  // kTable nodes that no query reads: roots too, like the sinks
  bool rocksdb_state = false;          // where operators keep their state, for explain
};

}  // namespace weir
