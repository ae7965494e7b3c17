// Accumulators of parts of a group, put together, are the accumulator of the whole.
#include "operators/aggregate/accumulator.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/operators/fakes.h"

namespace weir {
namespace {

using F = AggregateFunction;
using testing::MakeSchema;

const SchemaPtr kInput = MakeSchema({{"v", BigintType()}, {"d", DoubleType()}, {"m", DecimalType(30, 2)}});

std::vector<Accumulator> AllForms() {
  std::vector<Accumulator> accumulators;
  size_t offset = sizeof(int64_t);
  const auto add = [&](F function, int argument, DataType type) {
    accumulators.push_back(Accumulator::Make({function, argument, false, -1, type, "c"}, *kInput, false));
    accumulators.back().offset = offset;
    offset += accumulators.back().Size();
  };
  add(F::kCount, 0, BigintType());
  add(F::kSum, 0, DecimalType(38, 0));
  add(F::kAvg, 0, DecimalType(38, 16));
  add(F::kSum, 1, DoubleType());
  add(F::kSum, 2, DecimalType(38, 2));
  for (const F function : {F::kMin, F::kMax}) {
    add(function, 0, BigintType());
    add(function, 1, DoubleType());
    add(function, 2, DecimalType(30, 2));
  }
  return accumulators;
}

std::string ResultOf(const Accumulator& accumulator, const char* group) {
  Column column(accumulator.call.type);
  EXPECT_TRUE(accumulator.AppendResults(std::span<const char* const>(&group, 1), column));
  auto shared = std::make_shared<Column>(std::move(column));
  return Batch(MakeSchema({{"c", accumulator.call.type}}), {shared}, 1).ToString();
}

TEST(Accumulator, PartsMakeTheWhole) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    const size_t rows = random() % 20;
    BatchBuilder builder(kInput);
    for (size_t row = 0; row < rows; ++row) {
      const auto value = static_cast<int64_t>(random() % 2000) - 1000;
      if (random() % 5 == 0) {
        builder.column(0).AppendNull();
      } else {
        builder.column(0).AppendInt(value);
      }
      const double special = random() % 2 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                               : std::numeric_limits<double>::infinity();
      builder.column(1).AppendDouble(random() % 20 == 0 ? special : static_cast<double>(value) / 4);
      builder.column(2).AppendWide(value * 1'000'000'007);
      builder.FinishRow(RowKind::kInsert);
    }
    const Batch batch = builder.Build();
    const std::vector<int8_t> signs(rows, 1);
    const size_t parts = 1 + random() % 4;
    std::vector<std::vector<char>> payloads(parts + 1, std::vector<char>(1024));
    std::vector<char*> whole(rows, payloads[parts].data());
    std::vector<char*> part(rows);
    for (size_t row = 0; row < rows; ++row) part[row] = payloads[random() % parts].data();
    std::vector<char> merged(1024);
    for (const Accumulator& accumulator : AllForms()) {
      ASSERT_TRUE(accumulator.CanMerge());
      ASSERT_TRUE(accumulator.Update(batch, signs, whole));
      ASSERT_TRUE(accumulator.Update(batch, signs, part));
      for (size_t i = 0; i < parts; ++i) ASSERT_TRUE(accumulator.Merge(merged.data(), payloads[i].data()));
      EXPECT_EQ(ResultOf(accumulator, merged.data()), ResultOf(accumulator, payloads[parts].data()));
    }
  }
}

TEST(Accumulator, AMergedSumOutOfRangeIsAnError) {
  const Accumulator sum = Accumulator::Make({F::kSum, 2, false, -1, DecimalType(38, 2), "c"}, *kInput, false);
  std::vector<char> a(64), b(64);
  const Int128 large = static_cast<Int128>((~static_cast<unsigned __int128>(0)) >> 1);
  StoreAt(a.data(), large);
  StoreAt(b.data(), large);
  EXPECT_FALSE(sum.Merge(a.data(), b.data()));
}

}  // namespace
}  // namespace weir
