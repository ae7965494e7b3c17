// The binary as people and scripts use it: exit codes, what goes to stdout and stderr, files it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/temporary_folder.h"

namespace weir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

// A folder of its own for every test; commands run in it.
class CommandLineTest : public ::testing::Test {
 protected:
  Outcome Weir(const std::string& arguments) {
    const std::string command =
        "cd '" + folder_.string() + "' && '" + WEIR_BINARY + "' " + arguments + " >stdout 2>stderr </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Read("stdout"), Read("stderr")};
  }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  std::string Read(const std::string& name) {
    std::ifstream file(folder_ / name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // All parts below a sink's folder, in their order.
  std::string Parts(const std::string& name) {
    std::vector<fs::path> files;
    if (fs::exists(folder_ / name)) {
      for (const auto& entry : fs::directory_iterator(folder_ / name)) {
        if (entry.path().filename().string()[0] != '.') files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    std::string text;
    for (const fs::path& file : files) text += Read(fs::relative(file, folder_).string());
    return text;
  }

  void WriteSumJob(const std::string& name = "sum",
                   const std::string& query = "SELECT k, SUM(v) AS s FROM t GROUP BY k") {
    Write("job.yaml", "name: " + name + R"(
options: {parallelism: 1}
sources:
  t: {connector: memory, columns: {k: string, v: bigint}}
sinks:
  out: {connector: file, path: out/result.jsonl}
queries:
  - INSERT INTO out
    )" + query + "\n");
    Write("rows.jsonl",
          "[\"t\",\"+I\",\"a\",1]\n[\"t\",\"+I\",\"b\",2]\n[\"*\",\"checkpoint\"]\n[\"t\",\"+I\",\"a\",5]\n");
  }

  const testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(CommandLineTest, HelpListsWhatExists) {
  const Outcome help = Weir("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* verb : {"run", "compare", "check", "explain", "checkpoints", "generate", "example"}) {
    EXPECT_THAT(help.out, HasSubstr(verb));
  }
  EXPECT_EQ(help.out.find("savepoint"), std::string::npos);
}

TEST_F(CommandLineTest, AWrongCommandIsExitTwo) {
  EXPECT_EQ(Weir("").exit_code, 2);
  EXPECT_EQ(Weir("walk job.yaml").exit_code, 2);
  EXPECT_EQ(Weir("run").exit_code, 2);
  EXPECT_EQ(Weir("run job.yaml --fast").exit_code, 2);
  EXPECT_EQ(Weir("run nowhere.yaml").err, "nowhere.yaml: cannot read the job file\n");
  EXPECT_EQ(Weir("check .").err, ".: is a folder, not a job file\n");
  EXPECT_THAT(Weir("explain job.yaml --format xml").err, StartsWith("--format: 'xml' is none of text, json, dot\n"));
  EXPECT_THAT(Weir("generate orders --rows -1 --out x").err,
              StartsWith("--rows: '-1' is not a whole number of at least 0\n"));
  EXPECT_EQ(Weir("run job.yaml --assume committed").exit_code, 2);
  const Outcome savepoint = Weir("savepoint job.yaml");
  EXPECT_EQ(savepoint.exit_code, 2);
  EXPECT_EQ(savepoint.err, "weir savepoint is not in this version yet\n");
}

TEST_F(CommandLineTest, CheckIsSilentOrSaysEverything) {
  WriteSumJob();
  const Outcome good = Weir("check job.yaml");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(good.out + good.err, "");
  Write("bad.yaml", "sources: {t: {connector: memory, columns: {a: bigit}}}\nqueris: []\n");
  const Outcome bad = Weir("check job.yaml bad.yaml");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(bad.err,
            "bad.yaml:1:1: the job file needs queries\n"
            "bad.yaml:1:47: column a: 'bigit' is not a type; did you mean bigint?\n"
            "bad.yaml:2:1: unknown key queris in the job file; did you mean queries?\n");
}

TEST_F(CommandLineTest, ARunReplaysRestoresAndSummarises) {
  WriteSumJob();
  const Outcome run = Weir("run job.yaml --replay rows.jsonl --state-dir state --summary summary.json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(Parts("out/result.jsonl"),
            "{\"op\":\"+I\",\"k\":\"a\",\"s\":1}\n{\"op\":\"+I\",\"k\":\"b\",\"s\":2}\n"
            "{\"op\":\"-U\",\"k\":\"a\",\"s\":1}\n{\"op\":\"+U\",\"k\":\"a\",\"s\":6}\n");
  const auto summary = nlohmann::json::parse(Read("summary.json"));
  EXPECT_EQ(summary["records_in"], 3);
  EXPECT_EQ(summary["records_out"], 4);
  EXPECT_EQ(summary["bad_records"], 0);
  EXPECT_EQ(summary["sources"][0]["name"], "t");
  EXPECT_EQ(summary["checkpoints"].size(), 2U);
  EXPECT_GT(summary["checkpoints"][1]["operator_state_bytes"], 0);

  const Outcome again = Weir("run job.yaml --replay rows.jsonl --state-dir state");
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("has finished"));

  const Outcome list = Weir("checkpoints list state --format json");
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(nlohmann::json::parse(list.out).back()["status"], "finished");
  EXPECT_THAT(Weir("checkpoints show state").out, HasSubstr("(finished)"));
  EXPECT_EQ(Weir("checkpoints show state 999").exit_code, 2);
  EXPECT_EQ(Weir("checkpoints list nowhere").exit_code, 2);
}

TEST_F(CommandLineTest, AStateDirBelongsToItsJob) {
  WriteSumJob();
  ASSERT_EQ(Weir("run job.yaml --replay rows.jsonl --state-dir state").exit_code, 0);
  WriteSumJob("other");
  const Outcome other = Weir("run job.yaml --replay rows.jsonl --state-dir state");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.err, "the state dir state belongs to job sum, this is job other; give each its own --state-dir\n");
  WriteSumJob("sum", "SELECT k, MAX(v) AS s FROM t GROUP BY k");
  EXPECT_THAT(Weir("run job.yaml --replay rows.jsonl --state-dir state").err, HasSubstr("its queries differ"));
  WriteSumJob("sum", "SELECT  k, SUM(v) AS s\n    FROM t GROUP BY k");
  EXPECT_EQ(Weir("run job.yaml --replay rows.jsonl --state-dir state --set options.parallelism=2").exit_code, 0);
}

TEST_F(CommandLineTest, ANewStateDirRefusesOldParts) {
  WriteSumJob();
  ASSERT_EQ(Weir("run job.yaml --replay rows.jsonl --state-dir one").exit_code, 0);
  const Outcome refused = Weir("run job.yaml --replay rows.jsonl --state-dir two");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, StartsWith("job.yaml:6:32: out/result.jsonl: the folder already has parts of another run"));
  Write("out/result.jsonl/.part-1.jsonl", "");
  EXPECT_EQ(Weir("run job.yaml --replay rows.jsonl --state-dir two --force").exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "out/result.jsonl/.part-1.jsonl"));
}

TEST_F(CommandLineTest, AMemorySourceNeedsAReplay) {
  WriteSumJob();
  const Outcome run = Weir("run job.yaml --state-dir state");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "job.yaml:4:3: source t is in memory, so it needs rows: run with --replay FILE\n");
}

