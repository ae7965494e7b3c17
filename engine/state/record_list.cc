#include "engine/state/record_list.h"

#include <cstring>

#include "engine/data/hash.h"

namespace weir {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

bool BeginsWith(const Record& record, std::string_view prefix) {
  return record.size >= prefix.size() && std::memcmp(record.payload(), prefix.data(), prefix.size()) == 0;
}

}  // namespace

uint32_t RecordLists::HashOf(std::string_view prefix) { return static_cast<uint32_t>(HashBytes(prefix)); }

void RecordLists::Rehash(LongList& list, size_t slots) {
  bytes_ += static_cast<int64_t>((slots - list.slots.size()) * sizeof(uint32_t));
  list.slots.assign(slots, 0);
  for (uint32_t position = 0; position < list.refs.size(); ++position) {
    size_t at = list.hashes[position] & (slots - 1);
    while (list.slots[at] != 0) at = (at + 1) & (slots - 1);
    list.slots[at] = position + 1;
  }
}

void RecordLists::Append(LongList& list, Ref ref) {
  list.refs.push_back(ref);
  bytes_ += static_cast<int64_t>(sizeof(Ref));
  if (!searched_) return;
  list.hashes.push_back(HashOf(PrefixOf(ref)));
  bytes_ += static_cast<int64_t>(sizeof(uint32_t));
  if (2 * list.refs.size() > list.slots.size()) return Rehash(list, list.slots.empty() ? 128 : 2 * list.slots.size());
  size_t at = list.hashes.back() & (list.slots.size() - 1);
  while (list.slots[at] != 0) at = (at + 1) & (list.slots.size() - 1);
  list.slots[at] = static_cast<uint32_t>(list.refs.size());
}

void RecordLists::MakeLong(ListHead& list) {
  auto made = std::make_unique<LongList>();
  for (Ref ref = list.head; ref != 0; ref = arena_->At(ref)->next) Append(*made, ref);
  if (unused_.empty()) {
    unused_.push_back(static_cast<uint32_t>(long_.size()));
    long_.emplace_back();
  }
  list.head = unused_.back();
  unused_.pop_back();
  long_[list.head] = std::move(made);
  list.length |= ListHead::kLong;
}

void RecordLists::InsertLong(ListHead& list, Ref ref) {
  if (!list.is_long()) MakeLong(list);
  WEIR_CHECK_LT(list.size(), ListHead::kLong - 1);
  Append(*long_[list.head], ref);
  ++list.length;
}

uint32_t RecordLists::FindLong(const LongList& list, std::string_view prefix) const {
  if (!searched_) {
    // An append-only side is not expected to be searched; right all the same.
    for (uint32_t i = 0; i < list.refs.size(); ++i) {
      if (BeginsWith(*arena_->At(list.refs[i]), prefix)) return i;
    }
    return kNone;
  }
  const uint32_t hash = HashOf(prefix);
  const size_t mask = list.slots.size() - 1;
  for (size_t at = hash & mask; list.slots[at] != 0; at = (at + 1) & mask) {
    const uint32_t position = list.slots[at] - 1;
    if (list.hashes[position] == hash && BeginsWith(*arena_->At(list.refs[position]), prefix)) return position;
  }
  return kNone;
}

Ref RecordLists::Find(const ListHead& list, std::string_view prefix) const {
  if (list.is_long()) {
    const LongList& rows = *long_[list.head];
    const uint32_t position = FindLong(rows, prefix);
    return position == kNone ? 0 : rows.refs[position];
  }
  for (Ref ref = list.head; ref != 0; ref = arena_->At(ref)->next) {
    if (BeginsWith(*arena_->At(ref), prefix)) return ref;
  }
  return 0;
}

Ref RecordLists::Remove(ListHead& list, std::string_view prefix) {
  if (list.is_long()) {
    const LongList& rows = *long_[list.head];
    const uint32_t position = FindLong(rows, prefix);
    if (position == kNone) return 0;
    const Ref ref = rows.refs[position];
    RemoveAt(list, position);
    return ref;
  }
  for (Ref* link = &list.head; *link != 0; link = &arena_->At(*link)->next) {
    const Ref ref = *link;
    if (!BeginsWith(*arena_->At(ref), prefix)) continue;
    *link = arena_->At(ref)->next;
    --list.length;
    return ref;
  }
  return 0;
}

void RecordLists::RemoveRecord(ListHead& list, Ref ref) {
  if (!list.is_long()) {
    for (Ref* link = &list.head; *link != 0; link = &arena_->At(*link)->next) {
      if (*link != ref) continue;
      *link = arena_->At(ref)->next;
      --list.length;
      return;
    }
    WEIR_CHECK(false);
  }
  const LongList& rows = *long_[list.head];
  if (!searched_) {
    for (uint32_t i = 0; i < rows.refs.size(); ++i) {
      if (rows.refs[i] == ref) return RemoveAt(list, i);
    }
    WEIR_CHECK(false);
  }
  const size_t mask = rows.slots.size() - 1;
  for (size_t at = HashOf(PrefixOf(ref)) & mask;; at = (at + 1) & mask) {
    WEIR_CHECK(rows.slots[at] != 0);
    if (rows.refs[rows.slots[at] - 1] == ref) return RemoveAt(list, rows.slots[at] - 1);
  }
}

size_t RecordLists::SlotOf(const LongList& list, uint32_t position) const {
  const size_t mask = list.slots.size() - 1;
  size_t at = list.hashes[position] & mask;
  while (list.slots[at] != position + 1) at = (at + 1) & mask;
  return at;
}

// The last row takes the place of the removed one.
void RecordLists::RemoveAt(ListHead& head, uint32_t position) {
  LongList& list = *long_[head.head];
  const auto last = static_cast<uint32_t>(list.refs.size() - 1);
  if (searched_) {
    const size_t mask = list.slots.size() - 1;
    size_t hole = SlotOf(list, position);
    for (size_t i = (hole + 1) & mask; list.slots[i] != 0; i = (i + 1) & mask) {
      const size_t home = list.hashes[list.slots[i] - 1] & mask;
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      list.slots[hole] = list.slots[i];
      hole = i;
    }
    list.slots[hole] = 0;
    if (position != last) list.slots[SlotOf(list, last)] = position + 1;
    list.hashes[position] = list.hashes[last];
    list.hashes.pop_back();
    bytes_ -= static_cast<int64_t>(sizeof(uint32_t));
  }
  list.refs[position] = list.refs[last];
  list.refs.pop_back();
  bytes_ -= static_cast<int64_t>(sizeof(Ref));
  --head.length;
  if (head.size() == 0) {
    bytes_ -= static_cast<int64_t>(list.slots.size() * sizeof(uint32_t));
    unused_.push_back(head.head);
    long_[head.head] = nullptr;
    head = ListHead{};
  }
}

}  // namespace weir
