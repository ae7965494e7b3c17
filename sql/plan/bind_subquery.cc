// Subqueries seen from the query around them (Derived in binder.h), without a join yet.
//
// 1. FROM and WHERE are bound; conjuncts of WHERE that use outer columns are taken out of it.
// 2. Without aggregates those conjuncts are what the join with the outer rows is conditioned on.
// 3. With aggregates, or where the rows of an outer row have to be found by keys, they are turned into keys: of
//    equalities the inner side is the key.  For any other condition the keys are the distinct values of the outer
//    columns that it uses, which are joined to the inner rows.
// 4. Aggregates are then grouped by the keys too.  An outer row whose key has no group has the values of no rows: counts
//    of 0 and NULL for the rest.

#include <algorithm>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/placement.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

bool IsGrouped(const AstSelect& select) {
  return !select.group_by.empty() || !select.grouping_sets.empty() || select.having != nullptr ||
         std::any_of(select.items.begin(), select.items.end(), [](const AstSelectItem& item) {
           return item.expression != nullptr && ContainsAggregate(*item.expression);
         });
}

// Its rows depend on their order: no condition on outer columns can be taken out of it.
bool IsOrdered(const AstSelect& select) {
  const AstOrdering* ordering = select.ordering.get();
  const bool bounded = ordering != nullptr && (ordering->limit != nullptr || ordering->offset != nullptr ||
                                               !ordering->distinct_on.empty());
  return bounded || std::any_of(select.items.begin(), select.items.end(), [](const AstSelectItem& item) {
           return item.expression != nullptr && ContainsWindow(*item.expression);
         });
}

// LIMIT 1.
bool IsFirstRow(const PlanNode& plan) {
  const PlanNode* below = &plan;
  while (below->kind == NodeKind::kProject) below = below->inputs[0].get();
  return below->kind == NodeKind::kRank && below->partition.empty() && below->rank.from == below->rank.to;
}

ExpressionPtr WithType(ExpressionPtr value) {
  return value->type().kind == TypeKind::kNull ? MakeNull(StringType()) : value;
}

// Values that differ may be equal to one outer value in the type that both are compared in: the key has that type.
bool InCommonType(CorrelatedKey& key) {
  const std::optional<DataType> common = CommonType(key.outer->type(), key.inner->type());
  if (!common) return false;
  if (key.inner->type() == *common) return true;
  Result<ExpressionPtr> cast = MakeCast(key.inner, *common);
  if (cast) key.inner = *cast;
  return cast.has_value();
}

// Inner columns first becomes outer columns first.
ExpressionPtr OuterFirst(const ExpressionPtr& expression, size_t inner, size_t outer) {
  std::vector<int> mapping = Iota(inner, static_cast<int>(outer));
  const std::vector<int> front = Iota(outer);
  mapping.insert(mapping.end(), front.begin(), front.end());
  return expression->Remap(mapping);
}

bool UsesOuter(const ExpressionPtr& expression, size_t outer_width) {
  const std::vector<int> columns = ColumnsOf(expression);
  return !columns.empty() && columns.front() < static_cast<int>(outer_width);
}

// No two rows of the subquery belong to one outer row: a unique key of its rows is fixed by equalities.
bool IsSingle(const Derived& derived, size_t outer_width, const Catalog& catalog) {
  std::vector<int> fixed;
  for (const ExpressionPtr& condition : derived.conditions) {
    CorrelatedKey key;
    for (const ExpressionPtr& conjunct : SplitAnd(condition)) {
      if (AsEquality(conjunct, static_cast<int>(outer_width), key) && key.inner->ColumnIndex() >= 0) {
        fixed.push_back(key.inner->ColumnIndex());
      }
    }
  }
  const std::vector<UniqueKey> keys = LogicalKeys(*derived.right, catalog);
  return std::any_of(keys.begin(), keys.end(), [&](const UniqueKey& key) { return IsSubset(key.columns, fixed); });
}

}  // namespace

