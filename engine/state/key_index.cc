#include "engine/state/key_index.h"

namespace weir {
namespace {

constexpr uint32_t kFirstSlots = 8;

}  // namespace

void KeyIndex::Grow(Table& table) {
  const uint32_t slots = table.slots ? 2 * (table.mask + 1) : kFirstSlots;
  WEIR_CHECK(slots != 0);
  auto grown = std::make_unique<Slot[]>(slots);
  const uint32_t mask = slots - 1;
  if (table.slots) {
    for (uint32_t i = 0; i <= table.mask; ++i) {
      const Slot slot = table.slots[i];
      if (slot.ref == 0) continue;
      uint32_t to = slot.low & mask;
      while (grown[to].ref != 0) to = (to + 1) & mask;
      grown[to] = slot;
    }
    bytes_ -= static_cast<int64_t>((table.mask + 1) * sizeof(Slot));
  }
  bytes_ += static_cast<int64_t>(slots * sizeof(Slot));
  table.slots = std::move(grown);
  table.mask = mask;
}

void KeyIndex::Insert(uint64_t hash, Ref ref) {
  Table& table = tables_[static_cast<size_t>(KeyGroupOf(hash))];
  // At most five eighths full: the runs that a lookup walks stay within a cache line or two.
  if (!table.slots || 8 * uint64_t{table.used + 1} > 5 * (uint64_t{table.mask} + 1)) Grow(table);
  const auto low = static_cast<uint32_t>(hash);
  uint32_t at = low & table.mask;
  while (table.slots[at].ref != 0) at = (at + 1) & table.mask;
  table.slots[at] = {low, ref};
  ++table.used;
  ++size_;
}

KeyIndex::Slot* KeyIndex::FindSlot(Table& table, uint64_t hash, Ref ref) {
  if (!table.slots) return nullptr;
  for (uint32_t i = static_cast<uint32_t>(hash) & table.mask;; i = (i + 1) & table.mask) {
    Slot& slot = table.slots[i];
    if (slot.ref == 0) return nullptr;
    if (slot.ref == ref) return &slot;
  }
}

bool KeyIndex::Replace(uint64_t hash, Ref from, Ref to) {
  Slot* slot = FindSlot(tables_[static_cast<size_t>(KeyGroupOf(hash))], hash, from);
  if (slot == nullptr) return false;
  slot->ref = to;
  return true;
}

bool KeyIndex::Erase(uint64_t hash, Ref ref) {
  Table& table = tables_[static_cast<size_t>(KeyGroupOf(hash))];
  const Slot* slot = FindSlot(table, hash, ref);
  if (slot == nullptr) return false;
  EraseSlot(table, static_cast<uint32_t>(slot - table.slots.get()));
  return true;
}

// Closes the hole by moving later slots of the run forward, so that there are no tombstones.
void KeyIndex::EraseSlot(Table& table, uint32_t at) {
  uint32_t hole = at;
  for (uint32_t i = (at + 1) & table.mask; table.slots[i].ref != 0; i = (i + 1) & table.mask) {
    const uint32_t home = table.slots[i].low & table.mask;
    if (((i - home) & table.mask) >= ((i - hole) & table.mask)) {
      table.slots[hole] = table.slots[i];
      hole = i;
    }
  }
  table.slots[hole] = Slot{};
  --table.used;
  --size_;
}

}  // namespace weir
