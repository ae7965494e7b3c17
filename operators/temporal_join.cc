// Left rows that wait are in a heap by their time; the versions of a key are a list, the newest first, whose head is in
// the key's group.
//
// A saved record is {time, number of arrival, key, row}, with Record::count the size of the key.  Groups are not saved:
// a restore makes them of the records.

#include "operators/temporal_join.h"

#include <algorithm>
#include <limits>

#include "engine/data/encoded_keys.h"
#include "engine/data/row_codec.h"
#include "engine/state/key_index.h"

namespace weir {
namespace {

constexpr uint8_t kLeftPart = 1;
constexpr uint8_t kRightPart = 2;
constexpr uint8_t kGroupPart = 3;
constexpr Micros kNoWatermark = std::numeric_limits<Micros>::min();
constexpr Micros kEndOfTime = std::numeric_limits<Micros>::max();

struct Group {
  Ref versions = 0;
  uint32_t waiting = 0;  // left rows
};

// At the front of a saved record.
struct Stamp {
  Micros time;
  uint64_t number;
};

struct Waiting {
  Micros time;
  uint64_t number;
  Ref row;
  Ref group;
};

// Rows of one time leave in the order in which they came.
bool Later(const Waiting& a, const Waiting& b) {
  return a.time != b.time ? a.time > b.time : a.number > b.number;
}

class TemporalJoin final : public Operator {
 public:
  explicit TemporalJoin(const TemporalJoinOptions& options)
      : options_(options),
        state_("temporal-join", {{"left"}, {"right"}, {"keys", false}}, false, options.state),
        index_(&state_.arena(), sizeof(Group), KeyIndex::KeySize::kInCount) {
    std::vector<DataType> key_types;
    for (const int key : options.left.keys) key_types.push_back((*options.left.schema)[static_cast<size_t>(key)].type);
    key_codec_ = RowCodec(key_types, RowCodec::Form::kKey);
    for (int side = 0; side < 2; ++side) {
      const Schema& schema = *Input(side).schema;
      std::vector<DataType> types;
      for (size_t i = 0; i < schema.size(); ++i) {
        types.push_back(schema[i].type);
        columns_[side].push_back(static_cast<int>(i));
      }
      row_codecs_[side] = RowCodec(types, RowCodec::Form::kExact);
    }
    std::vector<ColumnPtr> nulls;
    for (const Field& field : options.right.schema->fields()) nulls.push_back(Column::Nulls(field.type, 1));
    row_codecs_[1].Encode(Batch(options.right.schema, std::move(nulls), 1), columns_[1], no_version_);
    no_version_.bytes.resize(no_version_.bytes.size() + kRowSlack);
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return state_.Open(context);
  }

  Result<Progress> Process(int input, const Batch& batch, Output& out) override {
    const TemporalInput& side = Input(input);
    HashRows(batch, side.keys, hashes_);
    key_codec_.Encode(batch, side.keys, keys_);
    row_codecs_[input].Encode(batch, columns_[input], rows_);
    const auto bytes = static_cast<int64_t>(2 * keys_.bytes.size() + rows_.bytes.size() + 96 * batch.rows());
    WEIR_TRY(state_.BeginBatch(index_.bytes() + static_cast<int64_t>(waiting_.capacity() * sizeof(Waiting)), bytes));
    const Column& times = batch.column(static_cast<size_t>(side.time));
    Selection unmatched;
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (times.IsNull(row) || HasNullKey(batch, side.keys, row)) {
        if (times.IsNull(row)) ++context().metrics->null_event_time;
        if (input == 0) unmatched.push_back(static_cast<uint32_t>(row));
      } else if (input == 0) {
        TakeLeft(row, times.ints()[row]);
      } else if (IsAdd(batch.kind(row))) {
        AddVersion(FindOrAddGroup(hashes_[row], keys_.row(row)), hashes_[row], times.ints()[row], next_number_++,
                   keys_.row(row), rows_.row(row));
      } else {
        RemoveVersion(row, times.ints()[row]);
      }
    }
    if (options_.keep && !unmatched.empty()) EmitUnmatched(batch, unmatched, out);
    return Progress::kDone;
  }

