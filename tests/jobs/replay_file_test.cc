#include "jobs/replay/replay_file.h"

#include <gtest/gtest.h>

#include "tests/jobs/job_text.h"

namespace weir {
namespace {

constexpr const char* kJob = R"job(sources:
  a: {connector: memory, columns: {id: bigint, d: "decimal(20,2)", ts: timestamp(3), s: string}, primary_key: [id]}
  b: {connector: memory, columns: {f: double, on: boolean, raw: bytes, list: "array<int>", day: date}}
  m: {connector: memory, columns: {id: bigint}, partitions: 3}
queries: [q]
)job";

Result<ReplayFile> Parse(const std::string& text) {
  static const JobFile job = ReadSound(kJob);
  return ParseReplayFile("r.jsonl", text, job);
}

std::string ErrorOf(const std::string& text) {
  const auto replay = Parse(text);
  return replay ? "none" : replay.error().ToString();
}

TEST(ReplayFile, RowsAreTypedByTheirColumns) {
  const auto replay = Parse(R"(["a","+I",1,"3.5",1700000000123,"x"]
["a","+U",9007199254740993,12345678901234567.891,"2024-05-01T10:00:00",null]

["a","-D",1]
["b","+I","NaN",true,"aGk=",[1,null,3],"2024-02-29"]
)");
  ASSERT_TRUE(replay) << replay.error().ToString();
  EXPECT_EQ(replay->rows[0].ToString(),
            "+I 1 3.50 2023-11-14T22:13:20.123 'x'\n"
            "+U 9007199254740993 12345678901234567.89 2024-05-01T10:00:00.000 NULL\n"
            "-D 1 NULL NULL NULL\n");
  EXPECT_EQ(replay->rows[1].rows(), 1U);
  EXPECT_EQ(FormatValue(replay->rows[1].column(4), 0), "2024-02-29");
  ASSERT_EQ(replay->events.size(), 4U);
  EXPECT_EQ(replay->events[2].line, 4);
}

TEST(ReplayFile, ControlLinesAndPartitions) {
  const auto replay = Parse(R"(["m@5","+I",1]
["m@2","idle"]
["*","batch"]
["*","checkpoint"]
)");
  ASSERT_TRUE(replay) << replay.error().ToString();
  EXPECT_EQ(replay->partitions, (std::vector<int>{1, 1, 6}));
  EXPECT_EQ(replay->events[0].partition, 5);
  EXPECT_EQ(replay->events[1].kind, ReplayEvent::Kind::kIdle);
  EXPECT_EQ(replay->events[2].kind, ReplayEvent::Kind::kBatch);
  EXPECT_EQ(replay->events[3].kind, ReplayEvent::Kind::kCheckpoint);
}

TEST(ReplayFile, Messages) {
  const auto replay = Parse(R"({"topic":"m","partition":1,"offset":7,"value":"{\"id\":1}","key":"k","timestamp":12}
{"topic":"m","partition":1,"value":null}
{"topic":"m","value_b64":"AAE="}
)");
  ASSERT_TRUE(replay) << replay.error().ToString();
  ASSERT_EQ(replay->messages.size(), 3U);
  EXPECT_EQ(replay->messages[0].offset, 7);
  EXPECT_EQ(replay->messages[0].key, "k");
  EXPECT_EQ(replay->messages[0].timestamp_ms, 12);
  EXPECT_TRUE(replay->messages[1].tombstone);
  EXPECT_EQ(replay->messages[1].offset, 8);
  EXPECT_EQ(replay->messages[2].value, std::string("\0\1", 2));
  EXPECT_EQ(replay->messages[2].timestamp_ms, -1);
}

TEST(ReplayFile, ANullKeyIsLeftToTheSource) {
  const auto replay = Parse(R"(["a","+I",null,null,null,null])");
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->events[0].null_key, 0);
}

TEST(ReplayFile, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("[\"m\",\"+I\",1]\n[\"x\",\"+I\",1]\n"), "r.jsonl:2: the job has no source x");
  EXPECT_EQ(ErrorOf("[\"m\",\"+I\",\"1\"]\n"), "r.jsonl:1: column id: '1' is not a bigint");
  EXPECT_EQ(ErrorOf("[\"m\",\"+I\",1.5]\n"), "r.jsonl:1: column id: '1.5' is not a bigint");
  EXPECT_EQ(ErrorOf("[\"m\",\"+I\"]\n"), "r.jsonl:1: source m has 1 columns, the row has 0 values");
  EXPECT_EQ(ErrorOf("[\"m\",\"+X\",1]\n"), "r.jsonl:1: '+X' is no row kind; they are +I, -U, +U and -D");
  EXPECT_EQ(ErrorOf("[\"m\",\"-D\",1]\n"), "r.jsonl:1: source m has changelog: append, which takes +I only");
  EXPECT_EQ(ErrorOf("[\"m@x\",\"+I\",1]\n"), "r.jsonl:1: 'x' is no partition");
  EXPECT_EQ(ErrorOf("[\"*\",\"stop\"]\n"), "r.jsonl:1: there is no [\"*\", \"stop\"]");
  EXPECT_EQ(ErrorOf("{\"topic\":\"m\",\"valeu\":\"x\"}\n"), "r.jsonl:1: a message has no valeu; did you mean value?");
  EXPECT_EQ(ErrorOf("{\"topic\":\"m\",\"key\":\"k\"}\n"),
            "r.jsonl:1: a message needs a value; \"value\": null is a tombstone");
  EXPECT_EQ(ErrorOf("[\"m\",\n").substr(0, 20), "r.jsonl:1: not JSON ");
}

}  // namespace
}  // namespace weir
