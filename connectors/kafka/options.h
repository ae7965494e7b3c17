// The Kafka connector (librdkafka): partitions spread over tasks, at-least-once sink.
//
// Source: every task consumes its partitions (partition p belongs to task p % parallelism) from one consumer with
// manual assignment; positions are offsets; `end: latest` stops at the end offsets found at the job's first start, by
// position or partition EOF, not by message.  A lost broker is waited for; only the first connection has a timeout.
// Sink: keyed by murmur2 like the Java client; Snapshot waits (FinishLater) until everything sent is acknowledged.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/format/format.h"
#include "engine/runtime/source.h"

namespace weir {

struct KafkaStart {
  enum class Kind { kEarliest, kLatest, kCommitted, kTimestamp };
  Kind kind = Kind::kEarliest;
  int64_t timestamp_ms = 0;
};

struct KafkaSourceOptions {
  std::string name;
  std::string brokers;
  std::string topic;
  std::string group;                            // for committed offsets and lag monitors; "weir-<job name>"
  KafkaStart start;
  bool bounded = false;                         // end: latest
  Micros connect_timeout = 30'000'000;
  bool lost_data_fails = true;                  // lost_data: fail | skip
  std::map<std::string, std::string> client;    // passed through to librdkafka (kafka: in the job file)
  DecoderOptions decoder;
  ErrorPolicy on_error;
};

struct KafkaSinkOptions {
  std::string name;
  std::string brokers;
  std::string topic;
  FormatKind format = FormatKind::kJson;
  bool upsert = true;          // changelog: upsert (tombstones for deletes) | full
  std::vector<int> key;        // columns of the message key; empty: all columns
  Micros connect_timeout = 30'000'000;
  std::map<std::string, std::string> client;
  SchemaPtr schema;
};

Result<std::unique_ptr<Source>> MakeKafkaSource(const KafkaSourceOptions& options);
Result<std::unique_ptr<Operator>> MakeKafkaSink(const KafkaSinkOptions& options);
// Every value of the options that names a secret must stay out of logs; this lists the property names that do.
bool IsSecretProperty(const std::string& librdkafka_property);
// Checks that librdkafka knows the property and takes the value; the error is its sentence.
bool IsKafkaProperty(const std::string& property);
Status CheckKafkaProperty(const std::string& property, const std::string& value);

}  // namespace weir
