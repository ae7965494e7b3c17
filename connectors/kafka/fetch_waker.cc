#include "connectors/kafka/fetch_waker.h"

#include <algorithm>

namespace weir {
namespace {

// Below this a queue is not full, and its messages are gone before an answer could come.
constexpr size_t kLong = 4096;
constexpr Micros kInterval = 5'000;
constexpr int kFirstVersionWithBackoff = 0x02020000;

}  // namespace

bool FetchWakeRule::Due(size_t left, Micros now) {
  longest_ = std::max(longest_, left);
  if (longest_ < kLong || left > longest_ / 2 || now - last_ < kInterval) return false;
  longest_ = left;
  last_ = now;
  return true;
}

bool KafkaFetchWaker::CanSetBackoff() { return rd_kafka_version() >= kFirstVersionWithBackoff; }

std::vector<std::pair<std::string, std::string>> KafkaFetchWaker::Properties() {
  if (CanSetBackoff()) return {{"fetch.queue.backoff.ms", "5"}};
  return {};
}

void KafkaFetchWaker::Wake(const std::vector<int>& partitions) const {
  const KafkaOffsets ends(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const int partition : partitions) {
    rd_kafka_topic_partition_list_add(ends.get(), topic_.c_str(), partition)->offset = RD_KAFKA_OFFSET_END;
  }
  // With no time to wait it sends one request to each leader and returns; that it timed out is no news.
  rd_kafka_offsets_for_times(client_.handle(), ends.get(), 0);
}

}  // namespace weir
