// Exact decimal arithmetic on unscaled 128-bit integers, with 256-bit intermediate results.
//
// A decimal(p,s) is an Int128 below 10^p; the type carries the scale.  Every function returns false instead of
// wrapping.
#pragma once

#include "engine/data/types.h"

namespace weir {

inline constexpr int kMaxDecimalDigits = 38;

// 10^exponent.  REQUIRES: 0 <= exponent <= 38.
Int128 PowerOfTen(int exponent);
int64_t PowerOfTen64(int exponent);  // REQUIRES: 0 <= exponent <= 18

// |value| < 10^precision.
bool FitsPrecision(Int128 value, int precision);
// Number of decimal digits, at least 1.
int DigitsOf(Int128 value);
// The same number at another scale, rounded half away from zero.
bool Rescale(Int128 value, int from_scale, int to_scale, Int128& out);
// value / 10^digits, rounded half away from zero.
Int128 RoundDigits(Int128 value, int digits);
// a * b / 10^drop, rounded half away from zero.
bool MultiplyDecimal(Int128 a, Int128 b, int drop, Int128& out);
// a * 10^shift / b, rounded half away from zero.  REQUIRES: b != 0, 0 <= shift <= 76.
bool DivideDecimal(Int128 a, Int128 b, int shift, Int128& out);
// The sign of a * 10^a_shift - b * 10^b_shift: exact whatever the sizes.
int CompareDecimal(Int128 a, int a_shift, Int128 b, int b_shift);

double DecimalToDouble(Int128 unscaled, int scale);

// The types of the results (see expression.h).
DataType AddType(const DataType& a, const DataType& b);
DataType MultiplyType(const DataType& a, const DataType& b);
DataType DivideType(const DataType& a, const DataType& b);
DataType ModuloType(const DataType& a, const DataType& b);

}  // namespace weir
