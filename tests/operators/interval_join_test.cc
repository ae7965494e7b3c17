// A join that forgets by the watermark gives what the join that keeps all rows gives, from a state that stays small.
#include <random>

#include "engine/data/hash.h"
#include "operators/join/join.h"
#include "tests/operators/fakes.h"

namespace weir {
namespace {

using testing::CapturingOutput;
using testing::Collapsed;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;

const SchemaPtr kRow = MakeSchema({{"k", BigintType()}, {"t", TimestampType(6)}, {"id", BigintType()}});

constexpr Micros kBefore = 10;
constexpr Micros kAfter = 20;

// l.t BETWEEN r.t - 10 AND r.t + 20
ExpressionPtr Condition() {
  const ExpressionPtr left = MakeColumn(1, TimestampType(6));
  const ExpressionPtr right = MakeColumn(4, TimestampType(6));
  const ExpressionPtr low = *MakeCall("-", {right, MakeInterval(0, kBefore)});
  const ExpressionPtr high = *MakeCall("+", {right, MakeInterval(0, kAfter)});
  return *MakeCall("BETWEEN", {left, low, high});
}

JoinOptions Options(JoinType type, bool expires) {
  std::vector<Field> fields = kRow->fields();
  fields.insert(fields.end(), kRow->fields().begin(), kRow->fields().end());
  JoinOptions options;
  options.type = type;
  options.left = {kRow, {0}, {}, ChangelogMode::kAppend};
  options.right = {kRow, {0}, {}, ChangelogMode::kAppend};
  if (expires) {
    options.left.expiry = RowExpiry{1, kBefore};
    options.right.expiry = RowExpiry{1, kAfter};
  }
  options.condition = Condition();
  options.schema = MakeSchema(std::move(fields));
  return options;
}

class Tasks {
 public:
  Tasks(JoinType type, bool expires) : options_(Options(type, expires)) { Start(2); }

  void Start(int parallelism) {
    contexts_.clear();
    tasks_.clear();
    for (int task = 0; task < parallelism; ++task) {
      contexts_.push_back(std::make_unique<TaskContext>(task, parallelism));
      auto made = MakeJoin(options_);
      EXPECT_TRUE(made);
      EXPECT_TRUE((*made)->Open(contexts_.back()->context));
      tasks_.push_back(std::move(*made));
    }
  }
  void Feed(int input, const Batch& row) {
    std::vector<uint64_t> hashes;
    HashRows(row, std::vector<int>{0}, hashes);
    const int task = TaskOf(KeyGroupOf(hashes[0]), static_cast<int>(tasks_.size()));
    testing::Feed(*tasks_[static_cast<size_t>(task)], input, row, rows);
  }
  void Watermark(Micros at) {
    CapturingOutput out;
    for (const auto& task : tasks_) ASSERT_TRUE(task->OnWatermark(at, out));
    EXPECT_EQ(out.Text(), "");
  }
  void Restore(int parallelism) {
    MemorySnapshot snapshot;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      MemorySnapshotWriter writer;
      ASSERT_TRUE(tasks_[i]->Snapshot(writer));
      ASSERT_TRUE(writer.Finish());
      snapshot.Add(static_cast<int>(i), static_cast<int>(tasks_.size()), writer.content);
    }
    Start(parallelism);
    for (const auto& task : tasks_) ASSERT_TRUE(task->Restore(snapshot));
  }
  int64_t state_rows() const {
    int64_t rows = 0;
    for (const auto& task : tasks_) {
      for (const StateSize& part : task->StateSizes()) rows += part.rows;
    }
    return rows;
  }
  int64_t late_rows() const {
    int64_t late = 0;
    for (const auto& context : contexts_) late += context->metrics.late_rows;
    return late;
  }

  Collapsed rows;

