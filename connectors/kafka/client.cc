#include "connectors/kafka/client.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <thread>

#include "connectors/kafka/options.h"
#include "engine/base/quantity.h"

namespace weir {
namespace {

constexpr Micros kWarningInterval = 10'000'000;
// A topic that was created a moment ago is not yet known to every broker.
constexpr Micros kTopicPatience = 2'000'000;
constexpr auto kRetryPause = std::chrono::milliseconds(100);

Micros Monotonic() { return SystemClock().Monotonic(); }

Status SetProperty(rd_kafka_conf_t* conf, const std::string& property, const std::string& value) {
  std::array<char, 512> text{};
  if (rd_kafka_conf_set(conf, property.c_str(), value.c_str(), text.data(), text.size()) == RD_KAFKA_CONF_OK) return {};
  // librdkafka's sentence quotes the value.
  if (IsSecretProperty(property)) return ConfigError("the value of " + property + " is not accepted");
  const std::string sentence = text.data();
  // It also calls a property by its older name.
  return ConfigError(sentence.find(property) == std::string::npos ? property + ": " + sentence : sentence);
}

}  // namespace

Result<std::unique_ptr<KafkaClient>> KafkaClient::Make(const KafkaClientOptions& options) {
  std::unique_ptr<KafkaClient> client(new KafkaClient(options));
  std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> conf(rd_kafka_conf_new(), rd_kafka_conf_destroy);
  for (const auto& [property, value] : options.defaults) WEIR_TRY(SetProperty(conf.get(), property, value));
  for (const auto& [property, value] : options.user) WEIR_TRY(SetProperty(conf.get(), property, value));
  for (const auto& [property, value] : options.mandatory) WEIR_TRY(SetProperty(conf.get(), property, value));
  WEIR_TRY(SetProperty(conf.get(), "bootstrap.servers", options.brokers));
  rd_kafka_conf_set_opaque(conf.get(), client.get());
  rd_kafka_conf_set_error_cb(conf.get(), &KafkaClient::OnError);
  rd_kafka_conf_set_log_cb(conf.get(), &KafkaClient::OnLog);
  if (options.type == RD_KAFKA_CONSUMER) rd_kafka_conf_set_offset_commit_cb(conf.get(), &KafkaClient::OnCommitted);
  if (options.on_delivery != nullptr) rd_kafka_conf_set_dr_msg_cb(conf.get(), options.on_delivery);
  std::array<char, 512> text{};
  client->handle_ = rd_kafka_new(options.type, conf.get(), text.data(), text.size());
  if (client->handle_ == nullptr) return ConfigError(std::string("Kafka client: ") + text.data(), options.name);
  conf.release();  // the handle owns it now
  return client;
}

KafkaClient::~KafkaClient() {
  if (handle_ == nullptr) return;
  // Without a group membership there is nothing to leave; closing would wait for a broker that may be gone.
  rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

void KafkaClient::OnError(rd_kafka_t*, int error, const char* reason, void* opaque) {
  auto* client = static_cast<KafkaClient*>(opaque);
  const std::string name = rd_kafka_err2str(static_cast<rd_kafka_resp_err_t>(error));
  std::lock_guard lock(client->mutex_);
  client->last_error_ = fmt::format("{} ({})", reason, name);
  const Micros now = Monotonic();
  if (client->warned_ && now - client->last_warning_ < kWarningInterval) return;
  client->warned_ = true;
  client->last_warning_ = now;
  spdlog::warn("{}: {}", client->name_, client->last_error_);
}

void KafkaClient::OnLog(const rd_kafka_t*, int, const char* facility, const char* text) {
  // What matters comes through OnError as well, and not once a second.
  spdlog::debug("librdkafka {}: {}", facility, text);
}

void KafkaClient::OnCommitted(rd_kafka_t*, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t*, void* opaque) {
  auto* client = static_cast<KafkaClient*>(opaque);
  client->commits_in_flight.fetch_sub(1);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR__NO_OFFSET) return;
  // Committed offsets serve monitors only; weir goes on from its checkpoints.
  if (client->commit_warned_.exchange(true)) return;
  spdlog::warn("{}: offsets could not be committed to the group: {}", client->name_, rd_kafka_err2str(error));
}

std::string KafkaClient::LastError() const {
  std::lock_guard lock(mutex_);
  return last_error_;
}

std::string KafkaClient::FatalError() const {
  std::array<char, 512> text{};
  const rd_kafka_resp_err_t error = rd_kafka_fatal_error(handle_, text.data(), text.size());
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? std::string()
                                             : fmt::format("{} ({})", text.data(), rd_kafka_err2str(error));
}

Result<int> KafkaClient::WaitForTopic(const std::string& topic, Micros timeout) {
  const KafkaTopic local(rd_kafka_topic_new(handle_, topic.c_str(), nullptr));
  if (!local) return ConnectorError("'" + topic + "' is not the name of a topic", name_);
  const Micros start = Monotonic();
  Micros first_answer = -1;
  while (true) {
    const Micros now = Monotonic();
    const Micros left = std::max<Micros>(timeout - (now - start), 0);
    const rd_kafka_metadata_t* found = nullptr;
    const auto error = rd_kafka_metadata(handle_, 0, local.get(), &found, KafkaTimeoutMs(left));
    rd_kafka_poll(handle_, 0);  // runs OnError
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      const rd_kafka_metadata_topic& about = found->topics[0];
      const int partitions = about.partition_cnt;
      const rd_kafka_resp_err_t topic_error = about.err;
      rd_kafka_metadata_destroy(found);
      if (topic_error == RD_KAFKA_RESP_ERR_NO_ERROR && partitions > 0) return partitions;
      if (first_answer < 0) first_answer = now;
      const bool absent = topic_error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
      if (now - first_answer >= std::min(timeout, kTopicPatience)) {
        if (absent) return ConnectorError(fmt::format("topic '{}' does not exist at {}", topic, brokers_), name_);
        return ConnectorError(fmt::format("topic '{}' at {}: {}", topic, brokers_, rd_kafka_err2str(topic_error)),
                              name_);
      }
    } else if (Monotonic() - start >= timeout) {
      const std::string last = LastError();
      return ConnectorError(fmt::format("no broker answered at {} within {}, asked for topic '{}'{}", brokers_,
                                        FormatDuration(timeout), topic, last.empty() ? "" : ": " + last),
                            name_);
    }
    std::this_thread::sleep_for(kRetryPause);
  }
}