bool AsEquality(const ExpressionPtr& conjunct, int outer_width, CorrelatedKey& key) {
  if (!conjunct->deterministic()) return false;
  const bool equal = IsCall("=", *conjunct);
  key.null_safe = !equal && IsCall("IS NOT DISTINCT FROM", *conjunct);
  if (!equal && !key.null_safe) return false;
  const std::vector<ExpressionPtr> sides = conjunct->children();
  for (const bool swapped : {false, true}) {
    const ExpressionPtr& outer = sides[swapped ? 1 : 0];
    const ExpressionPtr& inner = sides[swapped ? 0 : 1];
    const std::vector<int> outer_columns = ColumnsOf(outer);
    const std::vector<int> inner_columns = ColumnsOf(inner);
    if (inner_columns.empty() || inner_columns.front() < outer_width) continue;
    if (!outer_columns.empty() && outer_columns.back() >= outer_width) continue;
    std::vector<int> to_inner(static_cast<size_t>(outer_width), -1);
    for (int i = 0; i <= inner_columns.back() - outer_width; ++i) to_inner.push_back(i);
    key.outer = outer;
    key.inner = inner->Remap(to_inner);
    return key.inner != nullptr;
  }
  return false;
}

std::optional<Derived> Binder::BindDerived(const AstSelect& select, const CteScope* ctes, const BoundTable& outer,
                                           bool keyed, bool temporal) {
  Derived derived;
  const size_t width = outer.plan->schema->size();
  outers_.push_back(&outer);
  bool complete = false;
  if (ChoosesRows(select)) {
    complete = BindDerivedChoice(select, ctes, outer, temporal, derived);
  } else if (select.set_operation != AstSelect::SetOperation::kNone || !select.values.empty() || IsOrdered(select)) {
    derived.right = BindSelect(select, ctes, nullptr, /*keep_nulls=*/false);
    complete = derived.right != nullptr;
    if (complete) {
      for (size_t i = 0; i < derived.right->schema->size(); ++i) {
        derived.values.push_back(MakeColumn(static_cast<int>(width + i), (*derived.right->schema)[i].type));
      }
      derived.names = ColumnNames(*derived.right->schema);
      derived.single = select.values.size() == 1 || (IsOrdered(select) && IsFirstRow(*derived.right));
    }
  } else {
    std::vector<CteScope> local(select.ctes.size());
    for (size_t i = 0; i < select.ctes.size(); ++i) {
      local[i] = {ctes, &select.ctes[i]};
      ctes = &local[i];
    }
    std::optional<BoundTable> inner = BindFrom(select, ctes);
    std::vector<ExpressionPtr> correlated;
    complete = inner && (select.where == nullptr || BindWhere(*select.where, *inner, ctes, &outer, &correlated));
    if (complete && IsGrouped(select)) {
      complete = BindDerivedGroups(select, *inner, outer, ctes, std::move(correlated), derived);
    } else if (complete) {
      complete = BindDerivedRows(select, ExpandItems(select, inner->scope), *inner, outer, ctes, std::move(correlated), keyed, derived);
    }
  }
  outers_.pop_back();
  return complete ? std::optional<Derived>(std::move(derived)) : std::nullopt;
}

bool Binder::BindDerivedRows(const AstSelect& select, const std::vector<AstSelectItem>& items, BoundTable& inner,
                             const BoundTable& outer, const CteScope* ctes, std::vector<ExpressionPtr> correlated,
                             bool keyed, Derived& derived) {
  const size_t outer_width = outer.plan->schema->size();
  SubqueryValues subqueries;
  ExpressionContext context;
  context.table = &inner;
  context.place = "SELECT";
  context.subqueries = &subqueries;
  bool complete = !items.empty();
  if (!complete && select.items.empty()) Fail(select.at, "SELECT has no items");
  for (const AstSelectItem& item : items) {
    complete = complete && item.expression != nullptr &&
               BindSubqueries(*item.expression, inner, ctes, context, subqueries);
  }
  if (!complete) return false;
  context.outer = &outer;
  context.outer_allowed = true;
  const size_t inner_width = inner.plan->schema->size();
  for (const AstSelectItem& item : items) {
    const ExpressionPtr value = BindExpression(*item.expression, context);
    complete = complete && value != nullptr;
    derived.values.push_back(value == nullptr ? nullptr : OuterFirst(WithType(value), inner_width, outer_width));
  }
  derived.names = ItemNames(items);
  if (!complete) return false;
  if (select.from.empty() && !select.distinct) {
    // Its one row is there where WHERE is true; the part of WHERE without outer columns is a filter of that row.
    derived.always = true;
    if (inner.plan->kind == NodeKind::kFilter) correlated.push_back(inner.plan->condition);
    if (inner.plan->kind == NodeKind::kFilter || inner.plan->kind == NodeKind::kValues) {
      if (!correlated.empty()) derived.having = JoinAnd(correlated);
      return true;
    }
  }
  derived.always = false;
  derived.conditions = std::move(correlated);
  derived.right = inner.plan;
  if (!keyed && !select.distinct) {
    derived.single = IsSingle(derived, outer_width, catalog_);
    return true;
  }
  return ProjectKeyed(select, outer, derived);
}

