// One table of a job: its buckets' logs, its base, and what they hold.
//
// A table is logged (a primary-key table: its changes are on disk at each barrier, folds are rare), a log table (rows are
// only added: the logs are all there is, and their old segments go when they are older than the table's time to live;
// log_table.cc), or it is the state of an operator (`state: rocksdb`: the changes of an epoch are written as sorted runs
// while it goes on, which go into the base at its checkpoint, and the base is hard-linked into state/NAME/chk-N).  The rows
// in memory, the overlay, are the owner's (row_groups.h).
//
// Threads: methods that take a bucket belong to the one task that owns it; the others may be called by any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/runtime/store.h"
#include "tables/base/table_base.h"
#include "tables/epoch_changes.h"
#include "tables/log/bucket_log.h"

namespace weir {

class TableFill;
class TableSet;

struct TableOptions {
  enum class Kind {
    kLogged,  // a primary-key table
    kState,   // state of an operator
    kLog,     // a log table
  };
  std::string name;  // unique in the job
  int buckets = 8;  // of state: the key groups
  Kind kind = Kind::kLogged;
  Micros ttl = 0;  // of a log table's rows; 0: they stay for ever
  // Of a logged table that may be added to a job with state (an index): adds the rows that it has as of the restored
  // checkpoint (table_fill.h).  Without it a checkpoint that does not hold the table is refused.
  std::function<Status(TableFill& rows)> fill = {};
};

class Table {
 public:
  Table(TableOptions options, TableSet* set);

  const std::string& name() const { return options_.name; }
  int buckets() const { return options_.buckets; }
  bool logged() const { return options_.kind != TableOptions::Kind::kState; }
  bool is_log() const { return options_.kind == TableOptions::Kind::kLog; }
  TableSet& set() const { return *set_; }

  // --- the task of the bucket ----------------------------------------------------------------------------------------
  // All buckets of a task, in rising order.
  Status OpenBuckets(const std::vector<int>& buckets);
  // Calls take for the changes between the last fold and the restored checkpoint, in order.
  Status Redo(int bucket, const std::function<Status(std::span<const LogEntry>)>& take) const;
  Status Append(int bucket, const LogEntry& entry) {
    if (BucketLog* log = logs_[static_cast<size_t>(bucket)].get()) return log->Append(entry);
    if (!folder_.empty()) changes_[static_cast<size_t>(bucket)]->Keep(bucket, entry);
    return {};
  }
  // At a barrier, with all buckets of the task: what has to be durable is finished later.  `rows`: that came in this task
  // since the job was opened, less those that went.
  Status Snapshot(const std::vector<int>& buckets, int64_t rows, SnapshotWriter& writer);
  // Rows that came and went, and lookups, since the last call.
  void Count(int64_t rows, int64_t lookups, int64_t hits);

  // --- the task of a log table's bucket
  // Appends a row, which came at `now`.
  Status AppendRow(int bucket, Micros now, std::string_view row);
  // At a barrier, before Snapshot: ends the segment that is written when it is a quarter of the time to live old, and
  // deletes those whose rows are all older than that and that no kept checkpoint needs.
  Status Expire(int bucket, Micros now);

  // Of a logged table, before its buckets are opened: calls take for every row of the restored checkpoint, in no order.
  // Memory: what the logs hold of the bucket since the last fold.
  using TakeRow = std::function<Status(std::string_view group, std::string_view unique, std::string_view rest)>;
  Status ReadRestored(int bucket, const TakeRow& take) const;

  // --- any thread ----------------------------------------------------------------------------------------------------
  // Whether there may be rows that are not in memory.
  bool has_base() const { return has_base_.load(std::memory_order_acquire); }
  TableBase& base() const { return *base_; }
  // Rows last written in an epoch up to this one are in the base.
  Epoch folded() const { return folded_.load(std::memory_order_acquire); }
  // The number of the restored checkpoint; 0 for a new job.
  Epoch restored() const { return restored_; }
  TableFigures Figures() const;
  // Memory of the base's indexes and filters.
  int64_t index_bytes() const;

 private:
  friend class EpochChanges;
  friend class TableSet;

  // What is known of a log table's segments, so that each is looked at once.
  struct Retention {
    uint64_t first_offset = 0;       // of the first segment
    std::optional<uint64_t> next;    // the number of the segment behind the first, and its beginning
    SegmentStart next_start;
    std::optional<uint64_t> current;  // the number of the segment that is written
    Micros current_began = 0;
  };

  Status Open(const std::string& state_dir, const Manifest* restored);
  void Close();  // no one uses the base any more
  Status RestoreEnds(const Manifest* restored);
  Status FillFrom(const Manifest& restored);
  bool IsHeldBy(const Manifest& restored) const { return restored.tables.contains(name()); }
  Status OpenLogged(const Manifest* restored);
  Status OpenState(const Manifest* restored);
  Status OpenLog(int bucket);
  std::string FolderIn(const std::string& state_dir) const;
  std::string LogFolder(int bucket) const;
  std::string LinkFolder(Epoch epoch) const;

  Status DropFolded(size_t bucket);
  Status OpenLogBucket(size_t bucket);

  // --- the table set, on an I/O thread
  Status FoldTo(Epoch epoch, const std::vector<LogPosition>& to, const std::function<bool()>& cancelled);
  // Of a state table: the changes of an epoch of one task, in runs of which `last` is not closed.
  Status Ingest(Fold& last, const std::vector<std::unique_ptr<Fold>>& runs);
  Result<Store::StateBytes> Link(Epoch epoch);
  Status DropLinks(Epoch oldest, Epoch newest) const;
  int64_t log_bytes() const { return log_bytes_.load(std::memory_order_relaxed); }
  uint64_t FoldedOffset(size_t bucket) const;
  // Where the oldest kept checkpoint ends: what is behind it must stay.
  void Keep(const std::vector<LogPosition>& oldest_ends);

  const TableOptions options_;
  TableSet* const set_;
  std::string folder_;  // of this table; empty: the job has no state dir
  Epoch restored_ = 0;
  std::vector<LogPosition> restored_ends_;
  std::unique_ptr<TableBase> base_;
  std::atomic<bool> has_base_{false};
  std::atomic<Epoch> folded_{0};
  std::vector<std::unique_ptr<BucketLog>> logs_;   // by bucket; null where the task has not opened it
  std::vector<std::atomic<int64_t>> bucket_bytes_; // of the logs, as of the last barrier
  std::atomic<int64_t> log_bytes_{0};
  std::vector<std::shared_ptr<EpochChanges>> changes_;  // of a state table, by bucket: those of a task share one
  std::vector<Retention> retention_;                    // of a log table, by bucket


  mutable std::mutex fold_mutex_;  // one fold at a time; guards what follows
  std::vector<LogPosition> folded_ends_;
  std::vector<LogPosition> kept_ends_;  // of a log table: where the oldest kept checkpoint ends; empty: not known
  std::vector<std::pair<std::string, int64_t>> linked_;  // files of the last link folder
  int64_t folds_ = 0;
  int64_t closed_base_bytes_ = 0;

  std::atomic<int64_t> rows_{0};
  int64_t filled_rows_ = 0;  // that the restored checkpoint does not count
  std::atomic<int64_t> lookups_{0};
  std::atomic<int64_t> hits_{0};
};

}  // namespace weir
