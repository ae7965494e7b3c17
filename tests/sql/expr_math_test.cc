#include "tests/sql/expr_test_support.h"

namespace weir::expr_test {
namespace {

const std::optional<std::string> kNull;

TEST(ExprMath, Rounding) {
  Table t;
  const auto d = t.Add("decimal(6,3)", {"2.500", "-2.500", "1.005", kNull});
  EXPECT_EQ(t.Eval("round", {d}), "3 -3 1 NULL");
  EXPECT_EQ(t.Eval("round", {d, Lit(2)}), "2.50 -2.50 1.01 NULL");
  EXPECT_EQ(t.Eval("round", {d, Lit(-1)}), "0 0 0 NULL");
  EXPECT_EQ(t.Eval("trunc", {d, Lit(1)}), "2.5 -2.5 1.0 NULL");
  EXPECT_EQ(t.Eval("ceil", {d}), "3 -2 2 NULL");
  EXPECT_EQ(t.Eval("floor", {d}), "2 -3 1 NULL");
  const auto f = t.Add("double", {"2.5", "-2.5", "2.675", kNull});
  EXPECT_EQ(t.Eval("round", {f}), "2 -2 3 NULL");
  EXPECT_EQ(t.Eval("round", {f, Lit(2)}), "2.5 -2.5 2.68 NULL");
  EXPECT_EQ(t.Eval("ceiling", {f}), "3 -2 3 NULL");
  EXPECT_EQ(t.Eval("trunc", {f}), "2 -2 2 NULL");
  const auto i = t.Add("bigint", {"1250", "-1251", "9223372036854775807", kNull});
  EXPECT_EQ(t.Eval("round", {i, Lit(-1)}), "error at 2: numeric field overflow: the result does not fit bigint");
  EXPECT_EQ(t.Eval("trunc", {i, Lit(-2)}), "1200 -1200 9223372036854775800 NULL");
  EXPECT_EQ(t.Eval("floor", {i}), "1250 -1251 9223372036854775807 NULL");
}

TEST(ExprMath, AbsSignModDiv) {
  Table t;
  const auto i = t.Add("bigint", {"-5", "7", kNull});
  const auto d = t.Add("decimal(20,1)", {"-5.5", "7.5", kNull});
  EXPECT_EQ(t.Eval("abs", {i}), "5 7 NULL");
  EXPECT_EQ(t.Eval("abs", {d}), "5.5 7.5 NULL");
  EXPECT_EQ(t.Eval("sign", {d}), "-1 1 NULL");
  EXPECT_EQ(t.Eval("mod", {i, Lit(3)}), "-2 1 NULL");
  EXPECT_EQ(t.Eval("div", {i, Lit(3)}), "-1 2 NULL");
  EXPECT_EQ(t.Eval("div", {d, Lit(2)}), "-2 3 NULL");
  EXPECT_EQ(EvalOne("abs", {Lit(kMin64)}), "error at 0: bigint out of range");
}

TEST(ExprMath, Doubles) {
  EXPECT_EQ(EvalOne("sqrt", {Lit(16)}), "4");
  EXPECT_EQ(EvalOne("sqrt", {Lit(-1)}), "error at 0: cannot take square root of a negative number");
  EXPECT_EQ(EvalOne("power", {Lit(2), Lit(10)}), "1024");
  EXPECT_EQ(EvalOne("power", {Lit(int64_t{0}), Lit(-1)}), "error at 0: zero raised to a negative power is undefined");
  EXPECT_EQ(EvalOne("power", {Lit("double", "1e300"), Lit(2)}), "error at 0: value out of range: overflow");
  EXPECT_EQ(EvalOne("ln", {Lit(int64_t{0})}), "error at 0: cannot take logarithm of zero");
  EXPECT_EQ(EvalOne("log", {Lit(1000)}), "3");
  EXPECT_EQ(EvalOne("log", {Lit(2), Lit(8)}), "3");
  EXPECT_EQ(EvalOne("exp", {Lit(1000)}), "error at 0: value out of range: overflow");
  EXPECT_EQ(EvalOne("pi", {}), "3.141592653589793");
  EXPECT_EQ(EvalOne("sin", {Lit(int64_t{0})}), "0");
  EXPECT_EQ(EvalOne("atan2", {Lit(int64_t{0}), Lit(1)}), "0");
}

TEST(ExprMath, RandomIsDrawnForEachRow) {
  Table t;
  t.Add("bigint", {"1", "2"});
  const auto random = Call("random", {});
  EXPECT_FALSE(random->deterministic());
  const auto value = random->Evaluate(t.batch(), {});
  ASSERT_TRUE(value.has_value());
  EXPECT_NE((*value)->doubles()[0], (*value)->doubles()[1]);
}

TEST(ExprMath, Bits) {
  EXPECT_EQ(EvalOne("&", {Lit(12), Lit(10)}), "8");
  EXPECT_EQ(EvalOne("|", {Lit(12), Lit(10)}), "14");
  EXPECT_EQ(EvalOne("#", {Lit(12), Lit(10)}), "6");
  EXPECT_EQ(EvalOne("<<", {Lit(1), Lit(40)}), "1099511627776");
  EXPECT_EQ(EvalOne(">>", {Lit(-8), Lit(1)}), "-4");
}

TEST(ExprArray, ConstructSubscriptContains) {
  Table t;
  const auto a = t.Add("bigint", {"1", kNull});
  const auto array = Call("ARRAY", {a, Lit(2)});
  EXPECT_EQ(array->type(), ArrayType(BigintType()));
  EXPECT_EQ(t.Eval("cardinality", {array}), "2 2");
  EXPECT_EQ(t.Eval("array_length", {array, Lit(1)}), "2 2");
  EXPECT_EQ(t.Eval("SUBSCRIPT", {array, Lit(1)}), "1 NULL");
  EXPECT_EQ(t.Eval("SUBSCRIPT", {array, Lit(3)}), "NULL NULL");
  EXPECT_EQ(t.Eval("SUBSCRIPT", {array, a}), "1 NULL");
  EXPECT_EQ(t.Eval("array_contains", {array, Lit(1)}), "true false");
  EXPECT_EQ(t.Eval("ANY =", {Lit(1), array}), "true NULL");
  EXPECT_EQ(t.Eval("ANY =", {Lit(2), array}), "true true");
  EXPECT_EQ(t.Eval("SUBSCRIPT", {Call("ARRAY", {Lit("x"), Lit("yz")}), Lit(2)}), "'yz' 'yz'");
}

}  // namespace
}  // namespace weir::expr_test
