// Reads the partitions of one task through one consumer.
//
// 1. Every partition's fetch queue is forwarded to one queue of the task (librdkafka's legacy consumer: the only way to
//    take many messages a call without a group assignment in between; half the cost of a poll per message).
// 2. Poll takes what the queue holds, at most kBatchRows messages, copies the values behind one another, which gives
//    the decoder its padding and the cache one stream, and decodes them with one call.
// 3. The queue calls Wake when it was empty and is not any more, so nothing polls while there is nothing to read.
// 4. A thread looks for partitions that the topic gets later; Poll starts to read this task's share of them.
// 5. A bounded partition ends by position or by the end-of-partition event, never by a message: transaction markers
//    and compaction leave offsets without one.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "connectors/decode/message_rows.h"
#include "connectors/kafka/client.h"
#include "connectors/kafka/fetch_waker.h"
#include "connectors/kafka/offsets.h"
#include "connectors/kafka/options.h"
#include "connectors/kafka/partition_watch.h"
#include "engine/data/text.h"

namespace weir {
namespace {

constexpr size_t kPadding = 64;
constexpr Micros kLagInterval = 1'000'000;
constexpr Micros kWatchInterval = 30'000'000;
constexpr const char* kWatchProperty = "topic.metadata.refresh.interval.ms";
// How long Close waits for the answers to offset commits.
constexpr int kCommitPatienceMs = 2'000;

KafkaClientOptions ConsumerOptions(const KafkaSourceOptions& options) {
  KafkaClientOptions client;
  client.type = RD_KAFKA_CONSUMER;
  client.name = options.name;
  client.brokers = options.brokers;
  client.defaults = {{"check.crcs", "false"},
                     {"fetch.min.bytes", "1"},
                     {"fetch.message.max.bytes", "1048576"},
                     {"fetch.max.bytes", "16777216"},
                     // What is queued is of the task, over all its partitions; the answer to a fetch comes on top.  A
                     // short queue is read from the cache, in memory that was used a moment ago.
                     {"queued.min.messages", "20000"},
                     {"queued.max.messages.kbytes", "32768"},
                     {"isolation.level", "read_committed"}};
  for (auto& property : KafkaFetchWaker::Properties()) client.defaults.push_back(std::move(property));
  client.user = options.client;
  client.mandatory = {{"enable.auto.commit", "false"},
                      {"enable.auto.offset.store", "false"},
                      {"enable.partition.eof", "true"},
                      {"auto.offset.reset", "error"}};
  if (!options.group.empty()) client.mandatory.emplace_back("group.id", options.group);
  return client;
}

// How often to look for new partitions; empty: never, as librdkafka has it for -1.
std::optional<Micros> WatchInterval(const KafkaSourceOptions& options) {
  if (options.bounded) return std::nullopt;  // it has fixed what it reads
  const auto given = options.client.find(kWatchProperty);
  if (given == options.client.end()) return kWatchInterval;
  const Parsed<int64_t> interval_ms = ParseInteger(given->second, 1, 3'600'000);
  if (!interval_ms) return std::nullopt;
  return interval_ms.value * 1000;
}

class KafkaSource final : public Source {
 public:
  explicit KafkaSource(KafkaSourceOptions options) : options_(std::move(options)) {}
  ~KafkaSource() override { Close(); }

  Status Open(const SourceContext& context, const Positions& restored) override;
  Result<SourceState> Poll(SourceOutput& out) override;
  Positions CurrentPositions() const override;
  std::vector<std::string> Partitions() const override;
  std::string Describe(const RowPosition& position) const override {
    return fmt::format("{}/{}/{}", options_.topic, parts_[position.partition].id, position.offset);
  }
  Status OnCommit(Epoch epoch, const Positions& positions) override;
  void Close() override;

 private:
  struct Part {
    int id = 0;
    KafkaPosition position;
    bool reading = false;
    bool marked_ended = false;  // its end was reported
  };

