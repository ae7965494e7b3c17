// Aggregates in two phases against the same in one: random rows over several local aggregates, which give what they hold
// at random places; the second phase must say what one task says that has taken every row.
#include <random>

#include "engine/runtime/timed_operator.h"
#include "operators/aggregate/aggregate.h"
#include "operators/aggregate/local_aggregate.h"
#include "tests/operators/fakes.h"
#include "tests/slow_build.h"

namespace weir {
namespace {

using F = AggregateFunction;
using testing::CapturingOutput;
using testing::Collapsed;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;

constexpr int kJobs = testing::kSlowBuild ? 12 : 60;
constexpr Micros kSecond = 1'000'000;

const SchemaPtr kRows = MakeSchema({{"g", BigintType()},
                                    {"h", StringType()},
                                    {"v", BigintType()},
                                    {"t", StringType()},
                                    {"d", DoubleType()},
                                    {"m", DecimalType(25, 2)},
                                    {"f", BooleanType()},
                                    {"ts", TimestampType()}});

AggregateCall Call(F function, int argument, DataType type, bool distinct = false, int filter = -1) {
  return {function, argument, distinct, filter, type, "c"};
}

std::vector<AggregateCall> Calls(bool retracts) {
  std::vector<AggregateCall> calls = {Call(F::kCountStar, -1, BigintType()),
                                      Call(F::kCountStar, -1, BigintType(), false, 6),
                                      Call(F::kCount, 2, BigintType()),
                                      Call(F::kSum, 2, DecimalType(38, 0)),
                                      Call(F::kSum, 2, DecimalType(38, 0), false, 6),
                                      Call(F::kAvg, 5, DecimalType(38, 6)),
                                      Call(F::kMin, 2, BigintType()),
                                      Call(F::kMax, 2, BigintType(), false, 6),
                                      Call(F::kMin, 3, StringType()),
                                      Call(F::kMax, 3, StringType()),
                                      Call(F::kMax, 5, DecimalType(25, 2)),
                                      Call(F::kCount, 2, BigintType(), true),
                                      Call(F::kCount, 2, BigintType(), true, 6),
                                      Call(F::kSum, 2, DecimalType(38, 0), true),
                                      Call(F::kCount, 3, BigintType(), true, 6),
                                      Call(F::kBoolAnd, 6, BooleanType())};
  if (!retracts) {
    // Of values that doubles add up exactly.
    calls.push_back(Call(F::kSum, 4, DoubleType()));
    calls.push_back(Call(F::kAvg, 4, DoubleType(), false, 6));
    calls.push_back(Call(F::kVarPop, 2, DoubleType()));
    calls.push_back(Call(F::kBitOr, 2, BigintType()));
  }
  return calls;
}

AggregateOptions InOnePhase(std::vector<int> groups, std::vector<AggregateCall> calls, bool retracts,
                            std::optional<WindowGrouping> windows = {}) {
  AggregateOptions options;
  options.input = kRows;
  options.input_retracts = retracts;
  options.windows = windows;
  std::vector<Field> fields;
  for (const int column : groups) fields.push_back((*kRows)[static_cast<size_t>(column)]);
  if (windows) {
    for (const char* name : {"window_start", "window_end", "window_time"}) fields.push_back({name, TimestampType(), false});
  }
  for (const AggregateCall& call : calls) fields.push_back({call.name, call.type});
  options.schema = MakeSchema(fields);
  options.group_columns = std::move(groups);
  options.calls = std::move(calls);
  return options;
}

// The two operators that do the same.
std::pair<LocalAggregateOptions, AggregateOptions> InTwoPhases(const AggregateOptions& one, const MiniBatch& mini_batch) {
  const auto groups = static_cast<int>(one.group_columns.size());
  AggregateOptions second = one;
  std::vector<Field> fields;
  for (const int column : one.group_columns) fields.push_back((*kRows)[static_cast<size_t>(column)]);
  if (one.windows) {
    fields.push_back((*kRows)[static_cast<size_t>(one.windows->time)]);
    second.windows->time = groups;
    if (one.windows->condition >= 0) {
      fields.push_back((*kRows)[static_cast<size_t>(one.windows->condition)]);
      second.windows->condition = groups + 1;
    }
  }
  fields.push_back({"partial", {TypeKind::kBytes}, false});
  second.input = MakeSchema(fields);
  second.rows = kRows;
  second.partial = static_cast<int>(fields.size()) - 1;
  for (int i = 0; i < groups; ++i) second.group_columns[static_cast<size_t>(i)] = i;
  LocalAggregateOptions local{kRows, second.input, one.group_columns, one.calls, one.input_retracts, one.windows, mini_batch};
  return {local, second};
}

struct Task {
  explicit Task(Result<std::unique_ptr<Operator>> made, const Clock* clock = nullptr) : context(0, 1, clock) {
    EXPECT_TRUE(made);
    op = std::move(*made);
    EXPECT_TRUE(op->Open(context.context));
  }
  TaskContext context;
  std::unique_ptr<Operator> op;
};

class TwoPhases {
 public:
  TwoPhases(const AggregateOptions& one, int tasks, const MiniBatch& mini_batch = {}, const Clock* clock = nullptr) {
    const auto [local, second] = InTwoPhases(one, mini_batch);
    for (int task = 0; task < tasks; ++task) locals_.push_back(std::make_unique<Task>(MakeLocalAggregate(local), clock));
    second_options_ = second;
    second_ = std::make_unique<Task>(MakeAggregate(second));
  }

