#include "connectors/kafka/fetch_waker.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr Micros kLater = 1'000'000;

TEST(FetchWakeRuleTest, WakesWhenHalfOfALongQueueIsGone) {
  FetchWakeRule rule;
  EXPECT_FALSE(rule.Due(50'000, 0));
  EXPECT_FALSE(rule.Due(26'000, kLater));
  EXPECT_TRUE(rule.Due(24'000, 2 * kLater));
}

TEST(FetchWakeRuleTest, AnAnswerThatFillsTheQueueIsWaitedForAgain) {
  FetchWakeRule rule;
  rule.Due(50'000, 0);
  EXPECT_TRUE(rule.Due(20'000, kLater));
  EXPECT_FALSE(rule.Due(15'000, 2 * kLater));
  EXPECT_FALSE(rule.Due(60'000, 3 * kLater));
  EXPECT_TRUE(rule.Due(30'000, 4 * kLater));
}

TEST(FetchWakeRuleTest, DoesNotAskAgainAtOnce) {
  FetchWakeRule rule;
  rule.Due(50'000, 0);
  EXPECT_TRUE(rule.Due(20'000, kLater));
  EXPECT_FALSE(rule.Due(9'000, kLater + 1));
  EXPECT_TRUE(rule.Due(5'000, 2 * kLater));
}

TEST(FetchWakeRuleTest, LeavesAShortQueueAlone) {
  FetchWakeRule rule;
  EXPECT_FALSE(rule.Due(1'000, 0));
  EXPECT_FALSE(rule.Due(0, kLater));
}

}  // namespace
}  // namespace weir
