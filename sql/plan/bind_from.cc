// FROM: tables, views, subqueries and joins.  What sees the tables before it is in bind_lateral.cc.

#include <algorithm>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

// What views and common table expressions may expand to; a bound against doubling at every level.
constexpr size_t kMaxTables = 2000;

// The visible column of that name for USING; -1 for none, -2 for several.
int FindVisible(const Scope& scope, const std::string& name) {
  int found = -1;
  for (size_t i = 0; i < scope.columns.size(); ++i) {
    if (scope.columns[i].name != name || scope.columns[i].qualified_only) continue;
    if (found >= 0) return -2;
    found = static_cast<int>(i);
  }
  return found;
}

JoinType TypeOf(AstTable::Join join) {
  switch (join) {
    case AstTable::Join::kInner:
      return JoinType::kInner;
    case AstTable::Join::kLeft:
      return JoinType::kLeft;
    case AstTable::Join::kRight:
      return JoinType::kRight;
    case AstTable::Join::kFull:
      return JoinType::kFull;
  }
  return JoinType::kInner;
}

// The item begins with one that sees the tables before it: `FROM t, unnest(t.tags) AS x JOIN u ON ...`.
bool BeginsLateral(const AstTable& table) {
  return table.kind == AstTable::Kind::kJoin ? BeginsLateral(*table.left) : Binder::IsLateral(table);
}

}  // namespace

Scope JoinScopes(const Scope& left, const Scope& right, size_t left_width) {
  Scope scope = left;
  scope.tables.insert(scope.tables.end(), right.tables.begin(), right.tables.end());
  for (ScopeColumn column : right.columns) {
    column.index += static_cast<int>(left_width);
    scope.columns.push_back(std::move(column));
  }
  return scope;
}

std::optional<BoundTable> Binder::BindFrom(const AstSelect& select, const CteScope* ctes) {
  if (select.from.empty()) return BoundTable{NewOneRow(), {}};
  std::optional<BoundTable> result;
  bool complete = true;
  for (const AstTablePtr& item : select.from) {
    const bool lateral = BeginsLateral(*item);
    std::optional<BoundTable> table = BindTable(*item, ctes, lateral && result ? &*result : nullptr);
    if (!table) {
      complete = false;
    } else if (!result || lateral) {  // a lateral item has joined itself to what stands before it
      result = std::move(table);
    } else {
      if (!CheckTableNames(result->scope, table->scope, item->at)) return std::nullopt;
      Scope scope = JoinScopes(result->scope, table->scope, result->plan->schema->size());
      PlanPtr join = PlaceJoin(NewJoin(result->plan, table->plan, JoinType::kInner, nullptr), item->at);
      result = BoundTable{std::move(join), std::move(scope)};
    }
  }
  return complete ? result : std::nullopt;
}

bool Binder::CheckTableNames(const Scope& left, const Scope& right, size_t at) {
  for (const std::string& name : right.tables) {
    if (std::find(left.tables.begin(), left.tables.end(), name) != left.tables.end()) {
      Fail(at, "table name " + QuotedIfNeeded(name) + " is used twice in FROM; give one an alias");
      return false;
    }
  }
  return true;
}

PlanPtr Binder::PlaceJoin(PlanPtr join, size_t at) {
  const TextPlace place = source_->Locate(at);
  join->query = query_;
  join->line = place.line;
  join->column = place.column;
  return join;
}

std::optional<BoundTable> Binder::BindTable(const AstTable& table, const CteScope* ctes, const BoundTable* before) {
  if (++bound_tables_ > kMaxTables) {
    Fail(table.at, "the query reads more than " + std::to_string(kMaxTables) + " tables once its views are filled in");
    return std::nullopt;
  }
  switch (table.kind) {
    case AstTable::Kind::kName:
      return BindNamed(table, ctes);
    case AstTable::Kind::kJoin:
      return BindJoin(table, ctes, before);
    case AstTable::Kind::kFunction:
    case AstTable::Kind::kSubquery:
      break;
  }
  if (IsLateral(table)) {
    return BindLateral(before == nullptr ? BoundTable{NewOneRow(), {}} : *before, table, JoinType::kInner, nullptr, ctes);
  }
  if (table.kind == AstTable::Kind::kFunction) return BindFunctionTable(table, ctes);
  PlanPtr plan = BindSelect(*table.select, ctes, nullptr, /*keep_nulls=*/false);
  if (plan == nullptr) return std::nullopt;
  return WithAlias(std::move(plan), table);
}

