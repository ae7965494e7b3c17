// ORDER BY, LIMIT, OFFSET, FETCH and DISTINCT ON.
//
// 1. What ORDER BY and DISTINCT ON name becomes a column of the SELECT: a number or an output name is one, any other
//    expression is computed beside them and dropped at the end.
// 2. DISTINCT ON is the first row of each partition, LIMIT and OFFSET the first rows of all: kRank nodes.
// 3. ORDER BY alone changes nothing: the result is a set of rows, in a sink as in a subquery.

#include <algorithm>
#include <charconv>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;

bool IsOrderedBy(const DataType& type) { return type.kind != TypeKind::kNull && IsOrderable(type); }

}  // namespace

std::optional<size_t> Binder::OutputColumn(const AstExpression& expression, const std::vector<std::string>& names,
                                           const std::string& clause, bool& failed) {
  if (expression.kind == Kind::kInteger) {
    size_t number = 0;
    const auto [end, error] =
        std::from_chars(expression.text.data(), expression.text.data() + expression.text.size(), number);
    if (error == std::errc() && end == expression.text.data() + expression.text.size() && number >= 1 &&
        number <= names.size()) {
      return number - 1;
    }
    Fail(expression.at,
         clause + " " + expression.text + " is no item of SELECT, which has " + std::to_string(names.size()));
    failed = true;
    return std::nullopt;
  }
  if (expression.kind != Kind::kColumn || expression.names.size() != 1) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), expression.names[0]);
  if (found == names.end()) return std::nullopt;
  if (std::find(found + 1, names.end(), expression.names[0]) != names.end()) {
    Fail(expression.at, clause + " " + QuotedIfNeeded(expression.names[0]) +
                            " is ambiguous: two items of SELECT have that name");
    failed = true;
    return std::nullopt;
  }
  return static_cast<size_t>(found - names.begin());
}

std::optional<Binder::OrderTargets> Binder::ResolveOrder(const AstOrdering& ordering,
                                                         std::vector<AstSelectItem>& items) {
  OrderTargets targets;
  targets.visible = items.size();
  const std::vector<std::string> names = ItemNames(items);
  bool failed = false;
  const auto resolve = [&](const AstExpressionPtr& expression, size_t at, const std::string& clause) {
    if (const std::optional<size_t> column = OutputColumn(*expression, names, clause, failed)) return *column;
    AstSelectItem item;
    item.at = at;
    item.expression = expression;
    item.alias = "order_" + std::to_string(items.size() - targets.visible + 1);
    items.push_back(std::move(item));
    return items.size() - 1;
  };
  for (const AstSortItem& item : ordering.order_by) {
    targets.order.push_back(resolve(item.expression, item.at, "ORDER BY"));
  }
  for (const AstExpressionPtr& expression : ordering.distinct_on) {
    targets.distinct_on.push_back(resolve(expression, expression->at, "DISTINCT ON"));
  }
  if (failed) return std::nullopt;
  return targets;
}

std::optional<Binder::OrderTargets> Binder::ResolveOrder(const AstOrdering& ordering, const PlanNode& rows) {
  OrderTargets targets;
  targets.visible = rows.schema->size();
  const std::vector<std::string> names = ColumnNames(*rows.schema);
  bool failed = false;
  for (const AstSortItem& item : ordering.order_by) {
    const std::optional<size_t> column = OutputColumn(*item.expression, names, "ORDER BY", failed);
    if (!column && !failed) {
      Fail(item.at, "ORDER BY behind UNION, INTERSECT, EXCEPT or VALUES takes a name or number of its columns only");
      failed = true;
    }
    targets.order.push_back(column.value_or(0));
  }
  if (failed) return std::nullopt;
  return targets;
}

std::optional<int64_t> Binder::RowCount(const AstExpression& expression, const char* clause, int64_t none) {
  const BoundTable nothing{NewOneRow(), {}};
  ExpressionContext context;
  context.table = &nothing;
  context.place = clause;
  ExpressionPtr bound = BindExpression(expression, context);
  if (bound == nullptr) return std::nullopt;
  bound = FoldConstants(bound);
  const ColumnPtr literal = bound->Literal();
  if (literal != nullptr && literal->IsNull(0)) return none;
  if (literal == nullptr || !bound->type().IsInteger()) {
    Fail(expression.at, std::string(clause) + " takes a whole number that is known when the job starts");
    return std::nullopt;
  }
  if (literal->ints()[0] < 0) {
    Fail(expression.at, std::string(clause) + " must not be negative");
    return std::nullopt;
  }
  return literal->ints()[0];
}

