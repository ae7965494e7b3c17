#include "connectors/format/format.h"

namespace weir {

std::optional<std::vector<std::string>> ParsePath(std::string_view text) {
  std::vector<std::string> keys;
  while (true) {
    std::string key;
    if (text.starts_with('"')) {
      // Everything up to the closing quote; two quotes stand for one.
      text.remove_prefix(1);
      while (true) {
        const size_t quote = text.find('"');
        if (quote == std::string_view::npos) return std::nullopt;
        key += text.substr(0, quote);
        text.remove_prefix(quote + 1);
        if (!text.starts_with('"')) break;
        key += '"';
        text.remove_prefix(1);
      }
    } else {
      const size_t dot = text.find('.');
      key = text.substr(0, dot);
      if (key.empty() || key.find('"') != std::string::npos) return std::nullopt;
      text.remove_prefix(key.size());
    }
    keys.push_back(std::move(key));
    if (text.empty()) return keys;
    if (text.front() != '.') return std::nullopt;
    text.remove_prefix(1);
  }
}

}  // namespace weir
