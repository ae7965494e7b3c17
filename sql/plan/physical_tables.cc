// What is written into tables, and the nodes that keep them.

#include <algorithm>

#include "sql/plan/nodes.h"
#include "sql/plan/physical_planner.h"

namespace weir {
namespace {

bool IsKeylessSource(const PlanNode& node, const Catalog& catalog) {
  const PlanNode* below = &node;
  while (below->kind == NodeKind::kFilter || below->kind == NodeKind::kProject) below = below->inputs[0].get();
  return below->kind == NodeKind::kScan && catalog.Find(below->relation)->primary_key.empty();
}

}  // namespace

void PhysicalPlanner::CountReads(const PlanNode& node) {
  if (node.kind == NodeKind::kScan && catalog_.Find(node.relation)->kind == CatalogRelation::Kind::kTable) {
    ++tables_[node.relation].reads;
  }
  for (const PlanPtr& input : node.inputs) CountReads(*input);
}

void PhysicalPlanner::PlanWrites(const CatalogRelation& relation) {
  if (std::exchange(tables_[relation.name].written, true)) return;
  // A table is planned in the middle of a sink that reads it: the errors of its INSERTs are theirs.
  const std::string outer = std::exchange(error_, {});
  for (PlanPtr& sink : sinks_) {
    if (sink->relation != relation.name) continue;
    error_.clear();
    if (relation.IsLogTable()) {
      PlanAppend(sink, relation);
    } else {
      PlanWrite(sink, relation);
    }
    if (!error_.empty()) errors_.push_back({sink, error_});
  }
  error_ = outer;
}

void PhysicalPlanner::PlanWrite(PlanPtr& sink, const CatalogRelation& relation) {
  PlanPtr input = sink->inputs[0];
  Placement placement = Plan(input);
  const std::vector<int>& key = relation.primary_key;
  const bool ordered = placement.OrderedBy(key);
  const bool unique = std::any_of(placement.keys.begin(), placement.keys.end(), [&](const UniqueKey& held) {
    return held.strict && placement.OrderedBy(held.columns) && IsSubset(held.columns, key);
  });
  // Rows that are only added replace one another in the order in which they arrive, and so do the changes of a source
  // that declares no key: there is nothing to put in order.  A delete of such a source is a delete, whoever wrote the row.
  const bool as_they_come = input->changelog == ChangelogMode::kAppend || IsKeylessSource(*input, catalog_);
  Exchange(input, placement, relation.bucket_key, relation.buckets);
  if (!as_they_come && !(ordered && unique)) OrderKeys(input, placement, key);
  tables_[relation.name].inputs.push_back(std::move(input));
}

Placement PhysicalPlanner::TablePlacement(const CatalogRelation& relation) const {
  Placement placement;
  if (!relation.bucket_key.empty()) placement.bucketed.push_back({relation.bucket_key, relation.buckets});
  if (!relation.IsLogTable()) placement.keys.push_back({relation.primary_key, true});
  placement.TidyKeys();
  return placement;
}

PlanPtr PhysicalPlanner::TableNode(const CatalogRelation& relation) {
  PlanWrites(relation);
  Table& table = tables_[relation.name];
  if (table.node != nullptr) return table.node;
  table.node = std::make_shared<PlanNode>();
  PlanNode& node = *table.node;
  node.kind = NodeKind::kTable;
  node.schema = std::make_shared<Schema>(relation.schema);
  node.inputs = table.inputs;
  node.relation = relation.name;
  node.key = relation.primary_key;
  node.table.name = relation.name;
  node.table.bucket_columns = relation.bucket_key;
  node.table.buckets = relation.buckets;
  node.table.declared = true;
  node.table.kind = relation.IsLogTable() ? TableKind::kLog : TableKind::kDeclared;
  node.changelog = relation.changelog;
  Record(node, TablePlacement(relation));
  return table.node;
}

PlanPtr PhysicalPlanner::WritesAsOne(const CatalogRelation& relation) {
  PlanWrites(relation);
  std::vector<PlanPtr>& inputs = tables_[relation.name].inputs;
  if (inputs.size() == 1) return inputs.front();
  PlanPtr all = NewUnion(inputs);
  all->changelog = ChangelogMode::kUpsert;
  Record(*all, TablePlacement(relation));
  return all;
}

Placement PhysicalPlanner::PlanSourceTable(PlanNode& node) {
  Placement input = Plan(node.inputs[0]);
  Exchange(node.inputs[0], input, node.table.bucket_columns, node.table.buckets);
  node.changelog = ChangelogMode::kFull;
  Placement output;
  output.bucketed.push_back({node.table.bucket_columns, node.table.buckets});
  output.keys = {{node.key, true}};
  return output;
}

}  // namespace weir
