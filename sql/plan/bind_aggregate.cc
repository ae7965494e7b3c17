// GROUP BY, aggregates and HAVING.
//
// 1. Group keys are bound over the rows of FROM (a number or an output alias stands for that item of SELECT).
// 2. SELECT and HAVING are bound over the output of the aggregate: an expression equal to a key is the key's column, an
//    aggregate call becomes a column behind the keys, and equal calls share one.
// 3. The plan is: project(keys, arguments, filters) -> aggregate -> filter(HAVING) -> project(SELECT); grouping.h has
//    the first two.

#include <algorithm>
#include <charconv>

#include "sql/plan/aggregate_functions.h"
#include "sql/plan/binder.h"
#include "sql/plan/grouping.h"
#include "sql/plan/nodes.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;

constexpr size_t kMaxGroupingKeys = 62;  // the bits of GROUPING's number

bool SameExpression(const ExpressionPtr& a, const ExpressionPtr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->Signature() == b->Signature() && a->deterministic();
}

bool SameCall(const BoundAggregate& a, const BoundAggregate& b) {
  const auto same_order = [](const BoundAggregate::Order& x, const BoundAggregate::Order& y) {
    return x.descending == y.descending && x.nulls_first == y.nulls_first && SameExpression(x.expression, y.expression);
  };
  return a.function == b.function && a.distinct == b.distinct && a.separator == b.separator &&
         SameExpression(a.argument, b.argument) && SameExpression(a.filter, b.filter) &&
         std::equal(a.order.begin(), a.order.end(), b.order.begin(), b.order.end(), same_order);
}

}  // namespace

bool ContainsAggregate(const AstExpression& expression) {
  const bool aggregates = IsAggregateName(expression.text) || expression.text == "grouping";
  if (expression.kind == Kind::kFunction && expression.over == nullptr && aggregates) return true;
  bool found = false;
  ForEachPart(expression, [&](const AstExpression& part) { found = found || ContainsAggregate(part); });
  return found;
}

std::optional<DataType> Binder::AggregateType(const AstExpression& call, AggregateFunction function,
                                              const DataType& argument) {
  if (const std::optional<DataType> type = AggregateResultType(function, argument)) return type;
  Fail(call.at, "function " + call.text + "(" + (argument.kind == TypeKind::kNull ? "NULL" : argument.ToString()) +
                    ") does not exist; cast the argument");
  return std::nullopt;
}

bool Binder::BindAggregateArguments(const AstExpression& call, ExpressionContext& inside, BoundAggregate& bound) {
  const bool text = bound.function == AggregateFunction::kStringAgg;
  const bool separator_given = text && call.arguments.size() == 2;
  if (call.arguments.size() != 1 && !separator_given) {
    Fail(call.at, call.text + (text ? " takes a text and a separator" : " takes one argument"));
    return false;
  }
  bound.argument = BindExpression(*call.arguments[0], inside);
  if (bound.argument == nullptr) return false;
  if (text) {
    if (call.text == "string_agg" && !separator_given) {
      Fail(call.at, "string_agg takes a text and a separator");
      return false;
    }
    bound.separator = ",";
    if (separator_given && call.arguments[1]->kind != Kind::kString) {
      Fail(call.arguments[1]->at, "the separator of " + call.text + " must be a text such as ','");
      return false;
    }
    if (separator_given) bound.separator = call.arguments[1]->text;
    if (bound.argument->type().kind == TypeKind::kNull) bound.argument = MakeNull(StringType());
  }
  const std::optional<DataType> type = AggregateType(call, bound.function, bound.argument->type());
  if (!type) return false;
  bound.type = *type;
  if (call.distinct && !TakesDistinct(bound.function)) {
    Fail(call.at, "DISTINCT has no meaning in " + call.text);
    return false;
  }
  bound.distinct = call.distinct && !IgnoresDuplicates(bound.function);
  if (bound.argument->type().kind == TypeKind::kNull) bound.argument = MakeNull(BigintType());  // COUNT(NULL)
  if (bound.function == AggregateFunction::kCount && !bound.distinct &&
      !CanBeNull(*bound.argument, *inside.table->plan->schema)) {
    bound.function = AggregateFunction::kCountStar;
    bound.argument = nullptr;
  }
  return true;
}

