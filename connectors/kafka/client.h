// A librdkafka handle with weir's ways around it: configuration, the first connection, errors and logs.
//
// Thread-safe.  Callbacks of librdkafka run in the thread that polls the handle, but for logs, which come from
// librdkafka's own threads.
#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"

namespace weir {

struct KafkaClientOptions {
  rd_kafka_type_t type = RD_KAFKA_CONSUMER;
  std::string name;  // of the source or sink, for messages
  std::string brokers;
  std::vector<std::pair<std::string, std::string>> defaults;   // the user's properties override these,
  std::map<std::string, std::string> user;                     // and
  std::vector<std::pair<std::string, std::string>> mandatory;  // these override the user's
  // Producers: called for every message when its fate is known.
  void (*on_delivery)(rd_kafka_t*, const rd_kafka_message_t*, void*) = nullptr;
};

class KafkaClient {
 public:
  static Result<std::unique_ptr<KafkaClient>> Make(const KafkaClientOptions& options);
  ~KafkaClient();
  KafkaClient(const KafkaClient&) = delete;
  KafkaClient& operator=(const KafkaClient&) = delete;

  rd_kafka_t* handle() const { return handle_; }

  // The number of partitions of the topic.  Waits for a broker until the timeout; a topic that does not exist is an
  // error as soon as the brokers had the time to agree on that.
  Result<int> WaitForTopic(const std::string& topic, Micros timeout);

  // The number of partitions of a topic that exists; 0 when no broker says so in time.
  int CountPartitions(const std::string& topic, int timeout_ms);

  // The error after which the handle can do nothing more, or empty.
  std::string FatalError() const;

  // Offset commits that were sent and not answered.
  std::atomic<int> commits_in_flight{0};

 private:
  explicit KafkaClient(const KafkaClientOptions& options) : name_(options.name), brokers_(options.brokers) {}
  static void OnError(rd_kafka_t* handle, int error, const char* reason, void* opaque);
  static void OnLog(const rd_kafka_t* handle, int level, const char* facility, const char* text);
  static void OnCommitted(rd_kafka_t* handle, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t* offsets,
                          void* opaque);
  std::string LastError() const;

  const std::string name_;
  const std::string brokers_;
  rd_kafka_t* handle_ = nullptr;
  mutable std::mutex mutex_;
  std::string last_error_;   // guarded by mutex_
  Micros last_warning_ = 0;  // guarded by mutex_; monotonic
  bool warned_ = false;      // guarded by mutex_
  std::atomic<bool> commit_warned_{false};
};

// As librdkafka's calls take it.
int KafkaTimeoutMs(Micros timeout);

struct DestroyKafkaTopic {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};
using KafkaTopic = std::unique_ptr<rd_kafka_topic_t, DestroyKafkaTopic>;

struct DestroyKafkaQueue {
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
using KafkaQueue = std::unique_ptr<rd_kafka_queue_t, DestroyKafkaQueue>;

struct DestroyKafkaOffsets {
  void operator()(rd_kafka_topic_partition_list_t* list) const { rd_kafka_topic_partition_list_destroy(list); }
};
using KafkaOffsets = std::unique_ptr<rd_kafka_topic_partition_list_t, DestroyKafkaOffsets>;

}  // namespace weir
