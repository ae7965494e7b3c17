#include "engine/base/quantity.h"

#include <fmt/format.h>

#include <charconv>

namespace weir {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

constexpr Unit kDurations[] = {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000},
                               {"s", 1'000'000},      {"ms", 1'000},        {"us", 1}};
constexpr Unit kSizes[] = {{"TiB", int64_t{1} << 40}, {"GiB", int64_t{1} << 30}, {"MiB", int64_t{1} << 20},
                           {"KiB", int64_t{1} << 10}, {"B", 1},                  {"", 1}};

template <size_t N>
std::optional<int64_t> Parse(std::string_view text, const Unit (&units)[N]) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  const std::string_view suffix(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const Unit& unit : units) {
    if (suffix != unit.name) continue;
    int64_t product = 0;
    if (__builtin_mul_overflow(number, unit.factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Micros> ParseDuration(std::string_view text) { return Parse(text, kDurations); }
std::optional<int64_t> ParseSize(std::string_view text) { return Parse(text, kSizes); }

std::string FormatDuration(Micros micros) {
  for (const Unit& unit : kDurations) {
    if (micros != 0 && micros % unit.factor == 0) return fmt::format("{}{}", micros / unit.factor, unit.name);
  }
  return "0s";
}

std::string FormatSize(int64_t bytes) {
  for (const Unit& unit : kSizes) {
    if (bytes >= unit.factor && unit.factor > 1) {
      return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit.factor), unit.name);
    }
  }
  return fmt::format("{} B", bytes);
}

}  // namespace weir