  void Take(int task, const Batch& batch) {
    CapturingOutput between;
    const auto progress = locals_[static_cast<size_t>(task)]->op->Process(0, batch, between);
    ASSERT_TRUE(progress) << progress.error().ToString();
    Pass(between);
  }
  void Barrier() {
    for (const auto& local : locals_) {
      CapturingOutput between;
      ASSERT_TRUE(local->op->OnBarrier(between));
      Pass(between);
    }
  }
  void Advance(Micros watermark) {
    for (const auto& local : locals_) {
      CapturingOutput between;
      ASSERT_TRUE(local->op->OnWatermark(watermark, between));
      Pass(between);
    }
    CapturingOutput out;
    ASSERT_TRUE(second_->op->OnWatermark(watermark, out));
    sink_.Apply(out.batches);
  }
  void Timers(Micros now) {
    for (const auto& local : locals_) {
      auto* timed = dynamic_cast<TimedOperator*>(local->op.get());
      if (timed->NextTimer() > now) continue;
      CapturingOutput between;
      ASSERT_TRUE(timed->OnTimer(now, between));
      Pass(between);
    }
  }
  // The second phase, from a snapshot of itself.
  void Restart() {
    Barrier();
    std::unique_ptr<Task> restored = std::make_unique<Task>(MakeAggregate(second_options_));
    RestoreInto(*restored->op);
    restored->context.metrics.late_rows = second_->context.metrics.late_rows.load();
    restored->context.metrics.null_event_time = second_->context.metrics.null_event_time.load();
    second_ = std::move(restored);
  }
  void RestoreInto(Operator& op) {
    MemorySnapshotWriter writer;
    ASSERT_TRUE(second_->op->Snapshot(writer));
    ASSERT_TRUE(writer.Finish());
    MemorySnapshot snapshot;
    snapshot.Add(0, 1, writer.content);
    const Status status = op.Restore(snapshot);
    ASSERT_TRUE(status) << status.error().ToString();
  }

  const std::map<std::string, int>& rows() const { return sink_.rows(); }
  Collapsed& sink() { return sink_; }
  const OperatorMetrics& metrics() const { return second_->context.metrics; }
  size_t passed() const { return passed_; }  // rows between the phases

 private:
  void Pass(const CapturingOutput& between) {
    for (const Batch& batch : between.batches) {
      EXPECT_TRUE(batch.insert_only());
      passed_ += batch.rows();
      testing::Feed(*second_->op, 0, batch, sink_);
    }
  }

