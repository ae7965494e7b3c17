// Whole jobs with random changes, in every way to keep the rows of a join, against nested loops: checkpoints, crashes,
// stops and restores at another parallelism, with so little memory that tables are folded and rows leave memory.
// A failure names its seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobs/run/running_job.h"
#include "tests/integration/random_query.h"
#include "tests/temporary_folder.h"
#include "tests/slow_build.h"

namespace weir {
namespace {

using testing::Cells;
using testing::Data;
using testing::Feeding;
using testing::QueryMaker;
using testing::RandomQuery;
using testing::RandomSource;

constexpr uint64_t kRounds = testing::kSlowBuild ? 1 : 2;

// WEIR_DELTA_RUNS=N: so many times the usual number of runs, with other seeds; WEIR_DELTA_SEED=S starts with S.
uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* wanted = std::getenv(name);
  return wanted == nullptr ? otherwise : static_cast<uint64_t>(std::atoll(wanted));
}

enum class Keeping { kRegular, kRocksdb, kDelta };

std::vector<std::string> Lines(const testing::Rows& rows) {
  std::vector<std::string> lines;
  for (const Cells& row : rows) {
    std::string line;
    for (const std::string& cell : row) line += (line.empty() ? "" : " ") + cell;
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Both sorted: what is missing and what is too much, the first lines of each.
std::string Difference(const std::vector<std::string>& got, const std::vector<std::string>& expected) {
  std::vector<std::string> missing, extra;
  std::set_difference(expected.begin(), expected.end(), got.begin(), got.end(), std::back_inserter(missing));
  std::set_difference(got.begin(), got.end(), expected.begin(), expected.end(), std::back_inserter(extra));
  if (missing.empty() && extra.empty()) return "";
  std::string text = std::to_string(got.size()) + " rows and not " + std::to_string(expected.size());
  for (const auto& [word, lines] : {std::pair{"missing", &missing}, std::pair{"too much", &extra}}) {
    text += std::string("; ") + word + " " + std::to_string(lines->size()) + ":";
    for (size_t i = 0; i < std::min<size_t>(lines->size(), 6); ++i) text += "\n  " + (*lines)[i];
  }
  return text;
}

// The query and its sources follow from the seed alone, so every way of keeping rows sees the same changes; when it
// rests, is checkpointed, stopped or killed follows from the seed and the way.
class RandomJob {
 public:
  RandomJob(uint64_t seed, int query, Keeping keeping, std::string folder)
      : changes_(seed),
        events_(seed * 7919 + static_cast<uint64_t>(keeping)),
        keeping_(keeping),
        folder_(std::move(folder)) {
    query_ = QueryMaker(changes_).Make(query);
    const Feeding feedings[] = {Feeding::kAppend,   Feeding::kUpsert,    Feeding::kFull,
                                Feeding::kMessages, Feeding::kUpsertByK, Feeding::kFullByK};
    for (const std::string& name : query_.sources) {
      const uint64_t choices = query_.by_id.contains(name) ? 4 : 6;
      sources_.emplace_back(name, feedings[changes_() % choices], changes_);
    }
    WriteText();
  }

  // 0 when the job failed or answered wrongly; the failure is recorded.
  void Run(int steps) {
    Start();
    for (int step = 0; step < steps && !Failed(); ++step) {
      RandomSource& source = sources_[changes_() % sources_.size()];
      source.Push(*feeds_.at(source.name()), std::array<int, 5>{1, 3, 12, 40, 150}[changes_() % 5]);
      if (OneIn(3)) Rest();
      if (OneIn(6)) Checkpoint();
      if (OneIn(9)) Start();
      if (OneIn(25)) Stop();
    }
    if (!Failed()) Finish();
  }

  std::string Picture() const {
    std::string picture =
        query_.name + ", " + std::array<const char*, 3>{"regular", "rocksdb", "delta"}[static_cast<size_t>(keeping_)];
    return picture + "\n" + text_;
  }
  int64_t folds() const { return folds_; }

 private:
  static bool Failed() { return ::testing::Test::HasFatalFailure() || ::testing::Test::HasNonfatalFailure(); }
  bool OneIn(uint64_t n) { return events_() % n == 0; }

  void WriteText() {
    const std::array<const char*, 4> memories = {"64KiB", "128KiB", "256KiB", "64MiB"};
    const char* memory = memories[events_() % memories.size()];
    const std::string on_rows = OneIn(2) ? ", on_rows: " + std::to_string(20 + events_() % 300) : "";
    text_ = std::string("name: random\noptions: {memory: ") + memory +
            ", redo_rows: " + std::to_string(20 + events_() % 200) +
            ", checkpoint: {retain: " + std::to_string(1 + events_() % 3) + on_rows + "}}\nsources:\n";
    for (const RandomSource& source : sources_) text_ += source.Declaration(keeping_ == Keeping::kDelta);
    if (!query_.tables.empty()) text_ += "tables:\n" + query_.tables;
    text_ += "sinks:\n  o: {connector: memory}\n";
    if (query_.queries.back().starts_with("INSERT INTO p")) text_ += "  p: {connector: memory}\n";
    text_ += "queries:\n";
    for (const std::string& query : query_.queries) text_ += "  - " + query + "\n";
  }

  // From the newest checkpoint, at some parallelism; what ran before is killed.
  void Start() {
    End();
    JobFileOptions options;
    const int parallelism = std::array<int, 3>{1, 2, 4}[events_() % 3];
    options.overrides = {"options.parallelism=" + std::to_string(parallelism),
                         std::string("options.join=") + (keeping_ == Keeping::kDelta ? "delta" : "regular"),
                         std::string("options.state=") + (keeping_ == Keeping::kRocksdb ? "rocksdb" : "memory")};
    auto planned = PlanJobText("job", text_, options, InputCheck::kNone);
    ASSERT_TRUE(planned) << planned.error().front().ToString();
    job_ = std::make_unique<PlannedJob>(std::move(*planned));
    for (const SourceDeclaration& source : job_->file.sources) {
      auto& feed = feeds_[source.name];
      if (!feed) feed = std::make_shared<MemoryFeed>(source.MakeSchema(), source.partitions);
    }
    for (const SinkDeclaration& sink : job_->file.sinks) {
      auto& result = results_[sink.name];
      if (!result) result = std::make_shared<MemoryResult>();
    }
    JobOptions job_options = MakeJobOptions(job_->file, folder_);
    job_options.check_operators = true;
    running_ = std::make_unique<RunningJob>(*job_, WireOptions{feeds_, results_}, std::move(job_options));
    Expect(running_->Start(), "start");
  }

  void End() {
    if (!running_) return;
    for (const TableFigures& table : running_->Figures().tables) folds_ += table.folds;
    running_->Crash();
    running_.reset();
  }

  void Rest() { Expect(running_->WaitUntilIdle(), "rest"); }

  void Checkpoint() {
    Rest();
    if (Failed()) return;
    Expect(running_->Checkpoint(), "checkpoint");
    if (!Failed()) Compare();
  }

  void Stop() {
    ASSERT_TRUE(running_->Stop());
    const Result<JobEnd> end = running_->Wait();
    ASSERT_TRUE(end) << end.error().ToString();
    Start();
  }

  void Finish() {
    for (const auto& [name, feed] : feeds_) feed->End();
    const Result<JobEnd> end = running_->Wait();
    ASSERT_TRUE(end) << end.error().ToString();
    Compare();
    End();
  }

  void Compare() {
    Data rows;
    for (const RandomSource& source : sources_) rows[source.name()] = source.rows();
    for (const auto& [sink, expected] : query_.answer(rows)) {
      const auto collapsed = results_.at(sink)->Collapsed();
      ASSERT_TRUE(collapsed) << "sink " << sink << ": " << collapsed.error().ToString();
      const std::string difference = Difference(*collapsed, Lines(expected));
      ASSERT_EQ(difference, "") << "sink " << sink;
    }
  }

  static void Expect(const Status& status, const char* what) {
    ASSERT_TRUE(status) << what << ": " << status.error().ToString();
  }

  std::mt19937_64 changes_;
  std::mt19937_64 events_;
  const Keeping keeping_;
  const std::string folder_;
  RandomQuery query_;
  std::vector<RandomSource> sources_;
  std::string text_;
  Feeds feeds_;
  MemoryResults results_;
  std::unique_ptr<PlannedJob> job_;
  std::unique_ptr<RunningJob> running_;
  int64_t folds_ = 0;
};

class DeltaRandom : public ::testing::TestWithParam<std::tuple<int, Keeping>> {
 protected:
  const testing::TemporaryFolder folder_{testing::TemporaryFolder::Place::kMemory};
};

TEST_P(DeltaRandom, IsTheNestedLoopOfItsSources) {
  const auto [query, keeping] = GetParam();
  int64_t folds = 0;
  const uint64_t first = FromEnvironment("WEIR_DELTA_SEED", 1);
  const uint64_t runs = kRounds * FromEnvironment("WEIR_DELTA_RUNS", 1);
  // When folds come depends on threads: a job that had none is followed by others.
  const auto needs_folds = [&] { return keeping == Keeping::kDelta && folds == 0; };
  for (uint64_t seed = first; seed < first + runs || (needs_folds() && seed < first + runs + 8); ++seed) {
    const std::string folder = folder_ / std::to_string(seed);
    RandomJob job(seed, query, keeping, folder);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + job.Picture());
    job.Run(40);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    folds += job.folds();
    std::filesystem::remove_all(folder);
  }
  if (keeping == Keeping::kDelta) {
    EXPECT_GT(folds, 0);  // else the bases have not been tested
  }
}

INSTANTIATE_TEST_SUITE_P(Queries, DeltaRandom,
                         ::testing::Combine(::testing::Range(0, QueryMaker::kQueries),
                                            ::testing::Values(Keeping::kRegular, Keeping::kRocksdb, Keeping::kDelta)));

}  // namespace
}  // namespace weir
