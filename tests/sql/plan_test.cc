// The rules of the planner, one at a time.

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

TEST(PushFiltersTest, GoToTheSidesOfAnInnerJoin) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT t.v, u.w FROM t JOIN u ON t.id = u.id WHERE t.v > 1 AND u.w < 5"),
            "sink-out(project-1(join-1(exchange-1(filter-1(scan-t)), exchange-2(filter-2(scan-u)))))");
}

TEST(PushFiltersTest, OnConditionsOfALeftJoinStayUnlessTheyAreOfTheRightSide) {
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT l.id FROM l LEFT JOIN r ON l.k = r.k AND l.v > 1 AND r.w > 2"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(join->join_type, JoinType::kLeft);
  EXPECT_EQ(join->condition->ToString(*join->inputs[0]->schema), "(v > 1)");
  EXPECT_NE(Find(join->inputs[1], "filter-1"), nullptr);
}

TEST(PushFiltersTest, WhereOverTheSideThatMayBeMissingStaysAboveOrMakesTheJoinInner) {
  const PlanOutcome keeps =
      PlanQueries({"INSERT INTO out SELECT l.id FROM l LEFT JOIN r ON l.k = r.k WHERE r.w IS NULL"});
  EXPECT_EQ(Find(keeps, "join-1")->join_type, JoinType::kLeft);
  EXPECT_EQ(Find(keeps, "filter-1")->inputs[0]->id, "join-1");
  const PlanOutcome rejects =
      PlanQueries({"INSERT INTO out SELECT l.id FROM l LEFT JOIN r ON l.k = r.k WHERE r.w > 1"});
  EXPECT_EQ(Find(rejects, "join-1")->join_type, JoinType::kInner);
  const PlanOutcome half = PlanQueries({"INSERT INTO out SELECT l.id FROM l FULL JOIN r ON l.k = r.k WHERE r.w > 1"});
  EXPECT_EQ(Find(half, "join-1")->join_type, JoinType::kRight);
}

TEST(PushFiltersTest, GoBelowAGroupingOnlyByItsColumns) {
  EXPECT_EQ(
      Outline("INSERT INTO out SELECT * FROM (SELECT k, count(*) AS n FROM t GROUP BY k) AS x WHERE k = 'a' AND n > 1"),
      "sink-out(project-1(filter-2(aggregate-1(exchange-1(filter-1(scan-t))))))");
}

TEST(PushFiltersTest, ConstantPartsAreFolded) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT id FROM t WHERE 1 = 1"), "sink-out(scan-t)");
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT id FROM t WHERE v > 1 + 2"});
  EXPECT_EQ(Find(outcome, "filter-1")->condition->ToString(*Find(outcome, "scan-t")->schema), "(v > 3)");
}

TEST(JoinKeysTest, EqualitiesOfACommaJoinBecomeKeys) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT t.v FROM t, u WHERE u.id = t.id AND t.v < u.w"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_THAT(join->left_keys, ElementsAre(0));
  EXPECT_THAT(join->right_keys, ElementsAre(0));
  EXPECT_NE(join->condition, nullptr);
}

TEST(JoinKeysTest, KeysHaveOneType) {
  for (const char* right : {"b", "s", "c", "d"}) {
    const PlanOutcome outcome =
        PlanQueries({std::string("INSERT INTO out SELECT x.i AS a, y.b FROM n x JOIN n y ON x.i = y.") + right});
    ASSERT_TRUE(outcome.errors.empty()) << right;
    const PlanPtr join = Find(outcome, "join-1");
    ASSERT_EQ(join->left_keys.size(), 1u) << right;
    EXPECT_EQ((*join->inputs[0]->schema)[static_cast<size_t>(join->left_keys[0])].type,
              (*join->inputs[1]->schema)[static_cast<size_t>(join->right_keys[0])].type);
  }
}

TEST(JoinKeysTest, IsNotDistinctFromIsANullSafeKey) {
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT l.id FROM l JOIN r ON l.k IS NOT DISTINCT FROM r.k"});
  EXPECT_THAT(Find(outcome, "join-1")->null_safe, ElementsAre(true));
}

TEST(JoinKeysTest, AJoinWithoutEqualityIsGathered) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT t.v, u.w FROM t JOIN u ON t.v < u.w"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_THAT(Find(outcome, "join-1")->left_keys, IsEmpty());
  EXPECT_THAT(Find(outcome, "exchange-1")->key, IsEmpty());
  EXPECT_TRUE(Find(outcome, "join-1")->single);
}

TEST(PruneTest, ScansReadWhatIsUsedAndKeysOfUpserts) {
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT o.amount, v.channel FROM orders o JOIN visits v ON "
                   "o.user_id = v.user_id AND o.ds = v.ds"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_THAT(Find(outcome, "scan-orders")->scan_columns, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Find(outcome, "scan-visits")->scan_columns, ElementsAre(0, 1, 2, 3));
  const PlanOutcome count = PlanQueries({"INSERT INTO out SELECT count(*) AS n FROM t"});
  EXPECT_EQ(Find(count, "scan-t")->scan_columns.size(), 1u);
}