  static void Wake(rd_kafka_t*, void* opaque) { static_cast<KafkaSource*>(opaque)->context_.wake(); }
  Status ResolvePositions(int partitions, const Positions& restored);
  Status StartReading(Part& part);
  void StopReading(Part& part);
  Status AddNewPartitions();
  // Turns the messages taken into raw messages; moves positions.
  Status Collect(size_t count);
  void CopyBytes(size_t bytes);
  Status HandleEvent(const rd_kafka_message_t& event);
  Status HandleLostOffset(Part& part);
  // A partition that has ended is not read any more and does not hold the watermark back.
  void FinishEnded(SourceOutput& out);
  void UpdateLag();
  void KeepFetching();
  bool AllEnded() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.position.Ended(); });
  }

  const KafkaSourceOptions options_;
  SourceContext context_;
  bool needs_key_ = false;
  bool needs_timestamp_ = false;
  std::unique_ptr<KafkaClient> client_;
  KafkaTopic topic_;
  KafkaQueue queue_;
  std::optional<KafkaFetchWaker> waker_;
  std::unique_ptr<PartitionWatch> watch_;
  std::vector<Part> parts_;
  std::vector<int> part_of_id_;  // index in parts_ by Kafka's partition number, or -1
  std::unique_ptr<MessageRows> rows_;
  std::vector<rd_kafka_message_t*> taken_;
  std::vector<const rd_kafka_message_t*> kept_;
  std::vector<RawMessage> messages_;
  Buffer<char> bytes_;
  Micros last_lag_ = INT64_MIN / 2;
  int64_t lag_ = 0;  // this task's share of the metric
};

Status KafkaSource::Open(const SourceContext& context, const Positions& restored) {
  context_ = context;
  WEIR_ASSIGN(rows_, MessageRows::Make(options_.decoder, options_.on_error,
                                       [this](const RowPosition& position) { return Describe(position); }));
  rows_->set_metrics(context.metrics);
  needs_key_ = options_.decoder.upsert;
  for (const SourceColumn& column : options_.decoder.columns) {
    needs_key_ = needs_key_ || column.metadata == Metadata::kKey;
    needs_timestamp_ = needs_timestamp_ || column.metadata == Metadata::kTimestamp;
  }
  WEIR_ASSIGN(client_, KafkaClient::Make(ConsumerOptions(options_)));
  WEIR_ASSIGN(const int partitions, client_->WaitForTopic(options_.topic, options_.connect_timeout));
  topic_.reset(rd_kafka_topic_new(client_->handle(), options_.topic.c_str(), nullptr));
  WEIR_TRY(ResolvePositions(partitions, restored));
  queue_.reset(rd_kafka_queue_new(client_->handle()));
  if (context_.wake) rd_kafka_queue_cb_event_enable(queue_.get(), &KafkaSource::Wake, this);
  waker_.emplace(*client_, options_.topic);
  taken_.resize(kBatchRows);
  for (Part& part : parts_) {
    if (!part.position.Ended()) WEIR_TRY(StartReading(part));
  }
  if (const auto interval = WatchInterval(options_)) {
    watch_ = std::make_unique<PartitionWatch>(*client_, options_.topic, partitions, *interval, context_.wake);
  }
  return {};
}

Status KafkaSource::ResolvePositions(int partitions, const Positions& restored) {
  // A partition that the checkpoint does not know was made after the job's first start: all of it is new.
  KafkaSourceOptions start = options_;
  if (!restored.empty()) start.start.kind = KafkaStart::Kind::kEarliest;
  const KafkaOffsetFinder finder(*client_, start);
  std::vector<int> unknown;
  for (int id = context_.task; id < partitions; id += context_.parallelism) {
    const auto at = restored.find(std::to_string(id));
    if (at == restored.end()) {
      // A bounded job has fixed what it reads; a partition made later is not part of it.
      if (!options_.bounded || restored.empty()) unknown.push_back(id);
      continue;
    }
    const auto position = KafkaPosition::Parse(at->second);
    if (!position) return StateError("'" + at->second + "' is not a position of a Kafka partition", options_.topic);
    WEIR_ASSIGN(const KafkaPosition checked, finder.CheckRetained(id, *position));
    parts_.push_back({id, checked});
  }
  WEIR_ASSIGN(const std::vector<KafkaPosition> starts, finder.Start(unknown));
  for (size_t i = 0; i < unknown.size(); ++i) parts_.push_back({unknown[i], starts[i]});
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.id < b.id; });
  part_of_id_.assign(static_cast<size_t>(partitions), -1);
  for (size_t i = 0; i < parts_.size(); ++i) part_of_id_[static_cast<size_t>(parts_[i].id)] = static_cast<int>(i);
  return {};
}

Status KafkaSource::AddNewPartitions() {
  if (!watch_) return {};
  for (const NewPartition& found : watch_->Take()) {
    part_of_id_.resize(static_cast<size_t>(found.id) + 1, -1);
    if (found.id % context_.parallelism != context_.task) continue;
    spdlog::info("{}: topic {} has a new partition {}", options_.name, options_.topic, found.id);
    part_of_id_.back() = static_cast<int>(parts_.size());
    Part& part = parts_.emplace_back();
    part.id = found.id;
    part.position.offset = found.begin;
    WEIR_TRY(StartReading(part));
  }
  return {};
}

