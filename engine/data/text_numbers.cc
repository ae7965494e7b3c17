// Numbers as text and back, exact: a decimal never passes through a double.
//
// A number is scanned once into its parts (sign, digits, place of the point, exponent).  The common shape, at most 18
// digits without an exponent, is accumulated in the same pass; everything else is computed from the parts.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "engine/data/text.h"

namespace weir {
namespace {

constexpr int kMaxDigits = 38;
constexpr int64_t kExponentBound = 1'000'000'000;  // beyond any length of text: larger exponents say no more

constexpr std::array<Int128, kMaxDigits + 1> MakePowers() {
  std::array<Int128, kMaxDigits + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr auto kPowers = MakePowers();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The parts of [sign] digits [. digits] [e [sign] digits].
struct NumberParts {
  bool negative = false;
  bool plus = false;          // an explicit +
  std::string_view whole;     // digits before the point
  std::string_view fraction;  // digits behind it
  int64_t exponent = 0;       // clamped to +-kExponentBound
  bool has_exponent = false;
};

std::string_view TakeDigits(const char*& at, const char* end) {
  const char* start = at;
  while (at != end && IsDigit(*at)) ++at;
  return {start, static_cast<size_t>(at - start)};
}

bool Scan(std::string_view text, NumberParts& parts) {
  const char* at = text.data();
  const char* end = at + text.size();
  if (at != end && (*at == '-' || *at == '+')) {
    parts.negative = *at == '-';
    parts.plus = !parts.negative;
    ++at;
  }
  parts.whole = TakeDigits(at, end);
  if (at != end && *at == '.') {
    ++at;
    parts.fraction = TakeDigits(at, end);
  }
  if (parts.whole.empty() && parts.fraction.empty()) return false;
  if (at == end) return true;
  if (*at != 'e' && *at != 'E') return false;
  ++at;
  parts.has_exponent = true;
  bool negative = false;
  if (at != end && (*at == '-' || *at == '+')) negative = *at++ == '-';
  const std::string_view digits = TakeDigits(at, end);
  if (digits.empty() || at != end) return false;
  for (const char c : digits) parts.exponent = std::min(parts.exponent * 10 + (c - '0'), kExponentBound);
  if (negative) parts.exponent = -parts.exponent;
  return true;
}

// The digits of a number from its first significant one, as if the point stood behind `whole_digits` of them (which
// may be negative or more than there are).
class Digits {
 public:
  explicit Digits(const NumberParts& parts) : parts_(parts) {
    const size_t all = parts.whole.size() + parts.fraction.size();
    while (skipped_ < all && At(skipped_) == '0') ++skipped_;
    count_ = all - skipped_;
    whole_digits_ = static_cast<int64_t>(parts.whole.size()) - static_cast<int64_t>(skipped_) + parts.exponent;
  }
  bool zero() const { return count_ == 0; }
  size_t count() const { return count_; }
  int64_t whole_digits() const { return whole_digits_; }
  int operator[](int64_t i) const {
    return i >= 0 && static_cast<size_t>(i) < count_ ? At(skipped_ + static_cast<size_t>(i)) - '0' : 0;
  }

 private:
  char At(size_t i) const {
    return i < parts_.whole.size() ? parts_.whole[i] : parts_.fraction[i - parts_.whole.size()];
  }

  const NumberParts& parts_;
  size_t skipped_ = 0;
  size_t count_ = 0;
  int64_t whole_digits_ = 0;
};

Parsed<Int128> DecimalFromParts(const NumberParts& parts, int precision, int scale) {
  const Digits digits(parts);
  const int64_t kept = digits.whole_digits() + scale;  // digits of the result before rounding
  if (digits.zero() || kept < 0) return {0};
  if (kept > precision) return {0, ParseFault::kRange};
  Int128 value = 0;
  for (int64_t i = 0; i < kept; ++i) value = value * 10 + digits[i];
  if (digits[kept] >= 5) ++value;
  if (value >= kPowers[precision]) return {0, ParseFault::kRange};
  return {parts.negative ? -value : value};
}

// [-]digits[.digits] of at most 18 digits in one pass; false when the text has another shape.
bool FastDecimal(std::string_view text, int precision, int scale, Parsed<Int128>& out) {
  const char* at = text.data();
  const char* end = at + text.size();
  const bool negative = at != end && *at == '-';
  at += negative;
  if (end - at > 19 || at == end || !IsDigit(*at)) return false;
  uint64_t value = 0;  // a 19th digit is looked at before the text is refused
  int digits = 0;
  int fraction = -1;
  for (; at != end; ++at) {
    if (IsDigit(*at)) {
      value = value * 10 + static_cast<uint64_t>(*at - '0');
      ++digits;
      fraction += fraction >= 0;
    } else if (*at == '.' && fraction < 0) {
      fraction = 0;
    } else {
      return false;
    }
  }
  if (digits > 18 || fraction > scale) return false;
  const int shift = scale - std::max(fraction, 0);
  if (shift + digits > kMaxDigits) return false;
  const Int128 scaled = static_cast<Int128>(value) * kPowers[shift];
  if (scaled >= kPowers[precision]) {
    out = {0, ParseFault::kRange};
  } else {
    out = {negative ? -scaled : scaled};
  }
  return true;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
         });
}

template <class T>
Parsed<double> ParseFloating(std::string_view text, bool words) {
  NumberParts parts;
  if (!Scan(text, parts)) {
    if (!words) return {0, ParseFault::kSyntax};
    std::string_view word = text;
    const bool sign = !word.empty() && (word[0] == '-' || word[0] == '+');
    const bool negative = sign && word[0] == '-';
    if (sign) word.remove_prefix(1);
    if (!sign && EqualsIgnoringCase(word, "nan")) return {std::numeric_limits<double>::quiet_NaN()};
    if (EqualsIgnoringCase(word, "infinity") || EqualsIgnoringCase(word, "inf")) {
      const double infinity = std::numeric_limits<double>::infinity();
      return {negative ? -infinity : infinity};
    }
    return {0, ParseFault::kSyntax};
  }
  if (parts.plus) text.remove_prefix(1);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Too small is zero, too large is an error: the place of the first digit tells which.
    if (Digits(parts).whole_digits() > 0) return {0, ParseFault::kRange};
    return {parts.negative ? -0.0 : 0.0};
  }
  if (error != std::errc() || end != text.data() + text.size()) return {0, ParseFault::kSyntax};
  if (std::isinf(value)) return {0, ParseFault::kRange};
  return {static_cast<double>(value)};
}

