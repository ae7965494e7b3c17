// Values as text and back: the one place that decoders, casts, encoders and error messages share.
//
// Parsers take the whole text (no surrounding blanks unless said) and never throw.  Times are proleptic Gregorian,
// years 0001 to 9999; a value outside is refused.  Time zones are IANA names (Howard Hinnant's date library).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/data/column.h"
#include "engine/data/types.h"

namespace weir {

// The documented range of times: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999Z, in microseconds.
inline constexpr Micros kFirstTime = -62135596800000000;
inline constexpr Micros kLastTime = 253402300799999999;

enum class ParseFault : uint8_t { kNone, kSyntax, kRange };

template <class T>
struct Parsed {
  T value{};
  ParseFault fault = ParseFault::kNone;
  explicit operator bool() const { return fault == ParseFault::kNone; }
};

// Digits with an optional sign, fraction and exponent; rounded half away from zero to `scale` digits.  kRange when the
// result has more than `precision` digits.  The value is unscaled: "3.5" with scale 2 is 350.
Parsed<Int128> ParseDecimal(std::string_view text, int precision, int scale);
// An integer in any spelling that denotes one exactly: 12, 1.0, 1e3.  kSyntax for 1.5, kRange outside [min, max].
Parsed<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max);
// Decimal notation only (no hexadecimal, no "inf"); kRange beyond the largest double.  `words` also takes NaN, Infinity.
Parsed<double> ParseDouble(std::string_view text, bool words);
Parsed<double> ParseFloat(std::string_view text, bool words);  // the nearest single-precision value, not twice rounded
Parsed<bool> ParseBoolean(std::string_view text);  // true false t f yes no on off 1 0, any case, as PostgreSQL

// ISO 8601 with T or blank, seconds and fraction optional; fraction digits beyond `digits` are rounded.
// kTimestamp: an offset in the text is dropped as in PostgreSQL; kTimestampLtz: applied, or `zone` when there is none
// (in the gap and the overlap of summer time: standard time).  A bare date is midnight.
Parsed<Micros> ParseTimestamp(std::string_view text, int digits);
Parsed<Micros> ParseTimestampLtz(std::string_view text, int digits, std::string_view zone);
Parsed<int64_t> ParseDate(std::string_view text);                    // days since 1970-01-01
Parsed<Micros> ParseTime(std::string_view text, int digits);         // since midnight
// PostgreSQL's unit syntax: '10 seconds', '1 day 02:03:04', '1 minute'.  Months and years are separate.
struct IntervalValue {
  int64_t months = 0;
  Micros micros = 0;
};
Parsed<IntervalValue> ParseInterval(std::string_view text);

void AppendInteger(int64_t value, std::string& out);
void AppendDecimal(Int128 unscaled, int scale, std::string& out);
void AppendDouble(double value, std::string& out);                   // shortest that reads back the same; NaN, Infinity
void AppendFloat(double value, std::string& out);                    // the same for single precision
void AppendTimestamp(Micros value, int digits, char separator, std::string& out);  // 2026-11-30T10:00:00.123
void AppendDate(int64_t days, std::string& out);
void AppendTime(Micros value, int digits, std::string& out);

// The civil date of a day number and back.
struct CivilDate {
  int year;
  int month;
  int day;
};
CivilDate ToCivil(int64_t days);
int64_t FromCivil(int year, int month, int day);
// The offset of `zone` at the instant; empty for an unknown zone.
std::optional<Micros> ZoneOffset(std::string_view zone, Micros instant);
// The instant of a local time (microseconds as if it were UTC); in the gap and the overlap of summer time: standard time.
std::optional<Micros> LocalToInstant(std::string_view zone, Micros local);
bool IsKnownZone(std::string_view zone);

// The value as SQL's cast to text gives it (timestamps with a T, arrays as JSON, bytes and bitmaps as base64).
// Not for NULL.
void AppendValueText(const Column& column, size_t row, std::string& out);

// The same as a JSON value: numbers and booleans plain, the rest quoted, doubles that are no number as "NaN".
void AppendJsonValue(const Column& column, size_t row, std::string& out);
// Quoted and escaped by RFC 8259; UTF-8 passes unchanged.
void AppendJsonString(std::string_view text, std::string& out);

void AppendBase64(std::string_view bytes, std::string& out);
std::optional<std::string> ParseBase64(std::string_view text);

}  // namespace weir
