// Reads a map of the job file key by key: typed values, defaults, and every key that nobody asked for.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "jobs/job_file/document.h"
#include "sql/plan/suggest.h"

namespace weir {

// One value as text; reports a map, a list or nothing.
std::optional<std::string> ReadText(const DocumentNode& node, std::string_view key, Diagnostics& out);
std::optional<int64_t> ReadInteger(const DocumentNode& node, std::string_view key, int64_t min, int64_t max,
                                   Diagnostics& out);
std::optional<Micros> ReadDuration(const DocumentNode& node, std::string_view key, Diagnostics& out);
std::optional<int64_t> ReadSize(const DocumentNode& node, std::string_view key, Diagnostics& out);
// A list of texts; one text alone is a list of one.
std::vector<std::string> ReadTexts(const DocumentNode& node, std::string_view key, Diagnostics& out);

template <class T>
using Choices = std::initializer_list<std::pair<const char*, T>>;

class MapReader {
 public:
  // `what` names the map in messages: "source orders", "options".  Reports a node that is not a map.
  MapReader(const DocumentNode& node, std::string what, Diagnostics& out);

  bool ok() const { return node_.IsMap(); }
  const std::string& what() const { return what_; }
  Diagnostics& out() { return out_; }
  const DocumentNode& node() const { return node_; }

  // The value of a key, which is known from now on; null when it is not there.
  const DocumentNode* Take(const char* key);
  // The same, and an error when it is missing.
  const DocumentNode* Require(const char* key);

  std::optional<std::string> Text(const char* key);
  std::optional<std::string> RequireText(const char* key);
  std::optional<int64_t> Integer(const char* key, int64_t min, int64_t max);
  std::optional<Micros> Duration(const char* key);
  std::optional<int64_t> Size(const char* key);

  template <class T>
  std::optional<T> Choice(const char* key, Choices<T> choices) {
    const DocumentNode* node = Take(key);
    return node ? ReadChoice<T>(*node, key, choices) : std::nullopt;
  }
  template <class T>
  std::optional<T> RequireChoice(const char* key, Choices<T> choices) {
    const DocumentNode* node = Require(key);
    return node ? ReadChoice<T>(*node, key, choices) : std::nullopt;
  }

  // Keys of other variants of this map: they get "file source visits takes no topic" instead of "unknown key".
  void NoteForeign(std::initializer_list<const char*> keys) {
    foreign_.insert(foreign_.end(), keys.begin(), keys.end());
  }
  // Reports every key that was not taken.
  void Finish();

 private:
  template <class T>
  std::optional<T> ReadChoice(const DocumentNode& node, const char* key, Choices<T> choices) {
    const auto text = ReadText(node, key, out_);
    if (!text) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& [name, value] : choices) {
      if (*text == name) return value;
      names.push_back(name);
    }
    out_.Add(node.position,
             fmt::format("{}: '{}' is none of {}{}", key, *text, fmt::join(names, ", "), DidYouMean(*text, names)));
    return std::nullopt;
  }

  const DocumentNode& node_;
  std::string what_;
  Diagnostics& out_;
  std::vector<std::string> known_;
  std::vector<std::string> foreign_;
};

}  // namespace weir
