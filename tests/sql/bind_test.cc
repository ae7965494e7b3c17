#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sql/planning.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using testing::Errors;
using testing::Find;
using ::testing::HasSubstr;
using testing::PlanQueries;
using ::testing::StartsWith;

struct Wrong {
  const char* select;
  const char* error;
};

class WrongSelectTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongSelectTest, IsRefusedWithItsPlace) {
  EXPECT_THAT(Errors({std::string("INSERT INTO out ") + GetParam().select}), StartsWith(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Names, WrongSelectTest,
    ::testing::Values(
        Wrong{"SELECT idd FROM t", "1:24: column idd does not exist; did you mean id?"},
        Wrong{"SELECT t.idd FROM t", "1:24: column idd does not exist in t; did you mean id?"},
        Wrong{"SELECT x.id FROM t", "1:24: table x is not in FROM"},
        Wrong{"SELECT x.* FROM t", "1:24: table x is not in FROM"},
        Wrong{"SELECT \"K\" FROM t", "1:24: column \"K\" does not exist; did you mean k?"},
        Wrong{"SELECT amount FROM ordes", "1:36: table ordes does not exist; did you mean orders?"},
        Wrong{"SELECT id FROM t, u", "1:24: column id is ambiguous; there are t.id and u.id"},
        Wrong{"SELECT t.id FROM t JOIN t ON true", "1:36: table name t is used twice in FROM"},
        Wrong{"SELECT a.id FROM t a WHERE t.v = 1", "1:44: table t is not in FROM"},
        Wrong{"SELECT * FROM ups", "1:31: ups is a sink"},
        Wrong{"SELECT w FROM t JOIN u USING (w)", "1:33: column w of USING does not exist on the left side"},
        Wrong{"SELECT id, id FROM t", "1:28: column id appears twice in the output; give one an alias"},
        Wrong{"SELECT id, k, v AS id FROM t", "1:31: column id appears twice in the output"},
        Wrong{"SELECT *, id FROM t", "1:27: column id appears twice in the output"},
        Wrong{"SELECT id, id FROM t UNION ALL SELECT id, v FROM t", "1:28: column id appears twice in the output"},
        Wrong{"SELECT -k AS x FROM t", "1:24: the operator - takes a number, and this is a string"},
        Wrong{"SELECT 1e400 AS x FROM t", "1:24: the number 1e400 is out of the range of double"},
        Wrong{"SELECT * FROM t AS a (x, y, z, zz, zzz)", "1:31: a has 4 columns, and 5 names are given"}));

INSTANTIATE_TEST_SUITE_P(
    Types, WrongSelectTest,
    ::testing::Values(Wrong{"SELECT id FROM t WHERE id = k", "1:43: cannot compare bigint with string"},
                      Wrong{"SELECT id FROM t WHERE id", "1:40: WHERE needs a condition, and this is a bigint"},
                      Wrong{"SELECT lowr(k) FROM t", "1:24: function lowr(string) does not exist; did you mean lower"},
                      Wrong{"SELECT id FROM t UNION ALL SELECT id, w FROM u",
                            "1:34: the two sides of UNION have 1 and 2 columns"},
                      Wrong{"SELECT id FROM t UNION ALL SELECT k FROM t",
                            "1:34: column 1 of UNION (id) is bigint on the left and string"},
                      Wrong{"SELECT CAST(k AS numeric) FROM t", "1:24: give numeric a precision"},
                      Wrong{"SELECT 99999999999999999999999999999999999999999 FROM t", "1:24: the number 9999"},
                      Wrong{"SELECT count(*) FILTER (WHERE v) FROM t", "1:47: FILTER needs a condition"},
                      Wrong{"SELECT sum(k) FROM t", "1:24: function sum(string) does not exist"},
                      Wrong{"SELECT max(v > 1) FROM t", "1:24: function max(boolean) does not exist"},
                      Wrong{"VALUES (1), ('a', 2)", "1:30: the rows of VALUES have different numbers of columns"},
                      Wrong{"SELECT now() AS n FROM l", "1:13: now() has another value each time"}));

INSTANTIATE_TEST_SUITE_P(
    Groups, WrongSelectTest,
    ::testing::Values(Wrong{"SELECT k, v FROM t GROUP BY k", "1:27: column t.v must be in GROUP BY"},
                      Wrong{"SELECT id, count(*) FROM t", "1:24: column t.id must be in GROUP BY"},
                      Wrong{"SELECT k FROM t GROUP BY 2", "1:42: GROUP BY 2 is no item of SELECT, which has 1"},
                      Wrong{"SELECT count(*) FROM t GROUP BY 1", "1:24: aggregates are not allowed in GROUP BY"},
                      Wrong{"SELECT count(sum(v)) FROM t", "1:30: aggregates cannot be nested"},
                      Wrong{"SELECT id FROM t WHERE count(*) > 1",
                            "1:40: aggregates are not allowed in WHERE; use HAVING"},
                      Wrong{"SELECT corr(v, id) FROM t", "1:24: aggregate corr is not supported; there are count, sum"},
                      Wrong{"SELECT string_agg(k) FROM t", "1:24: string_agg takes a text and a separator"},
                      Wrong{"SELECT string_agg(id, ',') FROM t", "1:24: function string_agg(bigint) does not exist"},
                      Wrong{"SELECT string_agg(k, k) FROM t", "1:38: the separator of string_agg must be a text"},
                      Wrong{"SELECT string_agg(DISTINCT k, ',' ORDER BY id) FROM t",
                            "1:60: in an aggregate with DISTINCT, ORDER BY must be by its argument"},
                      Wrong{"SELECT first_value(k ORDER BY id) FROM t",
                            "1:47: first_value takes the values in the order of arrival"},
                      Wrong{"SELECT last_value(DISTINCT k) FROM t", "1:24: DISTINCT has no meaning in last_value"},
                      Wrong{"SELECT bool_and(v) FROM t", "1:24: function bool_and(bigint) does not exist"},
                      Wrong{"SELECT stddev(k) FROM t", "1:24: function stddev(string) does not exist"},
                      Wrong{"SELECT bitmap_build_agg(k) FROM t", "1:24: function bitmap_build_agg(string) does not"},
                      Wrong{"SELECT grouping(k) FROM t", "1:33: the arguments of GROUPING must be expressions of GROUP"},
                      Wrong{"SELECT grouping(v) FROM t GROUP BY ROLLUP (k)", "1:33: the arguments of GROUPING must be"},
                      Wrong{"SELECT v FROM t GROUP BY ROLLUP (k)", "1:24: column t.v must be in GROUP BY"},
                      Wrong{"SELECT lower(DISTINCT k) FROM t",
                            "1:24: *, DISTINCT, ORDER BY and FILTER belong to aggregates"}));

INSTANTIATE_TEST_SUITE_P(
    Subqueries, WrongSelectTest,
    ::testing::Values(
        Wrong{"SELECT id FROM t WHERE id IN (SELECT id, w FROM u)",
              "1:43: the subquery of IN has 2 columns, and 1 stand"},
        Wrong{"SELECT id FROM t WHERE k IN (SELECT id FROM u)", "1:42: cannot compare string with bigint"},
        Wrong{"SELECT id, (SELECT w FROM u WHERE u.id = t.id) AS w FROM t",
              "1:28: this subquery may give more than one row, and a value is one; use LIMIT 1, an aggregate such as MIN or MAX, "
              "or compare the whole primary key of its table with = in its WHERE"},
        Wrong{"SELECT id, (SELECT w, id FROM u) AS w FROM t", "1:28: a subquery as a value has one column, and this one"},
        Wrong{"SELECT id, (id, v) IN (SELECT id, w FROM u) AS x FROM t",
              "1:36: a row before IN (SELECT ...) is supported only in WHERE, alone or joined to others by AND"},
        Wrong{"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM n WHERE n.b = t.id))",
              "1:106: t.id belongs to an outer query: a subquery may use it only in its items, its WHERE and its HAVING, "
              "outside of aggregates, and only of the query right around it"},
        Wrong{"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM (SELECT w FROM u WHERE u.id = t.id) AS x)",
              "1:92: t.id belongs to an outer query"},
        Wrong{"SELECT id, (SELECT sum(w + t.v) FROM u WHERE u.id = t.id) AS x FROM t",
              "1:44: t.v belongs to an outer query"},
        Wrong{"SELECT id FROM t GROUP BY id HAVING EXISTS (SELECT 1 FROM u WHERE u.w = t.v)",
              "1:89: column v does not exist in t"},
        Wrong{"SELECT t.id FROM t LEFT JOIN n ON EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND u.w = n.i)",
              "1:51: a subquery in ON of an outer join may use the columns of one side only"},
        Wrong{"SELECT id FROM t WHERE k > ANY (SELECT w FROM u)", "1:42: cannot compare string with bigint"},
        Wrong{"SELECT (SELECT 1 FROM t)[1] AS x FROM t", "1:24: "}));

INSTANTIATE_TEST_SUITE_P(
    SetOperations, WrongSelectTest,
    ::testing::Values(Wrong{"SELECT id FROM t INTERSECT SELECT id, w FROM u",
                            "1:34: the two sides of INTERSECT have 1 and 2 columns"},
                      Wrong{"SELECT id FROM t EXCEPT ALL SELECT k FROM t",
                            "1:34: column 1 of EXCEPT (id) is bigint on the left and string"}));

INSTANTIATE_TEST_SUITE_P(
    Lateral, WrongSelectTest,
    ::testing::Values(
        Wrong{"SELECT t.id FROM t RIGHT JOIN LATERAL (SELECT 1 AS x) AS l ON true",
              "1:42: LATERAL and functions in FROM see the tables on their left, so they can be joined by JOIN, CROSS"},
        Wrong{"SELECT t.id FROM t LEFT JOIN LATERAL (SELECT u.w FROM u) AS l ON l.w = t.v",
              "1:86: a LEFT JOIN with LATERAL or a function takes ON true; put the condition into the subquery's WHERE"},
        Wrong{"SELECT t.id FROM t JOIN LATERAL (SELECT u.id FROM u) AS l USING (id)",
              "1:36: a join with LATERAL or a function takes ON, not USING or NATURAL; write ON true"},
        Wrong{"SELECT x FROM n, unnest(i) AS x", "1:41: unnest takes arrays, and this is a int"},
        Wrong{"SELECT x FROM n, unnest() AS x", "1:34: unnest takes one or more arrays"},
        Wrong{"SELECT x FROM unnest(tags) AS x, n", "1:38: column tags does not exist"},
        Wrong{"SELECT x FROM generate_series(1) AS x", "1:31: generate_series takes a first number, a last one"},
        Wrong{"SELECT x FROM t, generate_series(1, ts) AS x", "1:53: generate_series is supported over integers"},
        Wrong{"SELECT 1 AS y FROM n, unnest(tags) AS n", "1:39: table name n is used twice in FROM"},
        Wrong{"SELECT 1 AS y FROM n, unnest(tags) AS x (a, b)", "1:39: x has 1 columns, and 2 names are given"}));

TEST(BindTest, ErrorsOfAllQueriesAreReportedTogether) {
  EXPECT_EQ(
      Errors({"INSERT INTO out SELECT idd, vv FROM t", "INSERT INTO outt SELECT id FROM t", "INSERT INTO t SELECT 1"}),
      "1:24: column idd does not exist; did you mean id?\n"
      "1:29: column vv does not exist; did you mean v?\n"
      "query 1 1:13: sink outt does not exist; did you mean out?\n"
      "query 2 1:13: t is a source; INSERT INTO takes a sink or a table");
}

TEST(BindTest, InsertNamesTheColumnsOfTheOutput) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out (a, b) SELECT id, id FROM t"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_EQ((*outcome.plan.sinks[0]->schema)[1].name, "b");
  EXPECT_EQ(Errors({"INSERT INTO out (a, b) SELECT id FROM t"}), "1:18: INSERT names 2 columns, and SELECT gives 1");
}

TEST(BindTest, ErrorsInsideAViewPointIntoTheView) {
  EXPECT_EQ(Errors({"CREATE VIEW x AS SELECT nope FROM t", "INSERT INTO out SELECT id FROM t"}),
            "1:25: column nope does not exist");
  EXPECT_EQ(Errors({"CREATE VIEW t AS SELECT id FROM u"}), "1:13: the name t is already taken");
}

TEST(BindTest, AJobWithoutInsertIsRefused) {
  EXPECT_THAT(Errors({"CREATE VIEW x AS SELECT id FROM t"}), HasSubstr("no INSERT INTO"));
}

std::vector<std::string> Columns(const std::string& select) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out " + select});
  EXPECT_TRUE(outcome.errors.empty()) << Errors({"INSERT INTO out " + select});
  std::vector<std::string> columns;
  if (!outcome.errors.empty()) return columns;
  for (const Field& field : outcome.plan.sinks[0]->schema->fields()) {
    columns.push_back(field.name + " " + field.type.ToString() + (field.nullable ? "" : " not null"));
  }
  return columns;
}

