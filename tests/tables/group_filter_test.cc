// The filter of groups that have left memory.
#include "tables/group_filter.h"

#include <gtest/gtest.h>

#include "engine/data/hash.h"

namespace weir {
namespace {

uint64_t HashOf(uint64_t number) {
  return HashBytes(std::string_view(reinterpret_cast<const char*>(&number), sizeof(number)));
}

TEST(GroupFilter, KnowsWhatWasAddedAndLittleElse) {
  GroupFilter filter;
  EXPECT_TRUE(filter.empty());
  EXPECT_FALSE(filter.MayContain(HashOf(1)));
  constexpr uint64_t kEntries = 100'000;
  for (uint64_t i = 0; i < kEntries; ++i) {
    filter.Add(HashOf(i));
    ASSERT_TRUE(filter.MayContain(HashOf(i)));
  }
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kEntries; ++i) {
    ASSERT_TRUE(filter.MayContain(HashOf(i))) << i;
    wrong += filter.MayContain(HashOf(kEntries + i)) ? 1 : 0;
  }
  EXPECT_LT(wrong, kEntries / 50);
  EXPECT_LT(filter.bytes(), static_cast<int64_t>(8 * kEntries));  // the last layer may be nearly empty
}

TEST(GroupFilter, WhatIsAddedAgainTakesNoRoom) {
  GroupFilter filter;
  for (int round = 0; round < 1000; ++round) {
    for (uint64_t i = 0; i < 50; ++i) filter.Add(HashOf(i));
  }
  EXPECT_EQ(filter.bytes(), 4 * 64);
  filter.Clear();
  EXPECT_TRUE(filter.empty());
  EXPECT_EQ(filter.bytes(), 0);
  EXPECT_FALSE(filter.MayContain(HashOf(1)));
}

}  // namespace
}  // namespace weir
