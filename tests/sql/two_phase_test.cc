// Which aggregates fold rows before the exchange, and which do not.

#include <gtest/gtest.h>

#include "sql/plan/two_phase.h"
#include "tests/sql/planning.h"

namespace weir {
namespace {

using testing::Find;
using testing::Outline;
using testing::PlanQueries;

PlanOutcome Plan(const std::string& select, bool groups = true) {
  PlannerOptions options;
  options.two_phase = true;
  options.two_phase_groups = groups;
  Catalog catalog = testing::TestCatalog();
  for (CatalogRelation& relation : catalog.relations) {
    if (relation.name == "t") relation.event_time = 3;
  }
  catalog.relations.push_back(testing::Source("wide", ChangelogMode::kAppend,
                                              {{"k", "string"}, {"m", "decimal(38,2)"}, {"n", "decimal(30,2)"}}));
  return PlanQueries({"INSERT INTO out " + select}, options, catalog);
}

std::string OutlineOf(const std::string& select) {
  const PlanOutcome outcome = Plan(select);
  return outcome.errors.empty() ? Outline(*outcome.plan.sinks[0]) : outcome.errors.front().message;
}

bool IsSplit(const std::string& select) { return OutlineOf(select).find("local-aggregate") != std::string::npos; }

TEST(TwoPhasePlan, ALocalAggregateStandsBeforeTheExchange) {
  EXPECT_EQ(OutlineOf("SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k"),
            "sink-out(project-1(aggregate-1(exchange-1(local-aggregate-1(scan-t)))))");
}

TEST(TwoPhasePlan, WithoutTheOptionThereIsNone) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k"),
            "sink-out(project-1(aggregate-1(exchange-1(scan-t))))");
}

TEST(TwoPhasePlan, WhatCanBePutTogetherIsSplit) {
  for (const char* select :
       {"SELECT count(*) AS n FROM t", "SELECT DISTINCT k FROM t", "SELECT k, min(k) AS a, max(v) AS b FROM t GROUP BY k",
        "SELECT k, count(DISTINCT v) AS a, sum(DISTINCT v) FILTER (WHERE v > 3) AS b FROM t GROUP BY k",
        "SELECT s, avg(d) AS a, sum(c) AS b, var_pop(i) AS e FROM n GROUP BY s", "SELECT k, sum(n) AS s FROM wide GROUP BY k",
        "SELECT k, window_end, count(*) AS n FROM TUMBLE(t, ts, INTERVAL '10' SECOND) GROUP BY k, window_start, window_end",
        "SELECT window_end, max(v) AS n FROM HOP(t, ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) GROUP BY window_start, "
        "window_end",
        "SELECT k, count(*) AS n FROM t GROUP BY ROLLUP (k)"}) {
    EXPECT_TRUE(IsSplit(select)) << OutlineOf(select);
  }
}

TEST(TwoPhasePlan, WhatCannotIsNot) {
  for (const char* select :
       {"SELECT k, string_agg(k, ',') AS a FROM t GROUP BY k", "SELECT k, last_value(v) AS a FROM t GROUP BY k",
        "SELECT k, count(*) AS n, array_agg(v) AS a FROM t GROUP BY k",
        "SELECT k, approx_count_distinct(v) AS a FROM t GROUP BY k",
        // A sum in part could overflow where the whole does not.
        "SELECT k, sum(m) AS s FROM wide GROUP BY k",
        // A session is known by all of its rows.
        "SELECT k, count(*) AS n FROM SESSION(t, ts, INTERVAL '3' SECOND, k) GROUP BY k, window_start, window_end",
        // The source may delete a row that never came.
        "SELECT k, count(*) AS n FROM l GROUP BY k"}) {
    EXPECT_FALSE(IsSplit(select)) << OutlineOf(select);
  }
}

// Changes of operators with state are of rows that were there.
TEST(TwoPhasePlan, ResultsThatChangeAreSplitWhereTheyCanBeTakenBack) {
  const std::string inner = "(SELECT k AS g, max(v) AS v, count(*) AS n FROM t GROUP BY k) AS x";
  EXPECT_TRUE(IsSplit("SELECT n, count(*) AS c, sum(v) AS s, min(v) AS a, count(DISTINCT v) AS d FROM " + inner + " GROUP BY n"));
  const std::string outline = OutlineOf("SELECT n, var_pop(v) AS s FROM " + inner + " GROUP BY n");
  EXPECT_EQ(outline.find("local-aggregate-2"), std::string::npos) << outline;
}

TEST(TwoPhasePlan, GroupsAndCountedValuesAreSplitOnlyWhereThatIsAskedFor) {
  for (const char* select : {"SELECT k, max(v) AS n FROM t GROUP BY k", "SELECT count(DISTINCT v) AS n FROM t"}) {
    EXPECT_NE(Find(Plan(select), "local-aggregate-1"), nullptr) << select;
    EXPECT_EQ(Find(Plan(select, false), "local-aggregate-1"), nullptr) << select;
  }
  EXPECT_NE(Find(Plan("SELECT max(v) AS n FROM t", false), "local-aggregate-1"), nullptr);
}

// Groups that are in one task already are folded there.
TEST(TwoPhasePlan, NoExchangeNoLocalAggregate) {
  const std::string outline = OutlineOf("SELECT k, count(*) AS c FROM (SELECT k, max(v) AS v FROM t GROUP BY k) AS x GROUP BY k");
  EXPECT_EQ(outline.find("local-aggregate-2"), std::string::npos) << outline;
}

TEST(TwoPhasePlan, ExplainNamesTheCallsAndWhatIsHeld) {
  const PlanOutcome outcome = Plan("SELECT k, count(*) AS n FROM t GROUP BY k");
  ASSERT_TRUE(outcome.errors.empty());
  const std::string text = ExplainText(outcome.plan);
  EXPECT_NE(text.find("aggregate-1: count(*) by (k)"), std::string::npos) << text;
  EXPECT_NE(text.find("second phase: "), std::string::npos) << text;
  EXPECT_NE(text.find("first phase: rows of a batch are folded by group"), std::string::npos) << text;
  const PlanPtr second = Find(outcome, "aggregate-1");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->partial, 1);
  EXPECT_EQ(second->group_columns, std::vector<int>{0});
}

}  // namespace
}  // namespace weir
