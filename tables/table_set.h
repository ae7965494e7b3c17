// All tables of a job: opened before its operators, folded behind its checkpoints, kept within a bound of memory.
//
// Memory: owners of overlays report what they hold.  Only what the oldest kept checkpoint holds may be folded, and only
// what is folded may leave memory.  So above half of the bound checkpoints are asked for as memory grows, an eighth of
// the bound each, and folds follow them; above 60 % owners drop clean rows, a little between two batches and more at a
// barrier, until half is used.  Above 80 % the sources rest and checkpoints follow one another; below 70 % the sources go
// on.  When a few checkpoints in a row have not helped, the job fails and names the largest table.
// The indexes and filters of the bases, which cannot leave memory, count up to a quarter of the bound: beyond it a warning
// says that the bound is too small for what is on disk.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tables/table.h"

namespace weir {

struct TableSetOptions {
  int64_t memory = int64_t{1} << 30;  // bytes of overlays, block cache, and the bases' indexes
  int64_t redo_bytes = int64_t{512} << 20;
  int64_t redo_rows = 6'000'000;
  int64_t run_bytes = int64_t{2} << 20;  // of changes of a state table, at least, that are written before a barrier
};

class TableSet final : public Store {
 public:
  explicit TableSet(TableSetOptions options);
  ~TableSet() override;

  // Before Open.
  std::shared_ptr<Table> Add(TableOptions options);

  // --- Store
  Status Open(const std::string& state_dir, const Manifest* restored, Scheduler& io, Hooks hooks) override;
  Result<StateBytes> Prepare(Epoch epoch) override;
  Status OnComplete(const Manifest& manifest, Epoch oldest) override;
  Status Tidy(const std::string& state_dir, Epoch oldest) override;
  bool full() const override { return full_.load(std::memory_order_relaxed); }
  std::vector<TableFigures> Figures() const override;
  void Close() override;

  // --- owners of overlays; any thread
  // What an owner holds in memory has changed by so many bytes.
  void AddUsage(int64_t bytes);
  bool wants_eviction() const { return full() || usage_.load(std::memory_order_relaxed) > evict_above_; }
  // Checkpoints in a row have not helped: everything that can go has to.
  bool pressing() const { return pressing_.load(std::memory_order_relaxed); }
  // Bytes that an owner frees at a barrier.
  int64_t barrier_relief() const { return bound_ / 16; }
  bool above_target() const { return usage_.load(std::memory_order_relaxed) > evict_target_; }
  // Runs a read of a base, or what writes beside it, on the I/O pool; Close waits for it.
  void PostRead(std::function<void()> read);
  // Runs work that a checkpoint finishes on the I/O pool, unless the set is closed: then it comes too late.  Close waits.
  Status WhileOpen(const std::function<Status()>& work);
  int64_t run_bytes() const { return options_.run_bytes; }
  // For an overlay to remember what has left it.
  int64_t filter_bytes() const;
  const std::shared_ptr<rocksdb::Cache>& block_cache() const { return block_cache_; }

 private:
  // Removes the folders of tables that the job no longer has, once no kept checkpoint is of a time when it had them.
  Status DropForgotten(Epoch oldest);
  bool FoldIsDue(Epoch oldest) const;
  void KeepLogs(Epoch oldest);
  void StartFold(Epoch epoch);
  void RunFold(Epoch epoch, TablePositions to);
  Status CheckProgress();
  void NoteGrowth(int64_t now);
  // Looks anew at what the bases' indexes take.
  void CountIndexes();
  // Whether less than so many tenths of the bound are used; then the sources go on if they rested.
  bool TakeRoom(int tenths);

  const TableSetOptions options_;
  int64_t bound_ = 0;         // of the overlays
  int64_t evict_above_ = 0;
  int64_t evict_target_ = 0;
  std::shared_ptr<rocksdb::Cache> block_cache_;
  std::vector<std::shared_ptr<Table>> tables_;
  Scheduler* io_ = nullptr;
  Hooks hooks_;
  bool durable_ = false;  // there is a state dir
  std::string folder_;    // of the tables
  // Of the checkpoint that the job was restored from while folders of tables it no longer has may be there.
  std::optional<Epoch> forgetting_;

  std::atomic<int64_t> usage_{0};
  std::atomic<int64_t> indexes_{0};  // of usage_: of the bases' indexes
  std::atomic<bool> warned_{false};
  std::atomic<bool> full_{false};
  std::atomic<bool> pressing_{false};
  // The least use since a checkpoint was asked for because memory grew.
  std::atomic<int64_t> grown_from_{0};
  // Of two checkpoints the first brings what is to be folded, the second makes it the oldest kept one.
  std::atomic<bool> one_more_{false};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Epoch, TablePositions> kept_;  // of complete checkpoints that may still be folded to
  Epoch folded_ = 0;
  bool folding_ = false;
  int folds_running_ = 0;  // also those that have folded and still call hooks
  size_t reading_ = 0;
  bool closed_ = false;
  int rounds_ = 0;  // checkpoints in a row that found memory full
};

}  // namespace weir
