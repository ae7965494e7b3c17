// Plans as people read them, compared with tests/sql/golden/NAME.txt.  WEIR_UPDATE_GOLDEN=1 writes the files anew.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/sql/planning.h"

namespace weir {
namespace {

using testing::Errors;
using testing::PlanQueries;

struct Golden {
  const char* name;
  std::vector<std::string> queries;
  bool delta = false;  // over the catalog with tables, join: delta
};

PlanOutcome PlanOf(const Golden& golden) {
  PlannerOptions options;
  if (!golden.delta) return PlanQueries(golden.queries, options);
  options.join = JoinOption::kDelta;
  return PlanQueries(golden.queries, options, testing::TableCatalog());
}

class GoldenExplainTest : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenExplainTest, IsAsWritten) {
  const PlanOutcome outcome = PlanOf(GetParam());
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  std::string text;
  for (const std::string& query : GetParam().queries) text += "-- " + query + "\n";
  text += "\n" + ExplainText(outcome.plan);
  const std::string path = std::string("tests/sql/golden/") + GetParam().name + ".txt";
  if (std::getenv("WEIR_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file.good()) << path << " is missing; run with WEIR_UPDATE_GOLDEN=1 and read what it says";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

const char* const kJoined = "SELECT l.id AS l_id, l.k AS l_k, l.v AS l_v, r.id AS r_id, r.w AS r_w FROM l ";

INSTANTIATE_TEST_SUITE_P(
    Joins, GoldenExplainTest,
    ::testing::Values(
        Golden{"attribution",
               {"INSERT INTO out SELECT o.order_id, o.user_id, o.amount, o.ts, v.visit_id, v.channel, v.page, v.ts AS "
                "visit_ts, "
                "o.ds FROM orders o JOIN visits v ON o.user_id = v.user_id AND o.ds = v.ds"}},
        Golden{"attribution_upsert",
               {"INSERT INTO ups SELECT o.order_id, o.user_id, v.visit_id, o.ds FROM orders o JOIN visits v ON "
                "o.user_id = "
                "v.user_id AND o.ds = v.ds WHERE o.amount > 10 AND v.channel = 'app'"}},
        Golden{"join_inner", {std::string("INSERT INTO out ") + kJoined + "JOIN r ON l.k = r.k"}},
        Golden{"join_left", {std::string("INSERT INTO out ") + kJoined + "LEFT JOIN r ON l.k = r.k AND l.v < r.w"}},
        Golden{"join_right", {std::string("INSERT INTO out ") + kJoined + "RIGHT JOIN r ON l.k = r.k AND l.v < r.w"}},
        Golden{"join_full", {std::string("INSERT INTO out ") + kJoined + "FULL JOIN r ON l.k = r.k AND l.v < r.w"}},
        Golden{"join_semi",
               {"INSERT INTO out SELECT l.id FROM l WHERE EXISTS (SELECT 1 FROM r WHERE l.k = r.k AND l.v < r.w)"}},
        Golden{"join_anti", {"INSERT INTO out SELECT l.id FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE l.k = r.k)"}},
        Golden{"join_duplicates", {"INSERT INTO out SELECT a.v, b.v AS bv FROM bag a JOIN bag b ON a.k = b.k"}},
        Golden{"join_types", {"INSERT INTO out SELECT x.i, y.b FROM n x JOIN n y ON x.i = y.c AND x.i = y.d"}},
        Golden{"join_null_safe", {"INSERT INTO out SELECT l.id, r.w FROM l JOIN r ON l.k IS NOT DISTINCT FROM r.k"}},
        Golden{"join_interval",
               {"INSERT INTO out SELECT x.id, y.v FROM t x JOIN t y ON x.k = y.k AND y.ts BETWEEN x.ts AND x.ts + "
                "INTERVAL '5 "
                "seconds'"}},
        Golden{"join_chain",
               {"INSERT INTO out SELECT u1.id, t.v, u2.w FROM u u1 LEFT JOIN t ON u1.id = t.id LEFT JOIN u u2 ON "
                "u1.id = u2.id"}},
        Golden{"join_subquery",
               {"INSERT INTO out SELECT s.ds, v.page FROM (SELECT ds, amount FROM orders) AS s JOIN visits v ON "
                "s.ds = v.ds"}},
        Golden{"join_cross", {"INSERT INTO out SELECT t.v, u.w FROM t, u WHERE t.v < u.w"}},
        Golden{"join_using_full", {"INSERT INTO out SELECT id, v, w FROM t FULL JOIN u USING (id)"}},
        Golden{"join_then_count",
               {"INSERT INTO out SELECT count(*) AS n FROM (SELECT l.id FROM l FULL JOIN r ON l.k = r.k) AS x"}},
        Golden{"join_key_order", {"INSERT INTO by_id SELECT l.id, r.w FROM l JOIN r ON l.k = r.id"}}));

INSTANTIATE_TEST_SUITE_P(
    Others, GoldenExplainTest,
    ::testing::Values(
        Golden{
            "aggregate",
            {"INSERT INTO out SELECT k, count(*) AS n, sum(v) AS s, avg(v) AS a, count(DISTINCT id) FILTER (WHERE v > "
             "1) AS c FROM t WHERE v + 1 > 3 GROUP BY k HAVING count(*) > 1"}},
        Golden{"aggregate_global", {"INSERT INTO out SELECT count(*) AS n, max(v) AS m FROM l"}},
        Golden{"aggregate_of_aggregate",
               {"INSERT INTO out SELECT n, count(*) AS c FROM (SELECT k, count(*) AS n FROM t GROUP BY k) "
                "AS x GROUP BY n"}},
        Golden{"distinct", {"INSERT INTO out SELECT DISTINCT k FROM t"}},
        Golden{"union_all", {"INSERT INTO out SELECT id, v FROM t UNION ALL SELECT id, w FROM u"}},
        Golden{"union_distinct", {"INSERT INTO out SELECT id, '1' AS typ FROM l UNION SELECT id, '2' AS typ FROM r"}},
        Golden{"union_single", {"INSERT INTO out SELECT count(*) AS n FROM t UNION ALL SELECT w FROM u"}},
        Golden{"views",
               {"CREATE VIEW s (a, b) AS SELECT k, sum(v) FROM t GROUP BY k", "INSERT INTO ups SELECT * FROM s",
                "INSERT INTO ups WITH c AS (SELECT a, b FROM s WHERE a > 'x') SELECT c1.a, c2.b FROM c c1 JOIN c c2 ON "
                "c1.a = c2.a"}},
        Golden{"in_and_exists",
               {"INSERT INTO out SELECT l.id FROM l WHERE l.id IN (SELECT b FROM n WHERE i = 3) AND NOT EXISTS (SELECT "
                "1 FROM u WHERE u.id = l.id AND u.w > l.v AND u.w < 7)"}},
        Golden{"normalise_shared",
               {"INSERT INTO out SELECT * FROM orders", "INSERT INTO ups SELECT * FROM orders WHERE amount > 5",
                "INSERT INTO ups SELECT * FROM orders"}},
        Golden{"values", {"INSERT INTO out SELECT a, b FROM (VALUES (1, 'a'), (2, NULL)) AS x (a, b) WHERE a > 1"}}));

const char* const kOrders = "INSERT INTO ot SELECT * FROM orders";
const char* const kVisits = "INSERT INTO vt SELECT * FROM visits";

INSTANTIATE_TEST_SUITE_P(
    Tables, GoldenExplainTest,
    ::testing::Values(
        Golden{"delta_sources",
               {"INSERT INTO out SELECT o.order_id, o.amount, v.channel FROM orders o JOIN visits v ON o.user_id = "
                "v.user_id AND o.ds = v.ds"},
               true},
        Golden{"delta_tables",
               {kOrders, kVisits,
                "INSERT INTO out SELECT o.order_id, o.amount, v.channel FROM ot o LEFT JOIN vt v ON o.user_id = v.user_id "
                "AND o.ds = v.ds AND o.ts > v.ts"},
               true},
        Golden{"delta_indexes",
               {kOrders, kVisits,
                "INSERT INTO out SELECT o.order_id, v.page FROM ot o JOIN vt v ON o.user_id = v.user_id AND o.ds = v.ds "
                "WHERE v.channel = 'app'",
                "INSERT INTO out SELECT order_id FROM ot WHERE amount > 5"},
               true},
        Golden{"delta_results",
               {"INSERT INTO out SELECT l.id, s.n, r.w FROM l JOIN r ON l.k = r.k JOIN (SELECT user_id, count(*) AS n "
                "FROM orders GROUP BY user_id) s ON s.user_id = r.w"},
               true},
        Golden{"delta_outside_key",
               {"INSERT INTO out SELECT o.order_id, r.w FROM orders o JOIN r ON o.amount::text = r.w::text"},
               true},
        Golden{"table_unread", {"INSERT INTO users (id, name) SELECT id, k::text FROM l"}, true}));

TEST(ExplainTest, JsonListsTheTables) {
  const PlanOutcome outcome = PlanOf({"", {"INSERT INTO out SELECT x.v AS a, y.v AS b FROM l x JOIN l y ON x.k = y.k"}, true});
  const nlohmann::json json = nlohmann::json::parse(ExplainJson(outcome.plan));
  ASSERT_EQ(json["tables"].size(), 2u);
  EXPECT_EQ(json["tables"][1]["name"], "l.2");
  EXPECT_EQ(json["tables"][1]["kind"], "automatic");
  EXPECT_EQ(json["tables"][1]["bucket_key"], nlohmann::json({"k"}));
  EXPECT_EQ(json["tables"][1]["key"], nlohmann::json({"id", "k"}));
}

TEST(ExplainTest, JsonNamesEveryOperatorOnce) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT x.v AS a, y.v AS b FROM l x JOIN l y ON x.k = y.k"});
  const nlohmann::json json = nlohmann::json::parse(ExplainJson(outcome.plan));
  EXPECT_EQ(json["sinks"], nlohmann::json({"sink-out"}));
  EXPECT_EQ(json["operators"][0]["id"], "scan-l");
  EXPECT_EQ(json["operators"][2]["join"]["left_keys"], nlohmann::json({"k"}));
  EXPECT_EQ(json["operators"].size(), 5u);
}

TEST(ExplainTest, DotQuotesItsTexts) {
  const PlanOutcome outcome = PlanQueries({"INSERT INTO out SELECT id FROM t WHERE k = 'say \"x\"'"});
  const std::string dot = ExplainDot(outcome.plan);
  EXPECT_NE(dot.find("say \\\"x\\\""), std::string::npos);
  EXPECT_NE(dot.find("\"scan-t\" -> \"filter-1\";"), std::string::npos);
}

}  // namespace
}  // namespace weir
