// FROM items that see the tables before them: unnest, generate_series and LATERAL subqueries.
//
// Such an item is not a table of its own: it is joined at once to what stands before it, and its columns follow those.

#include <algorithm>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

bool IsTrueLiteral(const AstExpression& expression) {
  return expression.kind == AstExpression::Kind::kBoolean && expression.text == "true";
}

}  // namespace

bool Binder::IsLateral(const AstTable& table) {
  if (table.kind == AstTable::Kind::kFunction) return table.name == "unnest" || table.name == "generate_series";
  return table.kind == AstTable::Kind::kSubquery && table.lateral;
}

std::optional<BoundTable> Binder::BindLateralJoin(BoundTable left, const AstTable& table, const CteScope* ctes) {
  if (table.natural || !table.using_columns.empty()) {
    Fail(table.at, "a join with LATERAL or a function takes ON, not USING or NATURAL; write ON true");
    return std::nullopt;
  }
  if (table.join != AstTable::Join::kInner && table.join != AstTable::Join::kLeft) {
    Fail(table.at, "LATERAL and functions in FROM see the tables on their left, so they can be joined by JOIN, CROSS "
                   "JOIN and LEFT JOIN only");
    return std::nullopt;
  }
  const JoinType type = table.join == AstTable::Join::kLeft ? JoinType::kLeft : JoinType::kInner;
  return BindLateral(std::move(left), *table.right, type, table.on.get(), ctes);
}

std::optional<BoundTable> Binder::BindLateral(BoundTable left, const AstTable& item, JoinType type,
                                              const AstExpression* on, const CteScope* ctes) {
  const bool outer = type == JoinType::kLeft;
  const bool conditional = on != nullptr && !IsTrueLiteral(*on);
  if (outer && conditional) {
    Fail(on->at, "a LEFT JOIN with LATERAL or a function takes ON true; put the condition into the subquery's WHERE");
    return std::nullopt;
  }
  const size_t width = left.plan->schema->size();
  PlanPtr plan = item.kind == AstTable::Kind::kFunction ? BindUnnest(left, item, outer)
                                                        : BindLateralSubquery(left, item, outer, ctes);
  if (plan == nullptr) return std::nullopt;
  const size_t added = plan->schema->size() - width;
  if (item.column_aliases.size() > added) {
    Fail(item.at, QuotedIfNeeded(item.alias) + " has " + std::to_string(added) + " columns, and " +
                      std::to_string(item.column_aliases.size()) + " names are given");
    return std::nullopt;
  }
  Scope scope;
  scope.tables = {item.alias};
  for (size_t i = 0; i < added; ++i) {
    const std::string& name =
        i < item.column_aliases.size() ? item.column_aliases[i] : (*plan->schema)[width + i].name;
    scope.columns.push_back({item.alias, name, static_cast<int>(i), false});
  }
  if (!CheckTableNames(left.scope, scope, item.at)) return std::nullopt;
  BoundTable bound{std::move(plan), JoinScopes(left.scope, scope, width)};
  if (conditional && !BindWhere(*on, bound, ctes, nullptr, nullptr)) return std::nullopt;
  return bound;
}

PlanPtr Binder::BindUnnest(const BoundTable& left, const AstTable& item, bool outer) {
  const bool series = item.name == "generate_series";
  ExpressionContext context;
  context.table = &left;
  context.place = "FROM";
  std::vector<ExpressionPtr> arguments;
  for (const AstExpressionPtr& written : item.arguments) {
    ExpressionPtr argument = BindExpression(*written, context);
    if (argument == nullptr) return nullptr;
    if (series) {
      if (!argument->type().IsInteger() && argument->type().kind != TypeKind::kNull) {
        return Fail(written->at, "generate_series is supported over integers, and this is a " +
                                     argument->type().ToString());
      }
      Result<ExpressionPtr> bigint = MakeCast(argument, BigintType());
      if (!bigint) return Fail(written->at, bigint.error().message);
      argument = *bigint;
    } else if (argument->type().kind != TypeKind::kArray) {
      return Fail(written->at, "unnest takes arrays, and this is a " + argument->type().ToString());
    }
    arguments.push_back(std::move(argument));
  }
  if (series ? arguments.size() < 2 || arguments.size() > 3 : arguments.empty()) {
    return Fail(item.at, series ? "generate_series takes a first number, a last one and perhaps a step"
                                : "unnest takes one or more arrays");
  }
  // As in PostgreSQL, the one column of a function has the name of the alias.
  std::vector<Field> fields;
  if (series) fields.push_back({item.alias, BigintType(), outer});
  for (size_t i = 0; i < arguments.size() && !series; ++i) {
    fields.push_back({arguments.size() == 1 ? item.alias : item.name, arguments[i]->type().ElementType(), true});
  }
  if (item.ordinality) fields.push_back({"ordinality", BigintType(), outer});
  return NewUnnest(left.plan, series ? UnnestFunction::kSeries : UnnestFunction::kArrays, std::move(arguments),
                   std::move(fields), item.ordinality, outer);
}

