// Dates, times and timestamps as text and back.
//
// A timestamp is read in three steps: the fixed shape yyyy-mm-dd[T ]hh:mm[:ss[.f...]] by position, the offset behind
// it, and the sum in microseconds.  The civil calendar is Howard Hinnant's days_from_civil / civil_from_days
// (howardhinnant.github.io/date_algorithms.html).
#include <charconv>

#include "engine/data/text.h"

namespace weir {
namespace {

constexpr Micros kSecond = 1'000'000;
constexpr Micros kMinute = 60 * kSecond;
constexpr Micros kHour = 60 * kMinute;
constexpr Micros kDay = 24 * kHour;
constexpr Micros kPowersOfTen[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000};
constexpr int64_t kFirstDay = kFirstTime / kDay;
constexpr int64_t kLastDay = kLastTime / kDay;

// Walks through a text; a Take that does not match leaves it where it is and says so.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  bool done() const { return at_ == end_; }
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  bool Take(char c) {
    if (peek() != c || done()) return false;
    ++at_;
    return true;
  }
  // Exactly `count` digits.
  bool TakeNumber(int count, int& value) {
    if (end_ - at_ < count) return false;
    int number = 0;
    for (int i = 0; i < count; ++i) {
      const auto digit = static_cast<unsigned char>(at_[i] - '0');
      if (digit > 9) return false;
      number = number * 10 + digit;
    }
    at_ += count;
    value = number;
    return true;
  }
  bool TakeDigit(int& value) { return TakeNumber(1, value); }

 private:
  const char* at_;
  const char* end_;
};

ParseFault TakeDate(Cursor& cursor, int64_t& days) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!cursor.TakeNumber(4, year) || !cursor.Take('-') || !cursor.TakeNumber(2, month) || !cursor.Take('-') ||
      !cursor.TakeNumber(2, day)) {
    return ParseFault::kSyntax;
  }
  static constexpr int kMonthDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1 || month < 1 || month > 12 || day < 1) return ParseFault::kRange;
  const bool leap_day = month == 2 && day == 29 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day > kMonthDays[month - 1] && !leap_day) return ParseFault::kRange;
  days = FromCivil(year, month, day);
  return ParseFault::kNone;
}

// The fraction's digits behind the point, rounded half up to `digits` of them.
bool TakeFraction(Cursor& cursor, int digits, Micros& micros) {
  Micros value = 0;
  int count = 0;
  int digit = 0;
  while (cursor.TakeDigit(digit)) {
    if (count < digits) {
      value = value * 10 + digit;
    } else if (count == digits) {
      value += digit >= 5;
    }
    ++count;
  }
  if (count == 0) return false;
  for (int i = count; i < digits; ++i) value *= 10;
  micros = value * kPowersOfTen[6 - digits];
  return true;
}

// hh:mm[:ss[.f]]; 24:00:00 is the end of the day and :60 the next minute, as in PostgreSQL.
ParseFault TakeTime(Cursor& cursor, int digits, Micros& micros) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  Micros fraction = 0;
  if (!cursor.TakeNumber(2, hour) || !cursor.Take(':') || !cursor.TakeNumber(2, minute)) return ParseFault::kSyntax;
  if (cursor.Take(':')) {
    if (!cursor.TakeNumber(2, second)) return ParseFault::kSyntax;
    if (cursor.Take('.') && !TakeFraction(cursor, digits, fraction)) return ParseFault::kSyntax;
  }
  if (hour > 24 || minute > 59 || second > 60) return ParseFault::kRange;
  micros = hour * kHour + minute * kMinute + second * kSecond + fraction;
  return micros > kDay ? ParseFault::kRange : ParseFault::kNone;
}

