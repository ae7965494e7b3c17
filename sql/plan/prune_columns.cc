// Prune(node, needed) rewrites a subtree so that it gives at least the columns needed, and says where they are now.

#include <algorithm>
#include <map>
#include <set>

#include "sql/plan/nodes.h"
#include "sql/plan/placement.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

using ColumnSet = std::set<int>;
using Mapping = std::vector<int>;  // old column -> new column, -1: gone

void AddAll(const std::vector<int>& columns, ColumnSet& set) { set.insert(columns.begin(), columns.end()); }

std::vector<int> Mapped(const std::vector<int>& columns, const Mapping& mapping) {
  std::vector<int> mapped;
  for (const int column : columns) mapped.push_back(mapping[static_cast<size_t>(column)]);
  return mapped;
}

class Pruner {
 public:
  explicit Pruner(const Catalog& catalog) : catalog_(catalog) {}

  Mapping Prune(PlanPtr& node, const ColumnSet& needed) {
    switch (node->kind) {
      case NodeKind::kScan:
        return PruneScan(*node, needed);
      case NodeKind::kFilter:
        return PruneFilter(*node, needed);
      case NodeKind::kProject:
        return PruneProject(node, needed);
      case NodeKind::kJoin:
      case NodeKind::kTemporalJoin:
        return PruneJoin(*node, needed);
      case NodeKind::kAggregate:
        return PruneAggregate(*node, needed);
      case NodeKind::kRank:
        return PruneRank(*node, needed);
      case NodeKind::kOver:
        return PruneOver(node, needed);
      case NodeKind::kUnion:
        return PruneUnion(*node, needed);
      case NodeKind::kWindow:
        return PruneWindow(*node, needed);
      case NodeKind::kUnnest:
        return PruneUnnest(*node, needed);
      case NodeKind::kNormalise:
      case NodeKind::kTable:
        return PruneNormalise(*node, needed);
      default:
        break;
    }
    return Iota(node->schema->size());
  }

  // The same, and nothing but the columns needed, in the order they had.
  Mapping PruneExactly(PlanPtr& node, ColumnSet needed) {
    if (const std::optional<std::vector<int>> key = UpsertKey(*node, catalog_)) AddAll(*key, needed);
    const Mapping mapping = Prune(node, needed);
    if (needed.empty()) return mapping;  // only the number of rows counts
    const Mapping kept = Mapped({needed.begin(), needed.end()}, mapping);
    Mapping exact(mapping.size(), -1);
    int next = 0;
    for (const int column : needed) exact[static_cast<size_t>(column)] = next++;
    node = SelectColumns(node, kept);
    return exact;
  }

 private:
  Mapping PruneScan(PlanNode& node, const ColumnSet& needed) {
    const CatalogRelation& relation = *catalog_.Find(node.relation);
    std::vector<int> kept;
    Mapping mapping(node.scan_columns.size(), -1);
    for (size_t i = 0; i < node.scan_columns.size(); ++i) {
      const bool key =
          relation.changelog == ChangelogMode::kUpsert && Contains(relation.primary_key, node.scan_columns[i]);
      if (!key && needed.count(static_cast<int>(i)) == 0) continue;
      mapping[i] = static_cast<int>(kept.size());
      kept.push_back(node.scan_columns[i]);
    }
    // A batch keeps one column, so that it has rows.
    if (kept.empty() && !node.scan_columns.empty()) {
      mapping[0] = 0;
      kept.push_back(node.scan_columns[0]);
    }
    node.schema = NewScan(relation, kept)->schema;
    node.scan_columns = std::move(kept);
    return mapping;
  }

  Mapping PruneFilter(PlanNode& node, const ColumnSet& needed) {
    ColumnSet below = needed;
    AddAll(ColumnsOf(node.condition), below);
    const Mapping mapping = Prune(node.inputs[0], below);
    node.condition = node.condition->Remap(mapping);
    RefreshSchema(node);
    return mapping;
  }

  Mapping PruneProject(PlanPtr& node, const ColumnSet& needed) {
    Mapping mapping(node->expressions.size(), -1);
    if (needed.empty()) {
      Prune(node->inputs[0], {});
      node = node->inputs[0];
      return mapping;
    }
    ColumnSet below;
    std::vector<ExpressionPtr> kept;
    std::vector<std::string> names;
    for (const int column : needed) {
      mapping[static_cast<size_t>(column)] = static_cast<int>(kept.size());
      kept.push_back(node->expressions[static_cast<size_t>(column)]);
      names.push_back((*node->schema)[static_cast<size_t>(column)].name);
      AddAll(ColumnsOf(kept.back()), below);
    }
    const Mapping input = Prune(node->inputs[0], below);
    for (ExpressionPtr& expression : kept) expression = expression->Remap(input);
    node = NewProject(node->inputs[0], std::move(kept), names);
    return mapping;
  }

