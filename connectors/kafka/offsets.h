// Finds the start and end offsets of partitions when a source opens.
#pragma once

#include <vector>

#include "connectors/kafka/client.h"
#include "connectors/kafka/options.h"
#include "connectors/kafka/position.h"
#include "engine/runtime/source.h"

namespace weir {

// What the log of a partition holds now: offsets in [low, high).
struct KafkaLogRange {
  int64_t low = 0;
  int64_t high = 0;
};

class KafkaOffsetFinder {
 public:
  // Every question waits for at most the connect_timeout of the options.
  KafkaOffsetFinder(const KafkaClient& client, const KafkaSourceOptions& options)
      : client_(client), options_(options) {}

  Result<KafkaLogRange> Range(int partition) const;
  // Positions of partitions that no checkpoint knows, in the order of `partitions`.
  Result<std::vector<KafkaPosition>> Start(const std::vector<int>& partitions) const;
  // What to do with a position that the log does not hold any more (retention overtook it) or not yet (the topic was
  // made anew): an error that names topic, partition and offsets, or the position to go on from.
  Result<KafkaPosition> CheckRetained(int partition, KafkaPosition position) const;

 private:
  int TimeoutMs() const { return KafkaTimeoutMs(options_.connect_timeout); }
  Result<std::vector<int64_t>> Committed(const std::vector<int>& partitions) const;
  Result<std::vector<int64_t>> AtTimestamp(const std::vector<int>& partitions) const;

  const KafkaClient& client_;
  const KafkaSourceOptions& options_;
};

}  // namespace weir
