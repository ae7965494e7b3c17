// Gives the syntax trees of a job's queries their meaning: names become columns, calls become expressions, and every
// query becomes a tree of plan nodes (without exchanges, keys and properties, which the rules add).
//
// Errors go to the list with the query, line and column; a function that failed returns null and its caller goes on
// with the siblings, so that a query's errors are found together.  A view or CTE is bound anew at each use: plans are
// trees until share.h makes one node of equal ones.  One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sql/parse/ast.h"
#include "sql/parse/ast_window.h"
#include "sql/parse/source_text.h"
#include "sql/plan/join_times.h"
#include "sql/plan/plan.h"
#include "sql/plan/planner.h"

namespace weir {

// A column that an expression may name, and its place in the rows of the plan below.
struct ScopeColumn {
  std::string table;  // alias; empty for a column merged by USING
  std::string name;
  int index = 0;
  bool qualified_only = false;  // hidden behind a merged column
  bool not_in_star = false;     // * and t.* leave it out, and so does NATURAL JOIN
};

struct Scope {
  std::vector<ScopeColumn> columns;
  std::vector<std::string> tables;
};

// The columns of a scope by name, so that a list of thousands of columns is bound in linear time.
struct ScopeIndex {
  const Scope* scope = nullptr;
  std::unordered_map<std::string_view, std::vector<const ScopeColumn*>> columns;

  explicit ScopeIndex(const Scope& indexed) : scope(&indexed) {
    for (const ScopeColumn& column : indexed.columns) columns[column.name].push_back(&column);
  }
};

// The columns of both sides, those of the right behind the `left_width` of the left.
Scope JoinScopes(const Scope& left, const Scope& right, size_t left_width);

// The rows of a FROM.  The plan may have more columns behind those of the scope: values of subqueries.
struct BoundTable {
  PlanPtr plan;
  Scope scope;
};

// The values of subqueries that stand in expressions, over the columns of the plan they were joined to.
using SubqueryValues = std::map<const AstExpression*, ExpressionPtr>;

// An expression of the outer rows and the one of the subquery's rows that it has to be equal to.
struct CorrelatedKey {
  ExpressionPtr inner;
  ExpressionPtr outer;
  bool null_safe = false;
};

// A subquery seen from the query around it: the rows of `right` that belong to an outer row by all `conditions`.
// Expressions are over the outer columns, then the columns of `right`.
struct Derived {
  PlanPtr right;  // null: it reads no table, and its values are over the outer columns alone
  std::vector<ExpressionPtr> conditions;
  std::vector<CorrelatedKey> keys;        // of conditions that were made of keys: `inner` is a column of `right`
  std::vector<ExpressionPtr> values;      // its items; of keyed rows null where an item uses outer columns
  std::vector<std::string> names;
  // One row for every outer row (aggregates without GROUP BY): where `right` has none, the values hold for NULLs in its
  // columns.  `having`, if set, must be true for that row to be there.
  bool always = false;
  ExpressionPtr having;
  bool single = false;  // never more than one row for an outer row
  // Of the rows that fulfil the conditions the one with the newest right time: a temporal join.  Of the outer and of the
  // right rows; -1 where it is none.
  int left_time = -1;
  int right_time = -1;
};

// A column of USING: the condition of the join, and the value of the one column that both become.
struct MergedColumn {
  std::string name;
  ExpressionPtr equal;
  ExpressionPtr value;
};

// The common table expressions in sight, innermost first.
struct CteScope {
  const CteScope* parent = nullptr;
  const AstCte* cte = nullptr;
};

struct BoundAggregate {
  struct Order {
    ExpressionPtr expression;
    bool descending = false;
    bool nulls_first = false;
  };

