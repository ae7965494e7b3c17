#include "operators/join/join.h"

#include <algorithm>

#include "engine/data/bucket.h"
#include "operators/join/join_operator.h"

namespace weir {
namespace {

constexpr size_t kSweepSlots = 2048;  // index slots a batch that the time to live looks at

}  // namespace

void Join::EncodeKeys(const Batch& batch, const std::vector<int>& columns) {
  key_codec_.Encode(batch, columns, keys_);
  if (is_delta()) {
    // The hash of the bytes: a row of the log is placed without its columns.
    hashes_.resize(batch.rows());
    for (size_t row = 0; row < batch.rows(); ++row) hashes_[row] = HashBytes(keys_.row(row));
  } else {
    HashRows(batch, columns, hashes_);
  }
  if (options_.null_safe.empty()) {
    null_keys_ = NullKeys(batch, columns);
    return;
  }
  std::vector<int> strict;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!options_.null_safe[i]) strict.push_back(columns[i]);
  }
  null_keys_ = NullKeys(batch, strict);
}

void Join::MakeGroups() {
  std::vector<RowGroups::Side> sides;
  for (const auto& side : sides_) {
    const auto& table = side->index() == 0 ? options_.tables->left : options_.tables->right;
    sides.push_back({table, &side->lists(), side->part(), side->unique_size(), side.get()});
  }
  const bool counted = sides_[0]->counts || sides_[1]->counts;
  groups_ = std::make_unique<RowGroups>(&state_, &index_, JoinSide::kGroupPart, std::move(sides), counted);
}

Status Join::Begin(const Batch& batch) {
  batch_ = own().Canonical(batch);
  row_ = 0;
  now_ = context().clock == nullptr ? 0 : context().clock->Now();
  EncodeKeys(batch_, own().input().keys);
  own().Encode(batch_);
  if (is_delta()) {
    const JoinTables& tables = *options_.tables;
    BucketRows(batch_, input_ == 0 ? tables.left_bucket : tables.right_bucket, tables.left->buckets(), buckets_);
  } else if (groups_) {
    buckets_.resize(batch_.rows());
    for (size_t row = 0; row < batch_.rows(); ++row) buckets_[row] = static_cast<uint16_t>(KeyGroupOf(hashes_[row]));
  }
  const int64_t bytes = own().encoded_bytes() + static_cast<int64_t>(keys_.bytes.size() + batch.rows() * 128);
  WEIR_TRY(state_.BeginBatch(index_.bytes() + sides_[0]->lists().bytes() + sides_[1]->lists().bytes() +
                                 expiring_[0].bytes() + expiring_[1].bytes(),
                             bytes));
  if (state_.has_ttl()) SweepExpired();
  busy_ = true;
  prepared_ = groups_ == nullptr;
  return {};
}

// Looks at a bounded number of keys a batch and drops their expired rows, without a retraction: a time to live forgets.
void Join::SweepExpired() {
  index_.Sweep(sweep_position_, kSweepSlots, [&](Ref group) {
    for (const auto& side : sides_) {
      side->lists().RemoveIf(Group(group).lists[side->index()], [&](Ref row) {
        if (!state_.Expired(*state_.At(row))) return false;
        state_.Free(row);
        return true;
      });
    }
    if (Group(group).lists[0].size() + Group(group).lists[1].size() > 0) return false;
    state_.Free(group);
    return true;
  });
}

Result<Progress> Join::Process(int input, const Batch& batch, Output& out) {
  if (!busy_) {
    input_ = input;
    WEIR_TRY(Begin(batch));
  }
  if (!prepared_) {
    WEIR_ASSIGN(prepared_, groups_->Prepare(hashes_, keys_, buckets_));
    if (!prepared_) return Progress::kBlocked;
    WEIR_TRY(CountMatches(groups_->TakeUncounted()));
  }
  while (true) {
    WEIR_TRY(Collect());
    if (ready_ > 0) {
      WEIR_TRY(Match());
      output_->Emit(out);
      FinishChunk();
    }
    if (changes_.empty() && row_ == batch_.rows()) {
      FreeGarbage();
      busy_ = false;
      batch_ = Batch();
      if (groups_) groups_->Relieve(false);
      return Progress::kDone;
    }
    if (!out.HasRoom()) return Progress::kMore;
  }
}

// At the end of a batch: until then resolved changes may name retracted rows and groups.
void Join::FreeGarbage() {
  for (const Ref ref : garbage_) state_.Free(ref);
  garbage_.clear();
  // An empty group of a table stays until its last change has been folded: the base may still have its rows.
  if (groups_) empty_groups_.clear();
  for (const auto& [hash, group] : empty_groups_) {
    // The group may have got rows again, or stand here twice: erased once.
    if (Group(group).lists[0].size() + Group(group).lists[1].size() > 0) continue;
    if (index_.Erase(hash, group)) state_.Free(group);
  }
  empty_groups_.clear();
}

