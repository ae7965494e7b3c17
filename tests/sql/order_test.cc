// ORDER BY, LIMIT, DISTINCT ON and window functions: what they become, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sql/planning.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using testing::Errors;
using testing::Find;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Outline;
using testing::PlanQueries;

std::string Numbered(const std::string& condition, const std::string& columns = "*") {
  return "INSERT INTO out SELECT " + columns +
         " FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, id) AS rn FROM t) AS x WHERE " + condition;
}

RankBounds BoundsOf(const std::string& query) {
  const PlanOutcome outcome = PlanQueries({query});
  const PlanPtr rank = outcome.errors.empty() ? Find(outcome, "rank-1") : nullptr;
  EXPECT_NE(rank, nullptr) << query << "\n" << Errors({query});
  return rank == nullptr ? RankBounds{} : rank->rank;
}

TEST(TopTest, AConditionOnTheNumberMakesItARank) {
  for (const char* condition : {"rn <= 3", "rn < 4", "3 >= rn", "4 > rn", "rn BETWEEN 1 AND 3", "rn IN (1, 3, 2)"}) {
    const RankBounds bounds = BoundsOf(Numbered(condition));
    EXPECT_EQ(bounds.from, 1) << condition;
    EXPECT_EQ(bounds.to, 3) << condition;
    EXPECT_TRUE(bounds.output) << condition;
  }
  EXPECT_EQ(BoundsOf(Numbered("rn = 2 AND id > 1")).from, 2);
  EXPECT_EQ(BoundsOf(Numbered("rn BETWEEN 2 AND 5 AND rn < 4")).to, 3);
}

TEST(TopTest, TheNumberIsLeftOutWhereNoOneReadsIt) {
  const PlanOutcome outcome = PlanQueries({Numbered("rn <= 3", "k, id")});
  const PlanPtr rank = Find(outcome, "rank-1");
  ASSERT_NE(rank, nullptr);
  EXPECT_FALSE(rank->rank.output);
  EXPECT_EQ(rank->schema->size(), 3u);
  EXPECT_THAT(rank->unique_keys, IsEmpty());
}

TEST(TopTest, KeysAreThePartitionWithTheNumberOrAlone) {
  const PlanOutcome numbered = PlanQueries({Numbered("rn <= 3", "k, rn, v")});
  ASSERT_THAT(numbered.errors, IsEmpty());
  EXPECT_THAT(Find(numbered, "sink-out")->unique_keys, ElementsAre(ElementsAre(0, 1)));
  const PlanOutcome first = PlanQueries({Numbered("rn = 1", "k, id")});
  EXPECT_THAT(Find(first, "sink-out")->unique_keys, ElementsAre(ElementsAre(0)));
  EXPECT_EQ(Outline(Numbered("rn = 1", "k, id")), "sink-out(project-1(rank-1(exchange-1(scan-t))))");
}

TEST(TopTest, OtherConditionsStayWhereTheyBelong) {
  // By the partition below, by other columns above.
  EXPECT_EQ(Outline(Numbered("rn <= 3 AND k = 'a' AND v > 2", "k, v")),
            "sink-out(project-1(filter-2(rank-1(exchange-1(filter-1(scan-t))))))");
  EXPECT_EQ(Outline(Numbered("rn <= v", "k, v, rn")), "sink-out(project-1(filter-1(over-1(exchange-1(scan-t)))))");
  EXPECT_EQ(Outline(Numbered("rn > 2", "k, v, rn")), "sink-out(project-1(filter-1(over-1(exchange-1(scan-t)))))");
}

TEST(TopTest, TheLastIsKeptWhereTheOrderFalls) {
  const auto query = [](const std::string& order, const std::string& condition) {
    return "INSERT INTO out SELECT k, id FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY " + order +
           ") AS rn FROM t) AS x WHERE " + condition;
  };
  EXPECT_TRUE(BoundsOf(query("ts DESC", "rn = 1")).latest_first);
  EXPECT_FALSE(BoundsOf(query("ts", "rn = 1")).latest_first);
  EXPECT_FALSE(BoundsOf(query("ts DESC", "rn <= 2")).latest_first);
}

TEST(LimitTest, IsTheFirstRowsOfAll) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT id FROM t ORDER BY v DESC LIMIT 5"),
            "sink-out(project-1(rank-1(exchange-1(scan-t))))");
  const RankBounds bounds = BoundsOf("INSERT INTO out SELECT id FROM t ORDER BY v LIMIT 5 OFFSET 2");
  EXPECT_EQ(bounds.from, 3);
  EXPECT_EQ(bounds.to, 7);
  EXPECT_EQ(BoundsOf("INSERT INTO out SELECT id FROM t OFFSET 2").to, RankBounds::kAll);
  EXPECT_EQ(BoundsOf("INSERT INTO out SELECT id FROM t ORDER BY id FETCH FIRST 2 ROWS WITH TIES").function,
            OverFunction::kRank);
  EXPECT_EQ(Outline("INSERT INTO out SELECT id FROM t LIMIT ALL"), "sink-out(scan-t)");
  // Rows that are only added and have no order: the first to come stay.
  EXPECT_EQ(PlanQueries({"INSERT INTO out SELECT id FROM t LIMIT 5"}).plan.sinks[0]->changelog, ChangelogMode::kAppend);
}

