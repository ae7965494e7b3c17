// GROUP BY, aggregates and HAVING.
//
// 1. Group keys are bound over the rows of FROM (a number or an output alias stands for that item of SELECT).
// 2. SELECT and HAVING are bound over the output of the aggregate: an expression equal to a key is the key's column, an
//    aggregate call becomes a column behind the keys, and equal calls share one.
// 3. The plan is: project(keys, arguments, filters) -> aggregate -> filter(HAVING) -> project(SELECT).

#include <algorithm>
#include <charconv>
#include <set>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;

std::optional<AggregateFunction> FunctionOf(const std::string& name) {
  if (name == "count") return AggregateFunction::kCount;
  if (name == "sum") return AggregateFunction::kSum;
  if (name == "min") return AggregateFunction::kMin;
  if (name == "max") return AggregateFunction::kMax;
  if (name == "avg") return AggregateFunction::kAvg;
  return std::nullopt;
}

// The digits behind the point of an average of integers; of a decimal at least as many.
constexpr int kAverageScale = 16;

bool SameCall(const BoundAggregate& a, const BoundAggregate& b) {
  const auto same = [](const ExpressionPtr& x, const ExpressionPtr& y) {
    if (x == nullptr || y == nullptr) return x == y;
    return x->Signature() == y->Signature() && x->deterministic();
  };
  return a.function == b.function && a.distinct == b.distinct && same(a.argument, b.argument) &&
         same(a.filter, b.filter);
}

}  // namespace

bool IsAggregateName(const std::string& lower_name) {
  static const std::set<std::string> names = {"count",
                                              "sum",
                                              "min",
                                              "max",
                                              "avg",
                                              "string_agg",
                                              "array_agg",
                                              "bool_and",
                                              "bool_or",
                                              "every",
                                              "bit_and",
                                              "bit_or",
                                              "bit_xor",
                                              "stddev",
                                              "stddev_pop",
                                              "stddev_samp",
                                              "variance",
                                              "var_pop",
                                              "var_samp",
                                              "json_agg",
                                              "jsonb_agg",
                                              "xmlagg",
                                              "listagg",
                                              "json_object_agg",
                                              "any_value",
                                              "corr",
                                              "regr_count",
                                              "covar_pop",
                                              "covar_samp",
                                              "mode",
                                              "percentile_cont",
                                              "percentile_disc",
                                              "first_value",
                                              "last_value",
                                              "range_agg",
                                              "jsonb_object_agg"};
  return names.count(lower_name) > 0;
}

bool ContainsAggregate(const AstExpression& expression) {
  if (expression.kind == Kind::kFunction && IsAggregateName(expression.text)) return true;
  return std::any_of(expression.arguments.begin(), expression.arguments.end(),
                     [](const AstExpressionPtr& argument) { return ContainsAggregate(*argument); });
}

std::optional<DataType> Binder::AggregateType(const AstExpression& call, AggregateFunction function,
                                              const DataType& argument) {
  const bool number = argument.IsNumeric();
  const bool floating = argument.kind == TypeKind::kDouble || argument.kind == TypeKind::kFloat;
  switch (function) {
    case AggregateFunction::kCountStar:
    case AggregateFunction::kCount:
      return BigintType();
    case AggregateFunction::kMin:
    case AggregateFunction::kMax:
      if (IsOrderable(argument) && argument.kind != TypeKind::kBoolean && argument.kind != TypeKind::kNull)
        return argument;
      break;
    case AggregateFunction::kSum:
      if (floating) return DoubleType();
      if (argument.kind == TypeKind::kDecimal) return DecimalType(38, argument.scale);
      if (argument.kind == TypeKind::kBigint) return DecimalType(38, 0);
      if (number) return BigintType();
      break;
    case AggregateFunction::kAvg:
      if (floating) return DoubleType();
      if (number) return DecimalType(38, std::max<int>(kAverageScale, argument.scale));
      break;
  }
  Fail(call.at, "function " + call.text + "(" + (argument.kind == TypeKind::kNull ? "NULL" : argument.ToString()) +
                    ") does not exist; cast the argument");
  return std::nullopt;
}

