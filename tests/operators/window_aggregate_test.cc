// Aggregates of windows against lists of rows: late rows, retractions, snapshots while rows go on, restore at another
// parallelism, and what is left of the state.
#include <random>

#include "engine/data/hash.h"
#include "engine/runtime/late_rows.h"
#include "engine/runtime/timed_operator.h"
#include "operators/aggregate/aggregate.h"
#include "tests/operators/fakes.h"
#include "tests/operators/window_model.h"
#include "tests/slow_build.h"

namespace weir {
namespace {

using F = AggregateFunction;
using testing::CapturingOutput;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::WindowRow;
using testing::TaskContext;
using testing::WindowModel;

constexpr int kJobs = testing::kSlowBuild ? 40 : 400;

const SchemaPtr kInput = MakeSchema({{"k", BigintType()},
                                     {"ts", TimestampType()},
                                     {"v", BigintType()},
                                     {"t", StringType()},
                                     {"c", BooleanType()}});

AggregateOptions Options(const WindowGrouping& windows, bool retracts, bool all_calls) {
  AggregateOptions options;
  options.input = kInput;
  options.group_columns = {0};
  options.calls = {{F::kCountStar, -1, false, -1, BigintType(), "n"}, {F::kSum, 2, false, -1, DecimalType(38, 0), "s"}};
  if (all_calls) {
    options.calls.push_back({F::kCount, 2, true, -1, BigintType(), "d"});
    options.calls.push_back({F::kMin, 3, false, -1, StringType(), "m"});
  }
  options.input_retracts = retracts;
  options.windows = windows;
  if (windows.assigned && !retracts) {
    options.late_columns = {1, 0};
    options.late_schema = MakeSchema({(*kInput)[1], (*kInput)[0]});
  }
  std::vector<Field> fields = {(*kInput)[0],
                               {"window_start", TimestampType(), false},
                               {"window_end", TimestampType(), false},
                               {"window_time", TimestampType(), false}};
  for (const AggregateCall& call : options.calls) fields.push_back({call.name, call.type});
  options.schema = MakeSchema(fields);
  return options;
}

// The tasks of one aggregate, fed as an exchange by k would feed them.
class Tasks {
 public:
  Tasks(const AggregateOptions& options, int count) : options_(options) {
    for (int task = 0; task < count; ++task) {
      contexts_.push_back(std::make_unique<TaskContext>(task, count));
      operators_.push_back(std::move(*MakeAggregate(options)));
      EXPECT_TRUE(operators_.back()->Open(contexts_.back()->context));
    }
  }

  void Process(const Batch& batch) {
    std::vector<uint64_t> hashes;
    const int columns[] = {0};
    HashRows(batch, columns, hashes);
    for (size_t task = 0; task < operators_.size(); ++task) {
      Selection mine;
      for (uint32_t row = 0; row < batch.rows(); ++row) {
        if (TaskOf(KeyGroupOf(hashes[row]), static_cast<int>(operators_.size())) == static_cast<int>(task)) mine.push_back(row);
      }
      if (mine.empty()) continue;
      const auto progress = operators_[task]->Process(0, batch.Gather(mine), out_);
      ASSERT_TRUE(progress) << progress.error().ToString();
      late_taken_ += static_cast<int64_t>(dynamic_cast<LateRowsOperator&>(*operators_[task]).TakeLateRows().rows());
    }
    ASSERT_EQ(late_taken_, options_.late_columns.empty() ? 0 : late());
    Collapse();
  }
  void Advance(Micros watermark) {
    for (auto& op : operators_) ASSERT_TRUE(op->OnWatermark(watermark, out_));
    Collapse();
  }
  std::vector<std::unique_ptr<MemorySnapshotWriter>> Snapshot() {
    std::vector<std::unique_ptr<MemorySnapshotWriter>> writers;
    for (auto& op : operators_) {
      EXPECT_TRUE(op->OnBarrier(out_));
      writers.push_back(std::make_unique<MemorySnapshotWriter>());
      EXPECT_TRUE(op->Snapshot(*writers.back()));
    }
    Collapse();
    return writers;
  }
  void Restore(std::vector<std::unique_ptr<MemorySnapshotWriter>>& writers) {
    MemorySnapshot snapshot;
    for (size_t task = 0; task < writers.size(); ++task) {
      ASSERT_TRUE(writers[task]->Finish());
      snapshot.Add(static_cast<int>(task), static_cast<int>(writers.size()), writers[task]->content);
    }
    for (auto& op : operators_) ASSERT_TRUE(op->Restore(snapshot));
  }
  int64_t late() const { return Sum(&OperatorMetrics::late_rows); }
  int64_t without_time() const { return Sum(&OperatorMetrics::null_event_time); }
  // Rows of every part of the state but the watermark's own record.
  int64_t StateRows() const {
    int64_t rows = 0;
    for (const auto& op : operators_) {
      for (const StateSize& size : op->StateSizes()) rows += size.part == "watermark" ? 0 : size.rows;
    }
    return rows;
  }

