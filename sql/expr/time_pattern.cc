#include "sql/expr/time_pattern.h"

#include <algorithm>
#include <cctype>

#include "engine/data/text.h"
#include "sql/expr/cast.h"

namespace weir {
namespace {

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
char Upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool StartsWithIgnoringCase(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [](char a, char b) { return Lower(a) == Lower(b); });
}

void AppendNumber(int64_t value, int width, std::string& out) {
  const std::string digits = std::to_string(value);
  for (int i = static_cast<int>(digits.size()); i < width; ++i) out += '0';
  out += digits;
}

int64_t DayOfWeek(int64_t days) { return days + 4 - FloorDivide(days + 4, 7) * 7; }  // 0 = Sunday

int64_t ThursdayOf(int64_t days) { return days - (DayOfWeek(days) + 6) % 7 + 3; }

// Reads up to `most` digits; false when there is none.
bool ReadNumber(std::string_view& text, size_t most, int64_t& value, size_t* count = nullptr) {
  size_t used = 0;
  value = 0;
  while (used < std::min(most, text.size()) && IsDigit(text[used])) value = value * 10 + (text[used++] - '0');
  text.remove_prefix(used);
  if (count) *count = used;
  return used > 0;
}

// Any separator stands for any other, as in PostgreSQL; letters and digits must be there.
bool SkipLiteral(std::string_view literal, std::string_view& text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (const char c : literal) {
    if (text.empty() || (is_word(c) ? Lower(text[0]) != Lower(c) : is_word(text[0]))) return false;
    text.remove_prefix(1);
  }
  return true;
}

}  // namespace

// What a text has given so far.
struct TimePattern::Fields {
  int64_t year = 1;
  int64_t month = 1;
  int64_t day = 1;
  int64_t day_of_year = 0;
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  Micros fraction = 0;
  bool half_day = false;  // the hour counts from 1 to 12
  bool afternoon = false;
};

// Longer names first, so that the first that fits is the one that is meant.
const std::vector<TimePattern::Known>& TimePattern::PostgresFields() {
  static const std::vector<Known> fields = {
      {"IYYY", Field::kIsoYear, 4, Case::kTitle},    {"YYYY", Field::kYear, 4, Case::kTitle},
      {"HH24", Field::kHour24, 2, Case::kTitle},     {"HH12", Field::kHour12, 2, Case::kTitle},
      {"DDD", Field::kDayOfYear, 3, Case::kTitle},   {"YY", Field::kShortYear, 2, Case::kTitle},
      {"IW", Field::kIsoWeek, 2, Case::kTitle},      {"MM", Field::kMonth, 2, Case::kTitle},
      {"DD", Field::kDay, 2, Case::kTitle},          {"HH", Field::kHour12, 2, Case::kTitle},
      {"MI", Field::kMinute, 2, Case::kTitle},       {"SS", Field::kSecond, 2, Case::kTitle},
      {"MS", Field::kFraction, 3, Case::kTitle},     {"US", Field::kFraction, 6, Case::kTitle},
      {"AM", Field::kHalf, 0, Case::kUpper},         {"PM", Field::kHalf, 0, Case::kUpper},
      {"ID", Field::kIsoDayOfWeek, 1, Case::kTitle}, {"D", Field::kDayOfWeek, 1, Case::kTitle},
      {"Q", Field::kQuarter, 1, Case::kTitle},
  };
  return fields;
}

void TimePattern::AddLiteral(char c) {
  if (items_.empty() || items_.back().field != Field::kLiteral)
    items_.push_back({Field::kLiteral, 0, Case::kTitle, ""});
  items_.back().literal += c;
}

