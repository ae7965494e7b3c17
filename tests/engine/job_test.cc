#include "engine/runtime/job.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <set>

#include "engine/checkpoint/manifest_file.h"
#include "tests/engine/test_job.h"

namespace weir {
namespace {

using testing::CountGraph;
using testing::NumberOptions;
using testing::Published;
using testing::TemporaryFolder;

JobOptions Options(const std::string& state_dir = {}) {
  JobOptions options;
  options.name = "count";
  options.state_dir = state_dir;
  options.check_operators = true;
  options.threads = 2;
  return options;
}

std::unique_ptr<Job> Create(JobGraph graph, JobOptions options) {
  auto job = Job::Create(std::move(graph), std::move(options));
  EXPECT_TRUE(job) << (job ? "" : job.error().ToString());
  return std::move(*job);
}

JobEnd RunToEnd(Job& job) {
  const Status started = job.Start();
  EXPECT_TRUE(started) << (started ? "" : started.error().ToString());
  const auto end = job.Wait();
  EXPECT_TRUE(end) << (end ? "" : end.error().ToString());
  return end ? *end : JobEnd::kStopped;
}

void ExpectCounts(const Published& published, const NumberOptions& numbers) {
  const int64_t total = numbers.rows * numbers.partitions;
  ASSERT_EQ(published.counts.size(), static_cast<size_t>(std::min(numbers.keys, total)));
  for (const auto& [key, count] : published.counts) {
    EXPECT_EQ(count, total / numbers.keys + (key < total % numbers.keys ? 1 : 0)) << "key " << key;
  }
}

TEST(JobTest, CountsEveryRowAtAnyParallelism) {
  for (const int tasks : {1, 2, 4}) {
    auto published = std::make_shared<Published>();
    const NumberOptions numbers{.partitions = 3, .rows = 5000, .keys = 97, .batch = 100, .allowed = nullptr};
    auto job = Create(CountGraph(numbers, tasks, tasks, published), Options());
    EXPECT_EQ(RunToEnd(*job), JobEnd::kFinished);
    ExpectCounts(*published, numbers);
    const JobFigures figures = job->Figures();
    EXPECT_EQ(figures.records_in, 15000);
    EXPECT_EQ(figures.checkpoints.size(), 1u) << "the last one, without a state dir";
  }
}

// Two sources that have rows at once and wake their task when they are opened, as a Kafka consumer does.  The second
// gives the first the time to be polled too early.
struct EarlyPoll {
  std::mutex mutex;
  std::condition_variable changed;
  bool polled = false;
};

class EagerSource final : public Source {
 public:
  EagerSource(const NumberOptions& numbers, std::shared_ptr<EarlyPoll> early)
      : numbers_(numbers), early_(std::move(early)) {}
  Status Open(const SourceContext& context, const Positions& restored) override {
    WEIR_TRY(numbers_.Open(context, restored));
    context.wake();
    if (context.task == 0) return {};
    std::unique_lock lock(early_->mutex);
    early_->changed.wait_for(lock, std::chrono::milliseconds(300), [this] { return early_->polled; });
    EXPECT_FALSE(early_->polled) << "a source was polled while another was being opened";
    return {};
  }
  Result<SourceState> Poll(SourceOutput& out) override {
    {
      const std::lock_guard lock(early_->mutex);
      early_->polled = true;
    }
    early_->changed.notify_all();
    return numbers_.Poll(out);
  }
  Positions CurrentPositions() const override { return numbers_.CurrentPositions(); }
  std::vector<std::string> Partitions() const override { return numbers_.Partitions(); }
  std::string Describe(const RowPosition& position) const override { return numbers_.Describe(position); }

