// Durations (500ms 10s 5m 1h 7d) and sizes (64KiB 2GiB, or plain bytes) as the job file writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"

namespace weir {

// Empty when the text is no duration; negative durations do not exist.
std::optional<Micros> ParseDuration(std::string_view text);
std::optional<int64_t> ParseSize(std::string_view text);

std::string FormatDuration(Micros micros);  // the largest unit that divides it: 90s, 500ms
std::string FormatSize(int64_t bytes);      // for people: 1.5 MiB

}  // namespace weir
