// Late rows in a sink of their own: the very rows that are counted as late, whatever the parallelism and the restarts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "jobs/embed.h"
#include "tests/operators/window_model.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using testing::WindowRow;

constexpr Micros kSecond = 1'000'000;
constexpr Micros kBound = 5 * kSecond;

const char* const kSums = "SELECT k, window_end, sum(v) AS total FROM ";

std::string JobText(const std::string& function, const std::string& options, const std::string& sinks, int partitions,
                    const std::string& query_options = "") {
  return "name: late\noptions: {" + options +
         "}\nsources:\n  s: {connector: memory, partitions: " + std::to_string(partitions) +
         ", columns: {k: bigint, ts: timestamp(3), v: bigint, t: string},\n"
         "      event_time: {column: ts, watermark: 5s, emit: every_row}}\nsinks:\n  " +
         sinks + "\nqueries:\n  - {sql: \"INSERT INTO o " + kSums + function +
         " WHERE v > 1 GROUP BY k, window_start, window_end\", late: l" + query_options + "}\n";
}

const char* const kMemorySinks = "o: {connector: memory}\n  l: {connector: memory}";

std::unique_ptr<EmbeddedJob> MakeJob(const std::string& text, const std::string& folder) {
  auto job = EmbeddedJob::Create(text, {.state_dir = folder, .overrides = {}, .check_operators = true});
  EXPECT_TRUE(job) << job.error().ToString();
  EXPECT_TRUE((*job)->Start());
  return std::move(*job);
}

// Of three rows one is some twenty seconds back.
std::vector<WindowRow> RandomRows(std::mt19937_64& random, int count) {
  std::vector<WindowRow> rows;
  for (int i = 0; i < count; ++i) {
    WindowRow row;
    row.key = static_cast<int64_t>(random() % 4);
    row.time = (100 + i - static_cast<int64_t>(random() % 3 == 0 ? random() % 25 : 0)) * kSecond;
    row.value = static_cast<int64_t>(random() % 7);
    row.counts = row.value > 1;
    rows.push_back(row);
  }
  return rows;
}

void Push(MemoryFeed& feed, const std::vector<WindowRow>& rows, size_t from, size_t to, int partitions) {
  const auto schema = std::make_shared<Schema>(feed.schema());
  for (size_t i = from; i < to; ++i) {
    BatchBuilder builder(schema);
    builder.column(0).AppendInt(rows[i].key);
    builder.column(1).AppendInt(*rows[i].time);
    builder.column(2).AppendInt(rows[i].value);
    builder.column(3).AppendText("t" + std::to_string(i));
    builder.FinishRow(RowKind::kInsert);
    feed.Push(builder.Build(), static_cast<int>(i) % partitions);
  }
}

std::string Text(const WindowRow& row, size_t number) {
  const Micros seconds = *row.time / kSecond;
  return fmt::format("{} 1970-01-01T00:{:02}:{:02}.000 {} 't{}'", row.key, seconds / 60, seconds % 60, row.value,
                     number);
}

// The late rows of one partition, which come in its order.
std::vector<std::string> LateRowsOf(const WindowGrouping& grouping, const std::vector<WindowRow>& rows) {
  testing::WindowModel model(grouping);
  std::vector<std::string> late;
  Micros largest = kMinMicros;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t before = model.late();
    model.Take(rows[i], false);
    if (model.late() > before) late.push_back(Text(rows[i], i));
    largest = std::max(largest, *rows[i].time);
    model.Advance(largest - kBound);
  }
  std::sort(late.begin(), late.end());
  return late;
}