  std::multiset<std::string> results;  // that the output leaves
  bool updated = false;                // there was a change that was no +I

 private:
  int64_t Sum(std::atomic<int64_t> OperatorMetrics::* counter) const {
    int64_t sum = 0;
    for (const auto& context : contexts_) sum += context->metrics.*counter;
    return sum;
  }

  void Collapse() {
    for (const Batch& batch : out_.batches) {
      for (size_t row = 0; row < batch.rows(); ++row) {
        std::string text = std::to_string(batch.column(0).ints()[row]) + " " + std::to_string(batch.column(1).ints()[row]) +
                           " " + std::to_string(batch.column(2).ints()[row]) + " " +
                           std::to_string(batch.column(4).ints()[row]) + " " + FormatValue(batch.column(5), row);
        if (batch.columns().size() > 6) {
          text += " " + std::to_string(batch.column(6).ints()[row]) + " " + std::string(batch.column(7).text(row));
        }
        EXPECT_EQ(batch.column(3).ints()[row], batch.column(2).ints()[row] - 1000);
        updated = updated || batch.kind(row) != RowKind::kInsert;
        if (IsAdd(batch.kind(row))) {
          results.insert(text);
        } else {
          ASSERT_EQ(results.count(text), 1u) << "retraction of a row that is not there: " << text;
          results.erase(text);
        }
      }
    }
    out_.Clear();
  }

  AggregateOptions options_;
  std::vector<std::unique_ptr<TaskContext>> contexts_;
  std::vector<std::unique_ptr<Operator>> operators_;
  CapturingOutput out_;
  int64_t late_taken_ = 0;
};

Batch Rows(const std::vector<std::pair<WindowRow, bool>>& rows) {
  BatchBuilder builder(kInput);
  for (const auto& [row, retract] : rows) {
    builder.column(0).AppendInt(row.key);
    if (row.time) {
      builder.column(1).AppendInt(*row.time);
    } else {
      builder.column(1).AppendNull();
    }
    builder.column(2).AppendInt(row.value);
    builder.column(3).AppendText("t" + std::to_string(row.value));
    builder.column(4).AppendBool(row.counts);
    builder.FinishRow(retract ? RowKind::kDelete : RowKind::kInsert);
  }
  return builder.Build();
}

// The model's text, without what is not computed.
std::multiset<std::string> Cut(const std::multiset<std::string>& results, bool all_calls) {
  if (all_calls) return results;
  std::multiset<std::string> cut;
  for (const std::string& text : results) {
    const size_t smallest = text.rfind(' ');
    cut.insert(text.substr(0, text.rfind(' ', smallest - 1)));
  }
  return cut;
}

class RandomJob {
 public:
  RandomJob(WindowFunction function, uint64_t seed) : random_(seed) {
    WindowSpec& spec = windows_.spec;
    spec.function = function;
    spec.slide = 1 + Below(8);
    spec.size = function == WindowFunction::kTumble ? spec.slide : 1 + Below(20);
    if (function == WindowFunction::kCumulate) spec.size = spec.slide * (1 + Below(5));
    windows_.time = 1;
    windows_.condition = Below(2) == 0 ? 4 : -1;
    windows_.lateness = Below(3) == 0 ? Below(12) : 0;
    retracts_ = function != WindowFunction::kSession && Below(3) == 0;
    all_calls_ = Below(2) == 0;
    SCOPED_TRACE(spec.ToString());
    options_ = Options(windows_, retracts_, all_calls_);
    tasks_ = std::make_unique<Tasks>(options_, 1 + static_cast<int>(Below(3)));
    model_ = std::make_unique<WindowModel>(windows_);
  }