// PostgreSQL writes plain digits for exponents from -4 to `plain_below` - 1, else d.ddde+XX.
template <class T>
void AppendFloating(T value, T plain_below, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char buffer[64];
  const T size = std::fabs(value);
  const bool plain = size == 0 || (size >= static_cast<T>(1e-4) && size < plain_below);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, format);
  WEIR_CHECK(error == std::errc());
  out.append(buffer, end);
}

void AppendUnsigned(uint64_t value, int min_digits, std::string& out) {
  char buffer[20];
  char* at = buffer + sizeof buffer;
  while (value != 0 || buffer + sizeof buffer - at < min_digits) {
    *--at = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  out.append(at, buffer + sizeof buffer);
}

}  // namespace

Parsed<Int128> ParseDecimal(std::string_view text, int precision, int scale) {
  Parsed<Int128> fast;
  if (FastDecimal(text, precision, scale, fast)) return fast;
  NumberParts parts;
  if (!Scan(text, parts)) return {0, ParseFault::kSyntax};
  return DecimalFromParts(parts, precision, scale);
}

Parsed<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (value < min || value > max) return {0, ParseFault::kRange};
    return {value};
  }
  NumberParts parts;
  if (!Scan(text, parts)) return {0, ParseFault::kSyntax};
  const Digits digits(parts);
  if (digits.zero()) return {0};
  for (int64_t i = std::max<int64_t>(digits.whole_digits(), 0); i < static_cast<int64_t>(digits.count()); ++i) {
    if (digits[i] != 0) return {0, ParseFault::kSyntax};
  }
  const Parsed<Int128> wide = DecimalFromParts(parts, kMaxDigits, 0);
  if (!wide || wide.value < min || wide.value > max) return {0, ParseFault::kRange};
  return {static_cast<int64_t>(wide.value)};
}

Parsed<double> ParseDouble(std::string_view text, bool words) { return ParseFloating<double>(text, words); }
Parsed<double> ParseFloat(std::string_view text, bool words) { return ParseFloating<float>(text, words); }

Parsed<bool> ParseBoolean(std::string_view text) {
  // PostgreSQL takes any prefix that is not ambiguous: "o" alone could be on or off.
  if (text.empty() || text.size() > 5) return {false, ParseFault::kSyntax};
  for (const auto& [word, value, shortest] : {std::tuple{std::string_view("true"), true, size_t{1}},
                                              {std::string_view("yes"), true, 1},
                                              {std::string_view("on"), true, 2},
                                              {std::string_view("1"), true, 1},
                                              {std::string_view("false"), false, 1},
                                              {std::string_view("no"), false, 1},
                                              {std::string_view("off"), false, 2},
                                              {std::string_view("0"), false, 1}}) {
    if (text.size() >= shortest && text.size() <= word.size() &&
        EqualsIgnoringCase(text, word.substr(0, text.size()))) {
      return {value};
    }
  }
  return {false, ParseFault::kSyntax};
}

void AppendInteger(int64_t value, std::string& out) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void AppendDecimal(Int128 unscaled, int scale, std::string& out) {
  __extension__ using Wide = unsigned __int128;
  Wide size = static_cast<Wide>(unscaled);
  if (unscaled < 0) {
    out += '-';
    size = ~size + 1;
  }
  const Wide unit = static_cast<Wide>(kPowers[scale]);
  // Both halves of the point have up to 38 digits; each is written as up to two 64-bit numbers.
  constexpr uint64_t kHalf = 10'000'000'000'000'000'000U;
  const auto append = [&](Wide value, int digits) {
    if (value >= kHalf || digits > 19) {
      AppendUnsigned(static_cast<uint64_t>(value / kHalf), digits - 19, out);
      AppendUnsigned(static_cast<uint64_t>(value % kHalf), 19, out);
    } else {
      AppendUnsigned(static_cast<uint64_t>(value), digits, out);
    }
  };
  if (size <= std::numeric_limits<uint64_t>::max() && scale <= 19) {
    const uint64_t narrow = static_cast<uint64_t>(size);
    const uint64_t narrow_unit = static_cast<uint64_t>(unit);
    AppendUnsigned(narrow / narrow_unit, 1, out);
    if (scale == 0) return;
    out += '.';
    return AppendUnsigned(narrow % narrow_unit, scale, out);
  }
  append(size / unit, 1);
  if (scale == 0) return;
  out += '.';
  append(size % unit, scale);
}

void AppendDouble(double value, std::string& out) { AppendFloating<double>(value, 1e15, out); }
void AppendFloat(double value, std::string& out) { AppendFloating<float>(static_cast<float>(value), 1e6F, out); }

}  // namespace weir
