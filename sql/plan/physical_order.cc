// Where the rows of kRank and kOver nodes have to be, and what they give.

#include <algorithm>

#include "sql/plan/event_time.h"
#include "sql/plan/nodes.h"
#include "sql/plan/physical_planner.h"

namespace weir {
namespace {

// No result depends on a row behind its own peers.
bool LooksBack(const std::vector<OverCall>& calls) {
  return std::all_of(calls.begin(), calls.end(), [](const OverCall& call) {
    if (call.function == OverFunction::kLag) return call.offset >= 0;
    if (call.function == OverFunction::kLead) return call.offset <= 0;
    const auto ahead = [](const FrameBound& bound) { return bound.kind >= FrameBound::Kind::kFollowing; };
    return !ahead(call.frame.start) && !ahead(call.frame.end);
  });
}

}  // namespace

// Spreads the input by the partition's columns, in the order in which it is spread already if that is one of them.
Placement PhysicalPlanner::PlanPartition(PlanNode& node) {
  Placement input = Plan(node.inputs[0]);
  for (const std::vector<int>& hashed : input.hashed) {
    if (hashed.size() != node.partition.size()) continue;
    if (!std::is_permutation(hashed.begin(), hashed.end(), node.partition.begin())) continue;
    node.partition = hashed;
    break;
  }
  Exchange(node.inputs[0], input, node.partition);
  node.input_retracts = node.inputs[0]->changelog != ChangelogMode::kAppend;
  RefreshSchema(node);
  Placement output;
  output.single = node.partition.empty();
  if (!node.partition.empty()) output.hashed.push_back(node.partition);
  output.keys = std::move(input.keys);
  return output;
}

Placement PhysicalPlanner::PlanRank(PlanNode& node) {
  const EventTimes times = EventTimesOf(*node.inputs[0], catalog_);
  for (const int column : node.partition) {
    if (!node.rank.early && Contains(times.window_ends, column)) node.rank.window_end = column;
  }
  Placement placement = PlanPartition(node);
  placement.keys = RankKeys(node, placement.keys);
  placement.TidyKeys();
  // Without an order the first rows to come are the first for ever.
  const bool final_order = node.sort.empty() && !node.rank.latest_first && !node.input_retracts;
  node.changelog = final_order || node.rank.window_end >= 0 ? ChangelogMode::kAppend : ChangelogMode::kFull;
  return placement;
}

Placement PhysicalPlanner::PlanOver(PlanNode& node) {
  const EventTimes times = EventTimesOf(*node.inputs[0], catalog_);
  Placement placement = PlanPartition(node);
  bool in_time = !node.input_retracts && !node.sort.empty() && !node.sort[0].descending &&
                 Contains(times.times, node.sort[0].column) && LooksBack(node.over);
  // A millisecond before the end of its window, it may be behind a watermark of microseconds.
  if (in_time && Contains(times.window_times, node.sort[0].column)) {
    in_time = (*node.inputs[0]->schema)[static_cast<size_t>(node.sort[0].column)].type.precision <= 3;
  }
  if (in_time) node.over_time = node.sort[0].column;
  node.changelog = in_time ? ChangelogMode::kAppend : ChangelogMode::kFull;
  return placement;
}

}  // namespace weir