PlanPtr Binder::BindLateralSubquery(const BoundTable& left, const AstTable& item, bool outer, const CteScope* ctes) {
  std::optional<Derived> derived = BindDerived(*item.select, ctes, left, /*keyed=*/false, /*temporal=*/true);
  if (!derived) return nullptr;
  BoundTable joined = left;
  const size_t width = left.plan->schema->size();
  ExpressionPtr there = derived->having;
  if (outer && !derived->always) there = AddMark(*derived, width);
  JoinDerived(joined, *derived, outer, item.at);
  if (!outer && there != nullptr) joined.plan = NewFilter(joined.plan, there);
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*left.plan->schema);
  std::vector<std::string> names = ColumnNames(*left.plan->schema);
  for (size_t i = 0; i < derived->values.size(); ++i) {
    const ExpressionPtr& value = derived->values[i];
    const bool missing_is_null = !derived->always && value->ColumnIndex() >= static_cast<int>(width);
    expressions.push_back(outer && there != nullptr && !missing_is_null ? NullUnless(there, value) : value);
    names.push_back(derived->names[i]);
  }
  return NewProject(joined.plan, std::move(expressions), names);
}

// A join whose condition may have subqueries in it.  Of an inner join they are like those in WHERE.  Of an outer join
// their values are joined to the side that they can be computed from, which keeps its rows.
std::optional<BoundTable> Binder::BindOn(const AstTable& table, JoinType type, BoundTable left, BoundTable right,
                                         const CteScope* ctes) {
  const bool subqueries = table.on != nullptr && ContainsSubquery(*table.on);
  SubqueryValues values;
  if (subqueries && type != JoinType::kInner && !BindOnSubqueries(*table.on, left, right, ctes, values)) {
    return std::nullopt;
  }
  Scope scope = JoinScopes(left.scope, right.scope, left.plan->schema->size());
  BoundTable bound{PlaceJoin(NewJoin(left.plan, right.plan, type, nullptr), table.at), std::move(scope)};
  if (table.on == nullptr) return bound;
  if (subqueries && type == JoinType::kInner) {
    return BindWhere(*table.on, bound, ctes, nullptr, nullptr) ? std::optional<BoundTable>(bound) : std::nullopt;
  }
  ExpressionContext context;
  context.table = &bound;
  context.place = "ON";
  context.subqueries = &values;
  bound.plan->condition = BindCondition(*table.on, context);
  if (bound.plan->condition == nullptr) return std::nullopt;
  return bound;
}

bool Binder::BindOnSubqueries(const AstExpression& on, BoundTable& left, BoundTable& right, const CteScope* ctes,
                              SubqueryValues& values) {
  std::vector<const AstExpression*> found;
  CollectSubqueries(on, found);
  std::vector<const AstExpression*> of_right;
  for (const AstExpression* subquery : found) {
    bool done = false;
    for (BoundTable* side : {&right, &left}) {
      BoundTable tried = *side;
      SubqueryValues value;
      ExpressionContext context;
      context.place = "ON";
      const bool was_silent = std::exchange(silent_, true);
      done = BindSubqueries(*subquery, tried, ctes, context, value);
      silent_ = was_silent;
      if (!done) continue;
      *side = std::move(tried);
      values.insert(value.begin(), value.end());
      if (side == &right) of_right.push_back(subquery);
      break;
    }
    if (done) continue;
    // Once more for its own errors; it has none if it needs columns of both sides.
    BoundTable both{NewJoin(left.plan, right.plan, JoinType::kInner, nullptr),
                    JoinScopes(left.scope, right.scope, left.plan->schema->size())};
    SubqueryValues value;
    ExpressionContext context;
    context.place = "ON";
    if (BindSubqueries(*subquery, both, ctes, context, value)) {
      Fail(subquery->at, "a subquery in ON of an outer join may use the columns of one side only");
    }
    return false;
  }
  const std::vector<int> shift = Iota(right.plan->schema->size(), static_cast<int>(left.plan->schema->size()));
  for (const AstExpression* subquery : of_right) values[subquery] = values[subquery]->Remap(shift);
  return true;
}

}  // namespace weir
