#include "operators/normalise.h"

#include <algorithm>

#include "engine/data/encoded_keys.h"
#include "engine/data/row_codec.h"
#include "engine/state/key_index.h"
#include "operators/row_changes.h"

namespace weir {
namespace {

constexpr uint8_t kRowPart = 1;
constexpr size_t kSlotDistance = 24;
constexpr size_t kRecordDistance = 12;
constexpr size_t kSweepSlots = 2048;

// A record is the key, in canonical form, and the whole row; Record::count is the size of the key.
class Normalise final : public Operator {
 public:
  explicit Normalise(const NormaliseOptions& options)
      : schema_(options.schema),
        key_(options.key),
        state_("normalise", {{"rows"}}, false, options.state),
        index_(&state_.arena(), 0, KeyIndex::KeySize::kInCount),
        changes_(options.schema, &row_codec_) {
    std::vector<DataType> key_types;
    for (const int column : key_) key_types.push_back((*schema_)[static_cast<size_t>(column)].type);
    key_codec_ = RowCodec(key_types, RowCodec::Form::kKey);
    std::vector<DataType> types;
    for (size_t i = 0; i < schema_->size(); ++i) {
      types.push_back((*schema_)[i].type);
      columns_.push_back(static_cast<int>(i));
    }
    row_codec_ = RowCodec(types, RowCodec::Form::kExact);
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return state_.Open(context);
  }

  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    HashRows(batch, key_, hashes_);
    key_codec_.Encode(batch, key_, keys_);
    row_codec_.Encode(batch, columns_, encoded_);
    const auto bytes = static_cast<int64_t>(keys_.bytes.size() + encoded_.bytes.size() + 64 * batch.rows());
    WEIR_TRY(state_.BeginBatch(index_.bytes(), bytes));
    if (state_.has_ttl()) Sweep();
    const size_t rows = batch.rows();
    for (size_t row = 0; row < rows; ++row) {
      if (row + kSlotDistance < rows) index_.PrefetchSlot(hashes_[row + kSlotDistance]);
      if (row + kRecordDistance < rows) index_.PrefetchRecord(hashes_[row + kRecordDistance]);
      if (changes_.size() + 2 > kBatchRows) Flush(batch, out);
      if (IsAdd(batch.kind(row))) {
        Put(row);
      } else if (!batch.IsUpdatePair(row) || keys_.row(row) != keys_.row(row + 1)) {
        Delete(row);
      }
    }
    Flush(batch, out);
    return Progress::kDone;
  }

  Status Snapshot(SnapshotWriter& writer) override {
    state_.Snapshot(writer);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override { return state_.Sizes(); }

 private:
  std::string_view RowOf(const Record& record) const { return record.bytes().substr(record.count); }

  void Put(size_t row) {
    const std::string_view key = keys_.row(row);
    const std::string_view value = encoded_.row(row);
    const Ref old_ref = index_.Find(hashes_[row], key);
    if (old_ref != 0 && RowOf(*state_.At(old_ref)) == value) return state_.Touch(*state_.At(old_ref));
    const Ref ref = Store(key, value);
    if (old_ref == 0) {
      index_.Insert(hashes_[row], ref);
      changes_.AddRow(RowKind::kInsert, row);
      return;
    }
    index_.Replace(hashes_[row], old_ref, ref);
    garbage_.push_back(old_ref);
    changes_.AddKept(RowKind::kUpdateBefore, RowOf(*state_.At(old_ref)).data());
    changes_.AddRow(RowKind::kUpdateAfter, row);
  }

  void Delete(size_t row) {
    const Ref ref = index_.Find(hashes_[row], keys_.row(row));
    if (ref == 0) {
      ++context().metrics->ignored_deletes;
      return;
    }
    index_.Erase(hashes_[row], ref);
    garbage_.push_back(ref);
    changes_.AddKept(RowKind::kDelete, RowOf(*state_.At(ref)).data());
  }

  Ref Store(std::string_view key, std::string_view value) {
    const Ref ref = state_.Allocate(kRowPart, key.size() + value.size());
    Record* record = state_.At(ref);
    record->count = static_cast<uint32_t>(key.size());
    std::memcpy(record->payload(), key.data(), key.size());
    std::memcpy(record->payload() + key.size(), value.data(), value.size());
    return ref;
  }

  void Sweep() {
    index_.Sweep(sweep_position_, kSweepSlots, [&](Ref ref) {
      if (!state_.Expired(*state_.At(ref))) return false;
      state_.Free(ref);
      return true;
    });
  }

  void Flush(const Batch& batch, Output& out);

  SchemaPtr schema_;
  std::vector<int> key_;
  std::vector<int> columns_;
  KeyedState state_;
  KeyIndex index_;
  RowCodec key_codec_;
  RowCodec row_codec_;
  uint64_t sweep_position_ = 0;
  std::vector<uint64_t> hashes_;
  EncodedRows keys_;
  EncodedRows encoded_;
  RowChanges changes_;
  std::vector<Ref> garbage_;  // rows that changes name
};

void Normalise::Flush(const Batch& batch, Output& out) {
  changes_.Emit(batch, out);
  for (const Ref ref : garbage_) state_.Free(ref);
  garbage_.clear();
}

Status Normalise::Restore(const SnapshotReader& reader) {
  std::vector<std::string> rows;
  const auto insert = [&](bool filter) {
    std::vector<std::shared_ptr<Column>> columns;
    std::vector<Column*> targets;
    std::vector<Field> fields;
    std::vector<int> keys;
    std::vector<const char*> payloads;
    for (std::string& row : rows) {
      row.append(2 * kRowSlack, '\0');
      payloads.push_back(row.data());
    }
    HashEncodedKeys(key_codec_, *schema_, key_, payloads, hashes_);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (filter && TaskOf(KeyGroupOf(hashes_[i]), context().parallelism) != context().task) continue;
      const std::string_view payload = std::string_view(rows[i]).substr(0, rows[i].size() - 2 * kRowSlack);
      const size_t key_size = key_codec_.EncodedSize(payload.data());
      index_.Insert(hashes_[i], Store(payload.substr(0, key_size), payload.substr(key_size)));
    }
    rows.clear();
  };
  bool filtered = false;
  state_.after_file = [&](const SnapshotReader::Part&) -> Status {
    insert(filtered);
    return {};
  };
  const Status status =
      state_.Restore(reader, [&](const SnapshotReader::Part&, const SnapshotRecord& record, bool filter) -> Status {
        filtered = filter;
        rows.emplace_back(record.payload);
        if (rows.size() >= kBatchRows) insert(filter);
        return {};
      });
  state_.after_file = nullptr;
  return status;
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeNormalise(const NormaliseOptions& options) {
  if (options.key.empty()) return PlanError("normalise needs a key");
  return std::unique_ptr<Operator>(std::make_unique<Normalise>(options));
}

}  // namespace weir
