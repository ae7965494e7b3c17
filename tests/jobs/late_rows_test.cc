// The option `late` of a query: what it takes, and what is refused, with its place.
#include <gtest/gtest.h>

#include "jobs/planned_job.h"
#include "tests/jobs/job_text.h"

namespace weir {
namespace {

constexpr const char* kHead = R"(name: a
sources:
  s: {connector: memory, columns: {k: bigint, ts: timestamp(3), v: bigint}, event_time: {column: ts}}
  u: {connector: memory, primary_key: [k], columns: {k: bigint, ts: timestamp(3)}, event_time: {column: ts}}
sinks:
  out: {connector: print}
  other: {connector: print}
  late: {connector: print}
queries:
)";

const std::string kTumble = "TUMBLE(s, ts, INTERVAL '1' MINUTE) GROUP BY k, window_start, window_end";

std::string Query(const std::string& select, const std::string& late = "late", const std::string& sink = "out") {
  return "  - {late: " + late + ", sql: \"INSERT INTO " + sink + " " + select + "\"}\n";
}
std::string Errors(const std::string& queries) { return PlanErrors(kHead + queries); }

TEST(LateRowsOption, TakesASinkForTheRowsOfWindows) {
  EXPECT_EQ(Errors(Query("SELECT k, count(*) AS n FROM " + kTumble)), "");
  EXPECT_EQ(Errors(Query("SELECT k, count(*) AS n FROM s GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)")), "");
  EXPECT_EQ(Errors(Query("SELECT max(n) AS most FROM (SELECT window_end, k, count(*) AS n FROM " + kTumble +
                         ") AS x GROUP BY window_end")),
            "");
}

TEST(LateRowsOption, TheSinkHasToBeOneOfItsOwn) {
  const std::string select = "SELECT k, count(*) AS n FROM " + kTumble;
  EXPECT_EQ(Errors(Query(select, "lat")), "job.yaml:10:12: sink lat does not exist; did you mean late?\n");
  EXPECT_EQ(Errors(Query(select, "s")), "job.yaml:10:12: s is a source; late takes a sink\n");
  EXPECT_EQ(Errors(Query(select, "out")),
            "job.yaml:10:12: sink out is written by a query; late rows need a sink of their own\n");
  const std::string hop =
      "SELECT k, count(*) AS n FROM HOP(s, ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) GROUP BY k, "
      "window_start, window_end";
  EXPECT_EQ(
      Errors(Query(select) + Query(hop, "late", "other")),
      "job.yaml:11:12: sink late would get the late rows of two different groupings; give each a query and a sink\n");
}

TEST(LateRowsOption, IsForWindowsAlone) {
  EXPECT_EQ(Errors(Query("SELECT k FROM s")),
            "job.yaml:10:12: late takes the rows that are too late for a GROUP BY of TUMBLE, HOP, CUMULATE or SESSION, "
            "and this "
            "query has none\n");
  EXPECT_EQ(Errors("  - {late: late, sql: CREATE VIEW w AS SELECT k FROM s}\n" + Query("SELECT k FROM w")),
            "job.yaml:10:12: late belongs to the INSERT INTO that reads the view\n");
}

// What the sink gets is what the query counts as late.
TEST(LateRowsOption, NothingElseInTheQueryDropsLateRows) {
  const std::string words =
      "job.yaml:10:12: late takes the rows that are too late for a GROUP BY of TUMBLE, HOP, CUMULATE or "
      "SESSION, and this query has rows that are late for ";
  EXPECT_EQ(Errors(Query("SELECT k, count(*) AS n FROM " + kTumble +
                         " UNION ALL SELECT a.k, b.v AS n FROM s a JOIN s b ON a.k = b.k AND b.ts BETWEEN a.ts - "
                         "INTERVAL '1' MINUTE AND a.ts")),
            words + "a join on times or windows too; leave late out, or make that a job of its own\n");
  EXPECT_EQ(
      Errors(Query(
          "SELECT k, count(*) AS n FROM TUMBLE(u, ts, INTERVAL '1' MINUTE) GROUP BY k, window_start, window_end")),
      "job.yaml:10:12: late takes rows that are only added, and the input of these windows also takes rows back; leave "
      "late "
      "out, or read a source that only appends\n");
}

// The columns of the table, whatever the query reads of them.
TEST(LateRowsOption, TheSinkGetsTheColumnsOfTheTable) {
  const auto job =
      PlanJobText("job.yaml", kHead + Query("SELECT k AS key, count(*) AS n FROM " + kTumble), {}, InputCheck::kNone);
  ASSERT_TRUE(job);
  ASSERT_EQ(job->plan.sinks.size(), 2u);
  const PlanNode& sink = *job->plan.sinks[1];
  EXPECT_EQ(sink.relation, "late");
  EXPECT_EQ(sink.changelog, ChangelogMode::kAppend);
  std::string columns;
  for (const Field& field : sink.schema->fields()) columns += field.name + " " + field.type.ToString() + ",";
  EXPECT_EQ(columns, "k bigint,ts timestamp(3),v bigint,");
}

}  // namespace
}  // namespace weir
