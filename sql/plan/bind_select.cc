// Views, SELECT, DISTINCT, VALUES and WITH.

#include <set>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;

std::string NameOf(const AstExpression& expression);

std::string NameOfItem(const AstSelect& select) {
  const AstSelect* first = &select;
  while (first->left != nullptr) first = first->left.get();
  if (first->items.size() != 1 || first->items[0].star) return {};
  const AstSelectItem& item = first->items[0];
  return item.alias.empty() && item.expression != nullptr ? NameOf(*item.expression) : item.alias;
}

std::string NameOf(const AstExpression& expression) {
  switch (expression.kind) {
    case Kind::kColumn:
      return expression.names.back();
    case Kind::kFunction:
      return expression.text;
    case Kind::kCast:
      return NameOf(*expression.arguments[0]);
    case Kind::kSubquery:
      // As in PostgreSQL: the name of the one item of a scalar subquery, "exists", and none for a comparison.
      if (expression.subquery_kind == AstExpression::SubqueryKind::kExists) return "exists";
      if (expression.subquery_kind != AstExpression::SubqueryKind::kScalar) return {};
      return NameOfItem(*expression.select);
    case Kind::kOperator:
      if (expression.text == "CASE") return "case";
      if (expression.text == "COALESCE") return "coalesce";
      return {};
    default:
      return {};
  }
}

AstExpressionPtr ColumnReference(const ScopeColumn& column, size_t at) {
  auto reference = std::make_shared<AstExpression>();
  reference->kind = Kind::kColumn;
  reference->at = at;
  if (!column.table.empty()) reference->names.push_back(column.table);
  reference->names.push_back(column.name);
  return reference;
}

}  // namespace

void Binder::DefineView(const AstStatement& view, size_t query, const SourceText& source) {
  query_ = query;
  source_ = &source;
  bound_tables_ = 0;
  if (catalog_.Find(view.name) != nullptr || views_.count(view.name) > 0) {
    Fail(view.at, "the name " + QuotedIfNeeded(view.name) + " is already taken");
    return;
  }
  // Bound once here, so that its errors are found even if nothing reads it.
  if (BindView({view, query, &source}) != nullptr) views_.emplace(view.name, View{view, query, &source});
}

bool Binder::RenameColumns(PlanPtr& plan, const std::vector<std::string>& names, size_t at, const std::string& what) {
  if (names.empty()) return true;
  if (names.size() > plan->schema->size()) {
    Fail(at, what + " names " + std::to_string(names.size()) + " columns, and SELECT gives " +
                 std::to_string(plan->schema->size()));
    return false;
  }
  std::vector<std::string> all = ColumnNames(*plan->schema);
  std::copy(names.begin(), names.end(), all.begin());
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*plan->schema);
  plan = NewProject(std::move(plan), std::move(expressions), all);
  return true;
}

PlanPtr Binder::BindSelect(const AstSelect& select, const CteScope* ctes, const BoundTable* outer, bool keep_nulls) {
  std::vector<CteScope> local(select.ctes.size());
  std::set<std::string> names;
  for (size_t i = 0; i < select.ctes.size(); ++i) {
    const AstCte& cte = select.ctes[i];
    if (!names.insert(cte.name).second) return Fail(cte.at, "WITH defines " + QuotedIfNeeded(cte.name) + " twice");
    // Bound once here, so that its errors are found even if nothing reads it.
    PlanPtr body = cte.select == nullptr ? nullptr : BindSelect(*cte.select, ctes, nullptr, /*keep_nulls=*/false);
    if (body == nullptr) return nullptr;
    local[i] = {ctes, &cte};
    ctes = &local[i];
  }
  const bool set_operation = select.set_operation != AstSelect::SetOperation::kNone;
  PlanPtr plan = set_operation           ? BindSetOperation(select, ctes)
                 : select.values.empty() ? BindPlainSelect(select, ctes, outer)
                                         : BindValues(select);
  if (plan != nullptr && select.ordering != nullptr && (set_operation || !select.values.empty())) {
    const std::optional<OrderTargets> targets = ResolveOrder(*select.ordering, *plan);
    plan = targets ? ApplyOrdering(select, std::move(plan), *targets) : nullptr;
  }
  if (plan == nullptr || keep_nulls) return plan;
  return ResolveNulls(std::move(plan));
}

// A bare NULL or text literal of no other type is text, as in PostgreSQL.
PlanPtr Binder::ResolveNulls(PlanPtr plan) {
  std::vector<DataType> types;
  bool any = false;
  for (const Field& field : plan->schema->fields()) {
    any = any || field.type.kind == TypeKind::kNull;
    types.push_back(field.type.kind == TypeKind::kNull ? StringType() : field.type);
  }
  return any ? UniteTypes(std::move(plan), types, 0) : plan;
}