  AggregateFunction function = AggregateFunction::kCountStar;
  ExpressionPtr argument;
  ExpressionPtr filter;
  bool distinct = false;
  DataType type;
  std::string name;
  std::vector<Order> order;
  std::string separator;
};

// What a grouped SELECT is made of; columns of the aggregate's output are the keys, with grouping sets a number whose
// bit i says that key i is not grouped by, then the calls.
struct Grouping {
  std::vector<ExpressionPtr> keys;  // over the rows of FROM
  std::vector<std::string> key_names;
  std::vector<BoundAggregate> calls;
  std::vector<std::vector<size_t>> sets;  // of keys; empty: one group by all keys
  SubqueryValues subqueries;              // over the groups

  size_t FirstCall() const { return keys.size() + (sets.empty() ? 0 : 1); }
};

struct BoundSort {
  ExpressionPtr expression;
  bool descending = false;
  bool nulls_first = false;
};

// A window function with its window.
struct BoundWindowCall {
  OverCall call;  // without its columns
  ExpressionPtr argument;
  ExpressionPtr filter;
  ExpressionPtr default_value;
  std::vector<ExpressionPtr> partition;
  std::vector<BoundSort> sort;
};

// The window functions of a SELECT: call i is column first_column + i while its expressions are bound.
struct WindowBinding {
  const AstOrdering* ordering = nullptr;  // with the WINDOW clause; may be null
  int first_column = 0;
  std::vector<BoundWindowCall> calls;
};

// A grouped SELECT before its projection: items and HAVING are over the columns of the plan, then those of the outer
// query.
struct GroupedRows {
  PlanPtr plan;
  std::vector<ExpressionPtr> outputs;
  ExpressionPtr having;  // null: none
  WindowBinding windows;
};

// Where an expression stands.
struct ExpressionContext {
  const BoundTable* table = nullptr;
  const BoundTable* outer = nullptr;  // of a correlated subquery; its columns follow those of `table`
  bool outer_allowed = false;
  int outer_base = -1;  // where the outer columns begin; -1: behind the columns of `table`
  const SubqueryValues* subqueries = nullptr;  // over the rows of `table`
  Grouping* grouping = nullptr;  // set: aggregates are allowed, and columns must be group keys
  WindowBinding* windows = nullptr;  // set: window functions are allowed
  std::string place;             // "WHERE", for messages
  // Of `table` and `outer`, made when the first column is looked up: neither scope changes while its context is used.
  std::shared_ptr<const ScopeIndex> table_index;
  std::shared_ptr<const ScopeIndex> outer_index;
};

class Binder {
 public:
  Binder(const Catalog& catalog, const PlannerOptions& options, std::vector<QueryError>& errors)
      : catalog_(catalog), options_(options), errors_(errors) {}

  // The texts must outlive the binder.
  void DefineView(const AstStatement& view, size_t query, const SourceText& source);
  // A kSink node, or null after an error.
  PlanPtr BindInsert(const AstStatement& insert, size_t query, const SourceText& source);
  // The item of FROM sees the tables before it.
  static bool IsLateral(const AstTable& table);

 private:
  struct View {
    AstStatement statement;
    size_t query;
    const SourceText* source;
  };

  // bind_insert.cc
  const CatalogRelation* FindTarget(const AstStatement& insert);
  PlanPtr BindSinkRows(const AstStatement& insert);
  PlanPtr BindTableRows(const AstStatement& insert, const CatalogRelation& table);
  // The SELECT's column of every column of the table, -1 where it gives none; false after an error.
  bool MatchColumns(const AstStatement& insert, const CatalogRelation& table, size_t given, std::vector<int>& from);
  ExpressionPtr AssignColumn(const AstStatement& insert, const PlanNode& rows, int from, const CatalogRelation& table,
                             int to);

