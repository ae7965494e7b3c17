#include "jobs/compare/fingerprint.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace weir {

Result<ResultLine> ReadResultLine(std::string_view line) {
  constexpr std::string_view kBegin = "{\"op\":\"";
  constexpr size_t kOpEnd = kBegin.size() + 2;
  ResultLine out;
  if (line.starts_with(kBegin) && line.size() > kOpEnd + 1 && line[kOpEnd] == '"') {
    const std::string_view op = line.substr(kBegin.size(), 2);
    if (op == "+I" || op == "+U") out.weight = 1;
    if (op == "-U" || op == "-D") out.weight = -1;
  }
  if (out.weight == 0) return DataError(fmt::format("'{}' is no line of changelog_json", line.substr(0, 100)));
  out.row = line.substr(kOpEnd + 1);
  if (out.row.starts_with(',')) out.row.remove_prefix(1);
  const XXH128_hash_t hash = XXH3_128bits(out.row.data(), out.row.size());
  out.hash = {hash.low64, hash.high64};
  return out;
}

void Fingerprint::Add(const ResultLine& line) {
  Group& group = groups_[GroupOf(line.hash)];
  const uint64_t weight = static_cast<uint64_t>(line.weight);  // -1 modulo 2^64
  group.low += weight * line.hash.low;
  group.high += weight * line.hash.high;
  group.rows += line.weight;
  ++lines_;
}

int64_t Fingerprint::rows() const {
  int64_t rows = 0;
  for (const Group& group : groups_) rows += group.rows;
  return rows;
}

std::vector<size_t> Fingerprint::Differences(const Fingerprint& other) const {
  std::vector<size_t> groups;
  for (size_t i = 0; i < kGroups; ++i) {
    if (groups_[i] != other.groups_[i]) groups.push_back(i);
  }
  return groups;
}

}  // namespace weir