  Mapping PruneJoin(PlanNode& node, const ColumnSet& needed) {
    const int left_width = static_cast<int>(node.inputs[0]->schema->size());
    const size_t right_width = node.inputs[1]->schema->size();
    ColumnSet both = needed;
    if (node.condition != nullptr) AddAll(ColumnsOf(node.condition), both);
    ColumnSet left(node.left_keys.begin(), node.left_keys.end());
    ColumnSet right(node.right_keys.begin(), node.right_keys.end());
    for (const int column : both) {
      if (column < left_width) {
        left.insert(column);
      } else {
        right.insert(column - left_width);
      }
    }
    if (node.kind == NodeKind::kTemporalJoin) {
      left.insert(node.left_time);
      right.insert(node.right_time);
    }
    // A table finds its rows by their key.
    if (node.strategy == JoinStrategy::kDelta) {
      for (size_t side = 0; side < 2; ++side) {
        const std::vector<UniqueKey> keys = LogicalKeys(*node.inputs[side], catalog_);
        if (!keys.empty()) AddAll(keys.front().columns, side == 0 ? left : right);
      }
    }
    const Mapping left_mapping = PruneExactly(node.inputs[0], left);
    const Mapping right_mapping = PruneExactly(node.inputs[1], right);
    const int new_width = static_cast<int>(node.inputs[0]->schema->size());
    Mapping mapping = left_mapping;
    for (size_t i = 0; i < right_width; ++i)
      mapping.push_back(right_mapping[i] < 0 ? -1 : right_mapping[i] + new_width);
    node.left_keys = Mapped(node.left_keys, left_mapping);
    node.right_keys = Mapped(node.right_keys, right_mapping);
    if (node.condition != nullptr) node.condition = node.condition->Remap(mapping);
    if (node.kind == NodeKind::kTemporalJoin) {
      node.left_time = left_mapping[static_cast<size_t>(node.left_time)];
      node.right_time = right_mapping[static_cast<size_t>(node.right_time)];
    }
    RefreshSchema(node);
    if (LeftColumnsOnly(node.join_type)) mapping.resize(static_cast<size_t>(left_width));
    return mapping;
  }

  Mapping PruneAggregate(PlanNode& node, const ColumnSet& needed) {
    const bool assigned = node.windows && node.windows->assigned;
    const size_t groups = node.group_columns.size() + (assigned ? kWindowColumns : 0);
    std::vector<AggregateCall> kept;
    Mapping mapping = Iota(groups);
    for (size_t i = 0; i < node.calls.size(); ++i) {
      const bool last_column = groups == 0 && kept.empty() && i + 1 == node.calls.size();
      const bool keep = needed.count(static_cast<int>(groups + i)) > 0 || last_column;
      mapping.push_back(keep ? static_cast<int>(groups + kept.size()) : -1);
      if (keep) kept.push_back(node.calls[i]);
    }
    ColumnSet below(node.group_columns.begin(), node.group_columns.end());
    for (const AggregateCall& call : kept) {
      if (call.argument >= 0) below.insert(call.argument);
      if (call.filter >= 0) below.insert(call.filter);
      for (const AggregateOrder& order : call.order) below.insert(order.column);
    }
    if (assigned) below.insert(node.windows->time);
    if (assigned && node.windows->condition >= 0) below.insert(node.windows->condition);
    if (node.late_rows) AddAll(node.late_rows->columns, below);
    const Mapping input = PruneExactly(node.inputs[0], below);
    if (assigned) {
      node.windows->time = input[static_cast<size_t>(node.windows->time)];
      if (node.windows->condition >= 0) node.windows->condition = input[static_cast<size_t>(node.windows->condition)];
    }
    if (node.late_rows) node.late_rows->columns = Mapped(node.late_rows->columns, input);
    node.group_columns = Mapped(node.group_columns, input);
    for (AggregateCall& call : kept) {
      if (call.argument >= 0) call.argument = input[static_cast<size_t>(call.argument)];
      if (call.filter >= 0) call.filter = input[static_cast<size_t>(call.filter)];
      for (AggregateOrder& order : call.order) order.column = input[static_cast<size_t>(order.column)];
    }
    node.calls = std::move(kept);
    RefreshSchema(node);
    return mapping;
  }

  // The columns that a kRank or kOver node reads itself go to `below`, and are renumbered behind it.
  Mapping PruneOrdered(PlanNode& node, ColumnSet below) {
    AddAll(node.partition, below);
    for (const SortColumn& sort : node.sort) below.insert(sort.column);
    Mapping mapping = PruneExactly(node.inputs[0], below);
    node.partition = Mapped(node.partition, mapping);
    for (SortColumn& sort : node.sort) sort.column = mapping[static_cast<size_t>(sort.column)];
    return mapping;
  }

  Mapping PruneRank(PlanNode& node, const ColumnSet& needed) {
    const auto width = static_cast<int>(node.inputs[0]->schema->size());
    ColumnSet below = needed;
    below.erase(width);
    // A batch keeps one column, so that it has rows.
    if (below.empty() && node.partition.empty() && node.sort.empty()) below.insert(0);
    const bool numbered = node.rank.output;
    node.rank.output = numbered && needed.count(width) > 0;
    Mapping mapping = PruneOrdered(node, below);
    if (numbered) mapping.push_back(node.rank.output ? static_cast<int>(node.inputs[0]->schema->size()) : -1);
    RefreshSchema(node);
    return mapping;
  }

