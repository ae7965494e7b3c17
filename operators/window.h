// A window function whose rows go on: each row becomes one for every window that its time is in, with window_start,
// window_end and window_time (window_end - 1 ms) behind its columns.
//
// Row kinds: all; the halves of an update are given out as -D and +I, since they can be in other windows.  Rows without a
// time are dropped and counted (OperatorMetrics::null_event_time), as is every row of none of the windows of HOP, uncounted.
// Late rows pass: what groups or joins them by their window knows which are.  Not for SESSION.
#pragma once

#include <memory>

#include "engine/runtime/operator.h"
#include "sql/plan/window.h"

namespace weir {

struct WindowOptions {
  SchemaPtr schema;  // of the output: the input's columns and the three
  WindowSpec window;
  int time_column = -1;
};

Result<std::unique_ptr<Operator>> MakeWindow(const WindowOptions& options);

}  // namespace weir
