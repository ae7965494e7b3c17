// Subqueries in expressions: each is joined to the rows around it and its value becomes an expression over both.
//
// A join by key adds at most one row to every row, so that the rows stay what they are and have more columns:
//
//   (SELECT ...)       the one row of the subquery; NULL where there is none
//   EXISTS             the distinct keys, with a mark
//   x IN, x = ANY      the distinct keys and values, with a mark; where a NULL can be on either side, counts by key say
//                      whether the answer is unknown
//   x < ANY, x < ALL   the smallest and largest value by key, and the same counts

#include <algorithm>

#include "sql/plan/aggregate_functions.h"
#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;
using SubqueryKind = AstExpression::SubqueryKind;

ExpressionPtr ColumnAt(size_t index, const DataType& type) { return MakeColumn(static_cast<int>(index), type); }

// What the values of a subquery are known by, beside each key: columns of the aggregate that follow the keys.
enum Statistic : size_t { kRows, kValues, kSmallest, kLargest };

AggregateCall Call(AggregateFunction function, int argument, const DataType& type, const char* name) {
  AggregateCall call;
  call.function = function;
  call.argument = argument;
  call.type = type;
  call.name = name;
  return call;
}

}  // namespace

bool ContainsSubquery(const AstExpression& expression) {
  std::vector<const AstExpression*> found;
  CollectSubqueries(expression, found);
  return !found.empty();
}

void CollectSubqueries(const AstExpression& expression, std::vector<const AstExpression*>& found) {
  if (expression.kind == Kind::kFunction && IsAggregateName(expression.text)) return;
  for (const AstExpressionPtr& argument : expression.arguments) CollectSubqueries(*argument, found);
  if (expression.kind == Kind::kSubquery) found.push_back(&expression);
}

ExpressionPtr NullUnless(const ExpressionPtr& condition, const ExpressionPtr& value) {
  Result<ExpressionPtr> call = MakeCall("CASE", {condition, value, MakeNull(value->type())});
  return call ? *call : nullptr;
}

bool Binder::BindSubqueries(const AstExpression& expression, BoundTable& table, const CteScope* ctes,
                            const ExpressionContext& context, SubqueryValues& values) {
  std::vector<const AstExpression*> found;
  CollectSubqueries(expression, found);
  bool complete = true;
  for (const AstExpression* subquery : found) {
    if (values.count(subquery) > 0) continue;
    ExpressionContext inside = context;
    if (inside.table == nullptr) inside.table = &table;
    inside.outer = nullptr;
    inside.outer_allowed = false;
    const ExpressionPtr value = SubqueryValue(*subquery, table, ctes, inside);
    complete = complete && value != nullptr;
    if (value != nullptr) values.emplace(subquery, value);
  }
  return complete;
}

ExpressionPtr Binder::SubqueryValue(const AstExpression& subquery, BoundTable& table, const CteScope* ctes,
                                    ExpressionContext& context) {
  switch (subquery.subquery_kind) {
    case SubqueryKind::kScalar:
      return ScalarValue(subquery, table, ctes);
    case SubqueryKind::kExists:
      return ExistsValue(subquery, table, ctes);
    case SubqueryKind::kIn:
    case SubqueryKind::kAny:
    case SubqueryKind::kAll:
      break;
  }
  if (subquery.arguments.size() != 1) {
    return Fail(subquery.at, "a row before IN (SELECT ...) is supported only in WHERE, alone or joined to others by AND");
  }
  const ExpressionPtr left = BindExpression(*subquery.arguments[0], context);
  return left == nullptr ? nullptr : ComparisonValue(subquery, left, table, ctes);
}

void Binder::JoinDerived(BoundTable& table, const Derived& derived, bool keep, size_t at) {
  if (derived.right == nullptr) return;
  if (derived.left_time >= 0) return JoinNewest(table, derived, keep, at);
  // One row that is always there needs no row without a partner.
  const bool inner = derived.always ? derived.keys.empty() : !keep;
  ExpressionPtr condition = derived.conditions.empty() ? nullptr : JoinAnd(derived.conditions);
  const JoinType type = inner ? JoinType::kInner : JoinType::kLeft;
  table.plan = PlaceJoin(NewJoin(table.plan, derived.right, type, std::move(condition)), at);
}