int KafkaClient::CountPartitions(const std::string& topic, int timeout_ms) {
  const KafkaTopic local(rd_kafka_topic_new(handle_, topic.c_str(), nullptr));
  const rd_kafka_metadata_t* found = nullptr;
  if (!local || rd_kafka_metadata(handle_, 0, local.get(), &found, timeout_ms) != RD_KAFKA_RESP_ERR_NO_ERROR) return 0;
  const int partitions = found->topic_cnt > 0 ? found->topics[0].partition_cnt : 0;
  rd_kafka_metadata_destroy(found);
  return partitions;
}

int KafkaTimeoutMs(Micros timeout) { return static_cast<int>(std::clamp<Micros>(timeout / 1000, 1, INT32_MAX)); }

bool IsSecretProperty(const std::string& librdkafka_property) {
  static constexpr std::array<std::string_view, 8> kSecrets = {
      "sasl.password", "ssl.key.password", "ssl.keystore.password",          "ssl.key.pem",
      "ssl_key",       "ssl.key",          "sasl.oauthbearer.client.secret", "sasl.oauthbearer.config"};
  return std::find(kSecrets.begin(), kSecrets.end(), librdkafka_property) != kSecrets.end();
}

bool IsKafkaProperty(const std::string& property) {
  std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> conf(rd_kafka_conf_new(), rd_kafka_conf_destroy);
  size_t size = 0;
  return rd_kafka_conf_get(conf.get(), property.c_str(), nullptr, &size) == RD_KAFKA_CONF_OK;
}

Status CheckKafkaProperty(const std::string& property, const std::string& value) {
  std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> conf(rd_kafka_conf_new(), rd_kafka_conf_destroy);
  return SetProperty(conf.get(), property, value);
}

}  // namespace weir
