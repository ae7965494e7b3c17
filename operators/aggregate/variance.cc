#include "operators/aggregate/variance.h"

#include <array>
#include <cmath>
#include <limits>

#include "operators/aggregate/accumulator.h"

namespace weir {
namespace {

__extension__ typedef unsigned __int128 UInt128;
__extension__ typedef __float128 Float128;

// --- exact numbers: places of the accumulator, and unsigned numbers of many digits
constexpr size_t kSquares = 16;  // low 128 bits, then high
constexpr size_t kExactCount = 48;

constexpr size_t kLimbs = 6;
using Limbs = std::array<uint64_t, kLimbs>;  // lowest first

// a * b; the bits above kLimbs are not there in any of our numbers.
Limbs Product(const Limbs& a, const Limbs& b) {
  Limbs out{};
  for (size_t i = 0; i < kLimbs; ++i) {
    UInt128 carry = 0;
    for (size_t j = 0; i + j < kLimbs; ++j) {
      carry += static_cast<UInt128>(a[i]) * b[j] + out[i + j];
      out[i + j] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
  }
  return out;
}

// a - b.  REQUIRES: a >= b.
Limbs Difference(const Limbs& a, const Limbs& b) {
  Limbs out{};
  uint64_t borrow = 0;
  for (size_t i = 0; i < kLimbs; ++i) {
    const UInt128 taken = static_cast<UInt128>(b[i]) + borrow;
    borrow = taken > a[i] ? 1 : 0;
    out[i] = static_cast<uint64_t>(a[i] - taken);
  }
  return out;
}

Limbs LimbsOf(UInt128 low, UInt128 high = 0) {
  return {static_cast<uint64_t>(low), static_cast<uint64_t>(low >> 64), static_cast<uint64_t>(high),
          static_cast<uint64_t>(high >> 64)};
}

UInt128 Magnitude(Int128 value) { return value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value); }

// False when the sum leaves 256 bits.
bool AddSquares(char* at, UInt128 low, UInt128 high) {
  const auto old_high = LoadAt<UInt128>(at + kSquares + sizeof low);
  const UInt128 new_low = LoadAt<UInt128>(at + kSquares) + low;
  const UInt128 new_high = old_high + high + (new_low < low ? 1 : 0);
  StoreAt(at + kSquares, new_low);
  StoreAt(at + kSquares + sizeof low, new_high);
  return new_high >= old_high;
}

// --- doubles
constexpr size_t kTerms = 3;
constexpr size_t kDoubleSquares = kTerms * sizeof(double);
constexpr size_t kFinite = 2 * kTerms * sizeof(double);
constexpr size_t kOthers = kFinite + 8;

// Adds to a cascade: each term takes what rounding has cut off the one before (two-sum, Knuth).
void AddToCascade(char* at, double value) {
  for (size_t term = 0; term < kTerms; ++term) {
    const auto before = LoadAt<double>(at + term * sizeof(double));
    const double sum = before + value;
    const double other = sum - before;
    const double lost = (before - (sum - other)) + (value - other);
    StoreAt(at + term * sizeof(double), sum);
    value = lost;
    if (value == 0) return;
  }
}

Float128 CascadeSum(const char* at) {
  Float128 sum = 0;
  for (size_t term = kTerms; term-- > 0;) sum += LoadAt<double>(at + term * sizeof(double));
  return sum;
}

}  // namespace

bool MergeExactVariance(char* at, const char* from) {
  Int128 sum = LoadAt<Int128>(at);
  const bool overflow = __builtin_add_overflow(sum, LoadAt<Int128>(from), &sum);
  StoreAt(at, sum);
  StoreAt<int64_t>(at + kExactCount, LoadAt<int64_t>(at + kExactCount) + LoadAt<int64_t>(from + kExactCount));
  const auto low = LoadAt<UInt128>(from + kSquares);
  const auto high = LoadAt<UInt128>(from + kSquares + sizeof low);
  return !overflow && AddSquares(at, low, high);
}

bool MergeDoubleVariance(char* at, const char* from) {
  const auto finite = LoadAt<int64_t>(from + kFinite);
  StoreAt<int64_t>(at + kFinite, LoadAt<int64_t>(at + kFinite) + finite);
  StoreAt<int64_t>(at + kOthers, LoadAt<int64_t>(at + kOthers) + LoadAt<int64_t>(from + kOthers));
  for (size_t term = 0; term < kTerms; ++term) {
    AddToCascade(at, LoadAt<double>(from + term * sizeof(double)));
    AddToCascade(at + kDoubleSquares, LoadAt<double>(from + kDoubleSquares + term * sizeof(double)));
  }
  return std::isfinite(LoadAt<double>(at)) && std::isfinite(LoadAt<double>(at + kDoubleSquares));
}

bool AddExactVariance(char* at, Int128 value, int sign) {
  Int128 sum = LoadAt<Int128>(at);
  const bool overflow = sign > 0 ? __builtin_add_overflow(sum, value, &sum) : __builtin_sub_overflow(sum, value, &sum);
  StoreAt(at, sum);
  StoreAt<int64_t>(at + kExactCount, LoadAt<int64_t>(at + kExactCount) + sign);
  const UInt128 size = Magnitude(value);
  const Limbs square = Product(LimbsOf(size), LimbsOf(size));
  const UInt128 square_low = square[0] | static_cast<UInt128>(square[1]) << 64;
  const UInt128 square_high = square[2] | static_cast<UInt128>(square[3]) << 64;
  if (sign > 0) return AddSquares(at, square_low, square_high) && !overflow;
  const auto low = LoadAt<UInt128>(at + kSquares);
  const auto high = LoadAt<UInt128>(at + kSquares + sizeof low);
  StoreAt<UInt128>(at + kSquares, low - square_low);
  StoreAt<UInt128>(at + kSquares + sizeof low, high - square_high - (low < square_low ? 1 : 0));
  return !overflow;
}

std::optional<double> ExactVariance(const char* at, int scale, bool sample) {
  const auto count = LoadAt<int64_t>(at + kExactCount);
  if (count <= (sample ? 1 : 0)) return std::nullopt;
  const Limbs squares = LimbsOf(LoadAt<UInt128>(at + kSquares), LoadAt<UInt128>(at + kSquares + sizeof(UInt128)));
  const Limbs sum = LimbsOf(Magnitude(LoadAt<Int128>(at)));
  const Limbs spread = Difference(Product(squares, LimbsOf(static_cast<UInt128>(count))), Product(sum, sum));
  long double value = 0;
  for (size_t i = kLimbs; i-- > 0;) value = value * 18446744073709551616.0L + static_cast<long double>(spread[i]);
  value /= static_cast<long double>(count);
  value /= static_cast<long double>(sample ? count - 1 : count);
  return static_cast<double>(value / std::pow(10.0L, 2 * scale));
}

bool AddDoubleVariance(char* at, double value, int sign) {
  if (!std::isfinite(value)) {
    StoreAt<int64_t>(at + kOthers, LoadAt<int64_t>(at + kOthers) + sign);
    return true;
  }
  const int64_t finite = LoadAt<int64_t>(at + kFinite) + sign;
  StoreAt(at + kFinite, finite);
  if (finite == 0) {
    std::memset(at, 0, kFinite);
    return true;
  }
  const double square = value * value;
  const double rest = std::fma(value, value, -square);
  AddToCascade(at, sign * value);
  AddToCascade(at + kDoubleSquares, sign * square);
  AddToCascade(at + kDoubleSquares, sign * rest);
  return std::isfinite(LoadAt<double>(at)) && std::isfinite(LoadAt<double>(at + kDoubleSquares));
}

std::optional<double> DoubleVariance(const char* at, bool sample) {
  const auto finite = LoadAt<int64_t>(at + kFinite);
  const auto others = LoadAt<int64_t>(at + kOthers);
  const int64_t count = finite + others;
  if (count <= (sample ? 1 : 0)) return std::nullopt;
  if (others > 0) return std::numeric_limits<double>::quiet_NaN();
  const Float128 sum = CascadeSum(at);
  const Float128 n = static_cast<Float128>(count);
  // What 113 bits cannot tell from nothing may come out below it.
  const Float128 spread = CascadeSum(at + kDoubleSquares) - sum * sum / n;
  return spread > 0 ? static_cast<double>(spread / (sample ? n - 1 : n)) : 0.0;
}

}  // namespace weir
