// Queries over rows in order, as whole jobs: what the changelog collapses to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/embed.h"
#include "tests/engine/test_job.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

struct Row {
  std::string source;
  std::vector<std::string> values;
  RowKind kind = RowKind::kInsert;
};

// The collapsed result, or the one-line error.  Sources: a (full changelog) and e (append, event time ts).
std::vector<std::string> Collapse(const std::string& query, const std::vector<Row>& rows, int parallelism = 2) {
  const std::string text = R"yaml(
name: query
options: {parallelism: )yaml" + std::to_string(parallelism) + R"yaml(}
sources:
  a: {connector: memory, changelog: full, columns: {id: bigint, k: string, v: bigint}}
  e: {connector: memory, columns: {id: bigint, k: string, ts: timestamp(3)}, event_time: {column: ts, watermark: 0s}}
sinks:
  o: {connector: memory}
queries:
  - INSERT INTO o )yaml" + query + "\n";
  auto job = EmbeddedJob::Create(text, {.state_dir = {}, .overrides = {}, .check_operators = true});
  if (!job) return {job.error().ToString()};
  if (const Status started = (*job)->Start(); !started) return {started.error().ToString()};
  for (const Row& row : rows) {
    MemoryFeed& feed = (*job)->feed(row.source);
    feed.Push(*MakeRow(feed.schema(), row.values, row.kind));
    if (const Status idle = (*job)->WaitUntilIdle(); !idle) return {idle.error().ToString()};
  }
  if (const Status finished = (*job)->Finish(); !finished) return {finished.error().ToString()};
  auto collapsed = (*job)->result("o").Collapsed();
  return collapsed ? *collapsed : std::vector<std::string>{collapsed.error().ToString()};
}

const std::vector<Row> kRows = {
    {"a", {"1", "x", "5"}}, {"a", {"2", "x", "7"}},
    {"a", {"3", "y", "1"}}, {"a", {"4", "x", "6"}},
    {"a", {"2", "x", "7"}, RowKind::kDelete},
    {"a", {"5", "y", "2"}}, {"a", {"6", "z", "9"}},
};

TEST(OrderQueryTest, TopOfEachKey) {
  EXPECT_THAT(Collapse("SELECT k, id, rn FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM a) AS x "
                       "WHERE rn <= 2",
                       kRows),
              UnorderedElementsAre("'x' 4 1", "'x' 1 2", "'y' 5 1", "'y' 3 2", "'z' 6 1"));
  EXPECT_THAT(Collapse("SELECT k, id FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM a) AS x "
                       "WHERE rn = 1",
                       kRows),
              UnorderedElementsAre("'x' 4", "'y' 5", "'z' 6"));
  EXPECT_THAT(Collapse("SELECT DISTINCT ON (k) k, id FROM a ORDER BY k, v DESC", kRows),
              UnorderedElementsAre("'x' 4", "'y' 5", "'z' 6"));
}

TEST(OrderQueryTest, LimitOverAll) {
  EXPECT_THAT(Collapse("SELECT id FROM a ORDER BY v DESC LIMIT 2", kRows), UnorderedElementsAre("6", "4"));
  EXPECT_THAT(Collapse("SELECT id FROM a ORDER BY v DESC LIMIT 2 OFFSET 1", kRows), UnorderedElementsAre("4", "1"));
  EXPECT_THAT(Collapse("SELECT k, sum(v) AS s FROM a GROUP BY k ORDER BY s LIMIT 1", kRows), ElementsAre("'y' 3"));
  EXPECT_THAT(Collapse("SELECT id FROM a WHERE v > (SELECT v FROM a ORDER BY v LIMIT 1 OFFSET 3)", kRows), ElementsAre("6"));
}

TEST(OrderQueryTest, WindowFunctionsFollowChanges) {
  EXPECT_THAT(Collapse("SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id) AS s, count(*) OVER (PARTITION BY k) AS c FROM a", kRows),
              UnorderedElementsAre("1 5 2", "4 11 2", "3 1 2", "5 3 2", "6 9 1"));
  EXPECT_THAT(Collapse("SELECT k, rank() OVER (ORDER BY sum(v) DESC) AS r FROM a GROUP BY k", kRows),
              UnorderedElementsAre("'x' 1", "'z' 2", "'y' 3"));
}

TEST(OrderQueryTest, InEventTime) {
  const std::vector<Row> rows = {{"e", {"1", "x", "1970-01-01T00:00:01"}}, {"e", {"2", "y", "1970-01-01T00:00:03"}}, {"e", {"3", "x", "1970-01-01T00:00:03"}},
                                 {"e", {"4", "x", "1970-01-01T00:00:02"}}, {"e", {"5", "x", "1970-01-01T00:00:05"}}};
  EXPECT_THAT(Collapse("SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2 seconds' PRECEDING AND "
                       "CURRENT ROW) AS c FROM e",
                       rows, 1),
              UnorderedElementsAre("1 1", "2 1", "3 2", "5 2"));
}

}  // namespace
}  // namespace weir