bool Binder::BindAggregateOrder(const AstExpression& call, ExpressionContext& inside, BoundAggregate& bound) {
  // The order means nothing to the other aggregates, as in PostgreSQL; what it says is checked all the same.
  inside.place = "ORDER BY of an aggregate";
  for (const AstAggregateOrder& written : call.order) {
    ExpressionPtr expression = BindExpression(*written.expression, inside);
    if (expression == nullptr) return false;
    if (!IsOrderable(expression->type())) {
      Fail(written.expression->at, "a " + expression->type().ToString() + " has no order");
      return false;
    }
    if (bound.function == AggregateFunction::kFirstValue || bound.function == AggregateFunction::kLastValue) {
      Fail(written.expression->at, call.text + " takes the values in the order of arrival; for another order write "
                                               "(array_agg(x ORDER BY ...))[1]");
      return false;
    }
    if (!TakesOrder(bound.function) || expression->type().kind == TypeKind::kNull) continue;
    if (bound.distinct && !SameExpression(expression, bound.argument)) {
      Fail(written.expression->at, "in an aggregate with DISTINCT, ORDER BY must be by its argument");
      return false;
    }
    bound.order.push_back({std::move(expression), written.descending, written.nulls_first});
  }
  return true;
}

// GROUPING (a, b): a number of as many bits, 1 where the row is not grouped by the expression.
ExpressionPtr Binder::BindGroupingCall(const AstExpression& call, ExpressionContext& context) {
  if (context.grouping == nullptr) return Fail(call.at, "GROUPING is allowed only in a SELECT with GROUP BY");
  const Grouping& grouping = *context.grouping;
  ExpressionPtr number = MakeBigint(0);
  for (const AstExpressionPtr& argument : call.arguments) {
    const ExpressionPtr key = AsGroupKey(*argument, context);
    if (key == nullptr) return Fail(argument->at, "the arguments of GROUPING must be expressions of GROUP BY");
    Result<ExpressionPtr> next = MakeCall("*", {number, MakeBigint(2)});
    if (next && !grouping.sets.empty()) {
      const ExpressionPtr mask = MakeColumn(static_cast<int>(grouping.keys.size()), BigintType());
      Result<ExpressionPtr> bit = MakeCall("/", {mask, MakeBigint(int64_t{1} << key->ColumnIndex())});
      if (bit) bit = MakeCall("%", {*bit, MakeBigint(2)});
      if (bit) next = MakeCall("+", {*next, *bit});
    }
    if (!next) return Fail(call.at, next.error().message);
    number = FoldConstants(*next);
  }
  Result<ExpressionPtr> result = MakeCast(number, IntType());
  return result ? FoldConstants(*result) : Fail(call.at, result.error().message);
}

ExpressionPtr Binder::BindAggregate(const AstExpression& call, ExpressionContext& context) {
  if (context.grouping == nullptr) {
    return Fail(call.at, context.place == "an aggregate"
                             ? "aggregates cannot be nested"
                             : "aggregates are not allowed in " + context.place +
                                   (context.place == "WHERE" ? "; use HAVING" : "; use a subquery"));
  }
  const std::optional<AggregateFunction> function = FindAggregate(call.text);
  if (!function) {
    return Fail(call.at, "aggregate " + call.text + " is not supported; there are " + AggregateNames());
  }
  BoundAggregate bound;
  bound.function = *function;
  bound.name = call.text;
  ExpressionContext inside = context;
  inside.grouping = nullptr;
  inside.windows = nullptr;
  inside.outer_allowed = false;
  inside.place = "an aggregate";
  if (call.star) {
    if (*function != AggregateFunction::kCount) return Fail(call.at, "* is allowed only in COUNT(*)");
    bound.function = AggregateFunction::kCountStar;
    bound.type = BigintType();
  } else if (!BindAggregateArguments(call, inside, bound)) {
    return nullptr;
  }
  if (call.filter != nullptr) {
    inside.place = "FILTER";
    bound.filter = BindCondition(*call.filter, inside);
    if (bound.filter == nullptr) return nullptr;
  }
  if (!BindAggregateOrder(call, inside, bound)) return nullptr;
  std::vector<BoundAggregate>& calls = context.grouping->calls;
  size_t index = 0;
  while (index < calls.size() && !SameCall(calls[index], bound)) ++index;
  if (index == calls.size()) calls.push_back(bound);
  return MakeColumn(static_cast<int>(context.grouping->FirstCall() + index), bound.type);
}