  Mapping PruneOver(PlanPtr& node, const ColumnSet& needed) {
    const auto width = static_cast<int>(node->inputs[0]->schema->size());
    ColumnSet below;
    for (const int column : needed) {
      if (column < width) below.insert(column);
    }
    std::vector<OverCall> kept;
    std::vector<int> places(node->over.size(), -1);
    for (size_t i = 0; i < node->over.size(); ++i) {
      if (needed.count(width + static_cast<int>(i)) == 0) continue;
      places[i] = static_cast<int>(kept.size());
      kept.push_back(node->over[i]);
    }
    if (kept.empty()) {  // the rows pass as they are
      node = node->inputs[0];
      Mapping mapping = Prune(node, below);
      mapping.resize(static_cast<size_t>(width) + places.size(), -1);
      return mapping;
    }
    for (const OverCall& call : kept) {
      for (const int column : {call.argument, call.filter, call.default_value}) {
        if (column >= 0) below.insert(column);
      }
    }
    if (below.empty() && node->partition.empty() && node->sort.empty()) below.insert(0);
    Mapping mapping = PruneOrdered(*node, below);
    for (OverCall& call : kept) {
      for (int* column : {&call.argument, &call.filter, &call.default_value}) {
        if (*column >= 0) *column = mapping[static_cast<size_t>(*column)];
      }
    }
    const auto new_width = static_cast<int>(node->inputs[0]->schema->size());
    for (const int place : places) mapping.push_back(place < 0 ? -1 : new_width + place);
    node->over = std::move(kept);
    RefreshSchema(*node);
    return mapping;
  }

  Mapping PruneUnion(PlanNode& node, const ColumnSet& needed) {
    ColumnSet columns = needed;
    if (columns.empty()) columns.insert(0);
    const std::vector<int> kept(columns.begin(), columns.end());
    Mapping mapping(node.schema->size(), -1);
    for (size_t i = 0; i < kept.size(); ++i) mapping[static_cast<size_t>(kept[i])] = static_cast<int>(i);
    for (PlanPtr& input : node.inputs) {
      const Mapping arm = Prune(input, columns);
      input = SelectColumns(input, Mapped(kept, arm));
    }
    RefreshSchema(node);
    return mapping;
  }

  Mapping PruneWindow(PlanNode& node, const ColumnSet& needed) {
    const int width = static_cast<int>(node.inputs[0]->schema->size());
    ColumnSet below{node.time_column};
    for (const int column : needed) {
      if (column < width) below.insert(column);
    }
    Mapping mapping = Prune(node.inputs[0], below);
    node.time_column = mapping[static_cast<size_t>(node.time_column)];
    const std::vector<int> added = Iota(kWindowColumns, static_cast<int>(node.inputs[0]->schema->size()));
    mapping.insert(mapping.end(), added.begin(), added.end());
    RefreshSchema(node);
    return mapping;
  }

  // The added columns stay: they are what the node makes.
  Mapping PruneUnnest(PlanNode& node, const ColumnSet& needed) {
    const int width = static_cast<int>(node.inputs[0]->schema->size());
    ColumnSet below;
    for (const int column : needed) {
      if (column < width) below.insert(column);
    }
    for (const ExpressionPtr& expression : node.expressions) AddAll(ColumnsOf(expression), below);
    Mapping mapping = Prune(node.inputs[0], below);
    for (ExpressionPtr& expression : node.expressions) expression = expression->Remap(mapping);
    const Mapping added = Iota(node.unnest_fields.size(), static_cast<int>(node.inputs[0]->schema->size()));
    mapping.insert(mapping.end(), added.begin(), added.end());
    RefreshSchema(node);
    return mapping;
  }

  Mapping PruneNormalise(PlanNode& node, const ColumnSet& needed) {
    ColumnSet below = needed;
    AddAll(node.key, below);
    const Mapping mapping = Prune(node.inputs[0], below);
    node.key = Mapped(node.key, mapping);
    if (node.kind == NodeKind::kTable) node.table.bucket_columns = Mapped(node.table.bucket_columns, mapping);
    RefreshSchema(node);
    return mapping;
  }

  const Catalog& catalog_;
};

}  // namespace

void PruneColumns(PlanPtr& sink, const Catalog& catalog) {
  const std::vector<int> all = Iota(sink->schema->size());
  Pruner pruner(catalog);
  const Mapping mapping = pruner.Prune(sink->inputs[0], {all.begin(), all.end()});
  const std::vector<std::string> names = ColumnNames(*sink->schema);
  PlanPtr exact = SelectColumns(sink->inputs[0], mapping);
  if (ColumnNames(*exact->schema) != names) {
    std::vector<ExpressionPtr> columns = ColumnExpressions(*exact->schema);
    exact = NewProject(std::move(exact), std::move(columns), names);
  }
  sink->inputs[0] = std::move(exact);
  RefreshSchema(*sink);
}

}  // namespace weir
