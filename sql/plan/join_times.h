// What a join knows from the event times of its inputs.
#pragma once

#include "sql/plan/catalog.h"
#include "sql/plan/plan.h"

namespace weir {

// earlier + offset <= later, or < where it is strict.
struct TimeBound {
  int earlier = -1;  // columns over left, then right columns
  int later = -1;
  Micros offset = 0;
  bool strict = false;
};

// A comparison of two columns, each of which may have an interval added or subtracted; empty for anything else.
std::optional<TimeBound> AsTimeBound(const ExpressionPtr& conjunct);

// Sets which rows a join may forget.  Window join (on the ends of windows): those of a window that has ended, on both
// sides.  Interval join: those of the sides whose rows the condition bounds from above in the other side's event time or end of windows.
// REQUIRES: both inputs append.  For trees with and without exchanges.
void FindExpiry(PlanNode& join, const Catalog& catalog);

}  // namespace weir
