// Gives the syntax trees of a job's queries their meaning: names become columns, calls become expressions, and every
// query becomes a tree of plan nodes (without exchanges, keys and properties, which the rules add).
//
// Errors go to the list with the query, line and column; a function that failed returns null and its caller goes on
// with the siblings, so that a query's errors are found together.  A view or CTE is bound anew at each use: plans are
// trees until share.h makes one node of equal ones.  One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sql/parse/ast.h"
#include "sql/parse/source_text.h"
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

struct BoundTable {
  PlanPtr plan;
  Scope scope;
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
  AggregateFunction function = AggregateFunction::kCountStar;
  ExpressionPtr argument;
  ExpressionPtr filter;
  bool distinct = false;
  DataType type;
  std::string name;
};

// What a grouped SELECT is made of; columns of the aggregate's output are the keys, then the calls.
struct Grouping {
  std::vector<ExpressionPtr> keys;  // over the rows of FROM
  std::vector<std::string> key_names;
  std::vector<BoundAggregate> calls;
};

// Where an expression stands.
struct ExpressionContext {
  const BoundTable* table = nullptr;
  const BoundTable* outer = nullptr;  // of a correlated subquery; its columns follow those of `table`
  bool outer_allowed = false;
  Grouping* grouping = nullptr;  // set: aggregates are allowed, and columns must be group keys
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
  PlanPtr BindUnion(const AstSelect& select, const CteScope* ctes);
  PlanPtr UniteTypes(PlanPtr arm, const std::vector<DataType>& types, size_t at);
  std::vector<AstSelectItem> ExpandItems(const AstSelect& select, const Scope& scope);
  std::vector<std::string> ItemNames(const std::vector<AstSelectItem>& items);
  PlanPtr ResolveNulls(PlanPtr plan);
  // Names the columns of a view, CTE or alias list.
  bool RenameColumns(PlanPtr& plan, const std::vector<std::string>& names, size_t at, const std::string& what);

  // bind_aggregate.cc
  PlanPtr BindGrouped(const AstSelect& select, const std::vector<AstSelectItem>& items, const BoundTable& from);
  bool BindGroupKeys(const AstSelect& select, const std::vector<AstSelectItem>& items, const BoundTable& from,
                     Grouping& grouping);
  AstExpressionPtr GroupTarget(const AstExpressionPtr& key, const std::vector<AstSelectItem>& items,
                               const BoundTable& from);
  PlanPtr PlanGrouping(const Grouping& grouping, PlanPtr input);
  ExpressionPtr BindAggregate(const AstExpression& call, ExpressionContext& context);
  std::optional<DataType> AggregateType(const AstExpression& call, AggregateFunction function,
                                        const DataType& argument);

  // bind_from.cc
  std::optional<BoundTable> BindFrom(const AstSelect& select, const CteScope* ctes);
  std::optional<BoundTable> BindTable(const AstTable& table, const CteScope* ctes);
  std::optional<BoundTable> BindNamed(const AstTable& table, const CteScope* ctes);
  PlanPtr BindView(const View& view);
  std::optional<BoundTable> BindJoin(const AstTable& table, const CteScope* ctes);
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
                          const AstExpression& call);
  bool CheckTimeColumn(const AstExpression& argument, const BoundTable& input, const std::string& function, int column);

  // bind_where.cc
  PlanPtr BindWhere(const AstExpression& where, const BoundTable& from, const CteScope* ctes, const BoundTable* outer,
                    std::vector<ExpressionPtr>* correlated);
  PlanPtr BindSubqueryCondition(const AstExpression& subquery, bool negated, PlanPtr plan, const BoundTable& from,
                                const CteScope* ctes);
  bool BindInList(const AstExpression& subquery, bool negated, const BoundTable& from, const Schema& right,
                  const std::vector<ExpressionPtr>& values, std::vector<ExpressionPtr>& conditions);

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
  size_t bound_tables_ = 0;  // bounds the size of what views and CTEs expand to
};

// The expression contains an aggregate call outside of subqueries.
bool ContainsAggregate(const AstExpression& expression);
bool IsAggregateName(const std::string& lower_name);
// TUMBLE(...), HOP(...), CUMULATE(...) or SESSION(...)
bool IsWindowCall(const AstExpression& expression);

}  // namespace weir