  std::vector<std::unique_ptr<Task>> locals_;
  AggregateOptions second_options_;
  std::unique_ptr<Task> second_;
  Collapsed sink_;
  size_t passed_ = 0;
};

// Random rows that come and go: those of one come and go in the same task.
class Rows {
 public:
  explicit Rows(uint64_t seed, bool retracts, int keys) : random_(seed), retracts_(retracts), keys_(keys) {}

  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  Batch Next(int task, int size, Micros time) {
    std::string text;
    std::vector<std::string>& there = there_[task];
    for (int i = 0; i < size; ++i) {
      if (retracts_ && !there.empty() && Below(3) == 0) {
        const auto at = static_cast<size_t>(Below(static_cast<int>(there.size())));
        text += "-D " + there[at];
        there.erase(there.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      const auto null_or = [&](std::string value) { return Below(8) == 0 ? "NULL" : value; };
      std::string row = null_or(std::to_string(Below(keys_))) + " " + null_or(Below(2) == 0 ? "x" : "a_longer_text_of_a_key") +
                        " " + null_or(std::to_string(Below(12) - 4)) + " " +
                        null_or((Below(2) == 0 ? "t" : "another_longer_text_") + std::to_string(Below(9))) + " " +
                        null_or(std::to_string(Below(9)) + ".25") + " " +
                        null_or(std::to_string(Below(9)) + "00000000000000000000.01") + " " +
                        null_or(Below(2) == 0 ? "true" : "false") + " " +
                        (Below(12) == 0 ? "NULL" : std::to_string(time + Below(40) * kSecond / 2 - 15 * kSecond)) + "\n";
      text += "+I " + row;
      there.push_back(std::move(row));
    }
    return ParseBatch(kRows, text);
  }

 private:
  std::mt19937_64 random_;
  bool retracts_;
  int keys_;
  std::map<int, std::vector<std::string>> there_;
};

TEST(TwoPhase, SaysWhatOnePhaseSays) {
  for (int job = 0; job < kJobs; ++job) {
    const bool retracts = job % 2 == 0;
    Rows rows(static_cast<uint64_t>(job + 1), retracts, job % 3 == 0 ? 2 : 30);
    const std::vector<std::vector<int>> groupings = {{0}, {0, 1}, {1}, {}};
    const auto groups = groupings[static_cast<size_t>(rows.Below(4))];
    SCOPED_TRACE("seed " + std::to_string(job + 1) + ", group columns: " + std::to_string(groups.size()));
    const AggregateOptions options = InOnePhase(groups, Calls(retracts), retracts);
    Task one(MakeAggregate(options));
    Collapsed expected;
    const int tasks = 1 + rows.Below(3);
    const ManualClock clock;
    const MiniBatch mini_batch{1 + rows.Below(50), job % 4 < 2 ? 0 : kSecond};
    TwoPhases two(options, tasks, mini_batch, &clock);
    for (int step = 0; step < 40; ++step) {
      const int task = rows.Below(tasks);
      const Batch batch = rows.Next(task, 1 + rows.Below(30), 0);
      testing::Feed(*one.op, 0, batch, expected);
      ASSERT_NO_FATAL_FAILURE(two.Take(task, batch));
      if (mini_batch.allow_latency == 0 && rows.Below(2) == 0) {
        ASSERT_EQ(two.rows(), expected.rows());
      }
      if (rows.Below(5) != 0) continue;
      ASSERT_NO_FATAL_FAILURE(two.Barrier());
      ASSERT_EQ(two.rows(), expected.rows());
      if (rows.Below(2) == 0) {
        ASSERT_NO_FATAL_FAILURE(two.Restart());
      }
    }
    two.Barrier();
    EXPECT_EQ(two.rows(), expected.rows());
    EXPECT_EQ(two.metrics().ignored_deletes, 0);
  }
}

// Rows in batches so large that their keys hardly repeat pass as they are, and those behind them, of keys that do.
TEST(TwoPhase, RowsThatHardlyFoldPassAsTheyAre) {
  for (const bool retracts : {false, true}) {
    const AggregateOptions options = InOnePhase({0, 1}, Calls(retracts), retracts);
    Task one(MakeAggregate(options));
    Collapsed expected;
    TwoPhases two(options, 1);
    BatchBuilder unique(kRows);
    constexpr int64_t kUnique = 20000;
    for (int64_t i = 0; i < kUnique; ++i) {
      unique.column(0).AppendInt(1000 + i);
      unique.column(1).AppendText("k");
      unique.column(2).AppendInt(i);
      unique.column(3).AppendText("t" + std::to_string(i));
      for (size_t c = 4; c < kRows->size(); ++c) unique.column(c).AppendNull();
      unique.FinishRow(RowKind::kInsert);
    }
    const Batch all = unique.Build();
    for (size_t from = 0; from < all.rows(); from += kBatchRows) {
      const Batch batch = all.Slice(from, std::min(kBatchRows, all.rows() - from));
      testing::Feed(*one.op, 0, batch, expected);
      ASSERT_NO_FATAL_FAILURE(two.Take(0, batch));
    }
    EXPECT_EQ(two.passed(), all.rows());
    Rows rows(5, retracts, 3);
    size_t behind = 0;
    for (int step = 0; step < 10; ++step) {
      const Batch batch = rows.Next(0, 50, 0);
      behind += batch.rows();
      testing::Feed(*one.op, 0, batch, expected);
      ASSERT_NO_FATAL_FAILURE(two.Take(0, batch));
    }
    EXPECT_EQ(two.passed(), all.rows() + behind);
    EXPECT_EQ(two.rows(), expected.rows());
  }
}

TEST(TwoPhase, FewGroupsAreFewRows) {
  TwoPhases two(InOnePhase({0}, {Call(F::kCountStar, -1, BigintType()), Call(F::kCount, 2, BigintType(), true)}, false), 1);
  two.Take(0, ParseBatch(kRows, "+I 1 x 5 t 1 1 true 0\n+I 1 y 5 t 1 1 true 0\n+I 2 x 7 t 1 1 true 0\n+I 1 x 6 t 1 1 true 0\n"));
  EXPECT_EQ(two.passed(), 2u);
  EXPECT_EQ(two.sink().ToString(), "1 3 2 x1\n2 1 1 x1\n");
}

TEST(TwoPhase, WhatComesAndGoesAgainDoesNotPass) {
  TwoPhases two(InOnePhase({0}, {Call(F::kCountStar, -1, BigintType()), Call(F::kSum, 2, DecimalType(38, 0))}, true), 1);
  two.Take(0, ParseBatch(kRows, "+I 1 x 5 t 1 1 true 0\n-D 1 x 5 t 1 1 true 0\n+I 2 x 7 t 1 1 true 0\n-U 2 x 7 t 1 1 true "
                                "0\n+U 2 x 8 t 1 1 true 0\n"));
  EXPECT_EQ(two.passed(), 1u);
  EXPECT_EQ(two.sink().ToString(), "2 1 8 x1\n");
}

TEST(TwoPhase, HoldsRowsForItsLatencyOrItsSize) {
  ManualClock clock(5 * kSecond);
  TwoPhases two(InOnePhase({0}, {Call(F::kCountStar, -1, BigintType())}, false), 1, {3, kSecond}, &clock);
  const Batch row = ParseBatch(kRows, "+I 1 x 5 t 1 1 true 0\n");
  two.Take(0, row);
  two.Timers(clock.Monotonic());
  EXPECT_EQ(two.passed(), 0u);
  clock.Advance(kSecond);
  two.Timers(clock.Monotonic());
  EXPECT_EQ(two.passed(), 1u);
  two.Take(0, row);
  two.Take(0, row);
  EXPECT_EQ(two.passed(), 1u);
  two.Take(0, row);
  EXPECT_EQ(two.passed(), 2u);
  two.Take(0, row);
  two.Advance(7);
  EXPECT_EQ(two.passed(), 3u);
  EXPECT_EQ(two.sink().ToString(), "1 5 x1\n");
}

// The sum of one task leaves the range of doubles, and that of all does not.
TEST(TwoPhase, APartialSumMayOverflow) {
  TwoPhases two(InOnePhase({0}, {Call(F::kSum, 4, DoubleType())}, false), 2);
  two.Take(1, ParseBatch(kRows, "+I 1 x 5 t -1.5e308 1 true 0\n"));
  two.Take(0, ParseBatch(kRows, "+I 1 x 5 t 1.5e308 1 true 0\n+I 1 x 5 t 1.5e308 1 true 0\n"));
  EXPECT_EQ(two.passed(), 3u);
  EXPECT_EQ(two.rows().size(), 1u);
}

// The state has one form: a job goes on from it with one phase or with two.
TEST(TwoPhase, TheStateIsThatOfOnePhase) {
  const AggregateOptions options = InOnePhase({0, 1}, Calls(true), true);
  TwoPhases two(options, 2);
  Rows rows(9, true, 5);
  Task before(MakeAggregate(options));
  Collapsed expected;
  for (int step = 0; step < 10; ++step) {
    const Batch batch = rows.Next(step % 2, 20, 0);
    testing::Feed(*before.op, 0, batch, expected);
    two.Take(step % 2, batch);
  }
  Task after(MakeAggregate(options));
  two.RestoreInto(*after.op);
  Collapsed& sink = two.sink();
  for (int step = 0; step < 10; ++step) {
    const Batch batch = rows.Next(step % 2, 20, 0);
    testing::Feed(*before.op, 0, batch, expected);
    testing::Feed(*after.op, 0, batch, sink);
  }
  EXPECT_EQ(sink.rows(), expected.rows());
}

TEST(TwoPhase, WindowsCloseAsInOnePhase) {
  const std::vector<WindowSpec> specs = {{WindowFunction::kTumble, 10 * kSecond, 10 * kSecond},
                                         {WindowFunction::kHop, 15 * kSecond, 5 * kSecond},
                                         {WindowFunction::kHop, 6 * kSecond, 4 * kSecond},
                                         {WindowFunction::kHop, 4 * kSecond, 6 * kSecond},
                                         {WindowFunction::kCumulate, 15 * kSecond, 5 * kSecond}};
  for (int job = 0; job < kJobs; ++job) {
    SCOPED_TRACE("seed " + std::to_string(job + 1));
    const bool retracts = job % 3 == 0;
    Rows rows(static_cast<uint64_t>(job + 1), retracts, 4);
    WindowGrouping windows;
    windows.spec = specs[static_cast<size_t>(rows.Below(5))];
    windows.time = 7;
    windows.condition = rows.Below(2) == 0 ? -1 : 6;
    windows.lateness = rows.Below(3) == 0 ? 3 * kSecond : 0;
    const AggregateOptions options = InOnePhase(rows.Below(4) == 0 ? std::vector<int>{} : std::vector<int>{0},
                                                Calls(retracts), retracts, windows);
    Task one(MakeAggregate(options));
    Collapsed expected;
    const int tasks = 1 + rows.Below(3);
    TwoPhases two(options, tasks);
    for (int step = 0; step < 40; ++step) {
      const int task = rows.Below(tasks);
      const Batch batch = rows.Next(task, 1 + rows.Below(20), step * 2 * kSecond);
      testing::Feed(*one.op, 0, batch, expected);
      ASSERT_NO_FATAL_FAILURE(two.Take(task, batch));
      if (rows.Below(3) == 0) {
        CapturingOutput out;
        const Micros watermark = (step * 2 - 10) * kSecond;
        ASSERT_TRUE(one.op->OnWatermark(watermark, out));
        expected.Apply(out.batches);
        ASSERT_NO_FATAL_FAILURE(two.Advance(watermark));
        ASSERT_EQ(two.rows(), expected.rows());
      }
      if (rows.Below(10) == 0) {
        ASSERT_NO_FATAL_FAILURE(two.Restart());
      }
    }
    CapturingOutput out;
    ASSERT_TRUE(one.op->OnWatermark(kMaxMicros, out));
    expected.Apply(out.batches);
    ASSERT_NO_FATAL_FAILURE(two.Advance(kMaxMicros));
    EXPECT_EQ(two.rows(), expected.rows());
    EXPECT_EQ(two.metrics().late_rows, one.context.metrics.late_rows);
    EXPECT_EQ(two.metrics().null_event_time, one.context.metrics.null_event_time);
  }
}

}  // namespace
}  // namespace weir