ExpressionPtr Binder::AddMark(Derived& derived, size_t outer_width) {
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*derived.right->schema);
  std::vector<std::string> names = ColumnNames(*derived.right->schema);
  expressions.push_back(MakeBoolean(true));
  names.push_back("found");
  derived.right = NewProject(derived.right, std::move(expressions), names);
  return ColumnAt(outer_width + names.size() - 1, BooleanType());
}

ExpressionPtr Binder::ScalarValue(const AstExpression& subquery, BoundTable& table, const CteScope* ctes) {
  const size_t width = table.plan->schema->size();
  std::optional<Derived> derived = BindDerived(*subquery.select, ctes, table, /*keyed=*/false, /*temporal=*/true);
  if (!derived) return nullptr;
  if (derived->values.size() != 1) {
    return Fail(subquery.at, "a subquery as a value has one column, and this one has " +
                                 std::to_string(derived->values.size()));
  }
  if (!derived->always && !derived->single) {
    return Fail(subquery.at,
                "this subquery may give more than one row, and a value is one; use LIMIT 1, an aggregate such as MIN or "
                "MAX, or compare the whole primary key of its table with = in its WHERE");
  }
  ExpressionPtr value = derived->values[0];
  ExpressionPtr there = derived->having;
  if (!derived->always && value->ColumnIndex() < static_cast<int>(width)) there = AddMark(*derived, width);
  JoinDerived(table, *derived, /*keep=*/true, subquery.at);
  return there == nullptr ? value : NullUnless(there, value);
}

ExpressionPtr Binder::ExistsValue(const AstExpression& subquery, BoundTable& table, const CteScope* ctes) {
  const size_t width = table.plan->schema->size();
  std::optional<Derived> derived = BindDerived(*subquery.select, ctes, table, /*keyed=*/true);
  if (!derived) return nullptr;
  if (derived->always) {
    if (derived->having == nullptr) return MakeBoolean(true);
    JoinDerived(table, *derived, /*keep=*/true, subquery.at);
    Result<ExpressionPtr> holds = MakeCall("IS TRUE", {derived->having});
    return holds ? *holds : Fail(subquery.at, holds.error().message);
  }
  if (derived->keys.empty()) {
    derived->right = NewAggregate(derived->right, {}, {Call(AggregateFunction::kCountStar, -1, BigintType(), "rows")});
    derived->always = true;
    JoinDerived(table, *derived, /*keep=*/true, subquery.at);
    Result<ExpressionPtr> some = MakeCall(">", {ColumnAt(width, BigintType()), MakeBigint(0)});
    return some ? *some : Fail(subquery.at, some.error().message);
  }
  if (!DistinctKeys(*derived, {}, width, subquery.at)) return nullptr;
  const ExpressionPtr mark = AddMark(*derived, width);
  JoinDerived(table, *derived, /*keep=*/true, subquery.at);
  Result<ExpressionPtr> found = MakeCall("IS NOT NULL", {mark});
  return found ? *found : Fail(subquery.at, found.error().message);
}

// Leaves the distinct keys, and behind them the columns given, of the subquery's rows.
bool Binder::DistinctKeys(Derived& derived, const std::vector<int>& columns, size_t outer_width, size_t at) {
  if (derived.conditions.size() != derived.keys.size()) {
    Fail(at, "HAVING of this subquery uses the outer query, which is supported only in WHERE, joined to others by AND");
    return false;
  }
  std::vector<int> kept;
  for (CorrelatedKey& key : derived.keys) {
    kept.push_back(key.inner->ColumnIndex());
    key.inner = ColumnAt(kept.size() - 1, key.inner->type());
  }
  kept.insert(kept.end(), columns.begin(), columns.end());
  std::vector<ExpressionPtr> expressions;
  std::vector<std::string> names;
  for (const int column : kept) {
    const Field& field = (*derived.right->schema)[static_cast<size_t>(column)];
    expressions.push_back(MakeColumn(column, field.type));
    names.push_back(field.name);
  }
  derived.right = NewDistinct(NewProject(derived.right, std::move(expressions), names));
  return ConditionsOfKeys(derived, outer_width);
}

