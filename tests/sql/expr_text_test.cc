#include "tests/sql/expr_test_support.h"

namespace weir::expr_test {
namespace {

const std::optional<std::string> kNull;

TEST(ExprText, LettersAndLengths) {
  EXPECT_EQ(EvalOne("upper", {Lit("abc \xC3\xA4")}), "'ABC \xC3\x84'");
  EXPECT_EQ(EvalOne("lower", {Lit("ABC \xC3\x84")}), "'abc \xC3\xA4'");
  EXPECT_EQ(EvalOne("initcap", {Lit("hello wORLD 2nd")}), "'Hello World 2nd'");
  EXPECT_EQ(EvalOne("length", {Lit("\xC3\xA4\xE2\x82\xAC")}), "2");
  EXPECT_EQ(EvalOne("octet_length", {Lit("\xC3\xA4\xE2\x82\xAC")}), "5");
  EXPECT_EQ(EvalOne("reverse", {Lit("a\xC3\xA4"
                                    "b")}),
            "'b\xC3\xA4"
            "a'");
  EXPECT_EQ(EvalOne("ascii", {Lit("\xE2\x82\xAC")}), "8364");
  EXPECT_EQ(EvalOne("chr", {Lit(8364)}), "'\xE2\x82\xAC'");
  EXPECT_EQ(EvalOne("md5", {Lit("")}), "'d41d8cd98f00b204e9800998ecf8427e'");
  EXPECT_EQ(EvalOne("md5", {Lit("The quick brown fox jumps over the lazy dog")}), "'9e107d9d372bb6826bd81d3542a419d6'");
  EXPECT_EQ(EvalOne("md5", {Lit("12345678901234567890123456789012345678901234567890123456789012345678901234567890")}),
            "'57edf4a22be3c955ac49da2e2107b67a'");
  EXPECT_EQ(EvalOne("to_hex", {Lit(255)}), "'ff'");
}

TEST(ExprText, Parts) {
  Table t;
  const auto s = t.Add("string", {"Thomas",
                                  "\xC3\xA4"
                                  "bc",
                                  "", kNull});
  EXPECT_EQ(t.Eval("substring", {s, Lit(2), Lit(2)}), "'ho' 'bc' '' NULL");
  EXPECT_EQ(t.Eval("substring", {s, Lit(-1), Lit(3)}), "'T' '\xC3\xA4' '' NULL");
  EXPECT_EQ(t.Eval("substr", {s, Lit(3)}), "'omas' 'c' '' NULL");
  EXPECT_EQ(t.Eval("substring", {s, Lit(1), Lit(-1)}), "error at 0: negative substring length not allowed");
  EXPECT_EQ(t.Eval("left", {s, Lit(2)}),
            "'Th' '\xC3\xA4"
            "b' '' NULL");
  EXPECT_EQ(t.Eval("left", {s, Lit(-2)}), "'Thom' '\xC3\xA4' '' NULL");
  EXPECT_EQ(t.Eval("right", {s, Lit(2)}), "'as' 'bc' '' NULL");
  EXPECT_EQ(t.Eval("right", {s, Lit(-1)}), "'homas' 'bc' '' NULL");
  EXPECT_EQ(t.Eval("position", {s, Lit("c")}), "0 3 0 NULL");
  EXPECT_EQ(t.Eval("starts_with", {s, Lit("Th")}), "true false false NULL");
  EXPECT_EQ(t.Eval("ends_with", {s, Lit("c")}), "false true false NULL");
  EXPECT_EQ(EvalOne("split_part", {Lit("a,b,c"), Lit(","), Lit(2)}), "'b'");
  EXPECT_EQ(EvalOne("split_part", {Lit("a,b,c"), Lit(","), Lit(-1)}), "'c'");
  EXPECT_EQ(EvalOne("split_part", {Lit("a,b,c"), Lit(","), Lit(4)}), "''");
  EXPECT_EQ(EvalOne("trim", {Lit("  x ")}), "'x'");
  EXPECT_EQ(EvalOne("ltrim", {Lit("zzyx"), Lit("xyz")}), "''");
  EXPECT_EQ(EvalOne("rtrim", {Lit("testxxzx"), Lit("xyz")}), "'test'");
  EXPECT_EQ(EvalOne("btrim", {Lit("\xC3\xA4"
                                  "a\xC3\xA4"),
                              Lit("\xC3\xA4")}),
            "'a'");
}

TEST(ExprText, Building) {
  Table t;
  const auto s = t.Add("string", {"a", kNull});
  const auto n = t.Add("bigint", {"1", "2"});
  EXPECT_EQ(t.Eval("||", {s, n}), "'a1' NULL");
  EXPECT_EQ(t.Eval("||", {n, n}), "plan: operator does not exist: bigint || bigint");
  EXPECT_EQ(t.Eval("concat", {s, n, Lit("z")}), "'a1z' '2z'");
  EXPECT_EQ(t.Eval("concat_ws", {Lit("-"), s, n, MakeNull({})}), "'a-1' '2'");
  EXPECT_EQ(EvalOne("replace", {Lit("abcabc"), Lit("bc"), Lit("X")}), "'aXaX'");
  EXPECT_EQ(EvalOne("replace", {Lit("abc"), Lit(""), Lit("X")}), "'abc'");
  EXPECT_EQ(EvalOne("translate", {Lit("12345"), Lit("143"), Lit("ax")}), "'a2x5'");
  EXPECT_EQ(EvalOne("repeat", {Lit("Pg"), Lit(3)}), "'PgPgPg'");
  EXPECT_EQ(EvalOne("lpad", {Lit("hi"), Lit(5), Lit("xy")}), "'xyxhi'");
  EXPECT_EQ(EvalOne("rpad", {Lit("hi"), Lit(5)}), "'hi   '");
  EXPECT_EQ(EvalOne("lpad", {Lit("hello"), Lit(2)}), "'he'");
  EXPECT_EQ(t.Eval("repeat", {s, Lit(2000000000)}), "error at 0: text too large");
}

TEST(ExprText, Like) {
  Table t;
  const auto s = t.Add("string", {"abc", "a%c", "ab", "",
                                  "\xC3\xA4"
                                  "bc",
                                  kNull});
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("a%")}), "true true true false false NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("%c")}), "true true false false true NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("%b%")}), "true false true false true NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("a_c")}), "true true false false false NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("_bc")}), "true false false false true NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("a\\%c")}), "false true false false false NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("%a%b%_")}), "true false false false false NULL");
  EXPECT_EQ(t.Eval("NOT LIKE", {s, Lit("%")}), "false false false false false NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("")}), "false false false true false NULL");
  EXPECT_EQ(t.Eval("ILIKE", {s, Lit("A%C")}), "true true false false false NULL");
  EXPECT_EQ(t.Eval("ILIKE", {s, Lit("\xC3\x84%")}), "false false false false true NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, Lit("a\\")}), "plan: LIKE pattern must not end with escape character");
  EXPECT_EQ(t.Eval("LIKE", {s, s}), "true true true true true NULL");
  EXPECT_EQ(t.Eval("LIKE", {s, MakeNull({})}), "NULL NULL NULL NULL NULL NULL");
  const auto n = t.Add("bigint", {"1", "1", "1", "1", "1", "1"});
  EXPECT_EQ(t.Eval("LIKE", {n, Lit("1")}), "plan: operator does not exist: bigint LIKE string");
}

TEST(ExprText, RegularExpressions) {
  Table t;
  const auto s = t.Add("string", {"foobar", "FOO", "x1y22", kNull});
  EXPECT_EQ(t.Eval("~", {s, Lit("o+b")}), "true false false NULL");
  EXPECT_EQ(t.Eval("~*", {s, Lit("^foo")}), "true true false NULL");
  EXPECT_EQ(t.Eval("!~", {s, Lit("o+b")}), "false true true NULL");
  EXPECT_EQ(t.Eval("SIMILAR TO", {s, Lit("(foo|x1)%")}), "true false true NULL");
  EXPECT_EQ(t.Eval("SIMILAR TO", {s, Lit("foo")}), "false false false NULL");
  EXPECT_EQ(t.Eval("regexp_like", {s, Lit("FOO"), Lit("i")}), "true true false NULL");
  EXPECT_EQ(t.Eval("regexp_extract", {s, Lit("([a-z])(\\d)"), Lit(2)}), "NULL NULL '1' NULL");
  EXPECT_EQ(t.Eval("regexp_extract", {s, Lit("[a-z]\\d")}), "NULL NULL 'x1' NULL");
  EXPECT_EQ(t.Eval("substring", {s, Lit("o(.)b")}), "'o' NULL NULL NULL");
  EXPECT_EQ(t.Eval("regexp_replace", {s, Lit("(\\d+)"), Lit("<\\1>"), Lit("g")}), "'foobar' 'FOO' 'x<1>y<22>' NULL");
  EXPECT_EQ(t.Eval("regexp_replace", {s, Lit("o"), Lit("0")}), "'f0obar' 'FOO' 'x1y22' NULL");
  EXPECT_EQ(t.Eval("regexp_count", {s, Lit("\\d")}), "0 0 3 NULL");
  EXPECT_EQ(t.Eval("~", {s, s}), "true true true NULL");
  EXPECT_EQ(t.Eval("~", {s, Lit("(")}), "plan: invalid regular expression '(': missing ): (");
}

}  // namespace
}  // namespace weir::expr_test
