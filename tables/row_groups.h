// The overlay of one or two tables in one task: rows in memory, grouped by the key under which they are looked up, as a
// cache in front of the tables' bases that is written through to their logs.
//
// The owner (a join, a table's operator) keeps the rows in the arena, the index and the lists that it gives to this class
// and changes them itself; this class sees to it that
//
//   1. before a batch, every group that it touches is in memory whole (Prepare): what is missing is read from the bases on
//      the I/O pool, in parts, while the task does something else;
//   2. every change is in the log of its bucket (Changed), and a barrier makes it durable (Snapshot);
//   3. groups whose last change has been folded may leave memory when it is short (Relieve);
//   4. a restart finds the rows again (Restore): those that were not folded come from the logs.  A group that was not
//      whole then keeps removed rows as tombstones, until it is read.
//
// A group is in memory whole or is never looked at.  Of a table whose base was empty when the task began, only groups
// that have left memory have rows in the base: a filter knows them, and a new group needs no reading.  One thread; bases
// are read on others.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/row_codec.h"
#include "engine/state/key_index.h"
#include "engine/state/keyed_state.h"
#include "engine/state/record_list.h"
#include "tables/group_filter.h"
#include "tables/table.h"

namespace weir {

// What a group's record holds before its key: the rows of each side.
struct RowGroup {
  ListHead lists[2];
  uint32_t written = 0;  // the epoch of the last change

  size_t rows() const { return lists[0].size() + lists[1].size(); }
};

class RowGroups {
 public:
  struct Side {
    std::shared_ptr<Table> table;
    RecordLists* lists = nullptr;
    uint8_t part = 0;  // of its records
    // Length of a payload's unique part, its beginning; null: all of it.
    RecordLists::PrefixSize unique_size = nullptr;
    const void* owner = nullptr;
  };

  // The index of logged tables holds HashBytes of the key, so that rows can be placed by their log entry alone.
  // `counted`: the owner keeps match counts of its rows, which are not stored: TakeUncounted names what to count anew.
  RowGroups(KeyedState* state, KeyIndex* index, uint8_t group_part, std::vector<Side> sides, bool counted);
  ~RowGroups();

  Status Open(const OperatorContext& context);
  Status Restore();

  // Makes the groups of a batch's keys resident; false: not yet, ask again when the task is woken.  The arguments must
  // be the same until it is true.  `buckets`: of the rows, by the tables' rule.
  Result<bool> Prepare(std::span<const uint64_t> hashes, const EncodedRows& keys, std::span<const uint16_t> buckets);
  // The group of a key, which is made when it is not there.  REQUIRES: prepared.
  Ref FindOrAdd(uint64_t hash, std::string_view key);
  // Groups of the prepared batch whose rows came into memory without match counts.
  std::vector<Ref> TakeUncounted() { return std::exchange(uncounted_, {}); }

  // A row of the group has gone, or come, or both.  REQUIRES: the records are still there.
  Status Changed(size_t side, int bucket, Ref group, Ref removed, Ref added);
  // A change of side `side` has asked for the rows of the other side.
  void CountLookup(size_t side) { ++lookups_[side]; }

  // Between two batches.
  void Relieve(bool barrier);
  Status Snapshot(SnapshotWriter& writer);

  // Tells apart equal rows that have no unique key; never given twice to one group.
  uint64_t NextSequence() { return (uint64_t{epoch_} << 32) | sequence_++; }

 private:
  struct Load;
  enum Flag : uint8_t { kLoaded0 = 1, kLoaded1 = 2, kRecent = 4, kUncounted = 8, kRequested = 16, kRedone = 32 };
  static constexpr uint8_t kTombstone = 1;  // of a row's record

  RowGroup& Group(Ref ref) const { return *reinterpret_cast<RowGroup*>(state_->At(ref)->payload()); }
  std::string_view UniqueOf(const Side& side, Ref ref) const;
  Ref FindExact(const Side& side, const ListHead& list, std::string_view unique) const;
  uint8_t AllBits() const { return sides_.size() == 2 ? kLoaded0 | kLoaded1 : kLoaded0; }
  uint8_t LoadedBits() const;
  uint8_t WholeBits(std::string_view key) const;
  void NoteLeft(std::string_view key);
  void NoteUncounted(Ref ref);
  void RedoEntries(size_t side, std::span<const LogEntry> entries);
  void RedoEntry(size_t side, const LogEntry& entry, uint64_t hash);
  void AddRow(size_t side, RowGroup& group, std::string_view unique, std::string_view rest, uint8_t flags);
  void StartLoad();
  Status FinishLoad();
  void FreeRows(RowGroup& group);
  void Sweep(Epoch folded);
  void ReportUsage();
  Epoch Folded() const;

  KeyedState* state_;
  KeyIndex* index_;
  const uint8_t group_part_;
  const bool counted_;
  std::vector<Side> sides_;
  std::vector<int> buckets_;  // of this task
  std::function<void()> wake_;
  // Sides without a base when the batch began: a group that is made during the batch is whole there.  A base that comes up
  // meanwhile holds rows of groups that are in memory, so a key that has no group has no rows in it.
  uint8_t whole_bits_ = 0;
  uint8_t known_bits_ = 0;  // sides of which left_ knows every group that has rows in the base and not in memory
  GroupFilter left_;
  int64_t most_filter_bytes_ = 0;
  uint32_t epoch_ = 1;  // the running one is this or later: rows written now are folded with it
  uint32_t sequence_ = 0;

  std::shared_ptr<Load> load_;
  std::vector<Ref> uncounted_;
  std::vector<uint64_t> redo_hashes_;
  uint64_t sweep_position_ = 0;
  Epoch swept_for_ = 0;     // what was folded then
  size_t sweeps_left_ = 0;  // until all groups have been looked at twice
  int64_t reported_ = 0;
  int64_t rows_[2] = {0, 0};        // since the start
  int64_t counted_rows_[2] = {0, 0};
  int64_t lookups_[2] = {0, 0};     // since the last batch
  int64_t misses_[2] = {0, 0};
};

}  // namespace weir
