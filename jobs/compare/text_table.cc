#include "jobs/compare/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir {
namespace {

std::string WithCommas(const std::string& number) {
  const size_t point = std::min(number.find('.'), number.size());
  std::string out;
  for (size_t i = 0; i < number.size(); ++i) {
    const bool digit_before = i > 0 && number[i - 1] != '-';
    if (i < point && digit_before && (point - i) % 3 == 0) out += ',';
    out += number[i];
  }
  return out;
}

std::string TrimEnd(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string TextTable::ToString() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = std::max(columns_[i].title.size(), columns_[i].unit.size());
    for (const auto& row : rows_) width = std::max(width, row[i].size());
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line += "  ";
      line += columns_[i].left ? fmt::format("{:<{}}", cell_of(i), widths[i])
                               : fmt::format("{:>{}}", cell_of(i), widths[i]);
    }
    text += TrimEnd(line) + "\n";
  };
  add_line([&](size_t i) { return columns_[i].title; });
  add_line([&](size_t i) { return columns_[i].unit; });
  for (const auto& row : rows_) add_line([&](size_t i) { return row[i]; });
  return text;
}

std::string Grouped(double value, int digits) { return WithCommas(fmt::format("{:.{}f}", value, digits)); }

std::string Grouped(int64_t value) { return WithCommas(fmt::format("{}", value)); }

}  // namespace weir