  Status OnWatermark(Micros watermark, Output& out) override {
    watermark_ = std::max(watermark_, watermark);
    Release(out);
    return {};
  }

  Result<Progress> OnEnd(Output& out) override {
    watermark_ = kEndOfTime;
    Release(out);
    return Progress::kDone;
  }

  Status Snapshot(SnapshotWriter& writer) override {
    state_.Snapshot(writer);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override { return state_.Sizes(); }

 private:
  const TemporalInput& Input(int side) const { return side == 0 ? options_.left : options_.right; }
  Group& GroupOf(Ref ref) const { return *reinterpret_cast<Group*>(state_.At(ref)->payload()); }
  Stamp StampOf(const Record& record) const {
    Stamp stamp;
    std::memcpy(&stamp, record.payload(), sizeof stamp);
    return stamp;
  }
  const char* RowOf(const Record& record) const { return record.payload() + sizeof(Stamp) + record.count; }
  std::string_view RowBytes(const Record& record) const {
    return {RowOf(record), record.size - sizeof(Stamp) - record.count};
  }

  static bool HasNullKey(const Batch& batch, const std::vector<int>& keys, size_t row) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](int key) { return batch.column(static_cast<size_t>(key)).IsNull(row); });
  }

  Ref Store(uint8_t part, Stamp stamp, std::string_view key, std::string_view row) {
    const Ref ref = state_.Allocate(part, sizeof stamp + key.size() + row.size());
    Record* record = state_.At(ref);
    record->count = static_cast<uint32_t>(key.size());
    std::memcpy(record->payload(), &stamp, sizeof stamp);
    std::memcpy(record->payload() + sizeof stamp, key.data(), key.size());
    std::memcpy(record->payload() + sizeof stamp + key.size(), row.data(), row.size());
    return ref;
  }

  Ref FindOrAddGroup(uint64_t hash, std::string_view key) {
    Ref group = index_.Find(hash, key);
    if (group != 0) return group;
    group = state_.Allocate(kGroupPart, sizeof(Group) + key.size());
    Record* record = state_.At(group);
    record->count = static_cast<uint32_t>(key.size());
    new (record->payload()) Group();
    std::memcpy(record->payload() + sizeof(Group), key.data(), key.size());
    index_.Insert(hash, group);
    return group;
  }

  void TakeLeft(size_t row, Micros time) {
    if (time < watermark_) {
      ++context().metrics->late_rows;
      return;
    }
    AddWaiting(FindOrAddGroup(hashes_[row], keys_.row(row)), {time, next_number_++}, keys_.row(row), rows_.row(row));
  }

  void AddWaiting(Ref group, Stamp stamp, std::string_view key, std::string_view row) {
    ++GroupOf(group).waiting;
    waiting_.push_back({stamp.time, stamp.number, Store(kLeftPart, stamp, key, row), group});
    std::push_heap(waiting_.begin(), waiting_.end(), Later);
  }

  void AddVersion(Ref group, uint64_t hash, Micros time, uint64_t number, std::string_view key, std::string_view row) {
    const Ref added = Store(kRightPart, {time, number}, key, row);
    Ref before = 0;
    Ref next = GroupOf(group).versions;
    while (next != 0) {
      const Stamp other = StampOf(*state_.At(next));
      if (other.time < time || (other.time == time && other.number < number)) break;
      before = next;
      next = state_.At(next)->next;
    }
    state_.At(added)->next = next;
    (before == 0 ? GroupOf(group).versions : state_.At(before)->next) = added;
    Forget(hash, group);
  }

  void RemoveVersion(size_t row, Micros time) {
    const Ref group = index_.Find(hashes_[row], keys_.row(row));
    Ref before = 0;
    for (Ref at = group == 0 ? 0 : GroupOf(group).versions; at != 0; at = state_.At(at)->next) {
      const Record& record = *state_.At(at);
      if (StampOf(record).time == time && RowBytes(record) == rows_.row(row)) {
        (before == 0 ? GroupOf(group).versions : state_.At(before)->next) = record.next;
        state_.Free(at);
        Forget(hashes_[row], group);
        return;
      }
      before = at;
    }
    ++context().metrics->ignored_deletes;
  }

  // Frees the versions that no left row at or above the watermark can need, and the group if nothing is left of it.
  void Forget(uint64_t hash, Ref group) {
    Ref keep = GroupOf(group).versions;
    while (keep != 0 && !IsBelow(StampOf(*state_.At(keep)).time, watermark_)) keep = state_.At(keep)->next;
    if (keep != 0) {
      Ref old = std::exchange(state_.At(keep)->next, 0);
      while (old != 0) {
        const Ref next = state_.At(old)->next;
        state_.Free(old);
        old = next;
      }
    }
    if (GroupOf(group).versions != 0 || GroupOf(group).waiting != 0) return;
    index_.Erase(hash, group);
    state_.Free(group);
  }

  // A version of that time is one for a row of the time `at`.
  bool IsBelow(Micros version, Micros at) const { return options_.before ? version < at : version <= at; }

  void Release(Output& out) {
    std::vector<Waiting> due;
    while (!waiting_.empty() && (waiting_.front().time < watermark_ || watermark_ == kEndOfTime)) {
      std::pop_heap(waiting_.begin(), waiting_.end(), Later);
      due.push_back(waiting_.back());
      waiting_.pop_back();
      if (due.size() == kBatchRows) EmitDue(due, out);
    }
    if (!due.empty()) EmitDue(due, out);
  }

  void EmitDue(std::vector<Waiting>& due, Output& out) {
    std::vector<const char*> left;
    std::vector<const char*> right;
    for (const Waiting& waiting : due) {
      Ref version = GroupOf(waiting.group).versions;
      while (version != 0 && !IsBelow(StampOf(*state_.At(version)).time, waiting.time)) {
        version = state_.At(version)->next;
      }
      if (version == 0 && !options_.keep) continue;
      left.push_back(RowOf(*state_.At(waiting.row)));
      right.push_back(version == 0 ? no_version_.bytes.data() : RowOf(*state_.At(version)));
    }
    if (!left.empty()) {
      std::vector<ColumnPtr> columns = Decoded(0, left);
      const std::vector<ColumnPtr> versions = Decoded(1, right);
      columns.insert(columns.end(), versions.begin(), versions.end());
      out.Emit(Batch(options_.schema, std::move(columns), left.size()));
    }
    for (const Waiting& waiting : due) {
      state_.Free(waiting.row);
      --GroupOf(waiting.group).waiting;
    }
    ForgetAll(due);
    due.clear();
  }

  void ForgetAll(const std::vector<Waiting>& due) {
    std::vector<Ref> groups;
    for (const Waiting& waiting : due) groups.push_back(waiting.group);
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    std::vector<std::string> keys;
    for (const Ref group : groups) {
      const Record& record = *state_.At(group);
      keys.emplace_back(record.payload() + sizeof(Group), record.count);
    }
    const std::vector<uint64_t> hashes = HashesOf(keys);
    for (size_t i = 0; i < groups.size(); ++i) Forget(hashes[i], groups[i]);
  }

  // Of encoded keys.
  std::vector<uint64_t> HashesOf(std::vector<std::string>& keys) const {
    std::vector<const char*> payloads;
    for (std::string& key : keys) {
      key.append(kRowSlack, '\0');
      payloads.push_back(key.data());
    }
    std::vector<uint64_t> hashes;
    HashEncodedKeys(key_codec_, *options_.left.schema, options_.left.keys, payloads, hashes);
    return hashes;
  }

  std::vector<ColumnPtr> Decoded(int side, std::vector<const char*>& rows) const {
    std::vector<std::shared_ptr<Column>> columns;
    std::vector<Column*> targets;
    for (const Field& field : Input(side).schema->fields()) {
      columns.push_back(std::make_shared<Column>(field.type));
      targets.push_back(columns.back().get());
    }
    row_codecs_[side].Decode(rows, targets);
    return {columns.begin(), columns.end()};
  }

  void EmitUnmatched(const Batch& batch, const Selection& rows, Output& out) const {
    std::vector<ColumnPtr> columns;
    for (const ColumnPtr& column : batch.columns()) columns.push_back(Column::Gather(column, rows));
    for (const Field& field : options_.right.schema->fields()) {
      columns.push_back(Column::Nulls(field.type, rows.size()));
    }
    out.Emit(Batch(options_.schema, std::move(columns), rows.size()));
  }

  const TemporalJoinOptions options_;
  KeyedState state_;
  KeyIndex index_;
  RowCodec key_codec_;
  RowCodec row_codecs_[2];
  std::vector<int> columns_[2];
  EncodedRows no_version_;  // a right row of NULLs
  std::vector<Waiting> waiting_;
  uint64_t next_number_ = 1;
  Micros watermark_ = kNoWatermark;
  // --- the batch being processed
  std::vector<uint64_t> hashes_;
  EncodedRows keys_;
  EncodedRows rows_;
};

