#include "operators/aggregate/call_state.h"

#include "operators/aggregate/bitmap_state.h"
#include "operators/aggregate/sketch_state.h"
#include "operators/aggregate/value_list.h"

namespace weir {

void CallState::UpdateOne(char*, const Column&, size_t, int) {}

std::unique_ptr<CallState> MakeCallState(const AggregateCall& call, const Schema& input, uint8_t part,
                                         KeyedState* state) {
  switch (call.function) {
    case AggregateFunction::kStringAgg:
    case AggregateFunction::kArrayAgg:
    case AggregateFunction::kFirstValue:
    case AggregateFunction::kLastValue:
      return std::make_unique<ValueList>(call, input, part, state);
    case AggregateFunction::kApproxCountDistinct:
      return MakeSketchState(call, part, state);
    default:
      return MakeBitmapState(call, input[static_cast<size_t>(call.argument)].type, part, state);
  }
}

}  // namespace weir
