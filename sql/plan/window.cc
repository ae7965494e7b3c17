#include "sql/plan/window.h"

#include "sql/expr/types.h"

namespace weir {
namespace {

Micros Floor(Micros time, Micros by) {
  const Micros rest = time % by;
  return time - (rest < 0 ? rest + by : rest);
}

}  // namespace

Micros WindowSpec::LastEnd(Micros time) const {
  const Micros start = Floor(time, function == WindowFunction::kCumulate ? size : slide);
  const Micros end = start + size;
  return end > time ? end : kMinMicros;
}

Micros WindowSpec::FirstEnd(Micros time) const {
  const Micros last = LastEnd(time);
  return last - (last - time - 1) / slide * slide;
}

Micros WindowSpec::StartOf(Micros end) const {
  return function == WindowFunction::kCumulate ? Floor(end - 1, size) : end - size;
}

std::string WindowSpec::ToString() const {
  const auto interval = [](Micros micros) { return "INTERVAL '" + IntervalText(0, micros) + "'"; };
  switch (function) {
    case WindowFunction::kTumble:
      return "TUMBLE(" + interval(size) + ")";
    case WindowFunction::kHop:
      return "HOP(" + interval(slide) + ", " + interval(size) + ")";
    case WindowFunction::kCumulate:
      return "CUMULATE(" + interval(slide) + ", " + interval(size) + ")";
    case WindowFunction::kSession:
      return "SESSION(" + interval(size) + ")";
  }
  return "";
}

}  // namespace weir