std::optional<BoundTable> Binder::BindNamed(const AstTable& table, const CteScope* ctes) {
  for (const CteScope* scope = ctes; scope != nullptr; scope = scope->parent) {
    if (scope->cte->name != table.name) continue;
    PlanPtr plan = BindSelect(*scope->cte->select, scope->parent, nullptr, /*keep_nulls=*/false);
    if (plan == nullptr || !RenameColumns(plan, scope->cte->columns, scope->cte->at, "WITH")) return std::nullopt;
    return WithAlias(std::move(plan), table);
  }
  if (const auto view = views_.find(table.name); view != views_.end()) {
    PlanPtr plan = BindView(view->second);
    return plan == nullptr ? std::nullopt : WithAlias(std::move(plan), table);
  }
  const CatalogRelation* relation = catalog_.Find(table.name);
  if (relation == nullptr) {
    std::vector<std::string> names;
    for (const CatalogRelation& known : catalog_.relations) {
      if (known.kind != CatalogRelation::Kind::kSink) names.push_back(known.name);
    }
    for (const auto& [name, view] : views_) names.push_back(name);
    for (const CteScope* scope = ctes; scope != nullptr; scope = scope->parent) names.push_back(scope->cte->name);
    Fail(table.at, "table " + QuotedIfNeeded(table.name) + " does not exist" + DidYouMean(table.name, names));
    return std::nullopt;
  }
  if (relation->kind == CatalogRelation::Kind::kSink) {
    Fail(table.at, QuotedIfNeeded(table.name) + " is a sink; a query reads sources, tables and views");
    return std::nullopt;
  }
  if (relation->changelog == ChangelogMode::kUpsert && relation->primary_key.empty()) {
    Fail(table.at, QuotedIfNeeded(table.name) + " is an upsert stream and needs a primary_key, by which its rows replace "
                                                "each other");
    return std::nullopt;
  }
  PlanPtr scan = NewScan(*relation, Iota(relation->schema.size()));
  const TextPlace place = source_->Locate(table.at);
  scan->query = query_;
  scan->line = place.line;
  scan->column = place.column;
  return WithAlias(std::move(scan), table);
}

std::optional<BoundTable> Binder::WithAlias(PlanPtr plan, const AstTable& table) {
  if (table.column_aliases.size() > plan->schema->size()) {
    Fail(table.at, QuotedIfNeeded(table.alias) + " has " + std::to_string(plan->schema->size()) + " columns, and " +
                       std::to_string(table.column_aliases.size()) + " names are given");
    return std::nullopt;
  }
  BoundTable bound;
  bound.scope.tables = {table.alias};
  for (size_t i = 0; i < plan->schema->size(); ++i) {
    const std::string& name = i < table.column_aliases.size() ? table.column_aliases[i] : (*plan->schema)[i].name;
    bound.scope.columns.push_back({table.alias, name, static_cast<int>(i), false});
  }
  bound.plan = std::move(plan);
  return bound;
}

// The body is bound in its own text, so that errors inside it point there.
PlanPtr Binder::BindView(const View& view) {
  const size_t query = std::exchange(query_, view.query);
  const SourceText* source = std::exchange(source_, view.source);
  PlanPtr plan = BindSelect(*view.statement.select, nullptr, nullptr, /*keep_nulls=*/false);
  if (plan != nullptr && !RenameColumns(plan, view.statement.columns, view.statement.at, "the view")) plan = nullptr;
  query_ = query;
  source_ = source;
  return plan;
}