 private:
  JoinOptions options_;
  std::vector<std::unique_ptr<TaskContext>> contexts_;
  std::vector<std::unique_ptr<Operator>> tasks_;
};

class IntervalJoinTest : public ::testing::TestWithParam<JoinType> {};

TEST_P(IntervalJoinTest, ForgetsWhatCanMatchNothing) {
  constexpr Micros kDisorder = 15;
  std::mt19937_64 random(static_cast<uint64_t>(GetParam()) + 3);
  Tasks keeps(GetParam(), false);
  Tasks forgets(GetParam(), true);
  int64_t most = 0;
  for (int i = 0; i < 6000; ++i) {
    const Micros now = i;
    std::string key = std::to_string(random() % 20);
    std::string time = std::to_string(now - static_cast<Micros>(random() % static_cast<uint64_t>(kDisorder)));
    if (random() % 50 == 0) key = "NULL";
    if (random() % 50 == 0) time = "NULL";
    const Batch row = ParseBatch(kRow, "+I " + key + " " + time + " " + std::to_string(i) + "\n");
    const int input = static_cast<int>(random() % 2);
    keeps.Feed(input, row);
    forgets.Feed(input, row);
    forgets.Watermark(now - kDisorder);
    most = std::max(most, forgets.state_rows());
    if (random() % 1000 == 0) forgets.Restore(static_cast<int>(random() % 4) + 1);
  }
  EXPECT_EQ(forgets.rows.rows(), keeps.rows.rows());
  EXPECT_EQ(forgets.late_rows(), 0);
  EXPECT_LT(most, 3000);
  EXPECT_GT(keeps.state_rows(), 5000);
}

// Keys with one row and keys with hundreds lose rows together.
TEST_P(IntervalJoinTest, ListsOfAllLengthsForgetTheirOwnRows) {
  constexpr Micros kRowsAtATime = 40;
  constexpr Micros kDisorder = 15;
  std::mt19937_64 random(static_cast<uint64_t>(GetParam()) + 17);
  Tasks keeps(GetParam(), false);
  Tasks forgets(GetParam(), true);
  int64_t most = 0;
  for (int i = 0; i < 6000; ++i) {
    const Micros now = i / kRowsAtATime;
    const uint64_t key = random() % (uint64_t{1} << random() % 11);
    const Micros time = now - static_cast<Micros>(random() % static_cast<uint64_t>(kDisorder));
    const Batch row =
        ParseBatch(kRow, "+I " + std::to_string(key) + " " + std::to_string(time) + " " + std::to_string(i) + "\n");
    const int input = static_cast<int>(random() % 2);
    keeps.Feed(input, row);
    forgets.Feed(input, row);
    if (i % kRowsAtATime == 0) forgets.Watermark(now - kDisorder);
    most = std::max(most, forgets.state_rows());
    if (random() % 1500 == 0) forgets.Restore(static_cast<int>(random() % 4) + 1);
  }
  EXPECT_EQ(forgets.rows.rows(), keeps.rows.rows());
  EXPECT_EQ(forgets.late_rows(), 0);
  EXPECT_LT(most, 5000);
}

TEST_P(IntervalJoinTest, KeysWithoutRowsAreForgottenToo) {
  Tasks forgets(GetParam(), true);
  for (int i = 0; i < 5000; ++i) {
    forgets.Feed(i % 2, ParseBatch(kRow, "+I " + std::to_string(i) + " " + std::to_string(i) + " 1\n"));
    forgets.Watermark(i);
  }
  EXPECT_LT(forgets.state_rows(), 3000);
}

TEST(IntervalJoin, RowsThatComeTooLateAreCounted) {
  Tasks forgets(JoinType::kInner, true);
  forgets.Watermark(1000);
  forgets.Feed(0, ParseBatch(kRow, "+I 1 900 1\n"));
  forgets.Feed(0, ParseBatch(kRow, "+I 1 995 2\n"));
  EXPECT_EQ(forgets.late_rows(), 1);
}

INSTANTIATE_TEST_SUITE_P(Types, IntervalJoinTest,
                         ::testing::Values(JoinType::kInner, JoinType::kLeft, JoinType::kRight, JoinType::kFull));

}  // namespace
}  // namespace weir
