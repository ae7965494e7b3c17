// Patterns for times as text: PostgreSQL's (YYYY-MM-DD HH24:MI:SS.MS) and Java's (yyyy-MM-dd HH:mm:ss.SSS).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"

namespace weir {

// Compiled once; immutable, any thread.
class TimePattern {
 public:
  static TimePattern Postgres(std::string_view pattern);
  // An error for a letter that means nothing.
  static Result<TimePattern> Java(std::string_view pattern);
  // yyyy with MM, HH:mm or SSS is Java's, everything else PostgreSQL's, which does not look at the case.
  static Result<TimePattern> Either(std::string_view pattern);

  // The local time as text.
  void Append(Micros local, std::string& out) const;
  // Local times between two multiples of this have the same text.
  Micros unit() const;
  // The local time that the text denotes; missing fields are those of 0001-01-01.  Further text behind it is ignored.
  Result<Micros> Parse(std::string_view text) const;

 private:
  enum class Field {
    kLiteral,
    kYear,
    kShortYear,
    kIsoYear,
    kQuarter,
    kMonth,
    kMonthName,
    kMonthShort,
    kDay,
    kDayOfYear,
    kDayName,
    kDayShort,
    kDayOfWeek /* Sunday = 1 */,
    kIsoDayOfWeek /* Monday = 1 */,
    kIsoWeek,
    kHour24,
    kHour12,
    kMinute,
    kSecond,
    kFraction,
    kHalf
  };
  enum class Case { kTitle, kUpper, kLower };
  struct Item {
    Field field;
    int width;  // digits or blanks to fill up to; 0 for none.  kFraction: number of digits
    Case letters = Case::kTitle;
    std::string literal;
  };
  struct Known {
    std::string_view name;
    Field field;
    int width;
    Case letters;
  };
  struct Fields;

  static const std::vector<Known>& PostgresFields();
  void AddLiteral(char c);
  static bool AppendDateItem(const Item& item, int64_t days, std::string& out);
  static void AppendTimeItem(const Item& item, Micros rest, std::string& out);
  static bool ParseItem(const Item& item, std::string_view& text, Fields& fields);

  std::vector<Item> items_;
};

}  // namespace weir
