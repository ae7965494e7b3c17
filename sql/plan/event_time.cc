#include "sql/plan/event_time.h"

#include <algorithm>

#include "sql/plan/nodes.h"

namespace weir {
namespace {

std::vector<int> Forwarded(const std::vector<int>& columns, const std::vector<ExpressionPtr>& expressions) {
  std::vector<int> forwarded;
  for (size_t i = 0; i < expressions.size(); ++i) {
    if (Contains(columns, expressions[i]->ForwardedColumn())) forwarded.push_back(static_cast<int>(i));
  }
  return forwarded;
}

void KeepCommon(std::vector<int>& columns, const std::vector<int>& others) {
  std::erase_if(columns, [&](int column) { return !Contains(others, column); });
}

// A join on windows: its rows come while both sides' do.  A side that may be NULL has no window of its own.
EventTimes OfJoin(const PlanNode& join, const Catalog& catalog) {
  const EventTimes left = EventTimesOf(*join.inputs[0], catalog);
  const EventTimes right = EventTimesOf(*join.inputs[1], catalog);
  bool on_windows = false;
  for (size_t i = 0; i < join.left_keys.size(); ++i) {
    on_windows = on_windows ||
                 (Contains(left.window_ends, join.left_keys[i]) && Contains(right.window_ends, join.right_keys[i]));
  }
  EventTimes times;
  if (!on_windows) return times;
  const JoinType type = join.join_type;
  const int left_width = static_cast<int>(join.inputs[0]->schema->size());
  if (type == JoinType::kInner || type == JoinType::kLeft || LeftColumnsOnly(type)) {
    times = left;
    times.times = left.window_times;
  }
  if (type == JoinType::kInner || type == JoinType::kRight) {
    for (const int column : right.window_times) {
      times.times.push_back(column + left_width);
      times.window_times.push_back(column + left_width);
    }
    for (const int column : right.window_ends) times.window_ends.push_back(column + left_width);
  }
  times.lateness = std::max(left.lateness, right.lateness);
  return times;
}

// Grouped by the end of windows, changes of a group come before it; a time that is a group column too is in the window.
EventTimes OfAggregate(const PlanNode& node, const Catalog& catalog) {
  EventTimes times;
  const int groups = static_cast<int>(node.group_columns.size());
  if (node.windows && node.windows->assigned) {
    times.window_ends = {groups + 1};
    times.times = {groups + 2};
    times.window_times = {groups + 2};
    times.lateness = node.windows->lateness;
    return times;
  }
  const EventTimes input = EventTimesOf(*node.inputs[0], catalog);
  for (int i = 0; i < groups; ++i) {
    const int column = node.group_columns[static_cast<size_t>(i)];
    if (Contains(input.window_ends, column)) times.window_ends.push_back(i);
    // A time of the rows is behind the watermark when their window ends.
    if (Contains(input.window_times, column)) times.window_times.push_back(i);
  }
  times.times = times.window_times;
  times.lateness = node.windows ? node.windows->lateness : input.lateness;
  return times.window_ends.empty() ? EventTimes{} : times;
}

// What is held goes before a watermark does: the group columns have the times that they had.
EventTimes OfLocalAggregate(const PlanNode& node, const Catalog& catalog) {
  EventTimes times;
  const EventTimes input = EventTimesOf(*node.inputs[0], catalog);
  for (size_t i = 0; i < node.group_columns.size(); ++i) {
    if (Contains(input.window_ends, node.group_columns[i])) times.window_ends.push_back(static_cast<int>(i));
    if (Contains(input.times, node.group_columns[i])) times.times.push_back(static_cast<int>(i));
    if (Contains(input.window_times, node.group_columns[i])) times.window_times.push_back(static_cast<int>(i));
  }
  times.lateness = input.lateness;
  return times;
}

// Rows that wait for the watermark keep their times.  Otherwise rows come and go with those of their partition: until
// its window ends, if it is of one.
EventTimes OfOrdered(const PlanNode& node, const Catalog& catalog) {
  EventTimes times = EventTimesOf(*node.inputs[0], catalog);
  if (node.over_time >= 0) return times;
  KeepCommon(times.window_ends, node.partition);
  KeepCommon(times.window_times, node.partition);
  times.times = times.window_times;
  if (node.rank.window_end >= 0) times.lateness = std::max(times.lateness, node.rank.lateness);
  return times.window_ends.empty() ? EventTimes{} : times;
}

}  // namespace

EventTimes EventTimesOf(const PlanNode& node, const Catalog& catalog) {
  EventTimes times;
  switch (node.kind) {
    case NodeKind::kScan: {
      const std::optional<int> column = catalog.Find(node.relation)->event_time;
      for (size_t i = 0; column && i < node.scan_columns.size(); ++i) {
        if (node.scan_columns[i] == *column) times.times.push_back(static_cast<int>(i));
      }
      return times;
    }
    case NodeKind::kProject:
      times = EventTimesOf(*node.inputs[0], catalog);
      times.times = Forwarded(times.times, node.expressions);
      times.window_times = Forwarded(times.window_times, node.expressions);
      times.window_ends = Forwarded(times.window_ends, node.expressions);
      return times;
    case NodeKind::kUnion:
      times = EventTimesOf(*node.inputs[0], catalog);
      for (size_t i = 1; i < node.inputs.size(); ++i) {
        const EventTimes arm = EventTimesOf(*node.inputs[i], catalog);
        KeepCommon(times.times, arm.times);
        KeepCommon(times.window_times, arm.window_times);
        KeepCommon(times.window_ends, arm.window_ends);
        times.lateness = std::max(times.lateness, arm.lateness);
      }
      return times;
    case NodeKind::kJoin:
      return OfJoin(node, catalog);
    case NodeKind::kWindow: {
      times = EventTimesOf(*node.inputs[0], catalog);
      const int width = static_cast<int>(node.inputs[0]->schema->size());
      times.window_ends = {width + 1};
      times.times.push_back(width + 2);
      times.window_times.push_back(width + 2);
      return times;
    }
    case NodeKind::kAggregate:
      return OfAggregate(node, catalog);
    case NodeKind::kLocalAggregate:
      return OfLocalAggregate(node, catalog);
    case NodeKind::kRank:
    case NodeKind::kOver:
      return OfOrdered(node, catalog);
    case NodeKind::kUnnest:  // its input's columns stand first
    case NodeKind::kFilter:
    case NodeKind::kNormalise:
    case NodeKind::kExchange:
    case NodeKind::kKeyOrder:
      return EventTimesOf(*node.inputs[0], catalog);
    case NodeKind::kTemporalJoin:
      // A row leaves before the watermark that has passed its time.
      times = EventTimesOf(*node.inputs[0], catalog);
      times.times = {node.left_time};
      times.window_times.clear();
      times.window_ends.clear();
      return times;
    case NodeKind::kSink:
    case NodeKind::kLateRows:
    case NodeKind::kValues:
    case NodeKind::kTable:
      return times;
  }
  return times;
}

}  // namespace weir