TimePattern TimePattern::Postgres(std::string_view pattern) {
  struct Name {
    std::string_view name;
    Field field;
    int width;
  };
  static constexpr Name kNames[] = {{"MONTH", Field::kMonthName, 9},
                                    {"MON", Field::kMonthShort, 0},
                                    {"DAY", Field::kDayName, 9},
                                    {"DY", Field::kDayShort, 0}};
  TimePattern out;
  bool fill = true;
  while (!pattern.empty()) {
    if (StartsWithIgnoringCase(pattern, "FM")) {
      fill = false;
      pattern.remove_prefix(2);
      continue;
    }
    if (pattern[0] == '"') {
      pattern.remove_prefix(1);
      while (!pattern.empty() && pattern[0] != '"') out.AddLiteral(pattern[0]), pattern.remove_prefix(1);
      if (!pattern.empty()) pattern.remove_prefix(1);
      continue;
    }
    const auto* name = std::find_if(std::begin(kNames), std::end(kNames),
                                    [&](const Name& n) { return StartsWithIgnoringCase(pattern, n.name); });
    if (name != std::end(kNames)) {
      // MONTH, Month and month: the case of the first two letters is that of the result.
      const bool upper = std::isupper(static_cast<unsigned char>(pattern[0])) != 0;
      const bool second = std::isupper(static_cast<unsigned char>(pattern[1])) != 0;
      out.items_.push_back({name->field, fill ? name->width : 0,
                            !upper   ? Case::kLower
                            : second ? Case::kUpper
                                     : Case::kTitle,
                            ""});
      pattern.remove_prefix(name->name.size());
      fill = true;
      continue;
    }
    const auto& fields = PostgresFields();
    const auto known = std::find_if(fields.begin(), fields.end(),
                                    [&](const Known& k) { return StartsWithIgnoringCase(pattern, k.name); });
    if (known == fields.end()) {
      out.AddLiteral(pattern[0]);
      pattern.remove_prefix(1);
      continue;
    }
    const bool lower = known->field == Field::kHalf && std::islower(static_cast<unsigned char>(pattern[0]));
    const bool number = known->field != Field::kFraction;
    out.items_.push_back({known->field, fill || !number ? known->width : 0, lower ? Case::kLower : known->letters, ""});
    pattern.remove_prefix(known->name.size());
    fill = true;
  }
  return out;
}

Result<TimePattern> TimePattern::Java(std::string_view pattern) {
  TimePattern out;
  while (!pattern.empty()) {
    const char letter = pattern[0];
    if (letter == '\'') {
      pattern.remove_prefix(1);
      if (!pattern.empty() && pattern[0] == '\'') out.AddLiteral('\'');  // '' is a quote
      while (!pattern.empty() && pattern[0] != '\'') out.AddLiteral(pattern[0]), pattern.remove_prefix(1);
      if (!pattern.empty()) pattern.remove_prefix(1);
      continue;
    }
    const size_t run = std::min(pattern.find_first_not_of(letter), pattern.size());
    const int width = static_cast<int>(run);
    pattern.remove_prefix(run);
    const auto add = [&out](Field field, int digits, Case letters = Case::kTitle) {
      out.items_.push_back({field, digits, letters, ""});
    };
    switch (letter) {
      case 'y':
      case 'u':
        add(run == 2 ? Field::kShortYear : Field::kYear, run == 2 ? 2 : width);
        break;
      case 'M':
      case 'L':
        add(run <= 2 ? Field::kMonth : run == 3 ? Field::kMonthShort : Field::kMonthName, run <= 2 ? width : 0);
        break;
      case 'd':
        add(Field::kDay, width);
        break;
      case 'D':
        add(Field::kDayOfYear, width);
        break;
      case 'E':
        add(run <= 3 ? Field::kDayShort : Field::kDayName, 0);
        break;
      case 'Q':
        add(Field::kQuarter, width);
        break;
      case 'H':
        add(Field::kHour24, width);
        break;
      case 'h':
        add(Field::kHour12, width);
        break;
      case 'm':
        add(Field::kMinute, width);
        break;
      case 's':
        add(Field::kSecond, width);
        break;
      case 'S':
        add(Field::kFraction, std::min(width, 9));
        break;
      case 'a':
        add(Field::kHalf, 0, Case::kUpper);
        break;
      default:
        if (std::isalpha(static_cast<unsigned char>(letter))) {
          return PlanError("unknown letter '" + std::string(1, letter) + "' in a date format");
        }
        for (size_t i = 0; i < run; ++i) out.AddLiteral(letter);
    }
  }
  return out;
}

