// What is written into log tables: rows that are only added.

#include "sql/plan/nodes.h"
#include "sql/plan/physical_planner.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

std::string WhatChanges(const PlanNode& node, const Catalog& catalog) {
  switch (node.kind) {
    case NodeKind::kScan: {
      const std::string source = "source " + QuotedIfNeeded(node.relation);
      const bool upserts = catalog.Find(node.relation)->changelog == ChangelogMode::kUpsert;
      return source + (upserts ? " replaces rows by its primary_key; changelog: append says that it does not"
                               : " sends updates and deletes");
    }
    case NodeKind::kTable:
      return "table " + QuotedIfNeeded(node.table.name) + " replaces rows by its primary_key";
    case NodeKind::kAggregate:
      return node.calls.empty() ? "the result of its DISTINCT is kept as a table that changes"
                                : "the result of a group changes with each of its rows";
    case NodeKind::kJoin:
      return node.strategy == JoinStrategy::kDelta ? "the result of a delta join changes with its tables"
                                                   : "a row of an outer, semi or anti join goes when its match comes or goes";
    default:
      return "its rows change";
  }
}

// The lowest operator whose result is not append only though its inputs are.
std::string WhyNotAppend(const PlanNode& node, const Catalog& catalog) {
  for (const PlanPtr& input : node.inputs) {
    if (input->changelog != ChangelogMode::kAppend) return WhyNotAppend(*input, catalog);
  }
  return WhatChanges(node, catalog);
}

}  // namespace

void PhysicalPlanner::PlanAppend(PlanPtr& sink, const CatalogRelation& relation) {
  PlanPtr input = sink->inputs[0];
  Placement placement = Plan(input);
  if (input->changelog != ChangelogMode::kAppend && error_.empty()) {
    error_ = "table " + QuotedIfNeeded(relation.name) +
             " has no primary_key, so that rows can only be added to it, and this query also changes rows (" +
             WhyNotAppend(*input, catalog_) + "); give the table a primary_key, or write into a sink";
    return;
  }
  // Rows without bucket columns stay in the task that has them: any bucket of that task takes them.
  if (!relation.bucket_key.empty()) Exchange(input, placement, relation.bucket_key, relation.buckets);
  tables_[relation.name].inputs.push_back(std::move(input));
}

}  // namespace weir