// The expression that an item of GROUP BY stands for: a number or an output alias means an item of SELECT.
AstExpressionPtr Binder::GroupTarget(const AstExpressionPtr& key, const std::vector<AstSelectItem>& items,
                                     const BoundTable& from) {
  if (key->kind == Kind::kInteger) {
    size_t number = 0;
    const auto [end, error] = std::from_chars(key->text.data(), key->text.data() + key->text.size(), number);
    if (error != std::errc() || end != key->text.data() + key->text.size() || number < 1 || number > items.size()) {
      return Fail(key->at,
                  "GROUP BY " + key->text + " is no item of SELECT, which has " + std::to_string(items.size()));
    }
    return items[number - 1].expression;
  }
  if (key->kind != Kind::kColumn || key->names.size() != 1) return key;
  // A column of FROM goes before an alias, as in PostgreSQL.
  for (const ScopeColumn& column : from.scope.columns) {
    if (column.name == key->names[0] && !column.qualified_only) return key;
  }
  AstExpressionPtr found;
  for (const AstSelectItem& item : items) {
    if (item.alias != key->names[0]) continue;
    if (found != nullptr)
      return Fail(key->at, "GROUP BY " + key->names[0] + " is ambiguous: two items of SELECT have that name");
    found = item.expression;
  }
  return found == nullptr ? key : found;
}

bool Binder::BindGroupKeys(const AstSelect& select, const std::vector<AstSelectItem>& items, BoundTable& from,
                           const CteScope* ctes, SubqueryValues& row_values, Grouping& grouping) {
  bool complete = true;
  std::vector<size_t> key_of;  // by item of GROUP BY
  for (const AstExpressionPtr& written : select.group_by) {
    const AstExpressionPtr target = GroupTarget(written, items, from);
    if (target == nullptr) {
      complete = false;
      continue;
    }
    ExpressionContext context;
    context.table = &from;
    context.place = "GROUP BY";
    context.subqueries = &row_values;
    const bool joined = BindSubqueries(*target, from, ctes, context, row_values);
    ExpressionPtr key = joined ? BindExpression(*target, context) : nullptr;
    if (key == nullptr) {
      complete = false;
      continue;
    }
    if (key->type().kind == TypeKind::kNull) key = MakeNull(StringType());
    const auto known = std::find_if(grouping.keys.begin(), grouping.keys.end(),
                                    [&](const ExpressionPtr& other) { return other->Signature() == key->Signature(); });
    key_of.push_back(static_cast<size_t>(known - grouping.keys.begin()));
    if (known != grouping.keys.end()) continue;
    grouping.keys.push_back(key);
    grouping.key_names.push_back(target->kind == Kind::kColumn ? target->names.back()
                                                               : "key_" + std::to_string(grouping.keys.size()));
  }
  if (!complete || select.grouping_sets.empty()) return complete;
  if (grouping.keys.size() > kMaxGroupingKeys) {
    Fail(select.at, "GROUP BY with grouping sets has more than " + std::to_string(kMaxGroupingKeys) + " expressions");
    return false;
  }
  for (const std::vector<size_t>& written : select.grouping_sets) {
    std::vector<size_t>& set = grouping.sets.emplace_back();
    for (const size_t item : written) {
      if (std::find(set.begin(), set.end(), key_of[item]) == set.end()) set.push_back(key_of[item]);
    }
    std::sort(set.begin(), set.end());
  }
  return true;
}

// Notes the aggregate calls in an expression.  Subqueries in their arguments are joined to the rows of FROM.
bool Binder::BindAggregateCalls(const AstExpression& expression, BoundTable& from, const CteScope* ctes,
                                SubqueryValues& row_values, Grouping& grouping, const std::string& place) {
  ExpressionContext context;
  context.table = &from;
  context.place = "an aggregate";
  context.subqueries = &row_values;
  bool complete = true;
  if (expression.kind != Kind::kFunction || expression.over != nullptr || !IsAggregateName(expression.text)) {
    ForEachPart(expression, [&](const AstExpression& part) {
      complete = BindAggregateCalls(part, from, ctes, row_values, grouping, place) && complete;
    });
    return complete;
  }
  for (const AstExpressionPtr& argument : expression.arguments) {
    complete = BindSubqueries(*argument, from, ctes, context, row_values) && complete;
  }
  if (expression.filter != nullptr) {
    complete = BindSubqueries(*expression.filter, from, ctes, context, row_values) && complete;
  }
  if (!complete) return false;
  context.place = place;
  context.grouping = &grouping;
  return BindAggregate(expression, context) != nullptr;
}

