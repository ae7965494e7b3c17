// Which tables the INSERTs read and write.

#include <algorithm>
#include <map>
#include <set>

#include "sql/plan/rules.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

using Tables = std::map<std::string, const PlanNode*>;  // with a node that reads it

void CollectReads(const PlanNode& node, const Catalog& catalog, Tables& reads) {
  if (node.kind == NodeKind::kScan && catalog.Find(node.relation)->kind == CatalogRelation::Kind::kTable) {
    reads.emplace(node.relation, &node);
  }
  for (const PlanPtr& input : node.inputs) CollectReads(*input, catalog, reads);
}

// Tables that the writes of `from` depend on, directly or through others.
std::set<std::string> Reachable(const std::string& from, const std::map<std::string, std::set<std::string>>& reads) {
  std::set<std::string> reached;
  std::vector<std::string> open{from};
  while (!open.empty()) {
    const auto next = reads.find(open.back());
    open.pop_back();
    if (next == reads.end()) continue;
    for (const std::string& table : next->second) {
      if (reached.insert(table).second) open.push_back(table);
    }
  }
  return reached;
}

}  // namespace

void CheckTables(const std::vector<PlanPtr>& sinks, const Catalog& catalog, std::vector<QueryError>& errors) {
  std::map<std::string, std::set<std::string>> reads;  // written table -> tables read for it
  Tables read_at;
  for (const PlanPtr& sink : sinks) {
    Tables read;
    CollectReads(*sink, catalog, read);
    read_at.insert(read.begin(), read.end());
    if (catalog.Find(sink->relation)->kind != CatalogRelation::Kind::kTable) continue;
    for (const auto& [table, scan] : read) reads[sink->relation].insert(table);
  }
  for (const auto& [table, scan] : read_at) {
    const bool written = std::any_of(sinks.begin(), sinks.end(),
                                     [&, name = table](const PlanPtr& sink) { return sink->relation == name; });
    if (written) continue;
    errors.push_back({scan->query, scan->line, scan->column,
                      "table " + QuotedIfNeeded(table) + " is read, and nothing writes it; add an INSERT INTO " +
                          QuotedIfNeeded(table)});
  }
  for (const PlanPtr& sink : sinks) {
    if (reads.count(sink->relation) == 0) continue;
    const std::set<std::string> reached = Reachable(sink->relation, reads);
    if (reached.count(sink->relation) == 0) continue;
    std::vector<std::string> cycle;
    for (const std::string& table : reached) {
      if (Reachable(table, reads).count(sink->relation) > 0) cycle.push_back(QuotedIfNeeded(table));
    }
    errors.push_back({sink->query, sink->line, sink->column,
                      cycle.size() == 1 ? "table " + cycle[0] + " is written from itself; INSERTs may not form a cycle"
                                        : "tables " + ListOf(cycle) +
                                              " are written from one another; INSERTs may not form a cycle"});
  }
}

}  // namespace weir
