// What subqueries, set operations, LATERAL and unnest become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sql/planning.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using testing::Errors;
using testing::Find;
using ::testing::IsEmpty;
using testing::Outline;
using testing::PlanQueries;

// Types of the joins in the plan, in the order of their ids.
std::vector<JoinType> JoinTypes(const std::string& query) {
  const PlanOutcome outcome = PlanQueries({query});
  EXPECT_EQ(Errors({query}), "");
  std::vector<JoinType> types;
  for (int i = 1;; ++i) {
    const PlanPtr join = Find(outcome, "join-" + std::to_string(i));
    if (join == nullptr) return types;
    types.push_back(join->join_type);
  }
}

TEST(SubqueryTest, ExistsAndInAsConjunctsAreSemiAndAntiJoins) {
  EXPECT_THAT(JoinTypes("INSERT INTO out SELECT id FROM t WHERE v > 1 AND EXISTS (SELECT 1 FROM u WHERE u.id = t.id)"),
              ElementsAre(JoinType::kSemi));
  EXPECT_THAT(JoinTypes("INSERT INTO out SELECT id FROM t WHERE NOT (id IN (SELECT id FROM u WHERE id IS NULL))"),
              ElementsAre(JoinType::kLeft, JoinType::kInner));
  EXPECT_THAT(JoinTypes("INSERT INTO out SELECT i FROM n WHERE i <> ALL (SELECT b FROM n)"),
              ElementsAre(JoinType::kAnti));
  EXPECT_THAT(JoinTypes("INSERT INTO out SELECT id FROM t WHERE id = ANY (SELECT id FROM u)"),
              ElementsAre(JoinType::kSemi));
}

TEST(SubqueryTest, CorrelatedAggregatesAreGroupedByTheKeyOfTheEquality) {
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT id, (SELECT max(w) FROM u WHERE u.id = t.id AND u.w > 0) AS m FROM t"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(join->join_type, JoinType::kLeft);
  EXPECT_EQ(join->condition, nullptr);
  EXPECT_EQ(join->left_keys.size(), 1u);
  EXPECT_EQ(Find(outcome, "aggregate-1")->group_columns.size(), 1u);
  EXPECT_NE(Find(outcome, "filter-1"), nullptr);  // of the inner rows alone, below the aggregate
}

TEST(SubqueryTest, AnyOtherConditionIsJoinedToTheDistinctOuterValues) {
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT id, (SELECT count(*) FROM u WHERE u.w < t.v) AS m FROM t"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_NE(Find(outcome, "aggregate-2"), nullptr);
  EXPECT_EQ(Find(outcome, "join-2")->null_safe, std::vector<bool>{true});
}

TEST(SubqueryTest, AnAggregateWithoutGroupByIsOneRowForAll) {
  EXPECT_THAT(JoinTypes("INSERT INTO out SELECT id FROM t WHERE v > (SELECT avg(w) FROM u)"),
              ElementsAre(JoinType::kInner));
}

TEST(SubqueryTest, TheRowOfAPrimaryKeyIsAValue) {
  EXPECT_THAT(JoinTypes("INSERT INTO out SELECT id, (SELECT w FROM r WHERE r.id = t.id) AS w FROM t"),
              ElementsAre(JoinType::kLeft));
  // Part of a key of two columns is not enough.
  EXPECT_NE(Errors({"INSERT INTO out SELECT id, (SELECT page FROM visits AS x WHERE x.visit_id = t.id) AS w FROM t"}), "");
}

TEST(SubqueryTest, ASubqueryThatIsWrittenTwiceIsComputedOnce) {
  const std::string query = "(SELECT max(w) FROM u WHERE u.id = t.id)";
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT id, " + query + " AS a, " + query + " + 1 AS b FROM t"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_EQ(Find(outcome, "aggregate-2"), nullptr);
}

TEST(SetOperationTest, IntersectAndExceptAreOneAggregateOverBothSides) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT id FROM t INTERSECT SELECT id FROM u"),
            "sink-out(project-3(filter-1(aggregate-1(exchange-1(union-1(project-1(scan-t), project-2(scan-u)))))))");
  EXPECT_EQ(Outline("INSERT INTO out SELECT id FROM t EXCEPT ALL SELECT id FROM u"),
            "sink-out(project-3(unnest-1(aggregate-1(exchange-1(union-1(project-1(scan-t), project-2(scan-u)))))))");
}

TEST(SetOperationTest, TheResultHasItsColumnsAsKey) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO ups SELECT id, v FROM t INTERSECT SELECT id, w FROM u"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_THAT(outcome.plan.sinks[0]->key, ElementsAre(0, 1));
}

TEST(UnnestTest, FiltersOnTheRowGoBelowAndOnTheElementStay) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT i, x FROM n, unnest(tags) AS x WHERE i > 1 AND x <> 'a'"),
            "sink-out(project-1(filter-2(unnest-1(filter-1(scan-n)))))");
}

TEST(UnnestTest, ReadsOnlyTheColumnsThatAreNeeded) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT x FROM n, unnest(tags) AS x"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_THAT(Find(outcome, "scan-n")->scan_columns, ElementsAre(5));
}