// The columns of the groups that can be named.
static BoundTable Groups(PlanPtr plan, const Grouping& grouping, const BoundTable& from) {
  BoundTable groups;
  groups.scope.tables = from.scope.tables;
  for (ScopeColumn column : from.scope.columns) {
    for (size_t i = 0; i < grouping.keys.size(); ++i) {
      if (grouping.keys[i]->ColumnIndex() != column.index) continue;
      column.index = static_cast<int>(i);
      groups.scope.columns.push_back(column);
      break;
    }
  }
  groups.plan = std::move(plan);
  return groups;
}

bool Binder::BindGroupedRows(const AstSelect& select, const std::vector<AstSelectItem>& items, BoundTable& from,
                             const BoundTable* outer, const CteScope* ctes, SubqueryValues& row_values,
                             Grouping& grouping, GroupedRows& rows) {
  bool complete = true;
  for (const AstSelectItem& item : items) {
    complete = BindAggregateCalls(*item.expression, from, ctes, row_values, grouping, "SELECT") && complete;
  }
  if (select.having != nullptr) {
    complete = BindAggregateCalls(*select.having, from, ctes, row_values, grouping, "HAVING") && complete;
  }
  if (!complete) return false;
  BoundTable groups = Groups(PlanGrouping(grouping, from.plan), grouping, from);
  ExpressionContext context;
  context.table = &from;
  context.grouping = &grouping;
  context.subqueries = &row_values;
  context.place = "SELECT";
  grouping.subqueries = row_values;  // what is joined below the groups is not joined again
  for (const AstSelectItem& item : items) {
    complete = BindSubqueries(*item.expression, groups, ctes, context, grouping.subqueries) && complete;
  }
  context.place = "HAVING";
  if (select.having != nullptr) {
    complete = BindSubqueries(*select.having, groups, ctes, context, grouping.subqueries) && complete;
  }
  for (const auto& [subquery, value] : row_values) grouping.subqueries.erase(subquery);
  if (!complete) return false;
  // Window functions see the groups.
  rows.windows = {select.ordering.get(), static_cast<int>(groups.plan->schema->size()), {}};
  context.outer = outer;
  context.outer_allowed = outer != nullptr;
  context.outer_base = static_cast<int>(groups.plan->schema->size());
  for (const AstSelectItem& item : items) {
    context.place = "SELECT";
    context.windows = &rows.windows;
    rows.outputs.push_back(BindExpression(*item.expression, context));
    complete = complete && rows.outputs.back() != nullptr;
  }
  if (select.having != nullptr) {
    context.place = "HAVING";
    context.windows = nullptr;
    rows.having = BindCondition(*select.having, context);
    complete = complete && rows.having != nullptr;
  }
  rows.plan = groups.plan;
  return complete;
}

PlanPtr Binder::BindGrouped(const AstSelect& select, const std::vector<AstSelectItem>& items, BoundTable& from,
                            const CteScope* ctes) {
  Grouping grouping;
  SubqueryValues row_values;
  if (!BindGroupKeys(select, items, from, ctes, row_values, grouping)) return nullptr;
  GroupedRows rows;
  if (!BindGroupedRows(select, items, from, nullptr, ctes, row_values, grouping, rows)) return nullptr;
  PlanPtr plan = rows.plan;
  if (rows.having != nullptr) plan = NewFilter(std::move(plan), std::move(rows.having));
  if (!rows.windows.calls.empty()) {
    std::vector<int> mapping;
    plan = PlanWindows(rows.windows, std::move(plan), mapping);
    for (ExpressionPtr& output : rows.outputs) output = output->Remap(mapping);
  }
  return NewProject(std::move(plan), std::move(rows.outputs), ItemNames(items));
}

}  // namespace weir