// Nothing, Z, +hh, +hhmm or +hh:mm to the end of the text.
ParseFault TakeOffset(Cursor& cursor, std::optional<Micros>& offset) {
  if (cursor.done()) return ParseFault::kNone;
  cursor.Take(' ');
  if (cursor.Take('Z') || cursor.Take('z')) {
    offset = 0;
    return cursor.done() ? ParseFault::kNone : ParseFault::kSyntax;
  }
  const bool negative = cursor.peek() == '-';
  if (!cursor.Take('-') && !cursor.Take('+')) return ParseFault::kSyntax;
  int hour = 0;
  int minute = 0;
  if (!cursor.TakeNumber(2, hour)) return ParseFault::kSyntax;
  if (!cursor.done()) {
    cursor.Take(':');
    if (!cursor.TakeNumber(2, minute) || !cursor.done()) return ParseFault::kSyntax;
  }
  if (hour > 15 || minute > 59) return ParseFault::kRange;
  const Micros size = hour * kHour + minute * kMinute;
  offset = negative ? -size : size;
  return ParseFault::kNone;
}

struct LocalTime {
  Micros micros = 0;  // as if it were UTC
  std::optional<Micros> offset;
};

// The common shape, yyyy-mm-ddThh:mm:ss with an optional fraction of up to `digits` digits and an optional Z, without
// loops over single parts.  False: another shape or something wrong, to be looked at in order.
bool FastLocal(std::string_view text, int digits, LocalTime& local) {
  constexpr size_t kSeconds = 19;
  if (text.size() < kSeconds) return false;
  const char* at = text.data();
  unsigned bad =
      (at[4] != '-') | (at[7] != '-') | (at[13] != ':') | (at[16] != ':') | ((at[10] | 0x20) != 't' && at[10] != ' ');
  const auto two = [&](int i) {
    const unsigned tens = static_cast<unsigned char>(at[i] - '0');
    const unsigned ones = static_cast<unsigned char>(at[i + 1] - '0');
    bad |= static_cast<unsigned>(tens > 9) | static_cast<unsigned>(ones > 9);
    return static_cast<int>(tens * 10 + ones);
  };
  const int year = two(0) * 100 + two(2);
  const int month = two(5);
  const int day = two(8);
  const int hour = two(11);
  const int minute = two(14);
  const int second = two(17);
  // Days that only some months have are left to the slow way.
  if (bad != 0 || year < 1 || month < 1 || month > 12 || day < 1 || day > 28 + 2 * (month != 2) || hour > 23 ||
      minute > 59 || second > 59) {
    return false;
  }
  size_t place = kSeconds;
  Micros fraction = 0;
  if (place < text.size() && at[place] == '.') {
    const size_t first = ++place;
    while (place < text.size() && place - first < static_cast<size_t>(digits) && at[place] >= '0' && at[place] <= '9') {
      fraction = fraction * 10 + (at[place++] - '0');
    }
    if (place == first) return false;
    fraction *= kPowersOfTen[6 - (place - first)];
  }
  if (place < text.size() && at[place] == 'Z') {
    local.offset = 0;
    ++place;
  }
  if (place != text.size()) return false;
  local.micros = FromCivil(year, month, day) * kDay + hour * kHour + minute * kMinute + second * kSecond + fraction;
  return true;
}

Parsed<LocalTime> ParseLocal(std::string_view text, int digits) {
  if (LocalTime fast; FastLocal(text, digits, fast)) return {fast};
  Cursor cursor(text);
  LocalTime local;
  int64_t days = 0;
  if (const ParseFault fault = TakeDate(cursor, days); fault != ParseFault::kNone) return {{}, fault};
  Micros time = 0;
  if (!cursor.done()) {
    if (!cursor.Take('T') && !cursor.Take(' ') && !cursor.Take('t')) return {{}, ParseFault::kSyntax};
    if (const ParseFault fault = TakeTime(cursor, digits, time); fault != ParseFault::kNone) return {{}, fault};
    if (const ParseFault fault = TakeOffset(cursor, local.offset); fault != ParseFault::kNone) return {{}, fault};
  }
  local.micros = days * kDay + time;
  return {local};
}

Parsed<Micros> InRange(Micros value) {
  if (value < kFirstTime || value > kLastTime) return {0, ParseFault::kRange};
  return {value};
}

char* PutTwo(char* at, int64_t value) {
  at[0] = static_cast<char>('0' + value / 10);
  at[1] = static_cast<char>('0' + value % 10);
  return at + 2;
}

