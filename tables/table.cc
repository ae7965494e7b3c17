#include "tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "engine/base/file.h"
#include "engine/data/hash.h"
#include "engine/data/row_codec.h"
#include "tables/table_fill.h"
#include "tables/table_set.h"

namespace weir {
namespace {

// Small enough that what a fold has made needless is soon given back, in each of a table's buckets.
constexpr uint64_t kSegmentBytes = 2 << 20;
// Nothing is folded here, so fewer files are better.
constexpr uint64_t kLogTableSegmentBytes = 64 << 20;

constexpr size_t kLongestName = 120;  // of a folder: file systems allow 255 bytes

// A table's name may have any character (an index is named after its columns): what a folder's cannot have is %XX.
std::string FolderName(std::string_view name) {
  std::string folder;
  for (const char c : name) {
    const bool plain = c > ' ' && c != '/' && c != '%' && !(c == '.' && folder.empty());
    folder += plain || c == ' ' ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  if (folder.size() <= kLongestName) return folder;
  return fmt::format("{}-{:016x}", folder.substr(0, kLongestName), HashBytes(name));
}

// What a fold leaves in the base: "1 EPOCH", then offset, segment and byte of each bucket.
std::string EncodeMarker(Epoch epoch, const std::vector<LogPosition>& ends) {
  std::string text = fmt::format("1 {}", epoch);
  for (const LogPosition& end : ends) text += fmt::format(" {} {} {}", end.offset, end.segment, end.byte);
  return text;
}

bool DecodeMarker(std::string_view text, Epoch& epoch, std::vector<LogPosition>& ends) {
  std::vector<uint64_t> numbers;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at < end) {
    uint64_t number = 0;
    const auto [next, fault] = std::from_chars(at, end, number);
    if (fault != std::errc()) return false;
    numbers.push_back(number);
    at = next == end ? next : next + 1;
  }
  if (numbers.size() != 2 + 3 * ends.size() || numbers[0] != 1) return false;
  epoch = numbers[1];
  for (size_t i = 0; i < ends.size(); ++i) ends[i] = {numbers[2 + 3 * i], numbers[3 + 3 * i], numbers[4 + 3 * i]};
  return true;
}

std::string RowsCounter(const std::string& table) { return "table." + table + ".rows"; }

}  // namespace

Table::Table(TableOptions options, TableSet* set)
    : options_(std::move(options)),
      set_(set),
      restored_ends_(static_cast<size_t>(options_.buckets)),
      logs_(static_cast<size_t>(options_.buckets)),
      bucket_bytes_(static_cast<size_t>(options_.buckets)),
      changes_(static_cast<size_t>(options_.buckets)),
      retention_(static_cast<size_t>(options_.buckets)),
      folded_ends_(static_cast<size_t>(options_.buckets)) {}

std::string Table::FolderIn(const std::string& state_dir) const {
  return fmt::format("{}/{}/{}", state_dir, logged() ? "tables" : "state", FolderName(name()));
}
std::string Table::LogFolder(int bucket) const { return fmt::format("{}/{}/log", folder_, bucket); }
std::string Table::LinkFolder(Epoch epoch) const { return fmt::format("{}/chk-{}", folder_, epoch); }

// --- opening

Status Table::Open(const std::string& state_dir, const Manifest* restored) {
  if (state_dir.empty()) return {};
  folder_ = FolderIn(state_dir);
  if (restored == nullptr) WEIR_TRY(RemoveTree(folder_));
  WEIR_TRY(MakeFolder(folder_));
  if (restored != nullptr) {
    restored_ = restored->epoch;
    const auto rows = restored->counters.find(RowsCounter(name()));
    if (rows != restored->counters.end()) rows_ = rows->second;
  }
  return logged() ? OpenLogged(restored) : OpenState(restored);
}

Status Table::RestoreEnds(const Manifest* restored) {
  if (restored == nullptr) return {};
  const auto ends = restored->tables.find(name());
  if (ends == restored->tables.end()) return {};
  if (ends->second.size() != restored_ends_.size()) {
    return StateError(fmt::format("table {} had {} buckets when checkpoint {} was taken and has {} in the job file; "
                                  "the number of buckets of a table that holds rows cannot change",
                                  name(), ends->second.size(), restored->epoch, buckets()), folder_);
  }
  std::copy(ends->second.begin(), ends->second.end(), restored_ends_.begin());
  return {};
}

Status Table::OpenLogged(const Manifest* restored) {
  // Checkpoint 0 is taken before the first row and holds no table.
  if (restored != nullptr && restored->epoch > 0 && !IsHeldBy(*restored)) return FillFrom(*restored);
  WEIR_TRY(RestoreEnds(restored));
  if (is_log()) {
    rows_ = 0;  // counted as the buckets are opened
    return {};
  }
  WEIR_ASSIGN(base_, TableBase::Open(folder_ + "/base", {set_->block_cache()}));
  if (base_->empty()) return {};
  WEIR_ASSIGN(const std::string marker, base_->Marker());
  Epoch epoch = 0;
  if (!DecodeMarker(marker, epoch, folded_ends_)) return StateError("the base's marker is damaged", folder_ + "/base");
  if (epoch > restored_) {
    return StateError(fmt::format("the base holds epoch {}, which is newer than the restored checkpoint {}", epoch,
                                  restored_), folder_ + "/base");
  }
  folded_ = epoch;
  has_base_ = true;
  return {};
}

Status Table::FillFrom(const Manifest& restored) {
  if (!options_.fill) {
    return StateError(fmt::format("checkpoint {} does not hold table {}", restored.epoch, name()), folder_);
  }
  // What is there is of a time when the table was declared before, or of a start that no checkpoint followed.
  WEIR_TRY(RemoveTree(folder_));
  WEIR_TRY(MakeFolder(folder_));
  WEIR_ASSIGN(base_, TableBase::Open(folder_ + "/base", {set_->block_cache()}));
  TableFill fill(*base_, buckets());
  WEIR_TRY(options_.fill(fill));
  WEIR_TRY(fill.Finish(EncodeMarker(restored_, folded_ends_)));
  // A table of this name that an earlier checkpoint held may have left its count.
  filled_rows_ = fill.rows() - rows_;
  rows_ = fill.rows();
  folded_ = restored_;
  has_base_ = true;
  return {};
}

Status Table::ReadRestored(int bucket, const TakeRow& take) const {
  // The newest change of each key that the logs hold; without a value the row is gone.
  std::map<std::pair<std::string, std::string>, std::optional<std::string>> changed;
  WEIR_TRY(Redo(bucket, [&](std::span<const LogEntry> entries) -> Status {
    for (const LogEntry& entry : entries) {
      std::optional<std::string>& row = changed[{std::string(entry.group), std::string(entry.unique)}];
      row = entry.remove ? std::nullopt : std::optional(std::string(entry.rest));
    }
    return {};
  }));
  if (has_base()) {
    WEIR_TRY(base_->ScanBucket(bucket, [&](std::string_view group, std::string_view unique, std::string_view rest) -> Status {
      if (!changed.empty() && changed.contains({std::string(group), std::string(unique)})) return {};
      return take(group, unique, rest);
    }));
  }
  for (const auto& [key, rest] : changed) {
    if (rest) WEIR_TRY(take(key.first, key.second, *rest));
  }
  return {};
}

Status Table::OpenState(const Manifest* restored) {
  const std::string base = folder_ + "/base";
  const bool linked = restored != nullptr && std::filesystem::exists(LinkFolder(restored->epoch));
  if (restored != nullptr && !linked && rows_ > 0) {
    return StateError(fmt::format("the state of checkpoint {} is missing", restored->epoch),
                      LinkFolder(restored->epoch));
  }
  if (linked) {
    WEIR_TRY(TableBase::RestoreFrom(LinkFolder(restored->epoch), base));
  } else {
    WEIR_TRY(RemoveTree(base));
  }
  if (restored != nullptr) WEIR_TRY(DropLinks(0, restored->epoch));
  WEIR_ASSIGN(base_, TableBase::Open(base, {set_->block_cache()}));
  folded_ = restored_;
  has_base_ = !base_->empty();
  return {};
}

void Table::Close() {
  const std::lock_guard lock(fold_mutex_);
  if (!base_) return;
  closed_base_bytes_ = has_base() ? base_->bytes() : 0;
  base_.reset();
}

Status Table::OpenBuckets(const std::vector<int>& buckets) {
  if (folder_.empty()) return {};
  if (logged()) {
    for (const int bucket : buckets) WEIR_TRY(OpenLog(bucket));
    return {};
  }
  const auto changes = std::make_shared<EpochChanges>(this, buckets, set_->run_bytes());
  for (const int bucket : buckets) changes_[static_cast<size_t>(bucket)] = changes;
  return {};
}

Status Table::OpenLog(int bucket) {
  const auto i = static_cast<size_t>(bucket);
  const LogOptions log_options{.segment_bytes = is_log() ? kLogTableSegmentBytes : kSegmentBytes,
                               .bucket = static_cast<uint32_t>(bucket)};
  WEIR_ASSIGN(logs_[i], BucketLog::Open(LogFolder(bucket), restored_ends_[i], log_options));
  bucket_bytes_[i] = logs_[i]->bytes();
  log_bytes_ += logs_[i]->bytes();
  return is_log() ? OpenLogBucket(i) : Status{};
}

Status Table::Redo(int bucket, const std::function<Status(std::span<const LogEntry>)>& take) const {
  const auto i = static_cast<size_t>(bucket);
  if (folder_.empty() || !logged() || folded_ends_[i] == restored_ends_[i]) return {};
  return ReadLogBlocks(LogFolder(bucket), folded_ends_[i], restored_ends_[i], take);
}

// --- the task of a bucket

Status Table::Snapshot(const std::vector<int>& buckets, int64_t rows, SnapshotWriter& writer) {
  // A log table's rows are those between the ends of its logs.
  const bool first = !buckets.empty() && buckets.front() == 0;
  if (!is_log()) writer.PutCounter(RowsCounter(name()), rows + (first ? filled_rows_ : 0));
  if (folder_.empty()) return {};
  if (!logged()) {
    if (buckets.empty()) return {};
    std::function<Status()> work = changes_[static_cast<size_t>(buckets.front())]->TakeEpoch();
    if (work) writer.FinishLater(std::move(work));
    return {};
  }
  for (const int bucket : buckets) {
    const auto i = static_cast<size_t>(bucket);
    BucketLog& log = *logs_[i];
    WEIR_TRY(log.Flush());
    writer.PutTablePosition(name(), bucket, log.end());
    writer.FinishLater(log.SyncLater());
    if (!is_log()) WEIR_TRY(DropFolded(i));
    const int64_t bytes = log.bytes();
    log_bytes_ += bytes - bucket_bytes_[i].exchange(bytes);
  }
  return {};
}

Status Table::DropFolded(size_t bucket) {
  LogPosition folded;
  {
    const std::lock_guard lock(fold_mutex_);
    folded = folded_ends_[bucket];
  }
  return logs_[bucket]->DropBefore(folded);
}

void Table::Count(int64_t rows, int64_t lookups, int64_t hits) {
  rows_.fetch_add(rows, std::memory_order_relaxed);
  lookups_.fetch_add(lookups, std::memory_order_relaxed);
  hits_.fetch_add(hits, std::memory_order_relaxed);
}

TableFigures Table::Figures() const {
  TableFigures figures{name(), rows_, log_bytes(), 0, lookups_, hits_, 0};
  const std::lock_guard lock(fold_mutex_);
  figures.folds = folds_;
  figures.kv_bytes = base_ && has_base() ? base_->bytes() : closed_base_bytes_;
  return figures;
}

int64_t Table::index_bytes() const {
  const std::lock_guard lock(fold_mutex_);
  return base_ && has_base() ? base_->index_bytes() : 0;
}

// --- folds

uint64_t Table::FoldedOffset(size_t bucket) const {
  const std::lock_guard lock(fold_mutex_);
  return folded_ends_[bucket].offset;
}

Status Table::FoldTo(Epoch epoch, const std::vector<LogPosition>& to, const std::function<bool()>& cancelled) {
  std::vector<LogPosition> from;
  {
    const std::lock_guard lock(fold_mutex_);
    from = folded_ends_;
  }
  std::vector<LogPosition> ends = to;
  ends.resize(from.size());
  if (ends != from) {
    Fold fold(*base_);
    for (int bucket = 0; bucket < buckets(); ++bucket) {
      const auto i = static_cast<size_t>(bucket);
      if (cancelled()) return {};
      if (from[i] == ends[i]) continue;
      WEIR_TRY(ReadLog(LogFolder(bucket), from[i], ends[i],
                       [&](const LogEntry& entry) { return fold.Add(bucket, entry); }));
    }
    if (cancelled()) return {};
    WEIR_TRY(fold.Finish(EncodeMarker(epoch, ends)));
    const std::lock_guard lock(fold_mutex_);
    folded_ends_ = std::move(ends);
    ++folds_;
    has_base_.store(true, std::memory_order_release);
  }
  folded_.store(epoch, std::memory_order_release);
  return {};
}

Status Table::Ingest(Fold& last, const std::vector<std::unique_ptr<Fold>>& runs) {
  const std::lock_guard lock(fold_mutex_);
  WEIR_TRY(last.Finish("state", runs));
  ++folds_;
  has_base_.store(true, std::memory_order_release);
  return {};
}

Result<Store::StateBytes> Table::Link(Epoch epoch) {
  const std::lock_guard lock(fold_mutex_);
  Store::StateBytes bytes;
  if (!base_) return StateError("the tables are closed");  // while the job is being aborted
  if (has_base()) {
    WEIR_ASSIGN(const auto files, base_->LinkInto(LinkFolder(epoch)));
    for (const auto& [file, size] : files) {
      bytes.full += size;
      const auto same = [&](const auto& known) { return known.first == file; };
      if (std::none_of(linked_.begin(), linked_.end(), same)) bytes.incremental += size;
    }
    linked_ = files;
  }
  folded_.store(epoch, std::memory_order_release);
  return bytes;
}

Status Table::DropLinks(Epoch oldest, Epoch newest) const {
  std::error_code error;
  std::vector<std::string> doomed;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename();
    Epoch epoch = 0;
    if (!name.starts_with("chk-")) continue;
    std::from_chars(name.data() + 4, name.data() + name.size(), epoch);
    if (epoch < oldest || epoch > newest) doomed.push_back(entry.path());
  }
  for (const std::string& folder : doomed) WEIR_TRY(RemoveTree(folder));
  return {};
}

}  // namespace weir
