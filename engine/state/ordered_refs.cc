#include "engine/state/ordered_refs.h"

namespace weir {

void OrderedRefs::Insert(const RecordArena& arena, Ref ref) {
  const std::string_view key = SortKeyOf(*arena.At(ref));
  const Entry entry{SortPrefix(key), ref};
  ++size_;
  if (blocks_.empty()) {
    blocks_.emplace_back().push_back(entry);
    return;
  }
  Place place = LowerBound(arena, key);
  if (AtEnd(place)) place = {blocks_.size() - 1, blocks_.back().size()};
  std::vector<Entry>& block = blocks_[place.block];
  block.insert(block.begin() + static_cast<std::ptrdiff_t>(place.index), entry);
  if (block.size() <= kBlock) return;
  // Rows that come in order fill their blocks.
  const bool at_end = place.block + 1 == blocks_.size() && place.index + 1 == block.size();
  const auto middle = block.begin() + static_cast<std::ptrdiff_t>(at_end ? kBlock : kBlock / 2);
  std::vector<Entry> second(middle, block.end());
  block.erase(middle, block.end());
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(place.block) + 1, std::move(second));
}

void OrderedRefs::Erase(const Place& place) {
  std::vector<Entry>& block = blocks_[place.block];
  block.erase(block.begin() + static_cast<std::ptrdiff_t>(place.index));
  --size_;
  if (block.empty()) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(place.block));
}

void OrderedRefs::Copy(size_t from, size_t to, std::vector<Ref>& refs) const {
  to = std::min(to, size_);
  if (from >= to) return;
  Place place = PlaceOf(from);
  for (size_t number = from; number < to; ++number) {
    refs.push_back(At(place));
    Next(place);
  }
}

}  // namespace weir
