// Interval joins: rows that no later row can match leave the state.
//
// The rows of a side wait in a heap by the watermark that frees them.  Taking a row out of the list of its key costs the
// length of that list, so that rows that are due are collected until they are a part of all, and a list is then walked
// once for all of its own.

#include <algorithm>

#include "engine/data/encoded_keys.h"
#include "operators/join/join_operator.h"

namespace weir {
namespace {

constexpr size_t kLeastDue = 256;  // rows that may stay too long, however few there are
constexpr size_t kDuePart = 8;     // and one in so many

}  // namespace

void Join::NoteExpiry(const JoinSide& side, const Column& times, size_t time_row, Ref row, Ref group) {
  // A row without a time matches nothing.
  Micros at = kMinMicros;
  if (!times.IsNull(time_row) && __builtin_add_overflow(times.ints()[time_row], side.input().expiry->offset, &at)) {
    at = kMaxMicros;
  }
  if (!times.IsNull(time_row) && at < watermark_) ++context().metrics->late_rows;
  std::vector<Expiring>& heap = expiring_[side.index()];
  heap.push_back({at, row, group});
  std::push_heap(heap.begin(), heap.end(), [](const Expiring& a, const Expiring& b) { return a.at > b.at; });
}

void Join::Expire(Micros watermark) {
  watermark_ = std::max(watermark_, watermark);
  for (const auto& side : sides_) {
    if (!expires(*side)) continue;
    std::vector<Expiring>& heap = expiring_[side->index()];
    std::vector<Expiring>& due = due_[side->index()];
    while (!heap.empty() && heap.front().at < watermark_) {
      std::pop_heap(heap.begin(), heap.end(), [](const Expiring& a, const Expiring& b) { return a.at > b.at; });
      due.push_back(heap.back());
      heap.pop_back();
    }
    if (due.size() >= kLeastDue + heap.size() / kDuePart) RemoveDue(side->index());
  }
}

void Join::RemoveDue(int side_index) {
  std::vector<Expiring>& due = due_[side_index];
  JoinSide& side = *sides_[side_index];
  std::vector<Ref> rows;
  for (const Expiring& row : due) rows.push_back(row.row);
  std::sort(rows.begin(), rows.end());
  std::sort(due.begin(), due.end(), [](const Expiring& a, const Expiring& b) { return a.group < b.group; });
  std::vector<Ref> empty;
  for (size_t i = 0; i < due.size(); ++i) {
    if (i > 0 && due[i].group == due[i - 1].group) continue;
    RowGroup& group = Group(due[i].group);
    side.lists().RemoveIf(group.lists[side_index], [&](Ref row) {
      if (!std::binary_search(rows.begin(), rows.end(), row)) return false;
      state_.Free(row);
      return true;
    });
    if (group.lists[0].size() + group.lists[1].size() == 0) empty.push_back(due[i].group);
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
