#include <algorithm>
#include <numeric>

#include "operators/aggregate/aggregate_operator.h"

namespace weir {

bool Aggregate::CanSlice() const {
  if (!assigned() || options_.input_retracts) return false;
  const WindowGrouping& windows = *options_.windows;
  const bool overlaps = windows.spec.function == WindowFunction::kHop && windows.spec.slide < windows.spec.size;
  return overlaps && windows.lateness == 0 && windows.early == 0 &&
         std::all_of(plan_.accumulators.begin(), plan_.accumulators.end(),
                     [](const Accumulator& accumulator) { return accumulator.CanMerge(); });
}

// Windows begin and end where slices do.
Micros Aggregate::SliceLength() const { return std::gcd(options_.windows->spec.size, options_.windows->spec.slide); }

// Groups are listed under the end of their slice, which goes when the last window that has it has ended.
Status Aggregate::CloseSlices(Micros watermark, Output& out) {
  const WindowSpec& spec = options_.windows->spec;
  Micros ended = watermark_;
  for (Micros end = NextWindowEnd(ended); end <= watermark; end = NextWindowEnd(ended)) {
    WEIR_TRY(EmitSlices(end, out));
    ended = end;
    while (!open_.windows().empty() && spec.LastEnd(open_.windows().begin()->first - 1) <= ended) {
      for (const Ref group : open_.TakeFirst().second) DropGroup(group);
    }
    if (open_.windows().empty()) break;
  }
  return {};
}

// The first end behind `after` of a window that has a slice; kMaxMicros when there is none.
Micros Aggregate::NextWindowEnd(Micros after) const {
  const WindowSpec& spec = options_.windows->spec;
  Micros next = kMaxMicros;
  for (const auto& [slice_end, groups] : open_.windows()) {
    const Micros last = spec.LastEnd(slice_end - 1);
    Micros end = spec.FirstEnd(slice_end - 1);
    if (end <= after) end = last - (last - after - 1) / spec.slide * spec.slide;
    if (end > after && end <= last) next = std::min(next, end);
    if (slice_end > next) break;
  }
  return next;
}

Status Aggregate::EmitSlices(Micros end, Output& out) {
  const Micros start = end - options_.windows->spec.size;
  KeyIndex merged(&state_.arena(), plan_.fixed, KeyIndex::KeySize::kInCount);
  std::vector<Ref> groups;
  std::string key;
  auto& slices = open_.windows();
  for (auto slice = slices.upper_bound(start); slice != slices.end() && slice->first <= end; ++slice) {
    for (const Ref part : slice->second) {
      const Record& record = *state_.At(part);
      const uint64_t hash = open_.PartOf(part).hash;
      key.assign(record.payload() + plan_.fixed, record.count);
      StoreAt(key.data(), end);
      if (Ref group = merged.Find(hash, key); group != 0) {
        WEIR_TRY(MergeGroups(group, part));
        continue;
      }
      const Ref group = state_.Allocate(plan_.slice_part, record.size);
      Record& made = *state_.At(group);
      made.next = 0;
      made.count = record.count;
      std::memcpy(made.payload(), state_.At(part)->payload(), record.size);
      std::memcpy(made.payload() + plan_.fixed, key.data(), key.size());
      WindowPart window;
      window.start = start;
      window.end = end;
      open_.Store(made.payload(), window);
      merged.Insert(hash, group);
      groups.push_back(group);
    }
  }
  WEIR_TRY(EmitWindow(groups, out));
  for (const Ref group : groups) state_.Free(group);
  return {};
}

}  // namespace weir
