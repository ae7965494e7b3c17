// The rows of one partition in the order of their sort keys (engine/data/sort_key.h), with their numbers.
//
// Records whose payload ends with the sort key; Record::count says how many bytes stand before it.  Keys differ, or
// their records are equal in every way that matters.  Kept as blocks of at most kBlock entries, each with the first
// bytes of the key beside the reference, so that a search rarely touches a record.  Not part of a snapshot: it is made
// anew from the records.  One thread.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/data/sort_key.h"
#include "engine/state/record_arena.h"

namespace weir {

inline std::string_view SortKeyOf(const Record& record) { return record.bytes().substr(record.count); }

class OrderedRefs {
 public:
  static constexpr size_t kBlock = 512;

  struct Entry {
    uint64_t prefix = 0;
    Ref ref = 0;
  };
  // A place between entries: before entry `index` of block `block`.  Valid until the next change.
  struct Place {
    size_t block = 0;
    size_t index = 0;

    bool operator==(const Place&) const = default;
  };

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t bytes() const { return static_cast<int64_t>(blocks_.size() * (sizeof(blocks_[0]) + kBlock / 2 * sizeof(Entry))); }

  Place Begin() const { return {0, 0}; }
  Place End() const { return {blocks_.size(), 0}; }
  bool AtEnd(const Place& place) const { return place.block >= blocks_.size(); }
  Ref At(const Place& place) const { return blocks_[place.block][place.index].ref; }
  Ref Last() const { return size_ == 0 ? 0 : blocks_.back().back().ref; }
  void Next(Place& place) const {
    if (++place.index == blocks_[place.block].size()) place = {place.block + 1, 0};
  }
  // REQUIRES: the place is not the first.
  void Previous(Place& place) const {
    if (place.index == 0) place = {place.block - 1, blocks_[place.block - 1].size()};
    --place.index;
  }
  // Entries before the place.
  size_t NumberOf(const Place& place) const {
    size_t number = place.index;
    for (size_t block = 0; block < place.block; ++block) number += blocks_[block].size();
    return number;
  }
  Place PlaceOf(size_t number) const {
    for (size_t block = 0; block < blocks_.size(); ++block) {
      if (number < blocks_[block].size()) return {block, number};
      number -= blocks_[block].size();
    }
    return End();
  }

  // The first entry whose key is not less than `key`, which may be the beginning of keys.
  Place LowerBound(const RecordArena& arena, std::string_view key) const {
    const uint64_t prefix = SortPrefix(key);
    const auto less = [&](const Entry& entry) { return Less(arena, entry, prefix, key); };
    const auto block = std::partition_point(blocks_.begin(), blocks_.end(),
                                            [&](const std::vector<Entry>& entries) { return less(entries.back()); });
    if (block == blocks_.end()) return End();
    const auto entry = std::partition_point(block->begin(), block->end(), less);
    return {static_cast<size_t>(block - blocks_.begin()), static_cast<size_t>(entry - block->begin())};
  }

  void Insert(const RecordArena& arena, Ref ref);
  void Erase(const Place& place);
  // The record at a place is replaced by one with an equal key.
  void Replace(const Place& place, Ref ref) { blocks_[place.block][place.index].ref = ref; }
  void Clear() {
    blocks_.clear();
    size_ = 0;
  }
  // Appends the references of entries [from, to) by number.
  void Copy(size_t from, size_t to, std::vector<Ref>& refs) const;

 private:
  static bool Less(const RecordArena& arena, const Entry& entry, uint64_t prefix, std::string_view key) {
    if (entry.prefix != prefix && key.size() >= sizeof prefix) return entry.prefix < prefix;
    return SortKeyOf(*arena.At(entry.ref)) < key;
  }

  std::vector<std::vector<Entry>> blocks_;  // none is empty
  size_t size_ = 0;
};

}  // namespace weir