// x op ANY (SELECT v ...), x op ALL (SELECT v ...), with the three values of SQL.
ExpressionPtr Binder::ComparisonValue(const AstExpression& subquery, const ExpressionPtr& left, BoundTable& table,
                                      const CteScope* ctes) {
  const size_t width = table.plan->schema->size();
  const bool all = subquery.subquery_kind == SubqueryKind::kAll;
  const std::string name = subquery.subquery_kind == SubqueryKind::kIn ? "=" : subquery.text;
  std::optional<Derived> derived = BindDerived(*subquery.select, ctes, table, /*keyed=*/true);
  if (!derived) return nullptr;
  if (derived->values.size() != 1) {
    return Fail(subquery.at, "the subquery has " + std::to_string(derived->values.size()) +
                                 " columns, and one value is compared with it");
  }
  const ExpressionPtr value = derived->values[0];
  if (value == nullptr || (!derived->always && value->ColumnIndex() < static_cast<int>(width))) {
    if (!derived->always && value != nullptr && MoveValueBelow(*derived, width)) {
      return CompareKeyed(subquery, name, all, left, *derived, table);
    }
    return Fail(subquery.at, "the item of a subquery that is compared cannot use columns of the outer query");
  }
  if (!derived->always) return CompareKeyed(subquery, name, all, left, *derived, table);
  JoinDerived(table, *derived, /*keep=*/true, subquery.at);
  Result<ExpressionPtr> compared = MakeCall(name, {left, value});
  if (compared && derived->having != nullptr) {
    compared = MakeCall("CASE", {derived->having, *compared, MakeBoolean(all)});
  }
  return compared ? *compared : Fail(subquery.at, compared.error().message);
}

// A value that is an expression over the subquery's rows becomes a column of theirs.
bool Binder::MoveValueBelow(Derived& derived, size_t outer_width) {
  std::vector<int> to_right(outer_width, -1);
  const std::vector<int> columns = Iota(derived.right->schema->size());
  to_right.insert(to_right.end(), columns.begin(), columns.end());
  const ExpressionPtr below = derived.values[0]->Remap(to_right);
  if (below == nullptr) return false;
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*derived.right->schema);
  std::vector<std::string> names = ColumnNames(*derived.right->schema);
  expressions.push_back(below);
  names.push_back("value");
  derived.right = NewProject(derived.right, std::move(expressions), names);
  derived.values[0] = ColumnAt(outer_width + names.size() - 1, below->type());
  return true;
}

ExpressionPtr Binder::CompareKeyed(const AstExpression& subquery, const std::string& name, bool all,
                                   const ExpressionPtr& left, Derived derived, BoundTable& table) {
  const size_t width = table.plan->schema->size();
  // Values that differ may be equal in the type that both sides are compared in.
  const std::optional<DataType> common = CommonType(left->type(), derived.values[0]->type());
  if (common && derived.values[0]->type() != *common) {
    Result<ExpressionPtr> cast = MakeCast(derived.values[0], *common);
    if (!cast) return Fail(subquery.at, cast.error().message);
    derived.values[0] = *cast;
    MoveValueBelow(derived, width);
  }
  const int value_column = derived.values[0]->ColumnIndex() - static_cast<int>(width);
  const Field value = (*derived.right->schema)[static_cast<size_t>(value_column)];
  const bool by_match = (name == "=" && !all) || (name == "<>" && all);
  const bool unknown = CanBeNull(*left, *table.plan->schema) || value.nullable;
  ExpressionPtr matched;
  if (by_match) {
    Derived match = derived;
    match.right = ClonePlan(derived.right);
    if (!DistinctKeys(match, {value_column}, width, subquery.at)) return nullptr;
    const ExpressionPtr kept = ColumnAt(width + match.keys.size(), value.type);
    Result<ExpressionPtr> equal = MakeCall("=", {left, kept});
    if (!equal) return Fail(subquery.at, equal.error().message);
    match.conditions.push_back(*equal);
    const ExpressionPtr mark = AddMark(match, width);
    JoinDerived(table, match, /*keep=*/true, subquery.at);
    Result<ExpressionPtr> found = MakeCall("IS NOT NULL", {mark});
    if (!found) return Fail(subquery.at, found.error().message);
    matched = *found;
  }
  std::vector<ExpressionPtr> statistics;
  if (!by_match || unknown) {
    statistics = JoinStatistics(derived, value_column, !by_match, table, subquery.at);
    if (statistics.empty()) return nullptr;
  }
  Result<ExpressionPtr> result = Compared(name, all, left, matched, statistics);
  return result ? *result : Fail(subquery.at, result.error().message);
}

