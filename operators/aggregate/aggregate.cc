// A batch is aggregated in these steps:
//
//   1. Find      the group of each row, once a row; the first touch of a group in the batch keeps its bytes of before.
//   2. Sign      each row counts +1 or -1 in its group's number of rows; a retraction from an empty group is dropped.
//   3. Update    each call adds the batch's values, a column at a time; value sets tell their calls about new values.
//   4. Emit      the results of before and after are made into columns and compared: one net change a group.
//
// A group's record: i64 rows, [u64 id], the accumulators, the value sets' lists, the key, the texts of MIN and MAX.
#include "operators/aggregate/aggregate.h"

#include <algorithm>

#include "engine/state/key_index.h"
#include "operators/aggregate/value_set.h"

namespace weir {
namespace {

constexpr uint8_t kGroupPart = 1;
constexpr size_t kSlotDistance = 24;
constexpr size_t kRecordDistance = 12;
constexpr size_t kSweepSlots = 2048;

int64_t RowsOf(const char* group) { return LoadAt<int64_t>(group); }

// One accumulator a call, and the sets that feed some of them.  Decides where everything lies in a group's record.
struct Plan {
  Plan(const AggregateOptions& options, KeyedState* state);

  std::vector<Accumulator> accumulators;
  std::vector<std::unique_ptr<ValueSet>> sets;
  size_t id_offset = 0;
  size_t fixed = sizeof(int64_t);  // bytes before the key
  int texts = 0;
};

bool NeedsSet(const Accumulator& accumulator) {
  return accumulator.form == Accumulator::Form::kExtremeSet ||
         (accumulator.call.distinct && accumulator.call.argument >= 0);
}

// Parts of the state: the groups, then one a value set.
std::vector<KeyedState::Part> Parts(const AggregateOptions& options) {
  std::vector<int> arguments;
  for (const AggregateCall& call : options.calls) {
    if (!NeedsSet(Accumulator::Make(call, *options.input, options.input_retracts))) continue;
    if (std::find(arguments.begin(), arguments.end(), call.argument) == arguments.end())
      arguments.push_back(call.argument);
  }
  std::vector<KeyedState::Part> parts{{"groups"}};
  for (const int argument : arguments) {
    parts.push_back({"values of " + (*options.input)[static_cast<size_t>(argument)].name});
  }
  return parts;
}

Plan::Plan(const AggregateOptions& options, KeyedState* state) {
  for (const AggregateCall& call : options.calls) {
    Accumulator made = Accumulator::Make(call, *options.input, options.input_retracts);
    if (made.form == Accumulator::Form::kExtremeText) made.text = texts++;
    if (NeedsSet(made)) {
      size_t i = 0;
      while (i < sets.size() && sets[i]->argument() != call.argument) ++i;
      if (i == sets.size()) {
        sets.push_back(std::make_unique<ValueSet>(call.argument, made.argument, static_cast<uint8_t>(i + 2),
                                                  options.input_retracts, state));
      }
      made.value_set = static_cast<int>(i);
      made.counter = sets[i]->CounterFor(call.filter);
      if (made.IsExtreme()) sets[i]->MakeOrdered();
    }
    accumulators.push_back(std::move(made));
  }
  if (!sets.empty()) {
    id_offset = fixed;
    fixed += sizeof(uint64_t);
  }
  for (Accumulator& accumulator : accumulators) {
    accumulator.offset = fixed;
    fixed += accumulator.Size();
  }
  for (const auto& set : sets) {
    set->SetIdOffset(id_offset);
    set->SetListOffset(fixed);
    fixed += set->Size();
    set->Finish();
  }
  for (const Accumulator& accumulator : accumulators) {
    if (accumulator.FromSet()) sets[static_cast<size_t>(accumulator.value_set)]->Listen(&accumulator);
  }
}

class Aggregate final : public Operator {
 public:
  explicit Aggregate(const AggregateOptions& options)
      : options_(options),
        state_("aggregate", Parts(options), false, options.state),
        plan_(options_, &state_),
        index_(&state_.arena(), plan_.fixed, KeyIndex::KeySize::kInCount) {
    std::vector<DataType> types;
    for (const int column : options_.group_columns)
      types.push_back((*options_.input)[static_cast<size_t>(column)].type);
    key_codec_ = RowCodec(types, RowCodec::Form::kKey);
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return state_.Open(context);
  }
  Result<Progress> Process(int, const Batch& batch, Output& out) override;
  Status OnWatermark(Micros, Output& out) override { return EmitGlobal(out); }
  Status OnBarrier(Output& out) override { return EmitGlobal(out); }
  Result<Progress> OnEnd(Output& out) override {
    WEIR_TRY(EmitGlobal(out));
    return Progress::kDone;
  }
  Status Snapshot(SnapshotWriter& writer) override {
    state_.Snapshot(writer);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override { return state_.Sizes(); }

 private:
  struct Touched {
    Ref ref = 0;
    uint64_t hash = 0;
    uint32_t before = kNew;  // place of the bytes of before; kNew: there was no such group
    static constexpr uint32_t kNew = UINT32_MAX;
  };
  struct Text {
    bool changed = false;
    bool present = false;
    std::string_view value;  // in the group's record or in the batch
  };

  bool global() const { return options_.group_columns.empty(); }
  Status EmitGlobal(Output& out);
  Status Begin(const Batch& batch);
  void FindGroups(const Batch& batch);
  uint32_t Touch(uint64_t hash, std::string_view key);
  void SignRows(const Batch& batch);
  Status Update(const Batch& batch);
  void UpdateTexts(const Batch& batch, const Accumulator& accumulator);
  void StoreTexts();
  std::string_view TextOf(const char* group, size_t key_size, const Accumulator& accumulator) const;
  Status Emit(Output& out);
  Status MakeResults(std::vector<std::shared_ptr<Column>>& columns);
  Status AppendCall(const Accumulator& accumulator, Column& out) const;
  void EmitRows(std::vector<std::shared_ptr<Column>>& columns, Output& out);
  void DropEmptyGroups();
  void SweepExpired();
  int64_t IndexBytes() const;

  struct RestoredFile {
    std::vector<std::string> groups;
    std::vector<std::pair<uint8_t, std::string>> values;
    std::unordered_map<uint64_t, Ref> by_id;
    bool filter = false;
  };
  Status RestoreGroups(RestoredFile& file);
  void RestoreValues(const RestoredFile& file);

  AggregateOptions options_;
  KeyedState state_;
  Plan plan_;
  KeyIndex index_;
  RowCodec key_codec_;
  uint64_t next_id_ = 1;
  uint64_t sweep_position_ = 0;

  // --- the batch being processed
  // ---------------------------------------------------------------------------------------
  std::vector<uint64_t> hashes_;
  EncodedRows keys_;
  std::vector<uint32_t> touched_of_row_;
  std::vector<Touched> touched_;
  std::string before_;         // records of before: u32 key size, then the payload, padded to 8 bytes
  std::vector<char*> groups_;  // by row
  std::vector<int8_t> signs_;
  std::vector<Text> texts_;  // touched x texts
  // Rows of results: payload, key size and touched group of each; an update has two.
  std::vector<const char*> result_groups_;
  std::vector<uint32_t> result_key_sizes_;
  std::vector<uint32_t> result_touched_;
  std::vector<RowKind> result_kinds_;
};

int64_t Aggregate::IndexBytes() const {
  int64_t bytes = index_.bytes();
  for (const auto& set : plan_.sets) bytes += set->index_bytes();
  return bytes;
}

Status Aggregate::Begin(const Batch& batch) {
  HashRows(batch, options_.group_columns, hashes_);
  key_codec_.Encode(batch, options_.group_columns, keys_);
  const auto bytes = static_cast<int64_t>(keys_.bytes.size() + batch.rows() * (plan_.fixed + 64) + batch.ByteSize());
  WEIR_TRY(state_.BeginBatch(hashes_, IndexBytes(), bytes));
  if (state_.has_ttl() && !global()) SweepExpired();
  touched_.clear();
  before_.clear();
  return {};
}

void Aggregate::SweepExpired() {
  index_.Sweep(sweep_position_, kSweepSlots, [&](Ref ref) {
    // The values of a group with sets outlive it: such groups stay until their rows are retracted.
    if (!plan_.sets.empty() || !state_.Expired(*state_.At(ref))) return false;
    state_.Free(ref);
    return true;
  });
}

Result<Progress> Aggregate::Process(int, const Batch& batch, Output& out) {
  if (batch.rows() == 0) return Progress::kDone;
  WEIR_TRY(Begin(batch));
  FindGroups(batch);
  SignRows(batch);
  WEIR_TRY(Update(batch));
  WEIR_TRY(Emit(out));
  DropEmptyGroups();
  return Progress::kDone;
}

// --- 1. Find
// -----------------------------------------------------------------------------------------------------------

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
    if (!plan_.sets.empty()) StoreAt(record->payload() + plan_.id_offset, next_id_++);
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
// -----------------------------------------------------------------------------------------------------------

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
// ---------------------------------------------------------------------------------------------------------

Status Aggregate::Update(const Batch& batch) {
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.FromSet() || accumulator.form == Accumulator::Form::kRows) continue;
    if (accumulator.form != Accumulator::Form::kExtremeText) WEIR_TRY(accumulator.Update(batch, signs_, groups_));
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
    if (text.present && !(accumulator.IsMin() ? value < text.value : text.value < value)) continue;
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

// --- 4. Emit
// -----------------------------------------------------------------------------------------------------------

Status Aggregate::Emit(Output& out) {
  result_groups_.clear();
  result_key_sizes_.clear();
  result_touched_.clear();
  result_kinds_.clear();
  const auto add = [&](const char* group, uint32_t key_size, size_t touched, RowKind kind) {
    result_groups_.push_back(group);
    result_key_sizes_.push_back(key_size);
    result_touched_.push_back(static_cast<uint32_t>(touched));
    result_kinds_.push_back(kind);
  };
  for (size_t t = 0; t < touched_.size(); ++t) {
    const Record& record = *state_.At(touched_[t].ref);
    const char* before = touched_[t].before == Touched::kNew ? nullptr : before_.data() + touched_[t].before;
    const bool was = before != nullptr && (global() || RowsOf(before) > 0);
    const bool is = global() || RowsOf(record.payload()) > 0;
    if (was) add(before, record.count, t, is ? RowKind::kUpdateBefore : RowKind::kDelete);
    if (is) add(record.payload(), record.count, t, was ? RowKind::kUpdateAfter : RowKind::kInsert);
  }
  if (result_groups_.empty()) return {};
  std::vector<std::shared_ptr<Column>> columns;
  WEIR_TRY(MakeResults(columns));
  EmitRows(columns, out);
  return {};
}

Status Aggregate::AppendCall(const Accumulator& accumulator, Column& out) const {
  switch (accumulator.form) {
    case Accumulator::Form::kExtremeText:
      for (size_t i = 0; i < result_groups_.size(); ++i) {
        const char* group = result_groups_[i];
        if (LoadAt<uint32_t>(group + accumulator.offset + sizeof(uint32_t)) == 0) {
          out.AppendNull();
        } else {
          out.AppendText(TextOf(group, result_key_sizes_[i], accumulator));
        }
      }
      return {};
    case Accumulator::Form::kExtremeSet: {
      std::vector<Ref> values;
      values.reserve(result_groups_.size());
      for (const char* group : result_groups_) values.push_back(LoadAt<Ref>(group + accumulator.offset));
      plan_.sets[static_cast<size_t>(accumulator.value_set)]->Append(values, out);
      return {};
    }
    default:
      return accumulator.AppendResults(result_groups_, out);
  }
}

Status Aggregate::MakeResults(std::vector<std::shared_ptr<Column>>& columns) {
  for (const Field& field : options_.schema->fields()) columns.push_back(std::make_shared<Column>(field.type));
  const size_t keys = options_.group_columns.size();
  std::vector<const char*> key_bytes;
  key_bytes.reserve(result_touched_.size());
  for (const uint32_t t : result_touched_) key_bytes.push_back(state_.At(touched_[t].ref)->payload() + plan_.fixed);
  std::vector<Column*> targets;
  for (size_t i = 0; i < keys; ++i) targets.push_back(columns[i].get());
  key_codec_.Decode(key_bytes, targets);
  for (size_t i = 0; i < plan_.accumulators.size(); ++i) {
    WEIR_TRY(AppendCall(plan_.accumulators[i], *columns[keys + i]));
  }
  return {};
}

bool SameValue(const Column& column, size_t a, size_t b) {
  if (column.IsNull(a) != column.IsNull(b)) return false;
  switch (column.physical()) {
    case Physical::kBool:
      return column.bools()[a] == column.bools()[b];
    case Physical::kInt64:
      return column.ints()[a] == column.ints()[b];
    case Physical::kDouble:
      return std::memcmp(&column.doubles()[a], &column.doubles()[b], sizeof(double)) == 0;
    case Physical::kInt128:
      return column.wides()[a] == column.wides()[b];
    case Physical::kText:
      return column.text(a) == column.text(b);
  }
  return false;
}

void Aggregate::EmitRows(std::vector<std::shared_ptr<Column>>& columns, Output& out) {
  const size_t keys = options_.group_columns.size();
  Selection selection;
  std::vector<RowKind> kinds;
  const auto flush = [&] {
    if (selection.empty()) return;
    const bool inserts = std::all_of(kinds.begin(), kinds.end(), [](RowKind kind) { return kind == RowKind::kInsert; });
    std::vector<ColumnPtr> gathered;
    for (const auto& column : columns) {
      gathered.push_back(selection.size() == column->size() ? ColumnPtr(column) : Column::Gather(column, selection));
    }
    const size_t rows = selection.size();
    out.Emit(Batch(options_.schema, std::move(gathered), rows, inserts ? std::vector<RowKind>{} : std::move(kinds)));
    selection.clear();
    kinds = {};
  };
  for (size_t i = 0; i < result_kinds_.size(); ++i) {
    const bool update = result_kinds_[i] == RowKind::kUpdateBefore;
    const size_t rows = update ? 2 : 1;
    bool changed = !update;
    for (size_t c = keys; c < columns.size() && !changed; ++c) changed = !SameValue(*columns[c], i, i + 1);
    if (changed && selection.size() + rows > kBatchRows) flush();
    for (size_t k = 0; k < rows && changed; ++k) {
      selection.push_back(static_cast<uint32_t>(i + k));
      kinds.push_back(result_kinds_[i + k]);
    }
    i += rows - 1;
  }
  flush();
}

void Aggregate::DropEmptyGroups() {
  for (const Touched& touched : touched_) {
    Record* record = state_.At(touched.ref);
    record->next = 0;
    if (global() || RowsOf(record->payload()) > 0) continue;
    for (const auto& set : plan_.sets) {
      if (set->ordered()) set->Forget(LoadAt<uint64_t>(record->payload() + plan_.id_offset));
    }
    index_.Erase(touched.hash, touched.ref);
    state_.Free(touched.ref);
  }
  for (const auto& set : plan_.sets) set->FreeGarbage();
}

// The row of an aggregate without group columns, before any input.
Status Aggregate::EmitGlobal(Output& out) {
  if (!global() || context().task != 0 || index_.size() > 0) return {};
  const Batch nothing(std::make_shared<const Schema>(), {}, 1);
  HashRows(nothing, {}, hashes_);
  touched_.clear();
  before_.clear();
  key_codec_.Encode(nothing, {}, keys_);
  Touch(hashes_[0], keys_.row(0));
  WEIR_TRY(Emit(out));
  DropEmptyGroups();
  return {};
}

// --- restore
// -------------------------------------------------------------------------------------------------------------

Status Aggregate::Restore(const SnapshotReader& reader) {
  RestoredFile file;
  state_.after_file = [&](const SnapshotReader::Part&) -> Status {
    WEIR_TRY(RestoreGroups(file));
    RestoreValues(file);
    file = RestoredFile{};
    return {};
  };
  const Status status =
      state_.Restore(reader, [&](const SnapshotReader::Part&, const SnapshotRecord& record, bool filter) -> Status {
        file.filter = filter;
        if (record.part != kGroupPart) {
          file.values.emplace_back(record.part, record.payload);
          return {};
        }
        file.groups.emplace_back(record.payload);
        return file.groups.size() < kBatchRows ? Status{} : RestoreGroups(file);
      });
  state_.after_file = nullptr;
  return status;
}

Status Aggregate::RestoreGroups(RestoredFile& file) {
  const size_t count = file.groups.size();
  if (count == 0) return {};
  std::vector<const char*> rows;
  for (std::string& payload : file.groups) {
    if (payload.size() < plan_.fixed) return StateError("the state file of an aggregate is damaged (group)");
    payload.append(2 * kRowSlack, '\0');
    rows.push_back(payload.data() + plan_.fixed);
  }
  std::vector<Field> fields;
  std::vector<std::shared_ptr<Column>> columns;
  std::vector<Column*> targets;
  std::vector<int> keys;
  for (const int column : options_.group_columns) {
    fields.push_back((*options_.input)[static_cast<size_t>(column)]);
    columns.push_back(std::make_shared<Column>(fields.back().type));
    targets.push_back(columns.back().get());
    keys.push_back(static_cast<int>(keys.size()));
  }
  key_codec_.Decode(rows, targets);
  const Batch batch(std::make_shared<const Schema>(std::move(fields)), {columns.begin(), columns.end()}, count);
  HashRows(batch, keys, hashes_);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view payload = std::string_view(file.groups[i]).substr(0, file.groups[i].size() - 2 * kRowSlack);
    // The one group of a global aggregate belongs to task 0, whatever its hash.
    const int owner = global() ? 0 : TaskOf(KeyGroupOf(hashes_[i]), context().parallelism);
    if ((file.filter || global()) && owner != context().task) continue;
    const Ref ref = state_.Allocate(kGroupPart, payload.size());
    Record* record = state_.At(ref);
    record->count = static_cast<uint32_t>(key_codec_.EncodedSize(payload.data() + plan_.fixed));
    std::memcpy(record->payload(), payload.data(), payload.size());
    if (!plan_.sets.empty()) {
      file.by_id[LoadAt<uint64_t>(record->payload() + plan_.id_offset)] = ref;
      StoreAt(record->payload() + plan_.id_offset, next_id_++);
    }
    for (const Accumulator& accumulator : plan_.accumulators) {
      if (accumulator.form == Accumulator::Form::kExtremeSet) StoreAt<Ref>(record->payload() + accumulator.offset, 0);
    }
    for (const auto& set : plan_.sets) {
      if (set->ordered()) set->ClearList(record->payload());
    }
    index_.Insert(hashes_[i], ref);
  }
  file.groups.clear();
  return {};
}

void Aggregate::RestoreValues(const RestoredFile& file) {
  for (const auto& [part, payload] : file.values) {
    ValueSet& set = *plan_.sets[part - 2];
    const auto found = file.by_id.find(ValueSet::GroupId(payload, set.counters()));
    if (found != file.by_id.end()) set.Restore(state_.At(found->second)->payload(), payload);
  }
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeAggregate(const AggregateOptions& options) {
  if (options.schema->size() != options.group_columns.size() + options.calls.size()) {
    return PlanError("an aggregate has its group columns and one column a call");
  }
  for (const AggregateCall& call : options.calls) {
    if (call.argument < 0 && call.function != AggregateFunction::kCountStar) {
      return PlanError("an aggregate function needs an argument");
    }
  }
  // Each argument's values are a part of the state of their own.
  if (Parts(options).size() > KeyedState::kMaxParts) {
    return PlanError("an aggregate has DISTINCT, MIN or MAX over more than " +
                     std::to_string(KeyedState::kMaxParts - 1) + " columns: split it in two queries");
  }
  return std::unique_ptr<Operator>(std::make_unique<Aggregate>(options));
}

}  // namespace weir
