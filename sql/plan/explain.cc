// The three forms of explain.  Text is a tree per INSERT, consumers above their inputs; a shared operator is printed
// once.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "sql/plan/node_text.h"
#include "sql/plan/planner.h"

namespace weir {
namespace {

using OrderedJson = nlohmann::ordered_json;

void AppendTree(const PlanNode& node, int depth, std::set<const PlanNode*>& printed, std::string& out) {
  const std::string indent(static_cast<size_t>(depth) * 2, ' ');
  if (!printed.insert(&node).second) {
    out += fmt::format("{}{}: see above\n", indent, node.id);
    return;
  }
  const NodeText text = DescribeNode(node);
  out += fmt::format("{}{}: {}\n", indent, node.id, text.title);
  out += fmt::format("{}    [{}]\n", indent, DescribeProperties(node));
  for (const std::string& detail : text.details) out += fmt::format("{}    {}\n", indent, detail);
  for (const PlanPtr& input : node.inputs) AppendTree(*input, depth + 1, printed, out);
}

OrderedJson Names(const std::vector<int>& columns, const Schema& schema) {
  OrderedJson names = OrderedJson::array();
  for (const int column : columns) names.push_back(schema[static_cast<size_t>(column)].name);
  return names;
}

OrderedJson TableJson(const TableText& text) {
  OrderedJson json;
  json["name"] = text.table->name;
  json["kind"] = TableKindName(text.table->kind);
  if (text.table->kind == TableKind::kIndex) json["declared"] = text.table->declared_index;
  json["operator"] = text.node->id;
  json["key"] = Names(text.key, *text.schema);
  json["bucket_key"] = Names(text.table->bucket_columns, *text.schema);
  json["buckets"] = text.table->buckets;
  return json;
}

OrderedJson JoinJson(const PlanNode& node) {
  const Schema& left = *node.inputs[0]->schema;
  const Schema& right = *node.inputs[1]->schema;
  OrderedJson json;
  json["type"] = JoinName(node.join_type);
  json["strategy"] = node.strategy == JoinStrategy::kDelta ? "delta" : "regular";
  json["reason"] = node.strategy_reason;
  json["left_keys"] = Names(node.left_keys, left);
  json["right_keys"] = Names(node.right_keys, right);
  json["null_safe"] = node.null_safe;
  json["condition"] = node.condition == nullptr ? OrderedJson(nullptr) : OrderedJson(ConditionText(node));
  json["left_changelog"] = ModeName(node.left_mode);
  json["right_changelog"] = ModeName(node.right_mode);
  json["left_unique"] = Names(node.left_unique, left);
  json["right_unique"] = Names(node.right_unique, right);
  if (node.strategy == JoinStrategy::kDelta) {
    json["left_table"] = node.left_table.name;
    json["right_table"] = node.right_table.name;
  }
  return json;
}

OrderedJson NodeJson(const PlanNode& node) {
  OrderedJson json;
  json["id"] = node.id;
  json["kind"] = KindName(node.kind);
  json["title"] = DescribeNode(node).title;
  json["inputs"] = OrderedJson::array();
  for (const PlanPtr& input : node.inputs) json["inputs"].push_back(input->id);
  json["columns"] = OrderedJson::array();
  for (const Field& field : node.schema->fields()) {
    json["columns"].push_back({{"name", field.name}, {"type", field.type.ToString()}});
  }
  json["changelog"] = ModeName(node.changelog);
  json["unique_keys"] = OrderedJson::array();
  for (const std::vector<int>& key : node.unique_keys) json["unique_keys"].push_back(Names(key, *node.schema));
  json["distribution"] = Names(node.distribution, *node.schema);
  json["single"] = node.single;
  const bool keyed = node.kind == NodeKind::kNormalise || node.kind == NodeKind::kExchange ||
                     node.kind == NodeKind::kKeyOrder || node.kind == NodeKind::kSink ||
                     node.kind == NodeKind::kTable;
  if (keyed) json["key"] = Names(node.key, *node.schema);
  if (node.buckets > 0) json["buckets"] = node.buckets;
  if (node.kind == NodeKind::kTable) json["table"] = node.table.name;
  if (!node.relation.empty()) json["relation"] = node.relation;
  if (node.kind == NodeKind::kJoin) json["join"] = JoinJson(node);
  const std::string state = StateOf(node);
  json["state"] = state.empty() ? OrderedJson(nullptr) : OrderedJson(state);
  return json;
}

std::string DotText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

void AppendTables(const JobPlan& plan, std::string& out) {
  const std::vector<TableText> tables = TablesOf(plan);
  if (!tables.empty()) out += "\ntables:\n";
  for (const TableText& text : tables) {
    const char* keyless = text.table->kind == TableKind::kLog ? "rows only added" : "rows counted";
    const std::string key = text.key.empty() ? keyless : fmt::format("key ({})", NamesOf(text.key, *text.schema));
    out += fmt::format("  {}: {}{}, {}, {}\n", text.table->name, text.table->declared_index ? "declared " : "",
                       TableKindName(text.table->kind), key,
                       BucketsText(*text.table, *text.schema));
  }
}

}  // namespace

std::string ExplainText(const JobPlan& plan) {
  std::string out;
  std::set<const PlanNode*> printed;
  for (const PlanPtr& sink : plan.sinks) {
    if (!out.empty()) out += "\n";
    AppendTree(*sink, 0, printed, out);
  }
  for (const PlanPtr& table : plan.tables_unread) {
    if (!out.empty()) out += "\n";
    AppendTree(*table, 0, printed, out);
  }
  AppendTables(plan, out);
  if (plan.rocksdb_state) out += "\nstate of operators: rocksdb\n";
  return out;
}

std::string ExplainJson(const JobPlan& plan) {
  OrderedJson json;
  json["sinks"] = OrderedJson::array();
  for (const PlanPtr& sink : plan.sinks) json["sinks"].push_back(sink->id);
  json["state"] = plan.rocksdb_state ? "rocksdb" : "memory";
  json["tables"] = OrderedJson::array();
  for (const TableText& text : TablesOf(plan)) json["tables"].push_back(TableJson(text));
  json["operators"] = OrderedJson::array();
  for (const PlanNode* node : NodesOf(plan)) json["operators"].push_back(NodeJson(*node));
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string ExplainDot(const JobPlan& plan) {
  std::string out = "digraph job {\n  rankdir=BT;\n  node [shape=box, fontname=\"monospace\"];\n";
  for (const PlanNode* node : NodesOf(plan)) {
    const NodeText text = DescribeNode(*node);
    std::string label = node->id + "\n" + text.title + "\n" + DescribeProperties(*node);
    for (const std::string& detail : text.details) label += "\n" + detail;
    out += fmt::format("  \"{}\" [label=\"{}\"];\n", DotText(node->id), DotText(label));
    for (const PlanPtr& input : node->inputs) {
      out += fmt::format("  \"{}\" -> \"{}\";\n", DotText(input->id), DotText(node->id));
    }
  }
  return out + "}\n";
}

}  // namespace weir
