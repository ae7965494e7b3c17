// The declared indexes of tables: their rows once more, by other columns.
//
//  1. A delta join finds a table's rows in an index of its own (physical_delta.cc).  When its columns are those of a
//     declared index, that index it is: under the same name, with what the join reads of the table.  A second join with
//     the same columns keeps another one, since rows are looked up where the join's other rows are.
//  2. An index that no join keeps is a table of its own behind the declared one: fed by its changelog, spread by the
//     index's columns, keyed by them and the primary key, with all columns.
//
// A declaration gives no other name to what a join keeps, so that an index can be added to a job that has state.

#include <algorithm>

#include "sql/plan/node_text.h"
#include "sql/plan/nodes.h"
#include "sql/plan/physical_planner.h"

namespace weir {
namespace {

// The table whose rows reach the node through filters and projections, and the table's columns behind those of the node
// (-1: computed); null when it is anything else.
const PlanNode* TableBehind(const PlanNode& node, std::vector<int>& columns) {
  if (node.kind == NodeKind::kFilter) return TableBehind(*node.inputs[0], columns);
  if (node.kind == NodeKind::kTable) {
    columns = Iota(node.schema->size());
    return node.table.kind == TableKind::kDeclared ? &node : nullptr;
  }
  if (node.kind != NodeKind::kProject) return nullptr;
  std::vector<int> below;
  const PlanNode* table = TableBehind(*node.inputs[0], below);
  columns.clear();
  for (const ExpressionPtr& expression : node.expressions) {
    const int column = expression->ColumnIndex();
    columns.push_back(column < 0 || table == nullptr ? -1 : below[static_cast<size_t>(column)]);
  }
  return table;
}

}  // namespace

void PhysicalPlanner::TakeDeclaredIndex(const PlanNode& input, const std::vector<int>& keys, TableRef& table) {
  std::vector<int> columns;
  const PlanNode* behind = TableBehind(input, columns);
  if (behind == nullptr || table.kind != TableKind::kIndex) return;
  const CatalogRelation& relation = *catalog_.Find(behind->table.name);
  std::vector<int> wanted;
  for (const int key : keys) wanted.push_back(columns[static_cast<size_t>(key)]);
  std::vector<bool>& indexed = tables_[relation.name].indexed;
  indexed.resize(relation.indexes.size());
  for (size_t i = 0; i < relation.indexes.size(); ++i) {
    if (!SameSet(relation.indexes[i], wanted)) continue;
    indexed[i] = true;
    table.declared_index = true;
  }
}

PlanPtr PhysicalPlanner::IndexNode(const CatalogRelation& relation, const std::vector<int>& index) {
  PlanPtr input = TableNode(relation);
  Placement placement = TablePlacement(relation);
  Exchange(input, placement, index, relation.buckets);
  PlanPtr node = NewKeyed(NodeKind::kTable, input, index);
  for (const int column : relation.primary_key) {
    if (!Contains(node->key, column)) node->key.push_back(column);
  }
  node->table.name = relation.name + "[" + NamesOf(index, relation.schema) + "]";
  node->table.bucket_columns = index;
  node->table.buckets = relation.buckets;
  node->table.kind = TableKind::kIndex;
  node->table.declared_index = true;
  node->changelog = ChangelogMode::kFull;
  RefreshSchema(*node);
  Placement output;
  output.bucketed.push_back({index, relation.buckets});
  output.keys.push_back({node->key, true});
  Record(*node, output);
  return node;
}

void PhysicalPlanner::PlanIndexes(const CatalogRelation& relation, std::vector<PlanPtr>& unread) {
  const std::vector<bool>& indexed = tables_[relation.name].indexed;
  for (size_t i = 0; i < relation.indexes.size(); ++i) {
    if (i < indexed.size() && indexed[i]) continue;
    unread.push_back(IndexNode(relation, relation.indexes[i]));
  }
}

}  // namespace weir
