#include "sql/plan/order_text.h"

#include "sql/plan/node_text.h"

namespace weir {
namespace {

std::string SortText(const std::vector<SortColumn>& sort, const Schema& schema) {
  std::string text;
  for (const SortColumn& column : sort) {
    text += (text.empty() ? "" : ", ") + schema[static_cast<size_t>(column.column)].name;
    if (column.descending) text += " DESC";
    if (column.nulls_first != column.descending) text += column.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  return text;
}

std::string OrderText(const PlanNode& node) {
  const Schema& input = *node.inputs[0]->schema;
  std::string text;
  if (!node.partition.empty()) text += " by (" + NamesOf(node.partition, input) + ")";
  if (!node.sort.empty()) text += " order by " + SortText(node.sort, input);
  return text;
}

std::string BoundText(const FrameBound& bound) {
  switch (bound.kind) {
    case FrameBound::Kind::kUnboundedPreceding:
      return "unbounded preceding";
    case FrameBound::Kind::kPreceding:
      return std::to_string(bound.offset) + " preceding";
    case FrameBound::Kind::kCurrentRow:
      return "current row";
    case FrameBound::Kind::kFollowing:
      return std::to_string(bound.offset) + " following";
    case FrameBound::Kind::kUnboundedFollowing:
      return "unbounded following";
  }
  return {};
}

std::string RankText(const RankBounds& rank) {
  const std::string name = OverFunctionName(rank.function);
  if (rank.from == rank.to) return name + " = " + std::to_string(rank.to);
  if (rank.from == 1) return name + " <= " + std::to_string(rank.to);
  if (rank.to == RankBounds::kAll) return name + " >= " + std::to_string(rank.from);
  return name + " from " + std::to_string(rank.from) + " to " + std::to_string(rank.to);
}

std::string CallText(const OverCall& call, const Schema& input) {
  std::string text = std::string(OverFunctionName(call.function)) + "(";
  if (call.function == OverFunction::kCountStar) text += "*";
  if (call.argument >= 0) text += input[static_cast<size_t>(call.argument)].name;
  const bool counts = call.function == OverFunction::kLag || call.function == OverFunction::kLead ||
                      call.function == OverFunction::kNthValue;
  if (counts) text += ", " + std::to_string(call.offset);
  text += ")";
  if (call.filter >= 0) text += " FILTER (WHERE " + input[static_cast<size_t>(call.filter)].name + ")";
  return text;
}

}  // namespace

const char* OverFunctionName(OverFunction function) {
  switch (function) {
    case OverFunction::kRowNumber:
      return "row_number";
    case OverFunction::kRank:
      return "rank";
    case OverFunction::kDenseRank:
      return "dense_rank";
    case OverFunction::kLag:
      return "lag";
    case OverFunction::kLead:
      return "lead";
    case OverFunction::kFirstValue:
      return "first_value";
    case OverFunction::kLastValue:
      return "last_value";
    case OverFunction::kNthValue:
      return "nth_value";
    case OverFunction::kCountStar:
    case OverFunction::kCount:
      return "count";
    case OverFunction::kSum:
      return "sum";
    case OverFunction::kMin:
      return "min";
    case OverFunction::kMax:
      return "max";
    case OverFunction::kAvg:
      return "avg";
  }
  return "";
}

void DescribeOrdered(const PlanNode& node, std::string& title, std::vector<std::string>& details) {
  if (node.kind == NodeKind::kRank) {
    title = RankText(node.rank) + OrderText(node);
    if (node.rank.window_end >= 0) {
      const std::string& end = (*node.inputs[0]->schema)[static_cast<size_t>(node.rank.window_end)].name;
      details.push_back("results: when the window that ends at " + end + " has ended");
    }
    if (node.rank.latest_first) details.push_back("of rows with equal values the one that came last wins");
  } else {
    const Schema& input = *node.inputs[0]->schema;
    for (const OverCall& call : node.over) title += (title.empty() ? "" : ", ") + CallText(call, input);
    title += " over" + (OrderText(node).empty() ? " all rows" : OrderText(node));
    for (const OverCall& call : node.over) {
      details.push_back("frame of " + CallText(call, input) + ": " + (call.frame.rows ? "rows " : "range ") +
                        BoundText(call.frame.start) + " to " + BoundText(call.frame.end));
    }
  }
  details.push_back(node.input_retracts ? "input: rows are retracted" : "input: append only");
}

std::string OrderedStateText(const PlanNode& node) {
  if (node.kind == NodeKind::kRank && node.rank.window_end >= 0) return "rows of the windows that are open";
  const std::string rows = node.partition.empty() ? "" : " of every partition";
  if (node.kind == NodeKind::kOver || node.input_retracts || node.rank.to == RankBounds::kAll) return "all rows" + rows;
  if (node.rank.one_row()) return "the first row" + rows;
  return "the first " + std::to_string(node.rank.to) + " rows" + rows;
}

}  // namespace weir
