#include <algorithm>

#include "operators/aggregate/aggregate_operator.h"

namespace weir {

// The windows that the watermark has reached, in order of their ends.
Status Aggregate::OnWatermark(Micros watermark, Output& out) {
  if (!options_.windows) return EmitGlobal(out);
  if (watermark <= watermark_) return {};
  WEIR_TRY(EmitEarly(out));
  WEIR_TRY(state_.BeginBatch(IndexBytes(), 0));
  if (slices_) {
    WEIR_TRY(CloseSlices(watermark, out));
  } else if (options_.windows->lateness > 0) {
    WEIR_TRY(EmitUntil(watermark, out));
  } else {
    WEIR_TRY(CloseUntil(watermark, out));
  }
  watermark_ = watermark;
  if (slices_) return {};
  // Those that are late enough to take no more rows go.
  const Micros closed = ClosedUntil();
  while (open_.EndsBy(closed)) {
    for (const Ref group : open_.TakeFirst().second) {
      if (group != 0) DropGroup(group);
    }
  }
  return {};
}

// A group that is due is given out and goes, or goes on to the window that contains this one.
Status Aggregate::CloseUntil(Micros watermark, Output& out) {
  const WindowSpec& spec = options_.windows->spec;
  const bool carries = CarriesOn();
  while (open_.EndsBy(watermark)) {
    auto [end, groups] = open_.TakeFirst();
    if (sessions()) RelistGrown(groups);
    WEIR_TRY(EmitWindow(groups, out));
    const bool goes_on = carries && spec.LastEnd(end - 1) != end;
    for (const Ref group : groups) {
      if (group == 0) continue;
      if (goes_on) {
        WEIR_TRY(CarryOn(group, end + spec.slide));
      } else {
        DropGroup(group);
      }
    }
  }
  return {};
}

// With an allowed lateness groups stay.
Status Aggregate::EmitUntil(Micros watermark, Output& out) {
  auto& windows = open_.windows();
  for (auto window = windows.upper_bound(watermark_); window != windows.end() && window->first <= watermark; ++window) {
    // Groups that are listed anew end later, and are met again.
    if (sessions()) RelistGrown(window->second);
    WEIR_TRY(EmitWindow(window->second, out));
  }
  return {};
}

// Takes the sessions out of the list that have grown since they were listed, and lists them under their end.
void Aggregate::RelistGrown(std::vector<Ref>& groups) {
  for (Ref& group : groups) {
    if (group == 0) continue;
    const WindowPart part = open_.PartOf(group);
    if (part.end == part.listed) continue;
    const Ref writable = state_.Writable(group);
    if (writable != group) RelinkIndex(group, writable);
    open_.Add(writable);
    group = 0;
  }
}

Status Aggregate::EmitWindow(const std::vector<Ref>& groups, Output& out) {
  if (early()) return {};  // they are out
  touched_.clear();
  ClearResults();
  const auto flush = [&]() -> Status {
    if (result_groups_.empty()) return {};
    std::vector<std::shared_ptr<Column>> columns;
    WEIR_TRY(MakeResults(columns));
    EmitRows(columns, out);
    touched_.clear();
    ClearResults();
    return {};
  };
  for (const Ref group : groups) {
    if (group == 0) continue;
    const Record& record = *state_.At(group);
    touched_.push_back({group, 0, Touched::kNew});
    AddResult(record.payload(), record.count, touched_.size() - 1, RowKind::kInsert);
    if (result_groups_.size() == kBatchRows) WEIR_TRY(flush());
  }
  return flush();
}

// The group's window is done: what it has counted goes on into the window that ends at `end`.
Status Aggregate::CarryOn(Ref group, Micros end) {
  const Record& record = *state_.At(group);
  const WindowPart part = open_.PartOf(group);
  std::string key(record.payload() + plan_.fixed, record.count);
  StoreAt(key.data(), end);
  const uint64_t hash = WindowHash(part.hash, end);
  const Ref there = index_.Find(hash, key);
  if (there != 0) {
    Ref to = state_.Writable(there);
    if (to != there) Relink(there, to);
    // Merging takes the values out of the record, which a snapshot may be reading.
    const Ref from = state_.Writable(group);
    if (from != group) index_.Replace(WindowHash(part.hash, part.end), group, from);
    WEIR_TRY(MergeGroups(to, from));
    DropGroup(from);
    return {};
  }
  index_.Erase(WindowHash(part.hash, part.end), group);
  const Ref moved = state_.Writable(group);
  std::memcpy(state_.At(moved)->payload() + plan_.fixed, key.data(), key.size());
  NewWindowPart(moved, part.hash, part.start, end);
  index_.Insert(hash, moved);
  return {};
}

uint64_t Aggregate::IndexHash(const WindowPart& part) const {
  return key_prefix() > 0 ? WindowHash(part.hash, part.end) : part.hash;
}

// The group has got another record: all that names it follows.
void Aggregate::Relink(Ref from, Ref to) {
  RelinkIndex(from, to);
  open_.Replace(to);
}

// The same for a group that is in no list: its window has been taken out.
void Aggregate::RelinkIndex(Ref from, Ref to) {
  const WindowPart part = open_.PartOf(to);
  if (sessions()) {
    const Record& record = *state_.At(to);
    session_index_->Replace(part.hash, {record.payload() + plan_.fixed, record.count}, from, to);
  } else {
    index_.Replace(IndexHash(part), from, to);
  }
}

// REQUIRES: it is no more among the open windows.
void Aggregate::DropGroup(Ref group) {
  Record& record = *state_.At(group);
  const WindowPart part = open_.PartOf(group);
  for (const auto& set : plan_.sets) set->DropGroup(record.payload());
  for (const auto& state : plan_.states) state->Forget(record.payload());
  if (sessions()) {
    session_index_->Remove(part.hash, {record.payload() + plan_.fixed, record.count}, group);
  } else {
    index_.Erase(IndexHash(part), group);
  }
  state_.Free(group);
}

// --- one group of two

// Adds all that `from` has counted to `to`, whose record may change; `from` keeps no values.
// REQUIRES: no snapshot reads `to`.
Status Aggregate::MergeGroups(Ref& to, Ref from) {
  if (plan_.texts > 0) MergeTexts(to, from);
  char* group = state_.At(to)->payload();
  char* other = state_.At(from)->payload();
  StoreAt<int64_t>(group, RowsOf(group) + RowsOf(other));
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.CanMerge()) WEIR_TRY(accumulator.Merge(group, other));
  }
  for (const auto& set : plan_.sets) WEIR_TRY(set->MoveValues(group, other));
  for (const Accumulator& accumulator : plan_.accumulators) {
    // What a set feeds has been told by it.
    CallState* state = plan_.StateOf(accumulator);
    if (state != nullptr && !accumulator.FromSet()) WEIR_TRY(state->MoveValues(group, other));
  }
  return {};
}

void Aggregate::MergeTexts(Ref& to, Ref from) {
  std::vector<Text> texts(static_cast<size_t>(plan_.texts));
  const Record& ours = *state_.At(to);
  const Record& theirs = *state_.At(from);
  bool changed = false;
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.form != Accumulator::Form::kExtremeText) continue;
    const auto present = [&](const Record& record) {
      return LoadAt<uint32_t>(record.payload() + accumulator.offset + sizeof(uint32_t)) != 0;
    };
    Text& text = texts[static_cast<size_t>(accumulator.text)];
    text = {false, present(ours), TextOf(ours.payload(), ours.count, accumulator)};
    if (!present(theirs)) continue;
    const std::string_view value = TextOf(theirs.payload(), theirs.count, accumulator);
    if (text.present && !(accumulator.IsMin() ? value < text.value : text.value < value)) continue;
    text = {true, true, value};
    changed = true;
  }
  if (changed) to = StoreTextsOf(to, texts);
}

}  // namespace weir
