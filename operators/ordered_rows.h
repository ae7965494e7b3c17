// The rows of one task by partition, each partition in order: the state that operators over ordered rows share.
//
//   part 1 "rows"        the row (exactly; in canonical form where rows are retracted), then its sort key and 8 bytes
//                        that put rows with equal sort values in an order: the number of arrival, or, where rows are
//                        retracted, the hash of the row, so that the order does not depend on the arrival
//   part 2 "partitions"  the partition's number and key; not in snapshots
//   part 3 "mark"        a number of the owner's
//
// Rows are a multiset: a retraction takes out a row that is equal in every column.  One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/state/key_index.h"
#include "engine/state/keyed_state.h"
#include "engine/state/ordered_refs.h"
#include "sql/plan/over.h"

namespace weir {

struct OrderedRowsOptions {
  std::string kind;  // of the operator, for snapshots
  SchemaPtr schema;  // of the rows
  std::vector<int> partition;
  std::vector<SortColumn> sort;
  bool retracts = true;
  bool latest_first = false;  // of rows with equal sort values the one that came last
  StateOptions state;
};

SortKeyCodec MakeSortKeyCodec(const Schema& schema, const std::vector<SortColumn>& sort);
std::vector<int> ColumnsOf(const std::vector<SortColumn>& sort);
RowCodec MakeRowCodec(const Schema& schema, const std::vector<int>& columns, RowCodec::Form form);

class OrderedRows {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kTieBytes = 8;

  struct Partition {
    OrderedRefs rows;
    Ref record = 0;        // 0: the number is free
    uint64_t hash = 0;
    uint32_t touched = 0;  // the owner's, in the running batch: place + 1
    bool full = false;     // the owner's
    bool noted = false;    // the owner's
  };

  explicit OrderedRows(const OrderedRowsOptions& options);

  Status Open(const OperatorContext& context) {
    context_ = &context;
    return state_.Open(context);
  }
  // Encodes the keys and sort keys of the batch, and checks the limits of the state.
  Status Begin(const Batch& batch);
  // Encodes the rows themselves: all, or those of the selection, which are then numbered in its order.
  void EncodeRows(const Batch& batch, const Selection* selection);

  // The partition of a row of the batch, or kNone.
  uint32_t Find(size_t row) const {
    const Ref ref = index_.Find(hashes_[row], keys_.row(row));
    return ref == 0 ? kNone : NumberIn(*state_.At(ref));
  }
  uint32_t FindOrAdd(size_t row);
  void Prefetch(size_t row) const;
  Partition& at(uint32_t partition) { return partitions_[partition]; }
  std::string_view sort_key(size_t row) const { return sort_keys_.row(row); }

  // Takes in row `row` of the batch, which is number `encoded` of EncodeRows.
  Ref Add(Partition& partition, size_t row, size_t encoded);
  // Takes out a row equal to it; the caller frees the record.  0 when there is none.
  Ref Remove(Partition& partition, size_t row, size_t encoded);
  // Takes out the last row; the caller frees the record.
  void DropLast(Partition& partition) {
    OrderedRefs::Place place = partition.rows.End();
    partition.rows.Previous(place);
    partition.rows.Erase(place);
    --rows_;
  }
  void DropFirst(Partition& partition) {
    partition.rows.Erase(partition.rows.Begin());
    --rows_;
  }
  void Free(Ref ref) { state_.Free(ref); }
  // REQUIRES: it has no rows.
  void DropPartition(uint32_t partition);

  const RecordArena& arena() const { return state_.arena(); }
  const Record& record(Ref ref) const { return *state_.At(ref); }
  std::string_view RowBytes(Ref ref) const { return record(ref).bytes().substr(0, record(ref).count); }
  // The sort key without what only makes it different from equal ones.
  std::string_view SortBytes(Ref ref) const {
    const std::string_view key = SortKeyOf(record(ref));
    return key.substr(0, key.size() - kTieBytes);
  }
  const RowCodec& row_codec() const { return row_codec_; }

  // A number of the owner's that is in snapshots: the same in all tasks.
  void SetMark(int64_t mark);
  std::optional<int64_t> mark() const { return mark_; }

  void Snapshot(SnapshotWriter& writer) { state_.Snapshot(writer); }
  Status Restore(const SnapshotReader& reader);
  // Calls visit(number, partition) for those there are.
  template <class Visit>
  void ForEachPartition(Visit visit) {
    for (uint32_t i = 0; i < partitions_.size(); ++i) {
      if (partitions_[i].record != 0) visit(i, partitions_[i]);
    }
  }
  std::vector<StateSize> Sizes() const { return state_.Sizes(); }

 private:
  static constexpr uint8_t kRowPart = 1;
  static constexpr uint8_t kPartitionPart = 2;
  static constexpr uint8_t kMarkPart = 3;

  static uint32_t NumberIn(const Record& record) {
    uint32_t number = 0;
    std::memcpy(&number, record.payload(), sizeof number);
    return number;
  }
  Ref Store(std::string_view row, std::string_view sort_key, uint64_t tie);
  Status RestoreRows(std::vector<std::string>& rows, bool filter);

  OrderedRowsOptions options_;
  std::vector<int> all_columns_;
  std::vector<int> sort_columns_;
  RowCodec key_codec_;
  RowCodec row_codec_;
  SortKeyCodec sort_codec_;
  const OperatorContext* context_ = nullptr;
  KeyedState state_;
  KeyIndex index_;
  std::vector<Partition> partitions_;
  std::vector<uint32_t> unused_;
  uint64_t arrivals_ = 0;
  int64_t rows_ = 0;
  std::optional<int64_t> mark_;
  Ref mark_record_ = 0;

  // --- the batch being processed
  std::vector<uint64_t> hashes_;
  EncodedRows keys_;
  EncodedRows sort_keys_;
  EncodedRows encoded_;
  std::string searched_;
};

}  // namespace weir
