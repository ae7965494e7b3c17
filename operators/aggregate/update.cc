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
    touched_of_row_[row] = Touch(hashes_[row], keys_.row(row));
  }
  groups_.resize(rows);
  for (size_t row = 0; row < rows; ++row) groups_[row] = state_.At(touched_[touched_of_row_[row]].ref)->payload();
}

// The number of the group among those that the batch touches.  Record::next of a group is that number, from 1, while
// the batch is processed.
uint32_t Aggregate::Touch(uint64_t hash, std::string_view key) {
  Ref ref = index_.Find(hash, key);
  if (ref != 0 && state_.At(ref)->next != 0) return state_.At(ref)->next - 1;
  Touched touched;
  touched.hash = hash;
  if (ref == 0) {
    ref = state_.Allocate(kGroupPart, plan_.fixed + key.size());
    Record* record = state_.At(ref);
    record->count = static_cast<uint32_t>(key.size());
    std::memset(record->payload(), 0, plan_.fixed);
    if (plan_.HasIds()) StoreAt(record->payload() + plan_.id_offset, next_id_++);
    std::memcpy(record->payload() + plan_.fixed, key.data(), key.size());
    index_.Insert(hash, ref);
  } else {
    const Ref writable = state_.Writable(ref);
    if (writable != ref) index_.Replace(hash, ref, writable);
    ref = writable;
    const Record* record = state_.At(ref);
    touched.before = static_cast<uint32_t>(before_.size());
    before_.append(record->payload(), record->size);
    before_.resize((before_.size() + 7) / 8 * 8);
    state_.Touch(*state_.At(ref));
  }
  touched.ref = ref;
  touched_.push_back(touched);
  state_.At(ref)->next = static_cast<uint32_t>(touched_.size());
  return static_cast<uint32_t>(touched_.size() - 1);
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

// The results of before come from values that the batch changes.
Status Aggregate::KeepResultsOfBefore() {
  of_before_.clear();
  for (const Accumulator& accumulator : plan_.accumulators) {
    CallState* state = plan_.StateOf(accumulator);
    if (state == nullptr) continue;
    Column& results = of_before_.emplace_back(accumulator.call.type);
    for (const Touched& touched : touched_) {
      if (touched.before == Touched::kNew) {
        results.AppendNull();
      } else {
        WEIR_TRY(state->Append(state_.At(touched.ref)->payload(), results));
      }
    }
  }
  return {};
}

Status Aggregate::Update(const Batch& batch) {
  for (const auto& state : plan_.states) state->BeginBatch();
  if (!plan_.states.empty()) WEIR_TRY(KeepResultsOfBefore());
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

void Aggregate::UpdateTexts(const Batch& batch, const Accumulator& accumulator) {
  const Column& column = batch.column(static_cast<size_t>(accumulator.call.argument));
  const Column* filter = FilterColumn(batch, accumulator.call);
  const auto texts = static_cast<size_t>(plan_.texts);
  const auto number = static_cast<size_t>(accumulator.text);
  for (size_t t = 0; t < touched_.size(); ++t) {
    const Record& record = *state_.At(touched_[t].ref);
    Text& text = texts_[t * texts + number];
    text.present = LoadAt<uint32_t>(record.payload() + accumulator.offset + sizeof(uint32_t)) != 0;
    text.value = TextOf(record.payload(), record.count, accumulator);
  }
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (signs_[row] == 0 || column.IsNull(row) || !FilterPasses(filter, row)) continue;
    Text& text = texts_[touched_of_row_[row] * texts + number];
    const std::string_view value = column.text(row);
    if (text.present && !accumulator.Replaces(value, text.value, std::less<std::string_view>())) continue;
    text = {true, true, value};
  }
}

// Groups whose texts have changed get a record of the new size.
void Aggregate::StoreTexts() {
  const auto texts = static_cast<size_t>(plan_.texts);
  for (size_t t = 0; t < touched_.size(); ++t) {
    const std::span<const Text> of_group(texts_.data() + t * texts, texts);
    if (std::none_of(of_group.begin(), of_group.end(), [](const Text& text) { return text.changed; })) continue;
    const Ref old_ref = touched_[t].ref;
    const Record& from = *state_.At(old_ref);
    const size_t head = plan_.fixed + from.count;
    size_t size = head;
    for (const Text& text : of_group) size += text.value.size();
    const Ref ref = state_.Allocate(kGroupPart, size);
    Record& to = *state_.At(ref);
    to.next = from.next;
    to.count = from.count;
    std::memcpy(to.payload(), from.payload(), head);
    size_t at = head;
    for (const Accumulator& accumulator : plan_.accumulators) {
      if (accumulator.form != Accumulator::Form::kExtremeText) continue;
      const Text& text = of_group[static_cast<size_t>(accumulator.text)];
      std::copy(text.value.begin(), text.value.end(), to.payload() + at);
      at += text.value.size();
      StoreAt(to.payload() + accumulator.offset, static_cast<uint32_t>(text.value.size()));
      StoreAt(to.payload() + accumulator.offset + sizeof(uint32_t), uint32_t{text.present});
    }
    index_.Replace(touched_[t].hash, old_ref, ref);
    state_.Free(old_ref);
    touched_[t].ref = ref;
  }
}

}  // namespace weir