// With a crash behind a checkpoint where there is a folder.
std::vector<std::string> RunJob(const std::string& text, const std::vector<WindowRow>& rows, bool crashes) {
  const testing::TemporaryFolder folder;
  const auto job = MakeJob(text, crashes ? folder.path() : "");
  // The task without a partition has said that it is idle before rows come; behind a restart they may come first, and
  // then fewer are late, so that crashes are of one task.
  EXPECT_TRUE(job->WaitUntilIdle());
  MemoryFeed& feed = job->feed("s");
  const size_t half = rows.size() / 2;
  Push(feed, rows, 0, half, 1);
  if (crashes) {
    EXPECT_TRUE(job->WaitUntilIdle());
    EXPECT_TRUE(job->Checkpoint());
    Push(feed, rows, half, half + half / 2, 1);
    EXPECT_TRUE(job->WaitUntilIdle());
    job->Crash();
    EXPECT_TRUE(job->Start());
    Push(feed, rows, half + half / 2, rows.size(), 1);
  } else {
    Push(feed, rows, half, rows.size(), 1);
  }
  EXPECT_TRUE(job->Finish());
  auto late = job->result("l").Collapsed();
  EXPECT_TRUE(late);
  EXPECT_EQ(job->Figures().late_rows, static_cast<int64_t>(late->size()));
  return *late;
}

struct Function {
  WindowSpec spec;
  std::string text;
};

const std::vector<Function> kFunctions = {
    {{WindowFunction::kTumble, 10 * kSecond, 10 * kSecond}, "TUMBLE(s, ts, INTERVAL '10' SECOND)"},
    {{WindowFunction::kHop, 15 * kSecond, 5 * kSecond}, "HOP(s, ts, INTERVAL '5' SECOND, INTERVAL '15' SECOND)"},
    {{WindowFunction::kCumulate, 15 * kSecond, 5 * kSecond},
     "CUMULATE(s, ts, INTERVAL '5' SECOND, INTERVAL '15' SECOND)"},
    {{WindowFunction::kSession, 3 * kSecond, 3 * kSecond}, "SESSION(s, ts, INTERVAL '3' SECOND, k)"}};

TEST(LateRows, AreTheRowsThatAreCounted) {
  std::mt19937_64 random(1);
  for (const Function& function : kFunctions) {
    for (const Micros lateness : {Micros{0}, 4 * kSecond}) {
      SCOPED_TRACE(function.text + " lateness " + std::to_string(lateness));
      const std::vector<WindowRow> rows = RandomRows(random, 200);
      WindowGrouping grouping;
      grouping.spec = function.spec;
      grouping.lateness = lateness;
      const std::vector<std::string> expected = LateRowsOf(grouping, rows);
      ASSERT_GE(expected.size(), 5u);
      const std::string more = lateness == 0 ? "" : ", allowed_lateness: 4s";
      const auto text = [&](const std::string& options) {
        return JobText(function.text, options, kMemorySinks, 1, more);
      };
      EXPECT_EQ(RunJob(text("parallelism: 1"), rows, false), expected);
      EXPECT_EQ(RunJob(text("parallelism: 3, checkpoint: {on_rows: 5}"), rows, false), expected);
      EXPECT_EQ(RunJob(text("parallelism: 1, state: rocksdb, checkpoint: {on_rows: 5}"), rows, true), expected);
    }
  }
}

// Which rows are late depends on which partition is ahead; every row is counted in its window or late.
TEST(LateRows, NoRowIsLostBetweenTheTwoOutputs) {
  std::mt19937_64 random(2);
  const std::vector<WindowRow> rows = RandomRows(random, 1000);
  const auto job = MakeJob(
      "name: late\noptions: {parallelism: 3}\nsources:\n  s: {connector: memory, partitions: 4, columns: "
      "{k: bigint, ts: timestamp(3), v: bigint, t: string},\n"
      "      event_time: {column: ts, watermark: 5s, emit: every_row}}\nsinks:\n  " +
          std::string(kMemorySinks) +
          "\nqueries:\n  - sql: INSERT INTO o SELECT k, window_end, string_agg(t, ' ') AS texts FROM TUMBLE(s, "
          "ts, INTERVAL '2' SECOND) GROUP BY k, window_start, window_end\n    late: l\n",
      "");
  Push(job->feed("s"), rows, 0, rows.size(), 4);
  ASSERT_TRUE(job->Finish());
  std::multiset<std::string> texts;
  for (const Batch& batch : job->result("o").Batches()) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      std::string all(batch.column(2).text(row));
      for (size_t at = 0; at < all.size();) {
        const size_t end = std::min(all.find(' ', at), all.size());
        texts.insert(all.substr(at, end - at));
        at = end + 1;
      }
    }
  }
  const size_t counted = texts.size();
  for (const Batch& batch : job->result("l").Batches()) {
    for (size_t row = 0; row < batch.rows(); ++row) texts.insert(std::string(batch.column(3).text(row)));
  }
  EXPECT_EQ(texts.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(texts.count("t" + std::to_string(i)), 1u) << i;
  EXPECT_EQ(job->Figures().late_rows, static_cast<int64_t>(rows.size() - counted));
  EXPECT_LT(counted, rows.size());
}

