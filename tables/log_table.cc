// What is a log table's own: its rows are in its logs and nowhere else.
//
// An entry's group is the time at which its rows came (8 bytes, big endian, microseconds since 1970), its rest the row.
//
//  1. Recovery: the logs are cut at the ends that the checkpoint names; nothing is read but the beginning of the first
//     segment, for the number of rows.
//  2. Expiry goes by whole segments.  The rows of a segment came before the first row of the next one, so a segment goes
//     when that is older than the time to live, unless the oldest kept checkpoint ends in it or before it.  A segment is
//     ended after a quarter of the time to live, so that a table with few rows forgets them too.
#include <algorithm>
#include <array>

#include "engine/base/check.h"
#include "tables/table.h"

namespace weir {
namespace {

constexpr Micros kSegmentsPerTtl = 4;

using TimeBytes = std::array<char, sizeof(uint64_t)>;

TimeBytes EncodeTime(Micros time) {
  TimeBytes bytes;
  const auto bits = static_cast<uint64_t>(time);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bits >> (8 * (bytes.size() - 1 - i)));
  return bytes;
}

Micros DecodeTime(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<unsigned char>(byte);
  return static_cast<Micros>(bits);
}

}  // namespace

Status Table::OpenLogBucket(size_t bucket) {
  const BucketLog& log = *logs_[bucket];
  const LogPosition end = log.end();
  Retention& retention = retention_[bucket];
  retention.first_offset = end.offset;
  if (end.byte > 0) {
    WEIR_ASSIGN(const SegmentStart start, ReadSegmentStart(LogFolder(static_cast<int>(bucket)), log.first_segment()));
    retention.first_offset = start.offset;
  }
  rows_ += static_cast<int64_t>(end.offset - retention.first_offset);
  return {};
}

Status Table::AppendRow(int bucket, Micros now, std::string_view row) {
  BucketLog* log = logs_[static_cast<size_t>(bucket)].get();
  if (log == nullptr) return {};  // the job has no state dir
  const TimeBytes time = EncodeTime(now);
  LogEntry entry;
  entry.group = {time.data(), time.size()};
  entry.rest = row;
  return log->Append(entry);
}

void Table::Keep(const std::vector<LogPosition>& oldest_ends) {
  const std::lock_guard lock(fold_mutex_);
  kept_ends_ = oldest_ends;
  kept_ends_.resize(static_cast<size_t>(buckets()));
}

Status Table::Expire(int bucket, Micros now) {
  const auto i = static_cast<size_t>(bucket);
  if (options_.ttl == 0 || folder_.empty()) return {};
  BucketLog& log = *logs_[i];
  Retention& retention = retention_[i];
  WEIR_TRY(log.Flush());
  const LogPosition end = log.end();
  if (end.byte == 0) return {};
  if (retention.current != end.segment) {
    WEIR_ASSIGN(const SegmentStart start, ReadSegmentStart(LogFolder(bucket), end.segment));
    retention.current = end.segment;
    retention.current_began = DecodeTime(start.group);
  }
  if (now - retention.current_began > options_.ttl / kSegmentsPerTtl) WEIR_TRY(log.EndSegment());
  uint64_t keep_from = 0;
  {
    const std::lock_guard lock(fold_mutex_);
    if (!kept_ends_.empty()) keep_from = std::min(kept_ends_[i].segment, end.segment);
  }
  while (log.first_segment() < keep_from) {
    const uint64_t next = log.first_segment() + 1;
    if (retention.next != next) {
      WEIR_ASSIGN(retention.next_start, ReadSegmentStart(LogFolder(bucket), next));
      retention.next = next;
    }
    if (now - DecodeTime(retention.next_start.group) <= options_.ttl) break;
    WEIR_TRY(log.DropBefore({.segment = next}));
    rows_.fetch_sub(static_cast<int64_t>(retention.next_start.offset - retention.first_offset),
                    std::memory_order_relaxed);
    retention.first_offset = retention.next_start.offset;
  }
  return {};
}

}  // namespace weir
