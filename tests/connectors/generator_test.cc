#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "connectors/generator/options.h"
#include "tests/connectors/fakes.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

GeneratorOptions Orders(int64_t rows) {
  GeneratorOptions options;
  options.name = "g";
  options.kind = "orders";
  options.rows = rows;
  options.read = {0, 1, 2, 3, 4};
  return options;
}

std::unique_ptr<Source> Open(const GeneratorOptions& options, const Clock* clock = nullptr,
                             const Positions& restored = {}, int task = 0, int parallelism = 1) {
  auto source = MakeGeneratorSource(options);
  EXPECT_TRUE(source) << source.error().ToString();
  SourceContext context;
  context.task = task;
  context.parallelism = parallelism;
  context.clock = clock;
  EXPECT_TRUE((*source)->Open(context, restored));
  return std::move(*source);
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(GeneratorTest, WritesTheBytesOfTheBenchmarksGenerator) {
  const testing::TemporaryFolder folder;
  GeneratorOptions options = Orders(3);
  ASSERT_TRUE(GenerateFiles(options, folder.path()));
  EXPECT_EQ(ReadFile(folder / "orders.jsonl"),
            R"({"order_id":1,"user_id":112,"amount":233.56,"ts":1767225600000,"ds":"2026-01-01"}
{"order_id":2,"user_id":116322,"amount":690.72,"ts":1767427200000,"ds":"2026-01-03"}
{"order_id":3,"user_id":149979,"amount":903.38,"ts":1767628800000,"ds":"2026-01-05"}
)");
  options.kind = "visits";
  ASSERT_TRUE(GenerateFiles(options, folder.path()));
  EXPECT_EQ(
      ReadFile(folder / "visits.jsonl"),
      R"({"visit_id":1,"user_id":116084,"channel":"social","page":"/item/23709","ts":1767225600000,"ds":"2026-01-01"}
{"visit_id":2,"user_id":62130,"channel":"search","page":"/item/59770","ts":1767427200000,"ds":"2026-01-03"}
{"visit_id":3,"user_id":64606,"channel":"display","page":"/item/38315","ts":1767628800000,"ds":"2026-01-05"}
)");
}

TEST(GeneratorTest, MakesTheSameRowsWhateverThePartitionsAndRestarts) {
  GeneratorOptions options = Orders(10'000);
  options.partitions = 1;
  CollectedSource all;
  EXPECT_EQ(*PollAll(*Open(options), all), SourceState::kEnded);
  ASSERT_EQ(all.Rows(), 10'000U);

  options.partitions = 3;
  CollectedSource split;
  Positions positions;
  for (int task = 0; task < 2; ++task) {
    auto first = Open(options, nullptr, {}, task, 2);
    ASSERT_TRUE(first->Poll(split));
    positions.merge(first->CurrentPositions());
  }
  EXPECT_EQ(positions.size(), 3U);
  EXPECT_EQ(*PollAll(*Open(options, nullptr, positions), split), SourceState::kEnded);
  std::vector<std::string> want, got;
  for (const Batch& batch : all.batches) {
    for (size_t row = 0; row < batch.rows(); ++row) want.push_back(batch.Slice(row, 1).ToString());
  }
  for (const Batch& batch : split.batches) {
    for (size_t row = 0; row < batch.rows(); ++row) got.push_back(batch.Slice(row, 1).ToString());
  }
  std::sort(want.begin(), want.end());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(want, got);
}

TEST(GeneratorTest, KeepsThePace) {
  ManualClock clock;
  GeneratorOptions options = Orders(100);
  options.rate = 10;
  auto source = Open(options, &clock);
  CollectedSource out;
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  EXPECT_EQ(out.Rows(), 0U);
  clock.Advance(1'500'000);
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  EXPECT_EQ(out.Rows(), 15U);
  clock.Advance(100'000'000);
  EXPECT_EQ(*PollAll(*source, out), SourceState::kEnded);
  EXPECT_EQ(out.Rows(), 100U);
}

TEST(GeneratorTest, MovesRowsInTimeByAtMostTheBound) {
  GeneratorOptions options = Orders(5'000);
  options.partitions = 1;
  options.read = {3};
  CollectedSource in_order, moved;
  EXPECT_TRUE(PollAll(*Open(options), in_order));
  options.out_of_orderness = 3'600'000'000;
  EXPECT_TRUE(PollAll(*Open(options), moved));
  int64_t largest = 0;
  for (size_t b = 0; b < moved.batches.size(); ++b) {
    for (size_t row = 0; row < moved.batches[b].rows(); ++row) {
      const int64_t shift = in_order.batches[b].column(0).ints()[row] - moved.batches[b].column(0).ints()[row];
      EXPECT_GE(shift, 0);
      largest = std::max(largest, shift);
    }
  }
  EXPECT_LE(largest, options.out_of_orderness);
  EXPECT_GT(largest, options.out_of_orderness / 2);
}

TEST(GeneratorTest, SaysWhatIsWrongWithTheOptions) {
  GeneratorOptions options = Orders(1);
  options.kind = "order";
  EXPECT_THAT(MakeGeneratorSource(options).error().message, HasSubstr("there is no kind 'order'"));
  EXPECT_FALSE(GeneratorSchema("nothing"));
  options = Orders(1);
  options.users = 0;
  EXPECT_FALSE(MakeGeneratorSource(options));
}

}  // namespace
}  // namespace weir
