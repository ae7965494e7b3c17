// The blackhole connector: takes rows and forgets them, for measuring everything before it.
#pragma once

#include <memory>

#include "engine/runtime/operator.h"

namespace weir {

Result<std::unique_ptr<Operator>> MakeBlackholeSink();

}  // namespace weir
