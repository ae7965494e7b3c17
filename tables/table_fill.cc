#include "tables/table_fill.h"

namespace weir {
namespace {

constexpr size_t kRunBytes = 64 << 20;

}  // namespace

TableFill::TableFill(TableBase& base, int buckets) : base_(base), buckets_(static_cast<size_t>(buckets)) {}

Status TableFill::Add(int bucket, std::string_view group, std::string_view unique, std::string_view rest) {
  Bucket& rows = buckets_[static_cast<size_t>(bucket)];
  rows.entries.push_back({static_cast<uint32_t>(group.size()), static_cast<uint32_t>(unique.size()),
                          static_cast<uint32_t>(rest.size())});
  rows.bytes.append(group).append(unique).append(rest);
  bytes_ += group.size() + unique.size() + rest.size() + sizeof(Entry);
  ++rows_;
  if (bytes_ < kRunBytes) return {};
  auto run = std::make_unique<Fold>(base_, runs_.empty());
  WEIR_TRY(WriteInto(*run));
  WEIR_TRY(run->Close());
  runs_.push_back(std::move(run));
  return {};
}

Status TableFill::WriteInto(Fold& run) {
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    const Bucket rows = std::exchange(buckets_[bucket], {});
    std::string_view bytes = rows.bytes;
    const auto next = [&](uint32_t size) {
      const std::string_view part = bytes.substr(0, size);
      bytes.remove_prefix(size);
      return part;
    };
    for (const Entry& entry : rows.entries) {
      LogEntry row;
      row.group = next(entry.group);
      row.unique = next(entry.unique);
      row.rest = next(entry.rest);
      WEIR_TRY(run.Add(static_cast<int>(bucket), row));
    }
  }
  bytes_ = 0;
  return {};
}

Status TableFill::Finish(std::string_view marker) {
  Fold last(base_, runs_.empty());
  WEIR_TRY(WriteInto(last));
  return last.Finish(marker, runs_);
}

}  // namespace weir