// Leaves the key columns and the items of the rows.
bool Binder::ProjectKeyed(const AstSelect& select, const BoundTable& outer, Derived& derived) {
  const size_t outer_width = outer.plan->schema->size();
  const size_t inner_width = derived.right->schema->size();
  PlanPtr rows = derived.right;
  if (!Correlate(rows, outer, std::move(derived.conditions), derived.keys)) return false;
  std::vector<ExpressionPtr> expressions;
  std::vector<std::string> names;
  for (CorrelatedKey& key : derived.keys) {
    names.push_back("key_" + std::to_string(names.size() + 1));
    expressions.push_back(key.inner);
    key.inner = MakeColumn(static_cast<int>(expressions.size()) - 1, key.inner->type());
  }
  std::vector<int> to_inner(outer_width, -1);
  const std::vector<int> inner_columns = Iota(inner_width);
  to_inner.insert(to_inner.end(), inner_columns.begin(), inner_columns.end());
  for (size_t i = 0; i < derived.values.size(); ++i) {
    if (UsesOuter(derived.values[i], outer_width)) {
      if (select.distinct) {
        Fail(select.at, "a subquery with DISTINCT may use columns of the outer query only in its WHERE");
        return false;
      }
      derived.values[i] = nullptr;  // there are rows, but no such column
      continue;
    }
    const ExpressionPtr value = derived.values[i]->Remap(to_inner);
    expressions.push_back(value);
    names.push_back(derived.names[i]);
    derived.values[i] = MakeColumn(static_cast<int>(outer_width + expressions.size()) - 1, value->type());
  }
  if (expressions.empty()) {
    expressions.push_back(MakeBoolean(true));
    names.push_back("there");
  }
  derived.right = NewProject(std::move(rows), std::move(expressions), names);
  if (select.distinct) derived.right = NewDistinct(derived.right);
  return ConditionsOfKeys(derived, outer_width);
}

bool Binder::ConditionsOfKeys(Derived& derived, size_t outer_width) {
  derived.conditions.clear();
  for (const CorrelatedKey& key : derived.keys) {
    const ExpressionPtr inner =
        MakeColumn(static_cast<int>(outer_width) + key.inner->ColumnIndex(), key.inner->type());
    Result<ExpressionPtr> equal = MakeCall(key.null_safe ? "IS NOT DISTINCT FROM" : "=", {key.outer, inner});
    if (!equal) return false;  // the query compared them already
    derived.conditions.push_back(*equal);
  }
  return true;
}

// Turns conditions (over outer, then inner columns) into keys of the rows, as step 3 above says.
bool Binder::Correlate(PlanPtr& rows, const BoundTable& outer, std::vector<ExpressionPtr> correlated,
                       std::vector<CorrelatedKey>& keys) {
  const size_t outer_width = outer.plan->schema->size();
  const size_t inner_width = rows->schema->size();
  bool equalities = true;
  std::vector<int> used;
  for (const ExpressionPtr& conjunct : correlated) {
    CorrelatedKey key;
    equalities = equalities && AsEquality(conjunct, static_cast<int>(outer_width), key) && InCommonType(key);
    if (equalities) keys.push_back(key);
    for (const int column : ColumnsOf(conjunct)) {
      if (column < static_cast<int>(outer_width) && !Contains(used, column)) used.push_back(column);
    }
  }
  if (equalities) return true;
  keys.clear();
  std::vector<int> mapping(outer_width, -1);
  for (size_t i = 0; i < used.size(); ++i) {
    const int at = static_cast<int>(inner_width + i);
    const DataType type = (*outer.plan->schema)[static_cast<size_t>(used[i])].type;
    mapping[static_cast<size_t>(used[i])] = at;
    keys.push_back({MakeColumn(at, type), MakeColumn(used[i], type), /*null_safe=*/true});
  }
  const std::vector<int> inner_columns = Iota(inner_width);
  mapping.insert(mapping.end(), inner_columns.begin(), inner_columns.end());
  for (ExpressionPtr& conjunct : correlated) conjunct = conjunct->Remap(mapping);
  PlanPtr values = NewDistinct(SelectColumns(ClonePlan(outer.plan), used));
  rows = NewJoin(std::move(rows), std::move(values), JoinType::kInner, JoinAnd(correlated));
  return true;
}

