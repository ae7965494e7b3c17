// What groups of windows are, a row at a time and without any state that is clever: lists of rows.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sql/plan/window.h"

namespace weir::testing {

struct WindowRow {
  int64_t key = 0;
  std::optional<Micros> time;
  int64_t value = 0;
  bool counts = true;

  auto operator<=>(const WindowRow&) const = default;
};

class WindowModel {
 public:
  explicit WindowModel(const WindowGrouping& grouping) : grouping_(grouping) {}

  int64_t late() const { return late_; }
  int64_t without_time() const { return without_time_; }

  void Take(const WindowRow& row, bool retract) {
    if (!row.time) {
      ++without_time_;
    } else if (grouping_.spec.function == WindowFunction::kSession) {
      TakeIntoSession(row);
    } else {
      TakeIntoWindows(row, retract);
    }
  }
  void Advance(Micros watermark) { watermark_ = std::max(watermark_, watermark); }

  // "key start end count sum distinct smallest" of every window that has given its results, as the output collapses.
  std::multiset<std::string> Results() const {
    std::multiset<std::string> results;
    for (const auto& [key, rows] : windows_) {
      if (std::get<2>(key) <= watermark_ && !rows.empty()) results.insert(Text(key, rows));
    }
    return results;
  }

 private:
  using Key = std::tuple<int64_t, Micros, Micros>;  // key, start, end

  Micros Closed() const { return watermark_ < kMinMicros + grouping_.lateness ? kMinMicros : watermark_ - grouping_.lateness; }

  // Every window near the time is asked whether the time is in it.
  std::vector<std::pair<Micros, Micros>> WindowsOf(Micros time) const {
    const WindowSpec& spec = grouping_.spec;
    std::vector<std::pair<Micros, Micros>> windows;
    const bool cumulates = spec.function == WindowFunction::kCumulate;
    const Micros step = cumulates ? spec.size : spec.slide;
    for (Micros n = time / step - spec.size / step - 2; n <= time / step + 2; ++n) {
      for (Micros end = cumulates ? n * step + spec.slide : n * step + spec.size; end <= n * step + spec.size;
           end += spec.slide) {
        if (n * step <= time && time < end) windows.emplace_back(n * step, end);
      }
    }
    return windows;
  }

  void TakeIntoWindows(const WindowRow& row, bool retract) {
    const auto windows = WindowsOf(*row.time);
    bool open = windows.empty();
    for (const auto& [start, end] : windows) open = open || end > Closed();
    if (!open) ++late_;
    for (const auto& [start, end] : windows) {
      if (end <= Closed() || !row.counts) continue;
      std::multiset<WindowRow>& rows = windows_[{row.key, start, end}];
      if (!retract) {
        rows.insert(row);
      } else if (const auto found = rows.find(row); found != rows.end()) {
        rows.erase(found);
      }
    }
  }

  void TakeIntoSession(const WindowRow& row) {
    const Micros gap = grouping_.spec.size;
    std::vector<Key> met;
    for (const auto& [key, rows] : windows_) {
      const auto& [of, start, end] = key;
      if (of == row.key && end > Closed() && *row.time <= end && start <= *row.time + gap) met.push_back(key);
    }
    if (met.empty() && *row.time + gap <= Closed()) {
      ++late_;
      return;
    }
    if (!row.counts) return;
    Key joined{row.key, *row.time, *row.time + gap};
    std::multiset<WindowRow> rows{row};
    for (const Key& key : met) {
      std::get<1>(joined) = std::min(std::get<1>(joined), std::get<1>(key));
      std::get<2>(joined) = std::max(std::get<2>(joined), std::get<2>(key));
      rows.merge(windows_[key]);
      windows_.erase(key);
    }
    windows_[joined] = std::move(rows);
  }

  static std::string Text(const Key& key, const std::multiset<WindowRow>& rows) {
    int64_t sum = 0;
    std::set<int64_t> values;
    std::string smallest = "z";
    for (const WindowRow& row : rows) {
      sum += row.value;
      values.insert(row.value);
      smallest = std::min(smallest, "t" + std::to_string(row.value));
    }
    return std::to_string(std::get<0>(key)) + " " + std::to_string(std::get<1>(key)) + " " +
           std::to_string(std::get<2>(key)) + " " + std::to_string(rows.size()) + " " + std::to_string(sum) + " " +
           std::to_string(values.size()) + " " + smallest;
  }

  WindowGrouping grouping_;
  Micros watermark_ = kMinMicros;
  std::map<Key, std::multiset<WindowRow>> windows_;
  int64_t late_ = 0;
  int64_t without_time_ = 0;
};

}  // namespace weir::testing
