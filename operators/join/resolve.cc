#include <algorithm>

#include "operators/join/join_operator.h"

namespace weir {

// --- 1. Resolve

// The next one or two rows of the batch that are one change of the key.
void Join::NextStep(size_t& old_row, size_t& new_row) {
  old_row = new_row = kNoBatchRow;
  if (IsAdd(batch_.kind(row_))) {
    new_row = row_++;
  } else if (batch_.IsUpdatePair(row_) && keys_.row(row_) == keys_.row(row_ + 1)) {
    old_row = row_++;
    new_row = row_++;
  } else {
    old_row = row_++;
  }
}

Ref Join::FindOrAddGroup(size_t row) {
  const std::string_view key = keys_.row(row);
  if (groups_) return groups_->FindOrAdd(hashes_[row], key);
  Ref group = index_.Find(hashes_[row], key);
  if (group != 0) return group;
  group = state_.Allocate(JoinSide::kGroupPart, sizeof(RowGroup) + key.size());
  Record* record = state_.At(group);
  record->count = static_cast<uint32_t>(key.size());
  new (record->payload()) RowGroup();
  std::memcpy(record->payload() + sizeof(RowGroup), key.data(), key.size());
  index_.Insert(hashes_[row], group);
  return group;
}

Status Join::Resolve(size_t old_row, size_t new_row) {
  JoinSide& side = own();
  const size_t row = new_row != kNoBatchRow ? new_row : old_row;
  const bool null_key = !null_keys_.empty() && null_keys_[row] != 0;
  if (null_key && (!side.emits_unmatched || side.append_only())) {
    // It can never match: kept only where it has been emitted and may be retracted.
    JoinChange change;
    change.new_row = new_row;
    if (side.emits_unmatched && new_row != kNoBatchRow) Push(change);
    return {};
  }
  const Ref group = new_row != kNoBatchRow ? FindOrAddGroup(row) : index_.Find(hashes_[row], keys_.row(row));
  if (group == 0) {
    ++context().metrics->ignored_deletes;
    return {};
  }
  ListHead& list = Group(group).lists[input_];
  JoinChange change;
  change.own_before = list.size();
  if (!null_key) change.others = Group(group).lists[1 - input_];
  Ref old_ref = 0;
  if (old_row != kNoBatchRow) {
    old_ref = side.lists().Find(list, side.Prefix(old_row));
    if (old_ref == 0) ++context().metrics->ignored_deletes;
  }
  if (new_row != kNoBatchRow && side.unique()) {
    const Ref replaced = side.lists().Find(list, side.Prefix(new_row));
    if (replaced != 0 && old_ref != 0 && replaced != old_ref) {
      // An update to the unique key of another row: that one goes first.
      side.lists().RemoveRecord(list, replaced);
      WEIR_TRY(NoteChange(row, group, replaced, 0));
      JoinChange gone = change;
      gone.old_ref = replaced;
      gone.own_after = list.size();
      Push(gone);
      change.own_before = list.size();
    } else if (replaced != 0) {
      old_ref = replaced;
    }
  }
  if (old_ref != 0) {
    if (new_row != kNoBatchRow && side.SameRow(*state_.At(old_ref), new_row)) {
      state_.Touch(*state_.At(old_ref));
      return {};
    }
    side.lists().RemoveRecord(list, old_ref);
    change.old_ref = old_ref;
  }
  if (new_row != kNoBatchRow) {
    change.new_row = new_row;
    change.new_ref = side.Store(new_row, side.sequenced() ? groups_->NextSequence() : 0);
    side.lists().Insert(list, change.new_ref);
    if (expires(side)) {
      const Column& times = batch_.column(static_cast<size_t>(side.input().expiry->column));
      NoteExpiry(side, times, new_row, change.new_ref, group);
    }
  } else if (old_ref == 0) {
    return {};
  }
  WEIR_TRY(NoteChange(row, group, change.old_ref, change.new_ref));
  change.own_after = list.size();
  if (change.own_after == 0 && change.others.size() == 0) empty_groups_.emplace_back(hashes_[row], group);
  if (groups_ && !null_key) groups_->CountLookup(static_cast<size_t>(1 - input_));
  Push(change);
  return {};
}

// Whether the change needs to see the other side's rows, or only how many there are.
bool Join::WantsCandidates(const JoinChange& change) {
  if (output_->has_condition() || !(semi_ || anti_)) return true;
  return input_ == 1 && (change.own_before == 0) != (change.own_after == 0);
}

void Join::Push(JoinChange change) {
  change.wanted = WantsCandidates(change) ? change.others.size() : 0;
  const bool silent = change.wanted == 0 && !own().emits_unmatched && !((semi_ || anti_) && input_ == 0);
  if (silent) {
    if (change.old_ref != 0) garbage_.push_back(change.old_ref);
    return;
  }
  if (!change.others.is_long() && change.wanted > 0) __builtin_prefetch(state_.At(change.others.head));
  changes_.push_back(change);
}

Status Join::ResolveWindow() {
  const size_t rows = batch_.rows();
  const size_t goal = changes_.size() + kJoinWindow;
  while (row_ < rows && changes_.size() < goal) {
    if (row_ + kSlotDistance < rows) index_.PrefetchSlot(hashes_[row_ + kSlotDistance]);
    if (row_ + kGroupDistance < rows) index_.PrefetchRecord(hashes_[row_ + kGroupDistance]);
    size_t old_row = 0;
    size_t new_row = 0;
    NextStep(old_row, new_row);
    WEIR_TRY(Resolve(old_row, new_row));
  }
  return {};
}

}  // namespace weir
