// A batch is taken in these steps:
//
//   1. Group    the rows by partition, with the least and the greatest sort key that changes in each.
//   2. Before   the results of the rows that the changes can touch, as they were emitted.
//   3. Change   the partitions.
//   4. After    the same results anew, and the difference.
#include "operators/over/over.h"

#include "operators/over/changes.h"
#include "operators/over/over_in_time.h"
#include "operators/over/results.h"

namespace weir {
namespace {

using Partition = OrderedRows::Partition;

class Over final : public Operator {
 public:
  explicit Over(const OverOptions& options)
      : rows_({"over", options.input, options.partition, options.sort, options.input_retracts, false, options.state}),
        reach_(options),
        compute_(options),
        changes_(options.schema, options.input->size()) {}

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return rows_.Open(context);
  }
  Result<Progress> Process(int, const Batch& batch, Output& out) override;
  Status Snapshot(SnapshotWriter& writer) override {
    rows_.Snapshot(writer);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override { return rows_.Restore(reader); }
  std::vector<StateSize> StateSizes() const override { return rows_.Sizes(); }

 private:
  struct Touched {
    uint32_t partition = 0;
    std::string_view least;  // sort keys, in the batch
    std::string_view greatest;
    size_t size = 0;       // rows before the changes
    RowRange region;       // of them, that the changes can touch
    size_t first_row = 0;  // of the region, in before_
    size_t result = 0;     // of the region's first row, in the results
  };

  void Group(const Batch& batch);
  Status Before();
  void Change(const Batch& batch);
  Status After(const Touched& touched);

  OrderedRows rows_;
  const Reach reach_;
  OverResults compute_;
  OverChanges changes_;

  // --- the batch being processed
  std::vector<uint32_t> partition_of_row_;
  std::vector<Touched> touched_;
  std::vector<Ref> before_;
  std::vector<Ref> after_;
  std::vector<Ref> garbage_;  // rows that changes may name
};

void Over::Group(const Batch& batch) {
  partition_of_row_.resize(batch.rows());
  for (size_t row = 0; row < batch.rows(); ++row) {
    rows_.Prefetch(row);
    const uint32_t number = IsAdd(batch.kind(row)) ? rows_.FindOrAdd(row) : rows_.Find(row);
    partition_of_row_[row] = number;
    if (number == OrderedRows::kNone) {
      ++context().metrics->ignored_deletes;
      continue;
    }
    Partition& partition = rows_.at(number);
    const std::string_view key = rows_.sort_key(row);
    if (partition.touched == 0) {
      touched_.push_back({number, key, key, partition.rows.size(), {}, 0, 0});
      partition.touched = static_cast<uint32_t>(touched_.size());
      continue;
    }
    Touched& touched = touched_[partition.touched - 1];
    touched.least = std::min(touched.least, key);
    touched.greatest = std::max(touched.greatest, key);
  }
}

Status Over::Before() {
  for (Touched& touched : touched_) {
    const OrderedRefs& order = rows_.at(touched.partition).rows;
    touched.region = reach_.Touched(rows_, order, touched.least, touched.greatest);
    touched.first_row = before_.size();
    touched.result = changes_.results()[0]->size();
    order.Copy(touched.region.from, touched.region.to, before_);
    const RowRange needed = reach_.Needed(rows_, order, touched.region);
    WEIR_TRY(compute_.Append(rows_, order, needed, touched.region, changes_.results()));
  }
  return {};
}

void Over::Change(const Batch& batch) {
  for (size_t row = 0; row < batch.rows(); ++row) {
    const uint32_t number = partition_of_row_[row];
    if (number == OrderedRows::kNone) continue;
    if (IsAdd(batch.kind(row))) {
      rows_.Add(rows_.at(number), row, row);
    } else if (const Ref ref = rows_.Remove(rows_.at(number), row, row); ref != 0) {
      garbage_.push_back(ref);
    } else {
      ++context().metrics->ignored_deletes;
    }
  }
}

Status Over::After(const Touched& touched) {
  const OrderedRefs& order = rows_.at(touched.partition).rows;
  const RowRange region{touched.region.from, order.size() - (touched.size - touched.region.to)};
  after_.clear();
  order.Copy(region.from, region.to, after_);
  size_t after_result = changes_.results()[0]->size();
  WEIR_TRY(compute_.Append(rows_, order, reach_.Needed(rows_, order, region), region, changes_.results()));
  const size_t count = touched.region.to - touched.region.from;
  size_t b = 0;
  size_t a = 0;
  // Both are in the order of their keys: one walk over the two.
  while (b < count || a < after_.size()) {
    const Ref before = b < count ? before_[touched.first_row + b] : 0;
    const Ref after = a < after_.size() ? after_[a] : 0;
    int order_of_keys = before == after ? 0 : before == 0 ? 1 : after == 0 ? -1 : 0;
    if (before != after && before != 0 && after != 0) {
      order_of_keys = SortKeyOf(rows_.record(before)).compare(SortKeyOf(rows_.record(after)));
      if (order_of_keys == 0 && rows_.RowBytes(before) != rows_.RowBytes(after)) order_of_keys = -1;
    }
    if (order_of_keys == 0) {
      if (!changes_.SameResults(touched.result + b, after_result + a)) {
        changes_.Update(after, touched.result + b, after_result + a);
      }
      ++b, ++a;
    } else if (order_of_keys < 0) {
      changes_.Leave(before, touched.result + b++);
    } else {
      changes_.Enter(after, after_result + a++);
    }
  }
  return {};
}

Result<Progress> Over::Process(int, const Batch& batch, Output& out) {
  WEIR_TRY(rows_.Begin(batch));
  rows_.EncodeRows(batch, nullptr);
  Group(batch);
  WEIR_TRY(Before());
  Change(batch);
  for (const Touched& touched : touched_) WEIR_TRY(After(touched));
  changes_.Emit(rows_, out);
  for (const Touched& touched : touched_) {
    rows_.at(touched.partition).touched = 0;
    if (rows_.at(touched.partition).rows.empty()) rows_.DropPartition(touched.partition);
  }
  for (const Ref ref : garbage_) rows_.Free(ref);
  garbage_.clear();
  touched_.clear();
  before_.clear();
  return Progress::kDone;
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeOver(const OverOptions& options) {
  if (options.calls.empty() || options.schema->size() != options.input->size() + options.calls.size()) {
    return PlanError("a window has its input's columns and one column a call");
  }
  if (options.time_column >= 0) return MakeOverInTime(options);
  return std::unique_ptr<Operator>(std::make_unique<Over>(options));
}

}  // namespace weir
