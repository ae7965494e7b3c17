#include "operators/join/join.h"

#include <random>

#include "tests/operators/join_model.h"

namespace weir {
namespace {

using testing::CapturingOutput;
using testing::Collapsed;
using testing::Feed;
using testing::MakeSchema;
using testing::Input;
using testing::JoinModel;
using testing::kSide;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::Options;
using testing::ParseBatch;
using testing::Storage;
using testing::Task;
using testing::ValuesDiffer;

TEST(Join, InnerAppendOnly) {
  Task task(Options(JoinType::kInner, ChangelogMode::kAppend, false));
  EXPECT_EQ(task.Left("+I 1 10 a\n+I 2 20 b\n+I NULL 30 c\n"), "");
  EXPECT_EQ(task.Right("+I 1 7 x\n+I NULL 8 y\n+I 3 9 z\n"), "+I 1 10 'a' 1 7 'x'\n");
  EXPECT_EQ(task.Left("+I 1 11 a2\n+I 3 12 a3\n"), "+I 1 11 'a2' 1 7 'x'\n+I 3 12 'a3' 3 9 'z'\n");
}

TEST(Join, LeftReplacesItsNullRow) {
  Task task(Options(JoinType::kLeft, ChangelogMode::kFull, false));
  EXPECT_EQ(task.Left("+I 1 10 a\n"), "+I 1 10 'a' NULL NULL NULL\n");
  EXPECT_EQ(task.Right("+I 1 7 x\n"), "-U 1 10 'a' NULL NULL NULL\n+U 1 10 'a' 1 7 'x'\n");
  EXPECT_EQ(task.Right("-U 1 7 x\n+U 1 7 y\n"), "-U 1 10 'a' 1 7 'x'\n+U 1 10 'a' 1 7 'y'\n");
  EXPECT_EQ(task.Right("-D 1 7 y\n"), "-U 1 10 'a' 1 7 'y'\n+U 1 10 'a' NULL NULL NULL\n");
  EXPECT_EQ(task.Right("-D 1 7 y\n"), "");
  EXPECT_EQ(task.context.metrics.ignored_deletes, 1);
}

TEST(Join, UniqueKeysReplaceAndDeleteByKey) {
  Task task(Options(JoinType::kInner, ChangelogMode::kUpsert, true));
  EXPECT_EQ(task.Right("+I 1 7 x\n"), "");
  EXPECT_EQ(task.Left("+I 1 10 a\n"), "+I 1 10 'a' 1 7 'x'\n");
  EXPECT_EQ(task.Left("+I 1 10 b\n"), "-U 1 10 'a' 1 7 'x'\n+U 1 10 'b' 1 7 'x'\n");
  EXPECT_EQ(task.Left("+U 1 10 b\n"), "");
  EXPECT_EQ(task.Left("-D 1 10 NULL\n"), "-D 1 10 'b' 1 7 'x'\n");
}

TEST(Join, SemiAndAntiFollowTheFirstAndLastMatch) {
  Task semi(Options(JoinType::kSemi, ChangelogMode::kFull, false));
  Task anti(Options(JoinType::kAnti, ChangelogMode::kFull, false));
  EXPECT_EQ(semi.Left("+I 1 10 a\n+I NULL 11 n\n"), "");
  EXPECT_EQ(anti.Left("+I 1 10 a\n+I NULL 11 n\n"), "+I 1 10 'a'\n+I NULL 11 'n'\n");
  EXPECT_EQ(semi.Right("+I 1 7 x\n+I 1 8 y\n"), "+I 1 10 'a'\n");
  EXPECT_EQ(anti.Right("+I 1 7 x\n+I 1 8 y\n"), "-D 1 10 'a'\n");
  EXPECT_EQ(semi.Right("-D 1 7 x\n"), "");
  EXPECT_EQ(semi.Right("-D 1 8 y\n"), "-D 1 10 'a'\n");
  EXPECT_EQ(anti.Right("-D 1 8 y\n-D 1 7 x\n"), "+I 1 10 'a'\n");
  EXPECT_EQ(anti.Left("-D NULL 11 n\n"), "-D NULL 11 'n'\n");
}

TEST(Join, PrunesOutputColumns) {
  JoinOptions options = Options(JoinType::kInner, ChangelogMode::kAppend, false);
  options.output_columns = std::vector<int>{5, 1};
  options.schema = MakeSchema({{"v", StringType()}, {"id", BigintType()}});
  Task task(options);
  EXPECT_EQ(task.Left("+I 1 10 a\n"), "");
  EXPECT_EQ(task.Right("+I 1 7 x\n"), "+I 'x' 10\n");
}

TEST(Join, OneRowThatMatchesManyIsResumed) {
  for (const JoinType type : {JoinType::kInner, JoinType::kFull}) {
    Task task(Options(type, ChangelogMode::kFull, false));
    Collapsed sink;
    const int rows = 20000;
    for (int from = 0; from < rows; from += 1000) {
      BatchBuilder builder(kSide);
      for (int i = from; i < from + 1000; ++i) {
        builder.column(0).AppendInt(1);
        builder.column(1).AppendInt(i);
        builder.column(2).AppendText("v");
        builder.FinishRow(RowKind::kInsert);
      }
      Feed(*task.join, 0, builder.Build(), sink);
    }
    CapturingOutput out;
    out.room = 1;
    const Batch one = ParseBatch(kSide, "+I 1 7 x\n");
    Result<Progress> progress = task.join->Process(1, one, out);
    ASSERT_TRUE(progress);
    EXPECT_EQ(*progress, Progress::kMore);
    EXPECT_EQ(out.batches.size(), 1u);
    out.room = 1 << 30;
    ASSERT_EQ(*task.join->Process(1, one, out), Progress::kDone);
    sink.Apply(out.batches);
    EXPECT_EQ(sink.rows().size(), static_cast<size_t>(rows));
    // Retractions find their row among the many.
    for (int i = 0; i < rows; i += 500) {
      Feed(*task.join, 0, ParseBatch(kSide, "-D 1 " + std::to_string(i) + " v\n"), sink);
    }
    EXPECT_EQ(sink.rows().size(), static_cast<size_t>(rows - rows / 500));
  }
}

TEST(Join, ASnapshotIsWrittenWhileTheFlowGoesOn) {
  Collapsed sink;
  std::mt19937_64 random(5);
  const auto feed = [&](Operator& join, std::mt19937_64& from, Collapsed& into, int batches) {
    for (int i = 0; i < batches; ++i) {
      std::string text;
      for (int row = 0; row < 50; ++row) {
        text += (from() % 4 == 0 ? "-D " : "+U ") + std::to_string(from() % 40) + " " + std::to_string(from() % 20) +
                " " + std::string(1, static_cast<char>('a' + from() % 3)) + "\n";
      }
      Feed(join, static_cast<int>(from() % 2), ParseBatch(kSide, text), into);
    }
  };
  // Unique by (key, id), so that an update stays with its key.
  JoinOptions keyed = Options(JoinType::kFull, ChangelogMode::kUpsert, true, ValuesDiffer());
  keyed.left.unique = keyed.right.unique = {0, 1};
  Task live(keyed);
  for (int round = 0; round < 5; ++round) {
    feed(*live.join, random, sink, 20);
    MemorySnapshotWriter writer;
    ASSERT_TRUE(live.join->Snapshot(writer));
    const Collapsed at_barrier = sink;
    const std::mt19937_64 random_at_barrier = random;
    std::thread io([&] { EXPECT_TRUE(writer.Finish()); });
    feed(*live.join, random, sink, 20);
    io.join();
    // The restored join repeats the same input from the barrier and comes to the same result.
    MemorySnapshot snapshot;
    snapshot.Add(0, 1, writer.content);
    Task restored(keyed);
    ASSERT_TRUE(restored.join->Restore(snapshot));
    Collapsed again = at_barrier;
    std::mt19937_64 same = random_at_barrier;
    feed(*restored.join, same, again, 20);
    ASSERT_EQ(again.rows(), sink.rows());
  }
}

TEST(Join, ATimeToLiveForgetsRows) {
  JoinOptions options = Options(JoinType::kInner, ChangelogMode::kAppend, false);
  options.state.ttl = 10'000'000;
  ManualClock clock(1'000'000'000);
  Task task(options, 0, 1, &clock);
  EXPECT_EQ(task.Left("+I 1 10 a\n"), "");
  clock.Advance(5'000'000);
  EXPECT_EQ(task.Right("+I 1 7 x\n"), "+I 1 10 'a' 1 7 'x'\n");
  clock.Advance(6'000'000);
  EXPECT_EQ(task.Right("+I 1 8 y\n"), "");
  EXPECT_EQ(task.Left("+I 1 11 b\n"), "+I 1 11 'b' 1 8 'y'\n+I 1 11 'b' 1 7 'x'\n");
}

// --- against a recomputation

class JoinRandom : public ::testing::TestWithParam<std::tuple<JoinType, bool>> {};

TEST_P(JoinRandom, IsTheNestedLoopOfItsInputs) {
  const auto [type, condition] = GetParam();
  const Input inputs[] = {Input::kAppend, Input::kMultiset, Input::kUniqueFull, Input::kUpsert};
  for (const Input left : inputs) {
    for (const Input right : inputs) {
      for (const int size : {1, 3, 40}) {
        const uint64_t seed =
            1 + 7 * static_cast<uint64_t>(left) + 31 * static_cast<uint64_t>(right) + 101 * static_cast<uint64_t>(size);
        SCOPED_TRACE("seed " + std::to_string(seed) + " left " + std::to_string(static_cast<int>(left)) + " right " +
                     std::to_string(static_cast<int>(right)) + " batch " + std::to_string(size));
        JoinModel model({type, left, right, condition, Storage::kMemory, 0, "", seed});
        for (int step = 0; step < (size == 1 ? 150 : 50); ++step) {
          model.Step(size);
          if (HasFatalFailure() || HasNonfatalFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, JoinRandom,
                         ::testing::Combine(::testing::Values(JoinType::kInner, JoinType::kLeft, JoinType::kRight,
                                                              JoinType::kFull, JoinType::kSemi, JoinType::kAnti),
                                            ::testing::Bool()));

}  // namespace
}  // namespace weir
