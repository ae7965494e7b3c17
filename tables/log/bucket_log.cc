#include "tables/log/bucket_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/file.h"
#include "tables/log/log_block.h"
#include "tables/log/segment_file.h"

namespace weir {
namespace {

constexpr uint64_t kWriteBehindBytes = 1 << 20;

// What the writer and its syncs, on other threads, have in common.  Outlives the log while a sync is under way.
class SyncState {
 public:
  struct Target {
    std::shared_ptr<SegmentFile> file;
    uint64_t bytes;
  };

  // Whether the log takes no more; `reason` is kept for what comes later.
  bool dead() const { return dead_.load(std::memory_order_acquire); }
  void Kill(const Error& reason) {
    std::lock_guard lock(mutex_);
    KillLocked(reason);
  }
  Error DeadError() {
    std::lock_guard lock(mutex_);
    return StateError("the table's log takes no more after an earlier error (" + reason_->message + ")",
                      reason_->where);
  }

  // One sync at a time: the kernel reports a failed write-back to one fdatasync only, and whoever comes after that one
  // must not take the silence for success.
  Status Sync(const std::vector<Target>& targets, const std::vector<std::string>& folders, uint64_t folder_change) {
    std::lock_guard lock(mutex_);
    if (dead()) return StateError("the table's log was not made durable (" + reason_->message + ")", reason_->where);
    const Status status = SyncAll(targets, folders);
    if (!status) {
      KillLocked(status.error());
    } else {
      synced_folder_change_.store(folder_change, std::memory_order_release);
    }
    return status;
  }

  // Changes of folders are counted: this many are durable.
  uint64_t synced_folder_change() const { return synced_folder_change_.load(std::memory_order_acquire); }

 private:
  static Status SyncAll(const std::vector<Target>& targets, const std::vector<std::string>& folders) {
    for (const Target& target : targets) {
      if (target.file->synced_bytes() < target.bytes) WEIR_TRY(target.file->Sync(target.bytes));
    }
    for (const std::string& folder : folders) WEIR_TRY(SyncFolder(folder));
    return {};
  }
  void KillLocked(const Error& reason) {
    if (!reason_) reason_ = reason;
    dead_.store(true, std::memory_order_release);
  }

  std::atomic<bool> dead_{false};
  std::atomic<uint64_t> synced_folder_change_{0};
  std::mutex mutex_;
  std::optional<Error> reason_;
};

// The folders that name something new when `folder` and what is missing above it have been made.
std::vector<std::string> ParentsOfMissing(const std::string& folder) {
  std::vector<std::string> parents;
  std::error_code ignored;
  std::filesystem::path path = std::filesystem::path(folder);
  if (!path.has_filename()) path = path.parent_path();
  while (!path.empty() && !std::filesystem::exists(path, ignored)) {
    path = path.parent_path();
    parents.push_back(path.empty() ? "." : path.string());
  }
  return parents;
}

class SegmentedLog final : public BucketLog {
 public:
  SegmentedLog(std::string folder, const LogPosition& end, const LogOptions& options)
      : folder_(std::move(folder)), options_(options), block_(options.block_bytes), end_(end) {}

  Status Recover();

  Status Append(const LogEntry& entry) override {
    if (sync_->dead()) return sync_->DeadError();
    WEIR_TRY(block_.Add(entry));
    return block_.full() ? WriteBlock() : Status{};
  }
  Status Flush() override {
    if (sync_->dead()) return sync_->DeadError();
    return block_.entries() > 0 ? WriteBlock() : Status{};
  }
  Status EndSegment() override {
    WEIR_TRY(Flush());
    segment_ended_ = true;
    return {};
  }
  LogPosition end() const override { return end_; }
  std::function<Status()> SyncLater() override;
  Status DropBefore(const LogPosition& position) override;
  uint64_t first_segment() const override { return segments_.empty() ? end_.segment : segments_.begin()->first; }
  int64_t bytes() const override { return bytes_.load(std::memory_order_relaxed); }

 private:
  Status CutBehindEnd(const std::vector<SegmentInfo>& segments);
  Status OpenLastSegment();
  Status StartSegment();
  Status WriteBlock();
  Status Write(std::string_view content);