PlanPtr Binder::BindPlainSelect(const AstSelect& select, const CteScope* ctes, const BoundTable* outer) {
  std::optional<BoundTable> from = BindFrom(select, ctes);
  if (!from) return nullptr;
  bool complete = true;
  BoundTable filtered = *from;
  if (select.where != nullptr) {
    complete = BindWhere(*select.where, filtered, ctes, outer, nullptr);
    if (!complete) filtered = *from;
  }
  std::vector<AstSelectItem> items = ExpandItems(select, from->scope);
  std::optional<OrderTargets> targets;
  if (select.ordering != nullptr) {
    for (const AstSelectItem& item : items) {
      if (item.expression == nullptr) return nullptr;
    }
    targets = ResolveOrder(*select.ordering, items);
    if (!targets) return nullptr;
  }
  const size_t visible = targets ? targets->visible : items.size();
  bool grouped = !select.group_by.empty() || select.having != nullptr;
  for (const AstSelectItem& item : items) {
    if (item.expression == nullptr) return nullptr;
    grouped = grouped || ContainsAggregate(*item.expression);
  }
  PlanPtr plan;
  if (items.empty()) {
    if (select.items.empty()) Fail(select.at, "SELECT has no items");
  } else if (grouped) {
    plan = BindGrouped(select, items, filtered, ctes);
  } else {
    SubqueryValues values;
    ExpressionContext context;
    context.table = &filtered;
    context.place = "SELECT";
    context.subqueries = &values;
    for (const AstSelectItem& item : items) {
      complete = BindSubqueries(*item.expression, filtered, ctes, context, values) && complete;
    }
    if (!complete) return nullptr;
    WindowBinding windows{select.ordering.get(), static_cast<int>(filtered.plan->schema->size()), {}};
    context.windows = &windows;
    context.outer = outer;
    std::vector<ExpressionPtr> expressions;
    for (const AstSelectItem& item : items) {
      expressions.push_back(BindExpression(*item.expression, context));
      complete = complete && expressions.back() != nullptr;
    }
    if (complete && !windows.calls.empty()) {
      std::vector<int> mapping;
      filtered.plan = PlanWindows(windows, filtered.plan, mapping);
      for (ExpressionPtr& expression : expressions) expression = expression->Remap(mapping);
    }
    if (complete) plan = NewProject(filtered.plan, std::move(expressions), ItemNames(items));
  }
  if (!complete || plan == nullptr) return nullptr;
  item_places_.clear();
  for (size_t i = 0; i < visible; ++i) item_places_.push_back(items[i].at);
  if (targets) return ApplyOrdering(select, std::move(plan), *targets);
  return select.distinct ? NewDistinct(ResolveNulls(std::move(plan))) : plan;
}

// Replaces * and t.* by their columns.
std::vector<AstSelectItem> Binder::ExpandItems(const AstSelect& select, const Scope& scope) {
  std::vector<AstSelectItem> items;
  for (const AstSelectItem& item : select.items) {
    if (!item.star) {
      items.push_back(item);
      continue;
    }
    bool any = false;
    for (const ScopeColumn& column : scope.columns) {
      if (column.not_in_star) continue;
      if (item.star_table.empty() ? column.qualified_only : column.table != item.star_table) continue;
      AstSelectItem expanded;
      expanded.at = item.at;
      expanded.expression = ColumnReference(column, item.at);
      items.push_back(std::move(expanded));
      any = true;
    }
    if (!any) {
      Fail(item.at,
           "table " + QuotedIfNeeded(item.star_table) + " is not in FROM" + DidYouMean(item.star_table, scope.tables));
    }
  }
  return items;
}

std::vector<std::string> Binder::ItemNames(const std::vector<AstSelectItem>& items) {
  std::vector<std::string> names;
  for (const AstSelectItem& item : items) {
    std::string name = item.alias.empty() ? NameOf(*item.expression) : item.alias;
    if (name.empty()) name = "column_" + std::to_string(names.size() + 1);
    names.push_back(std::move(name));
  }
  return names;
}

// The rows of VALUES, computed now.
PlanPtr Binder::BindValues(const AstSelect& select) {
  item_places_.clear();
  const BoundTable nothing{NewOneRow(), {}};
  ExpressionContext context;
  context.table = &nothing;
  context.place = "VALUES";
  const size_t width = select.values[0].size();
  std::vector<Field> fields;
  std::vector<std::vector<ExpressionPtr>> rows;
  for (const std::vector<AstExpressionPtr>& written : select.values) {
    if (written.size() != width) return Fail(written[0]->at, "the rows of VALUES have different numbers of columns");
    std::vector<ExpressionPtr>& row = rows.emplace_back();
    for (size_t i = 0; i < width; ++i) {
      ExpressionPtr value = BindExpression(*written[i], context);
      if (value == nullptr) return nullptr;
      if (rows.size() == 1) fields.push_back({"column" + std::to_string(i + 1), value->type(), true});
      const std::optional<DataType> common = CommonType(fields[i].type, value->type());
      if (!common) {
        return Fail(written[i]->at, "column " + std::to_string(i + 1) + " of VALUES is " + fields[i].type.ToString() +
                                        " above and " + value->type().ToString() + " here; cast one");
      }
      fields[i].type = *common;
      row.push_back(std::move(value));
    }
  }
  for (Field& field : fields) {
    if (field.type.kind == TypeKind::kNull) field.type = StringType();
  }
  return EvaluateValues(select, rows, Schema(std::move(fields)));
}

PlanPtr Binder::EvaluateValues(const AstSelect& select, const std::vector<std::vector<ExpressionPtr>>& rows,
                               Schema schema) {
  BatchBuilder builder(std::make_shared<Schema>(std::move(schema)));
  const Batch one_row = NewOneRow()->values;
  const EvalContext context{options_.time_zone, 0};
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const size_t at = select.values[r][i]->at;
      const DataType type = builder.column(i).type();
      Result<ExpressionPtr> value = rows[r][i];
      if (rows[r][i]->type().kind == TypeKind::kNull) {
        value = MakeNull(type);
      } else if (rows[r][i]->type() != type) {
        value = MakeAssignmentCast(rows[r][i], type);
      }
      if (!value) return Fail(at, value.error().message);
      if (!(*value)->deterministic()) return Fail(at, "VALUES takes only values that do not change");
      const RowResult<ColumnPtr> column = (*value)->Evaluate(one_row, context);
      if (!column) return Fail(at, column.error().message);
      builder.column(i).AppendFrom(**column, 0);
    }
    builder.FinishRow(RowKind::kInsert);
  }
  return NewValues(builder.Build());
}

}  // namespace weir