std::vector<std::string> LinesOf(const std::string& folder) {
  std::vector<std::string> lines;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream part(entry.path());
    for (std::string line; std::getline(part, line);) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Parts of a file sink are published with the checkpoint, as those of any sink.
TEST(LateRows, AFileSinkGetsEachOnce) {
  std::mt19937_64 random(3);
  const std::vector<WindowRow> rows = RandomRows(random, 200);
  const auto run = [&](bool crashes, int parallelism) {
    const testing::TemporaryFolder folder;
    const std::string options = "parallelism: " + std::to_string(parallelism);
    const std::string sinks =
        "o: {connector: memory}\n  l: {connector: file, format: json, path: \"" + (folder / "out") + "\"}";
    const auto job = MakeJob(JobText(kFunctions[0].text, options, sinks, 1), folder / "state");
    MemoryFeed& feed = job->feed("s");
    for (size_t from = 0; from < rows.size(); from += 20) {
      Push(feed, rows, from, from + 20, 1);
      if (!crashes) continue;
      EXPECT_TRUE(job->WaitUntilIdle());
      if (from % 60 == 0) {
        EXPECT_TRUE(job->Checkpoint());
      }
      if (from % 80 != 40) continue;
      job->Crash();
      EXPECT_TRUE(job->Start());
    }
    EXPECT_TRUE(job->Finish());
    std::vector<std::string> lines = LinesOf(folder / "out");
    EXPECT_EQ(job->Figures().late_rows, static_cast<int64_t>(lines.size()));
    return lines;
  };
  const std::vector<std::string> lines = run(false, 1);
  EXPECT_GT(lines.size(), 5u);
  EXPECT_EQ(run(true, 1), lines);
  // Behind a restart rows may come before the task without a partition is idle, and then fewer are late.
  const std::vector<std::string> of_two = run(true, 2);
  EXPECT_EQ(std::adjacent_find(of_two.begin(), of_two.end()), of_two.end()) << "a row came twice";
  EXPECT_TRUE(std::ranges::includes(lines, of_two));
}

// Two queries over one grouping share it, and its late rows come once.
TEST(LateRows, OfASharedGroupingComeOnce) {
  const std::string counts =
      "(SELECT k, window_start, window_end, count(*) AS n FROM TUMBLE(s, ts, INTERVAL '10' SECOND) "
      "GROUP BY k, window_start, window_end) AS c";
  const auto job = MakeJob(
      "name: late\noptions: {parallelism: 2}\nsources:\n  s: {connector: memory, columns: {k: bigint, ts: "
      "timestamp(3), v: bigint, t: string},\n"
      "      event_time: {column: ts, watermark: 5s, emit: every_row}}\nsinks:\n  p: {connector: memory}\n  " +
          std::string(kMemorySinks) + "\nqueries:\n  - {sql: \"INSERT INTO o SELECT k, n FROM " + counts +
          "\", late: l}\n  - {sql: \"INSERT INTO p SELECT window_end, max(n) AS most FROM " + counts +
          " GROUP BY window_start, window_end\", late: l}\n",
      "");
  std::vector<WindowRow> rows;
  for (const int64_t second : {1, 30, 2, 31, 60}) rows.push_back({1, second * kSecond, 3, true});
  Push(job->feed("s"), rows, 0, rows.size(), 1);
  ASSERT_TRUE(job->Finish());
  EXPECT_EQ(job->Figures().late_rows, 1);
  EXPECT_THAT(*job->result("l").Collapsed(), ElementsAre(Text(rows[2], 2)));
  EXPECT_EQ(job->result("p").Collapsed()->size(), 3u);
}

}  // namespace
}  // namespace weir
