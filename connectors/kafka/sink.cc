// Sends rows through one idempotent producer a task.
//
// 1. Process encodes the batch, finds the partition of each key (murmur2, as the Java client does) and hands the rows
//    over by partition, one produce call each.  librdkafka copies the payload in the allocation it makes anyway.
// 2. Every message carries the send counter of its epoch.  Delivery reports, which run in whatever thread polls, count
//    it down; Snapshot starts a new counter, and the I/O pool waits until the old one is zero.
// 3. Too much in flight: kBlocked.  The producer's main queue calls Wake when reports arrive.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "connectors/kafka/client.h"
#include "connectors/kafka/line_sink.h"
#include "connectors/kafka/options.h"

namespace weir {
namespace {

// An idempotent producer has at most five requests in flight, and librdkafka 2.0 polls without a pause while a message
// that is due has to wait for one of them.  So what is in flight fits about five requests of batch.size, and the linger
// is long enough that partitions do not send many small ones.
constexpr int64_t kMaxMessagesInFlight = 500'000;
constexpr int64_t kMaxBytesInFlight = int64_t{5} << 20;
constexpr int kFlushPollMs = 20;

KafkaClientOptions ProducerOptions(const KafkaSinkOptions& options,
                                   void (*on_delivery)(rd_kafka_t*, const rd_kafka_message_t*, void*)) {
  KafkaClientOptions client;
  client.type = RD_KAFKA_PRODUCER;
  client.name = options.name;
  client.brokers = options.brokers;
  client.defaults = {
      {"linger.ms", "200"}, {"batch.num.messages", "100000"}, {"batch.size", "1000000"}, {"compression.codec", "lz4"}};
  client.user = options.client;
  // Order and no duplicates within the session; a lost broker is waited for; the sink itself bounds what is in flight.
  client.mandatory = {{"enable.idempotence", "true"},
                      {"message.timeout.ms", "0"},
                      {"queue.buffering.max.messages", "10000000"},
                      {"queue.buffering.max.kbytes", "2147483647"}};
  client.on_delivery = on_delivery;
  return client;
}

struct SendState;

// Messages of one epoch that are not acknowledged yet.
struct EpochSends {
  explicit EpochSends(SendState* shared) : state(shared) {}
  SendState* state;
  std::atomic<int64_t> in_flight{0};
};

// What the sink shares with delivery reports and with the I/O pool, which may outlive it.
struct SendState {
  // The counters that messages may still point at; they outlive the client, which makes the reports.  Sink's task only.
  std::vector<std::shared_ptr<EpochSends>> sends;
  std::unique_ptr<KafkaClient> client;
  KafkaTopic topic;
  std::string topic_name;
  std::atomic<int64_t> bytes_in_flight{0};
  std::atomic<bool> failed{false};
  std::atomic<bool> closed{false};
  std::mutex mutex;
  std::string error;  // guarded by mutex: the first failed delivery

  Status Check() {
    if (failed.load(std::memory_order_acquire)) {
      std::lock_guard lock(mutex);
      return ConnectorError(error, topic_name);
    }
    return {};
  }
  Status CheckFatal() {
    const std::string fatal = client->FatalError();
    return fatal.empty() ? Status() : Status(ConnectorError(fatal, topic_name));
  }
};

void OnDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  auto* sends = static_cast<EpochSends*>(message->_private);
  SendState& state = *sends->state;
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && !state.failed.load(std::memory_order_relaxed)) {
    std::lock_guard lock(state.mutex);
    if (state.error.empty()) {
      state.error = fmt::format("partition {}: a message could not be delivered: {}", message->partition,
                                rd_kafka_err2str(message->err));
    }
    state.failed.store(true, std::memory_order_release);
  }
  state.bytes_in_flight.fetch_sub(static_cast<int64_t>(message->len + message->key_len), std::memory_order_relaxed);
  sends->in_flight.fetch_sub(1, std::memory_order_release);
}

class KafkaSink final : public Operator {
 public:
  // Without an encoder the rows are lines.
  KafkaSink(KafkaSinkOptions options, std::unique_ptr<Encoder> encoder)
      : options_(std::move(options)), encoder_(std::move(encoder)) {
    if (options_.key.empty()) {
      for (size_t i = 0; i < options_.schema->size(); ++i) options_.key.push_back(static_cast<int>(i));
    }
  }
  ~KafkaSink() override { Close(); }

  Status Open(const OperatorContext& context) override;
  Result<Progress> Process(int input, const Batch& batch, Output& out) override;
  Status Snapshot(SnapshotWriter& writer) override;
  void Close() override;

