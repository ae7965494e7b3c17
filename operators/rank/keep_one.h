// ROW_NUMBER = 1 over append-only input: one record a partition.  Private to the folder; see rank.h.
#pragma once

#include "operators/rank/rank.h"

namespace weir {

Result<std::unique_ptr<Operator>> MakeKeepOne(const RankOptions& options);

}  // namespace weir