  void Run() {
    for (int step = 0; step < 60; ++step) {
      Step();
      if (::testing::Test::HasFailure()) return;
      ASSERT_EQ(tasks_->results, Cut(model_->Results(), all_calls_)) << Describe() << " step " << step;
      ASSERT_EQ(tasks_->late() + late_before_, model_->late()) << Describe();
      ASSERT_EQ(tasks_->without_time() + without_time_before_, model_->without_time());
    }
    tasks_->Advance(kMaxMicros);
    model_->Advance(kMaxMicros);
    ASSERT_EQ(tasks_->results, Cut(model_->Results(), all_calls_)) << Describe();
    EXPECT_EQ(tasks_->StateRows(), 0) << Describe();
    if (windows_.lateness == 0) {
      EXPECT_FALSE(tasks_->updated) << Describe();
    }
  }

 private:
  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound)); }

  std::string Describe() const {
    return windows_.spec.ToString() + " size " + std::to_string(windows_.spec.size) + " slide " +
           std::to_string(windows_.spec.slide) + " lateness " + std::to_string(windows_.lateness) +
           (retracts_ ? " retracts" : "") + (all_calls_ ? " all" : "");
  }

  std::vector<std::pair<WindowRow, bool>> NewRows() {
    std::vector<std::pair<WindowRow, bool>> rows;
    for (int64_t i = Below(12); i >= 0; --i) {
      if (retracts_ && !taken_.empty() && Below(3) == 0) {
        const auto at = static_cast<size_t>(Below(static_cast<int64_t>(taken_.size())));
        rows.emplace_back(taken_[at], true);
        taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      WindowRow row{Below(4), watermark_ + Below(30) - 15, Below(5), true};
      if (Below(20) == 0) row.time.reset();
      if (windows_.condition >= 0) row.counts = Below(4) > 0;
      if (row.time) taken_.push_back(row);
      rows.emplace_back(row, false);
    }
    return rows;
  }

  void Step() {
    const int64_t what = Below(10);
    if (what < 6) {
      const auto rows = NewRows();
      tasks_->Process(Rows(rows));
      for (const auto& [row, retract] : rows) model_->Take(row, retract);
    } else if (what < 9) {
      watermark_ += Below(8);
      tasks_->Advance(watermark_);
      model_->Advance(watermark_);
    } else {
      Crash();
    }
  }

  // A snapshot is written while rows go on, which then have never been.
  void Crash() {
    auto writers = tasks_->Snapshot();
    const auto results = tasks_->results;
    const Micros watermark = watermark_;
    late_before_ = model_->late();
    without_time_before_ = model_->without_time();
    for (int64_t i = Below(4); i > 0; --i) {
      std::vector<WindowRow> taken = taken_;
      tasks_->Process(Rows(NewRows()));
      taken_ = std::move(taken);
      watermark_ += Below(8);
      tasks_->Advance(watermark_);
    }
    watermark_ = watermark;
    const bool updated = tasks_->updated;
    auto restored = std::make_unique<Tasks>(options_, 1 + static_cast<int>(Below(4)));
    restored->Restore(writers);
    tasks_ = std::move(restored);
    tasks_->results = results;
    tasks_->updated = updated;
  }

  std::mt19937_64 random_;
  WindowGrouping windows_;
  bool retracts_ = false;
  bool all_calls_ = false;
  AggregateOptions options_;
  std::unique_ptr<Tasks> tasks_;
  std::unique_ptr<WindowModel> model_;
  std::vector<WindowRow> taken_;  // that may be retracted
  Micros watermark_ = 0;
  int64_t late_before_ = 0;
  int64_t without_time_before_ = 0;
};