TEST(UnnestTest, TheKeyOfTheRowAndThePlaceAreAKey) {
  const PlanOutcome outcome = PlanQueries(
      {"INSERT INTO ups SELECT id, x, place FROM l, unnest(ARRAY[k, v]) WITH ORDINALITY AS e(x, place)"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_THAT(outcome.plan.sinks[0]->key, ElementsAre(0, 2));
}

TEST(LateralTest, APlainSubqueryIsAJoinWithItsCondition) {
  EXPECT_THAT(JoinTypes("INSERT INTO out SELECT t.id, l.w FROM t, LATERAL (SELECT w FROM u WHERE u.id = t.id) AS l"),
              ElementsAre(JoinType::kInner));
  EXPECT_THAT(JoinTypes("INSERT INTO out SELECT t.id, l.w FROM t LEFT JOIN LATERAL (SELECT w FROM u WHERE u.id = t.id "
                        "AND u.w < t.v) AS l ON true"),
              ElementsAre(JoinType::kLeft));
}

TEST(LateralTest, AnExpressionWithoutATableIsNoJoin) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT t.id, l.x FROM t, LATERAL (SELECT t.v * 2 AS x) AS l WHERE l.x > 4"),
            "sink-out(project-1(filter-1(scan-t)))");
}

// TestCatalog with an event time of t.
Catalog TimedCatalog() {
  Catalog catalog = testing::TestCatalog();
  for (CatalogRelation& relation : catalog.relations) {
    if (relation.name == "t") relation.event_time = 3;
  }
  return catalog;
}

TEST(TemporalJoinTest, TheNewestRowAtOrBeforeTheEventTimeIsATemporalJoin) {
  const PlanOutcome outcome = PlanQueries(
      {"INSERT INTO out SELECT o.id, r.v FROM t AS o LEFT JOIN LATERAL (SELECT x.v FROM t AS x WHERE x.k = o.k AND x.ts <= "
       "o.ts AND x.v > 0 ORDER BY x.ts DESC LIMIT 1) AS r ON true"},
      {}, TimedCatalog());
  ASSERT_THAT(outcome.errors, IsEmpty());
  const PlanPtr join = Find(outcome, "temporal-join-1");
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(join->join_type, JoinType::kLeft);
  EXPECT_FALSE(join->before);
  EXPECT_EQ(join->changelog, ChangelogMode::kAppend);
  EXPECT_NE(Find(outcome, "filter-1"), nullptr);
}

TEST(TemporalJoinTest, WithoutAnEventTimeTheRowsAreRanked) {
  const PlanOutcome outcome = PlanQueries(
      {"INSERT INTO out SELECT o.id, r.v FROM t AS o, LATERAL (SELECT x.v FROM t AS x WHERE x.k = o.k AND x.ts <= o.ts "
       "ORDER BY x.ts DESC LIMIT 1) AS r"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_EQ(Find(outcome, "temporal-join-1"), nullptr);
  EXPECT_NE(Find(outcome, "rank-1"), nullptr);
}

TEST(IntervalJoinTest, BoundsOfEventTimesSayWhenRowsGo) {
  const PlanOutcome outcome = PlanQueries(
      {"INSERT INTO out SELECT a.id, b.v FROM t AS a JOIN t AS b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '10' SECOND "
       "AND b.ts + INTERVAL '20' SECOND"},
      {}, TimedCatalog());
  ASSERT_THAT(outcome.errors, IsEmpty());
  const PlanPtr join = Find(outcome, "join-1");
  ASSERT_TRUE(join->left_expiry && join->right_expiry);
  EXPECT_EQ(join->left_expiry->offset, 10'000'000);
  EXPECT_EQ(join->right_expiry->offset, 20'000'000);
}

TEST(IntervalJoinTest, OneBoundFreesOneSideAndOtherColumnsNone) {
  const PlanOutcome one = PlanQueries(
      {"INSERT INTO out SELECT a.id, b.v FROM t AS a LEFT JOIN t AS b ON a.k = b.k AND a.ts > b.ts"}, {}, TimedCatalog());
  ASSERT_THAT(one.errors, IsEmpty());
  EXPECT_TRUE(Find(one, "join-1")->left_expiry);
  EXPECT_FALSE(Find(one, "join-1")->right_expiry);
  const PlanOutcome none =
      PlanQueries({"INSERT INTO out SELECT a.id, b.v FROM t AS a JOIN t AS b ON a.k = b.k AND a.ts > b.ts"});
  EXPECT_FALSE(Find(none, "join-1")->left_expiry);
}

// Names are looked up in the nearest WITH, then in views, then in sources.
TEST(WithTest, InnerNamesHideOuterOnes) {
  const auto columns = [](const std::string& query) {
    const PlanOutcome outcome = PlanQueries({query});
    EXPECT_EQ(Errors({query}), "");
    return outcome.plan.sinks[0]->schema->fields()[0].name;
  };
  EXPECT_EQ(columns("INSERT INTO out WITH u AS (SELECT id AS a FROM u) SELECT * FROM u"), "a");
  EXPECT_EQ(columns("INSERT INTO out WITH x AS (SELECT id AS a FROM u) SELECT * FROM (WITH x AS (SELECT w AS b FROM u) "
                    "SELECT * FROM x) AS y"),
            "b");
  EXPECT_EQ(columns("INSERT INTO out WITH x(c) AS (SELECT id FROM u), y AS (SELECT c FROM x) SELECT * FROM y"), "c");
  EXPECT_EQ(columns("WITH x AS (SELECT id AS a FROM u) INSERT INTO out SELECT * FROM x"), "a");
  EXPECT_EQ(Errors({"INSERT INTO out WITH x AS (SELECT y.id FROM y), y AS (SELECT id FROM u) SELECT id FROM x"}),
            "1:45: table y does not exist");
}

}  // namespace
}  // namespace weir
