// Count and hash of a result as a multiset, to compare with another engine's: reads changelog_json lines on stdin,
// takes the named columns, prints {"rows": N, "hash": "16 hex digits"}.
//
//   row_hash COLUMN[:kind]...      kind: text (default: the value as it stands, strings without quotes), time (epoch ms
//   or
//                                  ISO text as epoch ms), timestamp (the same as 2026-01-01 00:00:00.000) or floor (a
//                                  number without its fraction)
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

enum class Kind { kText, kTime, kTimestamp, kFloor };

struct Wanted {
  std::string name;
  Kind kind = Kind::kText;
};

Wanted ParseWanted(std::string text) {
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {":time", Kind::kTime}, {":timestamp", Kind::kTimestamp}, {":floor", Kind::kFloor}, {":text", Kind::kText}};
  for (const auto& [suffix, kind] : kKinds) {
    if (!text.ends_with(suffix)) continue;
    text.resize(text.size() - suffix.size());
    return {std::move(text), kind};
  }
  return {std::move(text), Kind::kText};
}

std::string TimeText(const nlohmann::json& value, bool as_number) {
  const int64_t micros =
      value.is_string() ? weir::ParseTimestamp(value.get<std::string>(), 6).value : value.get<int64_t>() * 1000;
  if (as_number) return std::to_string(micros / 1000);
  std::string text;
  weir::AppendTimestamp(micros, 3, ' ', text);
  return text;
}

// `raw`: the value as it stands in the line, for a number with a fraction, whose digits nlohmann would not keep.
std::string Text(const nlohmann::json& value, std::string_view raw, Kind kind) {
  if (value.is_null()) return "\\N";
  if (kind == Kind::kTime || kind == Kind::kTimestamp) return TimeText(value, kind == Kind::kTime);
  if (kind == Kind::kFloor && value.is_number()) return std::to_string(static_cast<int64_t>(value.get<double>()));
  if (value.is_number_float()) return std::string(raw);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string_view RawNumber(std::string_view line, const std::string& name) {
  const std::string mark = "\"" + name + "\":";
  const size_t from = line.find(mark) + mark.size();
  return line.substr(from, line.find_first_of(",}", from) - from);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Wanted> columns;
  for (int i = 1; i < argc; ++i) columns.push_back(ParseWanted(argv[i]));
  if (columns.empty()) return std::fputs("usage: row_hash COLUMN[:time|:timestamp|:floor]...\n", stderr), 2;
  int64_t rows = 0;
  uint64_t sum = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    const auto json = nlohmann::json::parse(line);
    uint64_t hash = 0xcbf29ce484222325ULL;
    const auto add = [&hash](std::string_view bytes) {
      for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    };
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) add("|");
      const auto& value = json.at(columns[i].name);
      const std::string_view raw = value.is_number_float() ? RawNumber(line, columns[i].name) : std::string_view();
      add(Text(value, raw, columns[i].kind));
    }
    const std::string op = json.value("op", "+I");
    const bool minus = op == "-U" || op == "-D";
    rows += minus ? -1 : 1;
    sum += minus ? 0 - hash : hash;
  }
  std::printf("{\"rows\": %ld, \"hash\": \"%016lx\"}\n", static_cast<long>(rows), static_cast<unsigned long>(sum));
}