TEST_F(CommandLineTest, AFailedJobIsExitOneAndSummarised) {
  WriteSumJob("fails", "SELECT k, 1 / v AS s FROM t");
  Write("rows.jsonl", "[\"t\",\"+I\",\"a\",0]\n");
  const Outcome run = Weir("run job.yaml --replay rows.jsonl --state-dir state --summary summary.json");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("division by zero (in project-1 of the query at job.yaml:8:5: "));
  EXPECT_EQ(nlohmann::json::parse(Read("summary.json"))["records_in"], 1);
}

TEST_F(CommandLineTest, ARowThatAnOperatorRefusesIsNamedWithItsQuery) {
  WriteSumJob("sum", "SELECT k, SUM(CAST(v AS decimal(38,0)) * 5000000000000000000) AS s FROM t GROUP BY k");
  const std::string row = "[\"t\",\"+I\",\"a\",9223372036854775807]\n";
  Write("rows.jsonl", row + row + row);
  EXPECT_THAT(Weir("run job.yaml --replay rows.jsonl --state-dir sum").err,
              StartsWith("the result of sum is out of the range of decimal(38,0) (in aggregate-1 of the query at "
                         "job.yaml:8:5: "));
  WriteSumJob("join", "SELECT a.k FROM t a JOIN t b ON a.k = b.k AND 1 / (a.v - b.v) > 0");
  Write("rows.jsonl", "[\"t\",\"+I\",\"a\",1]\n");
  EXPECT_THAT(Weir("run job.yaml --replay rows.jsonl --state-dir join").err,
              HasSubstr("in the condition of a join: division by zero (in join-1 of the query at job.yaml:8:5: "));
}

