#include "operators/aggregate/aggregate.h"

#include <random>
#include <set>

#include "engine/data/hash.h"
#include "tests/operators/aggregate_task.h"
#include "tests/slow_build.h"

namespace weir {
namespace {

constexpr uint64_t kSeeds = testing::kSlowBuild ? 2 : 6;

using testing::AggregateOver;
using Task = testing::AggregateTask;
using testing::CapturingOutput;
using testing::kAggregateInput;
using testing::Collapsed;
using testing::Feed;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;

AggregateCall Call(AggregateFunction function, int argument, DataType type, bool distinct = false, int filter = -1) {
  return {function, argument, distinct, filter, type, "c"};
}

using F = AggregateFunction;

TEST(Aggregate, OneNetChangeAGroup) {
  Task task(AggregateOver({0}, {Call(F::kCountStar, -1, BigintType()), Call(F::kSum, 1, DecimalType(38, 0))}, true));
  EXPECT_EQ(task.Feed("+I 1 5 0 a true 1\n+I 2 7 0 a true 1\n+I 1 6 0 a true 1\n+I NULL NULL 0 a true 1\n"),
            "+I 1 2 11\n+I 2 1 7\n+I NULL 1 NULL\n");
  EXPECT_EQ(task.Feed("-U 1 5 0 a true 1\n+U 1 8 0 a true 1\n-D 2 7 0 a true 1\n"), "-U 1 2 11\n+U 1 2 14\n-D 2 1 7\n");
  EXPECT_EQ(task.Feed("-U 1 8 0 a true 1\n+U 1 8 0 a true 1\n-D 2 7 0 a true 1\n"), "");
  EXPECT_EQ(task.context.metrics.ignored_deletes, 1);
}

TEST(Aggregate, GlobalAlwaysHasItsRow) {
  const auto options = AggregateOver({}, {Call(F::kCountStar, -1, BigintType()), Call(F::kSum, 1, BigintType())}, true);
  Task task(options);
  CapturingOutput out;
  ASSERT_TRUE(task.op->OnBarrier(out));
  ASSERT_TRUE(task.op->OnWatermark(5, out));
  ASSERT_TRUE(task.op->OnEnd(out));
  EXPECT_EQ(out.Text(), "+I 0 NULL\n");
  EXPECT_EQ(task.Feed("+I 1 5 0 a true 1\n"), "-U 0 NULL\n+U 1 5\n");
  EXPECT_EQ(task.Feed("-D 1 5 0 a true 1\n"), "-U 1 5\n+U 0 NULL\n");
  Task other(options, 1, 2);
  CapturingOutput nothing;
  ASSERT_TRUE(other.op->OnEnd(nothing));
  EXPECT_EQ(nothing.Text(), "");
}

TEST(Aggregate, Distinct) {
  Task task(AggregateOver({3}, {}, true));
  EXPECT_EQ(task.Feed("+I 1 5 0 a true 1\n+I 2 5 0 a true 1\n+I 2 5 0 NULL true 1\n"), "+I 'a'\n+I NULL\n");
  EXPECT_EQ(task.Feed("-D 1 5 0 a true 1\n"), "");
  EXPECT_EQ(task.Feed("-D 2 5 0 a true 1\n"), "-D 'a'\n");
}

TEST(Aggregate, DoublesRecoverFromNanAndInfinity) {
  Task task(AggregateOver({}, {Call(F::kSum, 2, DoubleType()), Call(F::kMax, 2, DoubleType())}, true));
  EXPECT_EQ(task.Feed("+I 1 1 1.5 a true 1\n"), "+I 1.5 1.5\n");
  EXPECT_EQ(task.Feed("+I 1 1 NaN a true 1\n+I 1 1 Infinity a true 1\n"), "-U 1.5 1.5\n+U NaN NaN\n");
  EXPECT_EQ(task.Feed("-D 1 1 NaN a true 1\n"), "-U NaN NaN\n+U Infinity Infinity\n");
  EXPECT_EQ(task.Feed("-D 1 1 Infinity a true 1\n"), "-U Infinity Infinity\n+U 1.5 1.5\n");
  EXPECT_EQ(task.Feed("-D 1 1 1.5 a true 1\n"), "-U 1.5 1.5\n+U NULL NULL\n");
}

TEST(Aggregate, AveragesAreRoundedHalfAwayFromZero) {
  Task task(AggregateOver({}, {Call(F::kAvg, 5, DecimalType(38, 3)), Call(F::kAvg, 1, DecimalType(38, 1))}, false));
  EXPECT_EQ(task.Feed("+I 1 -1 0 a true 0.01\n+I 1 -2 0 a true 0.02\n+I 1 -1 0 a true 0.02\n+I 1 -1 0 a true 0.00\n"),
            "+I 0.013 -1.3\n");
}

TEST(Aggregate, SumOutOfRangeIsAnError) {
  Task task(AggregateOver({}, {Call(F::kSum, 1, IntType())}, false));
  CapturingOutput out;
  const auto progress = task.op->Process(0, ParseBatch(kAggregateInput, "+I 1 3000000000 0 a true 1\n"), out);
  ASSERT_FALSE(progress);
  EXPECT_EQ(progress.error().code, ErrorCode::kData);
}

TEST(Aggregate, TextExtremesOfAppendOnlyInput) {
  Task task(AggregateOver({0}, {Call(F::kMin, 3, StringType()), Call(F::kMax, 3, StringType(), false, 4)}, false));
  EXPECT_EQ(task.Feed("+I 1 0 0 mm false 1\n+I 1 0 0 kk true 1\n"), "+I 1 'kk' 'kk'\n");
  EXPECT_EQ(task.Feed("+I 1 0 0 zzz true 1\n+I 1 0 0 a false 1\n"), "-U 1 'kk' 'kk'\n+U 1 'a' 'zzz'\n");
  EXPECT_EQ(task.Feed("+I 1 0 0 b true 1\n"), "");
}

// --- against a recomputation
// ---------------------------------------------------------------------------------------------

struct ModelRow {
  std::string g, v, d, t, f, m;
  std::string Line(const char* kind) const {
    return std::string(kind) + " " + g + " " + v + " " + d + " " + t + " " + f + " " + m + "\n";
  }
};

std::vector<AggregateCall> AllCalls() {
  return {Call(F::kCountStar, -1, BigintType()),
          Call(F::kCountStar, -1, BigintType(), false, 4),
          Call(F::kCount, 1, BigintType()),
          Call(F::kSum, 1, DecimalType(38, 0)),
          Call(F::kMin, 1, BigintType()),
          Call(F::kMax, 1, BigintType(), false, 4),
          Call(F::kMin, 3, StringType()),
          Call(F::kMax, 3, StringType()),
          Call(F::kCount, 1, BigintType(), true),
          Call(F::kCount, 1, BigintType(), true, 4),
          Call(F::kSum, 1, DecimalType(38, 0), true),
          Call(F::kCount, 3, BigintType(), true)};
}

std::string Text(const std::string& value) { return value == "NULL" ? value : "'" + value + "'"; }

template <class T>
std::string Pick(const std::set<T>& values, bool min) {
  if (values.empty()) return "NULL";
  if constexpr (std::is_same_v<T, std::string>) {
    return Text(min ? *values.begin() : *values.rbegin());
  } else {
    return std::to_string(min ? *values.begin() : *values.rbegin());
  }
}

std::map<std::string, int> Recompute(const std::vector<ModelRow>& rows) {
  std::map<std::string, std::vector<ModelRow>> groups;
  for (const ModelRow& row : rows) groups[row.g].push_back(row);
  std::map<std::string, int> result;
  for (const auto& [g, members] : groups) {
    int filtered = 0, count = 0;
    int64_t sum = 0, distinct_sum = 0;
    std::set<int64_t> values, filtered_values;
    std::set<std::string> texts;
    for (const ModelRow& row : members) {
      filtered += row.f == "true";
      if (row.t != "NULL") texts.insert(row.t);
      if (row.v == "NULL") continue;
      ++count;
      sum += std::stoll(row.v);
      values.insert(std::stoll(row.v));
      if (row.f == "true") filtered_values.insert(std::stoll(row.v));
    }
    for (const int64_t value : values) distinct_sum += value;
    const auto number = [&](int64_t value) { return count == 0 ? std::string("NULL") : std::to_string(value); };
    std::string line = g + " " + std::to_string(members.size()) + " " + std::to_string(filtered) + " " +
                       std::to_string(count) + " " + number(sum) + " " + Pick(values, true) + " " +
                       Pick(filtered_values, false) + " " + Pick(texts, true) + " " + Pick(texts, false) + " " +
                       std::to_string(values.size()) + " " + std::to_string(filtered_values.size()) + " " +
                       number(distinct_sum) + " " + std::to_string(texts.size());
    ++result[line];
  }
  return result;
}

class AggregateRandom : public ::testing::TestWithParam<std::tuple<bool, int, int>> {};

TEST_P(AggregateRandom, IsTheRecomputationOfItsInput) {
  const auto [retracts, size, values] = GetParam();
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<uint64_t>(limit)); };
    const AggregateOptions options = AggregateOver({0}, AllCalls(), retracts);
    std::vector<std::unique_ptr<Task>> tasks;
    tasks.push_back(std::make_unique<Task>(options));
    std::vector<ModelRow> rows;
    Collapsed sink;
    std::unique_ptr<MemorySnapshotWriter> pending;  // a snapshot that is written while the flow goes on
    std::map<std::string, int> at_pending;
    for (int step = 0; step < 120; ++step) {
      std::string text;
      for (int i = 0; i < size; ++i) {
        if (retracts && !rows.empty() && (below(3) == 0 || rows.size() > 600)) {
          const auto at = static_cast<size_t>(below(static_cast<int>(rows.size())));
          text += rows[at].Line("-D");
          rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
          continue;
        }
        ModelRow row;
        row.g = below(8) == 0 ? "NULL" : std::to_string(below(5));
        row.v = below(9) == 0 ? "NULL" : std::to_string(below(values) - values / 2);
        row.d = "0";
        row.t = below(9) == 0 ? "NULL" : "t" + std::to_string(below(values));
        row.f = below(5) == 0 ? "NULL" : below(2) == 0 ? "true" : "false";
        row.m = "1";
        text += row.Line("+I");
        rows.push_back(row);
      }
      const Batch batch = ParseBatch(kAggregateInput, text);
      std::vector<uint64_t> hashes;
      HashRows(batch, std::vector<int>{0}, hashes);
      for (size_t task = 0; task < tasks.size(); ++task) {
        Selection mine;
        for (uint32_t i = 0; i < batch.rows(); ++i) {
          if (TaskOf(KeyGroupOf(hashes[i]), static_cast<int>(tasks.size())) == static_cast<int>(task))
            mine.push_back(i);
        }
        if (!mine.empty()) Feed(*tasks[task]->op, 0, batch.Gather(mine), sink);
      }
      ASSERT_EQ(sink.rows(), Recompute(rows));
      if (pending && below(3) == 0) {
        // What the snapshot says must be the state at its barrier, whatever has happened since: a restored task's
        // results change from there.
        ASSERT_TRUE(pending->Finish());
        MemorySnapshot snapshot;
        snapshot.Add(0, 1, pending->content);
        Task restored(options);
        ASSERT_TRUE(restored.op->Restore(snapshot));
        MemorySnapshotWriter again;
        ASSERT_TRUE(restored.op->Snapshot(again));
        ASSERT_TRUE(again.Finish());
        EXPECT_EQ(restored.op->StateSizes()[0].rows, static_cast<int64_t>(at_pending.size()));
        pending = nullptr;
      } else if (!pending && tasks.size() == 1 && below(10) == 0) {
        pending = std::make_unique<MemorySnapshotWriter>();
        ASSERT_TRUE(tasks[0]->op->Snapshot(*pending));
        at_pending = sink.rows();
      } else if (!pending && below(10) == 0) {
        MemorySnapshot snapshot;
        for (size_t task = 0; task < tasks.size(); ++task) {
          MemorySnapshotWriter writer;
          ASSERT_TRUE(tasks[task]->op->Snapshot(writer));
          ASSERT_TRUE(writer.Finish());
          snapshot.Add(static_cast<int>(task), static_cast<int>(tasks.size()), writer.content);
        }
        const int parallelism = std::array<int, 3>{1, 2, 4}[random() % 3];
        tasks.clear();
        for (int task = 0; task < parallelism; ++task) {
          tasks.push_back(std::make_unique<Task>(options, task, parallelism));
          const Status status = tasks.back()->op->Restore(snapshot);
          ASSERT_TRUE(status) << status.error().ToString();
        }
      }
    }
    for (const auto& task : tasks) EXPECT_EQ(task->context.metrics.ignored_deletes, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, AggregateRandom,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(1, 7, 100),
                                            ::testing::Values(6, 500)));

}  // namespace
}  // namespace weir
