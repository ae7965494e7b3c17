// Which joins read tables, which tables there are, and how rows come to them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sql/plan/nodes.h"
#include "tests/sql/planning.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Find;
using testing::Outline;

void ExpectBucketed(const PlanNode& input, const TableRef& table) {
  EXPECT_EQ(input.distribution, table.bucket_columns) << input.id << " before " << table.name;
  EXPECT_EQ(input.distribution_buckets, table.buckets) << input.id << " before " << table.name;
}

// What the operators rely on: rows come to their bucket, both sides of a join are spread alike, and where rows replace
// each other by key they do so within one group.
void ExpectSound(const PlanPtr& node, std::set<std::string>& tables) {
  for (const PlanPtr& input : node->inputs) ExpectSound(input, tables);
  if (node->kind == NodeKind::kTable) {
    for (const PlanPtr& input : node->inputs) ExpectBucketed(*input, node->table);
    EXPECT_TRUE(IsSubset(node->table.bucket_columns, node->key)) << node->id;
    tables.insert(node->table.name);
  }
  if (node->kind != NodeKind::kJoin || node->strategy != JoinStrategy::kDelta) return;
  ExpectBucketed(*node->inputs[0], node->left_table);
  ExpectBucketed(*node->inputs[1], node->right_table);
  EXPECT_EQ(node->left_table.buckets, node->right_table.buckets) << node->id;
  ASSERT_EQ(node->left_table.bucket_columns.size(), node->right_table.bucket_columns.size()) << node->id;
  for (size_t i = 0; i < node->left_table.bucket_columns.size(); ++i) {
    bool paired = false;
    for (size_t k = 0; k < node->left_keys.size(); ++k) {
      paired = paired || (node->left_keys[k] == node->left_table.bucket_columns[i] &&
                          node->right_keys[k] == node->right_table.bucket_columns[i]);
    }
    EXPECT_TRUE(paired) << node->id;
  }
  EXPECT_TRUE(node->left_mode != ChangelogMode::kUpsert || IsSubset(node->left_keys, node->left_unique)) << node->id;
  EXPECT_TRUE(node->right_mode != ChangelogMode::kUpsert || IsSubset(node->right_keys, node->right_unique)) << node->id;
  tables.insert({node->left_table.name, node->right_table.name});
}

PlanOutcome PlanDelta(const std::vector<std::string>& queries, JoinOption join = JoinOption::kDelta) {
  PlannerOptions options;
  options.join = join;
  PlanOutcome outcome = testing::PlanQueries(queries, options, testing::TableCatalog());
  std::set<std::string> tables;
  for (const auto* roots : {&outcome.plan.sinks, &outcome.plan.tables_unread}) {
    for (const PlanPtr& root : *roots) ExpectSound(root, tables);
  }
  return outcome;
}

std::string Errors(const std::vector<std::string>& queries, JoinOption join = JoinOption::kDelta) {
  PlannerOptions options;
  options.join = join;
  return testing::Errors(queries, options, testing::TableCatalog());
}

std::string OutlineOf(const std::vector<std::string>& queries, JoinOption join = JoinOption::kDelta) {
  const PlanOutcome outcome = PlanDelta(queries, join);
  if (!outcome.errors.empty()) return Errors(queries, join);
  std::string text;
  for (const auto* roots : {&outcome.plan.sinks, &outcome.plan.tables_unread}) {
    for (const PlanPtr& root : *roots) text += (text.empty() ? "" : "; ") + Outline(*root);
  }
  return text;
}

const char* const kOrders = "INSERT INTO ot SELECT * FROM orders";
const char* const kVisits = "INSERT INTO vt SELECT * FROM visits";