 private:
  static void Wake(rd_kafka_t*, void* opaque) {
    auto* sink = static_cast<KafkaSink*>(opaque);
    if (sink->blocked_.load()) sink->context().wake();
  }
  void StartEpoch();
  bool HasRoom(size_t rows) const;
  // Sorts the rows into messages by partition.
  void MakeMessages(const Batch& batch);
  bool IsTombstone(const Batch& batch, size_t row, bool& skipped) const;
  // The same for rows that are lines: the partitions take turns.
  void MakeLineMessages(const Batch& batch);
  Status Send();
  std::string_view Key(size_t row) const {
    const size_t from = row == 0 ? 0 : key_ends_[row - 1];
    return std::string_view(keys_).substr(from, key_ends_[row] - from);
  }

  KafkaSinkOptions options_;
  const std::unique_ptr<Encoder> encoder_;
  std::shared_ptr<SendState> state_;
  KafkaQueue main_queue_;
  std::shared_ptr<EpochSends> sends_;  // of the running epoch
  std::atomic<bool> blocked_{false};
  std::string values_, keys_;
  std::vector<size_t> value_ends_, key_ends_;
  std::vector<std::vector<rd_kafka_message_t>> messages_;  // by partition
  size_t next_partition_ = 0;                              // of lines
};

Status KafkaSink::Open(const OperatorContext& context) {
  WEIR_TRY(Operator::Open(context));
  state_ = std::make_shared<SendState>();
  state_->topic_name = options_.topic;
  WEIR_ASSIGN(state_->client, KafkaClient::Make(ProducerOptions(options_, &OnDelivery)));
  WEIR_ASSIGN(const int partitions, state_->client->WaitForTopic(options_.topic, options_.connect_timeout));
  messages_.resize(static_cast<size_t>(partitions));
  state_->topic.reset(rd_kafka_topic_new(state_->client->handle(), options_.topic.c_str(), nullptr));
  main_queue_.reset(rd_kafka_queue_get_main(state_->client->handle()));
  if (context.wake) rd_kafka_queue_cb_event_enable(main_queue_.get(), &KafkaSink::Wake, this);
  StartEpoch();
  return {};
}

void KafkaSink::StartEpoch() {
  std::erase_if(state_->sends, [](const auto& sends) { return sends->in_flight.load(std::memory_order_acquire) == 0; });
  sends_ = std::make_shared<EpochSends>(state_.get());
  state_->sends.push_back(sends_);
}

bool KafkaSink::HasRoom(size_t rows) const {
  const int64_t messages = rd_kafka_outq_len(state_->client->handle());
  // A batch always fits into an empty queue.
  if (messages == 0) return true;
  return messages + static_cast<int64_t>(rows) <= kMaxMessagesInFlight &&
         state_->bytes_in_flight.load(std::memory_order_relaxed) < kMaxBytesInFlight;
}

Result<Progress> KafkaSink::Process(int, const Batch& batch, Output&) {
  // Before looking for room, so that a report which arrives in between wakes the task.
  blocked_.store(true);
  rd_kafka_poll(state_->client->handle(), 0);
  WEIR_TRY(state_->Check());
  if (!HasRoom(batch.rows())) {
    WEIR_TRY(state_->CheckFatal());
    return Progress::kBlocked;
  }
  blocked_.store(false);
  if (!encoder_) {
    MakeLineMessages(batch);
    WEIR_TRY(Send());
    return Progress::kDone;
  }
  values_.clear();
  value_ends_.clear();
  keys_.clear();
  key_ends_.clear();
  encoder_->Encode(batch, values_, value_ends_);
  encoder_->EncodeKey(batch, options_.key, keys_, key_ends_);
  MakeMessages(batch);
  WEIR_TRY(Send());
  return Progress::kDone;
}

// In an upsert topic the last message of a key is its row.  The -U of an update says nothing then, unless the update
// has moved the row to another key, or the exchange has parted the two.
bool KafkaSink::IsTombstone(const Batch& batch, size_t row, bool& skipped) const {
  if (!options_.upsert || IsAdd(batch.kind(row))) return false;
  skipped = batch.IsUpdatePair(row) && Key(row) == Key(row + 1);
  return true;
}

