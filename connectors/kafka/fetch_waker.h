// Keeps fetches going although the queue of a consumer is short.
//
// librdkafka decides whether to fetch when an answer has come; if the queue is full then, its broker thread sleeps for
// up to a second, or until it has something to send.  A queue that lasts for a second would have to hold hundreds of
// thousands of messages, each with 300 bytes of librdkafka's own around it.  From 2.2 on fetch.queue.backoff.ms says
// how long it sleeps; before, a question to the partitions' leaders, whose answer nobody waits for, wakes it.
//
// Used by one thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kafka/client.h"
#include "engine/base/clock.h"

namespace weir {

// When to wake: the queue was long, and half of it is gone.
class FetchWakeRule {
 public:
  // `left` messages are in the queue after some were taken.
  bool Due(size_t left, Micros now);

 private:
  size_t longest_ = 0;  // since the last time
  Micros last_ = INT64_MIN / 2;
};

class KafkaFetchWaker {
 public:
  // Properties that go with a short queue.
  static std::vector<std::pair<std::string, std::string>> Properties();

  KafkaFetchWaker(const KafkaClient& client, std::string topic) : client_(client), topic_(std::move(topic)) {}

  // See FetchWakeRule.
  bool Due(size_t left, Micros now) { return needed_ && rule_.Due(left, now); }
  // `partitions` are those that are being read.  Does not wait.
  void Wake(const std::vector<int>& partitions) const;

 private:
  static bool CanSetBackoff();

  const KafkaClient& client_;
  const std::string topic_;
  const bool needed_ = !CanSetBackoff();
  FetchWakeRule rule_;
};

}  // namespace weir
