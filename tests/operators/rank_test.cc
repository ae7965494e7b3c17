#include "operators/rank/rank.h"

#include "tests/operators/order_model.h"
#include "tests/slow_build.h"

namespace weir {
namespace {

constexpr uint64_t kSeeds = testing::kSlowBuild ? 2 : 6;

using testing::CapturingOutput;
using testing::Collapsed;
using testing::Feed;
using testing::MakeSchema;
using testing::CompareRows;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::OrderedRow;
using testing::OrderedRun;
using testing::ParseBatch;
using testing::Partitions;
using testing::TaskContext;

const SchemaPtr kInput = testing::kOrderedInput;

RankOptions Options(std::vector<SortColumn> sort, RankBounds bounds, bool retracts) {
  RankOptions options;
  options.input = kInput;
  std::vector<Field> fields = kInput->fields();
  if (bounds.output) fields.push_back({"rn", BigintType(), false});
  options.schema = MakeSchema(fields);
  options.partition = {0};
  options.sort = std::move(sort);
  options.bounds = std::move(bounds);
  options.input_retracts = retracts;
  return options;
}

RankBounds Bounds(OverFunction function, int64_t from, int64_t to, bool output, bool latest_first = false) {
  return {function, from, to, output, "rn", latest_first};
}

struct Task : testing::OperatorUnderTest {
  explicit Task(const RankOptions& options, int task = 0, int parallelism = 1) : OperatorUnderTest(MakeRank(options), kInput, task, parallelism) {}
};

using F = OverFunction;

TEST(Rank, NumbersShiftAsPairs) {
  Task task(Options({{1, true, true}}, Bounds(F::kRowNumber, 1, 2, true), true));
  EXPECT_EQ(task.Feed("+I 1 5 x 1\n+I 1 7 x 2\n"), "+I 1 7 'x' 2 1\n+I 1 5 'x' 1 2\n");
  EXPECT_EQ(task.Feed("+I 1 6 x 3\n"), "-U 1 5 'x' 1 2\n+U 1 6 'x' 3 2\n");
  EXPECT_EQ(task.Feed("+I 1 1 x 4\n"), "");
  EXPECT_EQ(task.Feed("-D 1 7 x 2\n"), "-U 1 7 'x' 2 1\n+U 1 6 'x' 3 1\n-U 1 6 'x' 3 2\n+U 1 5 'x' 1 2\n");
  EXPECT_EQ(task.Feed("-D 1 6 x 3\n-D 1 5 x 1\n"), "-D 1 5 'x' 1 2\n-U 1 6 'x' 3 1\n+U 1 1 'x' 4 1\n");
  EXPECT_EQ(task.Feed("-D 9 1 x 4\n"), "");
  EXPECT_EQ(task.context.metrics.ignored_deletes, 1);
}

TEST(Rank, WithoutNumbersOnlyRowsThatEnterAndLeaveAreSeen) {
  Task task(Options({{1, false, false}}, Bounds(F::kRowNumber, 1, 2, false), true));
  EXPECT_EQ(task.Feed("+I 1 5 x 1\n+I 1 7 x 2\n+I 1 NULL x 3\n"), "+I 1 5 'x' 1\n+I 1 7 'x' 2\n");
  EXPECT_EQ(task.Feed("+I 1 1 x 4\n"), "-D 1 7 'x' 2\n+I 1 1 'x' 4\n");
  EXPECT_EQ(task.Feed("-U 1 1 x 4\n+U 1 2 x 4\n"), "-D 1 1 'x' 4\n+I 1 2 'x' 4\n");
  EXPECT_EQ(task.Feed("-U 1 2 x 4\n+U 1 2 x 4\n"), "");
}

TEST(Rank, TheLaterArrivalWinsWhereTheLastIsKept) {
  for (const bool retracts : {false, true}) {
    Task last(Options({{1, true, true}}, Bounds(F::kRowNumber, 1, 1, false, true), retracts));
    EXPECT_EQ(last.Feed("+I 1 5 x 1\n"), "+I 1 5 'x' 1\n");
    EXPECT_EQ(last.Feed("+I 1 5 x 2\n"), "-U 1 5 'x' 1\n+U 1 5 'x' 2\n");
    EXPECT_EQ(last.Feed("+I 1 4 x 3\n+I 1 5 x 4\n+I 1 5 x 5\n"), "-U 1 5 'x' 2\n+U 1 5 'x' 5\n");
  }
  Task first(Options({{1, false, false}}, Bounds(F::kRowNumber, 1, 1, false), false));
  EXPECT_EQ(first.Feed("+I 1 5 x 1\n"), "+I 1 5 'x' 1\n");
  EXPECT_EQ(first.Feed("+I 1 5 x 2\n"), "");
  EXPECT_EQ(first.Feed("+I 1 4 x 3\n"), "-U 1 5 'x' 1\n+U 1 4 'x' 3\n");
}

TEST(Rank, RanksKeepAllPeers) {
  for (const bool retracts : {false, true}) {
    Task rank(Options({{1, false, false}}, Bounds(F::kRank, 1, 2, true), retracts));
    EXPECT_EQ(rank.Feed("+I 1 5 x 1\n+I 1 6 x 2\n"), "+I 1 5 'x' 1 1\n+I 1 6 'x' 2 2\n");
    EXPECT_EQ(rank.Feed("+I 1 5 x 3\n"), "-D 1 6 'x' 2 2\n+I 1 5 'x' 3 1\n");
    Task dense(Options({{1, false, false}}, Bounds(F::kDenseRank, 2, 2, true), retracts));
    EXPECT_EQ(dense.Feed("+I 1 5 x 1\n+I 1 6 x 2\n+I 1 7 x 3\n"), "+I 1 6 'x' 2 2\n");
    EXPECT_EQ(dense.Feed("+I 1 5 x 4\n+I 1 6 x 5\n"), "+I 1 6 'x' 5 2\n");
    EXPECT_EQ(dense.Feed("+I 1 4 x 6\n").size(), std::string("-D 1 6 'x' 2 2\n").size() * 4);
  }
}

TEST(Rank, LimitIsAPartitionOfAllRows) {
  RankOptions options = Options({}, Bounds(F::kRowNumber, 2, 3, false), false);
  options.partition = {};
  Task task(options);
  EXPECT_EQ(task.Feed("+I 1 5 x 1\n+I 2 6 x 2\n"), "+I 2 6 'x' 2\n");
  EXPECT_EQ(task.Feed("+I 1 5 x 3\n+I 1 6 x 4\n"), "+I 1 5 'x' 3\n");
  EXPECT_EQ(task.Feed("+I 1 5 x 5\n"), "");
  RankOptions none = Options({}, Bounds(F::kRowNumber, 1, 0, false), false);
  EXPECT_EQ(Task(none).Feed("+I 1 5 x 1\n"), "");
}

TEST(Rank, OfAWindowComesWhenItHasEnded) {
  for (const bool retracts : {false, true}) {
    RankOptions options = Options({{3, true, true}}, Bounds(F::kRowNumber, 1, 2, true), retracts);
    options.partition = {0, 1};
    options.bounds.window_end = 1;
    options.bounds.lateness = 5;
    Task task(options);
    EXPECT_EQ(task.Feed("+I 1 20 x 1\n+I 1 20 x 3\n+I 2 30 x 7\n+I 1 20 x 2\n"), "");
    CapturingOutput early;
    ASSERT_TRUE(task.op->OnWatermark(24, early));
    EXPECT_EQ(early.Text(), "");
    MemorySnapshotWriter writer;
    ASSERT_TRUE(task.op->Snapshot(writer));
    ASSERT_TRUE(writer.Finish());
    MemorySnapshot snapshot;
    snapshot.Add(0, 1, writer.content);
    Task restored(options);
    ASSERT_TRUE(restored.op->Restore(snapshot));
    CapturingOutput out;
    ASSERT_TRUE(restored.op->OnWatermark(25, out));
    EXPECT_EQ(out.Text(), "+I 1 20 'x' 3 1\n+I 1 20 'x' 2 2\n");
    EXPECT_EQ(restored.Feed("+I 1 20 x 9\n"), "");
    EXPECT_EQ(restored.context.metrics.late_rows, 1);
    CapturingOutput end;
    ASSERT_TRUE(restored.op->OnEnd(end));
    EXPECT_EQ(end.Text(), "+I 2 30 'x' 7 1\n");
    EXPECT_EQ(restored.op->StateSizes()[0].rows, 0);
  }
}

// --- against a recomputation

std::map<std::string, int> Recompute(const std::vector<OrderedRow>& rows, const RankOptions& options) {
  std::map<std::string, int> result;
  for (const auto& [key, members] : Partitions(rows, options.sort)) {
    int64_t number = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      const bool peer = i > 0 && CompareRows(members[i - 1], members[i], options.sort) == 0;
      const auto position = static_cast<int64_t>(i) + 1;
      if (options.bounds.function == F::kRowNumber || (!peer && options.bounds.function == F::kRank)) number = position;
      if (!peer && options.bounds.function == F::kDenseRank) ++number;
      if (number < options.bounds.from || number > options.bounds.to) continue;
      ++result[members[i].Picture() + (options.bounds.output ? " " + std::to_string(number) : "")];
    }
  }
  return result;
}

TEST(Rank, IsTheRecomputation) {
  const std::vector<SortColumn> by_all = {{1, true, false}, {2, false, true}, {3, false, false}};
  const std::vector<SortColumn> by_value = {{1, false, true}};
  const std::vector<std::pair<std::vector<SortColumn>, RankBounds>> cases = {
      {by_all, Bounds(F::kRowNumber, 1, 1, false)},  {by_all, Bounds(F::kRowNumber, 1, 1, true)},
      {by_all, Bounds(F::kRowNumber, 1, 3, true)},   {by_all, Bounds(F::kRowNumber, 1, 3, false)},
      {by_all, Bounds(F::kRowNumber, 2, 4, true)},   {by_all, Bounds(F::kRowNumber, 3, RankBounds::kAll, false)},
      {by_value, Bounds(F::kRank, 1, 3, true)},      {by_value, Bounds(F::kRank, 1, 3, false)},
      {by_value, Bounds(F::kDenseRank, 1, 2, true)}, {by_value, Bounds(F::kDenseRank, 2, 3, false)},
  };
  for (const bool retracts : {false, true}) {
    for (size_t c = 0; c < cases.size(); ++c) {
      for (const size_t batch : {1, 7, 4096}) {
        for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
          SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(c) + ", batch " +
                       std::to_string(batch) + (retracts ? ", retracts" : ", append"));
          const RankOptions options = Options(cases[c].first, cases[c].second, retracts);
          OrderedRun run(
              seed, batch, retracts, [&] { return MakeRank(options); },
              [&](const std::vector<OrderedRow>& rows) { return Recompute(rows, options); });
          run.Run(batch == 4096 ? 3000 : 300);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// A partition of many blocks, with rows that come and go anywhere in it.
TEST(Rank, ALargePartition) {
  RankOptions options = Options({{1, false, false}, {3, true, true}}, Bounds(F::kRowNumber, 1, 5, true), true);
  options.partition = {};
  Task task(options);
  std::mt19937_64 random(1);
  Collapsed result;
  std::vector<OrderedRow> rows;
  for (int step = 0; step < 12; ++step) {
    std::string text;
    for (int i = 0; i < 600; ++i) {
      OrderedRow row;
      row.a = static_cast<int64_t>(random() % 100'000);
      row.id = step * 600 + i;
      rows.push_back(row);
      text += row.Line("+I");
      if (random() % 3 != 0) continue;
      const size_t at = random() % rows.size();
      text += rows[at].Line("-D");
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
    }
    Feed(*task.op, 0, ParseBatch(kInput, text), result);
    ASSERT_EQ(result.rows(), Recompute(rows, options)) << "step " << step;
  }
  std::string text;
  for (const OrderedRow& row : rows) text += row.Line("-D");
  Feed(*task.op, 0, ParseBatch(kInput, text), result);
  EXPECT_TRUE(result.rows().empty());
  EXPECT_EQ(task.op->StateSizes()[0].rows, 0);
  EXPECT_EQ(task.op->StateSizes()[1].rows, 0);
}

TEST(Rank, OfAppendOnlyInputOnlyTheFirstRowsAreKept) {
  Task task(Options({{1, true, true}}, Bounds(F::kRowNumber, 1, 2, true), false));
  std::string text;
  for (int i = 0; i < 50; ++i) text += "+I 1 " + std::to_string(i) + " x " + std::to_string(i) + "\n";
  task.Feed(text);
  EXPECT_EQ(task.op->StateSizes()[0].rows, 2);
}

}  // namespace
}  // namespace weir
