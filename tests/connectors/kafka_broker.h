// A real broker for tests: topics made and filled through librdkafka's own calls, so that they check weir against Kafka
// and not against itself.  Serves only when WEIR_KAFKA is set to host:port (tools/kafka/kafka start).
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace weir {

struct TestMessage {
  std::optional<std::string> value;  // empty: a tombstone
  std::optional<std::string> key;
  int partition = 0;
  int64_t timestamp_ms = 0;  // 0: now
};

inline std::string KafkaAddress() {
  const char* address = std::getenv("WEIR_KAFKA");
  return address == nullptr ? std::string() : std::string(address);
}

#define WEIR_NEEDS_KAFKA() \
  if (KafkaAddress().empty()) GTEST_SKIP() << "set WEIR_KAFKA=host:port to run the tests that need a Kafka broker"

class KafkaBroker {
 public:
  KafkaBroker() { handle_ = MakeProducer(""); }
  ~KafkaBroker() {
    for (const std::string& topic : topics_) Admin(topic, RD_KAFKA_ADMIN_OP_DELETETOPICS, 0);
    if (handle_ != nullptr) rd_kafka_destroy(handle_);
  }

  // A new topic with a name of its own.
  std::string CreateTopic(int partitions) {
    static int count = 0;
    std::string topic = "weir-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    Admin(topic, RD_KAFKA_ADMIN_OP_CREATETOPICS, partitions);
    topics_.push_back(topic);
    return topic;
  }

  void Produce(const std::string& topic, const std::vector<TestMessage>& messages) { Send(handle_, topic, messages); }

  // One transaction, committed or aborted.
  void ProduceInTransaction(const std::string& topic, const std::vector<TestMessage>& messages, bool commit) {
    rd_kafka_t* producer = MakeProducer("tx-" + topic);
    Check(rd_kafka_init_transactions(producer, 30000));
    Check(rd_kafka_begin_transaction(producer));
    Send(producer, topic, messages);
    Check(commit ? rd_kafka_commit_transaction(producer, 30000) : rd_kafka_abort_transaction(producer, 30000));
    rd_kafka_destroy(producer);
  }

  // Adds partitions, up to `partitions` in all.
  void Grow(const std::string& topic, size_t partitions) {
    char text[256];
    rd_kafka_NewPartitions_t* request = rd_kafka_NewPartitions_new(topic.c_str(), partitions, text, sizeof text);
    rd_kafka_queue_t* queue = rd_kafka_queue_new(handle_);
    rd_kafka_CreatePartitions(handle_, &request, 1, nullptr, queue);
    rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 30000);
    EXPECT_NE(event, nullptr);
    if (event != nullptr) {
      EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
      rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewPartitions_destroy(request);
  }

  // Makes offsets below `offset` of a partition expire.
  void DeleteBefore(const std::string& topic, int partition, int64_t offset) {
    rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic.c_str(), partition)->offset = offset;
    rd_kafka_DeleteRecords_t* request = rd_kafka_DeleteRecords_new(list);
    rd_kafka_queue_t* queue = rd_kafka_queue_new(handle_);
    rd_kafka_DeleteRecords(handle_, &request, 1, nullptr, queue);
    rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 30000);
    EXPECT_NE(event, nullptr);
    if (event != nullptr) {
      EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
      rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_DeleteRecords_destroy(request);
    rd_kafka_topic_partition_list_destroy(list);
  }

  // Everything in a partition.
  std::vector<TestMessage> Read(const std::string& topic, int partition) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    Set(conf, "bootstrap.servers", KafkaAddress());
    Set(conf, "enable.partition.eof", "true");
    rd_kafka_t* consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, nullptr, 0);
    rd_kafka_topic_t* handle = rd_kafka_topic_new(consumer, topic.c_str(), nullptr);
    rd_kafka_consume_start(handle, partition, RD_KAFKA_OFFSET_BEGINNING);
    std::vector<TestMessage> out;
    while (true) {
      rd_kafka_message_t* message = rd_kafka_consume(handle, partition, 30000);
      EXPECT_NE(message, nullptr);
      if (message == nullptr || message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (message != nullptr) rd_kafka_message_destroy(message);
        break;
      }
      TestMessage& copy = out.emplace_back();
      if (message->payload != nullptr) copy.value.emplace(static_cast<char*>(message->payload), message->len);
      if (message->key != nullptr) copy.key.emplace(static_cast<char*>(message->key), message->key_len);
      copy.partition = partition;
      rd_kafka_message_destroy(message);
    }
    rd_kafka_consume_stop(handle, partition);
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(consumer);
    return out;
  }

 private:
  static void Set(rd_kafka_conf_t* conf, const char* property, const std::string& value) {
    char text[256];
    ASSERT_EQ(rd_kafka_conf_set(conf, property, value.c_str(), text, sizeof text), RD_KAFKA_CONF_OK) << text;
  }
  static void Check(rd_kafka_error_t* error) {
    EXPECT_EQ(error, nullptr) << rd_kafka_error_string(error);
    if (error != nullptr) rd_kafka_error_destroy(error);
  }
  static rd_kafka_t* MakeProducer(const std::string& transactional_id) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    Set(conf, "bootstrap.servers", KafkaAddress());
    Set(conf, "linger.ms", "0");
    if (!transactional_id.empty()) Set(conf, "transactional.id", transactional_id);
    rd_kafka_t* handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0);
    EXPECT_NE(handle, nullptr);
    return handle;
  }
  static void Send(rd_kafka_t* producer, const std::string& topic, const std::vector<TestMessage>& messages) {
    for (const TestMessage& message : messages) {
      void* value = message.value ? const_cast<char*>(message.value->data()) : nullptr;
      const size_t value_size = message.value ? message.value->size() : 0;
      const void* key = message.key ? message.key->data() : nullptr;
      const size_t key_size = message.key ? message.key->size() : 0;
      const auto error =
          rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(message.partition),
                            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(value, value_size),
                            RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_TIMESTAMP(message.timestamp_ms), RD_KAFKA_V_END);
      EXPECT_EQ(error, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(error);
    }
    EXPECT_EQ(rd_kafka_flush(producer, 30000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  void Admin(const std::string& topic, rd_kafka_admin_op_t op, int partitions) {
    rd_kafka_queue_t* queue = rd_kafka_queue_new(handle_);
    if (op == RD_KAFKA_ADMIN_OP_CREATETOPICS) {
      char text[256];
      rd_kafka_NewTopic_t* request = rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, text, sizeof text);
      rd_kafka_CreateTopics(handle_, &request, 1, nullptr, queue);
      rd_kafka_NewTopic_destroy(request);
    } else {
      rd_kafka_DeleteTopic_t* request = rd_kafka_DeleteTopic_new(topic.c_str());
      rd_kafka_DeleteTopics(handle_, &request, 1, nullptr, queue);
      rd_kafka_DeleteTopic_destroy(request);
    }
    rd_kafka_event_t* event = rd_kafka_queue_poll(queue, 30000);
    EXPECT_NE(event, nullptr);
    if (event != nullptr) {
      EXPECT_EQ(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_event_error_string(event);
      rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
  }

  rd_kafka_t* handle_ = nullptr;
  std::vector<std::string> topics_;
};

}  // namespace weir
