// What is read of a relation, once for all who read it.

#include <algorithm>
#include <map>
#include <set>

#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

struct Readers {
  std::vector<PlanPtr*> scans;
  std::vector<PlanPtr*> tables;  // kTable nodes directly above a scan
};

void Collect(PlanPtr& node, std::map<std::string, Readers>& readers) {
  if (node->kind == NodeKind::kScan) {
    readers[node->relation].scans.push_back(&node);
  } else if (node->kind == NodeKind::kTable) {
    readers[node->inputs[0]->relation].tables.push_back(&node);
  } else {
    for (PlanPtr& input : node->inputs) Collect(input, readers);
  }
}

std::vector<int> Places(const std::vector<int>& columns, const std::vector<int>& among) {
  std::vector<int> places;
  for (const int column : columns) {
    places.push_back(static_cast<int>(std::find(among.begin(), among.end(), column) - among.begin()));
  }
  return places;
}

std::vector<int> UnionOf(const std::vector<const PlanNode*>& scans) {
  std::set<int> columns;
  for (const PlanNode* scan : scans) columns.insert(scan->scan_columns.begin(), scan->scan_columns.end());
  return {columns.begin(), columns.end()};
}

// One table of the source for all delta joins that need one, with the columns that any of them reads.
void ReplaceTable(PlanPtr& place, const CatalogRelation& relation, const std::vector<int>& scanned,
                  const std::vector<int>& kept) {
  const PlanNode old = *place;
  const std::vector<int>& columns = old.inputs[0]->scan_columns;
  const auto moved = [&](const std::vector<int>& key) {
    std::vector<int> in_relation;
    for (const int column : key) in_relation.push_back(columns[static_cast<size_t>(column)]);
    return Places(in_relation, kept);
  };
  PlanPtr rows = SelectColumns(NewScan(relation, scanned), Places(kept, scanned));
  PlanPtr table = NewKeyed(NodeKind::kTable, std::move(rows), moved(old.key));
  table->table = old.table;
  table->table.bucket_columns = moved(old.table.bucket_columns);
  place = SelectColumns(std::move(table), Places(columns, kept));
}

}  // namespace

void UnifyScans(std::vector<PlanPtr>& sinks, const Catalog& catalog) {
  std::map<std::string, Readers> all;
  for (PlanPtr& sink : sinks) Collect(sink, all);
  for (auto& [name, readers] : all) {
    const CatalogRelation& relation = *catalog.Find(name);
    std::vector<const PlanNode*> of_tables;
    for (PlanPtr* table : readers.tables) of_tables.push_back((*table)->inputs[0].get());
    std::vector<const PlanNode*> scans = of_tables;
    for (PlanPtr* scan : readers.scans) scans.push_back(scan->get());
    const std::vector<int> kept = UnionOf(of_tables);
    // A table gives all its columns: it keeps them anyway.
    const bool declared = relation.kind == CatalogRelation::Kind::kTable;
    const std::vector<int> scanned = declared ? Iota(relation.schema.size()) : UnionOf(scans);
    for (PlanPtr* scan : readers.scans) {
      *scan = SelectColumns(NewScan(relation, scanned), Places((*scan)->scan_columns, scanned));
    }
    for (PlanPtr* table : readers.tables) ReplaceTable(*table, relation, scanned, kept);
  }
}

}  // namespace weir