TEST(DeltaChoiceTest, ReasonsAreSaidAtTheJoin) {
  EXPECT_THAT(Errors({"INSERT INTO out SELECT l.id FROM l\n JOIN r ON l.k < r.k"}),
              HasSubstr("2:2: this join cannot be a delta join: it has no equality"));
  EXPECT_THAT(Errors({"INSERT INTO out SELECT l.id FROM l JOIN u ON l.k = u.id"}),
              HasSubstr("its right input u has no key by which a row is found again; give u a primary_key"));
  EXPECT_THAT(Errors({"INSERT INTO out SELECT l.id FROM l JOIN (SELECT id, w::int AS w FROM r) AS x ON l.k = x.w"}),
              HasSubstr("the types of k (bigint) = w (int) differ, and values of different types hash differently"));
  EXPECT_THAT(
      Errors({"INSERT INTO out SELECT l.id FROM l JOIN (SELECT id FROM r UNION ALL SELECT id FROM l) AS x ON l.k = x.id"}),
      HasSubstr("its right input has no unique key by which a row is found again"));
  EXPECT_THAT(Errors({"INSERT INTO out SELECT l.id FROM l JOIN bag ON l.k = bag.k"}), HasSubstr("give bag a primary_key"));
}

TEST(DeltaChoiceTest, AJoinInAViewIsReportedThereOnce) {
  EXPECT_THAT(Errors({"CREATE VIEW x AS SELECT l.id FROM l\n JOIN u ON l.k = u.id", "INSERT INTO out SELECT * FROM x",
                      "INSERT INTO out SELECT * FROM x"}),
              ::testing::StartsWith("2:2: this join cannot be a delta join"));
}

TEST(DeltaChoiceTest, AutoTakesDeclaredTablesAlone) {
  EXPECT_EQ(Find(PlanDelta({"INSERT INTO out SELECT l.id FROM l JOIN r ON l.k = r.k"}, JoinOption::kAuto), "join-1")
                ->strategy_reason,
            "its left input is source l, not a declared table; write it into one, or set join: delta, which makes the "
            "table");
  const PlanOutcome tables = PlanDelta(
      {kOrders, kVisits, "INSERT INTO out SELECT o.order_id, v.page FROM ot o JOIN vt v ON o.user_id = v.user_id"},
      JoinOption::kAuto);
  EXPECT_EQ(Find(tables, "join-1")->strategy, JoinStrategy::kDelta);
  EXPECT_EQ(Find(tables, "join-1")->strategy_reason, "");
  EXPECT_EQ(OutlineOf({kOrders, "INSERT INTO out SELECT o.order_id FROM ot o JOIN l ON o.user_id = l.k"}, JoinOption::kAuto),
            "sink-out(project-3(join-1(exchange-2(project-2(table-ot(exchange-1(project-1(scan-orders))))), "
            "exchange-3(scan-l))))");
}

TEST(DeltaChoiceTest, RegularNeverUsesTables) {
  const PlanOutcome outcome = PlanDelta(
      {kOrders, kVisits, "INSERT INTO out SELECT o.order_id, v.page FROM ot o JOIN vt v ON o.user_id = v.user_id"},
      JoinOption::kRegular);
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(join->strategy, JoinStrategy::kRegular);
  // A bucket is no hash: the exchange stays.
  EXPECT_EQ(join->inputs[0]->kind, NodeKind::kExchange);
  EXPECT_EQ(join->inputs[0]->buckets, 0);
}