 private:
  testing::NumberSource numbers_;
  const std::shared_ptr<EarlyPoll> early_;
};

// Rows read before the first checkpoint has the start positions would be lost by a crash before the second.
TEST(JobTest, NothingIsReadBeforeTheStartPositionsAreKept) {
  const TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  const NumberOptions numbers{.partitions = 2, .rows = 5000, .keys = 97, .batch = 100, .allowed = nullptr};
  JobGraph graph = CountGraph(numbers, 2, 2, published);
  auto early = std::make_shared<EarlyPoll>();
  graph.stages[0].source->make = [numbers, early](int, int) -> Result<std::unique_ptr<Source>> {
    return std::unique_ptr<Source>(std::make_unique<EagerSource>(numbers, early));
  };
  auto job = Create(std::move(graph), Options(folder / "state"));
  EXPECT_EQ(RunToEnd(*job), JobEnd::kFinished);
  ExpectCounts(*published, numbers);
}

TEST(JobTest, FiguresMayBeReadWhileItStarts) {
  const TemporaryFolder folder;
  const NumberOptions numbers{.partitions = 4, .rows = 1000, .keys = 13, .batch = 7, .allowed = nullptr};
  for (int round = 0; round < 20; ++round) {
    auto job = Create(CountGraph(numbers, 4, 4, std::make_shared<Published>()), Options(folder / std::to_string(round)));
    std::atomic<bool> ended{false};
    std::thread reader([&] {
      while (!ended) EXPECT_LE(job->Figures().records_in, 4000);
    });
    EXPECT_EQ(RunToEnd(*job), JobEnd::kFinished);
    ended = true;
    reader.join();
  }
}

TEST(JobTest, CheckpointsOnRowsKeepTheResultAndRetainAFew) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  const NumberOptions numbers{.partitions = 4, .rows = 700, .keys = 13, .batch = 7, .allowed = nullptr};
  JobOptions options = Options(folder / "state");
  options.checkpoint_rows = 50;
  auto job = Create(CountGraph(numbers, 2, 3, published), options);
  EXPECT_EQ(RunToEnd(*job), JobEnd::kFinished);
  ExpectCounts(*published, numbers);
  EXPECT_EQ(ListCheckpoints(folder / "state").size(), 2u);
  const JobFigures figures = job->Figures();
  ASSERT_GE(figures.checkpoints.size(), 2u);
  EXPECT_GT(figures.checkpoints.back().operator_state_bytes, 0) << "the last one holds the whole state";
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "state")) names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"lock", "uuid", "epochs", "checkpoints"}));
}

// A trigger that waits behind the last checkpoint would leave an unfinished folder.
TEST(JobTest, NothingFollowsTheLastCheckpoint) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    TemporaryFolder folder;
    auto published = std::make_shared<Published>();
    JobOptions options = Options(folder / "state");
    options.checkpoint_rows = 1;
    options.checkpoint_interval = 1;
    const NumberOptions numbers{.partitions = 2, .rows = 40, .keys = 3, .batch = 1, .allowed = nullptr};
    auto job = Create(CountGraph(numbers, 2, 2, published), options);
    EXPECT_EQ(RunToEnd(*job), JobEnd::kFinished);
    size_t folders = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "state/checkpoints")) {
      EXPECT_TRUE(std::filesystem::exists(entry.path() / "complete.json")) << entry.path();
      ++folders;
    }
    EXPECT_LE(folders, 2u);
  }
}

TEST(JobTest, AFinishedJobSaysSoWhenRunAgain) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  const NumberOptions numbers{.partitions = 1, .rows = 10, .keys = 3, .batch = 16, .allowed = nullptr};
  EXPECT_EQ(RunToEnd(*Create(CountGraph(numbers, 1, 1, published), Options(folder / "s"))), JobEnd::kFinished);
  EXPECT_EQ(RunToEnd(*Create(CountGraph(numbers, 1, 1, published), Options(folder / "s"))), JobEnd::kAlreadyFinished);
}

