#include <algorithm>

#include "operators/aggregate/aggregate_operator.h"

namespace weir {

// A row belongs to every open session of its key that it lies in or touches, and makes one of them all; where there is
// none it begins one, unless it is late.  The sessions of all rows of the batch are settled first, each a touched group;
// one that has become a part of another stands for that one, and goes with the batch.
Status Aggregate::ProcessSessions(const Batch& batch, Output& out) {
  WEIR_TRY(Begin(batch));
  const WindowGrouping& windows = *options_.windows;
  const Column& times = batch.column(static_cast<size_t>(windows.time));
  const Column* condition = windows.condition < 0 ? nullptr : &batch.column(static_cast<size_t>(windows.condition));
  const Micros closed = ClosedUntil();
  selection_.clear();
  touched_of_row_.clear();
  part_of_.clear();
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (times.IsNull(row)) {
      ++context().metrics->null_event_time;
      continue;
    }
    const Micros time = times.ints()[row];
    WEIR_TRY(CheckWindowTime(time));
    FindSessions(row, time);
    if (sessions_.empty() && time + windows.spec.size <= closed) {
      NoteLate(batch, row);
    } else if (FilterPasses(condition, row)) {
      WEIR_ASSIGN(const uint32_t touched, TakeIntoSession(row, time));
      touched_of_row_.push_back(touched);
      selection_.push_back(static_cast<uint32_t>(row));
    }
  }
  if (selection_.empty()) return {};
  groups_.resize(selection_.size());
  for (size_t i = 0; i < selection_.size(); ++i) {
    while (part_of_[touched_of_row_[i]] != touched_of_row_[i]) touched_of_row_[i] = part_of_[touched_of_row_[i]];
  }
  for (size_t i = 0; i < selection_.size(); ++i) {
    groups_[i] = state_.At(touched_[touched_of_row_[i]].ref)->payload();
  }
  const Batch rows = batch.Gather(selection_);
  SignRows(rows);
  WEIR_TRY(Update(rows));
  WEIR_TRY(Emit(out));
  DropEmptyGroups();
  return {};
}

// The open sessions of the row's key that the time lies in or touches, in sessions_.
void Aggregate::FindSessions(size_t row, Micros time) {
  session_index_->Find(hashes_[row], keys_.row(row), sessions_);
  const Micros gap = options_.windows->spec.size;
  std::erase_if(sessions_, [&](Ref session) {
    const WindowPart part = open_.PartOf(session);
    return time > part.end || part.start > time + gap;
  });
}

uint32_t Aggregate::TouchSession(Ref session) {
  if (const Ref number = state_.At(session)->next; number != 0) return number - 1;
  const Ref writable = state_.Writable(session);
  if (writable != session) Relink(session, writable);
  const uint32_t touched = NoteTouched(writable, open_.PartOf(writable).hash, KeepBefore(writable));
  part_of_.push_back(touched);
  return touched;
}

// The touched group that is the row's session.
Result<uint32_t> Aggregate::TakeIntoSession(size_t row, Micros time) {
  const Micros gap = options_.windows->spec.size;
  if (sessions_.empty()) {
    const Ref ref = NewGroup(keys_.row(row));
    NewWindowPart(ref, hashes_[row], time, time + gap);
    session_index_->Add(hashes_[row], keys_.row(row), ref);
    part_of_.push_back(static_cast<uint32_t>(touched_.size()));
    return NoteTouched(ref, hashes_[row], Touched::kNew);
  }
  const uint32_t taken = TouchSession(sessions_[0]);
  WindowPart part = open_.PartOf(touched_[taken].ref);
  part.start = std::min(part.start, time);
  part.end = std::max(part.end, time + gap);
  for (size_t i = 1; i < sessions_.size(); ++i) {
    const uint32_t other = TouchSession(sessions_[i]);
    const Ref from = touched_[other].ref;
    const WindowPart joined = open_.PartOf(from);
    part.start = std::min(part.start, joined.start);
    part.end = std::max(part.end, joined.end);
    WEIR_TRY(MergeGroups(touched_[taken].ref, from));
    part_of_[other] = taken;
    StoreAt<int64_t>(state_.At(from)->payload(), 0);
    session_index_->Remove(hashes_[row], keys_.row(row), from);
  }
  const Ref ref = touched_[taken].ref;
  open_.Store(state_.At(ref)->payload(), part);
  // Where its old end has come already, it would not be met there.
  if (part.end != part.listed && part.listed <= watermark_) {
    open_.Remove(ref);
    open_.Add(ref);
  }
  return taken;
}

}  // namespace weir
