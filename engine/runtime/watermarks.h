// Watermarks: made at a source from event times, per partition, and combined at an operator over its inputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/graph.h"

namespace weir {

// Where a watermark stands: a time, or idle (does not hold others back).
struct WatermarkState {
  Micros time = kMinMicros;
  bool idle = false;

  bool operator==(const WatermarkState&) const = default;
};

// For the partitions of one source task.  A partition that has not had a row holds the task's watermark back until it
// is idle; NULL event times are ignored.
class WatermarkGenerator {
 public:
  explicit WatermarkGenerator(EventTimeSpec spec) : spec_(spec) {}

  // Partitions are numbered as in RowPosition; the count only grows.  `now` is monotonic.
  void SetPartitionCount(size_t count, Micros now);
  void Restore(size_t partition, Micros largest, bool idle);
  // Largest event time of each partition in the batch.
  void Observe(const Batch& batch, Micros now);
  void MarkIdle(size_t partition);
  void MarkEnded(size_t partition);
  void CheckIdle(Micros now);  // applies idle_timeout

  // Largest time seen minus the bound, over the partitions that are not idle and have not ended; idle when all of them
  // are or there are no partitions, behind every time when all have ended.
  WatermarkState Current() const;
  Micros largest(size_t partition) const { return partitions_[partition].largest; }
  bool idle(size_t partition) const { return partitions_[partition].idle && partitions_[partition].declared; }
  size_t size() const { return partitions_.size(); }

 private:
  struct Partition {
    Micros largest = kMinMicros;
    bool idle = false;
    bool declared = false;  // idle by declaration, not by timeout
    bool ended = false;
    Micros last_row = 0;
  };
  EventTimeSpec spec_;
  std::vector<Partition> partitions_;
};

// The minimum over inputs that are not idle and have not ended.  Never goes back.
class WatermarkMerger {
 public:
  explicit WatermarkMerger(size_t inputs) : inputs_(inputs), ended_(inputs, false) {}
  void Set(size_t input, WatermarkState state) { inputs_[input] = state; }
  void End(size_t input) { ended_[input] = true; }
  WatermarkState Current() const;

 private:
  std::vector<WatermarkState> inputs_;
  std::vector<bool> ended_;
};

}  // namespace weir
