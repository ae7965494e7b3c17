#include "tests/sql/expr_test_support.h"

namespace weir::expr_test {
namespace {

const std::optional<std::string> kNull;

class TruthTable : public testing::Test {
 protected:
  Table t;
  ExpressionPtr a = t.Add("boolean", {"true", "true", "true", "false", "false", "false", kNull, kNull, kNull});
  ExpressionPtr b = t.Add("boolean", {"true", "false", kNull, "true", "false", kNull, "true", "false", kNull});
};

TEST_F(TruthTable, AndOrNot) {
  EXPECT_EQ(t.Eval("AND", {a, b}), "true false NULL false false false NULL false NULL");
  EXPECT_EQ(t.Eval("OR", {a, b}), "true true true true false NULL true NULL NULL");
  EXPECT_EQ(t.Eval("NOT", {b}), "false true NULL false true NULL false true NULL");
  EXPECT_EQ(t.Eval("AND", {a, MakeNull({})}), "NULL NULL NULL false false false NULL NULL NULL");
  EXPECT_EQ(t.Eval("OR", {a, MakeBoolean(false)}), "true true true false false false NULL NULL NULL");
}

TEST_F(TruthTable, Tests) {
  EXPECT_EQ(t.Eval("IS NULL", {b}), "false false true false false true false false true");
  EXPECT_EQ(t.Eval("IS NOT NULL", {b}), "true true false true true false true true false");
  EXPECT_EQ(t.Eval("IS TRUE", {b}), "true false false true false false true false false");
  EXPECT_EQ(t.Eval("IS NOT TRUE", {b}), "false true true false true true false true true");
  EXPECT_EQ(t.Eval("IS FALSE", {b}), "false true false false true false false true false");
  EXPECT_EQ(t.Eval("IS NOT FALSE", {b}), "true false true true false true true false true");
  EXPECT_EQ(t.Eval("IS UNKNOWN", {b}), "false false true false false true false false true");
  EXPECT_EQ(t.Eval("IS NOT DISTINCT FROM", {a, b}), "true false false false true false false false true");
  EXPECT_EQ(t.Eval("IS DISTINCT FROM", {a, b}), "false true true true false true true true false");
  EXPECT_EQ(t.Eval("=", {a, b}), "true false NULL false true NULL NULL NULL NULL");
}

TEST(ExprLogic, AnErrorCountsOnlyWhereTheLeftSideIsOpen) {
  Table t;
  const auto x = t.Add("bigint", {"5", "0", kNull, "20"});
  const auto quotient = Call(">", {Call("/", {Lit(10), x}), Lit(1)});
  EXPECT_EQ(t.Eval(quotient), "error at 1: division by zero");
  EXPECT_EQ(t.Eval("AND", {Call("<>", {x, Lit(int64_t{0})}), quotient}), "true false NULL false");
  EXPECT_EQ(t.Eval("OR", {Call("=", {x, Lit(int64_t{0})}), quotient}), "true true NULL false");
  EXPECT_EQ(t.Eval("OR", {Call("<>", {x, Lit(int64_t{0})}), quotient}), "error at 1: division by zero");
  EXPECT_EQ(t.Eval("CASE", {Call("=", {x, Lit(int64_t{0})}), Lit(-1), Call("/", {Lit(10), x})}), "2 -1 NULL 0");
  EXPECT_EQ(t.Eval("CASE", {Call(">", {x, Lit(int64_t{0})}), Call("/", {Lit(10), x})}), "2 NULL NULL 0");
  EXPECT_EQ(t.Eval("COALESCE", {x, Call("/", {Lit(1), Lit(int64_t{0})})}), "error at 2: division by zero");
}

TEST(ExprLogic, CoalesceEvaluatesTheRestOnlyForNulls) {
  Table t;
  const auto x = t.Add("bigint", {"1", kNull, "3"});
  const auto y = t.Add("bigint", {"0", "5", "0"});
  EXPECT_EQ(t.Eval("COALESCE", {x, Call("/", {Lit(10), y})}), "1 2 3");
  EXPECT_EQ(t.Eval("COALESCE", {x, Lit(7)}), "1 7 3");
  EXPECT_EQ(t.Eval("coalesce", {MakeNull({}), x, y}), "1 5 3");
  const auto z = t.Add("decimal(3,1)", {"1.5", "2.5", kNull});
  EXPECT_EQ(t.Eval("COALESCE", {x, z}), "1.0 2.5 3.0");
}

TEST(ExprLogic, CaseNullifGreatestLeast) {
  Table t;
  const auto x = t.Add("bigint", {"1", "2", kNull});
  const auto s = t.Add("string", {"app", "web", kNull});
  EXPECT_EQ(t.Eval("CASE", {Call("=", {s, Lit("app")}), x, Call("=", {s, Lit("web")}), Lit(20), Lit(30)}), "1 20 30");
  EXPECT_EQ(t.Eval("CASE", {Call("=", {s, Lit("app")}), Lit("A"), s}), "'A' 'web' NULL");
  EXPECT_EQ(t.Eval("CASE", {Call("=", {s, Lit("app")}), Lit(1), Lit("x")}),
            "plan: invalid input syntax for type bigint: \"x\"");
  EXPECT_EQ(t.Eval("CASE", {x, Lit(1), Lit(2)}), "plan: argument of CASE WHEN must be boolean, not bigint");
  EXPECT_EQ(t.Eval("NULLIF", {x, Lit(2)}), "1 NULL NULL");
  EXPECT_EQ(t.Eval("GREATEST", {x, Lit(2), MakeNull({})}), "2 2 2");
  EXPECT_EQ(t.Eval("LEAST", {x, Lit("decimal(2,1)", "1.5")}), "1.0 1.5 1.5");
  EXPECT_EQ(t.Eval("GREATEST", {s, Lit("foo")}), "'foo' 'web' 'foo'");
}

}  // namespace
}  // namespace weir::expr_test
