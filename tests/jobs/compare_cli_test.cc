// weir compare as people and scripts use it: the binary, which runs itself once a variant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

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

class CompareVerbTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_ / "tmp"); }

  Outcome Weir(const std::string& arguments) {
    const std::string command = "cd '" + folder_.string() + "' && TMPDIR=tmp '" + WEIR_BINARY + "' " + arguments +
                                " >stdout 2>stderr </dev/null";
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
  nlohmann::json ReadJson(const std::string& name) { return nlohmann::json::parse(Read(name)); }

  bool TemporaryFolderIsEmpty() { return fs::is_empty(folder_ / "tmp"); }

  // Orders joined with themselves by user; the generator is paced so that a kill finds it running.
  void WriteJob(const std::string& file, const std::string& name, const std::string& condition = "true") {
    Write(file, "name: " + name + R"(
options: {parallelism: 2, checkpoint: {on_rows: 5000}}
sources:
  orders: {connector: generator, kind: orders, rows: 20000, users: 5000, rate: 40000}
sinks:
  joined: {connector: blackhole}
queries:
  - INSERT INTO joined SELECT a.order_id AS a, b.order_id AS b FROM orders a JOIN orders b ON a.user_id = b.user_id
    AND a.order_id < b.order_id WHERE )" +
                    condition + "\n");
  }

  const testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(CompareVerbTest, MeasuresAndRecoversAVariant) {
  WriteJob("job.yaml", "pairs");
  const Outcome compare =
      Weir("compare job.yaml --variants regular-memory --json c.json --report c.html --dir results");
  ASSERT_EQ(compare.exit_code, 0) << compare.out << compare.err;
  EXPECT_THAT(compare.out, HasSubstr("regular-memory"));
  EXPECT_THAT(compare.out, HasSubstr("all results are equal"));
  const auto json = ReadJson("c.json");
  EXPECT_EQ(json["equal"], true);
  ASSERT_EQ(json["variants"].size(), 1U);
  const auto& variant = json["variants"][0];
  EXPECT_EQ(variant["name"], "regular-memory");
  EXPECT_GT(variant["recovery_ms"], 0);
  EXPECT_GT(variant["records_in"], 0);
  EXPECT_EQ(variant["results"][0]["changes"], variant["records_out"]);
  EXPECT_THAT(Read("c.html"), StartsWith("<!DOCTYPE html>"));
  EXPECT_TRUE(fs::exists(folder_ / "results/regular-memory/joined"));
  EXPECT_EQ(Weir("compare job.yaml --dir results").exit_code, 2) << "the folder is not empty";
  EXPECT_TRUE(TemporaryFolderIsEmpty());
}

TEST_F(CompareVerbTest, RunsAllVariantsThatTheJobAllows) {
  WriteJob("job.yaml", "pairs");
  const Outcome two = Weir("compare job.yaml --set sources.*.rows=4000 --json c.json");
  ASSERT_EQ(two.exit_code, 0) << two.out << two.err;
  EXPECT_THAT(two.out, HasSubstr("delta is left out: "));
  EXPECT_EQ(ReadJson("c.json")["variants"].size(), 2U);
  EXPECT_EQ(ReadJson("c.json")["left_out"][0]["name"], "delta");
  EXPECT_EQ(Weir("compare job.yaml --variants delta").exit_code, 2);

  const Outcome three = Weir("compare job.yaml --set sources.orders.primary_key=[user_id,order_id] --json c.json");
  ASSERT_EQ(three.exit_code, 0) << three.out << three.err;
  const auto json = ReadJson("c.json");
  EXPECT_EQ(json["equal"], true);
  ASSERT_EQ(json["variants"].size(), 3U);
  EXPECT_EQ(json["variants"][2]["name"], "delta");
  EXPECT_GT(json["variants"][2]["tables"][0]["log_bytes"], 0);
  EXPECT_EQ(json["variants"][2]["checkpoints"].back()["operator_state_bytes"], 0);
  for (const auto& variant : json["variants"]) EXPECT_GT(variant["recovery_ms"], 0) << variant["name"];
}

TEST_F(CompareVerbTest, TwoJobsThatDifferAreExitOneWithTheRows) {
  WriteJob("one.yaml", "one");
  WriteJob("two.yaml", "two", "a.order_id <> 17");
  const Outcome compare =
      Weir("compare one.yaml two.yaml --json c.json --set sources.*.rows=2000 --set sources.*.users=50");
  EXPECT_EQ(compare.exit_code, 1) << compare.err;
  EXPECT_THAT(compare.out, HasSubstr("results differ in sink joined: one has "));
  EXPECT_THAT(compare.out, HasSubstr("1 more in one: {\"a\":17,\"b\":"));
  EXPECT_EQ(ReadJson("c.json")["equal"], false);
  EXPECT_TRUE(TemporaryFolderIsEmpty());
}

