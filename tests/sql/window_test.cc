// Window functions: what is refused, and what their plans are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sql/planning.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Catalog WindowCatalog() {
  Catalog catalog = testing::TestCatalog();
  for (CatalogRelation& relation : catalog.relations) {
    if (relation.name == "t") relation.event_time = 3;
    if (relation.name == "orders") relation.event_time = 4;
  }
  return catalog;
}

PlanOutcome Plan(const std::string& query, PlannerOptions options = {}) {
  return testing::PlanQueries({query}, options, WindowCatalog());
}

std::string Outline(const std::string& query) {
  const PlanOutcome outcome = Plan(query);
  return outcome.errors.empty() ? testing::Outline(*outcome.plan.sinks[0])
                                : testing::Errors({query}, {}, WindowCatalog());
}

struct Refused {
  const char* sql;
  const char* error;
};

class RefusedWindowTest : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedWindowTest, WithItsPlace) {
  EXPECT_THAT(testing::Errors({GetParam().sql}, {}, WindowCatalog()), StartsWith(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Arguments, RefusedWindowTest,
    ::testing::Values(
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(t, k, INTERVAL '1' MINUTE)",
                "1:41: the time column of TUMBLE has to be a timestamp; k is string"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(t, nosuch, INTERVAL '1' MINUTE)", "1:41: column nosuch"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(nosuch, ts, INTERVAL '1' MINUTE)", "1:38: table nosuch"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(t, ts, INTERVAL '0' SECOND)", "1:45: the size of TUMBLE has to be more"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(t, ts, INTERVAL '-1 second')", "1:45: the size of TUMBLE has to be more"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(t, ts, INTERVAL '1 month')", "1:45: the size of TUMBLE has months"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(t, ts, 10)", "1:45: the size of TUMBLE is an interval"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(t, ts)", "1:31: TUMBLE takes other arguments; write TUMBLE(table"},
        Refused{"INSERT INTO out SELECT * FROM HOP(t, ts, INTERVAL '0' SECOND, INTERVAL '1' SECOND)", "1:42: the slide of HOP"},
        Refused{"INSERT INTO out SELECT * FROM CUMULATE(t, ts, INTERVAL '3' SECOND, INTERVAL '10' SECOND)",
                "1:47: the size of CUMULATE has to be a multiple"},
        Refused{"INSERT INTO out SELECT * FROM CUMULATE(t, ts, INTERVAL '9' SECOND, INTERVAL '3' SECOND)",
                "1:47: the size of CUMULATE has to be a multiple"},
        Refused{"WITH g AS (SELECT k, ts, window_end AS e, count(*) AS n FROM TUMBLE(t, ts, INTERVAL '10' SECOND) GROUP BY k, ts, "
                "window_end) INSERT INTO out SELECT k FROM TUMBLE(g, ts, INTERVAL '1' SECOND)",
                "1:166: TUMBLE needs a column that the watermark speaks of: ts is"},
        Refused{"INSERT INTO out SELECT * FROM EXPLODE(t, ts)", "1:31: function explode cannot stand in FROM"},
        Refused{"INSERT INTO out SELECT * FROM SESSION(t, ts, INTERVAL '1' SECOND, k)", "1:31: sessions exist only where"},
        Refused{"INSERT INTO out SELECT count(*) AS n FROM SESSION(t, ts, INTERVAL '1' SECOND, k) GROUP BY window_start, window_end",
                "1:43: sessions exist only where"},
        Refused{"INSERT INTO out SELECT count(*) AS n FROM SESSION(t, ts, INTERVAL '1' SECOND, nosuch) GROUP BY window_end",
                "1:79: column nosuch"}));

INSTANTIATE_TEST_SUITE_P(
    EventTime, RefusedWindowTest,
    ::testing::Values(
        // Not declared; computed; through a join; through an aggregate without windows; the end is not in the window.
        Refused{"INSERT INTO out SELECT * FROM TUMBLE(visits, ts, INTERVAL '1' MINUTE)", "1:46: TUMBLE needs a column"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE((SELECT ts + INTERVAL '1' SECOND AS x FROM t), x, INTERVAL '1' MINUTE)",
                "1:85: TUMBLE needs a column"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE((SELECT t.ts FROM t JOIN u ON t.id = u.id), ts, INTERVAL '1' MINUTE)",
                "1:82: TUMBLE needs a column"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE((SELECT ts FROM t GROUP BY ts), ts, INTERVAL '1' MINUTE)",
                "1:70: TUMBLE needs a column"},
        Refused{"INSERT INTO out SELECT * FROM TUMBLE((SELECT window_end FROM TUMBLE(t, ts, INTERVAL '1' SECOND) GROUP BY "
                "window_end), window_end, INTERVAL '1' MINUTE)",
                "1:119: window_end is the end of a window"}));

TEST(Window, AnAggregateTakesTheFunctionIn) {
  const std::string query =
      "INSERT INTO out SELECT k, window_end, count(*) AS n FROM TUMBLE(t, ts, INTERVAL '10' SECOND) WHERE v > 1 "
      "GROUP BY k, window_start, window_end";
  EXPECT_EQ(Outline(query), "sink-out(project-2(aggregate-1(exchange-1(project-1(scan-t)))))");
  const PlanOutcome outcome = Plan(query);
  const PlanPtr aggregate = testing::Find(outcome, "aggregate-1");
  ASSERT_TRUE(aggregate->windows);
  EXPECT_TRUE(aggregate->windows->assigned);
  EXPECT_GE(aggregate->windows->condition, 0) << "a late row is one before it is filtered";
  EXPECT_EQ(aggregate->changelog, ChangelogMode::kAppend);
  EXPECT_EQ(aggregate->group_columns.size(), 1u);
  EXPECT_THAT(ExplainText(outcome.plan), HasSubstr("windows: TUMBLE(INTERVAL '10 seconds') over ts"));
}

TEST(Window, ConditionsOnWindowsStayAbove) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT window_end, count(*) AS n FROM TUMBLE(t, ts, INTERVAL '10' SECOND) "
                    "WHERE window_end > TIMESTAMP '2026-01-01 00:00:00' GROUP BY window_end"),
            "sink-out(project-1(filter-1(aggregate-1(exchange-1(scan-t)))))");
}

