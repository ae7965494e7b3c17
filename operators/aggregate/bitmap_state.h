// BITMAP_BUILD_AGG, BITMAP_OR_AGG and their kin: one bitmap a group.
#pragma once

#include "operators/aggregate/call_state.h"

namespace weir {

std::unique_ptr<CallState> MakeBitmapState(const AggregateCall& call, const DataType& argument, uint8_t part,
                                           KeyedState* state);

}  // namespace weir
