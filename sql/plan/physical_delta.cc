// Joins whose rows are in tables.
//
//  1. A declared table that only this join reads, directly, becomes one with the join's input: the INSERTs go to the
//     join, the table keeps its own columns, and rows replace each other by its primary key.  Its bucket key must be
//     among the join's columns; equalities outside its primary key become part of the join's condition, so that all
//     rows of one primary key are in one group.
//  2. Any other input gets a table of its own: of the source that it is (automatic), of another table's rows by the
//     join's columns (index), or of another operator's result (internal).
//  3. Both tables are spread by the same pairs of columns into the same number of buckets, which is where a change meets
//     the rows it joins.

#include <algorithm>

#include "sql/plan/nodes.h"
#include "sql/plan/physical_planner.h"

namespace weir {
namespace {

const PlanNode& BelowFilters(const PlanNode& node) {
  const PlanNode* below = &node;
  while (below->kind == NodeKind::kFilter || below->kind == NodeKind::kProject) below = below->inputs[0].get();
  return *below;
}

// The table's column behind each column of projections that only choose columns; null when the node is anything else.
const PlanNode* ScanOfColumns(const PlanNode& node, std::vector<int>& columns) {
  if (node.kind == NodeKind::kScan) {
    columns = node.scan_columns;
    return &node;
  }
  if (node.kind != NodeKind::kProject) return nullptr;
  std::vector<int> below;
  const PlanNode* scan = ScanOfColumns(*node.inputs[0], below);
  if (scan == nullptr) return nullptr;
  columns.clear();
  for (const ExpressionPtr& expression : node.expressions) {
    if (expression->ColumnIndex() < 0) return nullptr;
    columns.push_back(below[static_cast<size_t>(expression->ColumnIndex())]);
  }
  return scan;
}

const std::vector<int>& KeysOf(const PlanNode& join, size_t side) {
  return side == 0 ? join.left_keys : join.right_keys;
}

std::vector<int> Mapped(const std::vector<int>& columns, const std::vector<int>& mapping) {
  std::vector<int> mapped;
  for (const int column : columns) mapped.push_back(mapping[static_cast<size_t>(column)]);
  return mapped;
}

std::vector<int> AtPairs(const std::vector<int>& keys, const std::vector<size_t>& pairs) {
  std::vector<int> columns;
  for (const size_t pair : pairs) columns.push_back(keys[pair]);
  return columns;
}

}  // namespace

PhysicalPlanner::Fusion PhysicalPlanner::FindFusion(const PlanNode& join, size_t side) const {
  std::vector<int> columns;
  const PlanNode* scan = ScanOfColumns(*join.inputs[side], columns);
  if (scan == nullptr) return {};
  const CatalogRelation& relation = *catalog_.Find(scan->relation);
  if (relation.kind != CatalogRelation::Kind::kTable || relation.IsLogTable()) return {};
  // Indexes are fed by the table's changelog, which a join that is one with it does not give.
  if (tables_.at(relation.name).reads != 1 || !relation.indexes.empty()) return {};
  const std::vector<int>& keys = KeysOf(join, side);
  Fusion fusion;
  for (const int column : relation.bucket_key) {
    size_t pair = 0;
    while (pair < keys.size() && columns[static_cast<size_t>(keys[pair])] != column) ++pair;
    if (pair == keys.size()) return {};
    fusion.pairs.push_back(pair);
  }
  fusion.table = &relation;
  fusion.columns = std::move(columns);
  return fusion;
}

void PhysicalPlanner::ChooseFusions(const PlanNode& join, Fusion& left, Fusion& right) const {
  left = FindFusion(join, 0);
  right = FindFusion(join, 1);
  if (left.table == nullptr || right.table == nullptr) return;
  const bool alike = left.pairs == right.pairs && left.table->buckets == right.table->buckets;
  if (!alike) right = {};
}

std::vector<int> PhysicalPlanner::Fuse(PlanNode& join, const Fusion& left, const Fusion& right) {
  const size_t left_width = join.inputs[0]->schema->size();
  const size_t right_width = join.inputs[1]->schema->size();
  const std::vector<int> left_columns = left.table == nullptr ? Iota(left_width) : left.columns;
  const std::vector<int> right_columns = right.table == nullptr ? Iota(right_width) : right.columns;
  if (left.table != nullptr) join.inputs[0] = WritesAsOne(*left.table);
  if (right.table != nullptr) join.inputs[1] = WritesAsOne(*right.table);
  join.left_keys = Mapped(join.left_keys, left_columns);
  join.right_keys = Mapped(join.right_keys, right_columns);
  std::vector<int> mapping = left_columns;
  const int new_width = static_cast<int>(join.inputs[0]->schema->size());
  for (const int column : right_columns) mapping.push_back(column + new_width);
  if (join.condition != nullptr) join.condition = join.condition->Remap(mapping);
  return mapping;
}

// Equalities on columns that a table's rows may change under one primary key.
void PhysicalPlanner::MoveKeysToCondition(PlanNode& join, const Fusion& left, const Fusion& right) {
  if (left.table == nullptr && right.table == nullptr) return;
  std::vector<ExpressionPtr> conjuncts;
  if (join.condition != nullptr) conjuncts = SplitAnd(join.condition);
  const Schema& left_schema = *join.inputs[0]->schema;
  const int left_width = static_cast<int>(left_schema.size());
  const PlanNode before = join;
  join.left_keys.clear();
  join.right_keys.clear();
  join.null_safe.clear();
  for (size_t i = 0; i < before.left_keys.size(); ++i) {
    const int l = before.left_keys[i];
    const int r = before.right_keys[i];
    const bool outside = (left.table != nullptr && !Contains(left.table->primary_key, l)) ||
                         (right.table != nullptr && !Contains(right.table->primary_key, r));
    if (!outside) {
      join.left_keys.push_back(l);
      join.right_keys.push_back(r);
      join.null_safe.push_back(before.null_safe[i]);
      continue;
    }
    const DataType type = left_schema[static_cast<size_t>(l)].type;
    const Result<ExpressionPtr> equal = MakeCall(before.null_safe[i] ? "IS NOT DISTINCT FROM" : "=",
                                                 {MakeColumn(l, type), MakeColumn(left_width + r, type)});
    WEIR_CHECK(equal.has_value());  // it was one before
    conjuncts.push_back(*equal);
  }
  join.condition = conjuncts.empty() ? nullptr : JoinAnd(conjuncts);
}

// The primary key of the source that filters and projections read, in columns of their output; empty for anything else.
std::vector<int> PhysicalPlanner::SourceKey(const PlanNode& input) const {
  const PlanNode& below = BelowFilters(input);
  if (below.kind != NodeKind::kScan) return {};
  if (catalog_.Find(below.relation)->kind != CatalogRelation::Kind::kSource) return {};
  const std::vector<UniqueKey> keys = LogicalKeys(input, catalog_);
  return keys.empty() ? std::vector<int>{} : keys.front().columns;
}

std::vector<size_t> PhysicalPlanner::BucketPairs(const PlanNode& join, const Fusion& left, const Fusion& right) const {
  std::vector<size_t> pairs;
  const std::vector<int> left_key = SourceKey(*join.inputs[0]);
  const std::vector<int> right_key = SourceKey(*join.inputs[1]);
  // Tables of two sources are spread by what both have in their primary keys.
  for (size_t i = 0; i < join.left_keys.size(); ++i) {
    if (Contains(left_key, join.left_keys[i]) && Contains(right_key, join.right_keys[i])) pairs.push_back(i);
  }
  if (!pairs.empty() && left.table == nullptr && right.table == nullptr) return pairs;
  pairs.clear();
  for (size_t i = 0; i < join.left_keys.size(); ++i) pairs.push_back(i);
  return pairs;
}

TableRef PhysicalPlanner::SideTable(const PlanNode& input, const std::vector<int>& bucket_columns) const {
  TableRef table;
  table.bucket_columns = bucket_columns;
  const PlanNode& below = BelowFilters(input);
  if (below.kind == NodeKind::kScan) {
    table.name = below.relation;
    table.kind = TableKind::kAutomatic;
  } else if (below.kind == NodeKind::kTable) {
    std::string columns;
    for (const int column : bucket_columns) {
      columns += (columns.empty() ? "" : ", ") + (*input.schema)[static_cast<size_t>(column)].name;
    }
    table.name = below.table.name + "[" + columns + "]";
    table.kind = TableKind::kIndex;
  } else {
    table.kind = TableKind::kInternal;  // named after the join, which has no id yet
  }
  return table;
}

void PhysicalPlanner::SkipColumnChoice(PlanNode& project) const {
  const PlanPtr below = project.inputs[0];
  if (below->kind != NodeKind::kProject || below->inputs[0]->kind != NodeKind::kJoin) return;
  if (below->inputs[0]->strategy != JoinStrategy::kDelta) return;
  std::vector<int> mapping;
  for (const ExpressionPtr& expression : below->expressions) {
    if (expression->ColumnIndex() < 0) return;
    mapping.push_back(expression->ColumnIndex());
  }
  for (ExpressionPtr& expression : project.expressions) expression = expression->Remap(mapping);
  project.inputs[0] = below->inputs[0];
}

Placement PhysicalPlanner::PlanDeltaJoin(PlanPtr& node) {
  PlanNode& join = *node;
  Fusion fusions[2];
  ChooseFusions(join, fusions[0], fusions[1]);
  const bool fused = fusions[0].table != nullptr || fusions[1].table != nullptr;
  const Schema before = *join.schema;
  std::vector<int> output = Fuse(join, fusions[0], fusions[1]);
  if (LeftColumnsOnly(join.join_type)) output.resize(before.size());
  std::vector<size_t> pairs = fusions[0].table != nullptr ? fusions[0].pairs : fusions[1].pairs;
  if (!fused) pairs = BucketPairs(join, fusions[0], fusions[1]);
  const std::vector<int> buckets_by[2] = {AtPairs(join.left_keys, pairs), AtPairs(join.right_keys, pairs)};
  MoveKeysToCondition(join, fusions[0], fusions[1]);

  Placement placements[2];
  TableRef tables[2];
  std::vector<int> unique[2];
  int buckets = 0;
  for (size_t side = 0; side < 2; ++side) {
    PlanPtr& input = join.inputs[side];
    if (const CatalogRelation* table = fusions[side].table) {
      placements[side] = TablePlacement(*table);
      tables[side].name = table->name;
      tables[side].declared = true;
      tables[side].kind = TableKind::kDeclared;
      tables[side].bucket_columns = buckets_by[side];
      unique[side] = table->primary_key;
      buckets = table->buckets;
      continue;
    }
    placements[side] = Plan(input);
    tables[side] = SideTable(*input, buckets_by[side]);
    TakeDeclaredIndex(*input, KeysOf(join, side), tables[side]);
    unique[side] = UniqueFor(*input, placements[side]);
    const PlanNode& below = BelowFilters(*input);
    if (below.kind == NodeKind::kTable && !fused) buckets = std::max(buckets, below.table.buckets);
  }
  if (buckets == 0) buckets = kDefaultBuckets;
  for (size_t side = 0; side < 2; ++side) {
    tables[side].buckets = buckets;
    if (fusions[side].table == nullptr) Exchange(join.inputs[side], placements[side], buckets_by[side], buckets);
  }
  join.left_table = std::move(tables[0]);
  join.right_table = std::move(tables[1]);
  join.left_unique = std::move(unique[0]);
  join.right_unique = std::move(unique[1]);
  join.left_mode = fusions[0].table != nullptr ? ChangelogMode::kUpsert : join.inputs[0]->changelog;
  join.right_mode = fusions[1].table != nullptr ? ChangelogMode::kUpsert : join.inputs[1]->changelog;
  join.changelog = ChangelogMode::kFull;
  RefreshSchema(join);
  const Placement placement = JoinPlacement(join, placements[0], placements[1]);
  Record(join, placement);
  if (!fused) return placement;
  // The tables kept their own columns: those that the query wants are chosen above.
  std::vector<ExpressionPtr> expressions;
  for (const int column : output) expressions.push_back(MakeColumn(column, (*join.schema)[static_cast<size_t>(column)].type));
  if (output == Iota(join.schema->size()) && ColumnNames(*join.schema) == ColumnNames(before)) return placement;
  node = NewProject(node, std::move(expressions), ColumnNames(before));
  node->changelog = ChangelogMode::kFull;
  return placement.Project(node->expressions);
}

}  // namespace weir
