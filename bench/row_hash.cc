// Count and hash of a result as a multiset, to compare with another engine's: reads changelog_json lines on stdin, takes the
// named columns, prints {"rows": N, "hash": "16 hex digits"}.
//
//   row_hash COLUMN[:kind]...      kind: text (default: the value as it stands, strings without quotes) or time
//                                  (epoch ms or ISO text as epoch ms)
//
// A row is its fields joined by '|', NULL as \N; the hash is the sum modulo 2^64 of the rows' FNV-1a 64; -U and -D rows
// subtract, so the order of rows does not matter.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/data/text.h"

namespace {

struct Wanted {
  std::string name;
  bool time = false;
};

std::string Text(const nlohmann::json& value, bool time) {
  if (value.is_null()) return "\\N";
  if (time && value.is_string()) {
    const auto parsed = weir::ParseTimestamp(value.get<std::string>(), 6);
    return std::to_string(parsed.value / 1000);
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Wanted> columns;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    const bool time = name.ends_with(":time");
    if (time) name.resize(name.size() - 5);
    columns.push_back({std::move(name), time});
  }
  if (columns.empty()) return std::fputs("usage: row_hash COLUMN[:time]...\n", stderr), 2;
  int64_t rows = 0;
  uint64_t sum = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    // Decimals keep their digits: the raw text of a number that nlohmann would turn into a double is taken from the line.
    const auto json = nlohmann::json::parse(line);
    uint64_t hash = 0xcbf29ce484222325ULL;
    const auto add = [&hash](std::string_view bytes) {
      for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    };
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) add("|");
      const auto& value = json.at(columns[i].name);
      if (value.is_number_float()) {
        const std::string mark = "\"" + columns[i].name + "\":";
        const size_t from = line.find(mark) + mark.size();
        add(std::string_view(line).substr(from, line.find_first_of(",}", from) - from));
      } else {
        add(Text(value, columns[i].time));
      }
    }
    const std::string op = json.value("op", "+I");
    const bool minus = op == "-U" || op == "-D";
    rows += minus ? -1 : 1;
    sum += minus ? 0 - hash : hash;
  }
  std::printf("{\"rows\": %ld, \"hash\": \"%016lx\"}\n", static_cast<long>(rows), static_cast<unsigned long>(sum));
}
