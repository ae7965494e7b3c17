#include "engine/data/buffer.h"

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <string>

namespace weir {
namespace {

TEST(BufferTest, GrowsAndKeepsItsValues) {
  Buffer<int64_t> numbers;
  EXPECT_TRUE(numbers.empty());
  for (int64_t i = 0; i < 1000; ++i) numbers.push_back(i);
  ASSERT_EQ(numbers.size(), 1000U);
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), int64_t{0}), 499500);
  EXPECT_EQ(numbers.back(), 999);
  numbers.resize(3);
  numbers.resize(5, -1);
  const std::span<const int64_t> values(numbers);
  EXPECT_EQ(std::vector<int64_t>(values.begin(), values.end()), (std::vector<int64_t>{0, 1, 2, -1, -1}));
  numbers.assign(2, 7);
  EXPECT_EQ(numbers.size(), 2U);
  EXPECT_EQ(numbers[1], 7);
}

TEST(BufferTest, CopiesAreItsOwnAndMovesLeaveNothing) {
  Buffer<char> text;
  const std::string word = "event time";
  text.append(word.data(), word.size());
  text.append(nullptr, 0);
  Buffer<char> copy = text;
  copy[0] = 'E';
  EXPECT_EQ(std::string(text.begin(), text.end()), "event time");
  Buffer<char> moved = std::move(copy);
  EXPECT_EQ(std::string(moved.begin(), moved.end()), "Event time");
  EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move): promised
  copy = moved;
  moved.clear();
  EXPECT_EQ(copy.size(), word.size());
  text = Buffer<char>(4);
  EXPECT_EQ(text.size(), 4U);
  text.reserve(100);
  EXPECT_GE(text.capacity(), 100U);
  EXPECT_EQ(text.size(), 4U);
}

}  // namespace
}  // namespace weir