TEST(LimitTest, OrderAloneChangesNothing) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT id FROM t ORDER BY v + 1, k"), "sink-out(scan-t)");
  EXPECT_EQ(Outline("INSERT INTO out SELECT id FROM t UNION ALL SELECT id FROM u ORDER BY id"),
            "sink-out(union-1(scan-t, scan-u))");
}

TEST(LimitTest, OrderTakesNumbersNamesAndExpressions) {
  const auto sort = [](const std::string& order) {
    const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT v AS x, id FROM t ORDER BY " + order + " LIMIT 1"});
    const PlanPtr rank = outcome.errors.empty() ? Find(outcome, "rank-1") : nullptr;
    return rank == nullptr ? outcome.errors[0].message : (*rank->schema)[static_cast<size_t>(rank->sort[0].column)].name;
  };
  EXPECT_EQ(sort("2"), "id");
  EXPECT_EQ(sort("x"), "x");
  EXPECT_EQ(sort("id"), "id");
  EXPECT_EQ(sort("v"), "x");  // the same expression
  EXPECT_EQ(sort("-v"), "order_1");
}

TEST(LimitTest, DistinctOnIsTheFirstOfEach) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT DISTINCT ON (k) k, v FROM t ORDER BY k, v DESC"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  const PlanPtr rank = Find(outcome, "rank-1");
  EXPECT_TRUE(rank->rank.one_row());
  EXPECT_EQ(rank->partition.size(), 1u);
  EXPECT_EQ(rank->sort.size(), 1u);
}

TEST(OverTest, CallsOfOneWindowShareANode) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT sum(v) OVER w AS s, count(*) OVER (w ROWS 2 PRECEDING) AS c, "
                    "max(v) OVER (PARTITION BY id) AS m FROM t WINDOW w AS (PARTITION BY k ORDER BY ts)"),
            "sink-out(project-2(over-2(exchange-2(project-1(over-1(exchange-1(scan-t)))))))");
}

TEST(OverTest, WindowsSeeTheGroups) {
  const PlanOutcome outcome = PlanQueries(
      {"INSERT INTO out SELECT k, sum(v) AS s, rank() OVER (ORDER BY sum(v) DESC) AS r FROM t GROUP BY k HAVING sum(v) > 1"});
  ASSERT_THAT(outcome.errors, IsEmpty());
  EXPECT_NE(Find(outcome, "over-1"), nullptr);
  EXPECT_NE(Find(outcome, "aggregate-1"), nullptr);
}

TEST(OverTest, ResultsWaitForTheWatermarkInEventTime) {
  Catalog catalog = testing::TestCatalog();
  for (CatalogRelation& relation : catalog.relations) {
    if (relation.name == "t") relation.event_time = 3;
  }
  const auto plan = [&](const std::string& window) {
    const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT id, count(*) OVER (" + window + ") AS c FROM t"}, {}, catalog);
    EXPECT_THAT(outcome.errors, IsEmpty());
    return Find(outcome, "over-1");
  };
  EXPECT_GE(plan("PARTITION BY k ORDER BY ts")->over_time, 0);
  EXPECT_EQ(plan("PARTITION BY k ORDER BY ts")->changelog, ChangelogMode::kAppend);
  EXPECT_EQ(plan("PARTITION BY k ORDER BY ts DESC")->over_time, -1);
  EXPECT_EQ(plan("PARTITION BY k ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING")->over_time, -1);
  EXPECT_EQ(plan("PARTITION BY k ORDER BY v")->over_time, -1);
}

TEST(OverTest, WhatIsRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"SELECT id FROM t WHERE row_number() OVER () = 1", "1:40: window functions are not allowed in WHERE"},
      {"SELECT sum(rank() OVER ()) OVER () FROM t", "1:28: window functions cannot be nested"},
      {"SELECT ntile(4) OVER (ORDER BY v) FROM t", "1:24: ntile with OVER is not supported"},
      {"SELECT count(DISTINCT v) OVER () FROM t", "1:24: DISTINCT in a window function"},
      {"SELECT sum(v) OVER w FROM t", "1:36: window w does not exist"},
      {"SELECT sum(b) OVER (ORDER BY d RANGE 1 PRECEDING) FROM n", "RANGE over double"},
      {"SELECT sum(v) OVER (ORDER BY v, id RANGE 1 PRECEDING) FROM t", "RANGE with a distance needs ORDER BY of exactly"},
      {"SELECT sum(v) OVER (ORDER BY v ROWS -1 PRECEDING) FROM t", "must not be negative"},
      {"SELECT id FROM t LIMIT -1", "LIMIT must not be negative"},
      {"SELECT id FROM t LIMIT v", "column v does not exist"},
      {"SELECT id FROM t ORDER BY 2 LIMIT 1", "ORDER BY 2 is no item of SELECT"},
      {"SELECT id FROM t ORDER BY w LIMIT 1", "column w does not exist"},
      {"SELECT DISTINCT id FROM t ORDER BY v LIMIT 1", "with SELECT DISTINCT, ORDER BY takes only"},
      {"SELECT DISTINCT ON (k) k FROM t ORDER BY v", "ORDER BY must begin with the expressions of DISTINCT ON"},
  };
  for (const auto& [query, message] : cases) {
    EXPECT_THAT(Errors({"INSERT INTO out " + query}), HasSubstr(message)) << query;
  }
}

}  // namespace
}  // namespace weir