TEST_F(CommandLineTest, ThousandsOfColumnsAreOneJobAsAnyOther) {
  std::string columns;
  std::string row = "[\"t\",\"+I\"";
  for (int i = 0; i < 5000; ++i) {
    columns += "      c" + std::to_string(i) + ": bigint\n";
    row += "," + std::to_string(i);
  }
  Write("job.yaml", "sources:\n  t:\n    connector: memory\n    columns:\n" + columns +
                        "sinks: {out: {connector: file, path: out}}\nqueries: [INSERT INTO out SELECT * FROM t]\n");
  Write("rows.jsonl", row + "]\n");
  EXPECT_EQ(Weir("check job.yaml").err, "");
  EXPECT_EQ(Weir("run job.yaml --replay rows.jsonl --state-dir state").exit_code, 0);
  EXPECT_THAT(Parts("out"), HasSubstr(",\"c4999\":4999}\n"));
}

TEST_F(CommandLineTest, SkippedKeysAreBadRecords) {
  Write("job.yaml", R"(options: {parallelism: 1}
sources:
  t: {connector: memory, columns: {k: string, v: bigint}, primary_key: [k], on_error: skip}
sinks:
  out: {connector: print}
queries:
  - INSERT INTO out SELECT k, v FROM t
)");
  Write("rows.jsonl", "[\"t\",\"+I\",null,1]\n[\"t\",\"+I\",\"b\",2]\n");
  const Outcome run = Weir("run job.yaml --replay rows.jsonl --summary summary.json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(Read("summary.json"))["bad_records"], 1);
  EXPECT_THAT(run.out, HasSubstr("\"k\":\"b\""));
  EXPECT_TRUE(fs::exists(folder_ / ".weir/job/checkpoints"));
  const Outcome fail = Weir("run job.yaml --replay rows.jsonl --state-dir x --set sources.t.on_error=fail");
  EXPECT_EQ(fail.exit_code, 1);
  EXPECT_THAT(fail.err, StartsWith("rows.jsonl:1: source t: column k of the primary key is NULL\n"));
}

TEST_F(CommandLineTest, ExamplesAreSoundJobFiles) {
  const Outcome list = Weir("example");
  EXPECT_EQ(list.exit_code, 0);
  std::vector<std::string> names;
  std::istringstream lines(list.out);
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(' ')));
  for (const char* name : {"attribution", "uv", "uv-bitmap", "uv-kafka", "nexmark/q0"}) {
    EXPECT_THAT(names, ::testing::Contains(name));
  }
  for (const std::string& name : names) {
    const Outcome example = Weir("example " + name);
    EXPECT_EQ(example.exit_code, 0);
    Write("example.yaml", example.out);
    const Outcome check = Weir("check example.yaml");
    EXPECT_EQ(check.exit_code, 0) << name << ": " << check.err;
  }
  EXPECT_EQ(Weir("example attribtion").err, "there is no example attribtion; did you mean attribution?\n");
}