// Joins the counts of the values by key, and with `extremes` the smallest and the largest.
std::vector<ExpressionPtr> Binder::JoinStatistics(const Derived& derived, int value_column, bool extremes,
                                                  BoundTable& table, size_t at) {
  const DataType type = (*derived.right->schema)[static_cast<size_t>(value_column)].type;
  if (extremes && (!IsOrderable(type) || type.kind == TypeKind::kBoolean)) {
    Fail(at, "ANY and ALL compare with the smallest and largest value, and a " + type.ToString() + " has none");
    return {};
  }
  std::vector<AggregateCall> calls = {
      Call(AggregateFunction::kCountStar, -1, BigintType(), "rows"),
      Call(AggregateFunction::kCount, value_column, BigintType(), "values"),
  };
  if (extremes) {
    calls.push_back(Call(AggregateFunction::kMin, value_column, type, "smallest"));
    calls.push_back(Call(AggregateFunction::kMax, value_column, type, "largest"));
  }
  Derived counted = derived;
  std::vector<int> groups;
  for (const CorrelatedKey& key : derived.keys) {
    if (!Contains(groups, key.inner->ColumnIndex())) groups.push_back(key.inner->ColumnIndex());
  }
  for (CorrelatedKey& key : counted.keys) {
    const auto place = std::find(groups.begin(), groups.end(), key.inner->ColumnIndex()) - groups.begin();
    key.inner = MakeColumn(static_cast<int>(place), key.inner->type());
  }
  counted.right = NewAggregate(derived.right, groups, calls);
  counted.always = groups.empty();
  // The conditions compare columns of the outer rows, which have got more columns behind them.
  const size_t width = table.plan->schema->size();
  if (derived.conditions.size() != derived.keys.size() || !ConditionsOfKeys(counted, width)) {
    Fail(at, "HAVING of this subquery uses the outer query, which is supported only in WHERE, joined to others by AND");
    return {};
  }
  JoinDerived(table, counted, /*keep=*/true, at);
  std::vector<ExpressionPtr> statistics;
  for (size_t i = 0; i < calls.size(); ++i) {
    statistics.push_back(ColumnAt(width + groups.size() + i, calls[i].type));
  }
  return statistics;
}

// The answer from the match, or from the extremes; `statistics` may be empty when nothing can be unknown.
Result<ExpressionPtr> Binder::Compared(const std::string& name, bool all, const ExpressionPtr& left,
                                       const ExpressionPtr& matched, const std::vector<ExpressionPtr>& statistics) {
  if (statistics.empty()) return all ? MakeCall("NOT", {matched}) : Result<ExpressionPtr>(matched);
  const ExpressionPtr zero = MakeBigint(0);
  WEIR_ASSIGN(const ExpressionPtr rows, MakeCall("COALESCE", {statistics[kRows], zero}));
  WEIR_ASSIGN(const ExpressionPtr nothing, MakeCall("=", {rows, zero}));
  // What decides: for ANY one value for which the comparison holds, for ALL one for which it does not.
  ExpressionPtr decided = matched;
  if (matched == nullptr) {
    const auto compare = [&](size_t statistic) -> Result<ExpressionPtr> {
      WEIR_ASSIGN(ExpressionPtr holds, MakeCall(name, {left, statistics[statistic]}));
      return all ? MakeCall("NOT", {std::move(holds)}) : Result<ExpressionPtr>(std::move(holds));
    };
    WEIR_ASSIGN(const ExpressionPtr of_smallest, compare(kSmallest));
    WEIR_ASSIGN(const ExpressionPtr of_largest, compare(kLargest));
    // Whichever extreme is the harder test for ALL, and the easier one for ANY, is among the two.
    WEIR_ASSIGN(decided, MakeCall("OR", {of_smallest, of_largest}));
  }
  WEIR_ASSIGN(const ExpressionPtr left_null, MakeCall("IS NULL", {left}));
  WEIR_ASSIGN(const ExpressionPtr fewer, MakeCall("<", {statistics[kValues], statistics[kRows]}));
  WEIR_ASSIGN(const ExpressionPtr maybe, MakeCall("OR", {left_null, fewer}));
  return MakeCall("CASE", {nothing, MakeBoolean(all), decided, MakeBoolean(!all), maybe, MakeNull(BooleanType()),
                           MakeBoolean(all)});
}

}  // namespace weir
