#include "tables/table_set.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "engine/base/file.h"
#include "engine/base/quantity.h"

namespace weir {
namespace {

constexpr int64_t kCacheShare = 8;          // the block cache is this part of the memory
constexpr int64_t kGrowthShare = 8;         // of the bound: growth of memory that asks for a checkpoint
constexpr int kCalmRounds = 3;              // until owners are pressed
constexpr int kRoomTenths = 7;              // of the bound: below it the sources go on
constexpr int64_t kFilterShare = 16;        // all filters of overlays are at most this part of it
constexpr int kMaxRounds = 12;              // checkpoints in a row that may find memory full
constexpr int kManyLevel0Files = 12;        // a fold waits while the base has more
constexpr int64_t kIndexShare = 4;          // of the bound, that the bases' indexes are counted for at most
constexpr int64_t kFoldShare = 2;           // memory in use from which folds start, as a part of the bound

}  // namespace

TableSet::TableSet(TableSetOptions options) : options_(options) {
  const int64_t cache = options_.memory / kCacheShare;
  bound_ = options_.memory - cache;
  evict_above_ = bound_ / 10 * 6;
  evict_target_ = bound_ / 10 * 5;
  block_cache_ = MakeBlockCache(cache);
}

TableSet::~TableSet() { Close(); }

std::shared_ptr<Table> TableSet::Add(TableOptions options) {
  return tables_.emplace_back(std::make_shared<Table>(std::move(options), this));
}

Status TableSet::Open(const std::string& state_dir, const Manifest* restored, Scheduler& io, Hooks hooks) {
  io_ = &io;
  hooks_ = std::move(hooks);
  durable_ = !state_dir.empty();
  folder_ = state_dir + "/tables";
  if (durable_ && restored != nullptr) forgetting_ = restored->epoch;
  for (const auto& table : tables_) WEIR_TRY(table->Open(state_dir, restored));
  if (restored != nullptr) kept_[restored->epoch] = restored->tables;
  CountIndexes();
  return {};
}

Result<Store::StateBytes> TableSet::Prepare(Epoch epoch) {
  StateBytes sum;
  for (const auto& table : tables_) {
    if (table->logged() || !durable_) continue;
    WEIR_ASSIGN(const StateBytes bytes, table->Link(epoch));
    sum.full += bytes.full;
    sum.incremental += bytes.incremental;
  }
  CountIndexes();
  return sum;
}

Status TableSet::OnComplete(const Manifest& manifest, Epoch oldest) {
  for (const auto& table : tables_) {
    if (!table->logged()) WEIR_TRY(table->DropLinks(oldest, std::numeric_limits<Epoch>::max()));
  }
  WEIR_TRY(DropForgotten(oldest));
  {
    const std::lock_guard lock(mutex_);
    kept_[manifest.epoch] = manifest.tables;
    kept_.erase(kept_.begin(), kept_.lower_bound(oldest));
    KeepLogs(oldest);
    if (manifest.finished || closed_) return {};
    if (FoldIsDue(oldest)) {
      StartFold(oldest);
      return {};
    }
    if (folding_) return {};
  }
  if (full()) return CheckProgress();
  if (one_more_.exchange(false)) hooks_.checkpoint();
  return {};
}

Status TableSet::Tidy(const std::string& state_dir, Epoch oldest) {
  for (const auto& table : tables_) {
    if (table->logged()) continue;
    table->folder_ = table->FolderIn(state_dir);
    WEIR_TRY(table->DropLinks(oldest, std::numeric_limits<Epoch>::max()));
  }
  return {};
}

Status TableSet::DropForgotten(Epoch oldest) {
  if (!forgetting_ || oldest <= *forgetting_) return {};
  forgetting_.reset();
  std::set<std::string> known;
  for (const auto& table : tables_) known.insert(std::filesystem::path(table->folder_).filename());
  std::vector<std::string> forgotten;
  std::error_code ignored;  // no folder: no table was ever there
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    if (!known.contains(entry.path().filename())) forgotten.push_back(entry.path());
  }
  for (const std::string& folder : forgotten) WEIR_TRY(RemoveTree(folder));
  return {};
}

// Nothing can be folded yet: the next checkpoint makes the oldest kept one younger, and lets clean rows go.
Status TableSet::CheckProgress() {
  if (!full() || TakeRoom(kRoomTenths)) return {};
  ++rounds_;
  if (rounds_ > kCalmRounds) pressing_ = true;
  if (rounds_ > kMaxRounds) {
    if (TakeRoom(8)) return {};  // no more can leave memory, but the rows are within the bound
    const auto largest = std::max_element(tables_.begin(), tables_.end(), [](const auto& a, const auto& b) {
      return a->Figures().rows < b->Figures().rows;
    });
    return StateError(fmt::format("the rows of the tables in memory take {}, more than the bound of {}, and folding them "
                                  "does not help: raise options.memory. The largest is table {} with {} rows",
                                  FormatSize(usage_.load()), FormatSize(bound_), (*largest)->name(),
                                  (*largest)->Figures().rows));
  }
  hooks_.checkpoint();
  return {};
}

// With the lock held.
void TableSet::KeepLogs(Epoch oldest) {
  const auto kept = kept_.find(oldest);
  if (kept == kept_.end()) return;  // of an earlier run; the next checkpoint is nearer
  for (const auto& table : tables_) {
    if (!table->is_log()) continue;
    if (const auto ends = kept->second.find(table->name()); ends != kept->second.end()) table->Keep(ends->second);
  }
}