bool Binder::BindDerivedGroups(const AstSelect& select, BoundTable& inner, const BoundTable& outer,
                               const CteScope* ctes, std::vector<ExpressionPtr> correlated, Derived& derived) {
  const size_t outer_width = outer.plan->schema->size();
  const std::vector<AstSelectItem> items = ExpandItems(select, inner.scope);
  Grouping grouping;
  SubqueryValues row_values;
  if (items.empty() || !BindGroupKeys(select, items, inner, ctes, row_values, grouping)) return false;
  const size_t written_keys = grouping.keys.size();
  if (!Correlate(inner.plan, outer, std::move(correlated), derived.keys)) return false;
  if (!select.grouping_sets.empty() && !derived.keys.empty()) {
    Fail(select.at, "GROUPING SETS, ROLLUP and CUBE are not supported in a subquery that uses the outer query");
    return false;
  }
  std::vector<int> key_columns;
  for (CorrelatedKey& key : derived.keys) {
    size_t index = 0;
    while (index < grouping.keys.size() && grouping.keys[index]->Signature() != key.inner->Signature()) ++index;
    if (index == grouping.keys.size()) {
      grouping.keys.push_back(key.inner);
      grouping.key_names.push_back("key_" + std::to_string(index + 1));
    }
    key_columns.push_back(static_cast<int>(index));
    key.inner = MakeColumn(static_cast<int>(index), key.inner->type());
  }
  GroupedRows rows;
  if (!BindGroupedRows(select, items, inner, &outer, ctes, row_values, grouping, rows)) return false;
  derived.right = rows.plan;
  derived.names = ItemNames(items);
  const bool sets = !select.grouping_sets.empty();
  derived.always = select.group_by.empty() && !sets;
  derived.single = derived.always || (!sets && IsSubset(Iota(written_keys), key_columns));
  const size_t group_width = rows.plan->schema->size();
  if (derived.always && !derived.keys.empty() && !grouping.subqueries.empty()) {
    Fail(select.at, "a correlated subquery with aggregates cannot have a subquery beside them; join it in its FROM");
    return false;
  }
  for (const ExpressionPtr& output : rows.outputs) {
    derived.values.push_back(OuterFirst(WithType(output), group_width, outer_width));
  }
  if (!ConditionsOfKeys(derived, outer_width)) return false;
  if (rows.having != nullptr) {
    ExpressionPtr having = OuterFirst(rows.having, group_width, outer_width);
    if (derived.always) {
      derived.having = std::move(having);
    } else if (UsesOuter(having, outer_width)) {
      derived.conditions.push_back(std::move(having));
    } else {
      derived.right = NewFilter(derived.right, rows.having);
    }
  }
  if (derived.always && !derived.keys.empty()) CountNothing(grouping, *outer.plan->schema, derived);
  if (!select.distinct || derived.single) return true;
  if (!derived.keys.empty()) {
    Fail(select.at, "DISTINCT beside GROUP BY is not supported in a subquery that uses the outer query");
    return false;
  }
  std::vector<ExpressionPtr> outputs;
  for (const ExpressionPtr& output : rows.outputs) outputs.push_back(WithType(output));
  derived.right = NewDistinct(NewProject(derived.right, std::move(outputs), derived.names));
  for (size_t i = 0; i < derived.values.size(); ++i) {
    derived.values[i] = MakeColumn(static_cast<int>(outer_width + i), derived.values[i]->type());
  }
  return true;
}

// A key without a group has counts of 0.
void Binder::CountNothing(const Grouping& grouping, const Schema& outer, Derived& derived) {
  std::vector<ExpressionPtr> columns = ColumnExpressions(outer);
  const Schema& schema = *derived.right->schema;
  for (size_t i = 0; i < schema.size(); ++i) {
    const ExpressionPtr column = MakeColumn(static_cast<int>(outer.size() + i), schema[i].type);
    const bool call = i >= grouping.keys.size() && i - grouping.keys.size() < grouping.calls.size();
    // The calls that are never NULL count something.
    Result<ExpressionPtr> counted = column;
    if (call && !schema[i].nullable) counted = MakeCall("COALESCE", {column, MakeBigint(0)});
    columns.push_back(counted ? *counted : column);
  }
  for (ExpressionPtr& value : derived.values) value = Substitute(value, columns);
  if (derived.having != nullptr) derived.having = Substitute(derived.having, columns);
}

}  // namespace weir