TEST(BindTest, StarsGiveMergedColumnsFirst) {
  EXPECT_THAT(Columns("SELECT * FROM t JOIN u USING (id)"),
              ElementsAre("id bigint", "k string", "v bigint", "ts timestamp(3)", "w bigint"));
  EXPECT_THAT(Columns("SELECT * FROM u NATURAL RIGHT JOIN t"),
              ElementsAre("id bigint", "w bigint", "k string", "v bigint", "ts timestamp(3)"));
  EXPECT_THAT(Columns("SELECT u.*, t.v FROM t FULL JOIN u USING (id)"),
              ElementsAre("id bigint", "w bigint", "v bigint"));
}

TEST(BindTest, LiteralsHaveTheSmallestTypeThatPostgresGives) {
  EXPECT_THAT(Columns("SELECT 1 AS a, -2147483649 AS b, 0.908 AS c, 1e3 AS d, NULL AS e, 'x' AS f FROM t"),
              ElementsAre("a int not null", "b bigint not null", "c decimal(3,3) not null", "d decimal(4,0) not null",
                          "e string", "f string not null"));
}

TEST(BindTest, AggregatesHaveTheTypesOfPostgres) {
  EXPECT_THAT(
      Columns("SELECT count(*) AS a, sum(i) AS b, sum(b) AS c, sum(c) AS d, sum(d) AS e, avg(i) AS f, avg(d) AS g, "
              "min(s) AS h, avg(c) AS i FROM n"),
      ElementsAre("a bigint not null", "b bigint", "c decimal(38,0)", "d decimal(38,2)", "e double", "f decimal(38,16)",
                  "g double", "h smallint", "i decimal(38,16)"));
}

