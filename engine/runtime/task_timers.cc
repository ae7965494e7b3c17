#include "engine/runtime/task_collector.h"

namespace weir {

// Between two messages, so that what an operator gives out is in order with them.
Result<bool> Task::FireTimer() {
  Micros next = kMaxMicros;
  for (const ChainOperator& op : chain_) next = std::min(next, op.timed == nullptr ? kMaxMicros : op.timed->NextTimer());
  next_timer_.store(next, std::memory_order_relaxed);
  const Micros now = next == kMaxMicros ? 0 : clock_.Monotonic();
  if (next > now || ended_) return false;
  for (size_t i = 0; i < chain_.size(); ++i) {
    ChainOperator& op = chain_[i];
    if (op.timed == nullptr || op.timed->NextTimer() > now) continue;
    Collector out(collected_, *op.metrics);
    WEIR_TRY(op.timed->OnTimer(now, out));
    PushOutputs(i + 1);
    break;
  }
  return true;
}

}  // namespace weir
