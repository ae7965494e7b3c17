#include "engine/runtime/watermarks.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

Batch Times(std::vector<std::pair<uint32_t, int64_t>> rows) {
  const auto schema = std::make_shared<const Schema>(std::vector<Field>{{"ts", TimestampType()}});
  BatchBuilder builder(schema);
  auto positions = std::make_shared<std::vector<RowPosition>>();
  for (const auto& [partition, time] : rows) {
    if (time < 0) {
      builder.column(0).AppendNull();
    } else {
      builder.column(0).AppendInt(time);
    }
    builder.FinishRow(RowKind::kInsert);
    positions->push_back({partition, static_cast<int64_t>(positions->size())});
  }
  Batch batch = builder.Build();
  batch.set_positions(std::move(positions));
  return batch;
}

EventTimeSpec Spec(Micros bound, std::optional<Micros> idle_timeout = std::nullopt) { return {0, bound, idle_timeout, false}; }

TEST(WatermarkGeneratorTest, IsTheSlowestPartitionMinusTheBound) {
  WatermarkGenerator generator(Spec(5));
  generator.SetPartitionCount(2, 0);
  generator.Observe(Times({{0, 100}}), 0);
  EXPECT_EQ(generator.Current().time, kMinMicros) << "partition 1 has not spoken";
  generator.Observe(Times({{1, 40}, {0, 90}}), 0);
  EXPECT_EQ(generator.Current(), (WatermarkState{35, false}));
  generator.Observe(Times({{1, 200}, {1, -1}}), 0);
  EXPECT_EQ(generator.Current(), (WatermarkState{95, false}));
}

TEST(WatermarkGeneratorTest, AnIdlePartitionDoesNotHoldTheOthersBack) {
  WatermarkGenerator generator(Spec(0, 30));
  generator.SetPartitionCount(2, 0);
  generator.Observe(Times({{0, 100}}), 20);
  generator.CheckIdle(29);
  EXPECT_EQ(generator.Current().time, kMinMicros);
  generator.CheckIdle(30);
  EXPECT_EQ(generator.Current(), (WatermarkState{100, false}));
  generator.CheckIdle(50);
  EXPECT_TRUE(generator.Current().idle);
  generator.Observe(Times({{1, 70}}), 60);
  EXPECT_EQ(generator.Current(), (WatermarkState{70, false}));
}

TEST(WatermarkGeneratorTest, WithoutATimeoutAPartitionIsNeverIdle) {
  WatermarkGenerator generator(Spec(0));
  generator.SetPartitionCount(1, 0);
  generator.CheckIdle(1'000'000'000);
  EXPECT_FALSE(generator.Current().idle);
  generator.MarkIdle(0);
  EXPECT_TRUE(generator.Current().idle);
  EXPECT_TRUE(generator.idle(0));
}

TEST(WatermarkGeneratorTest, PartitionsThatHaveEndedAreNotIdle) {
  WatermarkGenerator generator(Spec(5));
  generator.SetPartitionCount(3, 0);
  generator.Observe(Times({{0, 100}}), 0);
  generator.Observe(Times({{1, 40}}), 0);
  generator.MarkEnded(1);
  EXPECT_EQ(generator.Current().time, kMinMicros) << "partition 2 has not spoken";
  generator.MarkIdle(2);
  EXPECT_EQ(generator.Current(), (WatermarkState{95, false}));
  generator.MarkEnded(0);
  EXPECT_TRUE(generator.Current().idle);
  generator.MarkEnded(2);
  EXPECT_EQ(generator.Current(), (WatermarkState{kMaxMicros, false}));
  EXPECT_FALSE(generator.idle(1)) << "a restored source says so itself";
}

TEST(WatermarkGeneratorTest, ATaskWithoutPartitionsIsIdle) {
  EXPECT_TRUE(WatermarkGenerator(Spec(0)).Current().idle);
}

TEST(WatermarkMergerTest, TakesTheMinimumOfWhatIsNotIdleAndNotEnded) {
  WatermarkMerger merger(3);
  EXPECT_EQ(merger.Current().time, kMinMicros);
  merger.Set(0, {10, false});
  merger.Set(1, {20, false});
  merger.Set(2, {0, true});
  EXPECT_EQ(merger.Current(), (WatermarkState{10, false}));
  merger.End(0);
  EXPECT_EQ(merger.Current(), (WatermarkState{20, false}));
  merger.Set(1, {20, true});
  EXPECT_TRUE(merger.Current().idle);
  merger.End(1);
  merger.End(2);
  EXPECT_EQ(merger.Current(), (WatermarkState{kMaxMicros, false}));
}

}  // namespace
}  // namespace weir
