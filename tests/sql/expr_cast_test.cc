#include "tests/sql/expr_test_support.h"

namespace weir::expr_test {
namespace {

const std::optional<std::string> kNull;

std::string CastOne(const std::string& from, const std::optional<std::string>& text, const std::string& to,
                    const std::string& zone = "UTC") {
  Table t;
  t.context.time_zone = zone;
  const auto column = t.Add(from, {text});
  return t.Eval(MakeCast(column, TypeOf(to)));
}

TEST(ExprCast, TextToNumbers) {
  EXPECT_EQ(CastOne("string", " 42 ", "bigint"), "42");
  EXPECT_EQ(CastOne("string", "abc", "bigint"), "error at 0: invalid input syntax for type bigint: \"abc\"");
  EXPECT_EQ(CastOne("string", "1.5", "bigint"), "error at 0: invalid input syntax for type bigint: \"1.5\"");
  EXPECT_EQ(CastOne("string", "", "int"), "error at 0: invalid input syntax for type integer: \"\"");
  EXPECT_EQ(CastOne("string", "-9223372036854775808", "bigint"), "-9223372036854775808");
  EXPECT_EQ(CastOne("string", "9223372036854775808", "bigint"),
            "error at 0: value \"9223372036854775808\" is out of range for type bigint");
  EXPECT_EQ(CastOne("string", "300", "tinyint"), "error at 0: value \"300\" is out of range for type tinyint");
  EXPECT_EQ(CastOne("string", "2.345", "decimal(5,2)"), "2.35");
  EXPECT_EQ(CastOne("string", "1234.5", "decimal(5,2)"),
            "error at 0: numeric field overflow: \"1234.5\" does not fit decimal(5,2)");
  EXPECT_EQ(CastOne("string", "1e3", "double"), "1000");
  EXPECT_EQ(CastOne("string", "NaN", "double"), "NaN");
  EXPECT_EQ(CastOne("string", kNull, "double"), "NULL");
}

TEST(ExprCast, NumbersAmongThemselves) {
  EXPECT_EQ(CastOne("bigint", "2147483648", "int"), "error at 0: integer out of range");
  EXPECT_EQ(CastOne("int", "7", "bigint"), "7");
  EXPECT_EQ(CastOne("double", "2.5", "bigint"), "2");
  EXPECT_EQ(CastOne("double", "3.5", "bigint"), "4");
  EXPECT_EQ(CastOne("double", "-2.5", "int"), "-2");
  EXPECT_EQ(CastOne("double", "1e19", "bigint"), "error at 0: bigint out of range");
  EXPECT_EQ(CastOne("double", "9223372036854775808", "bigint"), "error at 0: bigint out of range");
  EXPECT_EQ(CastOne("double", "-9223372036854775808", "bigint"), "-9223372036854775808");
  EXPECT_EQ(CastOne("double", "nan", "int"), "error at 0: integer out of range");
  EXPECT_EQ(CastOne("decimal(3,1)", "2.5", "bigint"), "3");
  EXPECT_EQ(CastOne("decimal(3,1)", "-2.5", "bigint"), "-3");
  EXPECT_EQ(CastOne("decimal(20,2)", "12345.67", "double"), "12345.67");
  EXPECT_EQ(CastOne("decimal(12,2)", "10.55", "decimal(4,1)"), "10.6");
  EXPECT_EQ(CastOne("decimal(12,2)", "1000.55", "decimal(4,1)"),
            "error at 0: numeric field overflow: the value does not fit decimal(4,1)");
  EXPECT_EQ(CastOne("bigint", "9223372036854775807", "decimal(38,10)"), "9223372036854775807.0000000000");
  EXPECT_EQ(CastOne("double", "0.1", "decimal(38,20)"), "0.10000000000000000000");
  EXPECT_EQ(CastOne("double", "1e300", "float"), "error at 0: value out of range: overflow");
  EXPECT_EQ(CastOne("boolean", "true", "int"), "1");
  EXPECT_EQ(CastOne("int", "7", "boolean"), "true");
}

TEST(ExprCast, ToText) {
  EXPECT_EQ(CastOne("boolean", "true", "string"), "'true'");
  EXPECT_EQ(CastOne("decimal(12,2)", "-0.50", "string"), "'-0.50'");
  EXPECT_EQ(CastOne("bigint", "-9223372036854775808", "string"), "'-9223372036854775808'");
  EXPECT_EQ(CastOne("date", "2026-02-03", "string"), "'2026-02-03'");
  EXPECT_EQ(CastOne("string", "yes", "boolean"), "true");
  EXPECT_EQ(CastOne("string", "maybe", "boolean"), "error at 0: invalid input syntax for type boolean: \"maybe\"");
}

TEST(ExprCast, Times) {
  EXPECT_EQ(CastOne("string", "2026-11-30 10:00:00.123456", "timestamp(3)"), "2026-11-30T10:00:00.123");
  EXPECT_EQ(CastOne("timestamp(6)", "2026-11-30 10:00:00.123500", "timestamp(3)"), "2026-11-30T10:00:00.124");
  EXPECT_EQ(CastOne("timestamp(6)", "1969-12-31 23:59:59.999500", "timestamp(0)"), "1970-01-01T00:00:00");
  EXPECT_EQ(CastOne("timestamp(3)", "1969-12-31 23:59:59", "date"), "1969-12-31");
  EXPECT_EQ(CastOne("date", "2026-11-30", "timestamp(0)"), "2026-11-30T00:00:00");
  EXPECT_EQ(CastOne("timestamp(3)", "2026-11-30 10:11:12.5", "time(3)"), "10:11:12.500");
  EXPECT_EQ(CastOne("string", "2026-13-01", "date"), "error at 0: value \"2026-13-01\" is out of range for type date");
  EXPECT_EQ(CastOne("bigint", "5", "date"), "plan: cannot cast type bigint to date");
}

TEST(ExprCast, TimeZones) {
  const std::string berlin = "Europe/Berlin";
  EXPECT_EQ(CastOne("timestamp_ltz(3)", "2026-07-01 10:00:00", "timestamp(0)", berlin), "2026-07-01T12:00:00");
  EXPECT_EQ(CastOne("timestamp_ltz(3)", "2026-01-01 23:30:00", "date", berlin), "2026-01-02");
  EXPECT_EQ(CastOne("timestamp_ltz(3)", "2026-07-01 10:00:00", "string", berlin), "'2026-07-01T12:00:00.000+02:00'");
  EXPECT_EQ(CastOne("timestamp_ltz(0)", "2026-07-01 10:00:00", "string", "America/St_Johns"),
            "'2026-07-01T07:30:00-02:30'");
  EXPECT_EQ(CastOne("timestamp_ltz(0)", "2026-07-01 10:00:00", "string"), "'2026-07-01T10:00:00Z'");
  EXPECT_EQ(CastOne("string", "2026-07-01T07:30:00-02:30", "timestamp_ltz(0)", berlin), "2026-07-01T10:00:00Z");
  Table t;
  t.context.time_zone = berlin;
  // In 2026 summer time starts on 29 March and ends on 25 October: 02:30 is skipped, then repeated.
  const auto local = t.Add("timestamp(0)", {"2026-07-01 12:00:00", "2026-03-29 02:30:00", "2026-10-25 02:30:00",
                                            "2026-03-29 01:59:59", "2026-10-25 03:00:00"});
  const auto instant = Call("epoch_ms", {CastTo(local, "timestamp_ltz(0)")});
  Table utc;
  const auto expected =
      Call("epoch_ms", {utc.Add("timestamp(0)", {"2026-07-01 10:00:00", "2026-03-29 01:30:00", "2026-10-25 01:30:00",
                                                 "2026-03-29 00:59:59", "2026-10-25 02:00:00"})});
  EXPECT_EQ(t.Eval(instant), utc.Eval(expected));
}

TEST(ExprCast, AssignmentWidensButDoesNotGuess) {
  Table t;
  const auto i = t.Add("int", {"7"});
  const auto s = t.Add("string", {"7"});
  const auto d = t.Add("decimal(12,4)", {"1.2345"});
  EXPECT_EQ(t.Eval(MakeAssignmentCast(i, TypeOf("double"))), "7");
  EXPECT_EQ(t.Eval(MakeAssignmentCast(d, TypeOf("decimal(12,2)"))), "1.23");
  EXPECT_EQ(t.Eval(MakeAssignmentCast(MakeNull({}), TypeOf("string"))), "NULL");
  EXPECT_EQ(t.Eval(MakeAssignmentCast(s, TypeOf("bigint"))),
            "plan: a value of type string cannot be put into a column of type bigint; use CAST(x AS bigint)");
  EXPECT_EQ(CommonType(BigintType(), DecimalType(12, 2)), DecimalType(21, 2));
  EXPECT_EQ(CommonType(IntType(), DoubleType()), DoubleType());
  EXPECT_EQ(CommonType(TimestampType(3), TimestampType(6)), TimestampType(6));
  EXPECT_EQ(CommonType(BigintType(), StringType()), std::nullopt);
  EXPECT_EQ(CommonType({}, StringType()), StringType());
}

}  // namespace
}  // namespace weir::expr_test