char* PutDate(char* at, int64_t days) {
  const CivilDate date = ToCivil(days);
  if (date.year >= 0 && date.year <= 9999) {
    at = PutTwo(PutTwo(at, date.year / 100), date.year % 100);
  } else {
    at = std::to_chars(at, at + 12, date.year).ptr;  // only for internal marks such as the smallest watermark
  }
  *at++ = '-';
  at = PutTwo(at, date.month);
  *at++ = '-';
  return PutTwo(at, date.day);
}

char* PutTime(char* at, Micros micros, int digits) {
  at = PutTwo(at, micros / kHour);
  *at++ = ':';
  at = PutTwo(at, micros / kMinute % 60);
  *at++ = ':';
  at = PutTwo(at, micros / kSecond % 60);
  if (digits == 0) return at;
  *at++ = '.';
  Micros fraction = micros % kSecond / kPowersOfTen[6 - digits];
  for (int i = digits - 1; i >= 0; --i) {
    at[i] = static_cast<char>('0' + fraction % 10);
    fraction /= 10;
  }
  return at + digits;
}

int64_t FloorDays(Micros value) { return value / kDay - (value % kDay < 0 ? 1 : 0); }

}  // namespace

Parsed<Micros> ParseTimestamp(std::string_view text, int digits) {
  const Parsed<LocalTime> local = ParseLocal(text, digits);
  if (!local) return {0, local.fault};
  return InRange(local.value.micros);
}

Parsed<Micros> ParseTimestampLtz(std::string_view text, int digits, std::string_view zone) {
  const Parsed<LocalTime> local = ParseLocal(text, digits);
  if (!local) return {0, local.fault};
  if (local.value.offset) return InRange(local.value.micros - *local.value.offset);
  const std::optional<Micros> instant = LocalToInstant(zone, local.value.micros);
  if (!instant) return {0, ParseFault::kSyntax};
  return InRange(*instant);
}

Parsed<int64_t> ParseDate(std::string_view text) {
  // A timestamp's text is taken and its time dropped, as in PostgreSQL.
  const Parsed<LocalTime> local = ParseLocal(text, 6);
  if (!local) return {0, local.fault};
  const int64_t days = FloorDays(local.value.micros);
  if (days < kFirstDay || days > kLastDay) return {0, ParseFault::kRange};
  return {days};
}

Parsed<Micros> ParseTime(std::string_view text, int digits) {
  Cursor cursor(text);
  Micros micros = 0;
  if (const ParseFault fault = TakeTime(cursor, digits, micros); fault != ParseFault::kNone) return {0, fault};
  if (!cursor.done()) return {0, ParseFault::kSyntax};
  return {micros};
}

CivilDate ToCivil(int64_t days) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<uint32_t>(days - era * 146097);
  const uint32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint32_t shifted_month = (5 * day_of_year + 2) / 153;
  const uint32_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const uint32_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const int64_t year = static_cast<int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);
  return {static_cast<int>(year), static_cast<int>(month), static_cast<int>(day)};
}

int64_t FromCivil(int year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<uint32_t>(year - era * 400);
  const auto shifted_month = static_cast<uint32_t>(month > 2 ? month - 3 : month + 9);
  const uint32_t day_of_year = (153 * shifted_month + 2) / 5 + static_cast<uint32_t>(day) - 1;
  const uint32_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<int64_t>(day_of_era) - 719468;
}

void AppendTimestamp(Micros value, int digits, char separator, std::string& out) {
  char buffer[48];
  const int64_t days = FloorDays(value);
  char* at = PutDate(buffer, days);
  *at++ = separator;
  at = PutTime(at, (value % kDay + kDay) % kDay, digits);
  out.append(buffer, at);
}

void AppendDate(int64_t days, std::string& out) {
  char buffer[32];
  out.append(buffer, PutDate(buffer, days));
}

void AppendTime(Micros value, int digits, std::string& out) {
  char buffer[32];
  out.append(buffer, PutTime(buffer, value, digits));
}

}  // namespace weir
