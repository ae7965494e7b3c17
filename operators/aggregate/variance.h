// The accumulator of VAR_POP, VAR_SAMP, STDDEV_POP and STDDEV_SAMP: count, sum and sum of squares, kept so precisely
// that values may be taken back.
//
//   Exact numbers   Int128 sum, 256 bits of squares, i64 count: no digit is lost.
//   Doubles         the sum and the squares as cascades of three doubles each (what rounding cuts off one goes into the
//                   next: some 159 bits), i64 finite values, i64 others (NaN and the infinities, which make the result
//                   NaN as in PostgreSQL).
//
// The difference of n * squares and sum * sum is formed with all bits of an exact sum and with 113 bits of doubles, so
// that a small variance beside a large mean is right, which a running mean with retractions is not.
#pragma once

#include <optional>

#include "engine/data/types.h"

namespace weir {

inline constexpr size_t kExactVarianceSize = 56;
inline constexpr size_t kDoubleVarianceSize = 64;

// Adds (sign 1) or takes back (-1) a value.  False when a sum leaves its range.
bool AddExactVariance(char* at, Int128 value, int sign);
bool AddDoubleVariance(char* at, double value, int sign);

// Adds what another accumulator has taken.
bool MergeExactVariance(char* at, const char* from);
bool MergeDoubleVariance(char* at, const char* from);

// The variance, of the population or of a sample; empty without enough values.  `scale`: of the exact numbers.
std::optional<double> ExactVariance(const char* at, int scale, bool sample);
std::optional<double> DoubleVariance(const char* at, bool sample);

}  // namespace weir
