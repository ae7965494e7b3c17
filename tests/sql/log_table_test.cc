// What may be written into log tables, and how it is read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sql/planning.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Find;
using testing::Outline;

PlanOutcome Plan(const std::vector<std::string>& queries, JoinOption join = JoinOption::kAuto) {
  PlannerOptions options;
  options.join = join;
  return testing::PlanQueries(queries, options, testing::TableCatalog());
}

std::string Errors(const std::vector<std::string>& queries, JoinOption join = JoinOption::kAuto) {
  PlannerOptions options;
  options.join = join;
  return testing::Errors(queries, options, testing::TableCatalog());
}

TEST(LogTablePlanTest, ItsReadersShareOneNodeThatPassesRowsOn) {
  const PlanOutcome outcome =
      Plan({"INSERT INTO events SELECT id, w FROM u", "INSERT INTO events SELECT id, v FROM t WHERE v > 1",
            "INSERT INTO out SELECT * FROM events", "INSERT INTO by_id SELECT id, count(*) AS n FROM events GROUP BY id"});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  const PlanPtr table = Find(outcome.plan.sinks[0], "table-events");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Find(outcome.plan.sinks[1], "table-events"), table);
  EXPECT_EQ(table->inputs.size(), 2u);
  EXPECT_EQ(table->changelog, ChangelogMode::kAppend);
  EXPECT_EQ(table->table.kind, TableKind::kLog);
  EXPECT_THAT(table->unique_keys, ElementsAre());
  EXPECT_EQ(table->distribution, std::vector<int>{0});
  EXPECT_EQ(outcome.plan.sinks[0]->changelog, ChangelogMode::kAppend);
}

TEST(LogTablePlanTest, WithoutABucketKeyRowsStayWhereTheyAre) {
  const PlanOutcome outcome = Plan({"INSERT INTO trail SELECT id, w FROM u"});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  ASSERT_EQ(outcome.plan.tables_unread.size(), 1u);
  EXPECT_EQ(Outline(*outcome.plan.tables_unread[0]), "table-trail(scan-u)");
  EXPECT_THAT(ExplainText(outcome.plan), HasSubstr("trail: log, rows only added, 8 buckets in turn"));
}

TEST(LogTablePlanTest, RowsThatChangeAreRefusedWithTheReason) {
  EXPECT_EQ(Errors({"INSERT INTO events SELECT user_id, order_id FROM orders"}),
            "1:13: table events has no primary_key, so that rows can only be added to it, and this query also changes rows "
            "(source orders replaces rows by its primary_key; changelog: append says that it does not); give the table a "
            "primary_key, or write into a sink");
  EXPECT_THAT(Errors({"INSERT INTO events SELECT id, v FROM l"}), HasSubstr("(source l sends updates and deletes)"));
  EXPECT_THAT(Errors({"INSERT INTO events SELECT id, count(*) FROM u GROUP BY id"}),
              HasSubstr("(the result of a group changes with each of its rows)"));
  EXPECT_THAT(Errors({"INSERT INTO events SELECT u.id, u.w FROM u LEFT JOIN t ON u.id = t.id"}),
              HasSubstr("(a row of an outer, semi or anti join goes when its match comes or goes)"));
  EXPECT_THAT(Errors({"INSERT INTO users SELECT id, k, k FROM t", "INSERT INTO events SELECT id, id FROM users"}),
              HasSubstr("(table users replaces rows by its primary_key)"));
  // A join of rows that are only added only adds rows.
  EXPECT_EQ(Errors({"INSERT INTO events SELECT u.id, t.v FROM u JOIN t ON u.id = t.id"}), "");
}

TEST(LogTablePlanTest, ADeltaJoinOverOneIsRefusedAndAutoTakesARegularJoin) {
  const std::vector<std::string> queries = {"INSERT INTO events SELECT id, w FROM u",
                                            "INSERT INTO users SELECT id, k, k FROM t",
                                            "INSERT INTO out SELECT e.id, name FROM events e JOIN users c ON e.id = c.id"};
  EXPECT_THAT(Errors(queries, JoinOption::kDelta),
              HasSubstr("cannot be a delta join: its left input events is a log table, which has no key by which a row is "
                        "found again; give events a primary_key"));
  const PlanOutcome outcome = Plan(queries);
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  const PlanPtr join = Find(outcome.plan.sinks[0], "join-1");
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(join->strategy, JoinStrategy::kRegular);
  EXPECT_THAT(join->strategy_reason, HasSubstr("events is a log table"));
}

TEST(LogTablePlanTest, CyclesAndTablesThatNobodyWritesAreRefused) {
  EXPECT_THAT(Errors({"INSERT INTO out SELECT * FROM events"}), HasSubstr("table events is read, and nothing writes it"));
  EXPECT_THAT(Errors({"INSERT INTO events SELECT id, w FROM u", "INSERT INTO events SELECT id + 1, w FROM events"}),
              HasSubstr("table events is written from itself"));
}

}  // namespace
}  // namespace weir
