// Construction of plan nodes with their output schema.  Properties (changelog, keys, distribution) are derived later,
// by properties.h.
#pragma once

#include <string>
#include <vector>

#include "sql/plan/plan.h"

namespace weir {

// Reads the columns of the relation given, in that order.
PlanPtr NewScan(const CatalogRelation& relation, std::vector<int> columns);
PlanPtr NewFilter(PlanPtr input, ExpressionPtr condition);
PlanPtr NewProject(PlanPtr input, std::vector<ExpressionPtr> expressions, const std::vector<std::string>& names);
// A project that keeps the columns given, in that order; the input itself when that is all of them in order.
PlanPtr SelectColumns(PlanPtr input, const std::vector<int>& columns);
// `condition` over left columns followed by right columns; null for none.
PlanPtr NewJoin(PlanPtr left, PlanPtr right, JoinType type, ExpressionPtr condition);
// Equalities of left_keys and right_keys pairwise; `keep`: left rows without a right one stay.
PlanPtr NewTemporalJoin(PlanPtr left, PlanPtr right, bool keep);
PlanPtr NewAggregate(PlanPtr input, std::vector<int> group_columns, std::vector<AggregateCall> calls);
PlanPtr NewRank(PlanPtr input, std::vector<int> partition, std::vector<SortColumn> sort, RankBounds bounds);
PlanPtr NewOver(PlanPtr input, std::vector<int> partition, std::vector<SortColumn> sort, std::vector<OverCall> calls);
PlanPtr NewWindow(PlanPtr input, const WindowSpec& window, int time_column, std::vector<int> session_keys);
// Every row once.
PlanPtr NewDistinct(PlanPtr input);
PlanPtr NewValues(Batch rows);
// What a SELECT without FROM reads: one row, with a column that no one can name.
PlanPtr NewOneRow();
PlanPtr NewUnion(std::vector<PlanPtr> inputs);
// `fields`: names and types of the columns that are added, as PlanNode says.
PlanPtr NewUnnest(PlanPtr input, UnnestFunction function, std::vector<ExpressionPtr> arguments,
                  std::vector<Field> fields, bool ordinality, bool outer);
// kNormalise, kKeyOrder, kExchange and tables that no one declared.
PlanPtr NewKeyed(NodeKind kind, PlanPtr input, std::vector<int> key);

// A tree of its own that is equal to `plan`, which may be changed without changing the other.
PlanPtr ClonePlan(const PlanPtr& plan);
// Sets the output schema from the inputs and the node's own fields; for rules that have changed them.
void RefreshSchema(PlanNode& node);
// The columns of an aggregate's output that tell its rows apart.
std::vector<int> AggregateKey(const PlanNode& aggregate);
// A join's output has the left columns only.
bool LeftColumnsOnly(JoinType type);
// The expression can be NULL in a row of `schema`.
bool CanBeNull(const Expression& expression, const Schema& schema);
// The expression is the operator `name` of two arguments.
bool IsCall(const char* name, const Expression& expression);
// Left columns followed by right columns, as a join's condition sees them.
Schema JoinedSchema(const PlanNode& join);
// [0, 1, ..., count - 1] + offset.
std::vector<int> Iota(size_t count, int offset = 0);
std::vector<ExpressionPtr> ColumnExpressions(const Schema& schema);
std::vector<std::string> ColumnNames(const Schema& schema);
bool Contains(const std::vector<int>& set, int value);
bool IsSubset(const std::vector<int>& part, const std::vector<int>& whole);
// Equal as sets.
bool SameSet(const std::vector<int>& a, const std::vector<int>& b);

}  // namespace weir
