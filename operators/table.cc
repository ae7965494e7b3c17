#include "operators/table.h"

#include <algorithm>

#include "engine/data/bucket.h"
#include "engine/data/hash.h"
#include "operators/row_changes.h"
#include "tables/row_groups.h"

namespace weir {
namespace {

constexpr uint8_t kRowPart = 1;
constexpr uint8_t kKeyPart = 2;
constexpr size_t kSlotDistance = 24;
constexpr size_t kRecordDistance = 12;

size_t NoUniquePart(const void*, const Record&) { return 0; }

// The group of a key has one row at most; its record is the whole row.
class TableOperator final : public Operator {
 public:
  explicit TableOperator(const TableOperatorOptions& options)
      : options_(options),
        state_("table", {{"rows"}, {"keys", false}}, false, {}),
        index_(&state_.arena(), sizeof(RowGroup), KeyIndex::KeySize::kInCount),
        lists_(&state_.arena(), true, &NoUniquePart, nullptr),
        groups_(&state_, &index_, kKeyPart, {{options.table, &lists_, kRowPart, &NoUniquePart, nullptr}}, false),
        changes_(options.schema, &row_codec_) {
    std::vector<DataType> key_types;
    for (const int column : options_.key) key_types.push_back((*options_.schema)[static_cast<size_t>(column)].type);
    key_codec_ = RowCodec(key_types, RowCodec::Form::kKey);
    std::vector<DataType> types;
    for (size_t i = 0; i < options_.schema->size(); ++i) {
      types.push_back((*options_.schema)[i].type);
      columns_.push_back(static_cast<int>(i));
    }
    row_codec_ = RowCodec(types, RowCodec::Form::kExact);
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    WEIR_TRY(state_.Open(context));
    return groups_.Open(context);
  }
  Status Restore(const SnapshotReader&) override { return groups_.Restore(); }
  Status OnBarrier(Output&) override {
    groups_.Relieve(true);
    return {};
  }
  Status Snapshot(SnapshotWriter& writer) override { return groups_.Snapshot(writer); }
  Result<Progress> Process(int input, const Batch& batch, Output& out) override;

 private:
  RowGroup& Group(Ref ref) const { return *reinterpret_cast<RowGroup*>(state_.At(ref)->payload()); }
  Status Begin(const Batch& batch);
  Status Put(size_t row);
  Status Delete(size_t row);
  void Emit(const Batch& batch, Output& out);

  const TableOperatorOptions options_;
  std::vector<int> columns_;
  KeyedState state_;
  KeyIndex index_;
  RecordLists lists_;
  RowGroups groups_;
  RowCodec key_codec_;
  RowCodec row_codec_;

  bool busy_ = false;
  std::vector<uint64_t> hashes_;
  std::vector<uint16_t> buckets_;
  EncodedRows keys_;
  EncodedRows encoded_;
  RowChanges changes_;
  std::vector<Ref> garbage_;  // rows that changes name
};

Status TableOperator::Begin(const Batch& batch) {
  key_codec_.Encode(batch, options_.key, keys_);
  row_codec_.Encode(batch, columns_, encoded_);
  hashes_.resize(batch.rows());
  for (size_t row = 0; row < batch.rows(); ++row) hashes_[row] = HashBytes(keys_.row(row));
  BucketRows(batch, options_.bucket_columns, options_.table->buckets(), buckets_);
  const auto bytes = static_cast<int64_t>(keys_.bytes.size() + encoded_.bytes.size() + 96 * batch.rows());
  return state_.BeginBatch(index_.bytes() + lists_.bytes(), bytes);
}

Result<Progress> TableOperator::Process(int, const Batch& batch, Output& out) {
  if (!busy_) WEIR_TRY(Begin(batch));
  busy_ = true;
  WEIR_ASSIGN(const bool ready, groups_.Prepare(hashes_, keys_, buckets_));
  if (!ready) return Progress::kBlocked;
  const size_t rows = batch.rows();
  for (size_t row = 0; row < rows; ++row) {
    if (row + kSlotDistance < rows) index_.PrefetchSlot(hashes_[row + kSlotDistance]);
    if (row + kRecordDistance < rows) index_.PrefetchRecord(hashes_[row + kRecordDistance]);
    if (changes_.size() + 2 > kBatchRows) Emit(batch, out);
    if (IsAdd(batch.kind(row))) {
      WEIR_TRY(Put(row));
    } else if (batch.kind(row) == RowKind::kDelete ||
               (batch.IsUpdatePair(row) && keys_.row(row) != keys_.row(row + 1))) {
      WEIR_TRY(Delete(row));
    }
  }
  Emit(batch, out);
  groups_.Relieve(false);
  busy_ = false;
  return Progress::kDone;
}

Status TableOperator::Put(size_t row) {
  const Ref group_ref = groups_.FindOrAdd(hashes_[row], keys_.row(row));
  ListHead& list = Group(group_ref).lists[0];
  const std::string_view encoded = encoded_.row(row);
  const Ref old_ref = list.head;
  if (old_ref != 0 && state_.At(old_ref)->bytes() == encoded) return {};
  if (old_ref != 0) lists_.RemoveRecord(list, old_ref);
  const Ref ref = state_.Allocate(kRowPart, encoded.size());
  std::memcpy(state_.At(ref)->payload(), encoded.data(), encoded.size());
  lists_.Insert(list, ref);
  WEIR_TRY(groups_.Changed(0, buckets_[row], group_ref, old_ref, ref));
  if (old_ref != 0) {
    garbage_.push_back(old_ref);
    changes_.AddKept(RowKind::kUpdateBefore, state_.At(old_ref)->payload());
  }
  changes_.AddRow(old_ref != 0 ? RowKind::kUpdateAfter : RowKind::kInsert, row);
  return {};
}

Status TableOperator::Delete(size_t row) {
  const Ref group_ref = groups_.FindOrAdd(hashes_[row], keys_.row(row));
  ListHead& list = Group(group_ref).lists[0];
  const Ref old_ref = list.head;
  if (old_ref == 0) {
    ++context().metrics->ignored_deletes;
    return {};
  }
  lists_.RemoveRecord(list, old_ref);
  WEIR_TRY(groups_.Changed(0, buckets_[row], group_ref, old_ref, 0));
  garbage_.push_back(old_ref);
  changes_.AddKept(RowKind::kDelete, state_.At(old_ref)->payload());
  return {};
}

void TableOperator::Emit(const Batch& batch, Output& out) {
  if (options_.read) {
    changes_.Emit(batch, out);
  } else {
    changes_.Clear();
  }
  for (const Ref ref : garbage_) state_.Free(ref);
  garbage_.clear();
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeTableOperator(const TableOperatorOptions& options) {
  if (options.key.empty()) return PlanError("a primary-key table needs a key");
  return std::unique_ptr<Operator>(std::make_unique<TableOperator>(options));
}

}  // namespace weir
