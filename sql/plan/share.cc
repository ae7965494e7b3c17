#include <map>

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

void Append(const TableRef& table, std::string& out) {
  out += std::to_string(table.name.size()) + ":" + table.name + (table.declared ? "d" : "i") +
         std::to_string(table.buckets);
  Append(table.bucket_columns, out);
}

void AppendOrder(const PlanNode& node, std::string& out) {
  Append(node.partition, out);
  for (const SortColumn& sort : node.sort) Append({sort.column, sort.descending ? 1 : 0, sort.nulls_first ? 1 : 0}, out);
  if (node.kind == NodeKind::kRank) {
    const RankBounds& rank = node.rank;
    out += std::to_string(static_cast<int>(rank.function)) + "," + std::to_string(rank.from) + "," +
           std::to_string(rank.to) + (rank.output ? "n" : "-") + (rank.latest_first ? "l" : "f");
    out += std::to_string(rank.window_end) + "," + std::to_string(rank.lateness);
  }
  for (const OverCall& call : node.over) {
    const Frame& frame = call.frame;
    Append({static_cast<int>(call.function), call.argument, call.filter, call.default_value, frame.rows ? 1 : 0,
            static_cast<int>(frame.start.kind), static_cast<int>(frame.end.kind)},
           out);
    out += std::to_string(call.offset) + "," + std::to_string(frame.start.offset) + "," +
           std::to_string(frame.end.offset) + call.type.ToString();
  }
}

void Append(const WindowGrouping& windows, std::string& out) {
  out += windows.assigned ? windows.spec.ToString() : std::string("given");
  Append({windows.time, windows.condition, windows.end_group}, out);
  out += std::to_string(windows.lateness) + "/" + std::to_string(windows.early);
}

void Append(const LateRows& late, std::string& out) {
  out += "late" + std::to_string(late.sink.size()) + ":" + late.sink;
  Append(late.columns, out);
  for (const Field& field : late.fields) out += "|" + std::to_string(field.name.size()) + ":" + field.name;
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
  Append(node.session_keys, text);
  if (node.kind == NodeKind::kWindow) text += node.window.ToString() + "@" + std::to_string(node.time_column);
  if (node.windows) Append(*node.windows, text);
  if (node.kind == NodeKind::kAggregate) text += "p" + std::to_string(node.partial);
  if (node.late_rows) Append(*node.late_rows, text);
  for (const bool null_safe : node.null_safe) text += null_safe ? "n" : "e";
  text += "|" + std::to_string(static_cast<int>(node.join_type)) + "|" +
          std::to_string(static_cast<int>(node.strategy)) + "|" + std::to_string(node.buckets) + "|";
  if (node.kind == NodeKind::kJoin) {
    Append(node.left_table, text);
    Append(node.right_table, text);
  }
  if (node.kind == NodeKind::kTable) Append(node.table, text);
  if (node.condition != nullptr) text += node.condition->Signature();
  for (const ExpressionPtr& expression : node.expressions) text += ";" + expression->Signature();
  if (node.kind == NodeKind::kTemporalJoin) {
    Append({node.left_time, node.right_time, node.before ? 1 : 0}, text);
  }
  if (node.kind == NodeKind::kUnnest) {
    text += std::string("|") + (node.unnest_function == UnnestFunction::kSeries ? "series" : "arrays") +
            (node.ordinality ? "o" : "") + (node.unnest_outer ? "l" : "");
  }
  for (const AggregateCall& call : node.calls) {
    text += "|" + std::to_string(static_cast<int>(call.function)) + (call.distinct ? "d" : "a") + call.type.ToString();
    Append({call.argument, call.filter}, text);
    for (const AggregateOrder& order : call.order) Append({order.column, order.descending, order.nulls_first}, text);
    text += std::to_string(call.separator.size()) + ":" + call.separator;
  }
  AppendOrder(node, text);
  for (const Field& field : node.schema->fields()) text += "|" + std::to_string(field.name.size()) + ":" + field.name;
  return text;
}

class Sharing {
 public:
  PlanPtr Share(const PlanPtr& node) {
    // A declared table is one node already, below all that read it.
    if (const auto seen = shared_.find(node.get()); seen != shared_.end()) return seen->second;
    for (PlanPtr& input : node->inputs) input = Share(input);
    const bool alone =
        node->kind == NodeKind::kSink || node->kind == NodeKind::kValues || !IsDeterministic(*node);
    const PlanPtr shared = alone ? node : known_.emplace(Fingerprint(*node), node).first->second;
    shared_.emplace(node.get(), shared);
    kept_.push_back(node);
    return shared;
  }

 private:
  std::map<std::string, PlanPtr> known_;
  std::map<const PlanNode*, PlanPtr> shared_;
  std::vector<PlanPtr> kept_;  // so that no address is used for two nodes
};

}  // namespace

void ShareEqualSubplans(std::vector<PlanPtr>& roots) {
  Sharing sharing;
  for (PlanPtr& root : roots) root = sharing.Share(root);
}

}  // namespace weir