std::optional<std::vector<SortColumn>> Binder::SortColumns(const AstOrdering& ordering, const PlanNode& rows,
                                                           const OrderTargets& targets) {
  std::vector<SortColumn> sort;
  for (size_t i = 0; i < targets.order.size(); ++i) {
    const AstSortItem& item = ordering.order_by[i];
    const DataType& type = (*rows.schema)[targets.order[i]].type;
    if (!IsOrderedBy(type)) {
      Fail(item.at, "ORDER BY cannot put " + type.ToString() + " in order");
      return std::nullopt;
    }
    sort.push_back({static_cast<int>(targets.order[i]), item.descending, item.nulls_first});
  }
  return sort;
}

PlanPtr Binder::ApplyDistinctOn(const AstOrdering& ordering, PlanPtr plan, const OrderTargets& targets) {
  std::vector<int> partition;
  for (const size_t column : targets.distinct_on) {
    if (!Contains(partition, static_cast<int>(column))) partition.push_back(static_cast<int>(column));
  }
  const std::optional<std::vector<SortColumn>> sort = SortColumns(ordering, *plan, targets);
  if (!sort) return nullptr;
  std::vector<SortColumn> rest;
  std::vector<int> leading;
  for (size_t i = 0; i < sort->size(); ++i) {
    if (!Contains(partition, (*sort)[i].column)) {
      rest.push_back((*sort)[i]);
    } else if (rest.empty()) {
      leading.push_back((*sort)[i].column);
    }
    if (!rest.empty() && !SameSet(leading, partition)) {
      return Fail(ordering.order_by[i].at, "ORDER BY must begin with the expressions of DISTINCT ON");
    }
  }
  RankBounds first;
  first.to = 1;
  return NewRank(std::move(plan), std::move(partition), std::move(rest), std::move(first));
}

PlanPtr Binder::ApplyOrdering(const AstSelect& select, PlanPtr plan, OrderTargets targets) {
  const AstOrdering& ordering = *select.ordering;
  // An expression that SELECT has as well is that column.
  for (size_t column = targets.visible; column < plan->schema->size(); ++column) {
    const ExpressionPtr& hidden = plan->expressions[column];
    size_t same = 0;
    while (same < targets.visible &&
           !(hidden->deterministic() && plan->expressions[same]->Signature() == hidden->Signature())) {
      ++same;
    }
    if (same == targets.visible) {
      if (!select.distinct) continue;
      const auto place = std::find(targets.order.begin(), targets.order.end(), column);
      return Fail(ordering.order_by[static_cast<size_t>(place - targets.order.begin())].at,
                  "with SELECT DISTINCT, ORDER BY takes only expressions that SELECT has");
    }
    std::replace(targets.order.begin(), targets.order.end(), column, same);
    std::replace(targets.distinct_on.begin(), targets.distinct_on.end(), column, same);
  }
  plan = ResolveNulls(std::move(plan));
  const std::vector<int> visible = Iota(targets.visible);
  if (select.distinct && select.set_operation == AstSelect::SetOperation::kNone) {
    plan = SelectColumns(std::move(plan), visible);
    plan = NewDistinct(std::move(plan));
  }
  if (!targets.distinct_on.empty()) plan = ApplyDistinctOn(ordering, std::move(plan), targets);
  if (plan == nullptr) return nullptr;
  const std::optional<std::vector<SortColumn>> sort = SortColumns(ordering, *plan, targets);
  if (!sort) return nullptr;
  const std::optional<RankBounds> bounds = RowBounds(ordering);
  if (!bounds) return nullptr;
  if (bounds->from > 1 || bounds->to != RankBounds::kAll) plan = NewRank(std::move(plan), {}, *sort, *bounds);
  return SelectColumns(std::move(plan), visible);
}

std::optional<RankBounds> Binder::RowBounds(const AstOrdering& ordering) {
  RankBounds bounds;
  if (ordering.with_ties) bounds.function = OverFunction::kRank;
  std::optional<int64_t> offset = 0;
  std::optional<int64_t> limit = RankBounds::kAll;
  if (ordering.offset != nullptr) offset = RowCount(*ordering.offset, "OFFSET", 0);
  if (ordering.limit != nullptr) limit = RowCount(*ordering.limit, "LIMIT", RankBounds::kAll);
  if (!offset || !limit) return std::nullopt;
  if (ordering.with_ties && *offset > 0) {
    Fail(ordering.offset->at, "OFFSET with FETCH ... WITH TIES is not supported");
    return std::nullopt;
  }
  bounds.from = *offset == RankBounds::kAll ? *offset : *offset + 1;
  bounds.to = *limit > RankBounds::kAll - *offset ? RankBounds::kAll : *offset + *limit;
  return bounds;
}

}  // namespace weir
