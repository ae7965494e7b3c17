#include "engine/data/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/data/array_codec.h"

namespace weir {
namespace {

// "12.35", or "syntax" or "range".
template <class T, class Append>
std::string Show(const Parsed<T>& parsed, Append append) {
  if (parsed.fault == ParseFault::kSyntax) return "syntax";
  if (parsed.fault == ParseFault::kRange) return "range";
  std::string out;
  append(parsed.value, out);
  return out;
}

std::string Decimal(std::string_view text, int precision, int scale) {
  return Show(ParseDecimal(text, precision, scale), [&](Int128 v, std::string& out) { AppendDecimal(v, scale, out); });
}
std::string Integer(std::string_view text, int64_t min = INT64_MIN, int64_t max = INT64_MAX) {
  return Show(ParseInteger(text, min, max), AppendInteger);
}
std::string Double(std::string_view text, bool words = false) { return Show(ParseDouble(text, words), AppendDouble); }
std::string Timestamp(std::string_view text, int digits = 3) {
  return Show(ParseTimestamp(text, digits), [&](Micros v, std::string& out) { AppendTimestamp(v, digits, 'T', out); });
}
std::string Ltz(std::string_view text, std::string_view zone = "UTC") {
  return Show(ParseTimestampLtz(text, 3, zone), [&](Micros v, std::string& out) { AppendTimestamp(v, 3, 'T', out); });
}
std::string Interval(std::string_view text) {
  return Show(ParseInterval(text), [](const IntervalValue& v, std::string& out) {
    out = std::to_string(v.months) + "mon " + std::to_string(v.micros) + "us";
  });
}

TEST(Text, DecimalsAreExactAndRoundedHalfAwayFromZero) {
  EXPECT_EQ(Decimal("12", 10, 2), "12.00");
  EXPECT_EQ(Decimal("12.345", 10, 2), "12.35");
  EXPECT_EQ(Decimal("-12.345", 10, 2), "-12.35");
  EXPECT_EQ(Decimal("-12.344999", 10, 2), "-12.34");
  EXPECT_EQ(Decimal("1e2", 10, 2), "100.00");
  EXPECT_EQ(Decimal("+1.5E-1", 10, 2), "0.15");
  EXPECT_EQ(Decimal("687298011309623.3", 22, 6), "687298011309623.300000");
  EXPECT_EQ(Decimal("-0.001", 10, 2), "0.00");
  EXPECT_EQ(Decimal(".5", 3, 0), "1");
  EXPECT_EQ(Decimal("5.", 3, 0), "5");
  EXPECT_EQ(Decimal("0.00", 2, 2), "0.00");
  EXPECT_EQ(Decimal("99999999999999999999999999999999999999", 38, 0), "99999999999999999999999999999999999999");
  EXPECT_EQ(Decimal("-0.99999999999999999999999999999999999999", 38, 38), "-0.99999999999999999999999999999999999999");
  EXPECT_EQ(Decimal("12345678901234567890.123456789012345678", 38, 18), "12345678901234567890.123456789012345678");
  EXPECT_EQ(Decimal("0.0000000000000000000000000000000000000000000000001e49", 5, 1), "1.0");
  EXPECT_EQ(Decimal("1e-400", 10, 2), "0.00");
  EXPECT_EQ(Decimal("0e999999999999999999999", 10, 2), "0.00");
}

TEST(Text, DecimalsThatDoNotFit) {
  EXPECT_EQ(Decimal("123456789.5", 10, 2), "range");
  EXPECT_EQ(Decimal("9.995", 3, 2), "range");  // 10.00 after rounding
  EXPECT_EQ(Decimal("9.994", 3, 2), "9.99");
  EXPECT_EQ(Decimal("100000000000000000000000000000000000000", 38, 0), "range");
  EXPECT_EQ(Decimal("1e40", 38, 0), "range");
  EXPECT_EQ(Decimal("123456789012345678", 38, 38), "range");
  EXPECT_EQ(Decimal("1e99999999999999999999", 38, 0), "range");
  for (const char* bad : {"", "-", ".", "1..2", "1.2.3", "e5", "1e", "1e+", "0x1", "NaN", " 1", "1 ", "--1"}) {
    EXPECT_EQ(Decimal(bad, 10, 2), "syntax") << bad;
  }
}

TEST(Text, IntegersInAnySpelling) {
  EXPECT_EQ(Integer("9007199254740993"), "9007199254740993");
  EXPECT_EQ(Integer("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Integer("9223372036854775808"), "range");
  EXPECT_EQ(Integer("184467440737095516160"), "range");
  EXPECT_EQ(Integer("1e400"), "range");
  EXPECT_EQ(Integer("1.0"), "1");
  EXPECT_EQ(Integer("1e3"), "1000");
  EXPECT_EQ(Integer("1200e-2"), "12");
  EXPECT_EQ(Integer("+7"), "7");
  EXPECT_EQ(Integer("0e400"), "0");
  EXPECT_EQ(Integer("-0"), "0");
  EXPECT_EQ(Integer("9223372036854775807.0"), "9223372036854775807");
  EXPECT_EQ(Integer("128", -128, 127), "range");
  EXPECT_EQ(Integer("-128", -128, 127), "-128");
  for (const char* bad : {"1.5", "1e-1", "12x", "", "true", "1.05e1"}) EXPECT_EQ(Integer(bad), "syntax") << bad;
}

TEST(Text, DoublesRoundTripInPostgresForm) {
  EXPECT_EQ(Double("184467440737095516160"), "1.844674407370955e+20");
  EXPECT_EQ(Double("0.1"), "0.1");
  EXPECT_EQ(Double("100000"), "100000");
  EXPECT_EQ(Double("123456789012345"), "123456789012345");
  EXPECT_EQ(Double("1e15"), "1e+15");
  EXPECT_EQ(Double("0.0001"), "0.0001");
  EXPECT_EQ(Double("0.00001"), "1e-05");
  EXPECT_EQ(Double("-0.0"), "-0");
  EXPECT_EQ(Double("+2.5"), "2.5");
  EXPECT_EQ(Double("1e-400"), "0");
  EXPECT_EQ(Double("0.0000001e-330"), "0");
  EXPECT_EQ(Double("1e400"), "range");
  EXPECT_EQ(Double("-1e400"), "range");
  EXPECT_EQ(Double("5e-324"), "5e-324");
  for (const char* bad : {"NaN", "Infinity", "inf", "0x10", "", "1e", "1 "}) EXPECT_EQ(Double(bad), "syntax") << bad;
  EXPECT_EQ(Double("nan", true), "NaN");
  EXPECT_EQ(Double("-Infinity", true), "-Infinity");
  EXPECT_EQ(Double("inf", true), "Infinity");
  EXPECT_EQ(Double("infinit", true), "syntax");
}

TEST(Text, FloatsAreRoundedOnce) {
  const auto show = [](std::string_view text) { return Show(ParseFloat(text, false), AppendFloat); };
  EXPECT_EQ(show("0.1"), "0.1");
  EXPECT_EQ(show("16777217"), "1.6777216e+07");
  EXPECT_EQ(show("123456"), "123456");
  EXPECT_EQ(show("1e39"), "range");
  EXPECT_EQ(show("1e-60"), "0");
}

TEST(Text, BooleansAsPostgres) {
  for (const char* yes : {"true", "T", "yes", "Y", "on", "1", "tru"}) EXPECT_TRUE(ParseBoolean(yes).value) << yes;
  for (const char* no : {"false", "f", "no", "N", "off", "of", "0"}) {
    EXPECT_TRUE(ParseBoolean(no)) << no;
    EXPECT_FALSE(ParseBoolean(no).value) << no;
  }
  for (const char* bad : {"", "o", "2", "truee", "null", "10"}) EXPECT_FALSE(ParseBoolean(bad)) << bad;
}

TEST(Text, Timestamps) {
  EXPECT_EQ(Timestamp("2024-03-05T08:00:00"), "2024-03-05T08:00:00.000");
  EXPECT_EQ(Timestamp("2024-03-05 08:00"), "2024-03-05T08:00:00.000");
  EXPECT_EQ(Timestamp("2024-03-05"), "2024-03-05T00:00:00.000");
  EXPECT_EQ(Timestamp("2024-03-05T08:00:00.1Z"), "2024-03-05T08:00:00.100");
  EXPECT_EQ(Timestamp("2024-03-05T08:00:00.1230+05:00"), "2024-03-05T08:00:00.123");  // the offset is dropped
  EXPECT_EQ(Timestamp("2024-12-31T23:59:59.9996"), "2025-01-01T00:00:00.000");
  EXPECT_EQ(Timestamp("2024-12-31T23:59:59.9994999"), "2024-12-31T23:59:59.999");
  EXPECT_EQ(Timestamp("2024-03-05T08:00:00.123456", 6), "2024-03-05T08:00:00.123456");
  EXPECT_EQ(Timestamp("2024-03-05T08:00:00.5", 0), "2024-03-05T08:00:01");
  EXPECT_EQ(Timestamp("2024-02-29T24:00:00"), "2024-03-01T00:00:00.000");
  EXPECT_EQ(Timestamp("1969-12-31T23:59:59.999"), "1969-12-31T23:59:59.999");
  EXPECT_EQ(Timestamp("0001-01-01"), "0001-01-01T00:00:00.000");
  EXPECT_EQ(Timestamp("9999-12-31T23:59:59.999999", 6), "9999-12-31T23:59:59.999999");
  EXPECT_EQ(Timestamp("9999-12-31T23:59:59.9999"), "range");
  EXPECT_EQ(Timestamp("0000-01-01"), "range");
  EXPECT_EQ(Timestamp("2023-02-29"), "range");
  EXPECT_EQ(Timestamp("2024-13-01"), "range");
  EXPECT_EQ(Timestamp("2024-03-05T25:00"), "range");
  EXPECT_EQ(Timestamp("2024-03-05T08:60"), "range");
  for (const char* bad :
       {"", "2024", "2024-3-5", "2024-03-05T", "2024-03-05T08", "2024-03-05T08:00:00.", "2024-03-05T08:00:00 x",
        "2024-03-05T08:00:00+", "2024-03-05T08:00:00+0", "1700000000", "2024-03-05T08:00:00Z "}) {
    EXPECT_EQ(Timestamp(bad), "syntax") << bad;
  }
}

TEST(Text, TimestampsWithZone) {
  EXPECT_EQ(Ltz("2024-03-05T08:00:00+02:00"), "2024-03-05T06:00:00.000");
  EXPECT_EQ(Ltz("2024-03-05 08:00+02"), "2024-03-05T06:00:00.000");
  EXPECT_EQ(Ltz("2024-03-05T08:00:00+05:45"), "2024-03-05T02:15:00.000");
  EXPECT_EQ(Ltz("2024-03-05T08:00:00-0330"), "2024-03-05T11:30:00.000");
  EXPECT_EQ(Ltz("2024-03-05T08:00:00Z", "Europe/Berlin"), "2024-03-05T08:00:00.000");
  EXPECT_EQ(Ltz("2024-03-05 08:00:00"), "2024-03-05T08:00:00.000");
  EXPECT_EQ(Ltz("2024-03-05 08:00:00", "Europe/Berlin"), "2024-03-05T07:00:00.000");
  EXPECT_EQ(Ltz("2024-07-05 08:00:00", "Europe/Berlin"), "2024-07-05T06:00:00.000");
  EXPECT_EQ(Ltz("2024-07-05 08:00:00", "America/New_York"), "2024-07-05T12:00:00.000");
  EXPECT_EQ(Ltz("0001-01-01T00:00:00+01"), "range");
  EXPECT_EQ(Ltz("2024-07-05 08:00:00", "Nowhere/City"), "syntax");
}

TEST(Text, GapAndOverlapOfSummerTimeAreStandardTime) {
  EXPECT_EQ(Ltz("2024-10-27 02:30:00", "Europe/Berlin"), "2024-10-27T01:30:00.000");
  EXPECT_EQ(Ltz("2024-03-31 02:30:00", "Europe/Berlin"), "2024-03-31T01:30:00.000");
  EXPECT_EQ(Ltz("2024-03-31 01:59:59", "Europe/Berlin"), "2024-03-31T00:59:59.000");
  EXPECT_EQ(Ltz("2024-03-31 03:00:00", "Europe/Berlin"), "2024-03-31T01:00:00.000");
  EXPECT_EQ(Ltz("2024-10-27 03:00:00", "Europe/Berlin"), "2024-10-27T02:00:00.000");
}

TEST(Text, ZoneOffsets) {
  const Micros summer = ParseTimestamp("2024-07-01T00:00:00", 3).value;
  const Micros winter = ParseTimestamp("2024-01-01T00:00:00", 3).value;
  constexpr Micros kHour = 3'600'000'000;
  EXPECT_EQ(ZoneOffset("Europe/Berlin", summer), 2 * kHour);
  EXPECT_EQ(ZoneOffset("Europe/Berlin", winter), kHour);
  EXPECT_EQ(ZoneOffset("Asia/Kathmandu", winter), 5 * kHour + kHour * 3 / 4);
  EXPECT_EQ(ZoneOffset("UTC", winter), 0);
  EXPECT_EQ(ZoneOffset("Nowhere/City", winter), std::nullopt);
  // Behind the end of the system's tables the last rule goes on.
  EXPECT_EQ(ZoneOffset("Europe/Berlin", ParseTimestamp("2050-07-01", 3).value), 2 * kHour);
  EXPECT_EQ(ZoneOffset("Europe/Berlin", ParseTimestamp("2050-12-01", 3).value), kHour);
  EXPECT_EQ(ZoneOffset("Europe/Berlin", ParseTimestamp("2400-07-01", 3).value), 2 * kHour);
  EXPECT_TRUE(IsKnownZone("Europe/Berlin"));
  EXPECT_TRUE(IsKnownZone("UTC"));
  EXPECT_FALSE(IsKnownZone(""));
  EXPECT_FALSE(IsKnownZone("../etc/passwd"));
}

TEST(Text, CivilDatesThereAndBack) {
  for (int64_t days = -719162; days <= 2932896; days += 97) {
    const CivilDate date = ToCivil(days);
    ASSERT_EQ(FromCivil(date.year, date.month, date.day), days);
  }
  EXPECT_EQ(FromCivil(1970, 1, 1), 0);
  EXPECT_EQ(FromCivil(2000, 3, 1), 11017);
}

TEST(Text, DatesAndTimes) {
  EXPECT_EQ(Show(ParseDate("2026-11-30"), AppendDate), "2026-11-30");
  EXPECT_EQ(Show(ParseDate("1969-12-31T23:00:00"), AppendDate), "1969-12-31");
  EXPECT_EQ(Show(ParseDate("2026-11-31"), AppendDate), "range");
  EXPECT_EQ(Show(ParseDate("30.11.2026"), AppendDate), "syntax");
  const auto time = [](std::string_view text, int digits) {
    return Show(ParseTime(text, digits), [&](Micros v, std::string& out) { AppendTime(v, digits, out); });
  };
  EXPECT_EQ(time("10:20:30.4567", 3), "10:20:30.457");
  EXPECT_EQ(time("10:20", 0), "10:20:00");
  EXPECT_EQ(time("24:00:00", 0), "24:00:00");
  EXPECT_EQ(time("24:00:01", 0), "range");
  EXPECT_EQ(time("1020", 0), "syntax");
}

TEST(Text, IntervalsAsPostgres) {
  EXPECT_EQ(Interval("10 seconds"), "0mon 10000000us");
  EXPECT_EQ(Interval("1 minute"), "0mon 60000000us");
  EXPECT_EQ(Interval("1 day 02:03:04"), "0mon 93784000000us");
  EXPECT_EQ(Interval("1 day -02:00"), "0mon 79200000000us");
  EXPECT_EQ(Interval("1.5 hours"), "0mon 5400000000us");
  EXPECT_EQ(Interval("0.1s"), "0mon 100000us");
  EXPECT_EQ(Interval("2 years 3 mons"), "27mon 0us");
  EXPECT_EQ(Interval("1 hour ago"), "0mon -3600000000us");
  EXPECT_EQ(Interval("10"), "0mon 10000000us");
  EXPECT_EQ(Interval("00:00:00.25"), "0mon 250000us");
  EXPECT_EQ(Interval("-1 week"), "0mon -604800000000us");
  EXPECT_EQ(Interval("5 MINUTES"), "0mon 300000000us");
  EXPECT_EQ(Interval("1000000000 days"), "range");
  for (const char* bad : {"", "ago", "1 parsec", "second", "1 day ago 2", "1:2:3:4", "x", "10 5", ":"}) {
    EXPECT_EQ(Interval(bad), "syntax") << bad;
  }
}

TEST(Text, Base64ThereAndBack) {
  for (const auto& [bytes, text] : {std::pair<std::string_view, std::string_view>{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foobar", "Zm9vYmFy"},
                                    {"\xff\xfe", "//4="}}) {
    std::string out;
    AppendBase64(bytes, out);
    EXPECT_EQ(out, text);
    EXPECT_EQ(ParseBase64(text), std::optional<std::string>(bytes));
  }
  for (const char* bad : {"Z", "Zg=", "Zg", "Z===", "Zm9v Zm9v", "Zm=v", "Zm-v"}) EXPECT_FALSE(ParseBase64(bad)) << bad;
}

std::string Json(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out;
}

TEST(Text, JsonStringsEscapeWhatTheyMust) {
  EXPECT_EQ(Json("plain text that is long enough"), "\"plain text that is long enough\"");
  EXPECT_EQ(Json("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
  EXPECT_EQ(Json("\n\r\t\b\f\x01\x1f\x7f"), "\"\\n\\r\\t\\b\\f\\u0001\\u001f\x7f\"");
  EXPECT_EQ(Json("caf\xc3\xa9 \xf0\x9f\x98\x80"), "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"");
  // A byte to escape at every place of the word that is scanned at once.
  for (size_t i = 0; i < 24; ++i) {
    std::string text(24, '\xc3');
    text[i] = '"';
    EXPECT_EQ(Json(text), '"' + text.substr(0, i) + "\\\"" + text.substr(i + 1) + '"');
  }
}

TEST(Text, ValuesOfEveryType) {
  const auto show = [](DataType type, auto fill) {
    Column column(type);
    fill(column);
    std::string text;
    AppendValueText(column, 0, text);
    text += " | ";
    AppendJsonValue(column, 0, text);
    return text;
  };
  const auto integer = [](int64_t v) { return [v](Column& c) { c.AppendInt(v); }; };
  EXPECT_EQ(show(BooleanType(), [](Column& c) { c.AppendBool(true); }), "true | true");
  EXPECT_EQ(show(BigintType(), integer(-5)), "-5 | -5");
  EXPECT_EQ(show(DecimalType(5, 2), integer(-5)), "-0.05 | -0.05");
  EXPECT_EQ(show(DecimalType(38, 2), [](Column& c) { c.AppendWide(350); }), "3.50 | 3.50");
  EXPECT_EQ(show(DoubleType(), [](Column& c) { c.AppendDouble(std::nan("")); }), "NaN | \"NaN\"");
  EXPECT_EQ(show(DoubleType(), [](Column& c) { c.AppendDouble(0.5); }), "0.5 | 0.5");
  EXPECT_EQ(show(StringType(), [](Column& c) { c.AppendText("a\"b"); }), "a\"b | \"a\\\"b\"");
  EXPECT_EQ(show({TypeKind::kBytes}, [](Column& c) { c.AppendText("foo"); }), "Zm9v | \"Zm9v\"");
  EXPECT_EQ(show(DateType(), integer(0)), "1970-01-01 | \"1970-01-01\"");
  EXPECT_EQ(show({TypeKind::kTime, 3}, integer(1000)), "00:00:00.001 | \"00:00:00.001\"");
  EXPECT_EQ(show(TimestampType(3), integer(1000)), "1970-01-01T00:00:00.001 | \"1970-01-01T00:00:00.001\"");
  EXPECT_EQ(show(TimestampLtzType(0), integer(-1)), "1969-12-31T23:59:59Z | \"1969-12-31T23:59:59Z\"");
}

TEST(Text, TheSmallestTimeCanBeShown) {
  std::string out;
  AppendTimestamp(kMinMicros, 6, 'T', out);
  EXPECT_EQ(out, "-290308-12-21T19:59:05.224192");
}

}  // namespace
}  // namespace weir