class WindowAggregateTest : public ::testing::TestWithParam<WindowFunction> {};

TEST_P(WindowAggregateTest, IsWhatListsOfRowsGive) {
  const uint64_t seed = 1;
  for (uint64_t job = 0; job < kJobs && !HasFailure(); ++job) {
    SCOPED_TRACE("seed " + std::to_string(seed + job));
    RandomJob(GetParam(), seed + job).Run();
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, WindowAggregateTest,
                         ::testing::Values(WindowFunction::kTumble, WindowFunction::kHop, WindowFunction::kCumulate,
                                           WindowFunction::kSession));

TEST(WindowAggregate, StateDoesNotGrowWithTheNumberOfWindows) {
  for (const WindowFunction function :
       {WindowFunction::kTumble, WindowFunction::kHop, WindowFunction::kCumulate, WindowFunction::kSession}) {
    WindowGrouping windows;
    windows.spec = {function, 100, function == WindowFunction::kTumble ? 100 : 20};
    windows.time = 1;
    Tasks tasks(Options(windows, false, true), 1);
    int64_t most = 0;
    for (Micros time = 0; time < 100'000; time += 10) {
      tasks.Process(Rows({{WindowRow{time / 10 % 7, time, 1, true}, false}}));
      tasks.Advance(time);
      most = std::max(most, tasks.StateRows());
    }
    EXPECT_LT(most, 300) << windows.spec.ToString();
    tasks.Advance(kMaxMicros);
    EXPECT_EQ(tasks.StateRows(), 0) << windows.spec.ToString();
  }
}

TEST(WindowAggregate, EarlyResultsComeByTheClock) {
  WindowGrouping windows;
  windows.spec = {WindowFunction::kTumble, 100, 100};
  windows.time = 1;
  windows.early = 1'000'000;
  ManualClock clock;
  TaskContext context(0, 1, &clock);
  auto op = std::move(*MakeAggregate(Options(windows, false, false)));
  ASSERT_TRUE(op->Open(context.context));
  auto* timed = dynamic_cast<TimedOperator*>(op.get());
  CapturingOutput out;
  const auto process = [&](Micros time) {
    ASSERT_TRUE(op->Process(0, Rows({{WindowRow{1, time, 5, true}, false}}), out));
  };
  EXPECT_EQ(timed->NextTimer(), kMaxMicros);
  process(1);
  clock.Advance(400'000);
  process(2);
  EXPECT_EQ(out.Text(), "");
  EXPECT_EQ(timed->NextTimer(), 1'000'000);
  clock.Advance(600'000);
  ASSERT_TRUE(timed->OnTimer(clock.Monotonic(), out));
  EXPECT_EQ(timed->NextTimer(), kMaxMicros);
  ASSERT_EQ(out.batches.size(), 1u);
  EXPECT_EQ(out.batches[0].column(4).ints()[0], 2);
  out.Clear();
  process(3);
  ASSERT_TRUE(op->OnWatermark(100, out));  // the end: what waits comes, and nothing a second time
  ASSERT_EQ(out.batches.size(), 1u);
  EXPECT_TRUE(out.batches[0].IsUpdatePair(0));
  EXPECT_EQ(out.batches[0].column(4).ints()[1], 3);
}

}  // namespace
}  // namespace weir