TEST(BindTest, UnionTakesTheCommonType) {
  EXPECT_THAT(Columns("SELECT i AS a, NULL AS b FROM n UNION ALL SELECT b, s FROM n"),
              ElementsAre("a bigint", "b smallint"));
}

TEST(BindTest, NumericWithoutPrecisionKeepsTheScale) {
  EXPECT_THAT(Columns("SELECT c::numeric AS a, i::numeric AS b FROM n"),
              ElementsAre("a decimal(6,2)", "b decimal(10,0)"));
}

TEST(BindTest, GroupByTakesNumbersAliasesAndExpressions) {
  EXPECT_THAT(Columns("SELECT v + 1 AS x, count(*) AS n FROM t GROUP BY 1"),
              ElementsAre("x bigint", "n bigint not null"));
  EXPECT_THAT(Columns("SELECT v + 1 AS x, count(*) AS n FROM t GROUP BY x"),
              ElementsAre("x bigint", "n bigint not null"));
  EXPECT_THAT(Columns("SELECT (v + 1) * 2 AS x FROM t GROUP BY v + 1"), ElementsAre("x bigint"));
}

TEST(BindTest, NotInIsAnAntiJoinWhenNothingCanBeNull) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT i FROM n WHERE b NOT IN (SELECT i FROM n)"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_EQ(Find(outcome, "join-1")->join_type, JoinType::kAnti);
}

TEST(BindTest, EqualAggregatesAreComputedOnce) {
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT k, sum(v) AS a, sum(v) + 1 AS b FROM t GROUP BY k HAVING sum(v) > 3"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_EQ(Find(outcome, "aggregate-1")->calls.size(), 1u);
}

}  // namespace
}  // namespace weir