  // bind_select.cc
  PlanPtr BindSelect(const AstSelect& select, const CteScope* ctes, const BoundTable* outer, bool keep_nulls);
  PlanPtr BindPlainSelect(const AstSelect& select, const CteScope* ctes, const BoundTable* outer);
  PlanPtr BindValues(const AstSelect& select);
  PlanPtr EvaluateValues(const AstSelect& select, const std::vector<std::vector<ExpressionPtr>>& rows, Schema schema);
  std::vector<AstSelectItem> ExpandItems(const AstSelect& select, const Scope& scope);
  std::vector<std::string> ItemNames(const std::vector<AstSelectItem>& items);
  PlanPtr ResolveNulls(PlanPtr plan);
  // Names the columns of a view, CTE or alias list.
  bool RenameColumns(PlanPtr& plan, const std::vector<std::string>& names, size_t at, const std::string& what);

  // bind_set.cc
  PlanPtr BindSetOperation(const AstSelect& select, const CteScope* ctes);
  Result<PlanPtr> PlanIntersectOrExcept(AstSelect::SetOperation operation, bool all, PlanPtr left, PlanPtr right);
  PlanPtr UniteTypes(PlanPtr arm, const std::vector<DataType>& types, size_t at);

  // bind_order.cc
  // The columns of `items` that ORDER BY and DISTINCT ON mean; items that SELECT does not have are appended.
  struct OrderTargets {
    std::vector<size_t> order;
    std::vector<size_t> distinct_on;
    size_t visible = 0;  // items of SELECT itself
  };
  std::optional<OrderTargets> ResolveOrder(const AstOrdering& ordering, std::vector<AstSelectItem>& items);
  std::optional<OrderTargets> ResolveOrder(const AstOrdering& ordering, const PlanNode& rows);
  std::optional<size_t> OutputColumn(const AstExpression& expression, const std::vector<std::string>& names,
                                     const std::string& clause, bool& failed);
  // DISTINCT, DISTINCT ON, LIMIT and OFFSET over the rows of all items.
  PlanPtr ApplyOrdering(const AstSelect& select, PlanPtr plan, OrderTargets targets);
  PlanPtr ApplyDistinctOn(const AstOrdering& ordering, PlanPtr plan, const OrderTargets& targets);
  std::optional<std::vector<SortColumn>> SortColumns(const AstOrdering& ordering, const PlanNode& rows,
                                                     const OrderTargets& targets);
  // The rows that OFFSET and LIMIT leave.
  std::optional<RankBounds> RowBounds(const AstOrdering& ordering);
  // The number that LIMIT or OFFSET gives; `none` for NULL.
  std::optional<int64_t> RowCount(const AstExpression& expression, const char* clause, int64_t none);

  // bind_over.cc
  ExpressionPtr BindWindowCall(const AstExpression& call, ExpressionContext& context);
  bool BindWindowFunction(const AstExpression& call, ExpressionContext& inside, BoundWindowCall& bound);
  bool BindNeighbour(const AstExpression& call, ExpressionContext& inside, BoundWindowCall& bound);
  std::optional<AstWindow> ResolveWindow(const AstWindow& window, const AstOrdering* ordering, int depth);
  bool BindOver(const AstWindow& window, ExpressionContext& inside, BoundWindowCall& bound);
  bool BindBound(const AstFrameBound& written, bool rows, const BoundWindowCall& bound, size_t at, FrameBound& to);
  std::optional<int64_t> WindowNumber(const AstExpression& expression, const std::string& what);
  // The kOver nodes above `input`; column i of the expressions bound before is column mapping[i] of the result.
  PlanPtr PlanWindows(const WindowBinding& windows, PlanPtr input, std::vector<int>& mapping);

