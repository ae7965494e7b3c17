#include "tables/base/sorted_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::ElementsAre;

TEST(SortedRows, OrderIsThatOfTheBytesThenOfArrival) {
  SortedRows rows;
  rows.Add(1, "same start, then b", "");
  rows.Add(1, "same start, then \xff", "");
  rows.Add(1, "same start, then b", "", "later");
  rows.Add(1, "same start, then ", "b");
  rows.Sort();
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i) order.push_back(rows.at(i).index);
  EXPECT_THAT(order, ElementsAre(3, 0, 2, 1));
  EXPECT_EQ(rows.at(2).rest, "later");
}

TEST(BaseKeys, PartsOfAKey) {
  for (const size_t length : {0U, 1U, 127U, 128U, 20'000U}) {
    const std::string group(length, 'g');
    std::string key;
    AppendKey(0x0102, group, "unique", key);
    const size_t prefix = GroupPrefixBytes(key);
    EXPECT_EQ(key.substr(prefix), "unique");
    EXPECT_EQ(GroupOf(key, prefix), group);
    EXPECT_EQ(GroupPrefixBytes(key.substr(0, prefix)), prefix);
    EXPECT_EQ(GroupPrefixBytes(key.substr(0, prefix - 1)), 0U);
  }
  EXPECT_EQ(GroupPrefixBytes(kMarkerKey), 0U);
  EXPECT_EQ(GroupPrefixBytes("\x01"), 0U);
}

}  // namespace
}  // namespace weir
