// From the hash and the canonical bytes of a key to the record that holds it: open addressing, one small table a key
// group, so that growing never stops the flow for long.
//
// A slot is {low half of the hash, reference}; the key is compared with the record only when the halves are equal.
// One thread.  Iteration order is unspecified.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "engine/data/hash.h"
#include "engine/state/record_arena.h"

namespace weir {

class KeyIndex {
 public:
  enum class KeySize {
    kInCount,  // Record::count says how long the key is; other bytes follow it
    kToEnd,    // the key is the rest of the payload
  };

  // The key of a record begins at `key_offset` of its payload.
  KeyIndex(const RecordArena* arena, size_t key_offset, KeySize key_size)
      : arena_(arena), key_offset_(key_offset), key_size_(key_size) {}

  // Always inline: GCC 12 takes a function that only prefetches for one without an effect and drops calls of it.
  [[gnu::always_inline]] void PrefetchSlot(uint64_t hash) const {
    const Table& table = tables_[static_cast<size_t>(KeyGroupOf(hash))];
    if (table.slots) __builtin_prefetch(&table.slots[static_cast<uint32_t>(hash) & table.mask]);
  }
  // REQUIRES: the slot was prefetched a while ago; loads it and prefetches the record that may hold the key.
  [[gnu::always_inline]] void PrefetchRecord(uint64_t hash) const {
    const Table& table = tables_[static_cast<size_t>(KeyGroupOf(hash))];
    if (!table.slots) return;
    const auto low = static_cast<uint32_t>(hash);
    for (uint32_t i = low & table.mask;; i = (i + 1) & table.mask) {
      const Slot& slot = table.slots[i];
      if (slot.low == low && slot.ref != 0) return __builtin_prefetch(arena_->At(slot.ref));
      if (slot.ref == 0) return;
    }
  }

  // The record of the key, or 0.
  Ref Find(uint64_t hash, std::string_view key) const {
    const Table& table = tables_[static_cast<size_t>(KeyGroupOf(hash))];
    if (!table.slots) return 0;
    const auto low = static_cast<uint32_t>(hash);
    for (uint32_t i = low & table.mask;; i = (i + 1) & table.mask) {
      const Slot& slot = table.slots[i];
      if (slot.ref == 0) return 0;
      if (slot.low == low && KeyOf(*arena_->At(slot.ref)) == key) return slot.ref;
    }
  }
  // REQUIRES: the key is not there.
  void Insert(uint64_t hash, Ref ref);
  // Both return false when `from` is not in the index under this hash.
  bool Replace(uint64_t hash, Ref from, Ref to);
  bool Erase(uint64_t hash, Ref ref);

  std::string_view KeyOf(const Record& record) const {
    return {record.payload() + key_offset_, key_size_ == KeySize::kInCount ? record.count : record.size - key_offset_};
  }

  size_t size() const { return size_; }
  int64_t bytes() const { return bytes_; }  // of the tables

  // A sweep over all slots in bounded steps: visits up to `slots` slots from the place in `position` (start with 0),
  // moves it, and wraps around.  visit(ref) returns true to drop the key.
  template <class Visit>
  void Sweep(uint64_t& position, size_t slots, Visit visit);
  template <class Visit>
  void ForEach(Visit visit) const;

 private:
  struct Slot {
    uint32_t low = 0;
    Ref ref = 0;
  };
  struct Table {
    std::unique_ptr<Slot[]> slots;
    uint32_t mask = 0;
    uint32_t used = 0;
  };

  Slot* FindSlot(Table& table, uint64_t hash, Ref ref);
  void EraseSlot(Table& table, uint32_t at);
  void Grow(Table& table);

  const RecordArena* arena_;
  size_t key_offset_;
  KeySize key_size_;
  std::array<Table, kKeyGroups> tables_;
  size_t size_ = 0;
  int64_t bytes_ = 0;
};

template <class Visit>
void KeyIndex::Sweep(uint64_t& position, size_t slots, Visit visit) {
  // The position is {table, slot}: a table that has grown meanwhile is visited in its new order.
  for (size_t step = 0; step < slots; ++step) {
    auto table_index = static_cast<size_t>(position >> 32) % kKeyGroups;
    auto at = static_cast<uint32_t>(position);
    Table& table = tables_[table_index];
    if (!table.slots || at > table.mask) {
      position = static_cast<uint64_t>((table_index + 1) % kKeyGroups) << 32;
      continue;
    }
    // A dropped key moves a later one into its slot, which is then looked at next.
    if (table.slots[at].ref != 0 && visit(table.slots[at].ref)) {
      EraseSlot(table, at);
    } else {
      ++position;
    }
  }
}

template <class Visit>
void KeyIndex::ForEach(Visit visit) const {
  for (const Table& table : tables_) {
    if (!table.slots) continue;
    for (uint32_t i = 0; i <= table.mask; ++i) {
      if (table.slots[i].ref != 0) visit(table.slots[i].ref);
    }
  }
}

}  // namespace weir