// Feeds some rows, takes a checkpoint, feeds more, crashes, and restores with other parallelism, many times.
TEST(JobTest, RestoresAtAnotherParallelismAfterACrash) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  NumberOptions numbers{.partitions = 3, .rows = 1000, .keys = 29, .batch = 10,
                        .allowed = std::make_shared<std::atomic<int64_t>>(0)};
  const int tasks[] = {1, 3, 2, 4, 1, 2};
  for (int attempt = 0; attempt < 6; ++attempt) {
    auto job = Create(CountGraph(numbers, tasks[attempt], tasks[5 - attempt], published), Options(folder / "state"));
    ASSERT_TRUE(job->Start());
    *numbers.allowed += 100;
    ASSERT_TRUE(job->WaitUntilIdle());
    const auto taken = job->Checkpoint();
    ASSERT_TRUE(taken) << taken.error().ToString();
    *numbers.allowed += 50;  // read or not, not in any checkpoint
    job->Abort();
  }
  *numbers.allowed = numbers.rows;
  auto job = Create(CountGraph(numbers, 2, 2, published), Options(folder / "state"));
  EXPECT_EQ(RunToEnd(*job), JobEnd::kFinished);
  ExpectCounts(*published, numbers);
  EXPECT_EQ(job->Figures().records_in, 3000) << "counters are totals over restarts, each row once";
  std::set<Epoch> epochs(published->epochs.begin(), published->epochs.end());
  EXPECT_GE(*epochs.rbegin(), 6001u) << "every process takes epoch numbers from a block of its own";
}

// A store that is full while the job is being restored, and then has room.
class HastyStore final : public Store {
 public:
  Status Open(const std::string&, const Manifest*, Scheduler&, Hooks hooks) override {
    hooks_ = std::move(hooks);
    hooks_.checkpoint();
    return {};
  }
  Result<StateBytes> Prepare(Epoch) override { return StateBytes{}; }
  Status OnComplete(const Manifest&, Epoch) override {
    if (!std::exchange(asked_, true)) {
      hooks_.checkpoint();
      hooks_.room();
    }
    return {};
  }
  Status Tidy(const std::string&, Epoch) override { return {}; }
  bool full() const override { return false; }
  std::vector<TableFigures> Figures() const override { return {}; }
  void Close() override {}

 private:
  Hooks hooks_;
  bool asked_ = false;
};

TEST(JobTest, NoTaskRunsForAStoreThatAsksBeforeTheStart) {
  TemporaryFolder folder;
  NumberOptions numbers{.partitions = 2, .rows = 1000, .keys = 7, .batch = 100, .allowed = nullptr};
  numbers.allowed = std::make_shared<std::atomic<int64_t>>(500);
  auto published = std::make_shared<Published>();
  for (const bool last : {false, true}) {
    if (last) *numbers.allowed = 1000;
    JobGraph graph = CountGraph(numbers, 2, 2, published);
    graph.store = std::make_shared<HastyStore>();
    auto job = Create(std::move(graph), Options(folder / "state"));
    if (last) {
      EXPECT_EQ(RunToEnd(*job), JobEnd::kFinished);
      continue;
    }
    ASSERT_TRUE(job->Start());
    ASSERT_TRUE(job->WaitUntilIdle());
    ASSERT_TRUE(job->Checkpoint());
    job->Abort();
  }
  ExpectCounts(*published, numbers);
}