TEST_F(CommandLineTest, ExplainHasThreeForms) {
  WriteSumJob();
  EXPECT_THAT(Weir("explain job.yaml").out, HasSubstr("aggregate"));
  EXPECT_NO_THROW(nlohmann::json::parse(Weir("explain job.yaml --format json").out));
  EXPECT_THAT(Weir("explain job.yaml --format dot").out, StartsWith("digraph"));
}

TEST_F(CommandLineTest, NexmarkIsGeneratedAsThreeFilesAndAsSources) {
  ASSERT_EQ(Weir("generate nexmark --rows 5000 --out data").exit_code, 0);
  Write("job.yaml", R"(name: sold
sources:
  auction: {connector: generator, kind: nexmark, rows: 5000}
  bid: {connector: generator, kind: nexmark, rows: 5000, partitions: 3}
  bids:
    connector: file
    path: data/bid.jsonl
    columns: {auction: bigint, price: bigint, date_time: {type: timestamp(3), path: dateTime}}
sinks: {generated: {connector: print}, read: {connector: print}}
queries:
  - INSERT INTO generated
    SELECT count(*) AS n, sum(b.price) AS price, max(b.date_time) AS at FROM bid b JOIN auction a ON a.id = b.auction
  - INSERT INTO read
    SELECT count(*) AS n, sum(b.price) AS price, max(b.date_time) AS at FROM bids b JOIN auction a ON a.id = b.auction
)");
  const Outcome run = Weir("run job.yaml");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto last = [&](const std::string& sink) {
    const size_t from = run.out.rfind(sink + " +");
    return run.out.substr(from + sink.size() + 3, run.out.find('\n', from) - from - sink.size() - 3);
  };
  EXPECT_THAT(last("generated"), HasSubstr("\"n\":"));
  EXPECT_EQ(last("generated"), last("read"));
  EXPECT_THAT(Weir("generate nexmark --rows 1 --kafka 127.0.0.1:1 --topic x").err, HasSubstr("three topics"));
}

TEST_F(CommandLineTest, GeneratedFilesAreRead) {
  ASSERT_EQ(Weir("generate orders --rows 100 --seed 3 --users 10 --out data").exit_code, 0);
  Write("job.yaml", R"(name: count
sources:
  orders: {connector: file, path: data/orders.jsonl, columns: {order_id: bigint, user_id: bigint}}
sinks:
  out: {connector: file, path: out/count}
queries:
  - INSERT INTO out SELECT COUNT(*) AS n FROM orders
)");
  const Outcome run = Weir("run job.yaml --set options.parallelism=1");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(Parts("out/count"), HasSubstr("\"n\":100}"));
  EXPECT_EQ(Weir("generate orders").exit_code, 2);
  EXPECT_EQ(Weir("generate gold --out x").exit_code, 2);
}

// A folder of parts has one writer: two would each overwrite the other's.
TEST_F(CommandLineTest, TwoInsertsIntoOneFolderBothArrive) {
  Write("in.jsonl", "{\"a\":1}\n{\"a\":2}\n");
  Write("job.yaml", R"(name: two
sources:
  s: {connector: file, path: in.jsonl, columns: {a: bigint}}
sinks:
  out: {connector: file, path: out, format: json}
queries:
  - INSERT INTO out SELECT a FROM s
  - INSERT INTO out SELECT a + 10 AS a FROM s
  - INSERT INTO out SELECT a + 20 AS a FROM s
)");
  const Outcome run = Weir("run job.yaml");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string parts = Parts("out");
  for (const char* row : {"1}", "2}", "11}", "12}", "21}", "22}"}) EXPECT_THAT(parts, HasSubstr(std::string(":") + row));
  EXPECT_EQ(std::count(parts.begin(), parts.end(), '\n'), 6);
}

}  // namespace
}  // namespace weir
