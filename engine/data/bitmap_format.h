// Checks the bytes of a bitmap before anything is built of them: the library that reads them trusts what they say.
#pragma once

#include <string_view>
#include <vector>

#include "engine/data/types.h"

namespace weir {

// A 32-bit bitmap within the bytes.
struct BitmapPart {
  uint32_t high = 0;  // upper half of its ids
  uint64_t cardinality = 0;
  std::string_view bytes;
};

// Whether the bytes are one whole bitmap in the portable format, in every detail: counts, offsets, ascending keys and
// values, runs that do not overlap, nothing behind the end.  Gives its parts, also those without ids.
bool CheckBitmap(TypeKind kind, std::string_view bytes, std::vector<BitmapPart>& parts);

}  // namespace weir
