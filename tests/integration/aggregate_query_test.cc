// Aggregates beyond sums, bitmaps and grouping sets in whole queries: what the changelog collapses to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/embed.h"
#include "tests/engine/test_job.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

struct Change {
  RowKind kind;
  std::vector<std::string> values;  // k, i, f, t
};

std::string JobText(const std::string& query, const std::string& changelog) {
  return R"yaml(
name: aggregates
options: {parallelism: 2}
sources:
  a: {connector: memory, changelog: )yaml" +
         changelog + R"yaml(, columns: {k: bigint, i: int, f: boolean, t: string}}
sinks:
  o: {connector: memory}
queries:
  - )yaml" +
         query + "\n";
}

// The collapsed result, or the one-line error.
std::vector<std::string> Collapse(const std::string& select, const std::vector<Change>& rows,
                                  const std::string& changelog = "full") {
  auto job = EmbeddedJob::Create(JobText("INSERT INTO o " + select, changelog),
                                 {.state_dir = {}, .overrides = {}, .check_operators = true});
  if (!job) return {job.error().ToString()};
  if (const Status started = (*job)->Start(); !started) return {started.error().ToString()};
  MemoryFeed& feed = (*job)->feed("a");
  for (const Change& change : rows) {
    feed.Push(*MakeRow(feed.schema(), change.values, change.kind));
    if (const Status idle = (*job)->WaitUntilIdle(); !idle) return {idle.error().ToString()};
  }
  if (const Status finished = (*job)->Finish(); !finished) return {finished.error().ToString()};
  auto collapsed = (*job)->result("o").Collapsed();
  return collapsed ? *collapsed : std::vector<std::string>{collapsed.error().ToString()};
}

const std::vector<Change> kRows = {{RowKind::kInsert, {"1", "10", "true", "x"}},
                                   {RowKind::kInsert, {"1", "20", "false", "y"}},
                                   {RowKind::kInsert, {"2", "30", "true", "y"}},
                                   {RowKind::kInsert, {"2", "-1", "true", "z"}},
                                   {RowKind::kInsert, {"7", "5", "true", "q"}},
                                   {RowKind::kDelete, {"7", "5", "true", "q"}}};

TEST(AggregateQueryTest, RollupGivesEveryLevelAndTheTotal) {
  EXPECT_THAT(Collapse("SELECT k, f, count(*) AS n, grouping(k, f) AS g FROM a GROUP BY ROLLUP (k, f)", kRows),
              UnorderedElementsAre("1 true 1 0", "1 false 1 0", "2 true 2 0", "1 NULL 2 1", "2 NULL 2 1", "NULL NULL 4 3"));
}

TEST(AggregateQueryTest, ANullKeyIsNotALeftOutKey) {
  std::vector<Change> rows = kRows;
  rows.push_back({RowKind::kInsert, {"NULL", "1", "true", "x"}});
  EXPECT_THAT(Collapse("SELECT k, count(*) AS n, grouping(k) AS g FROM a GROUP BY CUBE (k)", rows),
              UnorderedElementsAre("1 2 0", "2 2 0", "NULL 1 0", "NULL 5 1"));
}

TEST(AggregateQueryTest, GroupingSetsWithHavingAndWithoutInput) {
  EXPECT_THAT(Collapse("SELECT t, k, sum(i) AS s FROM a GROUP BY GROUPING SETS ((t), (k), ()) HAVING sum(i) > 20", kRows),
              UnorderedElementsAre("'y' NULL 50", "NULL 1 30", "NULL 2 29", "NULL NULL 59"));
  EXPECT_THAT(Collapse("SELECT k, count(*) AS n FROM a GROUP BY ROLLUP (k)", {}), ElementsAre("NULL 0"));
  EXPECT_THAT(Collapse("SELECT k, count(*) AS n FROM a GROUP BY k, GROUPING SETS ((), ())", kRows),
              UnorderedElementsAre("1 2", "1 2", "2 2", "2 2"));
}