Result<TimePattern> TimePattern::Either(std::string_view pattern) {
  const auto has = [pattern](std::string_view part) { return pattern.find(part) != std::string_view::npos; };
  if (has("yyyy") && (has("MM") || has("HH:mm") || has("SSS"))) return Java(pattern);
  return Postgres(pattern);
}

// Names and numbers of the day; false for a field of the time.
bool TimePattern::AppendDateItem(const Item& item, int64_t days, std::string& out) {
  const auto add_number = [&](int64_t value) { AppendNumber(value, item.width, out); };
  const auto add_name = [&](std::string_view name, size_t letters) {
    name = name.substr(0, letters);
    for (const char c : name) {
      out += item.letters == Case::kUpper ? Upper(c) : item.letters == Case::kLower ? Lower(c) : c;
    }
    if (item.width > static_cast<int>(name.size())) out.append(static_cast<size_t>(item.width) - name.size(), ' ');
  };
  const CivilDate date = ToCivil(days);
  const std::string_view month = kMonths[date.month - 1];
  const std::string_view day = kDays[DayOfWeek(days)];
  const int64_t thursday = ThursdayOf(days);  // its year is the ISO year
  switch (item.field) {
    case Field::kYear:
      add_number(date.year);
      return true;
    case Field::kShortYear:
      add_number(date.year % 100);
      return true;
    case Field::kIsoYear:
      add_number(ToCivil(thursday).year);
      return true;
    case Field::kQuarter:
      add_number((date.month - 1) / 3 + 1);
      return true;
    case Field::kMonth:
      add_number(date.month);
      return true;
    case Field::kMonthName:
      add_name(month, 9);
      return true;
    case Field::kMonthShort:
      add_name(month, 3);
      return true;
    case Field::kDay:
      add_number(date.day);
      return true;
    case Field::kDayOfYear:
      add_number(days - FromCivil(date.year, 1, 1) + 1);
      return true;
    case Field::kDayName:
      add_name(day, 9);
      return true;
    case Field::kDayShort:
      add_name(day, 3);
      return true;
    case Field::kDayOfWeek:
      add_number(DayOfWeek(days) + 1);
      return true;
    case Field::kIsoDayOfWeek:
      add_number((DayOfWeek(days) + 6) % 7 + 1);
      return true;
    case Field::kIsoWeek:
      add_number((thursday - FromCivil(ToCivil(thursday).year, 1, 1)) / 7 + 1);
      return true;
    default:
      return false;
  }
}

void TimePattern::AppendTimeItem(const Item& item, Micros rest, std::string& out) {
  const int64_t hour = rest / (3600 * kMicrosPerSecond);
  switch (item.field) {
    case Field::kHour24:
      AppendNumber(hour, item.width, out);
      break;
    case Field::kHour12:
      AppendNumber((hour + 11) % 12 + 1, item.width, out);
      break;
    case Field::kMinute:
      AppendNumber(rest / (60 * kMicrosPerSecond) % 60, item.width, out);
      break;
    case Field::kSecond:
      AppendNumber(rest / kMicrosPerSecond % 60, item.width, out);
      break;
    case Field::kHalf:
      out += item.letters == Case::kLower ? (hour < 12 ? "am" : "pm") : (hour < 12 ? "AM" : "PM");
      break;
    case Field::kFraction: {
      std::string digits;
      AppendNumber(rest % kMicrosPerSecond, 6, digits);
      digits.resize(static_cast<size_t>(item.width), '0');
      out += digits;
      break;
    }
    default:
      out += item.literal;
      break;
  }
}

void TimePattern::Append(Micros local, std::string& out) const {
  const int64_t days = FloorDivide(local, kMicrosPerDay);
  for (const Item& item : items_) {
    if (!AppendDateItem(item, days, out)) AppendTimeItem(item, local - days * kMicrosPerDay, out);
  }
}

Micros TimePattern::unit() const {
  Micros unit = kMicrosPerDay;
  for (const Item& item : items_) {
    switch (item.field) {
      case Field::kHour24:
      case Field::kHour12:
      case Field::kHalf:
        unit = std::min(unit, 3600 * kMicrosPerSecond);
        break;
      case Field::kMinute:
        unit = std::min(unit, 60 * kMicrosPerSecond);
        break;
      case Field::kSecond:
        unit = std::min(unit, kMicrosPerSecond);
        break;
      case Field::kFraction:
        return 1;
      default:
        break;
    }
  }
  return unit;
}

