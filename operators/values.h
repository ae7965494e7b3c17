// VALUES and a SELECT without FROM: a source that emits some rows once, in task 0, and ends.
#pragma once

#include <memory>

#include "engine/runtime/source.h"

namespace weir {

Result<std::unique_ptr<Source>> MakeValuesSource(Batch values);

}  // namespace weir
