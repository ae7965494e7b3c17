#include "engine/runtime/watermarks.h"

#include <algorithm>

namespace weir {

void WatermarkGenerator::SetPartitionCount(size_t count, Micros now) {
  const size_t before = partitions_.size();
  if (count <= before) return;
  partitions_.resize(count);
  for (size_t i = before; i < count; ++i) partitions_[i].last_row = now;
}

void WatermarkGenerator::Restore(size_t partition, Micros largest, bool idle) {
  partitions_[partition].largest = largest;
  partitions_[partition].idle = idle;
  partitions_[partition].declared = idle;
}

void WatermarkGenerator::Observe(const Batch& batch, Micros now) {
  const Column& times = batch.column(static_cast<size_t>(spec_.column));
  const auto& positions = *batch.positions();
  const auto values = times.ints();
  for (size_t row = 0; row < batch.rows(); ++row) {
    Partition& partition = partitions_[positions[row].partition];
    partition.idle = false;
    partition.declared = false;
    partition.last_row = now;
    if (!times.IsNull(row)) partition.largest = std::max(partition.largest, values[row]);
  }
}

void WatermarkGenerator::MarkIdle(size_t partition) {
  partitions_[partition].idle = true;
  partitions_[partition].declared = true;
}

void WatermarkGenerator::MarkEnded(size_t partition) { partitions_[partition].ended = true; }

void WatermarkGenerator::CheckIdle(Micros now) {
  if (!spec_.idle_timeout) return;
  for (Partition& partition : partitions_) {
    if (now - partition.last_row >= *spec_.idle_timeout) partition.idle = true;
  }
}

WatermarkState WatermarkGenerator::Current() const {
  WatermarkState state{kMaxMicros, true};
  bool all_ended = !partitions_.empty();
  for (const Partition& partition : partitions_) {
    if (partition.ended) continue;
    all_ended = false;
    if (partition.idle) continue;
    state.idle = false;
    state.time = std::min(state.time, partition.largest);
  }
  if (all_ended) return {kMaxMicros, false};
  if (state.idle || state.time == kMinMicros) return {kMinMicros, state.idle};
  state.time -= spec_.bound;
  return state;
}

WatermarkState WatermarkMerger::Current() const {
  WatermarkState state{kMaxMicros, true};
  bool all_ended = true;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (ended_[i]) continue;
    all_ended = false;
    if (inputs_[i].idle) continue;
    state.idle = false;
    state.time = std::min(state.time, inputs_[i].time);
  }
  if (all_ended) return {kMaxMicros, false};
  if (state.idle) return {kMinMicros, true};
  return state;
}

}  // namespace weir
