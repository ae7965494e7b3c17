// The rows of one key: a list through the records' headers while it is short, an array with a hash index when it is
// long, so that neither a key with a million rows nor a million keys with one row costs more than it must.
//
// A ListHead lives in the key's record.  Order is unspecified.  Rows are found by a prefix of their payload (a unique
// key, or the whole row); an arena of records and the lists over it belong to one thread.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/state/record_arena.h"

namespace weir {

struct ListHead {
  Ref head = 0;         // first record; for a long list its number
  uint32_t length = 0;  // highest bit: long

  static constexpr uint32_t kLong = 0x80000000u;
  uint32_t size() const { return length & ~kLong; }
  bool is_long() const { return (length & kLong) != 0; }
};

class RecordLists {
 public:
  static constexpr uint32_t kShort = 24;  // records of a list without an array

  // Says how many bytes of a payload are its prefix: needed when a list becomes long.
  using PrefixSize = size_t (*)(const void* owner, const Record& record);

  // `searched`: rows will be looked up; without it a long list has no index.
  RecordLists(RecordArena* arena, bool searched, PrefixSize prefix_size, const void* owner)
      : arena_(arena), searched_(searched), prefix_size_(prefix_size), owner_(owner) {}

  void Insert(ListHead& list, Ref ref) {
    if (!list.is_long() && list.length < kShort) {
      arena_->At(ref)->next = list.head;
      list.head = ref;
      ++list.length;
    } else {
      InsertLong(list, ref);
    }
  }
  // A record whose payload begins with `prefix`, or 0.
  Ref Find(const ListHead& list, std::string_view prefix) const;
  // Takes it out of the list; the caller frees it.  0 when there is none.
  Ref Remove(ListHead& list, std::string_view prefix);
  // Takes out this very record.  REQUIRES: it is in the list.
  void RemoveRecord(ListHead& list, Ref ref);
  // Takes out every record for which drop(ref) is true.
  template <class Drop>
  void RemoveIf(ListHead& list, Drop drop);

  // The records of a long list.
  const std::vector<Ref>& Long(const ListHead& list) const { return long_[list.head]->refs; }
  int64_t bytes() const { return bytes_; }  // of arrays and indexes

 private:
  // Position + 1 of a record in `refs`, by the hash of its prefix; linear probing, power of two.
  struct LongList {
    std::vector<Ref> refs;
    std::vector<uint32_t> hashes;
    std::vector<uint32_t> slots;
  };

  static uint32_t HashOf(std::string_view prefix);
  std::string_view PrefixOf(Ref ref) const {
    const Record& record = *arena_->At(ref);
    return {record.payload(), prefix_size_(owner_, record)};
  }
  void InsertLong(ListHead& list, Ref ref);
  void MakeLong(ListHead& list);
  void Append(LongList& list, Ref ref);
  void Rehash(LongList& list, size_t slots);
  uint32_t FindLong(const LongList& list, std::string_view prefix) const;
  size_t SlotOf(const LongList& list, uint32_t position) const;
  void RemoveAt(ListHead& head, uint32_t position);

  RecordArena* arena_;
  bool searched_;
  PrefixSize prefix_size_;
  const void* owner_;
  std::vector<std::unique_ptr<LongList>> long_;
  std::vector<uint32_t> unused_;
  int64_t bytes_ = 0;
};

template <class Drop>
void RecordLists::RemoveIf(ListHead& list, Drop drop) {
  if (list.is_long()) {
    for (uint32_t i = 0; i < list.size();) {
      if (drop(Long(list)[i])) {
        RemoveAt(list, i);
        if (!list.is_long()) return;
      } else {
        ++i;
      }
    }
    return;
  }
  Ref* link = &list.head;
  while (*link != 0) {
    Record* record = arena_->At(*link);
    const Ref next = record->next;
    if (drop(*link)) {
      *link = next;
      --list.length;
    } else {
      link = &record->next;
    }
  }
}

}  // namespace weir
