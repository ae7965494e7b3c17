// Subqueries that choose among their rows: LIMIT, OFFSET, DISTINCT ON, window functions.
//
// 1. One that uses no outer column is a query of its own.
// 2. With ORDER BY and LIMIT over outer columns the rows are ranked by key, as bind_subquery.cc finds them.
// 3. LIMIT 1 with the newest event time at or before the outer row's is a temporal join, if the outer rows append.

#include <algorithm>

#include "sql/plan/binder.h"
#include "sql/plan/event_time.h"
#include "sql/plan/nodes.h"

namespace weir {
namespace {

// Rows come and never change or go.
bool IsAppendOnly(const PlanNode& node, const Catalog& catalog) {
  const auto inputs = [&] {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](const PlanPtr& input) { return IsAppendOnly(*input, catalog); });
  };
  switch (node.kind) {
    case NodeKind::kScan:
      return catalog.Find(node.relation)->changelog == ChangelogMode::kAppend;
    case NodeKind::kFilter:
    case NodeKind::kProject:
    case NodeKind::kUnnest:
    case NodeKind::kUnion:
    case NodeKind::kValues:
      return inputs();
    case NodeKind::kJoin:
      return node.join_type == JoinType::kInner && inputs();
    case NodeKind::kTemporalJoin:
      return IsAppendOnly(*node.inputs[0], catalog);
    default:
      return false;
  }
}

}  // namespace

bool Binder::ChoosesRows(const AstSelect& select) {
  if (select.ordering != nullptr && (select.ordering->limit != nullptr || select.ordering->offset != nullptr ||
                                     !select.ordering->distinct_on.empty())) {
    return true;
  }
  return std::any_of(select.items.begin(), select.items.end(), [](const AstSelectItem& item) {
    return item.expression != nullptr && ContainsWindow(*item.expression);
  });
}

bool Binder::BindDerivedChoice(const AstSelect& select, const CteScope* ctes, const BoundTable& outer, bool temporal,
                               Derived& derived) {
  const size_t width = outer.plan->schema->size();
  const bool was_silent = std::exchange(silent_, true);
  derived.right = BindSelect(select, ctes, nullptr, /*keep_nulls=*/false);
  silent_ = was_silent;
  const bool windows = std::any_of(select.items.begin(), select.items.end(), [](const AstSelectItem& item) {
    return item.expression != nullptr && ContainsWindow(*item.expression);
  });
  const bool ranked = !windows && select.set_operation == AstSelect::SetOperation::kNone && select.values.empty() &&
                      !select.distinct && select.group_by.empty() && select.having == nullptr &&
                      select.ordering->distinct_on.empty() && !select.from.empty();
  if (derived.right == nullptr && ranked) return BindNewestRows(select, ctes, outer, temporal, derived);
  if (derived.right == nullptr) {
    BindSelect(select, ctes, nullptr, /*keep_nulls=*/false);  // once more, for its errors
    return false;
  }
  for (size_t i = 0; i < derived.right->schema->size(); ++i) {
    derived.values.push_back(MakeColumn(static_cast<int>(width + i), (*derived.right->schema)[i].type));
  }
  derived.names = ColumnNames(*derived.right->schema);
  if (select.ordering != nullptr) {
    const std::optional<RankBounds> bounds = RowBounds(*select.ordering);
    derived.single = bounds && bounds->function == OverFunction::kRowNumber && bounds->to != RankBounds::kAll &&
                     bounds->to <= bounds->from;
  }
  return true;
}