TEST(AggregateQueryTest, ListsInTheOrderAskedFor) {
  EXPECT_THAT(Collapse("SELECT k, string_agg(t, '; ' ORDER BY i DESC) AS s, array_agg(i ORDER BY i) AS r FROM a GROUP BY k",
                       kRows),
              UnorderedElementsAre("1 'y; x' [10,20]", "2 'y; z' [-1,30]"));
  EXPECT_THAT(Collapse("SELECT string_agg(DISTINCT t, '') AS s, listagg(t) FILTER (WHERE k = 2) AS l FROM a", kRows),
              ElementsAre("'xyz' 'y,z'"));
}

TEST(AggregateQueryTest, BitmapsAreBuiltCountedAndCombined) {
  EXPECT_THAT(Collapse("SELECT k, bitmap_cardinality(bitmap_build_agg(i)) AS n, bitmap_count_distinct(i) AS m, "
                       "bitmap_contains(rb_build_agg(i), -1) AS c FROM a GROUP BY k",
                       kRows),
              UnorderedElementsAre("1 2 2 false", "2 2 2 true"));
  // Bitmaps of groups, put together: over an input that changes only what can take a bitmap back.
  const std::string groups = "(SELECT k, bitmap_build_agg(i) AS b FROM a GROUP BY k) AS g";
  EXPECT_THAT(Collapse("SELECT bitmap_to_array(bitmap_xor_agg(b)) AS x FROM " + groups, kRows),
              ElementsAre("[10,20,30,-1]"));
  EXPECT_THAT(Collapse("SELECT bitmap_or_agg(b) AS x FROM " + groups, kRows),
              ElementsAre(HasSubstr("bitmap_or_agg forgets which bitmaps an id came from")));
  EXPECT_THAT(Collapse("SELECT bitmap_or_cardinality_agg(bitmap_build(ARRAY[k, 2])) AS x FROM a",
                       {{RowKind::kInsert, {"1", "1", "true", "x"}}, {RowKind::kInsert, {"3", "1", "true", "x"}}}, "append"),
              ElementsAre("3"));
}

TEST(AggregateQueryTest, BitmapsAreComparedAndGroupedByTheirIds) {
  EXPECT_THAT(Collapse("SELECT bitmap_to_array(b) AS x, count(*) AS n FROM (SELECT bitmap_or(bitmap_build(ARRAY[i]), "
                       "bitmap_build(ARRAY[3, 2])) AS b FROM a) AS s WHERE b <> bitmap_build(ARRAY[9]) GROUP BY b",
                       {{RowKind::kInsert, {"1", "2", "true", "x"}},
                        {RowKind::kInsert, {"1", "3", "true", "x"}},
                        {RowKind::kInsert, {"1", "4", "true", "x"}}}),
              UnorderedElementsAre("[2,3] 2", "[2,3,4] 1"));
}

TEST(AggregateQueryTest, ASketchNeedsAnAppendOnlyInput) {
  EXPECT_THAT(Collapse("SELECT approx_count_distinct(t) AS n FROM a", kRows),
              ElementsAre(HasSubstr("approx_count_distinct forgets the values")));
  EXPECT_THAT(Collapse("SELECT approx_count_distinct(t) AS n FROM a",
                       {{RowKind::kInsert, {"1", "1", "true", "x"}}, {RowKind::kInsert, {"1", "1", "true", "x"}}}, "append"),
              ElementsAre("1"));
}

TEST(AggregateQueryTest, SeveralAtOnce) {
  EXPECT_THAT(Collapse("SELECT k, bool_and(f) AS a, bool_or(f) AS o, bit_or(i) AS b, stddev_pop(i) AS d, "
                       "first_value(t) AS h, last_value(t) AS l FROM a GROUP BY k",
                       kRows),
              UnorderedElementsAre("1 false true 30 5 'x' 'y'", "2 true true -1 15.5 'y' 'z'"));
}

}  // namespace
}  // namespace weir
