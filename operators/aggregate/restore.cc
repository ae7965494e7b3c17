#include <algorithm>

#include "engine/data/encoded_keys.h"
#include "operators/aggregate/aggregate_operator.h"

namespace weir {

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
        if (options_.windows && record.part == plan_.watermark_part) {
          if (record.payload.size() < sizeof watermark_) return StateError("the state file of an aggregate is damaged");
          watermark_ = std::max(watermark_, LoadAt<Micros>(record.payload.data()));
          return {};
        }
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
    rows.push_back(payload.data() + plan_.fixed + key_prefix());
  }
  HashEncodedKeys(key_codec_, *options_.input, options_.group_columns, rows, hashes_);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view payload = std::string_view(file.groups[i]).substr(0, file.groups[i].size() - 2 * kRowSlack);
    // The one group of a global aggregate belongs to task 0, whatever its hash.
    const int owner = global() ? 0 : TaskOf(KeyGroupOf(hashes_[i]), context().parallelism);
    if ((file.filter || global()) && owner != context().task) continue;
    const uint64_t old_id = plan_.HasIds() ? LoadAt<uint64_t>(payload.data() + plan_.id_offset) : 0;
    const Ref ref = RestoreGroup(payload, i);
    if (plan_.HasIds()) file.by_id[old_id] = ref;
  }
  file.groups.clear();
  return {};
}

Ref Aggregate::RestoreGroup(std::string_view payload, size_t row) {
  const Ref ref = state_.Allocate(kGroupPart, payload.size());
  Record* record = state_.At(ref);
  record->next = 0;
  std::memcpy(record->payload(), payload.data(), payload.size());
  record->count = static_cast<uint32_t>(
      key_prefix() + key_codec_.EncodedSize(record->payload() + plan_.fixed + key_prefix()));
  if (plan_.HasIds()) StoreAt(record->payload() + plan_.id_offset, next_id_++);
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.form == Accumulator::Form::kExtremeSet || accumulator.form == Accumulator::Form::kState) {
      StoreAt<uint32_t>(record->payload() + accumulator.offset, 0);
    }
  }
  for (const auto& set : plan_.sets) {
    if (set->ordered()) set->ClearList(record->payload());
  }
  if (options_.windows) {
    const WindowPart part = open_.Load(record->payload());
    NewWindowPart(ref, hashes_[row], part.start, part.end);
    if (sessions()) {
      session_index_->Add(hashes_[row], {record->payload() + plan_.fixed, record->count}, ref);
    } else {
      index_.Insert(IndexHash(open_.PartOf(ref)), ref);
    }
    return ref;
  }
  index_.Insert(hashes_[row], ref);
  return ref;
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

}  // namespace weir