TEST_F(CompareVerbTest, ASweepComparesForEachValue) {
  WriteJob("job.yaml", "pairs");
  const Outcome compare = Weir(
      "compare job.yaml --variants regular-memory --set sources.*.rows=2000 --sweep sources.*.users=50,5000 --json "
      "c.json");
  ASSERT_EQ(compare.exit_code, 0) << compare.out << compare.err;
  EXPECT_THAT(compare.out, HasSubstr("sources.*.users"));
  const auto json = ReadJson("c.json");
  EXPECT_EQ(json["equal"], true);
  ASSERT_EQ(json["sweep"].size(), 2U);
  EXPECT_EQ(json["sweep"][1]["value"], 5000);
  EXPECT_GT(json["sweep"][0]["variants"][0]["records_out"], json["sweep"][1]["variants"][0]["records_out"]);
}

TEST_F(CompareVerbTest, AJobThatWritesTablesAloneSaysThatNothingIsHeldSideBySide) {
  Write("job.yaml", R"(
name: log
sources:
  orders: {connector: generator, kind: orders, rows: 2000}
tables:
  events: {columns: {order_id: bigint, user_id: bigint}}
queries:
  - INSERT INTO events SELECT order_id, user_id FROM orders
)");
  const Outcome compare = Weir("compare job.yaml --variants regular-memory,delta");
  EXPECT_EQ(compare.exit_code, 0) << compare.err;
  EXPECT_THAT(compare.err, HasSubstr("job log writes tables alone: only what that costs is compared"));
  EXPECT_THAT(compare.out, HasSubstr("no results were compared, only costs"));
  // Its sources are read again for each variant, as those of sinks are.
  std::string text = Read("job.yaml");
  text.replace(text.find("{connector: generator, kind: orders, rows: 2000}"), 48,
               "{connector: memory, columns: {order_id: bigint, user_id: bigint}}");
  Write("job.yaml", text);
  EXPECT_EQ(Weir("compare job.yaml").exit_code, 2);
}

TEST_F(CompareVerbTest, RefusesWhatCannotBeCompared) {
  WriteJob("job.yaml", "pairs");
  const Outcome variant = Weir("compare job.yaml --variants regular");
  EXPECT_EQ(variant.exit_code, 2);
  EXPECT_THAT(variant.err, StartsWith("there is no variant 'regular'"));
  EXPECT_EQ(Weir("compare job.yaml job.yaml").err, "both jobs have the name pairs; a comparison shows them by name\n");
  EXPECT_EQ(Weir("compare job.yaml --sweep users").exit_code, 2);
  EXPECT_EQ(Weir("compare nowhere.yaml").err, "nowhere.yaml: cannot read the job file\n");
  EXPECT_EQ(Weir("compare job.yaml --json no/such/folder.json").exit_code, 2);
  Write("endless.yaml", R"(sources:
  t: {connector: kafka, brokers: "127.0.0.1:1", topic: t, columns: {k: string}}
  u: {connector: memory, columns: {k: string}}
sinks:
  out: {connector: print}
queries:
  - INSERT INTO out SELECT k FROM t UNION ALL SELECT k FROM u
)");
  const Outcome endless = Weir("compare endless.yaml --variants regular-memory");
  EXPECT_EQ(endless.exit_code, 2);
  EXPECT_EQ(
      endless.err,
      "endless.yaml:2:3: source t reads its topic for ever; a comparison needs an end: write end: latest, or --set "
      "sources.t.end=latest\n"
      "endless.yaml:3:3: source u is in memory and holds no rows; a comparison needs a source that it can read "
      "several times: kafka, file or generator\n");
}

TEST_F(CompareVerbTest, AVariantThatFailsIsExitOneWithItsWords) {
  WriteJob("job.yaml", "pairs", "1 / (a.order_id - 5) < 2");
  const Outcome compare = Weir("compare job.yaml --variants regular-memory");
  EXPECT_EQ(compare.exit_code, 1);
  EXPECT_THAT(compare.err, HasSubstr("regular-memory failed with exit 1:\n"));
  EXPECT_THAT(compare.err, HasSubstr("division by zero"));
  EXPECT_TRUE(TemporaryFolderIsEmpty());
}

}  // namespace
}  // namespace weir
