#include "operators/ordered_rows.h"

#include "engine/data/hash.h"

namespace weir {
namespace {

std::vector<int> AllColumns(const Schema& schema) {
  std::vector<int> columns;
  for (size_t i = 0; i < schema.size(); ++i) columns.push_back(static_cast<int>(i));
  return columns;
}

// What an entry in order and its share of a block take.
constexpr int64_t kEntryBytes = 24;

}  // namespace

SortKeyCodec MakeSortKeyCodec(const Schema& schema, const std::vector<SortColumn>& sort) {
  std::vector<SortField> fields;
  for (const SortColumn& column : sort) {
    fields.push_back(
        {schema[static_cast<size_t>(column.column)].type.physical(), column.descending, column.nulls_first});
  }
  return SortKeyCodec(std::move(fields));
}

std::vector<int> ColumnsOf(const std::vector<SortColumn>& sort) {
  std::vector<int> columns;
  for (const SortColumn& column : sort) columns.push_back(column.column);
  return columns;
}

RowCodec MakeRowCodec(const Schema& schema, const std::vector<int>& columns, RowCodec::Form form) {
  std::vector<DataType> types;
  for (const int column : columns) types.push_back(schema[static_cast<size_t>(column)].type);
  return RowCodec(types, form);
}

OrderedRows::OrderedRows(const OrderedRowsOptions& options)
    : options_(options),
      all_columns_(AllColumns(*options.schema)),
      sort_columns_(ColumnsOf(options.sort)),
      key_codec_(MakeRowCodec(*options.schema, options.partition, RowCodec::Form::kKey)),
      row_codec_(MakeRowCodec(*options.schema, all_columns_,
                              options.retracts ? RowCodec::Form::kKey : RowCodec::Form::kExact)),
      sort_codec_(MakeSortKeyCodec(*options.schema, options.sort)),
      state_(options.kind, {{"rows"}, {"partitions", false}, {"mark"}}, false, options.state),
      index_(&state_.arena(), sizeof(uint32_t), KeyIndex::KeySize::kInCount) {}

Status OrderedRows::Begin(const Batch& batch) {
  HashRows(batch, options_.partition, hashes_);
  key_codec_.Encode(batch, options_.partition, keys_);
  sort_codec_.Encode(batch, sort_columns_, sort_keys_);
  const int64_t other = index_.bytes() + rows_ * kEntryBytes +
                        static_cast<int64_t>(partitions_.capacity() * sizeof(Partition));
  const auto bytes = static_cast<int64_t>(keys_.bytes.size() + sort_keys_.bytes.size() + batch.ByteSize()) +
                     static_cast<int64_t>(batch.rows()) * 128;
  return state_.BeginBatch(other, bytes);
}

void OrderedRows::EncodeRows(const Batch& batch, const Selection* selection) {
  if (selection == nullptr) return row_codec_.Encode(batch, all_columns_, encoded_);
  row_codec_.Encode(batch.Gather(*selection), all_columns_, encoded_);
}

void OrderedRows::Prefetch(size_t row) const {
  constexpr size_t kSlotDistance = 24;
  constexpr size_t kRecordDistance = 12;
  if (row + kSlotDistance < hashes_.size()) index_.PrefetchSlot(hashes_[row + kSlotDistance]);
  if (row + kRecordDistance < hashes_.size()) index_.PrefetchRecord(hashes_[row + kRecordDistance]);
}

uint32_t OrderedRows::FindOrAdd(size_t row) {
  if (const uint32_t found = Find(row); found != kNone) return found;
  uint32_t number = static_cast<uint32_t>(partitions_.size());
  if (unused_.empty()) {
    partitions_.emplace_back();
  } else {
    number = unused_.back();
    unused_.pop_back();
  }
  const std::string_view key = keys_.row(row);
  Partition& partition = partitions_[number];
  partition.record = state_.Allocate(kPartitionPart, sizeof number + key.size());
  partition.hash = hashes_[row];
  Record* record = state_.At(partition.record);
  record->count = static_cast<uint32_t>(key.size());
  std::memcpy(record->payload(), &number, sizeof number);
  if (!key.empty()) std::memcpy(record->payload() + sizeof number, key.data(), key.size());
  index_.Insert(hashes_[row], partition.record);
  return number;
}

void OrderedRows::DropPartition(uint32_t number) {
  Partition& partition = partitions_[number];
  index_.Erase(partition.hash, partition.record);
  state_.Free(partition.record);
  partition = Partition{};
  unused_.push_back(number);
}

Ref OrderedRows::Store(std::string_view row, std::string_view sort_key, uint64_t tie) {
  const Ref ref = state_.Allocate(kRowPart, row.size() + sort_key.size() + kTieBytes);
  Record* record = state_.At(ref);
  record->count = static_cast<uint32_t>(row.size());
  char* at = record->payload();
  std::memcpy(at, row.data(), row.size());
  if (!sort_key.empty()) std::memcpy(at + row.size(), sort_key.data(), sort_key.size());
  PutBigEndian(at + row.size() + sort_key.size(), tie);
  return ref;
}

Ref OrderedRows::Add(Partition& partition, size_t row, size_t encoded) {
  const std::string_view bytes = encoded_.row(encoded);
  uint64_t tie = ++arrivals_;
  if (options_.latest_first) {
    tie = ~tie;
  } else if (options_.retracts) {
    tie = HashBytes(bytes);
  }
  const Ref ref = Store(bytes, sort_keys_.row(row), tie);
  partition.rows.Insert(state_.arena(), ref);
  ++rows_;
  return ref;
}

Ref OrderedRows::Remove(Partition& partition, size_t row, size_t encoded) {
  const std::string_view bytes = encoded_.row(encoded);
  const std::string_view sort_key = sort_keys_.row(row);
  searched_.assign(sort_key);
  if (!options_.latest_first) {
    char tie[kTieBytes];
    PutBigEndian(tie, HashBytes(bytes));
    searched_.append(tie, kTieBytes);
  }
  OrderedRefs& rows = partition.rows;
  for (OrderedRefs::Place place = rows.LowerBound(state_.arena(), searched_); !rows.AtEnd(place); rows.Next(place)) {
    const Ref ref = rows.At(place);
    if (!SortKeyOf(record(ref)).starts_with(searched_)) return 0;
    if (RowBytes(ref) != bytes) continue;
    rows.Erase(place);
    --rows_;
    return ref;
  }
  return 0;
}

void OrderedRows::SetMark(int64_t mark) {
  if (mark_ == mark) return;
  if (mark_record_ != 0) state_.Free(mark_record_);
  mark_ = mark;
  mark_record_ = state_.Allocate(kMarkPart, sizeof mark);
  std::memcpy(state_.At(mark_record_)->payload(), &mark, sizeof mark);
}

// --- restore

Status OrderedRows::Restore(const SnapshotReader& reader) {
  std::vector<std::string> rows;
  bool filtered = false;
  state_.after_file = [&](const SnapshotReader::Part&) { return RestoreRows(rows, filtered); };
  const Status status =
      state_.Restore(reader, [&](const SnapshotReader::Part&, const SnapshotRecord& record, bool filter) -> Status {
        filtered = filter;
        if (record.part == kMarkPart) {
          int64_t mark = 0;
          if (record.payload.size() != sizeof mark) return StateError("the state file of ordered rows is damaged");
          std::memcpy(&mark, record.payload.data(), sizeof mark);
          SetMark(std::max(mark, mark_.value_or(mark)));
          return {};
        }
        rows.emplace_back(record.payload);
        return rows.size() < kBatchRows ? Status{} : RestoreRows(rows, filter);
      });
  state_.after_file = nullptr;
  return status;
}

Status OrderedRows::RestoreRows(std::vector<std::string>& rows, bool filter) {
  const size_t count = rows.size();
  if (count == 0) return {};
  std::vector<const char*> payloads;
  std::vector<std::shared_ptr<Column>> columns;
  std::vector<Column*> targets;
  for (std::string& row : rows) {
    row.append(2 * kRowSlack, '\0');
    payloads.push_back(row.data());
  }
  for (const Field& field : options_.schema->fields()) {
    columns.push_back(std::make_shared<Column>(field.type));
    targets.push_back(columns.back().get());
  }
  row_codec_.Decode(payloads, targets);
  const Batch batch(options_.schema, {columns.begin(), columns.end()}, count);
  HashRows(batch, options_.partition, hashes_);
  key_codec_.Encode(batch, options_.partition, keys_);
  for (size_t i = 0; i < count; ++i) {
    if (filter && TaskOf(KeyGroupOf(hashes_[i]), context_->parallelism) != context_->task) continue;
    const std::string_view payload = std::string_view(rows[i]).substr(0, rows[i].size() - 2 * kRowSlack);
    const size_t size = row_codec_.EncodedSize(payload.data());
    if (payload.size() < size + kTieBytes) return StateError("the state file of ordered rows is damaged");
    uint64_t tie = SortPrefix(payload.substr(payload.size() - kTieBytes));
    const Ref ref = Store(payload.substr(0, size), payload.substr(size, payload.size() - size - kTieBytes), tie);
    partitions_[FindOrAdd(i)].rows.Insert(state_.arena(), ref);
    ++rows_;
    if (options_.latest_first) tie = ~tie;
    if (options_.latest_first || !options_.retracts) arrivals_ = std::max(arrivals_, tie);
  }
  rows.clear();
  return {};
}

}  // namespace weir
