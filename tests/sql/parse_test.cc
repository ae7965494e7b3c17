#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "sql/parse/parser.h"
#include "tests/sql/planning.h"

namespace weir {
namespace {

using testing::Errors;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(SourceTextTest, PlacesCountCharactersAndLines) {
  const SourceText source("SELECT 'é',\n  b");
  EXPECT_EQ(source.Locate(0).column, 1);
  const TextPlace comma = source.Locate(11);  // é is two bytes
  EXPECT_EQ(comma.line, 1);
  EXPECT_EQ(comma.column, 11);
  const TextPlace b = source.Locate(source.text().size() - 1);
  EXPECT_EQ(b.line, 2);
  EXPECT_EQ(b.column, 3);
  EXPECT_EQ(source.OffsetOfCharacter(9), 8u);
  EXPECT_EQ(source.OffsetOfCharacter(10), 10u);
}

TEST(SourceTextTest, KeywordsInLiteralsNamesAndCommentsDoNotCount) {
  const SourceText source("a 'for' \"for\" /* for /* for */ for */ -- for\n $$ for $$ E'\\' for' FOR x");
  const size_t found = source.FindKeyword("for", 0, source.text().size(), 0);
  EXPECT_EQ(source.text().substr(found), "FOR x");
}

AstExpressionPtr FirstItem(const std::string& items) {
  const SourceText source("INSERT INTO out SELECT " + items + " FROM t");
  const ParseOutcome outcome = ParseQuery(source);
  EXPECT_TRUE(outcome.errors.empty());
  return outcome.statement.select->items[0].expression;
}

TEST(ParseTest, NegativeAndZeroIntegersKeepTheirValue) {
  EXPECT_EQ(FirstItem("-5")->text, "-5");
  EXPECT_EQ(FirstItem("- /* five */ 5")->text, "-5");
  EXPECT_EQ(FirstItem("0")->text, "0");
  EXPECT_EQ(FirstItem("-2147483648")->text, "-2147483648");
  EXPECT_EQ(FirstItem("-9999999999")->text, "-9999999999");
  EXPECT_EQ(FirstItem("''")->text, "");
  EXPECT_EQ(FirstItem("false")->text, "false");
  EXPECT_EQ(FirstItem("-1.50")->kind, AstExpression::Kind::kDecimal);
}

TEST(ParseTest, NamesAreFoldedAndQuotedNamesAreNot) {
  EXPECT_EQ(FirstItem("T.UserId")->names, (std::vector<std::string>{"t", "userid"}));
  EXPECT_EQ(FirstItem("\"T\".\"UserId\"")->names, (std::vector<std::string>{"T", "UserId"}));
  EXPECT_EQ(FirstItem("t.\"a\"\"b\\c\"")->names[1], "a\"b\\c");
}

TEST(ParseTest, IntervalFieldsBecomeText) {
  const AstExpressionPtr minute = FirstItem("INTERVAL '1' MINUTE");
  EXPECT_EQ(minute->kind, AstExpression::Kind::kCast);
  EXPECT_EQ(minute->arguments[0]->text, "1 minutes");
}

struct Refused {
  const char* sql;
  const char* error;  // the beginning of the first error
};

class RefusedStatementTest : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedStatementTest, IsRefusedWithItsPlace) {
  EXPECT_THAT(Errors({GetParam().sql}), StartsWith(GetParam().error)) << GetParam().sql;
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, RefusedStatementTest,
    ::testing::Values(
        Refused{"INSERT INTO out SELECT sum(v) OVER (ORDER BY v GROUPS 1 PRECEDING) FROM t", "1:36: GROUPS"},
        Refused{"INSERT INTO out SELECT sum(v) OVER (ROWS CURRENT ROW EXCLUDE TIES) FROM t", "1:36: EXCLUDE"},
        Refused{"INSERT INTO out SELECT id FROM t ORDER BY v USING <", "1:43: ORDER BY ... USING"},
        Refused{"INSERT INTO out SELECT id FROM t FOR UPDATE", "1:34: FOR UPDATE and other row locks"},
        Refused{"INSERT INTO out SELECT id FROM t WHERE v > 1 FOR SHARE", "1:46: FOR UPDATE and other row locks"},
        Refused{"INSERT INTO out SELECT id FROM t TABLESAMPLE BERNOULLI (10)", "1:46: TABLESAMPLE"},
        Refused{"INSERT INTO out SELECT k FROM t GROUP BY CUBE (a, b, c, d, e, f, g, h)",
                "1:42: GROUP BY has more than 128 grouping sets"},
        Refused{"INSERT INTO out SELECT k FROM t GROUP BY DISTINCT k", "1:24: GROUP BY DISTINCT"},
        Refused{"INSERT INTO out SELECT id INTO x FROM t", "1:24: SELECT INTO"},
        Refused{"INSERT INTO out WITH RECURSIVE r AS (SELECT 1 AS n) SELECT n FROM r", "1:22: WITH RECURSIVE"},
        Refused{"INSERT INTO out SELECT mode() WITHIN GROUP (ORDER BY v) FROM t", "1:24: WITHIN GROUP"},
        Refused{"INSERT INTO out SELECT id FROM t WHERE k = 'a' COLLATE \"C\"", "1:48: COLLATE is not supported"},
        Refused{"INSERT INTO out SELECT id FROM t WHERE k LIKE ANY (SELECT k FROM t)",
                "1:42: ANY and ALL over a subquery are supported with a comparison, and ~~ is none"},
        Refused{"INSERT INTO out SELECT id FROM t WHERE v < ALL (ARRAY[1, 2])", "1:42: of ANY and ALL over an array"},
        Refused{"INSERT INTO out SELECT * FROM json_to_record(k) AS x (a int)", "1:31: a list of column definitions"},
        Refused{"INSERT INTO out SELECT * FROM ROWS FROM (unnest(ARRAY[1]), unnest(ARRAY[2])) AS x",
                "1:42: ROWS FROM (...) is not supported"},
        Refused{"INSERT INTO out SELECT * FROM pg_sleep(1)", "1:31: function pg_sleep cannot stand in FROM"},
        Refused{"INSERT INTO out SELECT id FROM t WHERE id = $1", "1:45: parameters such as $1"},
        Refused{"INSERT INTO out SELECT id FROM t WHERE (id, v) = (1, 2)", "1:40: a row such as (a, b)"},
        Refused{"INSERT INTO out SELECT id FROM t WHERE k LIKE 'a' ESCAPE '!'", "1:42: ESCAPE is not supported"},
        Refused{"INSERT INTO out SELECT id FROM t WHERE v BETWEEN SYMMETRIC 5 AND 1", "1:42: BETWEEN SYMMETRIC"},
        Refused{"INSERT INTO out SELECT (t).id FROM t", "1:25: a field of a row"},
        Refused{"INSERT INTO out SELECT id FROM ONLY t", "1:37: FROM ONLY"},
        Refused{"INSERT INTO out SELECT id FROM public.t", "1:32: a table's name has no schema"},
        Refused{"INSERT INTO out SELECT id FROM t JOIN u USING (id) AS m", "1:34: an alias behind USING"},
        Refused{"INSERT INTO out SELECT id FROM (t JOIN u USING (id)) AS m", "1:35: an alias of a whole join"},
        Refused{"INSERT INTO out SELECT id FROM (SELECT id FROM t)", "1:32: subquery in FROM must have an alias"},
        Refused{"INSERT INTO out SELECT lower(a => k) FROM t", "1:30: named arguments"},
        Refused{"INSERT INTO out SELECT concat(VARIADIC ARRAY['a']) FROM t", "1:24: VARIADIC"},
        Refused{"INSERT INTO out SELECT CAST(k AS varchar(3)) FROM t", "1:34: varchar with a length"},
        Refused{"INSERT INTO out SELECT CAST(v AS money) FROM t", "1:34: type money does not exist"},
        Refused{"INSERT INTO out SELECT CAST(v AS numeric(10,-2)) FROM t", "1:34: decimal takes a precision"},
        Refused{"INSERT INTO out SELECT v & 1 FROM t", "1:26: the operator & is not supported"},
        Refused{"INSERT INTO out SELECT k IS DOCUMENT FROM t", "1:26: this expression is not supported"},
        Refused{"INSERT INTO out SELECT k[1:2] FROM t", "1:24: array slices"},
        Refused{"INSERT INTO out SELECT INTERVAL '1-2' YEAR TO MONTH FROM t", "1:24: this form of type interval"},
        Refused{"INSERT INTO out SELECT id FROM t ON CONFLICT DO NOTHING", "1:34: ON CONFLICT"},
        Refused{"INSERT INTO out SELECT id FROM t RETURNING id", "1:34: RETURNING"},
        Refused{"INSERT INTO out DEFAULT VALUES", "1:13: INSERT ... DEFAULT VALUES"},
        Refused{"INSERT INTO out AS x SELECT id FROM t", "1:13: an alias of the sink"},
        Refused{"INSERT INTO out OVERRIDING USER VALUE SELECT id FROM t", "1:13: OVERRIDING"},
        Refused{"CREATE OR REPLACE VIEW x AS SELECT id FROM t", "1:24: OR REPLACE"},
        Refused{"CREATE TEMP VIEW x AS SELECT id FROM t", "1:18: TEMPORARY"},
        Refused{"CREATE MATERIALIZED VIEW x AS SELECT id FROM t", "1:1: CREATE TABLE AS is not supported"},
        Refused{"DELETE FROM t RETURNING id", "1:1: DELETE is not supported"},
        Refused{"UPDATE t SET id = 1", "1:1: UPDATE is not supported"},
        Refused{"SELECT id FROM t", "1:1: a SELECT needs a place for its result"},
        Refused{"SELECT id FROM t; SELECT id FROM u", "1:26: one statement per query"},
        Refused{"", "1:1: the query is empty"},
        Refused{"INSERT INTO out SELECT 'éé' FROM FROM t", "1:34: syntax error at or near \"FROM\""},
        Refused{"INSERT INTO out\n  SELECT 'é', nope FROM t", "2:15: column nope does not exist"}));

TEST(ParseTest, InvalidTextIsRefused) {
  EXPECT_THAT(Errors({"INSERT INTO out SELECT '\xff' FROM t"}), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(Errors({std::string("SELECT\0 1", 9)}), HasSubstr("zero byte"));
}

TEST(ParseTest, DeepNestingIsRefusedAndDoesNotOverflow) {
  std::string deep = "id";
  for (int i = 0; i < 3000; ++i) deep += " + 1";
  EXPECT_THAT(Errors({"INSERT INTO out SELECT " + deep + " AS x FROM t"}),
              MatchesRegex("1:24: the expression is nested more than 500 levels deep [^\n]*\n?"));
}

std::string Repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(ParseTest, WhatIsTooLargeIsRefusedBeforeItIsParsed) {
  const auto error = [](const std::string& items) { return Errors({"INSERT INTO out SELECT " + items + " FROM t"}); };
  EXPECT_THAT(error(Repeated("id + ", 300'000) + "1 AS x"), HasSubstr("an expression has more than 10000 operators"));
  EXPECT_THAT(error("1 AS x FROM t WHERE " + Repeated("id = 1 OR ", 20'000) + "true"),
              HasSubstr("an expression has more than 10000 operators"));
  EXPECT_THAT(error(Repeated("f(id + ", 200) + "1" + Repeated(")", 200)), HasSubstr("function f"));
  EXPECT_THAT(error(Repeated("(", 20'000) + "id" + Repeated(")", 20'000)),
              StartsWith("1:524: parentheses are nested more than 500 deep"));
  EXPECT_THAT(error("id" + Repeated(" FROM t UNION ALL SELECT id", 3000)), HasSubstr("more than 1000 UNIONs and JOINs"));
  EXPECT_THAT(error(Repeated("CASE WHEN true THEN ", 9000)), HasSubstr("nested too deeply here"));
}

TEST(ParseTest, LongListsAreNotNested) {
  std::string columns = "id + 1 AS c0";
  for (int i = 1; i < 6000; ++i) columns += ", id + 1 * 2 AS c" + std::to_string(i);
  EXPECT_EQ(Errors({"INSERT INTO out SELECT " + columns + " FROM t"}), "");
  EXPECT_EQ(Errors({"INSERT INTO out SELECT id FROM t WHERE id IN (-1" + Repeated(", -2", 20'000) + ")"}), "");
}

TEST(ParseTest, SeveralThreadsMayParse) {
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&results, i] {
      for (int round = 0; round < 20; ++round) results[i] += Errors({"INSERT INTO out SELECT id FROM t"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, "");
}

}  // namespace
}  // namespace weir