TEST(PruneTest, ColumnsOfAFilterDoNotGoIntoTheJoin) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT u.w FROM t JOIN u ON t.id = u.id WHERE t.k = 'a'"});
  EXPECT_EQ(Find(outcome, "join-1")->inputs[0]->schema->size(), 1u);
}

TEST(PruneTest, UnusedAggregatesAreDropped) {
  const PlanOutcome outcome = PlanQueries(
      {"INSERT INTO out SELECT k, a FROM (SELECT k, sum(v) AS a, count(DISTINCT id) AS b FROM t GROUP BY k) AS x"});
  EXPECT_EQ(Find(outcome, "aggregate-1")->calls.size(), 1u);
  EXPECT_THAT(Find(outcome, "scan-t")->scan_columns, ElementsAre(1, 2));
}

TEST(ShareTest, ASourceIsReadOnce) {
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT id FROM t", "INSERT INTO out SELECT v FROM t WHERE v > 1",
                   "INSERT INTO out SELECT x.v FROM t x JOIN t y ON x.id = y.id"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr scan = Find(outcome.plan.sinks[0], "scan-t");
  EXPECT_EQ(Find(outcome.plan.sinks[1], "scan-t"), scan);
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(Find(join->inputs[0], "scan-t"), scan);
  EXPECT_EQ(Find(join->inputs[1], "scan-t"), scan);
  EXPECT_EQ(Find(outcome, "scan-t-2"), nullptr);
}

TEST(ShareTest, AViewReadTwiceIsComputedOnce) {
  const PlanOutcome outcome =
      PlanQueries({"CREATE VIEW s AS SELECT k, sum(v) AS a FROM t GROUP BY k", "INSERT INTO out SELECT * FROM s",
                   "INSERT INTO out SELECT * FROM s WHERE a > 1"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_EQ(Find(outcome.plan.sinks[0], "aggregate-1"), Find(outcome.plan.sinks[1], "aggregate-1"));
}

TEST(NormaliseTest, AnUpsertJoinedWithinItsKeyNeedsNone) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT o.order_id, v.page FROM orders o JOIN visits v ON o.user_id = v.user_id "
                    "AND o.ds = v.ds"),
            "sink-out(project-1(join-1(exchange-1(scan-orders), exchange-2(scan-visits))))");
}

TEST(NormaliseTest, AnUpsertJoinedOutsideItsKeyNeedsOne) {
  EXPECT_EQ(
      Outline("INSERT INTO out SELECT o.order_id, u.w FROM orders o JOIN u ON o.order_id = u.id AND o.amount = u.w"),
      "sink-out(project-3(join-1(exchange-2(project-1(normalise-orders(exchange-1(scan-orders)))), "
      "exchange-3(project-2(scan-u)))))");
}

TEST(NormaliseTest, AFilterOnOtherColumnsNeedsOne) {
  EXPECT_EQ(Outline("INSERT INTO ups SELECT * FROM orders WHERE user_id > 5"), "sink-ups(filter-1(scan-orders))");
  EXPECT_EQ(Outline("INSERT INTO ups SELECT * FROM orders WHERE amount > 5"),
            "sink-ups(filter-1(normalise-orders(exchange-1(scan-orders))))");
}

TEST(NormaliseTest, AnAggregateAndAFullSinkNeedOne) {
  EXPECT_THAT(Outline("INSERT INTO out SELECT user_id, count(*) AS n FROM orders GROUP BY user_id"),
              HasSubstr("normalise-orders"));
  EXPECT_THAT(Outline("INSERT INTO out SELECT * FROM orders"), HasSubstr("normalise-orders"));
  EXPECT_EQ(Outline("INSERT INTO ups SELECT * FROM orders"), "sink-ups(scan-orders)");
}

TEST(NormaliseTest, DeletesWithTheKeyAloneNeedOne) {
  EXPECT_EQ(Outline("INSERT INTO out SELECT v FROM kd"), "sink-out(project-1(normalise-kd(exchange-1(scan-kd))))");
}

TEST(ExchangeTest, AnAggregateOnTheKeysOfAJoinNeedsNone) {
  const std::string from = " FROM orders o JOIN visits v ON o.user_id = v.user_id AND o.ds = v.ds GROUP BY ";
  EXPECT_EQ(Outline("INSERT INTO out SELECT o.user_id, o.ds, count(*) AS n" + from + "o.user_id, o.ds"),
            "sink-out(project-2(aggregate-1(project-1(join-1(exchange-1(scan-orders), exchange-2(scan-visits))))))");
  // In another order the groups follow the exchange.
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT v.ds, v.user_id, count(*) AS n" + from + "v.ds, v.user_id"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_EQ(Find(outcome, "exchange-3"), nullptr);
  EXPECT_EQ((*outcome.plan.sinks[0]->schema)[0].name, "ds");
}