// The process died after the last manifest was durable and before anything was published.
TEST(JobTest, APreparedLastCheckpointIsCompletedByTheNextRun) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  const NumberOptions numbers{.partitions = 1, .rows = 10, .keys = 3, .batch = 16, .allowed = nullptr};
  EXPECT_EQ(RunToEnd(*Create(CountGraph(numbers, 1, 1, published), Options(folder / "s"))), JobEnd::kFinished);
  const std::string complete = CheckpointFolder(folder / "s", ListCheckpoints(folder / "s").back()) + "/complete.json";
  ASSERT_TRUE(std::filesystem::remove(complete));
  auto restores = std::make_shared<std::atomic<int>>(0);
  class Restoring final : public Operator {
   public:
    explicit Restoring(std::shared_ptr<std::atomic<int>> count) : count_(std::move(count)) {}
    Result<Progress> Process(int, const Batch&, Output&) override { return Progress::kDone; }
    Status Restore(const SnapshotReader&) override {
      ++*count_;
      return {};
    }
    std::shared_ptr<std::atomic<int>> count_;
  };
  JobGraph graph = CountGraph(numbers, 1, 1, published);
  graph.stages[1].chain[1].make = [restores](int, int) -> Result<std::unique_ptr<Operator>> {
    return std::unique_ptr<Operator>(std::make_unique<Restoring>(restores));
  };
  EXPECT_EQ(RunToEnd(*Create(std::move(graph), Options(folder / "s"))), JobEnd::kAlreadyFinished);
  EXPECT_EQ(*restores, 1) << "the sink publishes what was prepared";
  EXPECT_TRUE(std::filesystem::exists(complete));
}

TEST(JobTest, StopTakesALastCheckpointAndTheNextRunGoesOn) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  NumberOptions numbers{.partitions = 2, .rows = 500, .keys = 7, .batch = 10,
                        .allowed = std::make_shared<std::atomic<int64_t>>(123)};
  {
    auto job = Create(CountGraph(numbers, 2, 2, published), Options(folder / "state"));
    ASSERT_TRUE(job->Start());
    ASSERT_TRUE(job->WaitUntilIdle());
    job->Stop();
    const auto end = job->Wait();
    ASSERT_TRUE(end);
    EXPECT_EQ(*end, JobEnd::kStopped);
    EXPECT_EQ(job->Figures().records_in, 246);
  }
  *numbers.allowed = 500;
  EXPECT_EQ(RunToEnd(*Create(CountGraph(numbers, 2, 2, published), Options(folder / "state"))), JobEnd::kFinished);
  ExpectCounts(*published, numbers);
}

TEST(JobTest, ASecondProcessIsRefused) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  const auto job = Create(CountGraph({}, 1, 1, published), Options(folder / "state"));
  const auto second = Job::Create(CountGraph({}, 1, 1, published), Options(folder / "state"));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().ToString().find("another process"), std::string::npos) << second.error().ToString();
}

TEST(JobTest, ADamagedCheckpointIsRefusedByName) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  NumberOptions numbers{.partitions = 2, .rows = 500, .keys = 7, .batch = 10,
                        .allowed = std::make_shared<std::atomic<int64_t>>(100)};
  std::vector<Epoch> taken;
  {
    auto job = Create(CountGraph(numbers, 1, 1, published), Options(folder / "state"));
    ASSERT_TRUE(job->Start());
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(job->WaitUntilIdle());
      taken.push_back(job->Checkpoint()->id);
      *numbers.allowed += 50;
    }
    job->Abort();
  }
  const std::string manifest = CheckpointFolder(folder / "state", taken[1]) + "/manifest.json";
  std::fstream file(manifest, std::ios::in | std::ios::out);
  file.seekp(20);
  file.put('7');
  file.close();
  const auto refused = Job::Create(CountGraph(numbers, 1, 1, published), Options(folder / "state"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().ToString().find(manifest), std::string::npos) << refused.error().ToString();
  *numbers.allowed = numbers.rows;
  JobOptions force = Options(folder / "state");
  force.force = true;
  EXPECT_EQ(RunToEnd(*Create(CountGraph(numbers, 1, 1, published), force)), JobEnd::kFinished);
  ExpectCounts(*published, numbers);
}

