// Where an operator's keyed state may be, when the job file says `state: rocksdb`.
#pragma once

#include "sql/plan/plan.h"

namespace weir {

// The others keep their state in memory whatever the job file says.
bool MayKeepStateInRocksDb(const PlanNode& node);

}  // namespace weir
