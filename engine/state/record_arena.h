// Memory of keyed state: records in chunks, addressed by 32-bit references, with a view that stays still for a
// snapshot.
//
//   1. A record is a 16-byte header and its payload, 8-byte aligned.  References count 8-byte units: 32 GiB at most.
//   2. New records take a freed one of their size class, else the end of the last chunk.  Chunks are never moved or
//      given back while the arena lives, so a pointer to a record stays good until the record is freed.
//   3. Freeze fixes a view: every record that is live now.  Until the view is done nothing of it changes or is used
//      again: frees wait in a list, new records only go to the end of the arena, and whoever wants to change a record
//      of the view (InView) replaces it by a copy.  `next`, `count` and `tick` of a header may change: the view's
//      reader takes `count` atomically and none of the others.
//
// One thread owns the arena (the operator's task); a view is read by one other thread.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/base/check.h"

namespace weir {

using Ref = uint32_t;  // 0 = none

struct Record {
  Ref next = 0;        // in the list or table it belongs to
  uint32_t size = 0;   // of the payload, in bytes
  uint32_t count = 0;  // what the owner counts: matches of a row, the size of the key in a group
  uint8_t part = 0;    // which part of the state, from 1; 0 = free
  uint8_t flags = 0;
  uint16_t tick = 0;  // when it was written, for a time to live

  char* payload() { return reinterpret_cast<char*>(this + 1); }
  const char* payload() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view bytes() const { return {payload(), size}; }
};
static_assert(sizeof(Record) == 16);

// The chunks, shared with views that may outlive the arena.
class ArenaStorage {
 public:
  char* Add(size_t bytes);

 private:
  struct Free {
    void operator()(char* chunk) const;
  };
  std::vector<std::unique_ptr<char, Free>> blocks_;
};

// What a snapshot reads.  Its destruction, or Finish, releases the arena.
class ArenaView {
 public:
  ~ArenaView() { Finish(); }
  void Finish() { finished_.store(true, std::memory_order_release); }
  bool finished() const { return finished_.load(std::memory_order_acquire); }

  // Calls visit(ref, record) for the live records in the order of their references.
  template <class Visit>
  void ForEach(Visit visit) const;

 private:
  friend class RecordArena;
  std::shared_ptr<ArenaStorage> storage_;
  std::vector<char*> chunks_;
  std::vector<uint32_t> used_;
  std::atomic<bool> finished_{false};
};

class RecordArena {
 public:
  static constexpr size_t kUnit = 8;
  static constexpr int kChunkShift = 19;  // units: 4 MiB
  static constexpr size_t kChunkUnits = size_t{1} << kChunkShift;
  static constexpr size_t kSlack = 16;  // readable bytes behind a chunk
  static constexpr int64_t kMaxBytes = int64_t{32} << 30;

  RecordArena();

  Record* At(Ref ref) const {
    return reinterpret_cast<Record*>(chunks_[ref >> kChunkShift] + (ref & (kChunkUnits - 1)) * kUnit);
  }
  // A record with an uninitialised payload of `size` bytes.  The owner keeps RoomLeft above what a batch can need.
  Ref Allocate(uint8_t part, size_t size);
  void Free(Ref ref);

  // REQUIRES: no view is in use (frozen() is false after Thaw).
  std::shared_ptr<ArenaView> Freeze();
  // Notices that the view is finished and gives back some of the records that were freed meanwhile: bounded work.
  void Thaw();
  bool frozen() const { return view_ != nullptr; }
  // Whether a snapshot in progress may read this record.
  bool InView(Ref ref) const { return ref < view_end_; }

  int64_t live_bytes() const { return live_bytes_; }  // of records in use
  int64_t RoomLeft() const { return kMaxBytes - static_cast<int64_t>(chunks_.size() * kChunkUnits * kUnit); }

  static size_t Units(size_t payload);  // that a record takes

 private:
  static constexpr size_t kExactUnits = 128;  // up to here every size has a class of its own
  static constexpr size_t kClasses = kExactUnits + 1 + 8 * 32;
  static size_t ClassOf(size_t units);

  void AddChunk(size_t ranges);
  Ref Bump(size_t units);
  void Release(Ref ref);

  std::shared_ptr<ArenaStorage> storage_;
  std::vector<char*> chunks_;
  std::vector<uint32_t> used_;  // units in use, a chunk
  std::vector<Ref> free_;       // heads, a class
  std::vector<Ref> waiting_;    // freed while a view was in use
  std::shared_ptr<ArenaView> view_;
  Ref view_end_ = 0;
  int64_t live_bytes_ = 0;
};

template <class Visit>
void ArenaView::ForEach(Visit visit) const {
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    size_t at = chunk == 0 ? 1 : 0;  // reference 0 means none
    while (at < used_[chunk]) {
      const auto* record = reinterpret_cast<const Record*>(chunks_[chunk] + at * RecordArena::kUnit);
      if (record->part != 0) visit(static_cast<Ref>((chunk << RecordArena::kChunkShift) + at), *record);
      at += RecordArena::Units(record->size);
    }
  }
}

}  // namespace weir
