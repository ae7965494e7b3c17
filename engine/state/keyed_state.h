// The keyed state of one operator in one task: an arena of records, indexes over it, and its snapshots.
//
// The owner (an operator) gives its records part numbers and keeps indexes and lists over them; this class does what is
// the same for all: the hard cap, snapshots without a pause, restore by key group, sizes.
//
//   Snapshot   fixes a view of the arena and returns; the I/O thread then streams the records of the saved parts.
//   Counts     (Record::count) of saved parts may change meanwhile through SetCount, which remembers the old value;
//   every
//              other change of a record in the view is made to a copy (Writable).
//
// One thread; the function given to SnapshotWriter::WriteLater runs on another and outlives this object if it must.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/state/record_arena.h"
#include "engine/state/snapshot_file.h"

namespace weir {

struct StateOptions {
  int64_t max_bytes = 0;  // hard cap of an operator in one task; 0 = none
  Micros ttl = 0;         // rows not written for that long may be dropped; 0 = never
};

class KeyedState {
 public:
  static constexpr size_t kMaxParts = 64;

  // A part of the state, in the order of part numbers from 1.  Only saved parts are written to snapshots.
  struct Part {
    std::string name;
    bool saved = true;
  };

  // `kind`: the operator's, written to snapshots.  `counted`: Record::count of saved parts belongs to the state.
  KeyedState(std::string kind, std::vector<Part> parts, bool counted, StateOptions options);

  Status Open(const OperatorContext& context);

  RecordArena& arena() { return arena_; }
  const RecordArena& arena() const { return arena_; }
  Record* At(Ref ref) const { return arena_.At(ref); }
  const StateOptions& options() const { return options_; }

  // Before each batch: notices finished snapshots, checks the cap.  `other_bytes`: indexes and
  // lists of the owner; `batch_bytes`: at most what this batch can add.
  Status BeginBatch(int64_t other_bytes, int64_t batch_bytes);

  Ref Allocate(uint8_t part, size_t size) {
    const Ref ref = arena_.Allocate(part, size);
    Count(part, 1, size);
    arena_.At(ref)->tick = now_tick_;
    return ref;
  }
  void Free(Ref ref) {
    const Record* record = arena_.At(ref);
    Count(record->part, -1, record->size);
    arena_.Free(ref);
  }
  // The record itself if it may be changed in place, else a copy that takes its place: the caller relinks it and the
  // old one is freed.
  Ref Writable(Ref ref);
  void SetCount(Ref ref, uint32_t count);

  // Time to live: the clock is read once a batch.
  bool has_ttl() const { return options_.ttl > 0; }
  bool Expired(const Record& record) const {
    return has_ttl() && static_cast<uint16_t>(now_tick_ - record.tick) > kTicksToLive;
  }
  void Touch(Record& record) const { record.tick = now_tick_; }

  void Snapshot(SnapshotWriter& writer);
  // Calls take for the records of every part file that can hold keys of this task; the owner drops those of other
  // tasks. `filter` is false when all keys of the file are this task's.
  Status Restore(const SnapshotReader& reader,
                 const std::function<Status(const SnapshotReader::Part&, const SnapshotRecord&, bool filter)>& take);
  // Called by Restore after the last record of each file.
  std::function<Status(const SnapshotReader::Part&)> after_file;

  // From any thread.
  std::vector<StateSize> Sizes() const;

 private:
  // Old counts of records in the view, for the writer of a snapshot.
  struct CountLog {
    std::mutex mutex;
    std::vector<std::pair<Ref, uint32_t>> entries;
  };
  // Written by the task, read by anyone.
  struct Counter {
    std::atomic<int64_t> rows{0};
    std::atomic<int64_t> bytes{0};
  };
  static constexpr uint16_t kTicksToLive = 1024;

  void Count(uint8_t part, int64_t rows, size_t size) {
    // One writer: a load and a store do, without a locked instruction.
    Counter& counter = counters_[part];
    const auto bytes = static_cast<int64_t>(RecordArena::Units(size) * RecordArena::kUnit);
    counter.rows.store(counter.rows.load(std::memory_order_relaxed) + rows, std::memory_order_relaxed);
    counter.bytes.store(counter.bytes.load(std::memory_order_relaxed) + rows * bytes, std::memory_order_relaxed);
  }

  static Status Write(const ArenaView& view, CountLog* log, const std::vector<bool>& saved,
                      const SnapshotHeader& header, SnapshotWriter::File& file);

  std::string kind_;
  std::vector<Part> parts_;
  bool counted_;
  StateOptions options_;
  std::string name_;  // of the operator, for messages
  int task_ = 0;
  int parallelism_ = 1;
  const Clock* clock_ = nullptr;
  uint16_t now_tick_ = 0;
  RecordArena arena_;
  std::shared_ptr<CountLog> count_log_;
  std::array<Counter, kMaxParts + 1> counters_;  // by part; [0] has the bytes of indexes as of the last batch
};

}  // namespace weir