Status TemporalJoin::Restore(const SnapshotReader& reader) {
  struct Saved {
    uint8_t part;
    Stamp stamp;
    std::string row;
  };
  std::vector<Saved> saved;
  std::vector<std::string> keys;
  const auto insert = [&](bool filter) {
    std::vector<size_t> sizes;
    for (const std::string& key : keys) sizes.push_back(key.size());
    const std::vector<uint64_t> hashes = HashesOf(keys);
    for (size_t i = 0; i < saved.size(); ++i) {
      if (filter && TaskOf(KeyGroupOf(hashes[i]), context().parallelism) != context().task) continue;
      const std::string_view key = std::string_view(keys[i]).substr(0, sizes[i]);
      const Stamp stamp = saved[i].stamp;
      const Ref group = FindOrAddGroup(hashes[i], key);
      if (saved[i].part == kLeftPart) {
        AddWaiting(group, stamp, key, saved[i].row);
      } else {
        AddVersion(group, hashes[i], stamp.time, stamp.number, key, saved[i].row);
      }
      next_number_ = std::max(next_number_, stamp.number + 1);
    }
    saved.clear();
    keys.clear();
  };
  bool filtered = false;
  state_.after_file = [&](const SnapshotReader::Part&) -> Status {
    if (!saved.empty()) insert(filtered);
    return {};
  };
  const Status status =
      state_.Restore(reader, [&](const SnapshotReader::Part&, const SnapshotRecord& record, bool filter) -> Status {
        filtered = filter;
        Stamp stamp;
        std::memcpy(&stamp, record.payload.data(), sizeof stamp);
        const std::string_view rest = record.payload.substr(sizeof stamp);
        const size_t key_size = key_codec_.EncodedSize(rest.data());
        saved.push_back({record.part, stamp, std::string(rest.substr(key_size))});
        keys.emplace_back(rest.substr(0, key_size));
        if (saved.size() >= kBatchRows) insert(filter);
        return {};
      });
  state_.after_file = nullptr;
  return status;
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeTemporalJoin(const TemporalJoinOptions& options) {
  if (options.left.keys.size() != options.right.keys.size() || options.left.keys.empty()) {
    return PlanError("a temporal join needs key columns");
  }
  return std::unique_ptr<Operator>(std::make_unique<TemporalJoin>(options));
}

}  // namespace weir
