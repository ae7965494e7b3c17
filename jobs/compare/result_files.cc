#include "jobs/compare/result_files.h"

#include <algorithm>
#include <set>

#include "connectors/file/parts.h"
#include "connectors/file/record_reader.h"

namespace weir {
namespace {

constexpr size_t kLinesAtATime = 4096;

Status ReadPart(const std::string& path, const std::function<Status(const ResultLine&)>& take) {
  WEIR_ASSIGN(const auto reader, RecordReader::Open(path, false, 0, 0));
  std::vector<FileRecord> records;
  while (true) {
    WEIR_TRY(reader->Next(kLinesAtATime, records));
    if (records.empty()) return {};
    for (const FileRecord& record : records) {
      auto line = ReadResultLine(record.text);
      if (!line) {
        line.error().where = path + ":" + std::to_string(record.line);
        return line.error();
      }
      WEIR_TRY(take(*line));
    }
  }
}

using RowCounts = std::map<std::string, int64_t>;

Status CountRows(const std::string& folder, const std::set<size_t>& groups, int64_t sign, RowCounts& counts) {
  return ReadResult(folder, [&](const ResultLine& line) -> Status {
    if (!groups.contains(Fingerprint::GroupOf(line.hash))) return {};
    const auto [at, added] = counts.try_emplace(std::string(line.row), 0);
    at->second += sign * line.weight;
    // What cancels out need not be remembered, which keeps long changelogs of few rows small.
    if (at->second == 0) counts.erase(at);
    return {};
  });
}

}  // namespace

Status ReadResult(const std::string& folder, const std::function<Status(const ResultLine&)>& take) {
  WEIR_ASSIGN(std::vector<std::string> names, ListFolder(folder));
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const auto part = ParsePartName(name);
    if (part && part->finished) WEIR_TRY(ReadPart(folder + "/" + name, take));
  }
  return {};
}

Result<Fingerprint> FingerprintOf(const std::string& folder) {
  Fingerprint fingerprint;
  WEIR_TRY(ReadResult(folder, [&](const ResultLine& line) -> Status {
    fingerprint.Add(line);
    return {};
  }));
  return fingerprint;
}

Result<std::vector<DifferingRow>> DifferingRows(const std::string& left_folder, const Fingerprint& left,
                                                const std::string& right_folder, const Fingerprint& right,
                                                size_t limit) {
  const std::vector<size_t> all = left.Differences(right);
  // Each group that differs has at least one row that does.
  const std::set<size_t> groups(all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(limit, all.size())));
  RowCounts counts;
  WEIR_TRY(CountRows(left_folder, groups, 1, counts));
  WEIR_TRY(CountRows(right_folder, groups, -1, counts));
  std::vector<DifferingRow> rows;
  for (const auto& [row, excess] : counts) {
    if (rows.size() == limit) break;
    rows.push_back({"{" + row, excess});
  }
  return rows;
}

}  // namespace weir
