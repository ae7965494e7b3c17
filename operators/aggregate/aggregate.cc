#include "operators/aggregate/aggregate.h"

#include <algorithm>

#include "operators/aggregate/aggregate_operator.h"

namespace weir {

namespace {

constexpr size_t kSweepSlots = 2048;  // index slots a batch that the time to live looks at

}  // namespace

int64_t Aggregate::IndexBytes() const {
  int64_t bytes = index_.bytes();
  for (const auto& set : plan_.sets) bytes += set->index_bytes();
  for (const auto& state : plan_.states) bytes += state->bytes();
  return bytes;
}

Status Aggregate::Begin(const Batch& batch) {
  HashRows(batch, options_.group_columns, hashes_);
  key_codec_.Encode(batch, options_.group_columns, keys_);
  const auto bytes = static_cast<int64_t>(keys_.bytes.size() + batch.rows() * (plan_.fixed + 64) + batch.ByteSize());
  WEIR_TRY(state_.BeginBatch(IndexBytes(), bytes));
  if (state_.has_ttl() && !global()) SweepExpired();
  touched_.clear();
  before_.clear();
  return {};
}

void Aggregate::SweepExpired() {
  index_.Sweep(sweep_position_, kSweepSlots, [&](Ref ref) {
    // The values of a group with sets outlive it: such groups stay until their rows are retracted.
    if (plan_.HasIds() || !state_.Expired(*state_.At(ref))) return false;
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

// --- restore

Status Aggregate::Restore(const SnapshotReader& reader) {
  RestoredFile file;
  state_.after_file = [&](const SnapshotReader::Part&) -> Status {
    WEIR_TRY(RestoreGroups(file));
    WEIR_TRY(RestoreValues(file));
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
    if (plan_.HasIds()) {
      file.by_id[LoadAt<uint64_t>(record->payload() + plan_.id_offset)] = ref;
      StoreAt(record->payload() + plan_.id_offset, next_id_++);
    }
    for (const Accumulator& accumulator : plan_.accumulators) {
      if (accumulator.form == Accumulator::Form::kExtremeSet || accumulator.form == Accumulator::Form::kState)
        StoreAt<uint32_t>(record->payload() + accumulator.offset, 0);
    }
    for (const auto& set : plan_.sets) {
      if (set->ordered()) set->ClearList(record->payload());
    }
    index_.Insert(hashes_[i], ref);
  }
  file.groups.clear();
  return {};
}

Status Aggregate::RestoreValues(const RestoredFile& file) {
  const size_t first_state = 2 + plan_.sets.size();
  std::vector<CallState::Restored> of_states(plan_.states.size());
  for (const auto& [part, payload] : file.values) {
    const size_t counters = part < first_state ? plan_.sets[part - 2u]->counters() : 0;
    if (counters == 0 && payload.size() < CallState::kRestAt)
      return StateError("the state file of an aggregate is damaged (value)");
    const uint64_t id = counters > 0 ? ValueSet::GroupId(payload, counters) : CallState::GroupId(payload);
    const auto found = file.by_id.find(id);
    if (found == file.by_id.end()) continue;
    char* group = state_.At(found->second)->payload();
    if (counters > 0) {
      plan_.sets[part - 2u]->Restore(group, payload);
    } else {
      of_states[part - first_state].emplace_back(group, payload);
    }
  }
  for (size_t i = 0; i < of_states.size(); ++i) WEIR_TRY(plan_.states[i]->Restore(of_states[i]));
  return {};
}

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
  if (AggregateStateParts(options).size() > KeyedState::kMaxParts) {
    return PlanError("an aggregate has more than " + std::to_string(KeyedState::kMaxParts - 1) +
                     " calls with lists, bitmaps or sets of values: split it in two queries");
  }
  return std::unique_ptr<Operator>(std::make_unique<Aggregate>(options));
}

}  // namespace weir