TEST(Window, RowsGoOnWithTheirWindow) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT k, window_start FROM HOP(t, ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)"),
            "sink-out(project-1(window-1(scan-t)))");
}

TEST(Window, GroupsByTheEndOfAnInnerWindowEndWithIt) {
  const PlanOutcome outcome =
      Plan("INSERT INTO out SELECT window_end, max(n) AS m FROM (SELECT k, window_end, count(*) AS n FROM TUMBLE(t, ts, "
           "INTERVAL '10' SECOND) GROUP BY k, window_end) AS x GROUP BY window_end");
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr outer = testing::Find(outcome, "aggregate-2");
  ASSERT_TRUE(outer->windows);
  EXPECT_FALSE(outer->windows->assigned);
  EXPECT_FALSE(outer->input_retracts);
  EXPECT_EQ(outer->changelog, ChangelogMode::kAppend);
}

TEST(Window, AJoinOnTheirEndsForgetsThem) {
  const std::string counts = "(SELECT k, window_start, window_end, count(*) AS n FROM TUMBLE(t, ts, INTERVAL '10' SECOND) GROUP "
                             "BY k, window_start, window_end)";
  const auto plan = [&](const std::string& on) {
    const PlanOutcome outcome =
        Plan("INSERT INTO out SELECT a.n FROM " + counts + " AS a JOIN " + counts + " AS b ON " + on);
    EXPECT_TRUE(outcome.errors.empty());
    return testing::Find(outcome, "join-1");
  };
  const PlanPtr join = plan("a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end");
  ASSERT_TRUE(join->left_expiry && join->right_expiry);
  EXPECT_EQ((*join->inputs[0]->schema)[static_cast<size_t>(join->left_expiry->column)].name, "window_end");
  EXPECT_EQ(join->left_expiry->offset, -1) << "at the watermark of the end, not behind it";
  EXPECT_FALSE(plan("a.k = b.k AND a.window_start = b.window_start")->left_expiry);
}

// Pairs of a window join come until their window ends: the times of their rows are behind the watermark by then.
TEST(Window, AJoinOnTheirEndsHasNoTimesOfItsRows) {
  const PlanOutcome outcome =
      Plan("INSERT INTO out SELECT a.k, sum(a.v) OVER (PARTITION BY a.k ORDER BY a.ts) AS s FROM TUMBLE(t, ts, INTERVAL '10' SECOND) "
           "AS a JOIN TUMBLE(t, ts, INTERVAL '10' SECOND) AS b ON a.k = b.k AND a.window_start = b.window_start AND "
           "a.window_end = b.window_end");
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_LT(testing::Find(outcome, "over-1")->over_time, 0);
}

