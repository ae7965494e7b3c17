#include "sql/plan/node_text.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "engine/base/quantity.h"
#include "sql/plan/aggregate_functions.h"
#include "sql/plan/nodes.h"
#include "sql/plan/order_text.h"

namespace weir {
namespace {

std::string CallText(const AggregateCall& call, const Schema& input) {
  std::string text = FunctionName(call) + "(";
  if (call.distinct) text += "DISTINCT ";
  text += call.argument < 0 ? "*" : input[static_cast<size_t>(call.argument)].name;
  if (call.function == AggregateFunction::kStringAgg) text += ", '" + call.separator + "'";
  for (size_t i = 0; i < call.order.size(); ++i) {
    text += (i == 0 ? " ORDER BY " : ", ") + input[static_cast<size_t>(call.order[i].column)].name;
    if (call.order[i].descending) text += " DESC";
    if (call.order[i].nulls_first != call.order[i].descending) text += call.order[i].nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  text += ")";
  if (call.filter >= 0) text += " FILTER (WHERE " + input[static_cast<size_t>(call.filter)].name + ")";
  return text;
}

std::string ProjectText(const PlanNode& node) {
  std::string text;
  const Schema& input = *node.inputs[0]->schema;
  for (size_t i = 0; i < node.expressions.size(); ++i) {
    const std::string value = node.expressions[i]->ToString(input);
    const std::string& name = (*node.schema)[i].name;
    text += (i == 0 ? "" : ", ") + value + (value == name ? "" : " AS " + name);
  }
  return text;
}

std::string UnnestText(const PlanNode& node) {
  std::string text = node.unnest_function == UnnestFunction::kSeries ? "generate_series(" : "unnest(";
  const Schema& input = *node.inputs[0]->schema;
  for (size_t i = 0; i < node.expressions.size(); ++i) {
    text += (i == 0 ? "" : ", ") + node.expressions[i]->ToString(input);
  }
  text += node.ordinality ? ") with ordinality AS " : ") AS ";
  for (size_t i = 0; i < node.unnest_fields.size(); ++i) text += (i == 0 ? "" : ", ") + node.unnest_fields[i].name;
  return text;
}

std::string JoinKeyText(const PlanNode& node) {
  std::string text;
  const Schema& left = *node.inputs[0]->schema;
  const Schema& right = *node.inputs[1]->schema;
  for (size_t i = 0; i < node.left_keys.size(); ++i) {
    text += (i == 0 ? "" : " AND ") + left[static_cast<size_t>(node.left_keys[i])].name +
            (node.null_safe[i] ? " IS NOT DISTINCT FROM " : " = ") +
            right[static_cast<size_t>(node.right_keys[i])].name;
  }
  return text;
}

std::string SideText(const char* side, ChangelogMode mode, const std::vector<int>& unique, const Schema& schema) {
  std::string text = std::string(side) + ": " + ModeName(mode);
  if (!unique.empty()) {
    text += ", rows replaced by (" + NamesOf(unique, schema) + ")";
  } else if (mode != ChangelogMode::kAppend) {
    text += ", rows counted: no key holds at every moment";
  }
  return text;
}

// "left: a row goes when the watermark is 10s above ts", "... has reached window_end"
std::string ExpiryText(const char* side, const RowExpiry& expiry, const Schema& schema) {
  const std::string text = std::string(side) + ": in memory a row goes when the watermark ";
  const std::string& time = schema[static_cast<size_t>(expiry.column)].name;
  if (expiry.offset == -1) return text + "has reached " + time;
  const std::string distance =
      expiry.offset == 0 ? "" : fmt::format("{:g}s ", std::abs(static_cast<double>(expiry.offset)) / 1e6);
  return text + "is " + distance + (expiry.offset < 0 ? "below " : "above ") + time;
}

void DescribeTemporalJoin(const PlanNode& node, NodeText& text) {
  const Schema& left = *node.inputs[0]->schema;
  const Schema& right = *node.inputs[1]->schema;
  text.title = std::string("temporal ") + JoinName(node.join_type) + " on ";
  for (size_t i = 0; i < node.left_keys.size(); ++i) {
    text.title += (i == 0 ? "" : " AND ") + left[static_cast<size_t>(node.left_keys[i])].name + " = " +
                  right[static_cast<size_t>(node.right_keys[i])].name;
  }
  text.details.push_back("the newest right row with " + right[static_cast<size_t>(node.right_time)].name +
                         (node.before ? " < " : " <= ") + left[static_cast<size_t>(node.left_time)].name +
                         ", when the watermark has passed that time");
}

// "orders (automatic), 8 buckets by (user_id, ds)"
std::string TableRefText(const TableRef& table, const Schema& schema) {
  return table.name + " (" + (table.declared_index ? "declared " : "") + TableKindName(table.kind) + "), " +
         BucketsText(table, schema);
}

void DescribeJoin(const PlanNode& node, NodeText& text) {
  const std::string keys = JoinKeyText(node);
  const bool interval = node.left_expiry || node.right_expiry;
  text.title = (interval ? "interval " : "") + std::string(JoinName(node.join_type)) + (keys.empty() ? " without an equality" : " on " + keys);
  if (node.condition != nullptr) text.details.push_back("condition: " + ConditionText(node));
  if (keys.empty()) text.details.push_back("both inputs are gathered in one task, and every pair of rows is looked at");
  text.details.push_back(std::string("strategy: ") + (node.strategy == JoinStrategy::kDelta ? "delta" : "regular") +
                         (node.strategy_reason.empty() ? "" : ", because " + node.strategy_reason));
  if (node.strategy == JoinStrategy::kDelta) {
    const Schema& left = *node.inputs[0]->schema;
    const Schema& right = *node.inputs[1]->schema;
    text.details.push_back("left table: " + TableRefText(node.left_table, left));
    text.details.push_back("right table: " + TableRefText(node.right_table, right));
  }
  text.details.push_back(SideText("left", node.left_mode, node.left_unique, *node.inputs[0]->schema));
  text.details.push_back(SideText("right", node.right_mode, node.right_unique, *node.inputs[1]->schema));
  if (node.left_expiry) text.details.push_back(ExpiryText("left", *node.left_expiry, *node.inputs[0]->schema));
  if (node.right_expiry) text.details.push_back(ExpiryText("right", *node.right_expiry, *node.inputs[1]->schema));
}

void DescribeWindows(const PlanNode& node, NodeText& text) {
  const Schema& input = *node.inputs[0]->schema;
  const WindowGrouping& windows = *node.windows;
  const auto name = [&](int column) { return input[static_cast<size_t>(column)].name; };
  if (windows.assigned) {
    text.details.push_back("windows: " + windows.spec.ToString() + " over " + name(windows.time));
    if (windows.condition >= 0) text.details.push_back("rows count where " + name(windows.condition));
  } else {
    text.details.push_back("windows: rows carry theirs, which end at " +
                           name(node.group_columns[static_cast<size_t>(windows.end_group)]));
  }
  std::string results = "results: once, when the watermark reaches the end of a window";
  if (windows.early > 0) results = "results: every " + FormatDuration(windows.early) + " before the end of a window, and at it";
  if (windows.lateness > 0) {
    results += "; late rows change them for " + FormatDuration(windows.lateness) + " more";
  }
  text.details.push_back(results);
  if (node.late_rows) text.details.push_back("rows that are too late go to " + node.late_rows->sink);
}

std::string AggregateTitle(const PlanNode& node) {
  const Schema& input = *node.inputs[0]->schema;
  std::string title;
  for (const AggregateCall& call : node.calls) {
    title += (title.empty() ? "" : ", ") + CallText(call, node.rows ? *node.rows : input);
  }
  if (node.calls.empty()) {
    title = "distinct (" + NamesOf(node.group_columns, input) + ")";
  } else if (!node.group_columns.empty()) {
    title += " by (" + NamesOf(node.group_columns, input) + ")";
  } else {
    title += " over all rows";
  }
  return title;
}

void DescribeAggregate(const PlanNode& node, NodeText& text) {
  text.title = AggregateTitle(node);
  if (node.partial >= 0) text.details.push_back("second phase: adds up what the local aggregates have folded");
  text.details.push_back(node.input_retracts ? "input: rows are retracted" : "input: append only");
  if (node.windows) DescribeWindows(node, text);
}

void DescribeLocalAggregate(const PlanNode& node, NodeText& text) {
  text.title = AggregateTitle(node);
  std::string held = "first phase: rows of a batch are folded by group; they pass as they are where that saves little";
  if (node.mini_batch.allow_latency > 0) {
    held = "first phase: rows are folded by group for at most " + FormatDuration(node.mini_batch.allow_latency) + " or " +
           std::to_string(node.mini_batch.size) + " rows, and go before a watermark or a barrier does";
  }
  text.details.push_back(held);
}

}  // namespace

const char* KindName(NodeKind kind) {
  switch (kind) {
    case NodeKind::kScan:
      return "scan";
    case NodeKind::kFilter:
      return "filter";
    case NodeKind::kProject:
      return "project";
    case NodeKind::kJoin:
      return "join";
    case NodeKind::kAggregate:
      return "aggregate";
    case NodeKind::kNormalise:
      return "normalise";
    case NodeKind::kExchange:
      return "exchange";
    case NodeKind::kUnion:
      return "union";
    case NodeKind::kKeyOrder:
      return "key-order";
    case NodeKind::kSink:
      return "sink";
    case NodeKind::kValues:
      return "values";
    case NodeKind::kTable:
      return "table";
    case NodeKind::kRank:
      return "rank";
    case NodeKind::kOver:
      return "over";
    case NodeKind::kWindow:
      return "window";
    case NodeKind::kUnnest:
      return "unnest";
    case NodeKind::kTemporalJoin:
      return "temporal-join";
    case NodeKind::kLocalAggregate:
      return "local-aggregate";
    case NodeKind::kLateRows:
      return "late-rows";
  }
  return "node";
}

const char* ModeName(ChangelogMode mode) {
  switch (mode) {
    case ChangelogMode::kAppend:
      return "append";
    case ChangelogMode::kUpsert:
      return "upsert";
    case ChangelogMode::kFull:
      return "full";
  }
  return "";
}

const char* JoinName(JoinType type) {
  switch (type) {
    case JoinType::kInner:
      return "inner join";
    case JoinType::kLeft:
      return "left join";
    case JoinType::kRight:
      return "right join";
    case JoinType::kFull:
      return "full join";
    case JoinType::kSemi:
      return "semi join";
    case JoinType::kAnti:
      return "anti join";
  }
  return "";
}

std::string FunctionName(const AggregateCall& call) { return AggregateName(call.function); }

namespace {

std::string AggregateStateText(const PlanNode& node) {
  using F = AggregateFunction;
  if (node.windows) return "accumulators per group of the windows that are open";
  if (node.calls.empty()) return node.input_retracts ? "a count per distinct row" : "every distinct row";
  std::set<std::string> more;
  for (const AggregateCall& call : node.calls) {
    const bool extreme = call.function == F::kMin || call.function == F::kMax;
    const bool end = call.function == F::kFirstValue || call.function == F::kLastValue;
    const bool build = call.function == F::kBitmapBuild || call.function == F::kBitmapBuildCardinality ||
                       call.function == F::kBitmapCountDistinct;
    if (TakesOrder(call.function) || (end && node.input_retracts)) {
      more.insert("every value in its order");
    } else if (call.distinct || ((extreme || build) && node.input_retracts)) {
      more.insert("every distinct value with its count");
    } else if (call.function == F::kApproxCountDistinct) {
      more.insert("a sketch per group");
    } else if (call.function >= F::kBitmapBuild) {
      more.insert("a bitmap per group");
    }
  }
  std::string text = "accumulators per group";
  for (const std::string& values : more) text += ", and " + values;
  return text;
}

}  // namespace

std::string StateOf(const PlanNode& node) {
  switch (node.kind) {
    case NodeKind::kTemporalJoin:
      return "left rows above the watermark, right rows above it and the newest below it of every key";
    case NodeKind::kJoin:
      if (node.left_expiry || node.right_expiry) return "rows of both sides that later rows can match";
      if (node.strategy == JoinStrategy::kRegular) return "rows of both sides";
      return "in tables " + node.left_table.name + " and " + node.right_table.name + ", nothing in checkpoints";
    case NodeKind::kTable:
      return "in table " + node.table.name + ", nothing in checkpoints";
    case NodeKind::kNormalise:
      return "the last row of every key";
    case NodeKind::kKeyOrder:
      return "rows of the running epoch, nothing in checkpoints";
    case NodeKind::kAggregate:
      return AggregateStateText(node);
    case NodeKind::kRank:
    case NodeKind::kOver:
      return OrderedStateText(node);
    default:
      return {};
  }
}

const char* TableKindName(TableKind kind) {
  switch (kind) {
    case TableKind::kDeclared:
      return "declared";
    case TableKind::kLog:
      return "log";
    case TableKind::kAutomatic:
      return "automatic";
    case TableKind::kIndex:
      return "index";
    case TableKind::kInternal:
      return "internal";
  }
  return "";
}

std::string BucketsText(const TableRef& table, const Schema& schema) {
  const std::string buckets = std::to_string(table.buckets) + " buckets ";
  return buckets + (table.bucket_columns.empty() ? "in turn" : "by (" + NamesOf(table.bucket_columns, schema) + ")");
}

std::vector<TableText> TablesOf(const JobPlan& plan) {
  std::vector<TableText> tables;
  for (const PlanNode* node : NodesOf(plan)) {
    if (node->kind == NodeKind::kTable) tables.push_back({&node->table, node, node->schema.get(), node->key});
    if (node->kind != NodeKind::kJoin || node->strategy != JoinStrategy::kDelta) continue;
    const auto side = [&](const TableRef& table, size_t input, const std::vector<int>& keys, std::vector<int> unique) {
      // The key of a side's rows is the join's columns and the unique key; a declared table's is its own.
      for (size_t i = 0; i < keys.size() && !unique.empty() && !table.declared; ++i) {
        if (!Contains(unique, keys[i])) unique.push_back(keys[i]);
      }
      tables.push_back({&table, node, node->inputs[input]->schema.get(), std::move(unique)});
    };
    side(node->left_table, 0, node->left_keys, node->left_unique);
    side(node->right_table, 1, node->right_keys, node->right_unique);
  }
  return tables;
}

std::string NamesOf(const std::vector<int>& columns, const Schema& schema) {
  std::string text;
  for (const int column : columns) text += (text.empty() ? "" : ", ") + schema[static_cast<size_t>(column)].name;
  return text;
}

std::string ConditionText(const PlanNode& join) {
  const Schema& left = *join.inputs[0]->schema;
  const Schema& right = *join.inputs[1]->schema;
  std::vector<Field> fields;
  for (Field field : left.fields()) {
    if (right.Find(field.name)) field.name = "left." + field.name;
    fields.push_back(std::move(field));
  }
  for (Field field : right.fields()) {
    if (left.Find(field.name)) field.name = "right." + field.name;
    fields.push_back(std::move(field));
  }
  return join.condition->ToString(Schema(std::move(fields)));
}

NodeText DescribeNode(const PlanNode& node) {
  NodeText text;
  switch (node.kind) {
    case NodeKind::kScan:
      text.title = node.relation + " (" + NamesOf(Iota(node.schema->size()), *node.schema) + ")";
      break;
    case NodeKind::kFilter:
      text.title = node.condition->ToString(*node.inputs[0]->schema);
      break;
    case NodeKind::kProject:
      text.title = ProjectText(node);
      break;
    case NodeKind::kJoin:
      DescribeJoin(node, text);
      break;
    case NodeKind::kAggregate:
      DescribeAggregate(node, text);
      break;
    case NodeKind::kLocalAggregate:
      DescribeLocalAggregate(node, text);
      break;
    case NodeKind::kTemporalJoin:
      DescribeTemporalJoin(node, text);
      break;
    case NodeKind::kUnnest:
      text.title = UnnestText(node);
      if (node.unnest_outer) text.details.push_back("a row without elements stays, with NULL");
      break;
    case NodeKind::kNormalise:
      text.title = "last row by (" + NamesOf(node.key, *node.schema) + ")";
      text.details.push_back(node.inputs[0]->changelog == ChangelogMode::kUpsert
                                 ? "because a consumer needs the row that an upsert replaced"
                                 : "because a delete of the source carries only its key");
      break;
    case NodeKind::kExchange:
      text.title = node.key.empty() ? "to one task"
                                    : (node.buckets > 0 ? "bucket (" : "hash (") + NamesOf(node.key, *node.schema) + ")";
      if (node.buckets > 0) text.title += " of " + std::to_string(node.buckets);
      break;
    case NodeKind::kUnion:
      text.title = "all rows of " + std::to_string(node.inputs.size()) + " inputs";
      break;
    case NodeKind::kKeyOrder:
      text.title = "by (" + NamesOf(node.key, *node.schema) + ")";
      text.details.push_back(
          "because changes of one key can come from several tasks, or several rows can have one key");
      break;
    case NodeKind::kSink:
      text.title = node.relation + (node.key.empty() ? "" : " by key (" + NamesOf(node.key, *node.schema) + ")");
      break;
    case NodeKind::kValues:
      text.title = std::to_string(node.values.rows()) + " rows";
      break;
    case NodeKind::kRank:
    case NodeKind::kOver:
      DescribeOrdered(node, text.title, text.details);
      break;
    case NodeKind::kWindow:
      text.title = node.window.ToString() + " over " +
                   (*node.inputs[0]->schema)[static_cast<size_t>(node.time_column)].name;
      break;
    case NodeKind::kLateRows:
      text.title = "rows too late for the windows of " + node.inputs[0]->id;
      break;
    case NodeKind::kTable:
      text.title = node.table.kind == TableKind::kLog ? "every row" : "last row by (" + NamesOf(node.key, *node.schema) + ")";
      text.details.push_back("table: " + TableRefText(node.table, *node.schema));
      if (node.table.kind == TableKind::kIndex) {
        text.details.push_back("because it is declared; no join finds rows in it");
      } else if (!node.table.declared) {
        text.details.push_back("because a delta join needs the row that a change of the source replaced");
      }
      break;
  }
  if (const std::string state = StateOf(node); !state.empty()) text.details.push_back("state: " + state);
  return text;
}

std::string DescribeProperties(const PlanNode& node) {
  std::string text = ModeName(node.changelog);
  for (const std::vector<int>& key : node.unique_keys) {
    text += key.empty() ? "; one row" : "; unique (" + NamesOf(key, *node.schema) + ")";
  }
  if (node.single) {
    text += "; in one task";
  } else if (!node.distribution.empty()) {
    text += (node.distribution_buckets > 0 ? "; bucketed by (" : "; hashed by (") +
            NamesOf(node.distribution, *node.schema) + ")";
  }
  return text;
}

std::vector<const PlanNode*> NodesOf(const JobPlan& plan) {
  std::vector<const PlanNode*> nodes;
  std::set<const PlanNode*> visited;
  const auto visit = [&](const auto& self, const PlanNode& node) -> void {
    if (!visited.insert(&node).second) return;
    for (const PlanPtr& input : node.inputs) self(self, *input);
    nodes.push_back(&node);
  };
  for (const PlanPtr& sink : plan.sinks) visit(visit, *sink);
  for (const PlanPtr& table : plan.tables_unread) visit(visit, *table);
  return nodes;
}

}  // namespace weir
