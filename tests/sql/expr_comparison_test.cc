#include "tests/sql/expr_test_support.h"

namespace weir::expr_test {
namespace {

const std::optional<std::string> kNull;

TEST(ExprComparison, IntegersAgainstColumnsAndConstants) {
  Table t;
  const auto a = t.Add("bigint", {"1", "2", "3", kNull});
  const auto b = t.Add("int", {"2", "2", "2", "2"});
  EXPECT_EQ(t.Eval("=", {a, b}), "false true false NULL");
  EXPECT_EQ(t.Eval("<>", {a, Lit(2)}), "true false true NULL");
  EXPECT_EQ(t.Eval("<", {a, b}), "true false false NULL");
  EXPECT_EQ(t.Eval("<=", {a, Lit(2)}), "true true false NULL");
  EXPECT_EQ(t.Eval(">", {Lit(2), a}), "true false false NULL");
  EXPECT_EQ(t.Eval(">=", {Lit(2), a}), "true true false NULL");
  EXPECT_EQ(t.Eval(">", {a, b}), "false false true NULL");
  EXPECT_EQ(t.Eval("=", {a, MakeNull({})}), "NULL NULL NULL NULL");
}

TEST(ExprComparison, DecimalsOfAnyScaleCompareExactly) {
  Table t;
  const auto a = t.Add("decimal(12,2)", {"10.00", "10.55", "-3.10", kNull});
  const auto wide = t.Add("decimal(38,0)", {"99999999999999999999999999999999999999", "10", "-4", "1"});
  EXPECT_EQ(t.Eval("=", {a, Lit(10)}), "true false false NULL");
  EXPECT_EQ(t.Eval(">", {a, Lit("decimal(5,4)", "1.0550")}), "true true false NULL");
  EXPECT_EQ(t.Eval("=", {a, Lit("decimal(6,4)", "10.5500")}), "false true false NULL");
  EXPECT_EQ(t.Eval("<", {a, Lit("decimal(6,4)", "10.5501")}), "true true true NULL");
  EXPECT_EQ(t.Eval("<", {a, wide}), "true false false NULL");
  EXPECT_EQ(t.Eval("<", {a, Call("-", {wide})}), "false false true NULL");
  EXPECT_EQ(t.Eval("=", {a, Lit("10.55")}), "false true false NULL");
  EXPECT_EQ(t.Eval("=", {a, Lit("double", "10.55")}), "false true false NULL");
}

TEST(ExprComparison, NanIsTheLargestAndZerosAreEqual) {
  Table t;
  const auto a = t.Add("double", {"nan", "-0.0", "1", "inf"});
  const auto b = t.Add("double", {"nan", "0.0", "nan", "nan"});
  EXPECT_EQ(t.Eval("=", {a, b}), "true true false false");
  EXPECT_EQ(t.Eval("<", {a, b}), "false false true true");
  EXPECT_EQ(t.Eval("<=", {a, b}), "true true true true");
  EXPECT_EQ(t.Eval(">", {b, a}), "false false true true");
  EXPECT_EQ(t.Eval(">", {a, Lit("double", "5")}), "true false false true");
  EXPECT_EQ(t.Eval("=", {a, Lit("double", "nan")}), "true false false false");
}

TEST(ExprComparison, TextsCompareBytewise) {
  Table t;
  const auto a = t.Add("string", {"app", "ap", "Z", "\xC3\xA4", kNull});
  EXPECT_EQ(t.Eval("=", {a, Lit("app")}), "true false false false NULL");
  EXPECT_EQ(t.Eval("<", {a, Lit("app")}), "false true true false NULL");
  EXPECT_EQ(t.Eval(">", {a, Lit("z")}), "false false false true NULL");
}

// A constant is compared by words of its size; every size class needs rows that differ in each part.
TEST(ExprComparison, EqualityWithConstantTextsOfEverySize) {
  for (size_t size = 0; size < 40; ++size) {
    std::string text(size, 'a');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 26);
    Texts texts = {text, text + "z"};
    std::string expected = "true false";
    std::string negated = "false true";
    for (size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = '#';
      texts.push_back(other);
      expected += " false";
      negated += " true";
    }
    Table t;
    const auto column = t.Add("string", texts);
    EXPECT_EQ(t.Eval("=", {column, Lit(text.c_str())}), expected) << size;
    EXPECT_EQ(t.Eval("<>", {column, Lit(text.c_str())}), negated) << size;
  }
}

TEST(ExprComparison, UnknownLiteralsTakeTheOtherType) {
  Table t;
  const auto d = t.Add("date", {"2026-11-30"});
  const auto ts = t.Add("timestamp(3)", {"2026-11-30 10:00:00"});
  const auto b = t.Add("bigint", {"5"});
  EXPECT_EQ(t.Eval("=", {d, Lit("2026-11-30")}), "true");
  EXPECT_EQ(t.Eval(">", {ts, Lit("2026-11-30")}), "true");
  EXPECT_EQ(t.Eval(">", {ts, d}), "true");
  EXPECT_EQ(t.Eval("<", {b, Lit("12")}), "true");
  EXPECT_EQ(t.Eval("=", {b, Lit("abc")}), "plan: invalid input syntax for type bigint: \"abc\"");
  EXPECT_EQ(t.Eval("=", {d, Lit("soon")}), "plan: invalid input syntax for type date: \"soon\"");
}

TEST(ExprComparison, NumberAndTextIsAPlanError) {
  Table t;
  const auto b = t.Add("bigint", {"5"});
  const auto s = t.Add("string", {"5"});
  EXPECT_EQ(t.Eval("=", {b, s}), "plan: cannot compare bigint with string; cast one side, e.g. CAST(x AS bigint)");
  EXPECT_EQ(t.Eval("=", {s, b}), "plan: cannot compare string with bigint; cast one side, e.g. CAST(x AS bigint)");
}

TEST(ExprComparison, BetweenAndIn) {
  Table t;
  const auto a = t.Add("bigint", {"1", "2", "30", kNull});
  EXPECT_EQ(t.Eval("BETWEEN", {a, Lit(2), Lit(30)}), "false true true NULL");
  EXPECT_EQ(t.Eval("NOT BETWEEN", {a, Lit(2), Lit(30)}), "true false false NULL");
  EXPECT_EQ(t.Eval("IN", {a, Lit(1), Lit(30)}), "true false true NULL");
  EXPECT_EQ(t.Eval("IN", {a, Lit(1), MakeNull({})}), "true NULL NULL NULL");
  EXPECT_EQ(t.Eval("NOT IN", {a, Lit(1), MakeNull({})}), "false NULL NULL NULL");
  EXPECT_EQ(t.Eval("NOT IN", {a, Lit(1), Lit(2)}), "false false true NULL");
  EXPECT_EQ(t.Eval("IN", {a, Lit("2"), Lit("30")}), "false true true NULL");
  EXPECT_EQ(t.Eval("IN", {a, Lit("decimal(2,1)", "1.5"), Lit("decimal(2,1)", "2.0")}), "false true false NULL");
  std::vector<ExpressionPtr> many = {a};
  for (int64_t i = 2; i < 100; i += 2) many.push_back(Lit(i));
  EXPECT_EQ(t.Eval("IN", many), "false true true NULL");
  const auto s = t.Add("string", {"app", "web", kNull, "x"});
  EXPECT_EQ(t.Eval("IN", {s, Lit("app"), Lit("web"), Lit("pos")}), "true true NULL false");
  const auto i = t.Add("int", {"1", "2", "3", "4"});
  EXPECT_EQ(t.Eval("IN", {i, Lit(1), Lit(4)}), "true false false true");
  EXPECT_EQ(t.Eval("IN", {i, a, Lit(4)}), "true true false true");
}

}  // namespace
}  // namespace weir::expr_test
