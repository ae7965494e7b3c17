// The bytes of an array value in a kText column: u32 count, then per element one presence byte (1 = there) and, if
// there, the value: 1 byte for boolean, 8 for int64 and double, 16 for int128, u32 length and the bytes for text.
#pragma once

#include <string>

#include "engine/data/column.h"

namespace weir {

// The elements [from, from + count) of `elements` as one value.
void AppendArray(const Column& elements, size_t from, size_t count, std::string& out);
// Number of elements.
size_t ArraySize(std::string_view value);
// Appends every element to `elements`, whose type is the array's element type.
void DecodeArray(std::string_view value, Column& elements);

}  // namespace weir
