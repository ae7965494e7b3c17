// A line of a replay file as values that keep the text of their numbers: a decimal must not pass through a double.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {

struct ReplayJson {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text;                                         // kNumber: as written; kString: unescaped
  std::vector<ReplayJson> items;                            // kArray
  std::vector<std::pair<std::string, ReplayJson>> members;  // kObject

  const ReplayJson* Find(std::string_view key) const;
};

// One JSON document; `error` says what is wrong when there is none.
std::optional<ReplayJson> ParseReplayJson(std::string_view line, std::string& error);

}  // namespace weir
