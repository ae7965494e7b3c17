// The accumulators of BIT_AND, BIT_OR and BIT_XOR over integers.
//
//   without retractions   i64 values, i64 the result so far
//   with                  i64 values, and of each bit how many values have it: then any value can be taken back
#pragma once

#include "operators/aggregate/accumulator.h"

namespace weir {

inline constexpr size_t kBitsSize = 16;
inline constexpr size_t kBitCountsSize = 8 + 64 * sizeof(int64_t);

inline void AddBits(char* at, int64_t value, int sign, AggregateFunction function) {
  const auto count = LoadAt<int64_t>(at);
  auto bits = LoadAt<int64_t>(at + 8);
  switch (function) {
    case AggregateFunction::kBitAnd:
      bits = count == 0 ? value : bits & value;
      break;
    case AggregateFunction::kBitOr:
      bits |= value;
      break;
    default:
      bits ^= value;  // its own inverse
      break;
  }
  StoreAt(at, count + sign);
  StoreAt(at + 8, bits);
}

// Adds what `from` has taken, never of retracted input.
inline void MergeBits(char* at, const char* from, AggregateFunction function) {
  const auto count = LoadAt<int64_t>(from);
  if (count == 0) return;
  AddBits(at, LoadAt<int64_t>(from + 8), 1, function);
  StoreAt<int64_t>(at, LoadAt<int64_t>(at) + count - 1);
}

inline void AddBitCounts(char* at, int64_t value, int sign) {
  StoreAt<int64_t>(at, LoadAt<int64_t>(at) + sign);
  for (auto rest = static_cast<uint64_t>(value); rest != 0; rest &= rest - 1) {
    char* bit = at + 8 + static_cast<size_t>(__builtin_ctzll(rest)) * sizeof(int64_t);
    StoreAt<int64_t>(bit, LoadAt<int64_t>(bit) + sign);
  }
}

// REQUIRES: there are values.
inline int64_t BitsOf(const char* at, bool of_all) {
  const auto count = LoadAt<int64_t>(at);
  uint64_t bits = 0;
  for (size_t bit = 0; bit < 64; ++bit) {
    const auto has = LoadAt<int64_t>(at + 8 + bit * sizeof(int64_t));
    if (of_all ? has == count : has > 0) bits |= uint64_t{1} << bit;
  }
  return static_cast<int64_t>(bits);
}

}  // namespace weir
