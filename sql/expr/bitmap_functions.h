// Functions of bitmaps; registry.cc joins them with the others.
#pragma once

#include "sql/expr/registry.h"

namespace weir {

std::span<const FunctionRule> BitmapRules();

}  // namespace weir
