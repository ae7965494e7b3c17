#include "connectors/memory/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/connectors/fakes.h"

namespace weir {
namespace {

using ::testing::ElementsAre;

Schema TwoColumns() { return Schema({{"id", BigintType(), true}, {"name", StringType(), true}}); }

class MemorySourceTest : public ::testing::Test {
 protected:
  Batch Rows(const std::vector<std::pair<RowKind, std::vector<std::string>>>& rows) {
    return MakeBatch(std::make_shared<const Schema>(TwoColumns()), rows);
  }
  std::unique_ptr<Source> Open(const Positions& restored = {}, int task = 0, int parallelism = 1) {
    auto source = MakeMemorySource({"m", feed, {}, read, {}});
    EXPECT_TRUE(source) << source.error().ToString();
    SourceContext context;
    context.task = task;
    context.parallelism = parallelism;
    context.metrics = &metrics;
    context.wake = [this, task] { woken.push_back(task); };
    const Status status = (*source)->Open(context, restored);
    EXPECT_TRUE(status);
    return std::move(*source);
  }

  std::shared_ptr<MemoryFeed> feed = std::make_shared<MemoryFeed>(TwoColumns(), 2);
  std::vector<int> read = {0, 1};
  SourceMetrics metrics;
  std::vector<int> woken;
};

TEST_F(MemorySourceTest, KeepsTheOrderOfArrivalOverPartitionsAndIdleMarks) {
  auto source = Open();
  CollectedSource out;
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  feed->Push(Rows({{RowKind::kInsert, {"1", "a"}}}), 0);
  feed->Push(Rows({{RowKind::kInsert, {"2", "b"}}}), 0);
  feed->Push(Rows({{RowKind::kInsert, {"3", "NULL"}}}), 1);
  feed->MarkIdle(1);
  feed->Push(Rows({{RowKind::kDelete, {"1", "a"}}}), 0);
  EXPECT_EQ(woken, (std::vector<int>{0, 0, 0, 0, 0}));
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  EXPECT_EQ(out.Text(), "+I 1 'a'\n+I 2 'b'\n+I 3 NULL\n-D 1 'a'\n");
  ASSERT_EQ(out.batches.size(), 3U);  // the first two pushes were waiting together
  EXPECT_EQ(out.batches[0].rows(), 2U);
  EXPECT_EQ((*out.batches[2].positions())[0].offset, 2);
  EXPECT_THAT(out.idle, ElementsAre(std::make_pair(size_t{2}, size_t{1})));
  feed->End();
  EXPECT_EQ(*PollAll(*source, out), SourceState::kEnded);
  EXPECT_EQ(source->CurrentPositions(), (Positions{{"0", "3"}, {"1", "2"}}));
  EXPECT_EQ(metrics.records_in.load(), 4);
  EXPECT_EQ(source->Describe({1, 7}), "m/1/7");
}

TEST_F(MemorySourceTest, ReadsAgainFromARestoredPosition) {
  feed->Push(Rows({{RowKind::kInsert, {"1", "a"}}}), 0);
  feed->MarkIdle(0);
  feed->Push(Rows({{RowKind::kInsert, {"2", "b"}}}), 0);
  feed->Push(Rows({{RowKind::kInsert, {"3", "c"}}}), 1);
  auto source = Open({{"0", "1"}, {"1", "0"}}, 0, 2);
  CollectedSource out;
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  EXPECT_EQ(out.Text(), "+I 2 'b'\n");
  EXPECT_THAT(out.idle, ElementsAre(std::make_pair(size_t{0}, size_t{0})));
  EXPECT_EQ(source->CurrentPositions(), (Positions{{"0", "3"}}));
}

TEST_F(MemorySourceTest, WakesOnlyTheTaskOfThePartition) {
  auto first = Open({}, 0, 2);
  auto second = Open({}, 1, 2);
  feed->Push(Rows({{RowKind::kInsert, {"1", "a"}}}), 1);
  EXPECT_THAT(woken, ElementsAre(1));
  second->Close();
  feed->Push(Rows({{RowKind::kInsert, {"1", "a"}}}), 1);
  EXPECT_THAT(woken, ElementsAre(1));
}

TEST_F(MemorySourceTest, SplitsALargePushBetweenUpdates) {
  std::vector<std::pair<RowKind, std::vector<std::string>>> rows(kBatchRows - 1, {RowKind::kInsert, {"1", "a"}});
  rows.push_back({RowKind::kUpdateBefore, {"1", "a"}});
  rows.push_back({RowKind::kUpdateAfter, {"1", "b"}});
  feed->Push(Rows(rows));
  auto source = Open();
  CollectedSource out;
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  ASSERT_EQ(out.batches.size(), 2U);
  EXPECT_EQ(out.batches[0].rows(), kBatchRows - 1);
  EXPECT_EQ(out.batches[1].ToString(), "-U 1 'a'\n+U 1 'b'\n");
  EXPECT_EQ((*out.batches[1].positions())[0].offset, static_cast<int64_t>(kBatchRows - 1));
}

TEST_F(MemorySourceTest, ProjectsWithoutCopying) {
  read = {1};
  const Batch batch = Rows({{RowKind::kInsert, {"1", "a"}}});
  feed->Push(batch);
  auto source = Open();
  CollectedSource out;
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  ASSERT_EQ(out.batches.size(), 1U);
  EXPECT_EQ(out.batches[0].columns()[0], batch.columns()[1]);
}

TEST(MemorySinkTest, DropsRowsOfEpochsAboveTheRestoredOne) {
  auto result = std::make_shared<MemoryResult>();
  auto sink = MakeMemorySink(result);
  ASSERT_TRUE(sink);
  NoOutput out;
  const auto schema = std::make_shared<const Schema>(TwoColumns());
  ASSERT_TRUE((*sink)->Process(0, MakeBatch(schema, {{RowKind::kInsert, {"1", "a"}}}), out));
  FakeSnapshotWriter writer(7);
  ASSERT_TRUE((*sink)->Snapshot(writer));
  ASSERT_TRUE((*sink)->Process(0, MakeBatch(schema, {{RowKind::kInsert, {"2", "b"}}}), out));
  auto again = MakeMemorySink(result);
  ASSERT_TRUE((*again)->Restore(FakeSnapshotReader(7, {})));
  ASSERT_TRUE((*again)->Process(0, MakeBatch(schema, {{RowKind::kInsert, {"3", "c"}}}), out));
  EXPECT_THAT(*result->Collapsed(), ElementsAre("1 'a'", "3 'c'"));
  result->Append(MakeBatch(schema, {{RowKind::kDelete, {"9", "z"}}}));
  EXPECT_FALSE(result->Collapsed());
}

}  // namespace
}  // namespace weir
