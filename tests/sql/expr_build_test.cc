#include "tests/sql/expr_test_support.h"

namespace weir::expr_test {
namespace {

Schema Names() {
  return Schema({{"o.amount", DecimalType(12, 2)}, {"channel", StringType()}, {"ts", TimestampType(3)}});
}

const ExpressionPtr kAmount = MakeColumn(0, DecimalType(12, 2));
const ExpressionPtr kChannel = MakeColumn(1, StringType());
const ExpressionPtr kTs = MakeColumn(2, TimestampType(3));

std::string Print(const ExpressionPtr& expression) { return expression->ToString(Names()); }

TEST(ExprBuild, PrintsSql) {
  EXPECT_EQ(Print(Call(">", {kAmount, Lit(10)})), "(o.amount > 10.00)");
  EXPECT_EQ(Print(Call("AND", {Call("=", {kChannel, Lit("it's")}), Call("IS NULL", {kTs})})),
            "((channel = 'it''s') AND (ts IS NULL))");
  EXPECT_EQ(Print(Call("IN", {kChannel, Lit("a"), Lit("b")})), "(channel IN ('a', 'b'))");
  EXPECT_EQ(Print(Call("CASE", {Call("IS NULL", {kChannel}), Lit("x"), kChannel})),
            "CASE WHEN (channel IS NULL) THEN 'x' ELSE channel END");
  EXPECT_EQ(Print(CastTo(kAmount, "double")), "CAST(o.amount AS double)");
  EXPECT_EQ(Print(Call("<", {kTs, Lit("2026-11-30 10:00:00")})), "(ts < TIMESTAMP '2026-11-30T10:00:00.000000')");
  EXPECT_EQ(Print(Call("+", {kTs, CastTo(Lit("1 day 1 second"), "interval")})), "(ts + INTERVAL '1 day 1 second')");
  EXPECT_EQ(Print(Call("NOT", {Call("LIKE", {kChannel, Lit("a%")})})), "(NOT (channel LIKE 'a%'))");
  EXPECT_EQ(Print(Call("upper", {kChannel})), "upper(channel)");
}

TEST(ExprBuild, FoldsConstants) {
  const auto folded = Call("+", {Call("*", {Lit(2), Lit(3)}), Lit(4)});
  EXPECT_EQ(Print(FoldConstants(folded)), "10");
  EXPECT_EQ(Print(Call("=", {kChannel, Call("||", {Lit("a"), Lit("b")})})), "(channel = 'ab')");
  const auto failing = Call("/", {Lit(1), Lit(int64_t{0})});
  EXPECT_EQ(Print(FoldConstants(failing)), "(1 / 0)");
  EXPECT_EQ(Print(FoldConstants(MakeColumn(0, BigintType()))), "o.amount");
}

TEST(ExprBuild, SplitsAndJoinsConditions) {
  const auto a = Call("=", {kChannel, Lit("a")});
  const auto b = Call("IS NULL", {kTs});
  const auto c = Call("OR", {a, b});
  const auto parts = SplitAnd(Call("AND", {Call("AND", {a, b}), c}));
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0], a);
  EXPECT_EQ(parts[2], c);
  EXPECT_EQ(Print(JoinAnd({})), "TRUE");
  EXPECT_EQ(JoinAnd({a}), a);
  EXPECT_EQ(JoinAnd({a, b, c})->Signature(), Call("AND", {Call("AND", {a, b}), c})->Signature());
}

TEST(ExprBuild, RemapAndColumns) {
  const auto condition = Call("AND", {Call("=", {kChannel, Lit("a")}), Call("IS NULL", {kTs})});
  EXPECT_EQ(ColumnsOf(condition), (std::vector<int>{1, 2}));
  const auto moved = condition->Remap({-1, 0, 5});
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(ColumnsOf(moved), (std::vector<int>{0, 5}));
  EXPECT_EQ(condition->Remap({0, 1, -1}), nullptr);
  const auto guarded = Call("CASE", {Call("=", {kAmount, Lit(1)}), Call("/", {Lit(1), kAmount}), MakeNull({})});
  Table t;
  t.Add("string", {"x", "y"});
  t.Add("decimal(12,2)", {"1.00", "2.00"});
  EXPECT_EQ(t.Eval(guarded->Remap({1})), "1.0000000000000 NULL");
}

TEST(ExprBuild, SignaturesTellExpressionsApart) {
  EXPECT_EQ(Call("+", {kAmount, Lit(1)})->Signature(), Call("+", {kAmount, Lit(1)})->Signature());
  EXPECT_NE(Call("+", {kAmount, Lit(1)})->Signature(), Call("+", {kAmount, Lit(2)})->Signature());
  EXPECT_NE(Lit("1")->Signature(), Lit(1)->Signature());
  EXPECT_NE(CastTo(kAmount, "double")->Signature(), CastTo(kAmount, "string")->Signature());
}

TEST(ExprBuild, UnknownFunctionsAreNamedWithTheirLikes) {
  EXPECT_EQ(EvalOne("foo", {Lit(1), Lit("x")}), "plan: function foo(bigint, string) does not exist");
  EXPECT_EQ(EvalOne("substrng", {Lit("x")}),
            "plan: function substrng(string) does not exist; did you mean substring or substr?");
  EXPECT_EQ(EvalOne("upper", {Lit(1)}), "plan: function upper(bigint) does not exist");
  EXPECT_EQ(EvalOne("upper", {}), "plan: function upper() does not exist");
  EXPECT_TRUE(IsKnownFunction("upper"));
  EXPECT_FALSE(IsKnownFunction("foo"));
  EXPECT_FALSE(IsKnownFunction("CASE"));
}

TEST(ExprBuild, EmptyBatches) {
  Table t;
  const auto a = t.Add("bigint", {});
  const auto s = t.Add("string", {});
  EXPECT_EQ(t.Eval("/", {a, Lit(int64_t{0})}), "");
  EXPECT_EQ(t.Eval("upper", {s}), "");
  EXPECT_EQ(t.Eval("CASE", {Call("=", {a, Lit(1)}), s}), "");
  EXPECT_EQ(t.Eval("AND", {Call("=", {a, Lit(1)}), Call("=", {Call("/", {a, a}), Lit(1)})}), "");
  EXPECT_EQ(t.Eval("/", {Lit(1), Lit(int64_t{0})}), "");
}

}  // namespace
}  // namespace weir::expr_test
