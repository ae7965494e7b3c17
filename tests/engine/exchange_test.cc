#include "engine/runtime/exchange.h"

#include <gtest/gtest.h>

#include "engine/data/bucket.h"

namespace weir {
namespace {

TEST(Exchange, APairThatIsTornApartArrivesAsADeleteAndAnInsert) {
  const auto schema = std::make_shared<const Schema>(std::vector<Field>{{"k", BigintType()}});
  for (const Exchange exchange : {Exchange::kHash, Exchange::kBucket}) {
    Router router;
    std::vector<std::shared_ptr<Channel>> channels;
    for (int i = 0; i < 2; ++i) {
      channels.push_back(std::make_shared<Channel>(1000, 1 << 20));
      channels.back()->Connect([] {}, [] {});
    }
    EdgeSpec edge;
    edge.exchange = exchange;
    edge.key_columns = {0};
    edge.buckets = 8;
    router.AddEdge(edge, channels);
    auto keys = std::make_shared<Column>(BigintType());
    std::vector<RowKind> kinds;
    for (int64_t i = 0; i < 20; ++i) {  // pairs of the same key, then of neighbours
      keys->AppendInt(i / 2);
      keys->AppendInt(i / 2 + i % 2);
      kinds.insert(kinds.end(), {RowKind::kUpdateBefore, RowKind::kUpdateAfter});
    }
    router.Send(Batch(schema, {keys}, 40, kinds));
    router.Flush();
    int whole = 0;
    int torn = 0;
    for (const auto& channel : channels) {
      while (auto message = channel->Receive()) {
        const Batch& batch = message->batch;
        for (size_t row = 0; row < batch.rows(); ++row) {
          if (batch.IsUpdatePair(row)) {
            ++whole;
            ++row;
          } else {
            EXPECT_TRUE(batch.kind(row) == RowKind::kDelete || batch.kind(row) == RowKind::kInsert) << batch.ToString();
            ++torn;
          }
        }
      }
    }
    EXPECT_GE(whole, 10);
    EXPECT_GT(torn, 0);
    EXPECT_EQ(2 * whole + torn, 40);
  }
}

TEST(Exchange, LateRowsTakeTheEdgesOfTheirOperatorAlone) {
  const auto schema = std::make_shared<const Schema>(std::vector<Field>{{"k", BigintType()}});
  Router router;
  std::vector<std::shared_ptr<Channel>> channels;
  for (const char* late_of : {"", "aggregate-1", "aggregate-2"}) {
    channels.push_back(std::make_shared<Channel>(1000, 1 << 20));
    channels.back()->Connect([] {}, [] {});
    EdgeSpec edge;
    edge.late_of = late_of;
    router.AddEdge(edge, {channels.back()});
  }
  const auto rows = [&](size_t count) {
    auto keys = std::make_shared<Column>(BigintType());
    for (size_t i = 0; i < count; ++i) keys->AppendInt(static_cast<int64_t>(i));
    return Batch(schema, {keys}, count);
  };
  router.Send(rows(3));
  router.SendLate("aggregate-2", rows(2));
  router.SendLate("aggregate-2", rows(0));
  Message barrier;
  barrier.kind = Message::Kind::kBarrier;
  router.Broadcast(barrier);
  const std::vector<size_t> expected = {3, 0, 2};
  for (size_t i = 0; i < channels.size(); ++i) {
    auto message = channels[i]->Receive();
    if (expected[i] > 0) {
      ASSERT_TRUE(message);
      EXPECT_EQ(message->batch.rows(), expected[i]);
      message = channels[i]->Receive();
    }
    ASSERT_TRUE(message);
    EXPECT_EQ(message->kind, Message::Kind::kBarrier);
  }
}

}  // namespace
}  // namespace weir
