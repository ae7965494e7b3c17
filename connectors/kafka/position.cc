#include "connectors/kafka/position.h"

#include <fmt/format.h>

#include <charconv>

namespace weir {
namespace {

bool ParseOffset(std::string_view text, int64_t& value) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size() && value >= 0;
}

}  // namespace

std::string KafkaPosition::ToString() const {
  return end ? fmt::format("{}/{}", offset, *end) : fmt::format("{}/", offset);
}

std::optional<KafkaPosition> KafkaPosition::Parse(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  KafkaPosition position;
  if (!ParseOffset(text.substr(0, slash), position.offset)) return std::nullopt;
  if (slash + 1 == text.size()) return position;
  int64_t end = 0;
  if (!ParseOffset(text.substr(slash + 1), end)) return std::nullopt;
  position.end = end;
  return position;
}

}  // namespace weir
