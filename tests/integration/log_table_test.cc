// Jobs with log tables: several INSERTs, several readers, crashes and restores at another parallelism.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "jobs/embed.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAreArray;

std::string JobText(int parallelism, const std::string& table) {
  return "name: logs\noptions: {parallelism: " + std::to_string(parallelism) + R"yaml(, checkpoint: {on_rows: 5}}
sources:
  a: {connector: memory, partitions: 2, columns: {k: bigint, v: string}}
  b: {connector: memory, columns: {v: string, k: int}}
tables:
  events: {columns: {k: bigint, v: string}, )yaml" + table + R"yaml(}
sinks:
  rows: {connector: memory}
  counts: {connector: memory}
  pairs: {connector: memory}
queries:
  - INSERT INTO events SELECT k, v FROM a WHERE v <> 'skip'
  - INSERT INTO events (v, k) SELECT v, k FROM b
  - INSERT INTO events SELECT * FROM (VALUES (7, 'seven')) x
  - INSERT INTO rows SELECT k, v FROM events
  - INSERT INTO counts SELECT k, count(*) AS n FROM events GROUP BY k
  - INSERT INTO pairs SELECT x.v AS l, y.v AS r FROM events x JOIN events y ON x.k = y.k AND x.v < y.v
)yaml";
}

class LogTableJobTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LogTableJobTest, EveryRowIsThereOnceAndReadByAll) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
    auto job = EmbeddedJob::Create(JobText(1 + static_cast<int>(seed % 3), GetParam()),
                                   {.state_dir = folder / "state", .overrides = {}, .check_operators = true});
    ASSERT_TRUE(job) << job.error().ToString();
    ASSERT_TRUE((*job)->Start());
    std::vector<std::pair<int64_t, std::string>> rows{{7, "seven"}};
    for (int step = 0; step < 30; ++step) {
      const int64_t key = static_cast<int64_t>(random() % 4);
      const std::string value = random() % 8 == 0 ? "skip" : std::string(1, static_cast<char>('a' + random() % 5));
      const bool from_a = random() % 2 == 0;
      MemoryFeed& feed = (*job)->feed(from_a ? "a" : "b");
      const std::vector<std::string> cells =
          from_a ? std::vector<std::string>{std::to_string(key), value} : std::vector<std::string>{value, std::to_string(key)};
      feed.Push(*MakeRow(feed.schema(), cells), from_a ? static_cast<int>(random() % 2) : 0);
      if (!from_a || value != "skip") rows.emplace_back(key, value);
      if (random() % 4 == 0) {
        ASSERT_TRUE((*job)->WaitUntilIdle());
      }
      if (random() % 7 == 0) {
        (*job)->Crash();
        ASSERT_TRUE((*job)->Start());
      }
    }
    const Status finished = (*job)->Finish();
    ASSERT_TRUE(finished) << finished.error().ToString();
    std::vector<std::string> expected, pairs;
    for (const auto& [k, v] : rows) {
      expected.push_back(std::to_string(k) + " '" + v + "'");
      for (const auto& [other, w] : rows) {
        if (k == other && v < w) pairs.push_back("'" + v + "' '" + w + "'");
      }
    }
    EXPECT_THAT(*(*job)->result("rows").Collapsed(), UnorderedElementsAreArray(expected));
    EXPECT_THAT(*(*job)->result("pairs").Collapsed(), UnorderedElementsAreArray(pairs));
    const std::vector<TableFigures> tables = (*job)->Figures().tables;
    ASSERT_EQ(tables.size(), 1u);
    EXPECT_EQ(tables[0].name, "events");
    EXPECT_EQ(tables[0].rows, static_cast<int64_t>(rows.size()));
    EXPECT_GT(tables[0].log_bytes, 0);
    EXPECT_EQ(tables[0].kv_bytes + tables[0].lookups + tables[0].cache_hits, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LogTableJobTest,
                         ::testing::Values("bucket: {key: [k]}", "bucket: {num: 2}", "bucket: {num: 1}", "ttl: 1s"));

}  // namespace
}  // namespace weir
