// Time as the engine sees it: injected, so that a test owns it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace weir {

// Microseconds since 1970-01-01T00:00:00Z.  The physical form of TIMESTAMP columns and of watermarks.
using Micros = int64_t;

inline constexpr Micros kMinMicros = INT64_MIN;
inline constexpr Micros kMaxMicros = INT64_MAX;

// Called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Micros Now() const = 0;        // wall clock
  virtual Micros Monotonic() const = 0;  // never goes back; for intervals
};

class SystemClock final : public Clock {
 public:
  Micros Now() const override { return Count(std::chrono::system_clock::now()); }
  Micros Monotonic() const override { return Count(std::chrono::steady_clock::now()); }

 private:
  template <class T>
  static Micros Count(T time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  }
};

// Stands still until the test moves it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Micros now = 0) : now_(now) {}
  Micros Now() const override { return now_.load(); }
  Micros Monotonic() const override { return now_.load(); }
  void Advance(Micros by) { now_ += by; }

 private:
  std::atomic<Micros> now_;
};

}  // namespace weir