bool TimePattern::ParseItem(const Item& item, std::string_view& text, Fields& fields) {
  if (item.field == Field::kLiteral) return SkipLiteral(item.literal, text);
  while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  const auto number = [&text](size_t most, int64_t& value) { return ReadNumber(text, most, value); };
  const auto name = [&text](auto& names, size_t letters, int64_t& index) {
    for (size_t i = 0; i < std::size(names); ++i) {
      const std::string_view wanted = names[i].substr(0, letters);
      if (!StartsWithIgnoringCase(text, wanted)) continue;
      text.remove_prefix(wanted.size());
      index = static_cast<int64_t>(i) + 1;
      return true;
    }
    return false;
  };
  int64_t ignored = 0;
  switch (item.field) {
    case Field::kYear:
      return number(4, fields.year);
    case Field::kShortYear: {
      if (!number(2, fields.year)) return false;
      fields.year += fields.year < 70 ? 2000 : 1900;
      return true;
    }
    case Field::kMonth:
      return number(2, fields.month);
    case Field::kMonthName:
      return name(kMonths, 9, fields.month);
    case Field::kMonthShort:
      return name(kMonths, 3, fields.month);
    case Field::kDay:
      return number(2, fields.day);
    case Field::kDayOfYear:
      return number(3, fields.day_of_year);
    case Field::kDayName:
      return name(kDays, 9, ignored);
    case Field::kDayShort:
      return name(kDays, 3, ignored);
    case Field::kHour24:
      return number(2, fields.hour);
    case Field::kHour12:
      fields.half_day = true;
      return number(2, fields.hour);
    case Field::kMinute:
      return number(2, fields.minute);
    case Field::kSecond:
      return number(2, fields.second);
    case Field::kFraction: {
      size_t digits = 0;
      if (!ReadNumber(text, static_cast<size_t>(item.width), fields.fraction, &digits)) return false;
      for (; digits < 6; ++digits) fields.fraction *= 10;
      for (; digits > 6; --digits) fields.fraction /= 10;
      return true;
    }
    case Field::kHalf:
      if (!StartsWithIgnoringCase(text, "AM") && !StartsWithIgnoringCase(text, "PM")) return false;
      fields.half_day = true;
      fields.afternoon = Lower(text[0]) == 'p';
      text.remove_prefix(2);
      return true;
    default:
      return number(4, ignored);
  }
}

Result<Micros> TimePattern::Parse(std::string_view text) const {
  Fields fields;
  const std::string shown(text.substr(0, 100));
  for (const Item& item : items_) {
    if (!ParseItem(item, text, fields)) return DataError("the text does not fit the date format: \"" + shown + "\"");
  }
  int64_t hour = fields.hour;
  bool valid = !fields.half_day || (hour >= 1 && hour <= 12);
  if (fields.half_day) hour = hour % 12 + (fields.afternoon ? 12 : 0);
  valid = valid && fields.year >= 1 && fields.year <= 9999 && fields.month >= 1 && fields.month <= 12 &&
          fields.day >= 1 && fields.day <= 31 && hour < 24 && fields.minute < 60 && fields.second < 60;
  if (!valid) return DataError("date/time field value out of range: \"" + shown + "\"");
  int64_t days = FromCivil(static_cast<int>(fields.year), static_cast<int>(fields.month), static_cast<int>(fields.day));
  if (fields.day_of_year > 0) {
    days = FromCivil(static_cast<int>(fields.year), 1, 1) + fields.day_of_year - 1;
    valid = ToCivil(days).year == fields.year;
  } else {
    valid = ToCivil(days).day == fields.day;
  }
  if (!valid) return DataError("date/time field value out of range: \"" + shown + "\"");
  return days * kMicrosPerDay + ((hour * 60 + fields.minute) * 60 + fields.second) * kMicrosPerSecond + fields.fraction;
}

}  // namespace weir
