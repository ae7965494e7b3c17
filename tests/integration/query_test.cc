// Whole queries over memory sources: what the changelog collapses to.  Each case was once answered wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "jobs/embed.h"
#include "tests/engine/test_job.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string JobText(const std::string& query) {
  return R"yaml(
name: query
options: {parallelism: 2}
sources:
  a: {connector: memory, changelog: full, columns: {k: bigint, i: int, f: double}}
  b: {connector: memory, changelog: full, columns: {k: bigint, g: double}}
sinks:
  o: {connector: memory}
queries:
  - )yaml" + query + "\n";
}

struct Row {
  std::string source;
  RowKind kind;
  std::vector<std::string> values;
};

// The collapsed result, or the one-line error.
std::vector<std::string> Collapse(const std::string& query, const std::vector<Row>& rows) {
  auto job = EmbeddedJob::Create(JobText(query), {.state_dir = {}, .overrides = {}, .check_operators = true});
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

TEST(QueryTest, ARetractionMayWriteZeroWithTheOtherSign) {
  EXPECT_THAT(Collapse("INSERT INTO o SELECT a.k, f FROM a JOIN b ON a.k = b.k",
                       {{"b", RowKind::kInsert, {"1", "0"}},
                        {"a", RowKind::kInsert, {"1", "1", "-0"}},
                        {"a", RowKind::kDelete, {"1", "1", "0"}}}),
              IsEmpty());
}

TEST(QueryTest, ASumKeepsSmallValuesWhenALargeOneGoes) {
  EXPECT_THAT(Collapse("INSERT INTO o SELECT sum(f) AS s, avg(f) AS v FROM a",
                       {{"a", RowKind::kInsert, {"1", "1", "1e16"}},
                        {"a", RowKind::kInsert, {"1", "1", "1"}},
                        {"a", RowKind::kDelete, {"1", "1", "1e16"}}}),
              ElementsAre("1 1"));
}

TEST(QueryTest, OnGuardsWhere) {
  EXPECT_THAT(Collapse("INSERT INTO o SELECT x.k AS k FROM a x JOIN a y ON x.k = y.k AND y.i <> 0 WHERE 10 / y.i > 0",
                       {{"a", RowKind::kInsert, {"1", "5", "0"}}, {"a", RowKind::kInsert, {"3", "0", "0"}}}),
              ElementsAre("1"));
}

TEST(QueryTest, FilterGuardsTheArgument) {
  EXPECT_THAT(Collapse("INSERT INTO o SELECT sum(10 / i) FILTER (WHERE i <> 0) AS c FROM a",
                       {{"a", RowKind::kInsert, {"1", "5", "0"}}, {"a", RowKind::kInsert, {"3", "0", "0"}}}),
              ElementsAre("2"));
}

// Names of columns are the query's, whatever its parts were simplified to: read from what a file sink writes.
TEST(QueryTest, TheOutputHasTheNamesOfTheQuery) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"SELECT * FROM (SELECT k AS v FROM a) x JOIN (SELECT k AS w FROM a) y ON v = w", R"({"op":"+I","v":1,"w":1})"},
      {"SELECT k AS v, i AS z FROM a UNION ALL SELECT k AS p, i AS q FROM a WHERE i > 9", R"({"op":"+I","v":1,"z":5})"},
      {"SELECT * FROM (SELECT k AS v FROM a) x WHERE EXISTS (SELECT 1 FROM a y WHERE y.k = x.v)", R"({"op":"+I","v":1})"},
      {"WITH c AS (SELECT i AS g, count(*) AS n FROM a GROUP BY i) SELECT * FROM c UNION ALL SELECT * FROM c WHERE n > 1",
       R"({"op":"+I","g":5,"n":1})"}};
  for (const auto& [query, expected] : cases) {
    testing::TemporaryFolder folder;
    std::string text = JobText("INSERT INTO o " + query);
    text.replace(text.find("{connector: memory}"), 19,
                 "{connector: file, path: " + folder.path() + "/out, format: changelog_json}");
    auto job = EmbeddedJob::Create(text, {.state_dir = {}, .overrides = {}, .check_operators = true});
    ASSERT_TRUE(job) << query << ": " << job.error().ToString();
    ASSERT_TRUE((*job)->Start());
    MemoryFeed& feed = (*job)->feed("a");
    feed.Push(*MakeRow(feed.schema(), {"1", "5", "0"}));
    ASSERT_TRUE((*job)->Finish());
    std::vector<std::string> lines;
    for (const auto& part : std::filesystem::directory_iterator(folder.path() + "/out")) {
      std::ifstream in(part.path());
      for (std::string line; std::getline(in, line);) lines.push_back(line);
    }
    EXPECT_THAT(lines, ElementsAre(expected)) << query;
  }
}

}  // namespace
}  // namespace weir
