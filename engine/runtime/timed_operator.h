// An operator that has something to say at a time of the clock, though no row comes.
#pragma once

#include "engine/runtime/operator.h"

namespace weir {

class TimedOperator {
 public:
  virtual ~TimedOperator() = default;
  // When OnTimer is wanted next, in Clock::Monotonic; kMaxMicros: not at all.
  virtual Micros NextTimer() const = 0;
  // That time has come (some milliseconds may have passed since).  Never while a batch or a control is in work.
  virtual Status OnTimer(Micros now, Output& out) = 0;
};

}  // namespace weir