Status KafkaSource::StartReading(Part& part) {
  if (rd_kafka_consume_start_queue(topic_.get(), part.id, part.position.offset, queue_.get()) != 0) {
    return ConnectorError(fmt::format("cannot start reading: {}", rd_kafka_err2str(rd_kafka_last_error())),
                          fmt::format("{}/{}", options_.topic, part.id));
  }
  part.reading = true;
  return {};
}

void KafkaSource::StopReading(Part& part) {
  if (!part.reading) return;
  part.reading = false;
  rd_kafka_consume_stop(topic_.get(), part.id);
}

Result<SourceState> KafkaSource::Poll(SourceOutput& out) {
  rd_kafka_poll(client_->handle(), 0);  // error and commit callbacks
  WEIR_TRY(AddNewPartitions());
  FinishEnded(out);
  UpdateLag();
  if (AllEnded()) return SourceState::kEnded;
  const ssize_t count = rd_kafka_consume_batch_queue(queue_.get(), 0, taken_.data(), taken_.size());
  if (count < 0) {
    return ConnectorError(std::string("cannot read: ") + rd_kafka_err2str(rd_kafka_last_error()), options_.topic);
  }
  if (count == 0) return SourceState::kWaiting;
  KeepFetching();
  Status status = Collect(static_cast<size_t>(count));
  for (ssize_t i = 0; i < count; ++i) rd_kafka_message_destroy(taken_[static_cast<size_t>(i)]);
  WEIR_TRY(status);
  if (!messages_.empty()) WEIR_TRY(rows_->Add(messages_));
  if (rows_->rows() > 0) out.Emit(rows_->Take());
  FinishEnded(out);
  if (AllEnded()) UpdateLag();
  return AllEnded() ? SourceState::kEnded : SourceState::kRunning;
}

void KafkaSource::KeepFetching() {
  if (context_.clock == nullptr) return;
  if (!waker_->Due(rd_kafka_queue_length(queue_.get()), context_.clock->Monotonic())) return;
  std::vector<int> reading;
  for (const Part& part : parts_) {
    if (part.reading) reading.push_back(part.id);
  }
  waker_->Wake(reading);
}

void KafkaSource::FinishEnded(SourceOutput& out) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    if (part.marked_ended || !part.position.Ended()) continue;
    part.marked_ended = true;
    StopReading(part);
    out.MarkEnded(i);
  }
}

Status KafkaSource::Collect(size_t count) {
  kept_.clear();
  size_t bytes = kPadding;
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_message_t& message = *taken_[i];
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      WEIR_TRY(HandleEvent(message));
      continue;
    }
    Part& part = parts_[static_cast<size_t>(part_of_id_[static_cast<size_t>(message.partition)])];
    KafkaPosition& position = part.position;
    if (position.Ended() || message.offset < position.offset) continue;
    if (position.end && message.offset >= *position.end) {
      position.offset = *position.end;
      continue;
    }
    position.offset = message.offset + 1;
    kept_.push_back(&message);
    bytes += message.len + (needs_key_ ? message.key_len + kPadding : 0);
  }
  CopyBytes(bytes);
  return {};
}

void KafkaSource::CopyBytes(size_t bytes) {
  bytes_.resize(bytes);
  messages_.resize(kept_.size());
  char* at = bytes_.data();
  int64_t input = 0;
  for (size_t i = 0; i < kept_.size(); ++i) {
    const rd_kafka_message_t& from = *kept_[i];
    RawMessage& message = messages_[i];
    message.tombstone = from.payload == nullptr;
    if (!message.tombstone) std::memcpy(at, from.payload, from.len);
    message.value = {at, from.len};
    at += from.len;
    message.key.reset();
    if (needs_key_ && from.key != nullptr) {
      std::memcpy(at, from.key, from.key_len);
      message.key = std::string_view(at, from.key_len);
      at += from.key_len;
      std::memset(at, 0, kPadding);
      at += kPadding;
    }
    message.timestamp_ms = -1;
    if (needs_timestamp_) {
      rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
      message.timestamp_ms = rd_kafka_message_timestamp(&from, &type);
    }
    message.partition = static_cast<uint32_t>(part_of_id_[static_cast<size_t>(from.partition)]);
    message.partition_id = from.partition;
    message.offset = from.offset;
    input += static_cast<int64_t>(from.len + from.key_len);
  }
  std::memset(at, 0, static_cast<size_t>(bytes_.data() + bytes - at));
  if (context_.metrics != nullptr) context_.metrics->input_bytes.fetch_add(input, std::memory_order_relaxed);
}

