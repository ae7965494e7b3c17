// Private to the task.
#pragma once

#include "engine/runtime/task.h"

namespace weir {

inline constexpr size_t kCollectedBatches = 4;

// What operators of the chain emit into: at most a few batches between two looks at the stack.
class Task::Collector final : public Output {
 public:
  Collector(std::vector<Batch>& collected, OperatorMetrics& metrics) : collected_(collected), metrics_(metrics) {}
  void Emit(Batch batch) override {
    if (batch.rows() == 0) return;
    metrics_.records_out.fetch_add(static_cast<int64_t>(batch.rows()), std::memory_order_relaxed);
    collected_.push_back(std::move(batch));
  }
  bool HasRoom() const override { return collected_.size() < kCollectedBatches; }

 private:
  std::vector<Batch>& collected_;
  OperatorMetrics& metrics_;
};

}  // namespace weir