  std::string folder_;
  LogOptions options_;
  BlockWriter block_;
  LogPosition end_;
  std::shared_ptr<SegmentFile> current_;  // of end_.segment; null until there is something in it
  bool segment_ended_ = false;            // the next block begins a new one
  uint64_t written_behind_ = 0;           // bytes of the current segment that the kernel was asked to write back
  std::vector<SyncState::Target> unsynced_;
  std::vector<std::string> new_folders_;   // to be made durable once
  uint64_t folder_change_ = 0;             // segments and folders made
  std::map<uint64_t, uint64_t> segments_;  // number -> bytes
  std::atomic<int64_t> bytes_{0};
  std::shared_ptr<SyncState> sync_ = std::make_shared<SyncState>();
};

Status SegmentedLog::Recover() {
  new_folders_ = ParentsOfMissing(folder_);
  WEIR_TRY(MakeFolder(folder_));
  folder_change_ = new_folders_.empty() ? 0 : 1;
  WEIR_ASSIGN(const std::vector<SegmentInfo> segments, ListSegments(folder_));
  if (end_.byte > 0) WEIR_TRY(OpenLastSegment());
  return CutBehindEnd(segments);
}

Status SegmentedLog::OpenLastSegment() {
  const std::string path = SegmentPath(folder_, end_.segment);
  WEIR_ASSIGN(current_, SegmentFile::OpenForWriting(path));
  WEIR_ASSIGN(const uint64_t size, current_->Size());
  if (size < end_.byte || end_.byte < kSegmentHeaderBytes) {
    return LogDamage(path, size, fmt::format("it ends before byte {}, where the checkpoint has its end", end_.byte));
  }
  std::string bytes(kSegmentHeaderBytes, '\0');
  WEIR_ASSIGN(const bool whole, current_->ReadAt(0, bytes));
  if (!whole) return LogDamage(path, 0, "it cannot be read to its end");
  WEIR_ASSIGN(const SegmentHeader header, DecodeSegmentHeader(bytes, path));
  if (header.number != end_.segment || header.bucket != options_.bucket || header.first_offset > end_.offset) {
    return LogDamage(
        path, 0,
        fmt::format("it is segment {} of bucket {} from offset {} on, expected segment {} of bucket "
                    "{} from at most offset {} on",
                    header.number, header.bucket, header.first_offset, end_.segment, options_.bucket, end_.offset));
  }
  return {};
}

Status SegmentedLog::CutBehindEnd(const std::vector<SegmentInfo>& segments) {
  bool removed = false;
  for (const SegmentInfo& segment : segments) {
    const bool last = segment.number == end_.segment && end_.byte > 0;
    if (segment.number > end_.segment || (segment.number == end_.segment && !last)) {
      const std::string path = SegmentPath(folder_, segment.number);
      std::error_code error;
      std::filesystem::remove(path, error);
      if (error) return StateError("cannot remove the log segment: " + error.message(), path);
      removed = true;
      continue;
    }
    if (last && segment.bytes > end_.byte) WEIR_TRY(current_->Truncate(end_.byte));
    segments_[segment.number] = last ? end_.byte : segment.bytes;
  }
  int64_t bytes = 0;
  for (const auto& [number, size] : segments_) bytes += static_cast<int64_t>(size);
  bytes_ = bytes;
  written_behind_ = end_.byte;
  // A segment of the lost run must not come back beside those of this one.
  return removed ? SyncFolder(folder_) : Status{};
}

Status SegmentedLog::StartSegment() {
  const uint64_t number = end_.byte == 0 ? end_.segment : end_.segment + 1;
  WEIR_ASSIGN(current_, SegmentFile::Create(SegmentPath(folder_, number)));
  ++folder_change_;
  end_.segment = number;
  end_.byte = 0;
  written_behind_ = 0;
  segment_ended_ = false;
  return Write(EncodeSegmentHeader({options_.bucket, number, end_.offset}));
}

Status SegmentedLog::Write(std::string_view content) {
  WEIR_TRY(current_->WriteAt(end_.byte, content));
  end_.byte += content.size();
  segments_[end_.segment] = end_.byte;
  bytes_.fetch_add(static_cast<int64_t>(content.size()), std::memory_order_relaxed);
  if (unsynced_.empty() || unsynced_.back().file != current_) unsynced_.push_back({current_, 0});
  unsynced_.back().bytes = end_.byte;
  if (end_.byte - written_behind_ >= kWriteBehindBytes) {
    current_->WriteBehind(written_behind_, end_.byte - written_behind_);
    written_behind_ = end_.byte;
  }
  return {};
}

Status SegmentedLog::WriteBlock() {
  const auto write = [this]() -> Status {
    if (!current_ || segment_ended_ || end_.byte >= options_.segment_bytes) WEIR_TRY(StartSegment());
    const uint32_t entries = block_.entries();
    WEIR_TRY(Write(block_.Seal(end_.offset)));
    end_.offset += entries;
    return {};
  };
  Status status = write();
  if (!status) sync_->Kill(status.error());
  return status;
}

// What an earlier sync was to make durable is in the list until it has done so: it may still be under way, or never
// run.
std::function<Status()> SegmentedLog::SyncLater() {
  std::erase_if(unsynced_, [](const auto& target) { return target.file->synced_bytes() >= target.bytes; });
  std::vector<std::string> folders;
  if (sync_->synced_folder_change() < folder_change_) {
    folders = new_folders_;
    folders.push_back(folder_);
  } else {
    new_folders_.clear();
  }
  return [sync = sync_, targets = unsynced_, folders = std::move(folders), change = folder_change_] {
    return sync->Sync(targets, folders, change);
  };
}

Status SegmentedLog::DropBefore(const LogPosition& position) {
  while (!segments_.empty() && segments_.begin()->first < std::min(position.segment, end_.segment)) {
    const auto [number, size] = *segments_.begin();
    const std::string path = SegmentPath(folder_, number);
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return StateError("cannot remove the log segment: " + error.message(), path);
    bytes_.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
    segments_.erase(segments_.begin());
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<BucketLog>> BucketLog::Open(const std::string& folder, const LogPosition& end,
                                                   const LogOptions& options) {
  auto log = std::make_unique<SegmentedLog>(folder, end, options);
  WEIR_TRY(log->Recover());
  return std::unique_ptr<BucketLog>(std::move(log));
}

}  // namespace weir