std::optional<BoundTable> Binder::BindJoin(const AstTable& table, const CteScope* ctes, const BoundTable* before) {
  std::optional<BoundTable> left = BindTable(*table.left, ctes, before);
  if (IsLateral(*table.right)) return left ? BindLateralJoin(std::move(*left), table, ctes) : std::nullopt;
  std::optional<BoundTable> right = BindTable(*table.right, ctes, nullptr);
  if (!left || !right || !CheckTableNames(left->scope, right->scope, table.at)) return std::nullopt;
  if (table.natural || !table.using_columns.empty()) return BindUsing(table, std::move(*left), std::move(*right));
  return BindOn(table, TypeOf(table.join), std::move(*left), std::move(*right), ctes);
}

// The equality of one pair of columns in USING, and the value of the merged column.
bool Binder::MergeColumn(const AstTable& table, const std::string& name, const PlanNode& join, BoundTable& left,
                         BoundTable& right, MergedColumn& merged) {
  const int l = FindVisible(left.scope, name);
  const int r = FindVisible(right.scope, name);
  if (l < 0 || r < 0) {
    const bool ambiguous = l == -2 || r == -2;
    Fail(table.at, "column " + QuotedIfNeeded(name) + " of USING " +
                       (ambiguous ? "is there more than once on the " : "does not exist on the ") +
                       (l < 0 ? "left" : "right") + " side");
    return false;
  }
  ScopeColumn& left_column = left.scope.columns[static_cast<size_t>(l)];
  ScopeColumn& right_column = right.scope.columns[static_cast<size_t>(r)];
  left_column.qualified_only = true;
  right_column.qualified_only = true;
  const Schema both = JoinedSchema(join);
  const int right_index = right_column.index + static_cast<int>(left.plan->schema->size());
  const ExpressionPtr a = MakeColumn(left_column.index, both[static_cast<size_t>(left_column.index)].type);
  const ExpressionPtr b = MakeColumn(right_index, both[static_cast<size_t>(right_index)].type);
  const std::optional<DataType> common = CommonType(a->type(), b->type());
  Result<ExpressionPtr> equal = MakeCall("=", {a, b});
  Result<ExpressionPtr> value = b;
  if (join.join_type == JoinType::kFull) value = MakeCall("COALESCE", {a, b});
  if (join.join_type == JoinType::kInner || join.join_type == JoinType::kLeft) value = a;
  if (value && common && (*value)->type() != *common) value = MakeCast(*value, *common);
  if (!common || !equal || !value) {
    Fail(table.at, "USING (" + QuotedIfNeeded(name) + "): " + a->type().ToString() + " on the left and " +
                       b->type().ToString() + " on the right cannot be compared; cast one in a subquery");
    return false;
  }
  merged = {name, *equal, *value};
  return true;
}

std::optional<BoundTable> Binder::BindUsing(const AstTable& table, BoundTable left, BoundTable right) {
  std::vector<std::string> names = table.using_columns;
  if (table.natural) {
    for (const ScopeColumn& column : left.scope.columns) {
      if (!column.qualified_only && !column.not_in_star && FindVisible(right.scope, column.name) != -1) names.push_back(column.name);
    }
  }
  PlanPtr join = PlaceJoin(NewJoin(left.plan, right.plan, TypeOf(table.join), nullptr), table.at);
  std::vector<ExpressionPtr> conditions;
  std::vector<ScopeColumn> merged_columns;
  // Merged columns that are plain ones stay where they are; the others are computed behind the join's columns.
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*join->schema);
  std::vector<std::string> column_names = ColumnNames(*join->schema);
  for (const std::string& name : names) {
    MergedColumn merged;
    if (!MergeColumn(table, name, *join, left, right, merged)) return std::nullopt;
    conditions.push_back(merged.equal);
    int index = merged.value->ColumnIndex();
    if (index < 0) {
      index = static_cast<int>(expressions.size());
      expressions.push_back(merged.value);
      column_names.push_back(name);
    }
    merged_columns.push_back({"", name, index, false});
  }
  if (!conditions.empty()) join->condition = JoinAnd(conditions);
  BoundTable bound;
  const bool computed = expressions.size() > join->schema->size();
  bound.plan = computed ? NewProject(join, std::move(expressions), column_names) : join;
  bound.scope = JoinScopes(left.scope, right.scope, left.plan->schema->size());
  bound.scope.columns.insert(bound.scope.columns.begin(), merged_columns.begin(), merged_columns.end());
  return bound;
}

}  // namespace weir
