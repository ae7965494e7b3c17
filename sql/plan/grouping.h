// The plan of a GROUP BY: project(keys, arguments, filters) -> aggregate, and with grouping sets one aggregate a set,
// united: each gives NULL for the keys that it does not group by and the number that GROUPING reads, so that a key that
// is NULL does not meet a key that is left out.
#pragma once

#include "sql/plan/binder.h"

namespace weir {

PlanPtr PlanGrouping(const Grouping& grouping, const PlanPtr& input);

}  // namespace weir
