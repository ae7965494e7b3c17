// The portable Roaring format, checked and written.
//
// Bytes are checked before anything is built of them: the library that reads them trusts what they say.  They are
// written here because the library's bytes depend on what has made a set, and because its removeRunCompression (0.2.66)
// never ends where a run reaches the last value of a container.
#pragma once

#include <roaring/roaring.hh>
#include <string>
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

// Appends the one form that a 32-bit set has: of each container runs, an array or a bitset, whichever is smallest.
void AppendBitmapPart(const Roaring& part, std::string& out);

}  // namespace weir