void KafkaSink::MakeMessages(const Batch& batch) {
  for (auto& messages : messages_) messages.clear();
  const int partitions = static_cast<int>(messages_.size());
  size_t from = 0;
  for (size_t row = 0; row < batch.rows(); ++row) {
    const size_t to = value_ends_[row];
    bool skipped = false;
    const bool tombstone = !batch.insert_only() && IsTombstone(batch, row, skipped);
    if (!skipped) {
      const std::string_view key = Key(row);
      const int32_t partition =
          rd_kafka_msg_partitioner_murmur2(state_->topic.get(), key.data(), key.size(), partitions, nullptr, nullptr);
      rd_kafka_message_t& message = messages_[static_cast<size_t>(partition)].emplace_back();
      message.payload = tombstone ? nullptr : values_.data() + from;
      message.len = tombstone ? 0 : to - from;
      message.key = const_cast<char*>(key.data());
      message.key_len = key.size();
      message._private = sends_.get();
    }
    from = to;
  }
}

void KafkaSink::MakeLineMessages(const Batch& batch) {
  for (auto& messages : messages_) messages.clear();
  const Column& lines = batch.column(0);
  for (size_t row = 0; row < batch.rows(); ++row) {
    const std::string_view line = lines.text(row);
    rd_kafka_message_t& message = messages_[next_partition_].emplace_back();
    message.payload = const_cast<char*>(line.data());  // copied by the producer
    message.len = line.size();
    message._private = sends_.get();
    next_partition_ = (next_partition_ + 1) % messages_.size();
  }
}

Status KafkaSink::Send() {
  int64_t bytes = 0;
  int64_t count = 0;
  for (const auto& messages : messages_) {
    count += static_cast<int64_t>(messages.size());
    for (const rd_kafka_message_t& message : messages) bytes += static_cast<int64_t>(message.len + message.key_len);
  }
  // Counted before they are sent: a report may come before produce_batch returns.
  sends_->in_flight.fetch_add(count, std::memory_order_relaxed);
  state_->bytes_in_flight.fetch_add(bytes, std::memory_order_relaxed);
  for (size_t partition = 0; partition < messages_.size(); ++partition) {
    auto& messages = messages_[partition];
    if (messages.empty()) continue;
    const int size = static_cast<int>(messages.size());
    const int sent = rd_kafka_produce_batch(state_->topic.get(), static_cast<int32_t>(partition), RD_KAFKA_MSG_F_COPY,
                                            messages.data(), size);
    if (sent == size) continue;
    const auto refused = std::find_if(messages.begin(), messages.end(), [](const rd_kafka_message_t& message) {
      return message.err != RD_KAFKA_RESP_ERR_NO_ERROR;
    });
    const std::string reason = refused == messages.end() ? "unknown" : rd_kafka_err2str(refused->err);
    WEIR_TRY(state_->CheckFatal());
    return ConnectorError(fmt::format("a message cannot be sent: {}", reason),
                          fmt::format("{}/{}", options_.topic, partition));
  }
  return {};
}

Status KafkaSink::Snapshot(SnapshotWriter& writer) {
  rd_kafka_poll(state_->client->handle(), 0);
  WEIR_TRY(state_->Check());
  writer.FinishLater([state = state_, sends = sends_]() -> Status {
    // The producer waits for a lost broker, and so does the checkpoint.
    while (sends->in_flight.load(std::memory_order_acquire) > 0) {
      if (state->closed.load()) {
        return ConnectorError("the sink was closed before everything was acknowledged", state->topic_name);
      }
      rd_kafka_poll(state->client->handle(), kFlushPollMs);
      WEIR_TRY(state->Check());
      WEIR_TRY(state->CheckFatal());
    }
    return state->Check();
  });
  StartEpoch();
  return {};
}

// What is in flight and not part of a checkpoint is lost, as in a crash: it will be sent again.
void KafkaSink::Close() {
  if (!state_) return;
  state_->closed.store(true);
  if (main_queue_) rd_kafka_queue_cb_event_enable(main_queue_.get(), nullptr, nullptr);
  main_queue_.reset();
  sends_.reset();
  state_.reset();
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeKafkaSink(const KafkaSinkOptions& options) {
  if (options.topic.empty()) return ConfigError("a Kafka sink needs a topic", options.name);
  if (!options.upsert && options.format != FormatKind::kChangelogJson) {
    return ConfigError("changelog: full needs format: changelog_json, which says what kind of change a row is",
                       options.name);
  }
  WEIR_ASSIGN(auto encoder, MakeEncoder(options.format, options.schema));
  return std::make_unique<KafkaSink>(options, std::move(encoder));
}

Result<std::unique_ptr<Operator>> MakeKafkaLineSink(const KafkaSinkOptions& options) {
  WEIR_CHECK(options.schema->size() == 1 && (*options.schema)[0].type.kind == TypeKind::kString);
  return std::make_unique<KafkaSink>(options, nullptr);
}

}  // namespace weir
