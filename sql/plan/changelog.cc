#include <algorithm>

#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

std::optional<std::vector<int>> ScanKey(const PlanNode& scan, const CatalogRelation& relation) {
  if (relation.primary_key.empty()) return std::nullopt;
  std::vector<int> key;
  for (const int column : relation.primary_key) {
    const auto found = std::find(scan.scan_columns.begin(), scan.scan_columns.end(), column);
    if (found == scan.scan_columns.end()) return std::nullopt;
    key.push_back(static_cast<int>(found - scan.scan_columns.begin()));
  }
  return key;
}

// The table of the whole source before a delta join: it plays the part of the normalise.
PlanPtr NewSourceTable(PlanPtr scan, const std::vector<int>& key) {
  TableRef table;
  table.name = scan->relation;
  table.bucket_columns = key;
  table.buckets = kDefaultBuckets;
  PlanPtr node = NewKeyed(NodeKind::kTable, std::move(scan), key);
  node->table = std::move(table);
  return node;
}

// `accept`: the consumer can take rows that replace each other by key.  `delta`: it is a delta join.
void Choose(PlanPtr& node, const Catalog& catalog, bool accept, bool delta) {
  switch (node->kind) {
    case NodeKind::kScan: {
      const CatalogRelation& relation = *catalog.Find(node->relation);
      const std::optional<std::vector<int>> key = ScanKey(*node, relation);
      const bool replaces = relation.changelog == ChangelogMode::kUpsert && !accept;
      const bool completes = relation.changelog == ChangelogMode::kFull && relation.deletes_key_only;
      if (!key || !(replaces || completes)) return;
      node = delta ? NewSourceTable(node, *key) : NewKeyed(NodeKind::kNormalise, node, *key);
      return;
    }
    case NodeKind::kFilter:
    case NodeKind::kProject:
      Choose(node->inputs[0], catalog, accept && UpsertKey(*node, catalog).has_value(), delta);
      return;
    case NodeKind::kJoin:
      for (size_t side = 0; side < 2; ++side) {
        const std::vector<int>& keys = side == 0 ? node->left_keys : node->right_keys;
        const std::optional<std::vector<int>> key = UpsertKey(*node->inputs[side], catalog);
        Choose(node->inputs[side], catalog, key && !keys.empty() && IsSubset(keys, *key),
               node->strategy == JoinStrategy::kDelta);
      }
      return;
    default:
      for (PlanPtr& input : node->inputs) Choose(input, catalog, false, false);
      return;
  }
}

}  // namespace

std::optional<std::vector<int>> UpsertKey(const PlanNode& node, const Catalog& catalog) {
  switch (node.kind) {
    case NodeKind::kScan: {
      const CatalogRelation& relation = *catalog.Find(node.relation);
      return relation.changelog == ChangelogMode::kUpsert ? ScanKey(node, relation) : std::nullopt;
    }
    case NodeKind::kFilter: {
      // A condition on other columns can drop the new row of a key and leave the old one standing.
      std::optional<std::vector<int>> key = UpsertKey(*node.inputs[0], catalog);
      const bool by_key = key && node.condition->deterministic() && IsSubset(ColumnsOf(node.condition), *key);
      return by_key ? key : std::nullopt;
    }
    case NodeKind::kProject: {
      const std::optional<std::vector<int>> key = UpsertKey(*node.inputs[0], catalog);
      if (!key) return std::nullopt;
      std::vector<int> mapped;
      for (const int column : *key) {
        const auto found = std::find_if(node.expressions.begin(), node.expressions.end(),
                                        [&](const ExpressionPtr& e) { return e->ForwardedColumn() == column; });
        if (found == node.expressions.end()) return std::nullopt;
        mapped.push_back(static_cast<int>(found - node.expressions.begin()));
      }
      return mapped;
    }
    default:
      return std::nullopt;
  }
}

void InsertNormalise(PlanPtr& sink, const Catalog& catalog) {
  const CatalogRelation& relation = *catalog.Find(sink->relation);
  const std::optional<std::vector<int>> key = UpsertKey(*sink->inputs[0], catalog);
  bool accept = relation.upsert_sink && key.has_value();
  if (relation.kind == CatalogRelation::Kind::kTable) accept = key && SameSet(relation.primary_key, *key);
  if (accept && !relation.sink_key.empty()) {
    std::vector<int> wanted;
    for (const std::string& name : relation.sink_key) {
      const std::optional<size_t> column = sink->schema->Find(name);
      wanted.push_back(column ? static_cast<int>(*column) : -1);
    }
    accept = SameSet(wanted, *key);
  }
  Choose(sink->inputs[0], catalog, accept, false);
}

}  // namespace weir
