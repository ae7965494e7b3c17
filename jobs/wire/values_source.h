// VALUES in the running job: a bounded source of one batch.
#pragma once

#include <memory>

#include "engine/runtime/source.h"

namespace weir {

// The rows are emitted once in the life of the job, also over restarts; in task 0.
std::unique_ptr<Source> MakeValuesSource(Batch rows);

}  // namespace weir