  // bind_aggregate.cc
  PlanPtr BindGrouped(const AstSelect& select, const std::vector<AstSelectItem>& items, BoundTable& from,
                      const CteScope* ctes);
  // Subqueries among the keys are joined to the rows of FROM and noted in `row_values`.
  bool BindGroupKeys(const AstSelect& select, const std::vector<AstSelectItem>& items, BoundTable& from,
                     const CteScope* ctes, SubqueryValues& row_values, Grouping& grouping);
  bool BindGroupedRows(const AstSelect& select, const std::vector<AstSelectItem>& items, BoundTable& from,
                       const BoundTable* outer, const CteScope* ctes, SubqueryValues& row_values, Grouping& grouping,
                       GroupedRows& rows);
  bool BindAggregateCalls(const AstExpression& expression, BoundTable& from, const CteScope* ctes,
                          SubqueryValues& row_values, Grouping& grouping, const std::string& place);
  AstExpressionPtr GroupTarget(const AstExpressionPtr& key, const std::vector<AstSelectItem>& items,
                               const BoundTable& from);
  ExpressionPtr BindGroupingCall(const AstExpression& call, ExpressionContext& context);
  bool BindAggregateArguments(const AstExpression& call, ExpressionContext& inside, BoundAggregate& bound);
  bool BindAggregateOrder(const AstExpression& call, ExpressionContext& inside, BoundAggregate& bound);
  ExpressionPtr BindAggregate(const AstExpression& call, ExpressionContext& context);
  std::optional<DataType> AggregateType(const AstExpression& call, AggregateFunction function,
                                        const DataType& argument);

  // bind_from.cc
  std::optional<BoundTable> BindFrom(const AstSelect& select, const CteScope* ctes);
  // `before`: what stands before the table in FROM, for one that begins with a lateral item, which is then joined to it.
  std::optional<BoundTable> BindTable(const AstTable& table, const CteScope* ctes, const BoundTable* before);
  std::optional<BoundTable> BindNamed(const AstTable& table, const CteScope* ctes);
  PlanPtr BindView(const View& view);
  std::optional<BoundTable> BindJoin(const AstTable& table, const CteScope* ctes, const BoundTable* before);
  bool MergeColumn(const AstTable& table, const std::string& name, const PlanNode& join, BoundTable& left,
                   BoundTable& right, MergedColumn& merged);
  std::optional<BoundTable> BindUsing(const AstTable& table, BoundTable left, BoundTable right);
  std::optional<BoundTable> WithAlias(PlanPtr plan, const AstTable& table);
  bool CheckTableNames(const Scope& left, const Scope& right, size_t at);
  PlanPtr PlaceJoin(PlanPtr join, size_t at);

  // bind_window.cc
  std::optional<BoundTable> BindFunctionTable(const AstTable& table, const CteScope* ctes);
  // The table that an argument of a function in FROM names, or the rows of its subquery.
  std::optional<BoundTable> BindTableArgument(const AstExpression& argument, const std::string& function,
                                              const CteScope* ctes);
  // Arguments behind the table: the time column and what the function takes.
  PlanPtr BindWindow(const std::string& function, size_t at, const std::vector<AstExpressionPtr>& arguments,
                     size_t first, const BoundTable& input);
  std::optional<Micros> WindowLength(const AstExpression& argument, const BoundTable& input, const std::string& what);
  std::optional<int> WindowColumn(const AstExpression& argument, const BoundTable& input, const std::string& what);
  // bind_group_window.cc
  // GROUP BY TUMBLE(time, size), and TUMBLE_START and the like in SELECT and HAVING: as a window function below.
  PlanPtr BindGroupWindow(const AstSelect& select, const std::vector<AstSelectItem>& items, const BoundTable& from,
                          const CteScope* ctes, const AstExpression& call);
  bool CheckTimeColumn(const AstExpression& argument, const BoundTable& input, const std::string& function, int column);
  // bind_lateral.cc
  std::optional<BoundTable> BindLateralJoin(BoundTable left, const AstTable& table, const CteScope* ctes);
  // The item joined to what stands before it.  `on` may be null.
  std::optional<BoundTable> BindLateral(BoundTable left, const AstTable& item, JoinType type, const AstExpression* on,
                                        const CteScope* ctes);
  PlanPtr BindUnnest(const BoundTable& left, const AstTable& item, bool outer);
  PlanPtr BindLateralSubquery(const BoundTable& left, const AstTable& item, bool outer, const CteScope* ctes);
  bool BindOnSubqueries(const AstExpression& on, BoundTable& left, BoundTable& right, const CteScope* ctes,
                        SubqueryValues& values);
  std::optional<BoundTable> BindOn(const AstTable& table, JoinType type, BoundTable left, BoundTable right,
                                   const CteScope* ctes);

