#include "operators/aggregate/partial.h"

namespace weir {
namespace {

// A list orders its values itself and so finds equal ones.
bool KeepsDuplicates(const Accumulator& accumulator) {
  return accumulator.form == Accumulator::Form::kState && accumulator.call.function != AggregateFunction::kBitmapBuild;
}

}  // namespace

Status Accumulator::MergePartials(std::span<const char* const> partials, std::span<const int8_t> signs,
                                  std::span<char* const> groups) const {
  if (form == Form::kCount) {
    for (size_t row = 0; row < signs.size(); ++row) {
      char* at = groups[row] + offset;
      if (signs[row] != 0) StoreAt(at, LoadAt<int64_t>(at) + LoadAt<int64_t>(partials[row] + partial_offset));
    }
    return {};
  }
  for (size_t row = 0; row < signs.size(); ++row) {
    if (signs[row] != 0) WEIR_TRY(MergeAt(groups[row] + offset, partials[row] + partial_offset));
  }
  return {};
}

bool NeedsSet(const Accumulator& accumulator) {
  return accumulator.form == Accumulator::Form::kExtremeSet ||
         (accumulator.call.distinct && accumulator.call.argument >= 0 && !KeepsDuplicates(accumulator));
}

size_t PlacePartials(std::span<Accumulator> accumulators, bool windows) {
  size_t end = kPartialChanges + (windows ? sizeof(int64_t) : 0);
  for (Accumulator& accumulator : accumulators) {
    accumulator.partial_offset = end;
    if (!NeedsSet(accumulator) && accumulator.form != Accumulator::Form::kState) end += accumulator.Size();
  }
  return end;
}

}  // namespace weir
