// Whole queries with windows: late rows, restarts, other parallelism, windows over windows, and what is left of the state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "jobs/embed.h"
#include "tests/operators/window_model.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::ElementsAre;

constexpr Micros kSecond = 1'000'000;

std::string JobText(const std::string& query, const std::string& options) {
  return "name: windows\noptions: {" + options +
         "}\nsources:\n"
         "  s: {connector: memory, partitions: 2, columns: {k: bigint, ts: timestamp(3), v: bigint, t: string},\n"
         "      event_time: {column: ts, watermark: 20s, emit: every_row}}\n"
         "sinks:\n  o: {connector: memory}\nqueries:\n  - " +
         query + "\n";
}

std::unique_ptr<EmbeddedJob> MakeJob(const std::string& text, const std::string& folder) {
  auto job = EmbeddedJob::Create(text, {.state_dir = folder, .overrides = {}, .check_operators = true});
  EXPECT_TRUE(job) << job.error().ToString();
  EXPECT_TRUE((*job)->Start());
  return std::move(*job);
}

struct Input {
  std::vector<testing::WindowRow> rows;
  std::vector<int> partitions;
};

// Times go on, out of order by less than the watermark's 20 s, so that no row is late.
Input RandomInput(std::mt19937_64& random, int count) {
  Input input;
  for (int i = 0; i < count; ++i) {
    testing::WindowRow row;
    row.key = static_cast<int64_t>(random() % 5);
    row.time = (i + static_cast<int64_t>(random() % 15)) * kSecond;
    row.value = static_cast<int64_t>(random() % 7);
    input.rows.push_back(row);
    input.partitions.push_back(static_cast<int>(random() % 2));
  }
  return input;
}

void Push(MemoryFeed& feed, const Input& input, size_t from, size_t to) {
  const auto schema = std::make_shared<Schema>(feed.schema());
  for (size_t i = from; i < to; ++i) {
    BatchBuilder builder(schema);
    builder.column(0).AppendInt(input.rows[i].key);
    builder.column(1).AppendInt(*input.rows[i].time);
    builder.column(2).AppendInt(input.rows[i].value);
    builder.column(3).AppendText("t" + std::to_string(input.rows[i].value));
    builder.FinishRow(RowKind::kInsert);
    feed.Push(builder.Build(), input.partitions[i]);
  }
}

// With crashes where there is a folder.
std::vector<std::string> RunQuery(const std::string& query, const std::string& options, const Input& input, bool crashes) {
  const testing::TemporaryFolder folder;
  const auto job = MakeJob(JobText(query, options), folder.path());
  MemoryFeed& feed = job->feed("s");
  const size_t half = input.rows.size() / 2;
  Push(feed, input, 0, half);
  if (crashes) {
    EXPECT_TRUE(job->WaitUntilIdle());
    EXPECT_TRUE(job->Checkpoint());
    Push(feed, input, half, half + half / 2);
    EXPECT_TRUE(job->WaitUntilIdle());
    job->Crash();
    EXPECT_TRUE(job->Start());
    Push(feed, input, half + half / 2, input.rows.size());
  } else {
    Push(feed, input, half, input.rows.size());
  }
  EXPECT_TRUE(job->Finish());
  const JobFigures figures = job->Figures();
  EXPECT_EQ(figures.late_rows, 0);
  for (const OperatorFigures& op : figures.operators) {
    if (op.kind != "aggregate") continue;
    for (const StateSize& size : op.state) EXPECT_EQ(size.part == "watermark" ? 0 : size.rows, 0) << op.id << size.part;
  }
  auto collapsed = job->result("o").Collapsed();
  EXPECT_TRUE(collapsed);
  return *collapsed;
}