  // bind_where.cc
  // Filters the rows of the table, for WHERE and ON.  Conjuncts that use the outer query go to `correlated`, over outer columns, then the
  // table's.  False after an error.
  bool BindWhere(const AstExpression& where, BoundTable& table, const CteScope* ctes, const BoundTable* outer,
                 std::vector<ExpressionPtr>* correlated);
  bool BindSubqueryCondition(const AstExpression& subquery, bool negated, BoundTable& table, const CteScope* ctes);
  bool FilterByValue(const AstExpression& subquery, bool negated, BoundTable& table, const CteScope* ctes);
  bool BindInList(const AstExpression& subquery, const BoundTable& table, const Derived& derived,
                  std::vector<ExpressionPtr>& equalities, bool& unknown);

  // bind_subquery.cc
  // `keyed`: the conditions are equalities of an outer expression and a column of `right` each.
  // `temporal`: the caller joins by JoinDerived, which knows temporal joins.
  std::optional<Derived> BindDerived(const AstSelect& select, const CteScope* ctes, const BoundTable& outer, bool keyed,
                                     bool temporal = false);
  bool BindDerivedRows(const AstSelect& select, const std::vector<AstSelectItem>& items, BoundTable& inner,
                       const BoundTable& outer, const CteScope* ctes, std::vector<ExpressionPtr> correlated, bool keyed,
                       Derived& derived);
  bool BindDerivedGroups(const AstSelect& select, BoundTable& inner, const BoundTable& outer, const CteScope* ctes,
                         std::vector<ExpressionPtr> correlated, Derived& derived);
  bool ProjectKeyed(const AstSelect& select, const BoundTable& outer, Derived& derived);
  static bool ConditionsOfKeys(Derived& derived, size_t outer_width);
  static bool Correlate(PlanPtr& rows, const BoundTable& outer, std::vector<ExpressionPtr> correlated,
                        std::vector<CorrelatedKey>& keys);
  static void CountNothing(const Grouping& grouping, const Schema& outer, Derived& derived);

  // bind_subquery_order.cc
  // Subqueries with LIMIT, OFFSET, DISTINCT ON or window functions.
  static bool ChoosesRows(const AstSelect& select);
  bool BindDerivedChoice(const AstSelect& select, const CteScope* ctes, const BoundTable& outer, bool temporal,
                         Derived& derived);
  bool BindNewestRows(const AstSelect& select, const CteScope* ctes, const BoundTable& outer, bool temporal,
                      Derived& derived);
  bool AsTemporal(const Derived& derived, const OrderTargets& targets, const RankBounds& bounds, const BoundTable& outer,
                  TimeBound& time) const;

