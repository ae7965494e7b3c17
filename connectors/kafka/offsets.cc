#include "connectors/kafka/offsets.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace weir {
namespace {

KafkaOffsets MakeList(const std::string& topic, const std::vector<int>& partitions, int64_t offset) {
  KafkaOffsets list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const int partition : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  }
  return list;
}

// The offset of each partition, negative where there is none.
std::vector<int64_t> Offsets(rd_kafka_topic_partition_list_t* list, const std::string& topic,
                             const std::vector<int>& partitions) {
  std::vector<int64_t> out;
  out.reserve(partitions.size());
  for (const int partition : partitions) {
    const auto* found = rd_kafka_topic_partition_list_find(list, topic.c_str(), partition);
    out.push_back(found == nullptr ? -1 : found->offset);
  }
  return out;
}

}  // namespace

Result<KafkaLogRange> KafkaOffsetFinder::Range(int partition) const {
  KafkaLogRange range;
  const auto error = rd_kafka_query_watermark_offsets(client_.handle(), options_.topic.c_str(), partition, &range.low,
                                                      &range.high, TimeoutMs());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return ConnectorError(fmt::format("cannot ask for offsets: {}", rd_kafka_err2str(error)),
                          fmt::format("{}/{}", options_.topic, partition));
  }
  return range;
}

Result<std::vector<int64_t>> KafkaOffsetFinder::Committed(const std::vector<int>& partitions) const {
  if (options_.group.empty()) return ConfigError("start: committed needs a consumer group", options_.name);
  const KafkaOffsets list = MakeList(options_.topic, partitions, RD_KAFKA_OFFSET_INVALID);
  const auto error = rd_kafka_committed(client_.handle(), list.get(), TimeoutMs());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return ConnectorError(
        fmt::format("cannot read the offsets of group '{}': {}", options_.group, rd_kafka_err2str(error)),
        options_.topic);
  }
  return Offsets(list.get(), options_.topic, partitions);
}

Result<std::vector<int64_t>> KafkaOffsetFinder::AtTimestamp(const std::vector<int>& partitions) const {
  const KafkaOffsets list = MakeList(options_.topic, partitions, options_.start.timestamp_ms);
  const auto error = rd_kafka_offsets_for_times(client_.handle(), list.get(), TimeoutMs());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return ConnectorError(fmt::format("cannot find the offsets of the start timestamp: {}", rd_kafka_err2str(error)),
                          options_.topic);
  }
  return Offsets(list.get(), options_.topic, partitions);
}

Result<std::vector<KafkaPosition>> KafkaOffsetFinder::Start(const std::vector<int>& partitions) const {
  std::vector<int64_t> wanted(partitions.size(), -1);
  if (partitions.empty()) return std::vector<KafkaPosition>();
  const KafkaStart::Kind kind = options_.start.kind;
  if (kind == KafkaStart::Kind::kCommitted) {
    WEIR_ASSIGN(wanted, Committed(partitions));
  } else if (kind == KafkaStart::Kind::kTimestamp) {
    WEIR_ASSIGN(wanted, AtTimestamp(partitions));
  }
  std::vector<KafkaPosition> out;
  for (size_t i = 0; i < partitions.size(); ++i) {
    WEIR_ASSIGN(const KafkaLogRange range, Range(partitions[i]));
    KafkaPosition position;
    switch (kind) {
      case KafkaStart::Kind::kEarliest:
        position.offset = range.low;
        break;
      case KafkaStart::Kind::kLatest:
        position.offset = range.high;
        break;
      // A group that has not committed yet starts at the beginning.
      case KafkaStart::Kind::kCommitted:
        position.offset = wanted[i] < 0 ? range.low : wanted[i];
        break;
      // No message of that time or later: what comes next.
      case KafkaStart::Kind::kTimestamp:
        position.offset = wanted[i] < 0 ? range.high : wanted[i];
        break;
    }
    if (options_.bounded) position.end = range.high;
    if (kind == KafkaStart::Kind::kCommitted) {
      WEIR_ASSIGN(position, CheckRetained(partitions[i], position));
    }
    out.push_back(position);
  }
  return out;
}

Result<KafkaPosition> KafkaOffsetFinder::CheckRetained(int partition, KafkaPosition position) const {
  if (position.Ended()) return position;
  WEIR_ASSIGN(const KafkaLogRange range, Range(partition));
  if (position.offset >= range.low && position.offset <= range.high) return position;
  const std::string what =
      position.offset < range.low
          ? fmt::format("messages from offset {} on have expired; the log begins at {}", position.offset, range.low)
          : fmt::format(
                "the log ends at offset {}, before {} where reading stopped; was the topic "
                "made anew?",
                range.high, position.offset);
  const std::string where = fmt::format("{}/{}", options_.topic, partition);
  if (options_.lost_data_fails) return ConnectorError(what + " (lost_data: skip goes on at the earliest)", where);
  spdlog::warn("{}: {}; going on at the earliest", where, what);
  position.offset = range.low;
  return position;
}

}  // namespace weir
