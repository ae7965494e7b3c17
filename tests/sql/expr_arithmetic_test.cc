#include "tests/sql/expr_test_support.h"

namespace weir::expr_test {
namespace {

const std::optional<std::string> kNull;

TEST(ExprArithmetic, IntegersKeepTheWiderType) {
  Table t;
  const auto a = t.Add("smallint", {"1", "-7", kNull});
  const auto b = t.Add("int", {"2", "2", "2"});
  const auto c = t.Add("bigint", {"10", "3", "0"});
  EXPECT_EQ(Call("+", {a, b})->type(), IntType());
  EXPECT_EQ(Call("*", {b, c})->type(), BigintType());
  EXPECT_EQ(t.Eval("+", {a, b}), "3 -5 NULL");
  EXPECT_EQ(t.Eval("-", {c, a}), "9 10 NULL");
  EXPECT_EQ(t.Eval("-", {a}), "-1 7 NULL");
  EXPECT_EQ(t.Eval("/", {a, b}), "0 -3 NULL");
  EXPECT_EQ(t.Eval("%", {a, b}), "1 -1 NULL");
}

TEST(ExprArithmetic, OverflowIsAnErrorOfItsRow) {
  Table t;
  const auto a = t.Add("bigint", {"1", "9223372036854775807", "-9223372036854775808"});
  EXPECT_EQ(t.Eval("+", {a, Lit(1)}), "error at 1: bigint out of range: 9223372036854775807 + 1");
  EXPECT_EQ(t.Eval("-", {a, Lit(1)}), "error at 2: bigint out of range: -9223372036854775808 - 1");
  EXPECT_EQ(t.Eval("*", {a, Lit(2)}), "error at 1: bigint out of range: 9223372036854775807 * 2");
  EXPECT_EQ(t.Eval("/", {a, Lit(-1)}), "error at 2: bigint out of range: -9223372036854775808 / -1");
  EXPECT_EQ(t.Eval("%", {a, Lit(-1)}), "0 0 0");
  EXPECT_EQ(t.Eval("-", {a}), "error at 2: bigint out of range: 0 - -9223372036854775808");
  Table narrow;
  const auto i = narrow.Add("int", {"2147483647", "-2147483648"});
  EXPECT_EQ(narrow.Eval("+", {i, Lit("int", "1")}), "error at 0: integer out of range: 2147483647 + 1");
  EXPECT_EQ(narrow.Eval("/", {i, Lit("int", "-1")}), "error at 1: integer out of range: -2147483648 / -1");
}

TEST(ExprArithmetic, DivisionByZeroButNotAtNullRows) {
  Table t;
  const auto a = t.Add("bigint", {"1", "2", "3"});
  const auto b = t.Add("bigint", {"1", kNull, "2"});
  EXPECT_EQ(t.Eval("/", {a, b}), "1 NULL 1");
  EXPECT_EQ(t.Eval("%", {a, b}), "0 NULL 1");
  EXPECT_EQ(t.Eval("/", {a, Lit(int64_t{0})}), "error at 0: division by zero");
  EXPECT_EQ(t.Eval("/", {Lit("decimal(3,1)", "1.5"), Call("-", {a, Lit(3)})}), "error at 2: division by zero");
  EXPECT_EQ(t.Eval("/", {a, MakeNull(BigintType())}), "NULL NULL NULL");
  EXPECT_EQ(t.Eval("/", {a, MakeNull({})}), "NULL NULL NULL");
}

TEST(ExprArithmetic, DecimalsAreExact) {
  Table t;
  const auto price = t.Add("decimal(12,2)", {"100.00", "0.01", "-9999999999.99"});
  const auto count = t.Add("bigint", {"3", "9223372036854775807", "1"});
  const auto product = Call("*", {price, Lit("decimal(3,3)", "0.908")});
  EXPECT_EQ(product->type(), DecimalType(15, 5));
  EXPECT_EQ(t.Eval(product), "90.80000 0.00908 -9079999999.99092");
  EXPECT_EQ(t.Eval("+", {price, Lit("decimal(3,3)", "0.005")}), "100.005 0.015 -9999999999.985");
  EXPECT_EQ(t.Eval("*", {count, Lit("decimal(3,3)", "0.908")}), "2.724 8374821809464136432.756 0.908");
  EXPECT_EQ(t.Eval("-", {price, count}), "97.00 -9223372036854775806.99 -10000000000.99");
  EXPECT_EQ(t.Eval("%", {price, Lit("decimal(2,1)", "0.3")}), "0.10 0.01 -0.09");
  EXPECT_EQ(Call("*", {price, Lit(2)})->type(), DecimalType(13, 2));
}

TEST(ExprArithmetic, DecimalDivisionRoundsHalfAwayFromZero) {
  EXPECT_EQ(EvalOne("/", {Lit("decimal(2,1)", "1.0"), Lit("decimal(2,1)", "3.0")}), "0.333333");
  EXPECT_EQ(EvalOne("/", {Lit("decimal(2,1)", "2.0"), Lit("decimal(2,1)", "3.0")}), "0.666667");
  EXPECT_EQ(EvalOne("/", {Lit("decimal(2,1)", "-2.0"), Lit("decimal(2,1)", "3.0")}), "-0.666667");
  EXPECT_EQ(EvalOne("/", {Lit("decimal(38,0)", "99999999999999999999999999999999999999"), Lit(3)}),
            "error at 0: numeric field overflow: the result does not fit decimal(38,6)");
}

TEST(ExprArithmetic, DecimalsOf38Digits) {
  Table t;
  const auto a = t.Add("decimal(38,0)", {"99999999999999999999999999999999999999", "-1", kNull});
  EXPECT_EQ(t.Eval("+", {a, Lit(int64_t{0})}), "99999999999999999999999999999999999999 -1 NULL");
  EXPECT_EQ(t.Eval("+", {a, Lit(1)}), "error at 0: numeric field overflow: the result does not fit decimal(38,0)");
  EXPECT_EQ(t.Eval("*", {a, Lit(10)}), "error at 0: numeric field overflow: the result does not fit decimal(38,0)");
  EXPECT_EQ(t.Eval("%", {a, Lit(7)}), "1 -1 NULL");
  Table wide;
  const auto b = wide.Add("decimal(38,18)", {"123456789.000000000000000001", "2.5"});
  EXPECT_EQ(Call("*", {b, b})->type(), DecimalType(38, 20));
  EXPECT_EQ(wide.Eval("*", {b, b}), "15241578750190521.00000000024691357800 6.25000000000000000000");
  EXPECT_EQ(wide.Eval("/", {b, b}), "1.0000000000000000 1.0000000000000000");
}

TEST(ExprArithmetic, Doubles) {
  Table t;
  const auto a = t.Add("double", {"1", "-0.0", "1e308", "nan"});
  EXPECT_EQ(t.Eval("+", {a, Lit("double", "0.5")}), "1.5 0.5 1e+308 NaN");
  EXPECT_EQ(t.Eval("*", {a, Lit("double", "100")}), "error at 2: value out of range: overflow");
  EXPECT_EQ(t.Eval("*", {a, Lit("double", "inf")}), "Infinity NaN Infinity NaN");
  EXPECT_EQ(t.Eval("/", {a, Lit("double", "0")}), "error at 0: division by zero");
  EXPECT_EQ(t.Eval("*", {a, Lit("decimal(2,1)", "0.5")}), "0.5 -0 5e+307 NaN");
  EXPECT_EQ(Call("*", {a, Lit(2)})->type(), DoubleType());
}

TEST(ExprArithmetic, TextIsNoNumber) {
  Table t;
  const auto a = t.Add("string", {"1"});
  const auto b = t.Add("bigint", {"1"});
  EXPECT_EQ(t.Eval("+", {a, b}), "plan: operator does not exist: string + bigint");
  EXPECT_EQ(t.Eval("+", {b, Lit("41")}), "42");
  EXPECT_EQ(t.Eval("+", {b, Lit("abc")}), "plan: invalid input syntax for type bigint: \"abc\"");
}

}  // namespace
}  // namespace weir::expr_test
