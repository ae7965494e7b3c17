// PostgreSQL's interval text: numbers with units, and hh:mm[:ss[.f]] without.
#include <cctype>

#include "engine/data/text.h"

namespace weir {
namespace {

constexpr Micros kSecond = 1'000'000;

struct Unit {
  std::string_view names;  // each name between blanks
  Micros micros;           // 0: a month unit
  int64_t months;
};

constexpr Unit kUnits[] = {
    {" microsecond microseconds us usec usecs ", 1, 0},
    {" millisecond milliseconds ms msec msecs ", 1'000, 0},
    {" second seconds s sec secs ", kSecond, 0},
    {" minute minutes m min mins ", 60 * kSecond, 0},
    {" hour hours h hr hrs ", 3'600 * kSecond, 0},
    {" day days d ", 86'400 * kSecond, 0},
    {" week weeks w ", 7 * 86'400 * kSecond, 0},
    {" month months mon mons ", 0, 1},
    {" year years y yr yrs ", 0, 12},
};

const Unit* FindUnit(std::string_view word) {
  std::string wanted = " ";
  for (const char c : word) wanted += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  wanted += ' ';
  for (const Unit& unit : kUnits) {
    if (unit.names.find(wanted) != std::string_view::npos) return &unit;
  }
  return nullptr;
}

std::string_view TakeWhile(std::string_view& text, bool (*wanted)(char)) {
  size_t size = 0;
  while (size < text.size() && wanted(text[size])) ++size;
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsNumber(char c) { return (c >= '0' && c <= '9') || c == '.' || c == ':' || c == '-' || c == '+'; }

// Adds number * unit, exactly; false on overflow or a fraction of a month.
ParseFault AddUnit(std::string_view number, const Unit& unit, IntervalValue& value) {
  const Parsed<Int128> parsed = ParseDecimal(number, 30, 9);
  if (!parsed) return parsed.fault;
  constexpr Int128 kOne = 1'000'000'000;
  if (unit.months != 0) {
    if (parsed.value * unit.months % kOne != 0) return ParseFault::kSyntax;
    const Int128 months = parsed.value * unit.months / kOne + value.months;
    if (months > INT32_MAX || months < INT32_MIN) return ParseFault::kRange;
    value.months = static_cast<int64_t>(months);
    return ParseFault::kNone;
  }
  constexpr Int128 kLimit = Int128{INT64_MAX} * kOne;
  Int128 micros = 0;
  if (__builtin_mul_overflow(parsed.value, Int128{unit.micros}, &micros)) return ParseFault::kRange;
  micros += Int128{value.micros} * kOne;
  if (micros > kLimit || micros < -kLimit) return ParseFault::kRange;
  value.micros = static_cast<Micros>((micros + (micros < 0 ? -kOne / 2 : kOne / 2)) / kOne);
  return ParseFault::kNone;
}

// [+-]h:mm[:ss[.f]] with any number of hours.
ParseFault AddClock(std::string_view clock, IntervalValue& value) {
  const bool negative = clock.front() == '-';
  if (negative || clock.front() == '+') clock.remove_prefix(1);
  IntervalValue sum;
  for (const Unit* unit = &kUnits[4]; unit >= &kUnits[2]; --unit) {  // hours, minutes, seconds
    const size_t colon = clock.find(':');
    const bool last = colon == std::string_view::npos;
    const std::string_view part = clock.substr(0, colon);
    if (part.empty() || part.front() == '-' || part.front() == '+') return ParseFault::kSyntax;
    if (part.find('.') != std::string_view::npos && unit != &kUnits[2]) return ParseFault::kSyntax;
    if (const ParseFault fault = AddUnit(part, *unit, sum); fault != ParseFault::kNone) return fault;
    clock.remove_prefix(last ? clock.size() : colon + 1);
    if (last) {
      if (unit == &kUnits[4]) return ParseFault::kSyntax;
      break;
    }
  }
  if (!clock.empty()) return ParseFault::kSyntax;
  const Micros signed_sum = negative ? -sum.micros : sum.micros;
  return __builtin_add_overflow(value.micros, signed_sum, &value.micros) ? ParseFault::kRange : ParseFault::kNone;
}

}  // namespace

Parsed<IntervalValue> ParseInterval(std::string_view text) {
  IntervalValue value;
  bool any = false;
  while (true) {
    TakeWhile(text, IsBlank);
    if (text.empty()) break;
    const std::string_view number = TakeWhile(text, IsNumber);
    if (number.empty()) {
      const std::string_view word = TakeWhile(text, IsLetter);
      TakeWhile(text, IsBlank);
      if (!any || word.size() != 3 || !text.empty() || (word != "ago" && word != "AGO")) {
        return {{}, ParseFault::kSyntax};
      }
      return {{-value.months, -value.micros}};
    }
    any = true;
    ParseFault fault = ParseFault::kNone;
    if (number.find(':') != std::string_view::npos) {
      fault = AddClock(number, value);
    } else {
      TakeWhile(text, IsBlank);
      const std::string_view word = TakeWhile(text, IsLetter);
      // A bare number counts seconds, as in PostgreSQL; only at the end.
      const Unit* unit = word.empty() && text.empty() ? &kUnits[2] : FindUnit(word);
      if (unit == nullptr || (word.empty() && !text.empty())) return {{}, ParseFault::kSyntax};
      fault = AddUnit(number, *unit, value);
    }
    if (fault != ParseFault::kNone) return {{}, fault};
  }
  if (!any) return {{}, ParseFault::kSyntax};
  return {value};
}

}  // namespace weir