// The manifest is whole, a state file has a wrong byte: found while the checkpoint before can still be taken.
TEST(JobTest, ADamagedStateFileIsRefusedByNameAndForceTakesTheOneBefore) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  NumberOptions numbers{.partitions = 2, .rows = 500, .keys = 7, .batch = 10,
                        .allowed = std::make_shared<std::atomic<int64_t>>(100)};
  Epoch newest = 0;
  {
    auto job = Create(CountGraph(numbers, 1, 1, published), Options(folder / "state"));
    ASSERT_TRUE(job->Start());
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(job->WaitUntilIdle());
      newest = job->Checkpoint()->id;
      *numbers.allowed += 50;
    }
    job->Abort();
  }
  const std::string state = CheckpointFolder(folder / "state", newest) + "/count-1-0.state";
  std::fstream file(state, std::ios::in | std::ios::out);
  file.seekp(3);
  file.put('x');
  file.close();
  const auto refused = Job::Create(CountGraph(numbers, 1, 1, published), Options(folder / "state"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().ToString().find(state), std::string::npos) << refused.error().ToString();
  EXPECT_NE(refused.error().ToString().find("--force"), std::string::npos) << refused.error().ToString();
  *numbers.allowed = numbers.rows;
  JobOptions force = Options(folder / "state");
  force.force = true;
  EXPECT_EQ(RunToEnd(*Create(CountGraph(numbers, 1, 1, published), force)), JobEnd::kFinished);
  ExpectCounts(*published, numbers);
}

TEST(JobTest, AFailingOperatorEndsTheJobWithItsError) {
  auto published = std::make_shared<Published>();
  JobGraph graph = CountGraph({}, 2, 2, published);
  class Failing final : public Operator {
    Result<Progress> Process(int, const Batch&, Output&) override { return DataError("value 7 is unlucky", "a/0/7"); }
  };
  graph.stages[1].chain[0].make = [](int, int) -> Result<std::unique_ptr<Operator>> {
    return std::unique_ptr<Operator>(std::make_unique<Failing>());
  };
  auto job = Create(std::move(graph), Options());
  ASSERT_TRUE(job->Start());
  const auto end = job->Wait();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().ToString(), "a/0/7: value 7 is unlucky");
}

// One row becomes a million: the operator is resumed when there is room, and the channel stays bounded.
TEST(JobTest, ARowWithManyResultsIsResumed) {
  auto published = std::make_shared<Published>();
  JobGraph graph = CountGraph({.partitions = 1, .rows = 3, .keys = 3, .batch = 3, .allowed = nullptr}, 1, 2, published);
  class Multiply final : public Operator {
    Result<Progress> Process(int, const Batch& batch, Output& out) override {
      while (at_ < 1000) {
        if (!out.HasRoom()) return Progress::kMore;
        Selection rows(3000, 0);
        for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint32_t>(i % batch.rows());
        out.Emit(batch.Gather(rows));
        ++at_;
      }
      at_ = 0;
      return Progress::kDone;
    }
    int at_ = 0;
  };
  graph.stages[0].chain.push_back({"multiply-1", "test", "multiply", [](int, int) -> Result<std::unique_ptr<Operator>> {
                                     return std::unique_ptr<Operator>(std::make_unique<Multiply>());
                                   }});
  auto job = Create(std::move(graph), Options());
  EXPECT_EQ(RunToEnd(*job), JobEnd::kFinished);
  EXPECT_EQ(published->counts, (std::map<int64_t, int64_t>{{0, 1000000}, {1, 1000000}, {2, 1000000}}));
}

TEST(JobTest, TheIntervalFollowsTheInjectedClock) {
  TemporaryFolder folder;
  auto published = std::make_shared<Published>();
  ManualClock clock;
  NumberOptions numbers{.partitions = 1, .rows = 100, .keys = 7, .batch = 10,
                        .allowed = std::make_shared<std::atomic<int64_t>>(10)};
  JobOptions options = Options(folder / "state");
  options.clock = &clock;
  options.checkpoint_interval = 10'000'000;
  auto job = Create(CountGraph(numbers, 1, 1, published), options);
  ASSERT_TRUE(job->Start());
  clock.Advance(10'000'000);
  while (job->Figures().checkpoints.empty()) std::this_thread::yield();
  *numbers.allowed = 100;
  const auto end = job->Wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(job->Figures().checkpoints.size(), 2u);
}

}  // namespace
}  // namespace weir