bool Binder::BindNewestRows(const AstSelect& select, const CteScope* ctes, const BoundTable& outer, bool temporal,
                            Derived& derived) {
  const size_t width = outer.plan->schema->size();
  std::vector<CteScope> local(select.ctes.size());
  for (size_t i = 0; i < select.ctes.size(); ++i) {
    local[i] = {ctes, &select.ctes[i]};
    ctes = &local[i];
  }
  std::optional<BoundTable> inner = BindFrom(select, ctes);
  if (!inner) return false;
  std::vector<ExpressionPtr> correlated;
  if (select.where != nullptr && !BindWhere(*select.where, *inner, ctes, &outer, &correlated)) return false;
  std::vector<AstSelectItem> items = ExpandItems(select, inner->scope);
  for (const AstSelectItem& item : items) {
    if (item.expression == nullptr) return false;
    if (!ContainsAggregate(*item.expression)) continue;
    Fail(select.at, "LIMIT beside aggregates is not supported in a subquery that uses the outer query");
    return false;
  }
  std::optional<OrderTargets> targets = ResolveOrder(*select.ordering, items);
  const std::optional<RankBounds> bounds = targets ? RowBounds(*select.ordering) : std::nullopt;
  if (!bounds) return false;
  if (!BindDerivedRows(select, items, *inner, outer, ctes, std::move(correlated), /*keyed=*/false, derived)) return false;
  derived.single = bounds->function == OverFunction::kRowNumber && bounds->to <= bounds->from;
  TimeBound time;
  if (temporal && AsTemporal(derived, *targets, *bounds, outer, time) && select.ordering->order_by[0].descending) {
    derived.left_time = time.later;
    derived.right_time = time.earlier - static_cast<int>(width);
  } else {
    if (!ProjectKeyed(select, outer, derived)) return false;
    std::vector<int> partition;
    for (const CorrelatedKey& key : derived.keys) {
      if (!Contains(partition, key.inner->ColumnIndex())) partition.push_back(key.inner->ColumnIndex());
    }
    for (const ExpressionPtr& value : derived.values) {
      if (value != nullptr) continue;
      Fail(select.at, "the items of a subquery with LIMIT cannot use columns of the outer query");
      return false;
    }
    for (size_t& column : targets->order) {
      column = static_cast<size_t>(derived.values[column]->ColumnIndex()) - width;
    }
    const std::optional<std::vector<SortColumn>> sort = SortColumns(*select.ordering, *derived.right, *targets);
    if (!sort) return false;
    derived.right = NewRank(derived.right, std::move(partition), *sort, *bounds);
  }
  derived.values.resize(targets->visible);
  derived.names.resize(targets->visible);
  return true;
}

// Equalities of columns of one type, and one bound of event times, by which the newest row comes first.
bool Binder::AsTemporal(const Derived& derived, const OrderTargets& targets, const RankBounds& bounds,
                        const BoundTable& outer, TimeBound& time) const {
  const int width = static_cast<int>(outer.plan->schema->size());
  if (!bounds.one_row() || targets.order.size() != 1 || !IsAppendOnly(*outer.plan, catalog_)) return false;
  bool keys = false;
  bool bound = false;
  for (const ExpressionPtr& condition : derived.conditions) {
    CorrelatedKey key;
    if (AsEquality(condition, width, key) && !key.null_safe) {
      if (key.outer->ColumnIndex() < 0 || key.inner->ColumnIndex() < 0 || key.outer->type() != key.inner->type()) {
        return false;
      }
      keys = true;
      continue;
    }
    const std::optional<TimeBound> found = AsTimeBound(condition);
    if (!found || bound || found->offset != 0 || found->earlier < width || found->later >= width) return false;
    bound = true;
    time = *found;
  }
  return keys && bound && derived.values[targets.order[0]]->ColumnIndex() == time.earlier &&
         Contains(EventTimesOf(*outer.plan, catalog_).times, time.later) &&
         Contains(EventTimesOf(*derived.right, catalog_).times, time.earlier - width);
}

void Binder::JoinNewest(BoundTable& table, const Derived& derived, bool keep, size_t at) {
  PlanPtr join = NewTemporalJoin(table.plan, derived.right, keep);
  const int width = static_cast<int>(table.plan->schema->size());
  for (const ExpressionPtr& condition : derived.conditions) {
    CorrelatedKey key;
    if (AsEquality(condition, width, key)) {
      join->left_keys.push_back(key.outer->ColumnIndex());
      join->right_keys.push_back(key.inner->ColumnIndex());
    } else {
      join->before = AsTimeBound(condition)->strict;
    }
  }
  join->left_time = derived.left_time;
  join->right_time = derived.right_time;
  table.plan = PlaceJoin(std::move(join), at);
}

}  // namespace weir