// With the lock held.
bool TableSet::FoldIsDue(Epoch oldest) const {
  const auto kept = kept_.find(oldest);
  if (folding_ || oldest <= folded_ || kept == kept_.end()) return false;
  int64_t bytes = 0;
  uint64_t rows = 0;
  int files = 0;
  bool logged = false;
  for (const auto& table : tables_) {
    if (!table->logged() || table->is_log()) continue;
    logged = true;
    bytes += table->log_bytes();
    const auto ends = kept->second.find(table->name());
    if (ends == kept->second.end()) continue;
    for (size_t i = 0; i < ends->second.size(); ++i) rows += ends->second[i].offset - table->FoldedOffset(i);
    files = std::max(files, table->has_base() ? table->base().level0_files() : 0);
  }
  if (!logged || rows == 0) return false;
  if (full()) return true;
  if (files > kManyLevel0Files) return false;
  return bytes > options_.redo_bytes || rows > static_cast<uint64_t>(options_.redo_rows) ||
         usage_.load(std::memory_order_relaxed) > bound_ / kFoldShare;
}

// With the lock held.
void TableSet::StartFold(Epoch epoch) {
  folding_ = true;
  ++folds_running_;
  io_->Post([this, epoch, to = kept_.at(epoch)] { RunFold(epoch, to); });
}

void TableSet::RunFold(Epoch epoch, TablePositions to) {
  const auto cancelled = [this] {
    const std::lock_guard lock(mutex_);
    return closed_;
  };
  Status status;
  for (const auto& table : tables_) {
    if (!table->logged() || table->is_log() || !status || cancelled()) continue;
    status = table->FoldTo(epoch, to[table->name()], cancelled);
  }
  bool more = false;
  CountIndexes();
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ && status) folded_ = epoch;
    // A checkpoint that completes from here on looks for itself whether memory is full; until here it left that to this.
    folding_ = false;
    more = !closed_ && status && full();
  }
  spdlog::debug("folded the tables to checkpoint {}", epoch);
  // Memory is given back at the next barrier.
  if (!status && !cancelled()) hooks_.fail(status.error());
  if (more) hooks_.checkpoint();
  const std::lock_guard lock(mutex_);
  --folds_running_;
  changed_.notify_all();
}

void TableSet::PostRead(std::function<void()> read) {
  {
    const std::lock_guard lock(mutex_);
    ++reading_;
  }
  io_->Post([this, read = std::move(read)] {
    read();
    const std::lock_guard lock(mutex_);
    --reading_;
    changed_.notify_all();
  });
}

Status TableSet::WhileOpen(const std::function<Status()>& work) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return StateError("the tables are closed");
    ++reading_;
  }
  Status done = work();
  const std::lock_guard lock(mutex_);
  --reading_;
  changed_.notify_all();
  return done;
}

int64_t TableSet::filter_bytes() const {
  return options_.memory / kFilterShare / std::max<int64_t>(1, static_cast<int64_t>(tables_.size()));
}

void TableSet::CountIndexes() {
  int64_t bytes = 0;
  for (const auto& table : tables_) bytes += table->index_bytes();
  const int64_t most = bound_ / kIndexShare;
  if (bytes > std::max<int64_t>(most, 1 << 20) && durable_ && !warned_.exchange(true)) {
    spdlog::warn("the indexes of the tables on disk take {}, more than a quarter of what options.memory leaves them ({}); raise "
                 "it, or memory use will be above it",
                 FormatSize(bytes), FormatSize(bound_));
  }
  const int64_t counted = std::min(bytes, most);
  AddUsage(counted - indexes_.exchange(counted));
}

void TableSet::AddUsage(int64_t bytes) {
  if (bytes == 0) return;
  const int64_t now = usage_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (!durable_) return;
  if (now > bound_ / 10 * 8) {
    if (!full_.exchange(true)) hooks_.checkpoint();
  } else {
    NoteGrowth(now);
    TakeRoom(kRoomTenths);
  }
}

// Rows that are used again and again do not grow, and ask for nothing.  State without a log is folded at each checkpoint,
// and those that come when memory is full are soon enough.
void TableSet::NoteGrowth(int64_t now) {
  const bool folds = std::any_of(tables_.begin(), tables_.end(), [](const auto& table) { return table->logged(); });
  if (!folds) return;
  int64_t from = grown_from_.load(std::memory_order_relaxed);
  const bool grown = now > bound_ / 2 && now - from > bound_ / kGrowthShare;
  if (now >= from && !grown) return;
  if (!grown_from_.compare_exchange_strong(from, now, std::memory_order_relaxed) || !grown) return;
  one_more_ = true;
  hooks_.checkpoint();
}

// Also asked when a checkpoint is complete: of two reports at the same time, the one that finds memory full may be the
// later to say so.
bool TableSet::TakeRoom(int tenths) {
  if (usage_.load(std::memory_order_relaxed) >= bound_ / 10 * tenths) return false;
  if (!full_.load(std::memory_order_relaxed) || !full_.exchange(false)) return true;
  {
    const std::lock_guard lock(mutex_);
    rounds_ = 0;
    pressing_ = false;
    if (closed_) return true;
  }
  hooks_.room();
  return true;
}

std::vector<TableFigures> TableSet::Figures() const {
  std::vector<TableFigures> figures;
  for (const auto& table : tables_) {
    if (table->logged()) figures.push_back(table->Figures());
  }
  return figures;
}

void TableSet::Close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  changed_.wait(lock, [this] { return folds_running_ == 0 && reading_ == 0; });
  for (const auto& table : tables_) table->Close();
}

}  // namespace weir
