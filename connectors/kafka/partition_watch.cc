#include "connectors/kafka/partition_watch.h"

#include <chrono>
#include <utility>

namespace weir {
namespace {

// How long one question waits for its answer; also bounds how long the end of a source waits for this thread.
constexpr int kAnswerMs = 2'000;

}  // namespace

PartitionWatch::PartitionWatch(KafkaClient& client, std::string topic, int known, Micros interval,
                               std::function<void()> wake)
    : client_(client), topic_(std::move(topic)), interval_(interval), wake_(std::move(wake)), known_(known) {
  thread_ = std::thread([this] { Loop(); });
}

PartitionWatch::~PartitionWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
  thread_.join();
}

std::vector<NewPartition> PartitionWatch::Take() {
  if (!any_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  any_.store(false, std::memory_order_relaxed);
  return std::exchange(found_, {});
}

void PartitionWatch::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, std::chrono::microseconds(interval_), [this] { return stopped_; })) {
    lock.unlock();
    Look();
    lock.lock();
  }
}

void PartitionWatch::Look() {
  const int partitions = client_.CountPartitions(topic_, kAnswerMs);
  std::vector<NewPartition> found;
  for (int id = known_; id < partitions; ++id) {
    int64_t low = 0;
    int64_t high = 0;
    const auto error = rd_kafka_query_watermark_offsets(client_.handle(), topic_.c_str(), id, &low, &high, kAnswerMs);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) break;
    found.push_back({id, low});
  }
  if (found.empty()) return;
  known_ += static_cast<int>(found.size());
  {
    const std::lock_guard lock(mutex_);
    found_.insert(found_.end(), found.begin(), found.end());
    any_.store(true, std::memory_order_release);
  }
  if (wake_) wake_();
}

}  // namespace weir
