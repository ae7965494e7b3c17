// The columns of time and day that kinds spread over days have in common.
#pragma once

#include <span>
#include <string>

#include "connectors/generator/attribution.h"
#include "connectors/generator/words.h"
#include "engine/data/text.h"

namespace weir {

// yyyy-MM-dd of the first days.
inline Words DayWords(int days) {
  Words out;
  for (int day = 0; day < days; ++day) {
    std::string text;
    AppendDate(kGeneratorStartMs / kDayMs + day, text);
    out.Add(text);
  }
  return out;
}

template <class Law>
ColumnPtr TimeColumn(const Law& law, std::span<const int64_t> rows) {
  return IntColumn(TimestampType(3), rows, [&](int64_t row) { return (kGeneratorStartMs + law.AtMs(row)) * 1000; });
}

template <class Law>
ColumnPtr DayColumn(const Law& law, const Words& days, std::span<const int64_t> rows) {
  return WordColumn(days, rows, [&](int64_t row) { return static_cast<size_t>(law.AtMs(row) / kDayMs); });
}

}  // namespace weir