// Ends of windows bound times as times do.
TEST(Window, RowsThatAreJoinedWithTheirWindowAreForgotten) {
  const PlanOutcome outcome =
      Plan("INSERT INTO out SELECT t.k FROM t JOIN (SELECT max(v) AS most, window_end FROM TUMBLE(t, ts, INTERVAL '10' SECOND) "
           "GROUP BY window_end) AS w ON t.v = w.most AND t.ts BETWEEN w.window_end - INTERVAL '10' SECOND AND w.window_end");
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = testing::Find(outcome, "join-1");
  ASSERT_TRUE(join->left_expiry && join->right_expiry);
  EXPECT_EQ(join->left_expiry->offset, 10'000'000);
  EXPECT_EQ(join->right_expiry->offset, 0);
}

// The first rows of windows come once, as late as they take rows.
TEST(Window, AJoinOfTheirFirstRowsWaitsForLateOnes) {
  const std::string first = "(SELECT k, v, window_end FROM (SELECT k, v, window_end, row_number() OVER (PARTITION BY window_start, "
                            "window_end, k ORDER BY v) AS n FROM TUMBLE(t, ts, INTERVAL '10' SECOND)) AS x WHERE n <= 1)";
  PlannerOptions late;
  late.allowed_lateness = 5'000'000;
  const PlanOutcome outcome = Plan("INSERT INTO out SELECT a.k FROM " + first + " AS a JOIN " + first +
                                   " AS b ON a.k = b.k AND a.window_end = b.window_end", late);
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = testing::Find(outcome, "join-1");
  ASSERT_TRUE(join->left_expiry && join->right_expiry);
  EXPECT_EQ(join->left_expiry->offset, 4'999'999);
  EXPECT_EQ(join->right_expiry->offset, 4'999'999);
}

TEST(Window, WindowTimeCanBeWindowedAgain) {
  const PlanOutcome outcome =
      Plan("INSERT INTO out SELECT window_end, sum(n) AS s FROM TUMBLE((SELECT k, window_time, count(*) AS n FROM TUMBLE(t, "
           "ts, INTERVAL '10' SECOND) GROUP BY k, window_start, window_end, window_time), window_time, INTERVAL '1' "
           "MINUTE) GROUP BY window_start, window_end");
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors[0].message;
  EXPECT_TRUE(testing::Find(outcome, "aggregate-2")->windows->assigned);
}

TEST(Window, LatenessAndEarlyResultsChangeRows) {
  const std::string query =
      "INSERT INTO out SELECT window_end, count(*) AS n FROM TUMBLE(t, ts, INTERVAL '10' SECOND) GROUP BY window_end";
  PlannerOptions options;
  options.allowed_lateness = 5'000'000;
  EXPECT_EQ(testing::Find(Plan(query, options), "aggregate-1")->changelog, ChangelogMode::kFull);
  const PlanOutcome early = PlanJob({{query, "", {}, 1'000'000}}, WindowCatalog(), {});
  EXPECT_EQ(testing::Find(early, "aggregate-1")->changelog, ChangelogMode::kFull);
}

TEST(Window, SessionsTakeAppendOnlyRows) {
  EXPECT_THAT(testing::Errors({"INSERT INTO out SELECT user_id, count(*) AS n FROM SESSION(orders, ts, INTERVAL '1' HOUR, "
                               "user_id) GROUP BY user_id, window_start, window_end"},
                              {}, WindowCatalog()),
              HasSubstr("SESSION works over append-only rows alone"));
}

TEST(Window, InGroupBy) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS s, count(*) AS n FROM t WHERE v > 1 "
                    "GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)"),
            "sink-out(project-2(aggregate-1(exchange-1(project-1(scan-t)))))");
  EXPECT_EQ(Outline("INSERT INTO out SELECT k, SESSION_END(ts, INTERVAL '10' SECOND), count(*) AS n FROM t "
                    "GROUP BY SESSION(ts, INTERVAL '10' SECOND), k"),
            "sink-out(project-1(aggregate-1(exchange-1(scan-t))))");
  EXPECT_THAT(testing::Errors({"INSERT INTO out SELECT TUMBLE_END(ts, INTERVAL '1' SECOND) FROM t GROUP BY TUMBLE(ts, "
                               "INTERVAL '2' SECOND)"},
                              {}, WindowCatalog()),
              StartsWith("1:24: the arguments have to be those of tumble"));
}

}  // namespace
}  // namespace weir