Status KafkaSource::HandleEvent(const rd_kafka_message_t& event) {
  const bool known = event.partition >= 0 && static_cast<size_t>(event.partition) < part_of_id_.size() &&
                     part_of_id_[static_cast<size_t>(event.partition)] >= 0;
  if (!known) {
    spdlog::warn("{}: {}", options_.name, rd_kafka_message_errstr(&event));
    return {};
  }
  Part& part = parts_[static_cast<size_t>(part_of_id_[static_cast<size_t>(event.partition)])];
  switch (event.err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
      part.position.offset = std::max(part.position.offset, event.offset);
      // Everything committed when the source opened has come; what an open transaction holds was not there then.
      if (part.position.end) part.position.end = std::min(*part.position.end, part.position.offset);
      return {};
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
      return HandleLostOffset(part);
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return ConnectorError(rd_kafka_message_errstr(&event), fmt::format("{}/{}", options_.topic, part.id));
    default:
      // A lost broker and the like: librdkafka goes on trying, and so does the job.
      spdlog::warn("{}/{}: {}", options_.topic, part.id, rd_kafka_message_errstr(&event));
      return {};
  }
}

Status KafkaSource::HandleLostOffset(Part& part) {
  const KafkaOffsetFinder finder(*client_, options_);
  WEIR_ASSIGN(part.position, finder.CheckRetained(part.id, part.position));
  StopReading(part);
  return part.position.Ended() ? Status() : StartReading(part);
}

void KafkaSource::UpdateLag() {
  if (context_.metrics == nullptr || context_.clock == nullptr) return;
  const Micros now = context_.clock->Monotonic();
  if (now - last_lag_ < kLagInterval && !AllEnded()) return;
  last_lag_ = now;
  int64_t lag = 0;
  for (const Part& part : parts_) {
    int64_t low = 0;
    int64_t high = 0;
    if (part.position.Ended()) continue;
    if (rd_kafka_get_watermark_offsets(client_->handle(), options_.topic.c_str(), part.id, &low, &high) ==
        RD_KAFKA_RESP_ERR_NO_ERROR) {
      lag += std::max<int64_t>(part.position.end.value_or(high) - part.position.offset, 0);
    }
  }
  context_.metrics->lag.fetch_add(lag - lag_, std::memory_order_relaxed);
  lag_ = lag;
}

Positions KafkaSource::CurrentPositions() const {
  Positions out;
  for (const Part& part : parts_) out[std::to_string(part.id)] = part.position.ToString();
  return out;
}

std::vector<std::string> KafkaSource::Partitions() const {
  std::vector<std::string> out;
  out.reserve(parts_.size());
  for (const Part& part : parts_) out.push_back(std::to_string(part.id));
  return out;
}

Status KafkaSource::OnCommit(Epoch, const Positions& positions) {
  if (options_.group.empty() || !client_) return {};
  // Not over parts_: another thread may be adding to them.
  const KafkaOffsets offsets(rd_kafka_topic_partition_list_new(static_cast<int>(positions.size())));
  for (const auto& [id, text] : positions) {
    const Parsed<int64_t> number = ParseInteger(id, 0, INT32_MAX);
    const auto position = KafkaPosition::Parse(text);
    if (!number || !position || number.value % context_.parallelism != context_.task) continue;
    const auto partition = static_cast<int32_t>(number.value);
    rd_kafka_topic_partition_list_add(offsets.get(), options_.topic.c_str(), partition)->offset = position->offset;
  }
  if (offsets->cnt == 0) return {};
  client_->commits_in_flight.fetch_add(1);
  if (rd_kafka_commit(client_->handle(), offsets.get(), 1) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    client_->commits_in_flight.fetch_sub(1);
  }
  return {};
}

void KafkaSource::Close() {
  if (!client_) return;
  watch_.reset();
  for (int waited = 0; client_->commits_in_flight.load() > 0 && waited < kCommitPatienceMs; waited += 10) {
    rd_kafka_poll(client_->handle(), 10);
  }
  if (queue_) rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
  for (Part& part : parts_) StopReading(part);
  queue_.reset();
  topic_.reset();
  waker_.reset();
  client_.reset();
}

}  // namespace

Result<std::unique_ptr<Source>> MakeKafkaSource(const KafkaSourceOptions& options) {
  if (options.topic.empty()) return ConfigError("a Kafka source needs a topic", options.name);
  return std::make_unique<KafkaSource>(options);
}

}  // namespace weir