  // bind_subquery_value.cc
  // Joins every subquery of the expression, but those inside aggregates, to the table and notes its value.  `context`:
  // where the values are bound that subqueries are compared with; without a table they are the rows' own.
  bool BindSubqueries(const AstExpression& expression, BoundTable& table, const CteScope* ctes,
                      const ExpressionContext& context, SubqueryValues& values);
  ExpressionPtr SubqueryValue(const AstExpression& subquery, BoundTable& table, const CteScope* ctes,
                              ExpressionContext& context);
  ExpressionPtr ScalarValue(const AstExpression& subquery, BoundTable& table, const CteScope* ctes);
  ExpressionPtr ExistsValue(const AstExpression& subquery, BoundTable& table, const CteScope* ctes);
  ExpressionPtr ComparisonValue(const AstExpression& subquery, const ExpressionPtr& left, BoundTable& table,
                                const CteScope* ctes);
  ExpressionPtr CompareKeyed(const AstExpression& subquery, const std::string& name, bool all,
                             const ExpressionPtr& left, Derived derived, BoundTable& table);
  std::vector<ExpressionPtr> JoinStatistics(const Derived& derived, int value_column, bool extremes, BoundTable& table,
                                            size_t at);
  static Result<ExpressionPtr> Compared(const std::string& name, bool all, const ExpressionPtr& left,
                                        const ExpressionPtr& matched, const std::vector<ExpressionPtr>& statistics);
  static bool MoveValueBelow(Derived& derived, size_t outer_width);
  bool DistinctKeys(Derived& derived, const std::vector<int>& columns, size_t outer_width, size_t at);
  // Adds a column that is true in every row of the subquery, and so NULL where there is none.
  static ExpressionPtr AddMark(Derived& derived, size_t outer_width);
  // `keep`: outer rows without a row of the subquery stay.
  void JoinDerived(BoundTable& table, const Derived& derived, bool keep, size_t at);
  void JoinNewest(BoundTable& table, const Derived& derived, bool keep, size_t at);

  // bind_expression.cc
  ExpressionPtr BindExpression(const AstExpression& expression, ExpressionContext& context);
  ExpressionPtr BindParts(const AstExpression& expression, ExpressionContext& context);
  ExpressionPtr BindColumn(const AstExpression& expression, ExpressionContext& context);
  // The columns of one level of the context that the name may mean.
  static std::vector<const ScopeColumn*> ColumnsNamed(const AstExpression& expression, const BoundTable& level,
                                                      std::shared_ptr<const ScopeIndex>& index);
  ExpressionPtr BindNumber(const AstExpression& expression);
  ExpressionPtr BindCall(const AstExpression& expression, ExpressionContext& context);
  ExpressionPtr BindCast(const AstExpression& expression, ExpressionContext& context);
  ExpressionPtr BindCondition(const AstExpression& expression, ExpressionContext& context);
  // Null without an error when the expression is no group key.
  ExpressionPtr AsGroupKey(const AstExpression& expression, ExpressionContext& context);
  void ReportUnknownColumn(const AstExpression& expression, const ExpressionContext& context);

  std::nullptr_t Fail(size_t at, std::string message);

  const Catalog& catalog_;
  const PlannerOptions& options_;
  std::vector<QueryError>& errors_;
  std::map<std::string, View> views_;
  // The text being bound: the query's, or a view's while its body is bound.
  size_t query_ = 0;
  const SourceText* source_ = nullptr;
  bool silent_ = false;      // while a guess is tried (AsGroupKey)
  std::vector<size_t> item_places_;  // of the columns of the SELECT that was bound last
  std::vector<const BoundTable*> outers_;  // the queries around the subquery being bound, for messages
  size_t bound_tables_ = 0;  // bounds the size of what views and CTEs expand to
};

// The expression contains an aggregate call, or a window function, outside of subqueries.
bool ContainsAggregate(const AstExpression& expression);
bool ContainsWindow(const AstExpression& expression);
// Calls visit for the expressions directly below: arguments, FILTER and the window's.
void ForEachPart(const AstExpression& expression, const std::function<void(const AstExpression&)>& visit);
// The subqueries in an expression, inner ones first, but those inside aggregates.
void CollectSubqueries(const AstExpression& expression, std::vector<const AstExpression*>& found);
bool ContainsSubquery(const AstExpression& expression);
// The condition (over `outer_width` outer columns, then inner ones) as an equality of an outer expression and one of the
// inner rows, which is then over the inner columns alone.
bool AsEquality(const ExpressionPtr& conjunct, int outer_width, CorrelatedKey& key);
// CASE WHEN condition THEN value END.
ExpressionPtr NullUnless(const ExpressionPtr& condition, const ExpressionPtr& value);
// TUMBLE(...), HOP(...), CUMULATE(...) or SESSION(...)
bool IsWindowCall(const AstExpression& expression);

}  // namespace weir
