// A record is u32 the size of the sort key, the partition's key (Record::count says how long), the sort key, the row.
//
//   1. Choose  rows that stand before the one kept of their partition, or that have none; only these are encoded.
//   2. Keep    one after the other; the first change of a partition in the batch keeps the record of before.
//   3. Emit    one net change a partition.
#include "operators/rank/keep_one.h"

#include "engine/data/encoded_keys.h"
#include "engine/data/hash.h"
#include "operators/ordered_rows.h"
#include "operators/rank/changed_rows.h"

namespace weir {
namespace {

constexpr uint8_t kRowPart = 1;
constexpr size_t kHeader = sizeof(uint32_t);
constexpr size_t kSlotDistance = 24;
constexpr size_t kRecordDistance = 12;

class KeepOne final : public Operator {
 public:
  explicit KeepOne(const RankOptions& options)
      : schema_(options.input),
        partition_(options.partition),
        sort_columns_(ColumnsOf(options.sort)),
        latest_first_(options.bounds.latest_first),
        state_("keep-one", {{"rows"}}, false, options.state),
        index_(&state_.arena(), kHeader, KeyIndex::KeySize::kInCount),
        sort_codec_(MakeSortKeyCodec(*options.input, options.sort)),
        changes_(options.schema, options.bounds.output) {
    for (size_t i = 0; i < schema_->size(); ++i) columns_.push_back(static_cast<int>(i));
    key_codec_ = MakeRowCodec(*schema_, partition_, RowCodec::Form::kKey);
    row_codec_ = MakeRowCodec(*schema_, columns_, RowCodec::Form::kExact);
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return state_.Open(context);
  }
  Result<Progress> Process(int, const Batch& batch, Output& out) override;
  Status Snapshot(SnapshotWriter& writer) override {
    state_.Snapshot(writer);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override { return state_.Sizes(); }

 private:
  struct Touched {
    Ref before = 0;  // 0: there was none
    Ref after = 0;
  };

  static uint32_t SortSize(const Record& record) {
    uint32_t size = 0;
    std::memcpy(&size, record.payload(), sizeof size);
    return size;
  }
  static std::string_view SortKey(const Record& record) {
    return record.bytes().substr(kHeader + record.count, SortSize(record));
  }
  static std::string_view Row(const Record& record) {
    return record.bytes().substr(kHeader + record.count + SortSize(record));
  }
  // A new row with this key takes the place of the one kept.
  bool Wins(std::string_view sort_key, const Record& kept) const {
    const int order = sort_key.compare(SortKey(kept));
    return order < 0 || (order == 0 && latest_first_);
  }
  Ref Store(std::string_view key, std::string_view sort_key, std::string_view row);
  void Choose(size_t rows);
  void Keep(size_t row, std::string_view encoded);
  void RestoreRecords(std::vector<std::string>& records, bool filter);

  SchemaPtr schema_;
  std::vector<int> partition_;
  std::vector<int> sort_columns_;
  std::vector<int> columns_;
  bool latest_first_;
  KeyedState state_;
  KeyIndex index_;
  RowCodec key_codec_;
  RowCodec row_codec_;
  SortKeyCodec sort_codec_;
  ChangedRows changes_;

  // --- the batch being processed
  std::vector<uint64_t> hashes_;
  EncodedRows keys_;
  EncodedRows sort_keys_;
  EncodedRows encoded_;
  Selection chosen_;
  std::vector<Touched> touched_;  // Record::next of the records kept is the place here + 1
};

Ref KeepOne::Store(std::string_view key, std::string_view sort_key, std::string_view row) {
  const Ref ref = state_.Allocate(kRowPart, kHeader + key.size() + sort_key.size() + row.size());
  Record* record = state_.At(ref);
  record->count = static_cast<uint32_t>(key.size());
  char* at = record->payload();
  const auto size = static_cast<uint32_t>(sort_key.size());
  std::memcpy(at, &size, sizeof size);
  at += kHeader;
  for (const std::string_view part : {key, sort_key, row}) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  return ref;
}

void KeepOne::Choose(size_t rows) {
  chosen_.clear();
  for (size_t row = 0; row < rows; ++row) {
    if (row + kSlotDistance < rows) index_.PrefetchSlot(hashes_[row + kSlotDistance]);
    if (row + kRecordDistance < rows) index_.PrefetchRecord(hashes_[row + kRecordDistance]);
    const Ref kept = index_.Find(hashes_[row], keys_.row(row));
    if (kept == 0 || Wins(sort_keys_.row(row), *state_.At(kept))) chosen_.push_back(static_cast<uint32_t>(row));
  }
}

void KeepOne::Keep(size_t row, std::string_view encoded) {
  const std::string_view key = keys_.row(row);
  const std::string_view sort_key = sort_keys_.row(row);
  const Ref kept = index_.Find(hashes_[row], key);
  if (kept != 0 && !Wins(sort_key, *state_.At(kept))) return;
  const Ref ref = Store(key, sort_key, encoded);
  Record* record = state_.At(ref);
  if (kept == 0) {
    index_.Insert(hashes_[row], ref);
    touched_.push_back({0, ref});
    record->next = static_cast<Ref>(touched_.size());
    return;
  }
  index_.Replace(hashes_[row], kept, ref);
  const Ref place = state_.At(kept)->next;
  if (place == 0) {
    touched_.push_back({kept, ref});
    record->next = static_cast<Ref>(touched_.size());
  } else {
    touched_[place - 1].after = ref;
    record->next = place;
    state_.Free(kept);
  }
}

Result<Progress> KeepOne::Process(int, const Batch& batch, Output& out) {
  HashRows(batch, partition_, hashes_);
  key_codec_.Encode(batch, partition_, keys_);
  sort_codec_.Encode(batch, sort_columns_, sort_keys_);
  const auto bytes = static_cast<int64_t>(keys_.bytes.size() + sort_keys_.bytes.size() + batch.ByteSize());
  WEIR_TRY(state_.BeginBatch(index_.bytes(), bytes + static_cast<int64_t>(batch.rows()) * 128));
  Choose(batch.rows());
  if (chosen_.empty()) return Progress::kDone;
  row_codec_.Encode(chosen_.size() == batch.rows() ? batch : batch.Gather(chosen_), columns_, encoded_);
  for (size_t i = 0; i < chosen_.size(); ++i) Keep(chosen_[i], encoded_.row(i));
  for (const Touched& touched : touched_) {
    const std::string_view after = Row(*state_.At(touched.after));
    state_.At(touched.after)->next = 0;
    if (touched.before == 0) {
      changes_.Enter(after.data(), 1);
    } else if (const std::string_view before = Row(*state_.At(touched.before)); before != after) {
      changes_.Update(before.data(), 1, after.data(), 1);
    }
  }
  changes_.Emit(row_codec_, out);
  for (const Touched& touched : touched_) {
    if (touched.before != 0) state_.Free(touched.before);
  }
  touched_.clear();
  return Progress::kDone;
}

Status KeepOne::Restore(const SnapshotReader& reader) {
  std::vector<std::string> records;
  bool filtered = false;
  state_.after_file = [&](const SnapshotReader::Part&) -> Status {
    RestoreRecords(records, filtered);
    return {};
  };
  const Status status =
      state_.Restore(reader, [&](const SnapshotReader::Part&, const SnapshotRecord& record, bool filter) -> Status {
        if (record.payload.size() < kHeader) return StateError("the state file of kept rows is damaged");
        filtered = filter;
        records.emplace_back(record.payload);
        if (records.size() >= kBatchRows) RestoreRecords(records, filter);
        return {};
      });
  state_.after_file = nullptr;
  return status;
}

void KeepOne::RestoreRecords(std::vector<std::string>& records, bool filter) {
  std::vector<const char*> payloads;
  std::vector<Field> fields;
  std::vector<std::shared_ptr<Column>> columns;
  std::vector<Column*> targets;
  std::vector<int> keys;
  for (std::string& record : records) {
    record.append(2 * kRowSlack, '\0');
    payloads.push_back(record.data() + kHeader);
  }
  HashEncodedKeys(key_codec_, *schema_, partition_, payloads, hashes_);
  for (size_t i = 0; i < records.size(); ++i) {
    if (filter && TaskOf(KeyGroupOf(hashes_[i]), context().parallelism) != context().task) continue;
    const std::string_view payload = std::string_view(records[i]).substr(0, records[i].size() - 2 * kRowSlack);
    const Ref ref = state_.Allocate(kRowPart, payload.size());
    Record* record = state_.At(ref);
    record->count = static_cast<uint32_t>(key_codec_.EncodedSize(payload.data() + kHeader));
    std::memcpy(record->payload(), payload.data(), payload.size());
    index_.Insert(hashes_[i], ref);
  }
  records.clear();
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeKeepOne(const RankOptions& options) {
  return std::unique_ptr<Operator>(std::make_unique<KeepOne>(options));
}

}  // namespace weir
