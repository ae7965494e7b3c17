// Ids of nodes and names of tables, which name state in checkpoints and folders on disk: the same job text gives the
// same ones.

#include <map>
#include <set>

#include "sql/plan/node_text.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

// The relation that a normalise completes.
std::string RelationBelow(const PlanNode& node) {
  const PlanNode* below = &node;
  while (below->kind != NodeKind::kScan && !below->inputs.empty()) below = below->inputs[0].get();
  return below->relation;
}

class NameGiver {
 public:
  explicit NameGiver(const Catalog& catalog) {
    for (const CatalogRelation& relation : catalog.relations) {
      if (relation.kind == CatalogRelation::Kind::kTable) tables_.insert(relation.name);
    }
  }

  void Visit(const PlanPtr& node) {
    if (!visited_.insert(node.get()).second) return;
    for (const PlanPtr& input : node->inputs) Visit(input);
    if (node->kind == NodeKind::kTable) NameTable(node->table);
    node->id = IdOf(*node);
    if (node->kind == NodeKind::kJoin && node->strategy == JoinStrategy::kDelta) {
      NameSide(node->left_table, *node, ".left");
      NameSide(node->right_table, *node, ".right");
    }
  }

 private:
  std::string IdOf(const PlanNode& node) {
    const std::string word = KindName(node.kind);
    std::string name;
    if (node.kind == NodeKind::kScan || node.kind == NodeKind::kSink) name = node.relation;
    if (node.kind == NodeKind::kNormalise) name = RelationBelow(node);
    if (node.kind == NodeKind::kTable) name = node.table.name;
    if (name.empty()) return word + "-" + std::to_string(++numbered_[word]);
    const std::string id = word + "-" + name;
    const int number = ++named_[id];
    return number == 1 ? id : id + "-" + std::to_string(number);
  }

  void NameSide(TableRef& table, const PlanNode& join, const char* side) {
    if (table.name.empty()) table.name = join.id + side;
    // An index is named after its table, which may have got a number.
    if (table.kind == TableKind::kIndex) {
      const PlanNode* below = join.inputs[side[1] == 'l' ? 0 : 1].get();
      while (below->kind != NodeKind::kTable) below = below->inputs[0].get();
      table.name = below->table.name + table.name.substr(table.name.rfind('['));
    }
    NameTable(table);
  }

  void NameTable(TableRef& table) {
    if (table.declared || tables_.insert(table.name).second) return;
    int number = 2;
    while (!tables_.insert(table.name + "." + std::to_string(number)).second) ++number;
    table.name += "." + std::to_string(number);
  }

  std::set<const PlanNode*> visited_;
  std::set<std::string> tables_;
  std::map<std::string, int> named_;
  std::map<std::string, int> numbered_;
};

}  // namespace

void AssignIds(const std::vector<PlanPtr>& roots, const Catalog& catalog) {
  NameGiver giver(catalog);
  for (const PlanPtr& root : roots) giver.Visit(root);
}

}  // namespace weir
