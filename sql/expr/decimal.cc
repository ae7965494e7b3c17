#include "sql/expr/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "engine/base/check.h"
#include "engine/data/text.h"

namespace weir {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr auto kPowers = [] {
  std::array<Int128, kMaxDecimalDigits + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

constexpr Int128 kLargest = static_cast<Int128>(~Wide{0} >> 1);

Wide Magnitude(Int128 value) { return value < 0 ? Wide{0} - static_cast<Wide>(value) : static_cast<Wide>(value); }

// An unsigned number of 256 bits: four limbs, the lowest first.
struct Limbs {
  std::array<uint64_t, 4> limb{};

  // Adds x; false on overflow.
  bool Add(Wide x) {
    Wide carry = x & ~uint64_t{0};
    const uint64_t high = static_cast<uint64_t>(x >> 64);
    for (size_t i = 0; i < 4; ++i) {
      carry += limb[i];
      if (i == 1) carry += high;
      limb[i] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    return carry == 0;
  }
  bool MultiplyBy(uint64_t factor) {
    Wide carry = 0;
    for (uint64_t& part : limb) {
      carry += static_cast<Wide>(part) * factor;
      part = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    return carry == 0;
  }
  void DivideBy(uint64_t divisor) {
    Wide rest = 0;
    for (size_t i = 4; i-- > 0;) {
      rest = rest << 64 | limb[i];
      limb[i] = static_cast<uint64_t>(rest / divisor);
      rest %= divisor;
    }
  }
  // Schoolbook division bit by bit; the quotient replaces the number, the remainder is returned.
  Wide DivideByWide(Wide divisor) {
    Wide rest = 0;
    for (int bit = 255; bit >= 0; --bit) {
      const size_t i = static_cast<size_t>(bit / 64);
      const int shift = bit % 64;
      const bool carry = static_cast<bool>(rest >> 127);
      rest = rest << 1 | (limb[i] >> shift & 1);
      const bool fits = carry || rest >= divisor;
      if (fits) rest -= divisor;
      limb[i] = (limb[i] & ~(uint64_t{1} << shift)) | (static_cast<uint64_t>(fits) << shift);
    }
    return rest;
  }
  bool ToSigned(bool negative, Int128& out) const {
    if (limb[3] != 0 || limb[2] != 0) return false;
    const Wide value = static_cast<Wide>(limb[1]) << 64 | limb[0];
    if (value > static_cast<Wide>(kLargest)) return false;
    out = negative ? -static_cast<Int128>(value) : static_cast<Int128>(value);
    return true;
  }
};

Limbs Product(Wide a, Wide b) {
  Limbs out;
  const uint64_t as[] = {static_cast<uint64_t>(a), static_cast<uint64_t>(a >> 64)};
  const uint64_t bs[] = {static_cast<uint64_t>(b), static_cast<uint64_t>(b >> 64)};
  for (size_t i = 0; i < 2; ++i) {
    Wide carry = 0;
    for (size_t j = 0; j < 2; ++j) {
      carry += static_cast<Wide>(as[i]) * bs[j] + out.limb[i + j];
      out.limb[i + j] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    out.limb[i + 2] = static_cast<uint64_t>(carry);
  }
  return out;
}

// Digits before the point, at least what a literal 0.5 has: none.
int IntegerDigits(const DataType& type) { return type.precision - type.scale; }

DataType Capped(int precision, int scale) {
  return DecimalType(std::clamp(precision, 1, kMaxDecimalDigits), std::min(scale, kMaxDecimalDigits));
}

}  // namespace

Int128 PowerOfTen(int exponent) {
  WEIR_CHECK(exponent >= 0 && exponent <= kMaxDecimalDigits);
  return kPowers[static_cast<size_t>(exponent)];
}

int64_t PowerOfTen64(int exponent) {
  WEIR_CHECK(exponent >= 0 && exponent <= 18);
  return static_cast<int64_t>(kPowers[static_cast<size_t>(exponent)]);
}

bool FitsPrecision(Int128 value, int precision) {
  const Int128 limit = PowerOfTen(precision);
  return value < limit && value > -limit;
}

int DigitsOf(Int128 value) {
  const Wide magnitude = Magnitude(value);
  int digits = 1;
  while (digits < kMaxDecimalDigits && magnitude >= static_cast<Wide>(PowerOfTen(digits))) ++digits;
  return digits;
}

Int128 RoundDigits(Int128 value, int digits) {
  if (digits == 0) return value;
  if (digits > kMaxDecimalDigits) return 0;
  const Int128 power = PowerOfTen(digits);
  const Int128 rest = value % power;
  const Int128 half = power / 2;
  return value / power + (rest >= half ? 1 : rest <= -half ? -1 : 0);
}

bool Rescale(Int128 value, int from_scale, int to_scale, Int128& out) {
  if (to_scale <= from_scale) {
    out = RoundDigits(value, from_scale - to_scale);
    return true;
  }
  return !__builtin_mul_overflow(value, PowerOfTen(to_scale - from_scale), &out);
}

bool MultiplyDecimal(Int128 a, Int128 b, int drop, Int128& out) {
  Int128 product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) {
    out = RoundDigits(product, drop);
    return true;
  }
  Limbs wide = Product(Magnitude(a), Magnitude(b));
  if (drop > kMaxDecimalDigits) {
    wide.DivideBy(static_cast<uint64_t>(PowerOfTen(drop - kMaxDecimalDigits)));
    drop = kMaxDecimalDigits;
  }
  if (drop > 0) {
    if (!wide.Add(static_cast<Wide>(PowerOfTen(drop) / 2))) return false;
    for (; drop > 0; drop -= std::min(drop, 18)) wide.DivideBy(static_cast<uint64_t>(PowerOfTen(std::min(drop, 18))));
  }
  return wide.ToSigned((a < 0) != (b < 0), out);
}

bool DivideDecimal(Int128 a, Int128 b, int shift, Int128& out) {
  Int128 scaled = 0;
  if (shift <= kMaxDecimalDigits && !__builtin_mul_overflow(a, PowerOfTen(shift), &scaled)) {
    const Int128 quotient = scaled / b;
    const Wide rest = Magnitude(scaled % b);
    const bool up = rest >= Magnitude(b) - rest;
    out = quotient + (up ? ((a < 0) != (b < 0) ? -1 : 1) : 0);
    return true;
  }
  Limbs wide = Product(Magnitude(a), static_cast<Wide>(PowerOfTen(std::min(shift, kMaxDecimalDigits))));
  for (int left = shift - kMaxDecimalDigits; left > 0; left -= std::min(left, 18)) {
    if (!wide.MultiplyBy(static_cast<uint64_t>(PowerOfTen(std::min(left, 18))))) return false;
  }
  const Wide divisor = Magnitude(b);
  const Wide rest = wide.DivideByWide(divisor);
  if (rest >= divisor - rest && !wide.Add(1)) return false;
  return wide.ToSigned((a < 0) != (b < 0), out);
}

int CompareDecimal(Int128 a, int a_shift, Int128 b, int b_shift) {
  Int128 left = 0;
  Int128 right = 0;
  // A number too large to be scaled up is further from zero than any decimal of the other side.
  if (__builtin_mul_overflow(a, PowerOfTen(a_shift), &left)) return a < 0 ? -1 : 1;
  if (__builtin_mul_overflow(b, PowerOfTen(b_shift), &right)) return b < 0 ? 1 : -1;
  return left < right ? -1 : left > right ? 1 : 0;
}

double DecimalToDouble(Int128 unscaled, int scale) {
  // Both are exact in a double, so that the one division rounds correctly.
  if (scale <= 22 && unscaled < (int64_t{1} << 53) && unscaled > -(int64_t{1} << 53)) {
    return static_cast<double>(unscaled) / static_cast<double>(PowerOfTen(scale));
  }
  std::string text;
  AppendDecimal(unscaled, scale, text);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

DataType AddType(const DataType& a, const DataType& b) {
  const int scale = std::max(a.scale, b.scale);
  return Capped(std::max(IntegerDigits(a), IntegerDigits(b)) + 1 + scale, scale);
}

DataType MultiplyType(const DataType& a, const DataType& b) {
  const int precision = a.precision + b.precision;
  const int scale = a.scale + b.scale;
  if (precision <= kMaxDecimalDigits) return Capped(precision, scale);
  return Capped(precision, std::min(scale, std::max({int{a.scale}, int{b.scale}, 20})));
}

DataType DivideType(const DataType& a, const DataType& b) {
  const int scale = std::max(6, a.scale + b.precision + 1);
  const int integer_digits = IntegerDigits(a) + b.scale;
  if (integer_digits + scale <= kMaxDecimalDigits) return Capped(integer_digits + scale, scale);
  return Capped(kMaxDecimalDigits, std::max(kMaxDecimalDigits - integer_digits, std::min(scale, 16)));
}

DataType ModuloType(const DataType& a, const DataType& b) {
  const int scale = std::max(a.scale, b.scale);
  return Capped(std::min(IntegerDigits(a), IntegerDigits(b)) + scale, scale);
}

}  // namespace weir