TEST(ExchangeTest, AnOuterJoinIsSpreadByTheSideThatIsAlwaysThere) {
  const std::string select =
      "INSERT INTO out SELECT r.k AS k, count(*) AS n FROM l LEFT JOIN r ON l.k = r.k GROUP BY r.k";
  EXPECT_THAT(Outline(select), HasSubstr("aggregate-1(exchange-3("));
  EXPECT_THAT(Outline("INSERT INTO out SELECT l.k, count(*) AS n FROM l LEFT JOIN r ON l.k = r.k GROUP BY l.k"),
              HasSubstr("aggregate-1(project-1(join-1"));
  EXPECT_THAT(Outline("INSERT INTO out SELECT l.k, count(*) AS n FROM l FULL JOIN r ON l.k = r.k GROUP BY l.k"),
              HasSubstr("aggregate-1(exchange-3("));
}

TEST(ExchangeTest, AChainOfJoinsOnOneKeyIsExchangedOnce) {
  EXPECT_EQ(
      Outline("INSERT INTO out SELECT l.id, r.w, bag.v FROM l JOIN r ON l.k = r.k JOIN bag ON bag.k = r.k"),
      "sink-out(project-2(join-2(project-1(join-1(exchange-1(scan-l), exchange-2(scan-r))), exchange-3(scan-bag))))");
}

TEST(UniqueKeyTest, RowsAreReplacedOnlyByKeysThatHoldAtEveryMoment) {
  const PlanOutcome outcome =
      PlanQueries({"INSERT INTO out SELECT x.id, r.w FROM (SELECT l.id, l.v FROM l JOIN r ON l.k = r.id) AS x "
                   "JOIN r ON x.v = r.id"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_THAT(Find(outcome, "join-1")->left_unique, ElementsAre(0));
  // l.id is unique in the result of the first join, but its changes come from the tasks of l.k.
  EXPECT_THAT(Find(outcome, "join-2")->left_unique, IsEmpty());
  EXPECT_THAT(Find(outcome, "join-2")->right_unique, ElementsAre(0));
}

TEST(UniqueKeyTest, RowsWithoutAKeyAndAppendedRowsAreNotReplaced) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT bag.v, t.k FROM bag JOIN t ON bag.k = t.id"});
  EXPECT_THAT(Find(outcome, "join-1")->left_unique, IsEmpty());
  EXPECT_THAT(Find(outcome, "join-1")->right_unique, IsEmpty());
}

TEST(UniqueKeyTest, ModesFollowTheInputs) {
  EXPECT_EQ(PlanQueries({"INSERT INTO out SELECT t.v FROM t JOIN u ON t.id = u.id"}).plan.sinks[0]->changelog,
            ChangelogMode::kAppend);
  EXPECT_EQ(PlanQueries({"INSERT INTO out SELECT t.v FROM t LEFT JOIN u ON t.id = u.id"}).plan.sinks[0]->changelog,
            ChangelogMode::kFull);
  EXPECT_EQ(PlanQueries({"INSERT INTO out SELECT id FROM t UNION ALL SELECT id FROM u"}).plan.sinks[0]->changelog,
            ChangelogMode::kAppend);
  EXPECT_EQ(PlanQueries({"INSERT INTO out SELECT id FROM t UNION ALL SELECT id FROM l"}).plan.sinks[0]->changelog,
            ChangelogMode::kFull);
  EXPECT_EQ(PlanQueries({"INSERT INTO ups SELECT * FROM orders"}).plan.sinks[0]->changelog, ChangelogMode::kUpsert);
}

TEST(SinkTest, AnUpsertSinkTakesTheKeyOfTheQuery) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO ups SELECT k, count(*) AS n FROM t GROUP BY k"});
  EXPECT_THAT(outcome.plan.sinks[0]->key, ElementsAre(0));
  EXPECT_EQ(Errors({"INSERT INTO ups SELECT id FROM t"}),
            "1:13: the query has no upsert key for sink ups; set key or use changelog: full");
  EXPECT_EQ(Errors({"INSERT INTO by_id SELECT k FROM t"}),
            "1:13: sink by_id has the key column id, which the query does not give");
}

TEST(SinkTest, ChangesOfAKeyFromSeveralTasksAreOrdered) {
  EXPECT_EQ(Outline("INSERT INTO by_id SELECT l.id, r.w FROM l JOIN r ON l.k = r.id"),
            "sink-by_id(key-order-1(exchange-3(project-1(join-1(exchange-1(scan-l), exchange-2(scan-r))))))");
}

TEST(SinkTest, SeveralRowsOfAKeyAreOrderedWithoutAnExchange) {
  EXPECT_EQ(Outline("INSERT INTO by_id SELECT t.id, u.w FROM t LEFT JOIN u ON t.id = u.id"),
            "sink-by_id(key-order-1(project-1(join-1(exchange-1(scan-t), exchange-2(scan-u)))))");
}

TEST(SinkTest, IdsDoNotDependOnTheRun) {
  const std::vector<std::string> queries = {"INSERT INTO out SELECT l.id FROM l JOIN r ON l.k = r.k",
                                            "INSERT INTO out SELECT k, count(*) AS n FROM t GROUP BY k"};
  EXPECT_EQ(ExplainText(PlanQueries(queries).plan), ExplainText(PlanQueries(queries).plan));
  EXPECT_EQ(PlanQueries(queries).plan.sinks[1]->id, "sink-out-2");
}

}  // namespace
}  // namespace weir