ExpressionPtr Binder::BindAggregate(const AstExpression& call, ExpressionContext& context) {
  if (context.grouping == nullptr) {
    return Fail(call.at, context.place == "an aggregate"
                             ? "aggregates cannot be nested"
                             : "aggregates are not allowed in " + context.place +
                                   (context.place == "WHERE" ? "; use HAVING" : "; use a subquery"));
  }
  const std::optional<AggregateFunction> function = FunctionOf(call.text);
  if (!function)
    return Fail(call.at, "aggregate " + call.text + " is not supported yet; there are COUNT, SUM, MIN, MAX and AVG");
  BoundAggregate bound;
  bound.function = *function;
  bound.name = call.text;
  ExpressionContext inside = context;
  inside.grouping = nullptr;
  inside.place = "an aggregate";
  if (call.star) {
    if (*function != AggregateFunction::kCount) return Fail(call.at, "* is allowed only in COUNT(*)");
    bound.function = AggregateFunction::kCountStar;
    bound.type = BigintType();
  } else {
    if (call.arguments.size() != 1) return Fail(call.at, call.text + " takes one argument");
    bound.argument = BindExpression(*call.arguments[0], inside);
    if (bound.argument == nullptr) return nullptr;
    const std::optional<DataType> type = AggregateType(call, *function, bound.argument->type());
    if (!type) return nullptr;
    bound.type = *type;
    const bool extreme = *function == AggregateFunction::kMin || *function == AggregateFunction::kMax;
    bound.distinct = call.distinct && !extreme;  // the smallest value is also the smallest distinct value
    if (bound.argument->type().kind == TypeKind::kNull) bound.argument = MakeNull(BigintType());  // COUNT(NULL)
    if (*function == AggregateFunction::kCount && !bound.distinct &&
        !CanBeNull(*bound.argument, *context.table->plan->schema)) {
      bound.function = AggregateFunction::kCountStar;
      bound.argument = nullptr;
    }
  }
  if (call.filter != nullptr) {
    inside.place = "FILTER";
    bound.filter = BindCondition(*call.filter, inside);
    if (bound.filter == nullptr) return nullptr;
  }
  std::vector<BoundAggregate>& calls = context.grouping->calls;
  size_t index = 0;
  while (index < calls.size() && !SameCall(calls[index], bound)) ++index;
  if (index == calls.size()) calls.push_back(bound);
  return MakeColumn(static_cast<int>(context.grouping->keys.size() + index), bound.type);
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

bool Binder::BindGroupKeys(const AstSelect& select, const std::vector<AstSelectItem>& items, const BoundTable& from,
                           Grouping& grouping) {
  bool complete = true;
  for (const AstExpressionPtr& written : select.group_by) {
    const AstExpressionPtr target = GroupTarget(written, items, from);
    if (target == nullptr) {
      complete = false;
      continue;
    }
    ExpressionContext context;
    context.table = &from;
    context.place = "GROUP BY";
    ExpressionPtr key = BindExpression(*target, context);
    if (key == nullptr) {
      complete = false;
      continue;
    }
    if (key->type().kind == TypeKind::kNull) key = MakeNull(StringType());
    const bool known = std::any_of(grouping.keys.begin(), grouping.keys.end(),
                                   [&](const ExpressionPtr& other) { return other->Signature() == key->Signature(); });
    if (known) continue;
    grouping.keys.push_back(key);
    grouping.key_names.push_back(target->kind == Kind::kColumn ? target->names.back()
                                                               : "key_" + std::to_string(grouping.keys.size()));
  }
  return complete;
}

namespace {

// FILTER is evaluated before the argument, which may fail on the rows that it drops.
ExpressionPtr Guarded(const BoundAggregate& bound) {
  if (bound.filter == nullptr || !bound.argument->CanFail()) return bound.argument;
  auto guarded = MakeCall("CASE", {bound.filter, bound.argument, MakeNull(bound.argument->type())});
  return guarded ? *guarded : bound.argument;
}

}  // namespace

PlanPtr Binder::PlanGrouping(const Grouping& grouping, PlanPtr input) {
  std::vector<ExpressionPtr> expressions = grouping.keys;
  std::vector<std::string> names = grouping.key_names;
  // An argument that is already there (a key, or another call's argument) is not computed twice.
  const auto place = [&](const ExpressionPtr& expression, const std::string& name) {
    const int column = expression->ColumnIndex();
    for (size_t i = 0; i < expressions.size(); ++i) {
      if (expression->deterministic() && expressions[i]->Signature() == expression->Signature())
        return static_cast<int>(i);
    }
    expressions.push_back(expression);
    names.push_back(column >= 0 ? (*input->schema)[static_cast<size_t>(column)].name : name);
    return static_cast<int>(expressions.size() - 1);
  };
  std::vector<AggregateCall> calls;
  for (const BoundAggregate& bound : grouping.calls) {
    AggregateCall call;
    call.function = bound.function;
    call.distinct = bound.distinct;
    call.type = bound.type;
    call.name = bound.name;
    if (bound.argument != nullptr) call.argument = place(Guarded(bound), bound.name + "_argument");
    if (bound.filter != nullptr) call.filter = place(bound.filter, bound.name + "_filter");
    calls.push_back(std::move(call));
  }
  // A group without columns would have no way to be a row.
  if (grouping.keys.empty() && calls.empty()) {
    calls.emplace_back();
    calls.back().type = BigintType();
    calls.back().name = "count";
  }
  const int keys = static_cast<int>(grouping.keys.size());
  PlanPtr project = NewProject(std::move(input), std::move(expressions), names);
  return NewAggregate(std::move(project), Iota(static_cast<size_t>(keys)), std::move(calls));
}

PlanPtr Binder::BindGrouped(const AstSelect& select, const std::vector<AstSelectItem>& items, const BoundTable& from) {
  for (const AstExpressionPtr& key : select.group_by) {
    if (IsWindowCall(*key)) return BindGroupWindow(select, items, from, *key);
  }
  Grouping grouping;
  bool complete = BindGroupKeys(select, items, from, grouping);
  ExpressionContext context;
  context.table = &from;
  context.grouping = &grouping;
  if (!complete) return nullptr;
  std::vector<ExpressionPtr> outputs;
  for (const AstSelectItem& item : items) {
    context.place = "SELECT";
    outputs.push_back(BindExpression(*item.expression, context));
    complete = complete && outputs.back() != nullptr;
  }
  ExpressionPtr having;
  if (select.having != nullptr) {
    context.place = "HAVING";
    having = BindCondition(*select.having, context);
    complete = complete && having != nullptr;
  }
  if (!complete) return nullptr;
  PlanPtr plan = PlanGrouping(grouping, from.plan);
  if (having != nullptr) plan = NewFilter(std::move(plan), std::move(having));
  return NewProject(std::move(plan), std::move(outputs), ItemNames(items));
}

}  // namespace weir
