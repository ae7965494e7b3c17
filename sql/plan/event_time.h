// Which columns of a node carry the watermark of its source, and which are windows.
#pragma once

#include <vector>

#include "sql/plan/catalog.h"
#include "sql/plan/plan.h"

namespace weir {

struct EventTimes {
  // Columns whose values the watermark speaks of: behind a watermark of W come values of at least W, but for late rows.
  // A window function takes such a column only.  They are a source's event_time and a window's window_time, through
  // filters, projections and unions; a regular join mixes times and has none.
  std::vector<int> times;
  // Those of `times` that are window_time: results of a window carry no other, as they come when it ends.  A millisecond
  // before the end, they may be behind a watermark of microseconds.
  std::vector<int> window_times;
  // Ends of windows: all changes of a row with the value E come before the watermark E (plus `lateness`).  Grouping or
  // joining by one of them gives results that end, and state that goes.
  std::vector<int> window_ends;
  // Of the windows below: rows may come so much behind the watermarks that the columns speak of.
  Micros lateness = 0;
};

// For trees before and after the rules.
EventTimes EventTimesOf(const PlanNode& node, const Catalog& catalog);

}  // namespace weir
