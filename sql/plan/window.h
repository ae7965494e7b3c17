// Event-time windows: which a time is in.  Times are microseconds since 1970-01-01T00:00Z; a window is [start, end).
//
//   TUMBLE(size)           [n * size, (n + 1) * size)
//   HOP(slide, size)       [n * slide, n * slide + size); with slide > size some times are in none
//   CUMULATE(step, size)   from each n * size, ends step, 2 * step, ... size behind it
//   SESSION(gap)           from the first row of a key to its last + gap, where no two neighbours are further apart
// Windows are aligned to 1970, and remainders are floored, so that times before it work.  A window is closed when the
// watermark has reached its end (plus the allowed lateness).
#pragma once

#include <string>

#include "engine/base/clock.h"

namespace weir {

enum class WindowFunction { kTumble, kHop, kCumulate, kSession };

struct WindowSpec {
  WindowFunction function = WindowFunction::kTumble;
  Micros size = 0;   // kSession: the gap
  Micros slide = 0;  // from one start to the next; kTumble: size; kCumulate: the step from one end to the next

  bool operator==(const WindowSpec&) const = default;

  // Of the windows that a time is in, the one that ends last; kMinMicros when it is in none.  The others end `slide`,
  // 2 * slide, ... before it, as long as that is behind the time.  Not for kSession.
  // REQUIRES (all): the time is within kMaxWindowTime of 1970.
  Micros LastEnd(Micros time) const;
  // The one that ends first.  REQUIRES: the time is in one.
  Micros FirstEnd(Micros time) const;
  // The start of the window with that end.  Not for kSession.
  Micros StartOf(Micros end) const;

  std::string ToString() const;  // "HOP(INTERVAL '00:00:02', INTERVAL '00:00:10')", without table and column
};

// Far from the range of a 64-bit number, so that nothing overflows: about 146,000 years from 1970.  Sizes are below it.
inline constexpr Micros kMaxWindowTime = Micros{1} << 62;
inline constexpr Micros kMaxWindowSize = Micros{1} << 60;

// What a grouping by windows is to its operator.
struct WindowGrouping {
  // True: the operator assigns rows to windows, by a time column; its output has window_start, window_end and
  // window_time behind the group columns.  False: the rows carry their window, whose end is a group column.
  bool assigned = true;
  WindowSpec spec;       // assigned
  int time = -1;         // assigned: column of the input
  int condition = -1;    // assigned: column of the input; rows for which it is not true do not count, but can be late
  int end_group = -1;    // not assigned: which group column is the window's end
  Micros lateness = 0;   // how long behind its end a window still takes rows
  Micros early = 0;      // > 0: results before the end, at most so often

  bool operator==(const WindowGrouping&) const = default;
};

// Columns that a window function adds behind those of its input: window_start, window_end, window_time.
inline constexpr size_t kWindowColumns = 3;

}  // namespace weir
