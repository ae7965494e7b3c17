#include <algorithm>

#include "operators/aggregate/aggregate_operator.h"

namespace weir {

namespace {

constexpr size_t kSlotDistance = 24;
constexpr size_t kRecordDistance = 12;

}  // namespace

// --- 1. Find

void Aggregate::FindGroups(const Batch& batch) {
  const size_t rows = batch.rows();
  touched_of_row_.resize(rows);
  for (size_t row = 0; row < rows; ++row) {
    if (row + kSlotDistance < rows) index_.PrefetchSlot(hashes_[row + kSlotDistance]);
    if (row + kRecordDistance < rows) index_.PrefetchRecord(hashes_[row + kRecordDistance]);
    touched_of_row_[row] = Touch(hashes_[row], keys_.row(row), row);
  }
  groups_.resize(rows);
  for (size_t row = 0; row < rows; ++row) groups_[row] = state_.At(touched_[touched_of_row_[row]].ref)->payload();
}

// The number of the group among those that the batch touches.  Record::next of a group is that number, from 1, while
// the batch is processed.
uint32_t Aggregate::Touch(uint64_t hash, std::string_view key, size_t row) {
  Ref ref = index_.Find(hash, key);
  if (ref != 0 && state_.At(ref)->next != 0) return state_.At(ref)->next - 1;
  uint32_t before = Touched::kNew;
  if (ref == 0) {
    ref = NewGroup(key);
    index_.Insert(hash, ref);
    if (assigned()) {
      NewWindowPart(ref, column_hashes_[row], options_.windows->spec.StartOf(ends_[row]), ends_[row]);
    } else if (options_.windows) {
      NewWindowPart(ref, hash, ends_[row], ends_[row]);
    }
  } else {
    const Ref writable = state_.Writable(ref);
    if (writable != ref) {
      index_.Replace(hash, ref, writable);
      if (options_.windows) open_.Replace(writable);
    }
    ref = writable;
    before = KeepBefore(ref);
    state_.Touch(*state_.At(ref));
  }
  return NoteTouched(ref, hash, before);
}

Ref Aggregate::NewGroup(std::string_view key) {
  const Ref ref = state_.Allocate(kGroupPart, plan_.fixed + key.size());
  Record* record = state_.At(ref);
  record->next = 0;
  record->count = static_cast<uint32_t>(key.size());
  std::memset(record->payload(), 0, plan_.fixed);
  if (plan_.HasIds()) StoreAt(record->payload() + plan_.id_offset, next_id_++);
  std::memcpy(record->payload() + plan_.fixed, key.data(), key.size());
  return ref;
}

uint32_t Aggregate::NoteTouched(Ref ref, uint64_t hash, uint32_t before) {
  touched_.push_back({ref, hash, before});
  state_.At(ref)->next = static_cast<uint32_t>(touched_.size());
  if (!plan_.states.empty()) KeepResultsOfBefore(ref, before);
  return static_cast<uint32_t>(touched_.size() - 1);
}

// Call states have no bytes of before: their results are made now, before the batch changes the values.
void Aggregate::KeepResultsOfBefore(Ref ref, uint32_t before) {
  for (size_t i = 0; i < plan_.states.size(); ++i) {
    Status made;
    const size_t rows = of_before_[i].size();
    if (before != Touched::kNew) made = plan_.states[i]->Append(state_.At(ref)->payload(), of_before_[i]);
    if (of_before_[i].size() == rows) of_before_[i].AppendNull();
    if (!made && before_failed_) before_failed_ = std::move(made);
  }
}

// A window that has not ended has given no result that would have to be taken back.
uint32_t Aggregate::KeepBefore(Ref ref) {
  const Record* record = state_.At(ref);
  if (options_.windows && !IsShown(open_.PartOf(ref).end)) return Touched::kNew;
  const auto before = static_cast<uint32_t>(before_.size());
  before_.append(record->payload(), record->size);
  before_.resize((before_.size() + 7) / 8 * 8);
  return before;
}

// --- 2. Sign

void Aggregate::SignRows(const Batch& batch) {
  const size_t rows = batch.rows();
  signs_.assign(rows, 1);
  for (size_t row = 0; row < rows; ++row) {
    char* group = groups_[row];
    if (!batch.insert_only() && !IsAdd(batch.kinds()[row])) {
      signs_[row] = RowsOf(group) > 0 ? -1 : 0;
      if (signs_[row] == 0) ++context().metrics->ignored_deletes;
    }
    StoreAt<int64_t>(group, RowsOf(group) + signs_[row]);
  }
}

// --- 3. Update

Status Aggregate::Update(const Batch& batch) {
  WEIR_TRY(std::exchange(before_failed_, {}));
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.FromSet() || accumulator.form == Accumulator::Form::kRows) continue;
    if (CallState* state = plan_.StateOf(accumulator)) {
      WEIR_ASSIGN(const int64_t missing, state->Update(batch, signs_, groups_));
      context().metrics->ignored_deletes += missing;
    } else if (accumulator.form != Accumulator::Form::kExtremeText) {
      WEIR_TRY(accumulator.Update(batch, signs_, groups_));
    }
  }
  for (const auto& set : plan_.sets) {
    WEIR_ASSIGN(const int64_t missing, set->Update(batch, signs_, groups_));
    context().metrics->ignored_deletes += missing;
    set->Settle();
  }
  if (plan_.texts == 0) return {};
  texts_.assign(touched_.size() * static_cast<size_t>(plan_.texts), Text{});
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.form == Accumulator::Form::kExtremeText) UpdateTexts(batch, accumulator);
  }
  StoreTexts();
  return {};
}