TEST(WindowQuery, GivesWhatListsOfRowsGiveWhateverHappens) {
  const uint64_t seed = 1;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const std::vector<std::pair<WindowSpec, std::string>> functions = {
      {{WindowFunction::kTumble, 10 * kSecond, 10 * kSecond}, "TUMBLE(s, ts, INTERVAL '10' SECOND)"},
      {{WindowFunction::kHop, 15 * kSecond, 5 * kSecond}, "HOP(s, ts, INTERVAL '5' SECOND, INTERVAL '15' SECOND)"},
      {{WindowFunction::kCumulate, 15 * kSecond, 5 * kSecond}, "CUMULATE(s, ts, INTERVAL '5' SECOND, INTERVAL '15' SECOND)"},
      {{WindowFunction::kSession, 3 * kSecond, 3 * kSecond}, "SESSION(s, ts, INTERVAL '3' SECOND, k)"}};
  for (const auto& [spec, function] : functions) {
    SCOPED_TRACE(function);
    const Input input = RandomInput(random, 150);
    WindowGrouping grouping;
    grouping.spec = spec;
    testing::WindowModel model(grouping);
    for (const testing::WindowRow& row : input.rows) model.Take(row, false);
    model.Advance(kMaxMicros);
    const std::string query = "INSERT INTO o SELECT k, CAST(EXTRACT(EPOCH FROM window_start) AS bigint) * 1000000 AS s, "
                              "CAST(EXTRACT(EPOCH FROM window_end) AS bigint) * 1000000 AS e, n, total, d, m FROM (SELECT k, "
                              "window_start, window_end, count(*) AS n, sum(v) AS total, count(DISTINCT v) AS d, min(t) AS m "
                              "FROM " + function + " GROUP BY k, window_start, window_end) AS x";
    std::vector<std::string> expected;
    for (std::string text : model.Results()) {
      const size_t last = text.rfind(' ');
      expected.push_back(text.substr(0, last + 1) + "'" + text.substr(last + 1) + "'");
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(RunQuery(query, "parallelism: 1", input, false), expected);
    EXPECT_EQ(RunQuery(query, "parallelism: 3, checkpoint: {on_rows: 5}", input, true), expected);
    EXPECT_EQ(RunQuery(query, "parallelism: 2, state: rocksdb", input, true), expected);
  }
}

// The busiest keys of each window: a count, its maximum, and a join of the two, as append-only results of windows.
TEST(WindowQuery, WindowsOverWindowsAreAppendOnly) {
  std::mt19937_64 random(7);
  const Input input = RandomInput(random, 200);
  const std::string counts = "(SELECT k, window_start, window_end, count(*) AS n FROM HOP(s, ts, INTERVAL '5' SECOND, INTERVAL "
                             "'10' SECOND) GROUP BY k, window_start, window_end)";
  const std::string query = "INSERT INTO o SELECT c.k, c.n, c.window_end FROM " + counts + " AS c JOIN (SELECT max(n) AS most, "
                            "window_start, window_end FROM " + counts + " AS x GROUP BY window_start, window_end) AS m ON "
                            "c.window_start = m.window_start AND c.window_end = m.window_end AND c.n >= m.most";
  const std::vector<std::string> expected = RunQuery(query, "parallelism: 1", input, false);
  EXPECT_GT(expected.size(), 20u);
  EXPECT_EQ(RunQuery(query, "parallelism: 2, checkpoint: {on_rows: 5}", input, true), expected);
}

TEST(WindowQuery, EarlyResultsEndAsTheWindowDoes) {
  std::mt19937_64 random(8);
  const Input input = RandomInput(random, 150);
  const std::string select = "INSERT INTO o SELECT k, window_end, count(*) AS n FROM TUMBLE(s, ts, INTERVAL '10' SECOND) GROUP "
                             "BY k, window_start, window_end";
  const std::vector<std::string> expected = RunQuery(select, "parallelism: 1", input, false);
  const std::string early = "{sql: \"" + select + "\", emit: {early: 10ms}}";
  EXPECT_EQ(RunQuery(early, "parallelism: 2, checkpoint: {on_rows: 5}", input, true), expected);
}

TEST(WindowQuery, OrderedListsReadTheirOwnColumns) {
  std::mt19937_64 random(9);
  const Input input = RandomInput(random, 150);
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> lists;
  for (const testing::WindowRow& row : input.rows) {
    lists[{row.key, *row.time / (10 * kSecond)}].push_back(row.value);
  }
  std::vector<std::string> expected;
  for (auto& [window, values] : lists) {
    std::sort(values.rbegin(), values.rend());
    std::string line = std::to_string(window.first) + " '";
    for (const int64_t value : values) line += (line.back() == '\'' ? "t" : ",t") + std::to_string(value);
    expected.push_back(line + "'");
  }
  std::sort(expected.begin(), expected.end());
  for (const char* window : {"TUMBLE(s, ts, INTERVAL '10' SECOND)", "CUMULATE(s, ts, INTERVAL '10' SECOND, INTERVAL '10' SECOND)"}) {
    const std::string query = std::string("INSERT INTO o SELECT k, l FROM (SELECT k, window_end, string_agg(t, ',' ORDER BY v DESC) "
                                          "AS l FROM ") + window + " GROUP BY k, window_end) AS x";
    EXPECT_EQ(RunQuery(query, "parallelism: 2, checkpoint: {on_rows: 5}", input, true), expected);
  }
}

// Files end at different times, and a join of windows waits for all of them.
TEST(WindowQuery, AFileThatEndsEndsNoWindowOfOthers) {
  constexpr int kIds = 5000;
  const testing::TemporaryFolder folder;
  for (const char* stream : {"a", "b"}) {
    std::vector<std::ofstream> parts;
    for (int part = 0; part < 4; ++part) parts.emplace_back(folder / (stream + std::to_string(part) + ".jsonl"));
    for (int id = 0; id < kIds; ++id) {
      parts[static_cast<size_t>(id % 4)] << "{\"id\": " << id << ", \"ts\": " << id * 100 << "}\n";
      if (*stream == 'b' && id > kIds / 2) break;
    }
  }
  const auto windowed = [](const std::string& stream) {
    return "(SELECT id, window_start, window_end FROM TUMBLE(" + stream +
           ", ts, INTERVAL '10' SECOND) GROUP BY id, window_start, window_end)";
  };
  for (const int parallelism : {1, 2, 4}) {
    SCOPED_TRACE("parallelism " + std::to_string(parallelism));
    std::string job = "name: files\noptions: {parallelism: " + std::to_string(parallelism) + "}\nsources:\n";
    for (const char* stream : {"a", "b"}) {
      job += std::string("  ") + stream + ": {connector: file, path: \"" + folder.path() + "/" + stream +
             "*.jsonl\", columns: {id: bigint, ts: timestamp(3)}, event_time: {column: ts, watermark: 1s}}\n";
    }
    job += "sinks: {o: {connector: memory}}\nqueries:\n  - INSERT INTO o SELECT a.id FROM " + windowed("a") +
           " AS a JOIN " + windowed("b") + " AS b ON a.id = b.id AND a.window_end = b.window_end\n";
    auto created = EmbeddedJob::Create(job, {.state_dir = {}, .overrides = {}, .check_operators = true});
    ASSERT_TRUE(created) << created.error().ToString();
    ASSERT_TRUE((*created)->Start());
    ASSERT_TRUE((*created)->Finish());
    EXPECT_EQ((*created)->result("o").Collapsed()->size(), size_t{kIds / 2 + 2});
  }
}

// A join on windows forgets the rows of a window when it has ended, but for some that wait to be taken out together.
TEST(WindowQuery, AJoinOnWindowsForgetsThem) {
  constexpr int kWindows = 4000;
  const std::string counts = "(SELECT window_end, count(*) AS n FROM TUMBLE(s, ts, INTERVAL '1' SECOND) GROUP BY window_start, "
                             "window_end)";
  const std::string sums = "(SELECT window_end, sum(v) AS n FROM TUMBLE(s, ts, INTERVAL '1' SECOND) GROUP BY window_start, "
                           "window_end)";
  for (const char* options : {"parallelism: 1", "parallelism: 1, state: rocksdb"}) {
    const auto job = MakeJob(JobText("INSERT INTO o SELECT a.window_end, a.n, b.n AS total FROM " + counts + " AS a JOIN " + sums +
                                         " AS b ON a.window_end = b.window_end",
                                     options),
                             "");
    Input input;
    for (int i = 0; i < kWindows; ++i) {
      input.rows.push_back({1, i * kSecond, 3, true});
      input.partitions.push_back(i % 2);
    }
    Push(job->feed("s"), input, 0, input.rows.size());
    ASSERT_TRUE(job->Finish());
    EXPECT_EQ(job->result("o").Collapsed()->size(), static_cast<size_t>(kWindows));
    bool joined = false;
    for (const OperatorFigures& op : job->Figures().operators) {
      if (op.kind != "join") continue;
      joined = true;
      for (const StateSize& size : op.state) EXPECT_LT(size.rows, 600) << options << " " << size.part;
    }
    EXPECT_TRUE(joined);
  }
}

// The watermark of an operator is state: a row that was late before a restart is late behind it.
TEST(WindowQuery, ARestartForgetsNoWatermark) {
  const testing::TemporaryFolder folder;
  const auto job = MakeJob(JobText("INSERT INTO o SELECT window_end, count(*) AS n FROM TUMBLE(s, ts, INTERVAL '10' SECOND) GROUP "
                                   "BY window_start, window_end",
                                   "parallelism: 2"),
                           folder.path());
  MemoryFeed& feed = job->feed("s");
  const auto push = [&](Micros time, int partition) {
    Push(feed, {{{1, time, 1, true}}, {partition}}, 0, 1);
    ASSERT_TRUE(job->WaitUntilIdle());
  };
  push(1 * kSecond, 0);
  push(40 * kSecond, 0);
  push(40 * kSecond, 1);
  ASSERT_TRUE(job->Checkpoint());
  job->Crash();
  ASSERT_TRUE(job->Start());
  push(2 * kSecond, 1);
  ASSERT_TRUE(job->Finish());
  EXPECT_EQ(job->Figures().late_rows, 1);
  EXPECT_THAT(*job->result("o").Collapsed(), ElementsAre("1970-01-01T00:00:10.000 1", "1970-01-01T00:00:50.000 2"));
}

}  // namespace
}  // namespace weir
