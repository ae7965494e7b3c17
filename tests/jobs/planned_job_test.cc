#include "jobs/planned_job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/jobs/job_text.h"

namespace weir {
namespace {

constexpr const char* kHead = R"(name: a
sources:
  s: {connector: memory, columns: {id: bigint, name: string}}
sinks:
  out: {connector: print}
queries:
)";

std::string Errors(const std::string& queries) { return PlanErrors(kHead + queries); }

// The place of an error, without its words, which are the planner's.
std::string PlaceOf(const std::string& errors) { return errors.substr(0, errors.find(": ")); }

TEST(PlannedJob, SqlErrorsHavePlacesInTheFile) {
  EXPECT_EQ(PlaceOf(Errors("  - |\n    INSERT INTO out\n    SELECT nme FROM s\n")), "job.yaml:9:12");
  EXPECT_EQ(PlaceOf(Errors("  - INSERT INTO out\n    SELECT nme\n    FROM s\n")), "job.yaml:8:12");
  EXPECT_EQ(PlaceOf(Errors("  - \"INSERT INTO out\\n  SELECT nme FROM s\"\n")), "job.yaml:7:32");
}

TEST(PlannedJob, AllQueriesAreChecked) {
  const std::string errors = Errors("  - INSERT INTO out SELECT x FROM s\n  - INSERT INTO out SELECT y FROM s\n");
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 2) << errors;
}

TEST(PlannedJob, SqlErrorsComeTogetherWithThoseOfTheFile) {
  const std::string errors = PlanErrors(fmt::format("optins: {{}}\n{}  - INSERT INTO out SELECT x FROM s\n", kHead));
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 2) << errors;
  EXPECT_EQ(PlaceOf(errors), "job.yaml:1:1");
}

TEST(PlannedJob, QueriesOverABrokenSourceSayNothingMore) {
  EXPECT_EQ(PlanErrors("sources:\n  s: {connector: memory, columns: {id: bigit}}\nsinks: {out: {connector: print}}\n"
                       "queries: [INSERT INTO out SELECT id + 1 AS x FROM s]\n"),
            "job.yaml:2:40: column id: 'bigit' is not a type; did you mean bigint?\n");
}

TEST(PlannedJob, MissingFilesAreErrorsOfTheirPath) {
  EXPECT_EQ(PlanErrors("sources:\n  s: {connector: file, path: nowhere/*.jsonl, columns: {id: bigint}}\n"
                       "sinks: {out: {connector: print}}\nqueries: [INSERT INTO out SELECT id FROM s]\n"),
            "job.yaml:2:30: no file matches nowhere/*.jsonl\n");
}

TEST(PlannedJob, AFolderIsNotAFile) {
  EXPECT_EQ(PlanErrors("sources:\n  s: {connector: file, path: /usr, columns: {id: bigint}}\n"
                       "sinks: {out: {connector: print}}\nqueries: [INSERT INTO out SELECT id FROM s]\n"),
            "job.yaml:2:30: /usr is a folder; write /usr/* for the files in it\n");
}

TEST(PlannedJob, AFileOfRowsTakesNoChanges) {
  EXPECT_EQ(PlanErrors("sources:\n  s: {connector: memory, columns: {id: bigint}}\n"
                       "sinks:\n  out: {connector: file, path: out/x, format: json}\n"
                       "queries: ['INSERT INTO out SELECT id, COUNT(*) AS n FROM s GROUP BY id']\n"),
            "job.yaml:4:3: sink out writes rows, and its query changes rows it has written; use format: "
            "changelog_json\n");
}

constexpr const char* kTables = R"(name: a
sources:
  s: {connector: memory, columns: {id: bigint, name: string}}
tables:
  t: {columns: {id: bigint, name: string, n: int}, primary_key: [id], bucket: {num: 4}, not_null: [name]}
sinks:
  out: {connector: print}
queries:
)";

TEST(PlannedJob, TablesAreWrittenAndRead) {
  const auto job = PlanJobText("job.yaml",
                               std::string(kTables) + "  - INSERT INTO t SELECT * FROM s\n"
                                                      "  - INSERT INTO out SELECT name, COUNT(*) AS n FROM t GROUP BY name\n",
                               WithOverrides({}), InputCheck::kFiles);
  ASSERT_TRUE(job) << job.error().front().message;
  EXPECT_EQ(job->file.tables[0].buckets, 4);
  EXPECT_EQ(job->file.tables[0].bucket_key, std::vector<int>{0});
  EXPECT_EQ(job->plan.sinks.size(), 1u);
}

TEST(PlannedJob, ErrorsOfInsertsIntoTablesHavePlaces) {
  EXPECT_EQ(PlanErrors(std::string(kTables) + "  - INSERT INTO t SELECT name, name FROM s\n"),
            "job.yaml:9:26: column id of table t is bigint, and SELECT gives string; cast it in the query\n");
  EXPECT_EQ(PlanErrors(std::string(kTables) + "  - INSERT INTO t SELECT id FROM s\n"),
            "job.yaml:9:17: column name of table t takes no NULL\n");
}

TEST(PlannedJob, QueriesOverABrokenTableSayNothingMore) {
  EXPECT_EQ(PlanErrors("sources:\n  s: {connector: memory, columns: {id: bigint}}\n"
                       "tables:\n  t: {columns: {id: bigit}, primary_key: [id]}\nsinks: {out: {connector: print}}\n"
                       "queries: [INSERT INTO t SELECT id FROM s, INSERT INTO out SELECT id + 1 AS x FROM t]\n"),
            "job.yaml:4:21: column id: 'bigit' is not a type; did you mean bigint?\n");
}

TEST(PlannedJob, ADeltaJoinIsRefusedInWords) {
  const std::string errors = PlanErrors(
      fmt::format("options: {{join: delta}}\n{}  - INSERT INTO out SELECT x.id FROM s x JOIN s y ON x.id = y.id\n", kHead));
  EXPECT_NE(errors.find("delta"), std::string::npos) << errors;
}

TEST(PlannedJob, InsertsIntoOneFolderHaveTheSameColumns) {
  const std::string job =
      "sources:\n  s: {connector: memory, columns: {id: bigint, name: string}}\n"
      "sinks: {out: {connector: file, path: parts}}\n"
      "queries:\n  - INSERT INTO out SELECT id FROM s\n  - INSERT INTO out SELECT name AS id FROM s\n";
  EXPECT_EQ(PlanErrors(job),
            "job.yaml:6:17: another INSERT writes (id bigint) into sink out, this one (id string): give both the same "
            "columns, or each a sink\n");
}

TEST(PlannedJob, TwoSinksDoNotShareAFolder) {
  EXPECT_EQ(PlanErrors("sources:\n  s: {connector: memory, columns: {id: bigint}}\nsinks:\n"
                       "  a: {connector: file, path: parts/x}\n  b: {connector: file, path: ./parts/x/}\n"
                       "queries:\n  - INSERT INTO a SELECT id FROM s\n  - INSERT INTO b SELECT id FROM s\n"),
            "job.yaml:5:30: sink a writes into this folder already; give each sink its own\n");
}

}  // namespace
}  // namespace weir
