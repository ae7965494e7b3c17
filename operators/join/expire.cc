// Interval joins: rows that no later row can match leave the state.
//
// Taking a row out of the list of its key costs the length of that list, so that rows that are due are collected until
// they are a part of all, and a list is then walked once for all of its own.  Most of that walk is waiting for records
// that are not in the cache, each of which names the next: many lists are fetched side by side before they are changed.

#include <algorithm>
#include <bit>

#include "engine/data/encoded_keys.h"
#include "operators/join/join_operator.h"

namespace weir {
namespace {

constexpr size_t kLeastDue = 256;  // rows that may stay too long, however few there are
constexpr size_t kDuePart = 8;     // and one in so many

constexpr size_t kSideBySide = 64;  // keys whose lists are fetched together

// Says of most records that are not in the set that they are not, for a load from a few kilobytes.
class RefFilter {
 public:
  explicit RefFilter(size_t records)
      : shift_(32 - std::min(31, std::max(6, static_cast<int>(std::bit_width(8 * records))))),
        bits_((size_t{1} << (32 - shift_)) / 64) {}
  void Add(Ref ref) { bits_[Place(ref) / 64] |= uint64_t{1} << (Place(ref) % 64); }
  bool MayHave(Ref ref) const { return (bits_[Place(ref) / 64] >> (Place(ref) % 64)) & 1; }

 private:
  uint32_t Place(Ref ref) const { return (ref * 0x9e3779b1u) >> shift_; }

  int shift_;
  std::vector<uint64_t> bits_;
};

using RowsOfKey = std::span<const ExpiryQueue::Row>;  // that are due

// Brings into the cache what RemoveIf will read of the lists: all records of a short one, of a long one those that go.
// Always inline: GCC 12 takes a function that only prefetches for one without an effect and drops calls of it.
template <class ListOf>
[[gnu::always_inline]] inline void Fetch(const KeyedState& state, std::span<const RowsOfKey> keys, ListOf list_of) {
  for (const RowsOfKey& rows : keys) __builtin_prefetch(state.At(rows.front().group));
  Ref walks[kSideBySide];
  size_t walking = 0;
  for (const RowsOfKey& rows : keys) {
    const ListHead& list = list_of(rows.front().group);
    if (list.is_long()) {
      for (const ExpiryQueue::Row& row : rows) __builtin_prefetch(state.At(row.row));
    } else if (list.head != 0) {
      __builtin_prefetch(state.At(list.head));
      walks[walking++] = list.head;
    }
  }
  while (walking > 0) {
    size_t kept = 0;
    for (size_t i = 0; i < walking; ++i) {
      const Ref next = state.At(walks[i])->next;
      if (next == 0) continue;
      __builtin_prefetch(state.At(next));
      walks[kept++] = next;
    }
    walking = kept;
  }
}

}  // namespace

void Join::NoteExpiry(const JoinSide& side, const Column& times, size_t time_row, Ref row, Ref group) {
  // A row without a time matches nothing.
  Micros at = kMinMicros;
  if (!times.IsNull(time_row) && __builtin_add_overflow(times.ints()[time_row], side.input().expiry->offset, &at)) {
    at = kMaxMicros;
  }
  // A row that nothing to come can match is not late for that.
  if (!times.IsNull(time_row) && at < watermark_ && times.ints()[time_row] < watermark_) ++context().metrics->late_rows;
  expiring_[side.index()].Add({at, row, group});
}

void Join::Expire(Micros watermark) {
  watermark_ = std::max(watermark_, watermark);
  for (const auto& side : sides_) {
    if (!expires(*side)) continue;
    std::vector<ExpiryQueue::Row>& due = due_[side->index()];
    expiring_[side->index()].TakeDue(watermark_, due);
    if (due.size() >= kLeastDue + expiring_[side->index()].rows() / kDuePart) RemoveDue(side->index());
  }
}

void Join::RemoveDue(int side_index) {
  std::vector<ExpiryQueue::Row>& due = due_[side_index];
  const auto place = [](const ExpiryQueue::Row& row) { return uint64_t{row.group} << 32 | row.row; };
  std::sort(due.begin(), due.end(),
            [&](const ExpiryQueue::Row& a, const ExpiryQueue::Row& b) { return place(a) < place(b); });
  RefFilter filter(due.size());
  for (const ExpiryQueue::Row& row : due) filter.Add(row.row);
  std::vector<RowsOfKey> keys;
  std::vector<Ref> empty;
  for (size_t first = 0, end = 0; first < due.size();) {
    while (end < due.size() && due[end].group == due[first].group) ++end;
    keys.emplace_back(due.data() + first, end - first);
    first = end;
    if (keys.size() < kSideBySide && end < due.size()) continue;
    Fetch(state_, keys, [&](Ref group) -> const ListHead& { return Group(group).lists[side_index]; });
    for (const RowsOfKey& rows : keys) {
      RowGroup& group = Group(rows.front().group);
      sides_[side_index]->lists().RemoveIf(group.lists[side_index], [&](Ref row) {
        if (!filter.MayHave(row) || !std::ranges::binary_search(rows, row, {}, &ExpiryQueue::Row::row)) return false;
        state_.Free(row);
        return true;
      });
      if (group.lists[0].size() + group.lists[1].size() == 0) empty.push_back(rows.front().group);
    }
    keys.clear();
  }
  due.clear();
  EraseGroups(empty);
}

// Groups without rows, whose hashes follow from their keys.
void Join::EraseGroups(const std::vector<Ref>& groups) {
  if (groups.empty()) return;
  std::vector<std::string> keys;
  std::vector<const char*> payloads;
  for (const Ref group : groups) {
    const Record& record = *state_.At(group);
    keys.emplace_back(record.payload() + sizeof(RowGroup), record.count);
    keys.back().append(kRowSlack, '\0');
  }
  for (const std::string& key : keys) payloads.push_back(key.data());
  std::vector<uint64_t> hashes;
  HashEncodedKeys(key_codec_, *options_.left.schema, options_.left.keys, payloads, hashes);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (index_.Erase(hashes[i], groups[i])) state_.Free(groups[i]);
  }
}

}  // namespace weir
