// Aggregates in two phases in whole queries: in batches of any size, with checkpoints, kills and restores at another
// parallelism, and changes of strategy between them, the result is that of one task.
#include <gtest/gtest.h>

#include <random>

#include "jobs/planned_job.h"
#include "jobs/run/running_job.h"
#include "jobs/wire/wire.h"
#include "tests/engine/test_job.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

constexpr int kRows = 600;

std::string JobText(const std::string& query) {
  return R"yaml(name: phases
options: {checkpoint: {on_rows: 5}}
sources:
  s: {connector: memory, partitions: 4, event_time: {column: ts, watermark: 60s},
      columns: {id: bigint, k: bigint, v: bigint, t: string, f: boolean, ts: timestamp(3)}}
sinks: {o: {connector: memory}}
queries: ["INSERT INTO o )yaml" +
         query + "\"]\n";
}

class Job {
 public:
  explicit Job(std::string query) : query_(std::move(query)) {}
  ~Job() {
    if (running_) running_->Crash();
  }

  // From the newest checkpoint; what ran before is killed.
  void Start(int parallelism, const std::string& strategy, const std::string& latency = "0s") {
    if (running_) running_->Crash();
    running_.reset();
    JobFileOptions options;
    options.overrides = {"options.parallelism=" + std::to_string(parallelism), "options.agg_phase_strategy=" + strategy,
                         "options.mini_batch.allow_latency=" + latency};
    auto planned = PlanJobText("job", JobText(query_), options, InputCheck::kNone);
    ASSERT_TRUE(planned) << planned.error().front().ToString();
    job_ = std::make_unique<PlannedJob>(std::move(*planned));
    if (!feed_) feed_ = std::make_shared<MemoryFeed>(job_->file.sources[0].MakeSchema(), job_->file.sources[0].partitions);
    if (!result_) result_ = std::make_shared<MemoryResult>();
    JobOptions job_options = MakeJobOptions(job_->file, folder_.path());
    job_options.check_operators = true;
    running_ = std::make_unique<RunningJob>(*job_, WireOptions{{{"s", feed_}}, {{"o", result_}}}, std::move(job_options));
    const Status started = running_->Start();
    ASSERT_TRUE(started) << started.error().ToString();
  }

  void Push(int from, int to, int batch) {
    const auto schema = std::make_shared<Schema>(feed_->schema());
    for (int begin = from; begin < to; begin += batch) {
      BatchBuilder builder(schema);
      for (int i = begin; i < std::min(begin + batch, to); ++i) AppendRow(i, builder);
      feed_->Push(builder.Build(), begin / batch % 4);
    }
  }
  void Rest() {
    const Status idle = running_->WaitUntilIdle();
    ASSERT_TRUE(idle) << idle.error().ToString();
  }
  void Checkpoint() { ASSERT_TRUE(running_->Checkpoint()); }

  std::vector<std::string> Finish() {
    feed_->End();
    const Result<JobEnd> end = running_->Wait();
    if (!end) return {end.error().ToString()};
    const auto collapsed = result_->Collapsed();
    return collapsed ? *collapsed : std::vector<std::string>{collapsed.error().ToString()};
  }

 private:
  static void AppendRow(int i, BatchBuilder& builder) {
    std::mt19937_64 random(static_cast<uint64_t>(i) + 7);
    const auto below = [&](uint64_t limit) { return static_cast<int64_t>(random() % limit); };
    builder.column(0).AppendInt(below(40));
    below(9) == 0 ? builder.column(1).AppendNull() : builder.column(1).AppendInt(below(5));
    below(9) == 0 ? builder.column(2).AppendNull() : builder.column(2).AppendInt(below(30) - 10);
    below(9) == 0 ? builder.column(3).AppendNull() : builder.column(3).AppendText("t" + std::to_string(below(12)));
    below(9) == 0 ? builder.column(4).AppendNull() : builder.column(4).AppendBool(below(2) == 0);
    builder.column(5).AppendInt((i / 10 + below(20)) * 1'000'000);
    builder.FinishRow(RowKind::kInsert);
  }

  const std::string query_;
  const testing::TemporaryFolder folder_{testing::TemporaryFolder::Place::kMemory};
  std::shared_ptr<MemoryFeed> feed_;
  std::shared_ptr<MemoryResult> result_;
  std::unique_ptr<PlannedJob> job_;
  std::unique_ptr<RunningJob> running_;
};

const char* const kQueries[] = {
    "SELECT k, count(*) AS n, count(*) FILTER (WHERE f) AS nf, sum(v) AS s, avg(v) AS a, min(v) AS lo, max(t) AS hi, "
    "count(DISTINCT v) AS d, count(DISTINCT t) FILTER (WHERE f) AS dt FROM s GROUP BY k",
    "SELECT count(*) AS n, sum(v) AS s, min(t) AS lo, count(DISTINCT id) AS d FROM s",
    "SELECT DISTINCT k, f FROM s",
    // Rows of the inner aggregate change: counts, sums and values are taken back.
    "SELECT k, count(*) AS n, sum(n) AS s, min(v) AS lo, max(v) AS hi, max(t) AS ht, count(DISTINCT v) AS d FROM (SELECT id, "
    "max(k) AS k, count(*) AS n, max(v) AS v, max(t) AS t FROM s GROUP BY id) AS x GROUP BY k",
    "SELECT n, count(*) AS c, avg(v) AS a FROM (SELECT k, t, count(*) AS n, sum(v) AS v FROM s GROUP BY k, t) AS x GROUP BY n",
    "SELECT k, window_start, count(*) AS n, sum(v) AS s, count(DISTINCT v) AS d FROM TUMBLE(s, ts, INTERVAL '10' SECOND) GROUP "
    "BY k, window_start, window_end",
    "SELECT k, window_end, count(*) AS n, max(t) AS hi FROM HOP(s, ts, INTERVAL '5' SECOND, INTERVAL '15' SECOND) WHERE f GROUP "
    "BY k, window_start, window_end",
    "SELECT window_end, min(v) AS lo, count(DISTINCT id) AS d FROM CUMULATE(s, ts, INTERVAL '5' SECOND, INTERVAL '20' SECOND) "
    "GROUP BY window_start, window_end",
    "SELECT k, t, count(*) AS n, sum(v) AS s FROM s GROUP BY ROLLUP (k, t)",
};

class TwoPhaseQueryTest : public ::testing::TestWithParam<const char*> {};

std::vector<std::string> InOneTask(const std::string& query) {
  Job job(query);
  job.Start(1, "one_phase");
  job.Push(0, kRows, 7);
  return job.Finish();
}

TEST_P(TwoPhaseQueryTest, BatchesOfAnySize) {
  const std::vector<std::string> expected = InOneTask(GetParam());
  EXPECT_GT(expected.size(), 0u);
  for (const int batch : {1, 7, 4096}) {
    Job job(GetParam());
    ASSERT_NO_FATAL_FAILURE(job.Start(batch == 7 ? 3 : 2, "two_phase"));
    job.Push(0, kRows, batch);
    EXPECT_EQ(job.Finish(), expected) << batch;
  }
}

TEST_P(TwoPhaseQueryTest, KilledAndRestoredAtAnotherParallelism) {
  const std::vector<std::string> expected = InOneTask(GetParam());
  Job job(GetParam());
  ASSERT_NO_FATAL_FAILURE(job.Start(2, "two_phase", "1h"));
  int done = 0;
  const std::vector<std::pair<int, const char*>> restarts = {{4, "two_phase"}, {1, "two_phase"}, {2, "one_phase"}, {3, "two_phase"}};
  for (const auto& [parallelism, strategy] : restarts) {
    job.Push(done, done + 100, 7);
    done += 100;
    ASSERT_NO_FATAL_FAILURE(job.Rest());
    ASSERT_NO_FATAL_FAILURE(job.Checkpoint());
    job.Push(done, done + 20, 7);
    done += 20;
    ASSERT_NO_FATAL_FAILURE(job.Start(parallelism, strategy, done % 240 == 0 ? "1h" : "0s"));
  }
  job.Push(done, kRows, 7);
  EXPECT_EQ(job.Finish(), expected);
}

INSTANTIATE_TEST_SUITE_P(Queries, TwoPhaseQueryTest, ::testing::ValuesIn(kQueries));

}  // namespace
}  // namespace weir
