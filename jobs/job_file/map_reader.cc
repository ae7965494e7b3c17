#include "jobs/job_file/map_reader.h"

#include <algorithm>
#include <charconv>

#include "engine/base/quantity.h"

namespace weir {

std::optional<std::string> ReadText(const DocumentNode& node, std::string_view key, Diagnostics& out) {
  if (!node.problem.empty()) {
    out.Add(node.position, node.problem);  // again, so that the reader knows; equal errors are printed once
    return std::nullopt;
  }
  if (node.IsScalar()) return node.text;
  out.Add(node.position, node.IsNull()
                             ? fmt::format("{} needs a value", key)
                             : fmt::format("{} takes one value, not a {}", key, node.IsMap() ? "map" : "list"));
  return std::nullopt;
}

std::optional<int64_t> ReadInteger(const DocumentNode& node, std::string_view key, int64_t min, int64_t max,
                                   Diagnostics& out) {
  const auto text = ReadText(node, key, out);
  if (!text) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc::invalid_argument || end != text->data() + text->size()) {
    out.Add(node.position, fmt::format("{}: '{}' is not an integer", key, *text));
    return std::nullopt;
  }
  if (error != std::errc() || value < min || value > max) {
    const std::string range = max == INT64_MAX ? fmt::format("at least {}", min) : fmt::format("{} to {}", min, max);
    out.Add(node.position, fmt::format("{}: {} is out of range ({})", key, *text, range));
    return std::nullopt;
  }
  return value;
}

std::optional<Micros> ReadDuration(const DocumentNode& node, std::string_view key, Diagnostics& out) {
  const auto text = ReadText(node, key, out);
  if (!text) return std::nullopt;
  const auto value = ParseDuration(*text);
  if (!value) {
    out.Add(node.position, fmt::format("{}: '{}' is not a duration; write 500ms, 10s, 5m, 1h or 7d", key, *text));
  }
  return value;
}

std::optional<int64_t> ReadSize(const DocumentNode& node, std::string_view key, Diagnostics& out) {
  const auto text = ReadText(node, key, out);
  if (!text) return std::nullopt;
  const auto value = ParseSize(*text);
  if (!value) out.Add(node.position, fmt::format("{}: '{}' is not a size; write 64KiB, 512MiB or 2GiB", key, *text));
  return value;
}

std::vector<std::string> ReadTexts(const DocumentNode& node, std::string_view key, Diagnostics& out) {
  std::vector<std::string> texts;
  if (!node.IsList()) {
    if (auto text = ReadText(node, key, out)) texts.push_back(std::move(*text));
    return texts;
  }
  for (const DocumentNode& item : node.items) {
    if (auto text = ReadText(item, key, out)) texts.push_back(std::move(*text));
  }
  return texts;
}

MapReader::MapReader(const DocumentNode& node, std::string what, Diagnostics& out)
    : node_(node), what_(std::move(what)), out_(out) {
  if (!node.IsMap()) out_.Add(node.position, fmt::format("{} takes keys with values", what_));
}

const DocumentNode* MapReader::Take(const char* key) {
  known_.push_back(key);
  return node_.Find(key);
}

const DocumentNode* MapReader::Require(const char* key) {
  const DocumentNode* node = Take(key);
  if (node == nullptr && ok()) out_.Add(node_.position, fmt::format("{} needs {}", what_, key));
  return node;
}

std::optional<std::string> MapReader::Text(const char* key) {
  const DocumentNode* node = Take(key);
  return node ? ReadText(*node, key, out_) : std::nullopt;
}

std::optional<std::string> MapReader::RequireText(const char* key) {
  const DocumentNode* node = Require(key);
  if (node == nullptr) return std::nullopt;
  auto text = ReadText(*node, key, out_);
  if (text && text->empty()) {
    out_.Add(node->position, fmt::format("{} needs a value", key));
    return std::nullopt;
  }
  return text;
}

std::optional<int64_t> MapReader::Integer(const char* key, int64_t min, int64_t max) {
  const DocumentNode* node = Take(key);
  return node ? ReadInteger(*node, key, min, max, out_) : std::nullopt;
}

std::optional<Micros> MapReader::Duration(const char* key) {
  const DocumentNode* node = Take(key);
  return node ? ReadDuration(*node, key, out_) : std::nullopt;
}

std::optional<int64_t> MapReader::Size(const char* key) {
  const DocumentNode* node = Take(key);
  return node ? ReadSize(*node, key, out_) : std::nullopt;
}

void MapReader::Finish() {
  for (const DocumentNode::Member& member : node_.members) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    if (std::find(foreign_.begin(), foreign_.end(), member.key) != foreign_.end()) {
      out_.Add(member.position, fmt::format("{} takes no {}", what_, member.key));
    } else {
      out_.Add(member.position,
               fmt::format("unknown key {} in {}{}", member.key, what_, DidYouMean(member.key, known_)));
    }
  }
}

}  // namespace weir