TEST(DeltaSourceTest, BothSidesGetTheColumnsOfBothKeys) {
  const PlanOutcome outcome = PlanDelta(
      {"INSERT INTO out SELECT o.order_id, v.page FROM orders o JOIN visits v ON o.ds = v.ds AND o.user_id = v.user_id"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(join->left_table.name, "orders");
  EXPECT_EQ(join->right_table.name, "visits");
  EXPECT_EQ(join->left_table.bucket_columns, join->left_keys);
  EXPECT_EQ(join->right_table.bucket_columns, join->right_keys);
  EXPECT_EQ(join->left_table.buckets, 8);
  EXPECT_EQ(join->inputs[0]->buckets, 8);
  EXPECT_EQ(join->inputs[0]->key, join->left_keys);
  EXPECT_EQ(join->left_mode, ChangelogMode::kUpsert);
  EXPECT_EQ(join->left_unique.size(), 3u);
}

TEST(DeltaSourceTest, ASelfJoinHasTwoTables) {
  const PlanOutcome outcome =
      PlanDelta({"INSERT INTO out SELECT a.id AS a, b.id AS b FROM l a JOIN l b ON a.k = b.k"});
  EXPECT_EQ(Find(outcome, "join-1")->left_table.name, "l");
  EXPECT_EQ(Find(outcome, "join-1")->right_table.name, "l.2");
}

TEST(DeltaSourceTest, AnUpsertJoinedOutsideItsKeyGetsATableAndAnIndex) {
  const PlanOutcome outcome = PlanDelta(
      {"INSERT INTO out SELECT o.amount, r.w FROM orders o JOIN r ON o.order_id = r.k",
       "INSERT INTO out SELECT o.ts, x.w FROM orders o JOIN (SELECT id, w FROM r) x ON o.ts::text = x.w::text"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(join->left_table.name, "orders");  // order_id belongs to the key: rows are replaced in one group
  const PlanPtr second = Find(outcome, "join-2");
  EXPECT_EQ(second->left_table.kind, TableKind::kIndex);
  EXPECT_THAT(second->left_table.name, HasSubstr("orders.2["));
  EXPECT_NE(Find(outcome, "table-orders.2"), nullptr);
  EXPECT_EQ(second->left_mode, ChangelogMode::kFull);
}

TEST(DeltaSourceTest, OneTableServesAllJoinsThatNeedIt) {
  const PlanOutcome outcome = PlanDelta(
      {"INSERT INTO out SELECT o.amount, r.w FROM orders o JOIN r ON o.amount::text = r.w::text",
       "INSERT INTO out SELECT o.ts, r.w FROM orders o JOIN r ON o.ts::text = r.w::text"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr table = Find(outcome.plan.sinks[0], "table-orders");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Find(outcome.plan.sinks[1], "table-orders"), table);
  EXPECT_EQ(table->schema->size(), 5u);
  EXPECT_EQ(table->inputs[0]->buckets, 8);
  EXPECT_EQ(table->inputs[0]->key, table->key);
}

TEST(DeltaSourceTest, AKeyThatTheQueryDropsIsCarriedBelowTheJoin) {
  const PlanOutcome outcome = PlanDelta({"INSERT INTO out SELECT l.id FROM l WHERE l.k IN (SELECT k FROM r)",
                                         "INSERT INTO out SELECT x.v, y.w FROM (SELECT k, v FROM l) x LEFT JOIN "
                                         "(SELECT w, k FROM r WHERE w > 1) y ON x.k = y.k AND x.v < y.w"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_THAT(Find(outcome, "join-1")->right_unique, ElementsAre(0));
  const PlanPtr join = Find(outcome, "join-2");
  EXPECT_EQ(join->left_unique.size(), 1u);
  EXPECT_EQ(join->condition->ToString(JoinedSchema(*join)), "(v < w)");
  EXPECT_EQ(outcome.plan.sinks[1]->schema->size(), 2u);
}

TEST(DeltaResultTest, ResultsGetInternalTables) {
  const PlanOutcome outcome =
      PlanDelta({"INSERT INTO out SELECT l.id, s.n, r.w FROM l JOIN r ON l.k = r.k JOIN "
                 "(SELECT user_id, count(*) AS n FROM orders GROUP BY user_id) s ON s.user_id = r.k"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = Find(outcome, "join-2");
  EXPECT_EQ(join->left_table.name, "join-2.left");
  EXPECT_EQ(join->right_table.name, "join-2.right");
  EXPECT_THAT(join->right_unique, ElementsAre(0));
  // Spread by the same columns into the same buckets: no exchange between the joins.
  EXPECT_NE(join->inputs[0]->kind, NodeKind::kExchange);
  // The aggregate's rows are spread by hash, the table's by bucket.
  EXPECT_EQ(join->inputs[1]->buckets, 8);
  // Its own input is an upsert source for an aggregate, as everywhere.
  EXPECT_NE(Find(outcome, "normalise-orders"), nullptr);
}

TEST(DeltaResultTest, AnAggregateOnTheJoinsColumnsIsExchangedByHash) {
  EXPECT_EQ(OutlineOf({"INSERT INTO out SELECT o.user_id, o.ds, count(*) AS n FROM orders o JOIN visits v ON o.user_id = "
                       "v.user_id AND o.ds = v.ds GROUP BY o.user_id, o.ds"}),
            "sink-out(project-2(aggregate-1(exchange-3(project-1(join-1(exchange-1(scan-orders), "
            "exchange-2(scan-visits)))))))");
}

TEST(DeltaFusionTest, TablesOfOneJoinAreItsInputs) {
  const PlanOutcome outcome =
      PlanDelta({kOrders, kVisits,
                 "INSERT INTO out SELECT o.order_id, v.page FROM ot o JOIN vt v ON o.user_id = v.user_id AND o.ds = v.ds "
                 "AND o.ts = v.ts"});
  ASSERT_TRUE(outcome.errors.empty());
  EXPECT_EQ(Outline(*outcome.plan.sinks[0]), "sink-out(project-3(join-1(exchange-1(project-1(scan-orders)), exchange-2(project-2(scan-visits)))))");
  EXPECT_EQ(outcome.plan.sinks.size(), 1u);
  EXPECT_THAT(outcome.plan.tables_unread, IsEmpty());
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(join->left_table.name, "ot");
  EXPECT_TRUE(join->left_table.declared);
  EXPECT_THAT(join->left_table.bucket_columns, ElementsAre(1));
  EXPECT_THAT(join->right_table.bucket_columns, ElementsAre(1));
  EXPECT_THAT(join->inputs[0]->key, ElementsAre(1));
  // ts is outside the primary key, by which rows replace each other.
  EXPECT_THAT(join->left_keys, ElementsAre(1, 2));
  EXPECT_EQ(join->condition->ToString(JoinedSchema(*join)), "(ts = ts)");
  EXPECT_THAT(join->left_unique, ElementsAre(1, 2, 0));
  EXPECT_EQ(join->left_mode, ChangelogMode::kUpsert);
  EXPECT_EQ(join->inputs[0]->schema->size(), 5u);
}

TEST(DeltaFusionTest, ATableOfSeveralReadersKeepsItsRowsAndHasAnIndex) {
  const PlanOutcome outcome =
      PlanDelta({kOrders, kVisits, "INSERT INTO out SELECT o.order_id, v.page FROM ot o JOIN vt v ON o.user_id = v.user_id",
                 "INSERT INTO out SELECT order_id FROM ot"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(join->left_table.name, "ot[user_id]");
  EXPECT_EQ(join->left_table.kind, TableKind::kIndex);
  EXPECT_EQ(join->left_table.buckets, 8);
  EXPECT_EQ(join->right_table.name, "vt");
  EXPECT_EQ(Find(outcome.plan.sinks[1], "table-ot"), Find(outcome.plan.sinks[0], "table-ot"));
  // The table is in the buckets of user_id already.
  EXPECT_EQ(join->inputs[0]->kind, NodeKind::kProject);
}

TEST(DeltaFusionTest, ASelfJoinOfATableHasTwoIndexes) {
  const PlanOutcome outcome =
      PlanDelta({kOrders, "INSERT INTO out SELECT a.order_id AS a, b.order_id AS b FROM ot a JOIN ot b ON a.ds = b.ds"});
  EXPECT_EQ(Find(outcome, "join-1")->left_table.name, "ot[ds]");
  EXPECT_EQ(Find(outcome, "join-1")->right_table.name, "ot[ds].2");
  EXPECT_EQ(Find(outcome, "join-1")->inputs[0]->buckets, 8);
}

TEST(DeltaFusionTest, BucketKeysThatPairOtherwiseLeaveOneSideAnIndex) {
  const PlanOutcome outcome =
      PlanDelta({"INSERT INTO users SELECT id, k::text FROM l", "INSERT INTO pages SELECT id, k, 'x' FROM r",
                 "INSERT INTO out SELECT u.name, p.url FROM users u LEFT JOIN pages p ON u.id = p.user_id"});
  ASSERT_TRUE(outcome.errors.empty());
  const PlanPtr join = Find(outcome, "join-1");
  EXPECT_EQ(join->left_table.name, "users");
  EXPECT_EQ(join->right_table.name, "pages[user_id]");
  EXPECT_EQ(join->right_table.buckets, join->left_table.buckets);
  EXPECT_NE(Find(outcome, "table-pages"), nullptr);
}

TEST(DeltaFusionTest, AFilterBelowTheJoinLeavesTheTableWhole) {
  const PlanOutcome outcome =
      PlanDelta({kOrders, kVisits,
                 "INSERT INTO out SELECT o.order_id, v.page FROM ot o JOIN vt v ON o.user_id = v.user_id WHERE o.amount > 1"});
  EXPECT_EQ(Find(outcome, "join-1")->left_table.name, "ot[user_id]");
  EXPECT_EQ(Find(outcome, "join-1")->right_table.name, "vt");
}

TEST(TableTest, SeveralInsertsGoToOneTable) {
  EXPECT_EQ(OutlineOf({kOrders, "INSERT INTO ot (user_id, ds, order_id) SELECT user_id, ds, visit_id FROM visits",
                       "INSERT INTO out SELECT * FROM ot"}),
            "sink-out(table-ot(exchange-1(project-1(scan-orders)), exchange-2(project-2(scan-visits))))");
}

TEST(TableTest, ATableThatNobodyReadsIsARoot) {
  const PlanOutcome outcome = PlanDelta({kOrders});
  ASSERT_EQ(outcome.plan.tables_unread.size(), 1u);
  const PlanPtr table = outcome.plan.tables_unread[0];
  EXPECT_EQ(table->id, "table-ot");
  EXPECT_EQ(table->table.name, "ot");
  EXPECT_THAT(table->key, ElementsAre(1, 2, 0));
  EXPECT_THAT(outcome.plan.sinks, IsEmpty());
}

TEST(TableTest, ChangesThatMayOvertakeEachOtherAreOrdered) {
  EXPECT_EQ(OutlineOf({"INSERT INTO users SELECT l.id, r.w::text, NULL FROM l JOIN r ON l.k = r.id"}, JoinOption::kRegular),
            "table-users(key-order-1(exchange-3(project-1(join-1(exchange-1(scan-l), exchange-2(scan-r))))))");
  // A source without a key says what to write and what to delete; rows that are only added have no retraction.
  EXPECT_EQ(OutlineOf({"INSERT INTO users (id) SELECT v FROM bag"}), "table-users(exchange-1(project-1(scan-bag)))");
  EXPECT_EQ(OutlineOf({"INSERT INTO users SELECT id, k, k FROM t"}), "table-users(exchange-1(project-1(scan-t)))");
}

TEST(TableTest, NullsAreRefusedWhereTheTableTakesNone) {
  const PlanOutcome outcome = PlanDelta({"INSERT INTO users SELECT w, 'a' FROM r"});
  const PlanPtr project = Find(outcome, "project-1");
  ASSERT_NE(project, nullptr);
  EXPECT_EQ(project->expressions[0]->ToString(*Find(outcome, "scan-r")->schema), "w NOT NULL");
  EXPECT_EQ(Errors({"INSERT INTO users SELECT NULL, 'a' FROM r"}), "1:26: column id of table users takes no NULL");
}

TEST(TableTest, ColumnsAreMatchedAndConverted) {
  EXPECT_EQ(Errors({"INSERT INTO users (name, city) SELECT k, k FROM t"}),
            "1:13: INSERT gives no id, which belongs to the primary key of table users");
  EXPECT_EQ(Errors({"INSERT INTO users (id, nam) SELECT id, k FROM t"}),
            "1:24: table users has no column nam; did you mean name?");
  EXPECT_EQ(Errors({"INSERT INTO users (id, name) SELECT id FROM t"}), "1:20: INSERT names 2 columns, and SELECT gives 1");
  EXPECT_EQ(Errors({"INSERT INTO users SELECT id, k, k, k FROM t"}),
            "1:13: SELECT gives 4 columns, and table users has 3");
  EXPECT_EQ(Errors({"INSERT INTO users SELECT k, k FROM t"}),
            "1:26: column id of table users is bigint, and SELECT gives string; cast it in the query");
  EXPECT_EQ(Errors({"INSERT INTO users SELECT i, '3' FROM n"}), "");
  EXPECT_EQ(Errors({"INSERT INTO ot SELECT 1, 2, '2026-01-01', 3, '2026-01-01 10:00:00'"}), "");
  EXPECT_EQ(Errors({"INSERT INTO ot SELECT 1, 2, '2026-01-01', 3, 'soon'"}),
            "1:46: column ts of table ot is timestamp(3), and this text is none");
}

TEST(TableTest, CyclesAndTablesWithoutInsertsAreRefused) {
  EXPECT_EQ(Errors({"INSERT INTO users SELECT id + 1, name, city FROM users"}),
            "1:13: table users is written from itself; INSERTs may not form a cycle");
  EXPECT_EQ(Errors({"INSERT INTO users SELECT id, url FROM pages", "INSERT INTO pages SELECT id, id, name FROM users"}),
            "1:13: tables pages and users are written from one another; INSERTs may not form a cycle\n"
            "query 1 1:13: tables pages and users are written from one another; INSERTs may not form a cycle");
  EXPECT_EQ(Errors({"INSERT INTO out SELECT id FROM users"}),
            "1:32: table users is read, and nothing writes it; add an INSERT INTO users");
}

// Every way in which rows come to a join, combined with every other.
TEST(DeltaSoundTest, AllPairsOfInputsAreSpreadAlike) {
  const std::vector<std::string> inputs = {
      "(SELECT id AS a, k AS b, v AS c FROM l)",
      "(SELECT k AS b, v AS c, id AS a FROM l WHERE v > 1)",
      "(SELECT user_id AS a, order_id AS b, user_id + 1 AS c FROM orders)",
      "(SELECT visit_id AS b, user_id AS a, user_id AS c FROM visits WHERE page = 'x')",
      "(SELECT user_id AS a, order_id AS b, order_id AS c FROM ot)",
      "(SELECT user_id AS b, visit_id AS a, user_id AS c FROM vt WHERE page = 'x')",
      "(SELECT user_id AS a, count(*) AS b, max(visit_id) AS c FROM visits GROUP BY user_id)",
      "(SELECT l.id AS a, r.id AS b, l.k AS c FROM l LEFT JOIN r ON l.k = r.k)",
      "(SELECT v AS a, id AS b, v AS c FROM kd)",
      "(SELECT id AS a, user_id AS b, id AS c FROM pages)"};
  const std::vector<std::string> conditions = {"x.a = y.a", "x.b = y.b AND x.a = y.a", "x.c = y.b AND x.a < y.c",
                                               "x.a = y.c AND x.b = y.c"};
  for (const std::string& left : inputs) {
    for (const std::string& right : inputs) {
      for (const std::string& condition : conditions) {
        for (const char* join : {"JOIN", "FULL JOIN"}) {
          const std::string select = "INSERT INTO out SELECT x.a, y.b AS d, x.c AS e, y.a AS f FROM " + left + " x " + join +
                                     " " + right + " y ON " + condition;
          SCOPED_TRACE(select);
          const PlanOutcome outcome =
              PlanDelta({kOrders, kVisits, "INSERT INTO pages SELECT id, k, 'u' FROM r", select});
          ASSERT_TRUE(outcome.errors.empty()) << outcome.errors[0].message;
          ASSERT_NE(Find(outcome, "join-1"), nullptr);
          EXPECT_EQ(outcome.plan.sinks[0]->schema->size(), 4u);
        }
      }
    }
  }
}

TEST(TableTest, ErrorsOfAnInsertAreItsOwn) {
  EXPECT_THAT(Errors({kOrders, "INSERT INTO users SELECT id, random()::text FROM r", "INSERT INTO out SELECT id FROM users"}),
              HasSubstr("query 1 1:13: "));
}

}  // namespace
}  // namespace weir
