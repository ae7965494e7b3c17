#include "tests/sql/expr_test_support.h"

namespace weir::expr_test {
namespace {

const std::optional<std::string> kNull;

ExpressionPtr Interval(const char* text) { return CastTo(Lit(text), "interval"); }

TEST(ExprTime, AddingIntervals) {
  Table t;
  const auto ts = t.Add("timestamp(3)", {"2026-01-31 10:00:00", "2028-02-29 00:00:00", kNull});
  const auto d = t.Add("date", {"2026-01-31", "2028-02-29", kNull});
  EXPECT_EQ(t.Eval("+", {ts, Interval("1 day 2 hours")}), "2026-02-01T12:00:00.000 2028-03-01T02:00:00.000 NULL");
  EXPECT_EQ(t.Eval("-", {ts, Interval("1 millisecond")}), "2026-01-31T09:59:59.999 2028-02-28T23:59:59.999 NULL");
  EXPECT_EQ(t.Eval("+", {ts, Interval("1 month")}), "2026-02-28T10:00:00.000 2028-03-29T00:00:00.000 NULL");
  EXPECT_EQ(t.Eval("-", {ts, Interval("1 year")}), "2025-01-31T10:00:00.000 2027-02-28T00:00:00.000 NULL");
  EXPECT_EQ(t.Eval("+", {Interval("1 day"), d}), "2026-02-01T00:00:00 2028-03-01T00:00:00 NULL");
  EXPECT_EQ(t.Eval("+", {d, Lit(1)}), "2026-02-01 2028-03-01 NULL");
  EXPECT_EQ(t.Eval("-", {d, Lit(31)}), "2025-12-31 2028-01-29 NULL");
  EXPECT_EQ(t.Eval("+", {ts, Lit("1 hour")}), "2026-01-31T11:00:00.000 2028-02-29T01:00:00.000 NULL");
  EXPECT_EQ(t.Eval("+", {ts, Interval("9000 years")}), "error at 0: timestamp out of range");
  EXPECT_EQ(t.Eval("+", {ts, ts}), "plan: operator does not exist: timestamp(3) + timestamp(3)");
  EXPECT_EQ(t.Eval("*", {Interval("1 month"), Lit("double", "0.5")}),
            "plan: an interval of months can only be multiplied by a constant integer");
}

TEST(ExprTime, Differences) {
  Table t;
  const auto a = t.Add("timestamp(3)", {"2026-01-02 00:00:01", kNull});
  const auto b = t.Add("timestamp(3)", {"2026-01-01 00:00:00", "2026-01-01 00:00:00"});
  const auto d = t.Add("date", {"2026-03-01", "2026-03-01"});
  const auto gap = Call("-", {a, b});
  EXPECT_EQ(t.Eval("extract", {Lit("epoch"), gap}), "86401.000000 NULL");
  EXPECT_EQ(t.Eval("<", {gap, Interval("2 days")}), "true NULL");
  EXPECT_EQ(t.Eval("<", {gap, Lit("1 day")}), "false NULL");
  EXPECT_EQ(t.Eval("-", {d, Lit("2026-02-01")}), "28 28");
  EXPECT_EQ(t.Eval("=", {Call("*", {Interval("1 day"), Lit(2)}), Interval("48 hours")}), "true true");
  EXPECT_EQ(t.Eval("=", {Call("/", {Interval("1 day"), Lit(2)}), Interval("12 hours")}), "true true");
}

TEST(ExprTime, Extract) {
  Table t;
  const auto ts = t.Add("timestamp(6)", {"2026-11-30 13:14:15.678901", "1969-12-31 23:59:59.5"});
  const auto field = [&](const char* name) { return t.Eval("extract", {Lit(name), ts}); };
  EXPECT_EQ(field("year"), "2026 1969");
  EXPECT_EQ(field("quarter"), "4 4");
  EXPECT_EQ(field("month"), "11 12");
  EXPECT_EQ(field("week"), "49 1");
  EXPECT_EQ(field("day"), "30 31");
  EXPECT_EQ(field("doy"), "334 365");
  EXPECT_EQ(field("dow"), "1 3");
  EXPECT_EQ(field("isodow"), "1 3");
  EXPECT_EQ(field("hour"), "13 23");
  EXPECT_EQ(field("minute"), "14 59");
  EXPECT_EQ(field("second"), "15.678901 59.500000");
  EXPECT_EQ(field("millisecond"), "15678.901 59500.000");
  EXPECT_EQ(field("microsecond"), "15678901 59500000");
  EXPECT_EQ(field("EPOCH"), "1796044455.678901 -0.500000");
  EXPECT_EQ(field("fortnight"), "plan: unit \"fortnight\" not recognized by extract");
  EXPECT_EQ(t.Eval("date_part", {Lit("hour"), ts}), "13 23");
  const auto d = t.Add("date", {"2026-11-29", "2026-01-01"});
  EXPECT_EQ(t.Eval("extract", {Lit("dow"), d}), "0 4");
  EXPECT_EQ(t.Eval("extract", {Lit("week"), d}), "48 1");
}

TEST(ExprTime, Truncate) {
  Table t;
  const auto ts = t.Add("timestamp(3)", {"2026-11-30 13:14:15.678", "1969-12-31 23:59:59.5"});
  const auto to = [&](const char* unit) { return t.Eval("date_trunc", {Lit(unit), ts}); };
  EXPECT_EQ(to("second"), "2026-11-30T13:14:15.000 1969-12-31T23:59:59.000");
  EXPECT_EQ(to("hour"), "2026-11-30T13:00:00.000 1969-12-31T23:00:00.000");
  EXPECT_EQ(to("day"), "2026-11-30T00:00:00.000 1969-12-31T00:00:00.000");
  EXPECT_EQ(to("week"), "2026-11-30T00:00:00.000 1969-12-29T00:00:00.000");
  EXPECT_EQ(to("month"), "2026-11-01T00:00:00.000 1969-12-01T00:00:00.000");
  EXPECT_EQ(to("quarter"), "2026-10-01T00:00:00.000 1969-10-01T00:00:00.000");
  EXPECT_EQ(to("year"), "2026-01-01T00:00:00.000 1969-01-01T00:00:00.000");
  EXPECT_EQ(t.Eval("date_bin", {Interval("15 minutes"), ts, Lit("2026-01-01")}),
            "2026-11-30T13:00:00.000 1969-12-31T23:45:00.000");
  t.context.time_zone = "Europe/Berlin";
  const auto ltz = t.Add("timestamp_ltz(3)", {"2026-07-01 22:30:00", "2026-01-01 23:30:00"});
  EXPECT_EQ(t.Eval("epoch_ms", {Call("date_trunc", {Lit("day"), ltz})}), "1782943200000 1767308400000");
  EXPECT_EQ(t.Eval("extract", {Lit("hour"), ltz}), "0 0");
}

// A text is made once for the neighbours that share it.
TEST(ExprTime, FormatsOfNeighbours) {
  Table t;
  const auto ts = t.Add("timestamp(3)", {"1969-12-31 23:59:59.999", "1970-01-01 00:00:00", "1970-01-01 00:00:59.999",
                                         "1970-01-01 00:01:00", "1969-12-31 23:59:00", "1970-01-01 23:59:59"});
  EXPECT_EQ(t.Eval("to_char", {ts, Lit("DD")}), "'31' '01' '01' '01' '31' '01'");
  EXPECT_EQ(t.Eval("to_char", {ts, Lit("DD HH24")}), "'31 23' '01 00' '01 00' '01 00' '31 23' '01 23'");
  EXPECT_EQ(t.Eval("to_char", {ts, Lit("AM")}), "'PM' 'AM' 'AM' 'AM' 'PM' 'PM'");
  EXPECT_EQ(t.Eval("date_format", {ts, Lit("HH:mm")}), "'23:59' '00:00' '00:00' '00:01' '23:59' '23:59'");
  EXPECT_EQ(t.Eval("date_format", {ts, Lit("mm:ss")}), "'59:59' '00:00' '00:59' '01:00' '59:00' '59:59'");
  EXPECT_EQ(t.Eval("date_format", {ts, Lit("SSS")}), "'999' '000' '999' '000' '000' '000'");
}

TEST(ExprTime, FormatAndParse) {
  Table t;
  const auto ts = t.Add("timestamp(3)", {"2026-03-05 01:04:09.078", "2026-11-30 13:14:15"});
  EXPECT_EQ(t.Eval("to_char", {ts, Lit("YYYY-MM-DD HH24:MI:SS.MS")}),
            "'2026-03-05 01:04:09.078' '2026-11-30 13:14:15.000'");
  EXPECT_EQ(t.Eval("to_char", {ts, Lit("Dy, DD Mon YYYY HH12:MI AM")}),
            "'Thu, 05 Mar 2026 01:04 AM' 'Mon, 30 Nov 2026 01:14 PM'");
  EXPECT_EQ(t.Eval("to_char", {ts, Lit("Month|FMMonth|DAY|\"T\"US")}),
            "'March    |March|THURSDAY |T078000' 'November |November|MONDAY   |T000000'");
  EXPECT_EQ(t.Eval("to_char", {ts, Lit("yyyy-mm-dd hh24:mi")}), "'2026-03-05 01:04' '2026-11-30 13:14'");
  EXPECT_EQ(t.Eval("date_format", {ts, Lit("yyyy-MM-dd'T'HH:mm:ss.SSS")}),
            "'2026-03-05T01:04:09.078' '2026-11-30T13:14:15.000'");
  EXPECT_EQ(t.Eval("date_format", {ts, Lit("d MMM yy h:mm a EEE")}), "'5 Mar 26 1:04 AM Thu' '30 Nov 26 1:14 PM Mon'");
  EXPECT_EQ(t.Eval("date_format", {ts, Lit("bb")}), "plan: unknown letter 'b' in a date format");
  const auto parse = [](const char* text, const char* pattern) {
    return EvalOne("epoch_ms", {Call("to_timestamp", {Lit(text), Lit(pattern)})});
  };
  EXPECT_EQ(parse("2026-11-30 13:14:15", "YYYY-MM-DD HH24:MI:SS"), "1796044455000");
  EXPECT_EQ(parse("30/11/2026 01:14:15 PM", "DD/MM/YYYY HH12:MI:SS AM"), "1796044455000");
  EXPECT_EQ(parse("20261130131415", "yyyyMMddHHmmss"), "1796044455000");
  EXPECT_EQ(parse("2026-11-30T13:14:15.5", "yyyy-MM-dd'T'HH:mm:ss.SSS"), "1796044455500");
  EXPECT_EQ(EvalOne("to_date", {Lit("05 Dec 2000"), Lit("DD Mon YYYY")}), "2000-12-05");
  EXPECT_EQ(EvalOne("to_date", {Lit("2026-02-30"), Lit("YYYY-MM-DD")}),
            "error at 0: date/time field value out of range: \"2026-02-30\"");
  EXPECT_EQ(EvalOne("to_date", {Lit("soon"), Lit("YYYY-MM-DD")}),
            "error at 0: the text does not fit the date format: \"soon\"");
}

TEST(ExprTime, EpochsConstructorsZonesAndNow) {
  EXPECT_EQ(EvalOne("to_timestamp_ms", {Lit(1796044455678)}), "2026-11-30T13:14:15.678");
  EXPECT_EQ(EvalOne("epoch_ms", {Call("to_timestamp", {Lit("double", "1.5")})}), "1500");
  EXPECT_EQ(EvalOne("make_timestamp", {Lit(2026), Lit(11), Lit(30), Lit(13), Lit(14), Lit("double", "15.5")}),
            "2026-11-30T13:14:15.500000");
  EXPECT_EQ(EvalOne("make_date", {Lit(2026), Lit(2), Lit(29)}), "error at 0: date or time field value out of range");
  Table t;
  const auto ts = t.Add("timestamp(0)", {"2026-07-01 12:00:00"});
  const auto instant = Call("AT TIME ZONE", {ts, Lit("Europe/Berlin")});
  EXPECT_EQ(instant->type(), TimestampLtzType(0));
  EXPECT_EQ(t.Eval("AT TIME ZONE", {instant, Lit("America/New_York")}), "2026-07-01T06:00:00");
  EXPECT_EQ(t.Eval("timezone", {Lit("America/New_York"), instant}), "2026-07-01T06:00:00");
  EXPECT_EQ(t.Eval("AT TIME ZONE", {ts, Lit("Nowhere")}), "plan: time zone \"Nowhere\" not recognized");
  t.context.now = 1796044455678901;
  t.context.time_zone = "Europe/Berlin";
  const auto now = Call("current_timestamp", {});
  EXPECT_FALSE(now->deterministic());
  EXPECT_EQ(FoldConstants(now), now);
  EXPECT_EQ(t.Eval("epoch_ms", {now}), "1796044455678");
  EXPECT_EQ(t.Eval("localtimestamp", {}), "2026-11-30T14:14:15.678");
  EXPECT_EQ(t.Eval("current_date", {}), "2026-11-30");
}

}  // namespace
}  // namespace weir::expr_test
