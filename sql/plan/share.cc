#include <map>
#include <set>

#include "sql/plan/node_text.h"
#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

void Append(const std::vector<int>& numbers, std::string& out) {
  out += "[";
  for (const int number : numbers) out += std::to_string(number) + ",";
  out += "]";
}

bool IsDeterministic(const PlanNode& node) {
  if (node.condition != nullptr && !node.condition->deterministic()) return false;
  for (const ExpressionPtr& expression : node.expressions) {
    if (!expression->deterministic()) return false;
  }
  return true;
}

// Equal texts mean equal operators over the same inputs.
std::string Fingerprint(const PlanNode& node) {
  std::string text = std::to_string(static_cast<int>(node.kind)) + "|" + node.relation + "|";
  for (const PlanPtr& input : node.inputs) text += std::to_string(reinterpret_cast<uintptr_t>(input.get())) + ",";
  Append(node.scan_columns, text);
  Append(node.key, text);
  Append(node.left_keys, text);
  Append(node.right_keys, text);
  Append(node.left_unique, text);
  Append(node.right_unique, text);
  Append(node.group_columns, text);
  for (const bool null_safe : node.null_safe) text += null_safe ? "n" : "e";
  text += "|" + std::to_string(static_cast<int>(node.join_type)) + "|";
  if (node.condition != nullptr) text += node.condition->Signature();
  for (const ExpressionPtr& expression : node.expressions) text += ";" + expression->Signature();
  for (const AggregateCall& call : node.calls) {
    text += "|" + std::to_string(static_cast<int>(call.function)) + (call.distinct ? "d" : "a") + call.type.ToString();
    Append({call.argument, call.filter}, text);
  }
  for (const Field& field : node.schema->fields()) text += "|" + std::to_string(field.name.size()) + ":" + field.name;
  return text;
}

PlanPtr Share(const PlanPtr& node, std::map<std::string, PlanPtr>& known) {
  for (PlanPtr& input : node->inputs) input = Share(input, known);
  if (node->kind == NodeKind::kSink || node->kind == NodeKind::kValues || !IsDeterministic(*node)) return node;
  return known.emplace(Fingerprint(*node), node).first->second;
}

// The relation that a normalise completes.
std::string RelationBelow(const PlanNode& node) {
  const PlanNode* below = &node;
  while (below->kind != NodeKind::kScan && !below->inputs.empty()) below = below->inputs[0].get();
  return below->relation;
}

class IdGiver {
 public:
  void Visit(const PlanPtr& node) {
    if (!visited_.insert(node.get()).second) return;
    for (const PlanPtr& input : node->inputs) Visit(input);
    const std::string word = KindName(node->kind);
    if (node->kind == NodeKind::kScan || node->kind == NodeKind::kSink || node->kind == NodeKind::kNormalise) {
      const std::string id = word + "-" + (node->kind == NodeKind::kNormalise ? RelationBelow(*node) : node->relation);
      const int number = ++named_[id];
      node->id = number == 1 ? id : id + "-" + std::to_string(number);
    } else {
      node->id = word + "-" + std::to_string(++numbered_[word]);
    }
  }

 private:
  std::set<const PlanNode*> visited_;
  std::map<std::string, int> named_;
  std::map<std::string, int> numbered_;
};

}  // namespace

void ShareEqualSubplans(std::vector<PlanPtr>& sinks) {
  std::map<std::string, PlanPtr> known;
  for (PlanPtr& sink : sinks) sink = Share(sink, known);
}

void AssignIds(const std::vector<PlanPtr>& sinks) {
  IdGiver giver;
  for (const PlanPtr& sink : sinks) giver.Visit(sink);
}

}  // namespace weir
