// WHERE, with EXISTS and IN as semi and anti joins.
//
// The conjuncts of WHERE that are subqueries become joins over the filtered rows of FROM; the others one filter, below
// which the values of subqueries inside them are joined.  In a subquery, conjuncts that use columns of the outer query
// are handed up and become the join's condition.

#include <algorithm>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;
using SubqueryKind = AstExpression::SubqueryKind;

void SplitConjuncts(const AstExpression& expression, std::vector<const AstExpression*>& conjuncts) {
  if (expression.kind == Kind::kOperator && expression.text == "AND") {
    for (const AstExpressionPtr& argument : expression.arguments) SplitConjuncts(*argument, conjuncts);
  } else {
    conjuncts.push_back(&expression);
  }
}

// The subquery of a conjunct that is one, under any number of NOT.
const AstExpression* SubqueryOf(const AstExpression& conjunct, bool& negated) {
  const AstExpression* inner = &conjunct;
  while (inner->kind == Kind::kOperator && inner->text == "NOT") {
    negated = !negated;
    inner = inner->arguments[0].get();
  }
  const bool subquery = inner->kind == Kind::kSubquery && inner->subquery_kind != SubqueryKind::kScalar;
  return subquery ? inner : nullptr;
}

// Aggregates without GROUP BY: always one row.
bool IsOneRow(const AstSelect& select) {
  if (select.set_operation != AstSelect::SetOperation::kNone || !select.group_by.empty() ||
      !select.grouping_sets.empty()) {
    return false;
  }
  if (select.ordering != nullptr) return false;
  bool aggregates = select.having != nullptr;
  for (const AstSelectItem& item : select.items) {
    aggregates = aggregates || (item.expression != nullptr && ContainsAggregate(*item.expression));
  }
  return aggregates;
}

bool HasSubqueryArguments(const AstExpression& subquery) {
  return std::any_of(subquery.arguments.begin(), subquery.arguments.end(),
                     [](const AstExpressionPtr& argument) { return ContainsSubquery(*argument); });
}

// Columns of the table come first in what is bound with an outer query; a join with that has them last.
ExpressionPtr OuterFirst(const ExpressionPtr& conjunct, size_t inner, size_t outer) {
  std::vector<int> mapping = Iota(inner, static_cast<int>(outer));
  for (size_t i = 0; i < outer; ++i) mapping.push_back(static_cast<int>(i));
  return conjunct->Remap(mapping);
}

}  // namespace

bool Binder::BindWhere(const AstExpression& where, BoundTable& table, const CteScope* ctes, const BoundTable* outer,
                       std::vector<ExpressionPtr>* correlated) {
  std::vector<const AstExpression*> conjuncts;
  SplitConjuncts(where, conjuncts);
  std::vector<const AstExpression*> plain;
  std::vector<std::pair<const AstExpression*, bool>> subqueries;
  for (const AstExpression* conjunct : conjuncts) {
    bool negated = false;
    if (const AstExpression* subquery = SubqueryOf(*conjunct, negated)) {
      subqueries.emplace_back(subquery, negated);
    } else {
      plain.push_back(conjunct);
    }
  }
  SubqueryValues values;
  ExpressionContext context;
  context.table = &table;
  context.place = "WHERE";
  context.subqueries = &values;
  bool complete = true;
  for (const AstExpression* conjunct : plain) {
    complete = BindSubqueries(*conjunct, table, ctes, context, values) && complete;
  }
  if (!complete) return false;
  context.outer = outer;
  context.outer_allowed = correlated != nullptr;
  const size_t width = table.plan->schema->size();
  std::vector<ExpressionPtr> filters;
  for (const AstExpression* conjunct : plain) {
    ExpressionPtr bound = BindCondition(*conjunct, context);
    complete = complete && bound != nullptr;
    if (bound == nullptr) continue;
    const std::vector<int> columns = ColumnsOf(bound);
    if (!columns.empty() && columns.back() >= static_cast<int>(width)) {
      correlated->push_back(OuterFirst(bound, width, outer->plan->schema->size()));
    } else {
      filters.push_back(std::move(bound));
    }
  }
  if (!filters.empty()) table.plan = NewFilter(table.plan, JoinAnd(filters));
  for (const auto& [subquery, negated] : subqueries) {
    complete = BindSubqueryCondition(*subquery, negated, table, ctes) && complete;
  }
  return complete;
}