// The text stands behind the key and the texts of earlier calls.
std::string_view Aggregate::TextOf(const char* group, size_t key_size, const Accumulator& accumulator) const {
  size_t at = plan_.fixed + key_size;
  for (const Accumulator& other : plan_.accumulators) {
    if (&other == &accumulator) break;
    if (other.form == Accumulator::Form::kExtremeText) at += LoadAt<uint32_t>(group + other.offset);
  }
  return {group + at, LoadAt<uint32_t>(group + accumulator.offset)};
}

// The texts that the touched groups have.
void Aggregate::ReadTexts(const Accumulator& accumulator) {
  const auto texts = static_cast<size_t>(plan_.texts);
  const auto number = static_cast<size_t>(accumulator.text);
  for (size_t t = 0; t < touched_.size(); ++t) {
    const Record& record = *state_.At(touched_[t].ref);
    Text& text = texts_[t * texts + number];
    text.present = LoadAt<uint32_t>(record.payload() + accumulator.offset + sizeof(uint32_t)) != 0;
    text.value = TextOf(record.payload(), record.count, accumulator);
  }
}

void Aggregate::UpdateTexts(const Batch& batch, const Accumulator& accumulator) {
  const Column& column = batch.column(static_cast<size_t>(accumulator.call.argument));
  const Column* filter = FilterColumn(batch, accumulator.call);
  const auto texts = static_cast<size_t>(plan_.texts);
  const auto number = static_cast<size_t>(accumulator.text);
  ReadTexts(accumulator);
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (signs_[row] == 0 || column.IsNull(row) || !FilterPasses(filter, row)) continue;
    Text& text = texts_[touched_of_row_[row] * texts + number];
    const std::string_view value = column.text(row);
    if (text.present && !accumulator.Replaces(value, text.value, std::less<std::string_view>())) continue;
    text = {true, true, value};
  }
}

void Aggregate::StoreTexts() {
  const auto texts = static_cast<size_t>(plan_.texts);
  for (size_t t = 0; t < touched_.size(); ++t) {
    const std::span<const Text> of_group(texts_.data() + t * texts, texts);
    if (std::none_of(of_group.begin(), of_group.end(), [](const Text& text) { return text.changed; })) continue;
    touched_[t].ref = StoreTextsOf(touched_[t].ref, of_group);
  }
}

// A group whose texts have changed gets a record of the new size.
Ref Aggregate::StoreTextsOf(Ref group, std::span<const Text> texts) {
  const Record& from = *state_.At(group);
  const size_t head = plan_.fixed + from.count;
  size_t size = head;
  for (const Text& text : texts) size += text.value.size();
  const Ref ref = state_.Allocate(kGroupPart, size);
  Record& to = *state_.At(ref);
  to.next = from.next;
  to.count = from.count;
  std::memcpy(to.payload(), from.payload(), head);
  size_t at = head;
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.form != Accumulator::Form::kExtremeText) continue;
    const Text& text = texts[static_cast<size_t>(accumulator.text)];
    std::copy(text.value.begin(), text.value.end(), to.payload() + at);
    at += text.value.size();
    StoreAt(to.payload() + accumulator.offset, static_cast<uint32_t>(text.value.size()));
    StoreAt(to.payload() + accumulator.offset + sizeof(uint32_t), uint32_t{text.present});
  }
  if (options_.windows) {
    Relink(group, ref);
  } else {
    const Touched& touched = touched_[to.next - 1];
    index_.Replace(touched.hash, group, ref);
  }
  state_.Free(group);
  return ref;
}

}  // namespace weir
