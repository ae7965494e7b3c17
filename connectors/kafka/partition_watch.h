// Looks for partitions that a topic gets while a source reads it.
//
// librdkafka's legacy consumer reads the partitions it is told to and never says that there are more.  A thread of its
// own asks, because the question waits for a broker, which a task's thread must not.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "connectors/kafka/client.h"

namespace weir {

struct NewPartition {
  int id = 0;
  int64_t begin = 0;  // its first offset: everything in it came while the job ran
};

class PartitionWatch {
 public:
  // Asks every `interval` for partitions from `known` on; calls `wake` when there are some.  The client outlives this.
  PartitionWatch(KafkaClient& client, std::string topic, int known, Micros interval, std::function<void()> wake);
  ~PartitionWatch();

  // The partitions found since the last call, by number and without a gap.  Any thread; cheap when there are none.
  std::vector<NewPartition> Take();

 private:
  void Loop();
  // Stops at the first that has no leader yet: the next round asks again.
  void Look();

  KafkaClient& client_;
  const std::string topic_;
  const Micros interval_;
  const std::function<void()> wake_;
  int known_;  // of the thread
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::condition_variable stopping_;
  std::vector<NewPartition> found_;  // guarded by mutex_
  bool stopped_ = false;             // guarded by mutex_
  std::thread thread_;
};

}  // namespace weir