// A conjunct that is a subquery: a semi or anti join where that can say it, else a filter by the subquery's value.
bool Binder::BindSubqueryCondition(const AstExpression& subquery, bool negated, BoundTable& table,
                                   const CteScope* ctes) {
  const AstSelect& select = *subquery.select;
  const bool not_in = subquery.subquery_kind == SubqueryKind::kAll && subquery.text == "<>";
  const bool is_in = not_in || subquery.subquery_kind == SubqueryKind::kIn ||
                     (subquery.subquery_kind == SubqueryKind::kAny && subquery.text == "=");
  const bool exists = subquery.subquery_kind == SubqueryKind::kExists;
  if ((!is_in && !exists) || IsOneRow(select) || HasSubqueryArguments(subquery)) {
    return FilterByValue(subquery, negated, table, ctes);
  }
  const bool anti = negated != not_in;
  const size_t width = table.plan->schema->size();
  std::optional<Derived> derived = BindDerived(select, ctes, table, /*keyed=*/false);
  if (!derived) return false;
  if (derived->right == nullptr) return FilterByValue(subquery, negated, table, ctes);
  std::vector<ExpressionPtr> conditions = derived->conditions;
  if (is_in) {
    std::vector<ExpressionPtr> equalities;
    bool unknown = false;
    if (!BindInList(subquery, table, *derived, equalities, unknown)) return false;
    if (anti && unknown && equalities.size() == 1) return FilterByValue(subquery, negated, table, ctes);
    if (anti && unknown) {
      // A row is kept only if every comparison is false.
      Result<ExpressionPtr> possible = MakeCall("IS NOT FALSE", {JoinAnd(equalities)});
      if (!possible) return Fail(subquery.at, possible.error().message) != nullptr;
      equalities = {*possible};
    }
    conditions.insert(conditions.end(), equalities.begin(), equalities.end());
  }
  WEIR_CHECK_EQ(width, table.plan->schema->size());
  ExpressionPtr condition = conditions.empty() ? nullptr : JoinAnd(conditions);
  const JoinType type = anti ? JoinType::kAnti : JoinType::kSemi;
  table.plan = PlaceJoin(NewJoin(table.plan, derived->right, type, std::move(condition)), subquery.at);
  return true;
}

bool Binder::FilterByValue(const AstExpression& subquery, bool negated, BoundTable& table, const CteScope* ctes) {
  SubqueryValues values;
  ExpressionContext context;
  context.table = &table;
  context.place = "WHERE";
  context.subqueries = &values;
  if (!BindSubqueries(subquery, table, ctes, context, values)) return false;
  Result<ExpressionPtr> condition = values.at(&subquery);
  if (negated) condition = MakeCall("NOT", {*condition});
  if (!condition) return Fail(subquery.at, condition.error().message) != nullptr;
  table.plan = NewFilter(table.plan, *condition);
  return true;
}

// The equalities of IN.  `unknown`: one of them can be NULL.
bool Binder::BindInList(const AstExpression& subquery, const BoundTable& table, const Derived& derived,
                        std::vector<ExpressionPtr>& equalities, bool& unknown) {
  if (derived.values.size() != subquery.arguments.size()) {
    Fail(subquery.at, "the subquery of IN has " + std::to_string(derived.values.size()) + " columns, and " +
                          std::to_string(subquery.arguments.size()) + " stand before IN");
    return false;
  }
  std::vector<Field> both = table.plan->schema->fields();
  both.insert(both.end(), derived.right->schema->fields().begin(), derived.right->schema->fields().end());
  const Schema schema(std::move(both));
  ExpressionContext context;
  context.table = &table;
  context.place = "WHERE";
  for (size_t i = 0; i < derived.values.size(); ++i) {
    const ExpressionPtr left = BindExpression(*subquery.arguments[i], context);
    if (left == nullptr) return false;
    unknown = unknown || CanBeNull(*left, schema) || CanBeNull(*derived.values[i], schema);
    Result<ExpressionPtr> equal = MakeCall("=", {left, derived.values[i]});
    if (!equal) {
      Fail(subquery.at, equal.error().message);
      return false;
    }
    equalities.push_back(*equal);
  }
  return true;
}

}  // namespace weir
