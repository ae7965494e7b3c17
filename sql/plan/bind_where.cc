// WHERE, with EXISTS and IN as semi and anti joins.
//
// The conjuncts of WHERE that are subqueries become joins over the filtered rows of FROM; the others one filter.  In a
// subquery, conjuncts that use columns of the outer query are handed up and become the join's condition.

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

// A SELECT whose rows are those of its FROM and WHERE: conditions on the outer query can be taken out of it.
bool IsPlain(const AstSelect& select) {
  if (select.is_union || !select.values.empty() || select.distinct || !select.group_by.empty() ||
      select.having != nullptr || select.ordering != nullptr)
    return false;
  for (const AstSelectItem& item : select.items) {
    if (item.expression != nullptr && (ContainsAggregate(*item.expression) || ContainsWindow(*item.expression)))
      return false;
  }
  return true;
}

// Inner columns come first in a correlated conjunct, outer ones behind; a join has its left (outer) columns first.
ExpressionPtr OuterFirst(const ExpressionPtr& conjunct, size_t inner, size_t outer) {
  std::vector<int> mapping = Iota(inner, static_cast<int>(outer));
  for (size_t i = 0; i < outer; ++i) mapping.push_back(static_cast<int>(i));
  return conjunct->Remap(mapping);
}

}  // namespace

PlanPtr Binder::BindWhere(const AstExpression& where, const BoundTable& from, const CteScope* ctes,
                          const BoundTable* outer, std::vector<ExpressionPtr>* correlated) {
  std::vector<const AstExpression*> conjuncts;
  SplitConjuncts(where, conjuncts);
  ExpressionContext context;
  context.table = &from;
  context.outer = outer;
  context.outer_allowed = correlated != nullptr;
  context.place = "WHERE";
  std::vector<ExpressionPtr> filters;
  std::vector<std::pair<const AstExpression*, bool>> subqueries;
  bool complete = true;
  const int width = static_cast<int>(from.plan->schema->size());
  for (const AstExpression* conjunct : conjuncts) {
    bool negated = false;
    if (const AstExpression* subquery = SubqueryOf(*conjunct, negated)) {
      subqueries.emplace_back(subquery, negated);
      continue;
    }
    ExpressionPtr bound = BindCondition(*conjunct, context);
    if (bound == nullptr) {
      complete = false;
      continue;
    }
    const std::vector<int> columns = ColumnsOf(bound);
    const bool uses_outer = !columns.empty() && columns.back() >= width;
    (uses_outer ? *correlated : filters).push_back(std::move(bound));
  }
  PlanPtr plan = from.plan;
  if (!filters.empty()) plan = NewFilter(std::move(plan), JoinAnd(filters));
  for (const auto& [subquery, negated] : subqueries) {
    PlanPtr joined = BindSubqueryCondition(*subquery, negated, plan, from, ctes);
    if (joined == nullptr) {
      complete = false;
    } else {
      plan = std::move(joined);
    }
  }
  return complete ? plan : nullptr;
}

PlanPtr Binder::BindSubqueryCondition(const AstExpression& subquery, bool negated, PlanPtr plan, const BoundTable& from,
                                      const CteScope* ctes) {
  const AstSelect& select = *subquery.select;
  const bool is_in = subquery.subquery_kind == SubqueryKind::kIn;
  const size_t width = plan->schema->size();
  PlanPtr right;
  std::vector<ExpressionPtr> values;      // of IN, over the right rows
  std::vector<ExpressionPtr> conditions;  // over left columns, then right columns
  if (IsPlain(select) && !select.from.empty()) {
    std::vector<CteScope> local(select.ctes.size());
    const CteScope* scope = ctes;
    for (size_t i = 0; i < select.ctes.size(); ++i) {
      local[i] = {scope, &select.ctes[i]};
      scope = &local[i];
    }
    std::optional<BoundTable> inner = BindFrom(select, scope);
    if (!inner) return nullptr;
    const std::vector<AstSelectItem> items = ExpandItems(select, inner->scope);
    ExpressionContext context;
    context.table = &*inner;
    context.outer = &from;
    context.place = "SELECT";
    bool complete = true;
    for (const AstSelectItem& item : items) {
      values.push_back(BindExpression(*item.expression, context));
      complete = complete && values.back() != nullptr;
    }
    const size_t inner_width = inner->plan->schema->size();
    std::vector<ExpressionPtr> correlated;
    right = inner->plan;
    if (select.where != nullptr) right = BindWhere(*select.where, *inner, scope, &from, &correlated);
    if (!complete || right == nullptr) return nullptr;
    for (const ExpressionPtr& conjunct : correlated) conditions.push_back(OuterFirst(conjunct, inner_width, width));
  } else {
    right = BindSelect(select, ctes, &from, /*keep_nulls=*/false);
    if (right == nullptr) return nullptr;
    values = ColumnExpressions(*right->schema);
  }
  if (is_in && !BindInList(subquery, negated, from, *right->schema, values, conditions)) return nullptr;
  ExpressionPtr condition = conditions.empty() ? nullptr : JoinAnd(conditions);
  PlanPtr join =
      NewJoin(std::move(plan), std::move(right), negated ? JoinType::kAnti : JoinType::kSemi, std::move(condition));
  return PlaceJoin(std::move(join), subquery.at);
}

bool Binder::BindInList(const AstExpression& subquery, bool negated, const BoundTable& from, const Schema& right,
                        const std::vector<ExpressionPtr>& values, std::vector<ExpressionPtr>& conditions) {
  if (values.size() != subquery.arguments.size()) {
    Fail(subquery.at, "the subquery of IN has " + std::to_string(values.size()) + " columns, and " +
                          std::to_string(subquery.arguments.size()) + " stand before IN");
    return false;
  }
  const int width = static_cast<int>(from.plan->schema->size());
  const std::vector<int> shift = Iota(right.size(), width);
  ExpressionContext context;
  context.table = &from;
  context.place = "WHERE";
  for (size_t i = 0; i < values.size(); ++i) {
    const ExpressionPtr left = BindExpression(*subquery.arguments[i], context);
    if (left == nullptr) return false;
    if (negated && (CanBeNull(*left, *from.plan->schema) || CanBeNull(*values[i], right))) {
      Fail(subquery.at,
           "NOT IN gives no row at all when the subquery has a NULL, which cannot be excluded here; write NOT EXISTS "
           "(SELECT 1 FROM ... WHERE ... = ...), which most queries mean");
      return false;
    }
    Result<ExpressionPtr> equal = MakeCall("=", {left, values[i]->Remap(shift)});
    if (!equal) {
      Fail(subquery.at, equal.error().message);
      return false;
    }
    conditions.push_back(*equal);
  }
  return true;
}

}  // namespace weir