// --- restore

Status Join::Restore(const SnapshotReader& reader) {
  if (groups_) return groups_->Restore();
  RestoreBuffer buffers[2];
  bool filtered = false;
  const auto take = [&](const SnapshotReader::Part&, const SnapshotRecord& record, bool filter) -> Status {
    if (record.part > 2) return StateError("the state file of a join has an unknown part");
    filtered = filter;
    RestoreBuffer& rows = buffers[record.part - 1];
    rows.bytes.append(record.payload.data(), record.payload.size());
    rows.offsets.push_back(static_cast<uint32_t>(rows.bytes.size()));
    rows.counts.push_back(record.count);
    return rows.counts.size() < kBatchRows ? Status{} : RestoreRows(record.part - 1, rows, filter);
  };
  state_.after_file = [&](const SnapshotReader::Part&) -> Status {
    WEIR_TRY(RestoreRows(0, buffers[0], filtered));
    return RestoreRows(1, buffers[1], filtered);
  };
  const Status status = state_.Restore(reader, take);
  state_.after_file = nullptr;
  return status;
}

Status Join::RestoreRows(int side_index, RestoreBuffer& rows, bool filter) {
  const size_t count = rows.counts.size();
  if (count == 0) return {};
  JoinSide& side = *sides_[side_index];
  const Schema& schema = *side.input().schema;
  rows.bytes.resize(rows.bytes.size() + 2 * kRowSlack);
  std::vector<const char*> payloads(count);
  for (size_t i = 0; i < count; ++i) payloads[i] = rows.bytes.data() + rows.offsets[i];
  std::vector<Column*> targets(schema.size(), nullptr);
  std::vector<std::shared_ptr<Column>> made(schema.size());
  std::vector<int> wanted = side.input().keys;
  if (expires(side)) wanted.push_back(side.input().expiry->column);
  for (const int column : wanted) {
    const auto i = static_cast<size_t>(column);
    if (made[i]) continue;
    made[i] = std::make_shared<Column>(schema[i].type);
    targets[i] = made[i].get();
  }
  side.DecodeBytes(payloads, targets);
  // A batch of the key columns alone.
  std::vector<Field> fields;
  std::vector<ColumnPtr> columns;
  std::vector<int> keys;
  for (const int key : side.input().keys) {
    keys.push_back(static_cast<int>(keys.size()));
    fields.push_back(schema[static_cast<size_t>(key)]);
    columns.push_back(made[static_cast<size_t>(key)]);
  }
  EncodeKeys(Batch(std::make_shared<const Schema>(std::move(fields)), std::move(columns), count), keys);
  for (size_t i = 0; i < count; ++i) {
    if (i + kSlotDistance < count) index_.PrefetchSlot(hashes_[i + kSlotDistance]);
    if (i + kGroupDistance < count) index_.PrefetchRecord(hashes_[i + kGroupDistance]);
    if (filter && TaskOf(KeyGroupOf(hashes_[i]), context().parallelism) != context().task) continue;
    const std::string_view payload(rows.bytes.data() + rows.offsets[i], rows.offsets[i + 1] - rows.offsets[i]);
    const Ref ref = side.StoreBytes(payload, rows.counts[i]);
    const Ref group = FindOrAddGroup(i);
    side.lists().Insert(Group(group).lists[side_index], ref);
    if (expires(side)) NoteExpiry(side, *made[static_cast<size_t>(side.input().expiry->column)], i, ref, group);
  }
  rows = RestoreBuffer{};
  return {};
}

namespace {

Status Validate(const JoinOptions& options) {
  if (options.left.keys.size() != options.right.keys.size()) return PlanError("a join needs its keys in pairs");
  for (size_t i = 0; i < options.left.keys.size(); ++i) {
    const DataType& left = (*options.left.schema)[static_cast<size_t>(options.left.keys[i])].type;
    const DataType& right = (*options.right.schema)[static_cast<size_t>(options.right.keys[i])].type;
    if (left.physical() != right.physical()) {
      return PlanError("the keys of a join differ in type: " + left.ToString() + " and " + right.ToString());
    }
  }
  if (!options.null_safe.empty() && options.null_safe.size() != options.left.keys.size()) {
    return PlanError("null_safe of a join needs one entry a key");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeJoin(const JoinOptions& options) {
  WEIR_TRY(Validate(options));
  return std::unique_ptr<Operator>(std::make_unique<Join>(options));
}

}  // namespace weir
