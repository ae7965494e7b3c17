// 1. Rows are put in order as they come; those behind the watermark, or without a time, are dropped and counted.
// 2. When the watermark has passed some of them, their results are final: they are emitted, and rows that no later
//    frame reaches are forgotten.  A row at the watermark itself may still get company.
#include "operators/over/over_in_time.h"

#include <algorithm>

#include "operators/over/changes.h"
#include "operators/over/results.h"

namespace weir {
namespace {

using Partition = OrderedRows::Partition;

constexpr Micros kEndOfTime = std::numeric_limits<Micros>::max();

class OverInTime final : public Operator {
 public:
  explicit OverInTime(const OverOptions& options)
      : time_column_(static_cast<size_t>(options.time_column)),
        field_{Physical::kInt64, options.sort[0].descending, options.sort[0].nulls_first},
        rows_({"over-in-time", options.input, options.partition, options.sort, false, false, options.state}),
        reach_(options),
        compute_(options),
        changes_(options.schema, options.input->size()) {}

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return rows_.Open(context);
  }
  Result<Progress> Process(int, const Batch& batch, Output&) override;
  Status OnWatermark(Micros watermark, Output& out) override { return Advance(watermark, out); }
  Result<Progress> OnEnd(Output& out) override {
    WEIR_TRY(Advance(kEndOfTime, out));
    return Progress::kDone;
  }
  Status Snapshot(SnapshotWriter& writer) override {
    rows_.SetMark(watermark_);
    rows_.Snapshot(writer);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override { return rows_.Sizes(); }

 private:
  // A partition with rows that wait.
  struct Waiting {
    uint32_t partition = 0;
    Micros earliest = 0;
  };

  // Rows of the partition before that time.
  size_t RowsBefore(const OrderedRefs& order, Micros time);
  Status Advance(Micros watermark, Output& out);
  // Emits the rows of a partition up to the watermark; false when none waits any more.
  Result<bool> Release(Waiting& waiting, Micros watermark);
  void Forget(Partition& partition, size_t emitted, Micros watermark);

  const size_t time_column_;
  const SortField field_;
  OrderedRows rows_;
  const Reach reach_;
  OverResults compute_;
  OverChanges changes_;
  Micros watermark_ = kMinMicros;
  std::vector<Waiting> waiting_;  // Partition::touched is the place here + 1
  std::string key_;
  Selection taken_;
  std::vector<Ref> garbage_;
};

size_t OverInTime::RowsBefore(const OrderedRefs& order, Micros time) {
  if (time == kEndOfTime) return order.size();
  key_.clear();
  AppendSortKey(field_, time, key_);
  return order.NumberOf(order.LowerBound(rows_.arena(), key_));
}

Result<Progress> OverInTime::Process(int, const Batch& all, Output&) {
  const Column& times = all.column(time_column_);
  taken_.clear();
  for (size_t row = 0; row < all.rows(); ++row) {
    if (times.IsNull(row)) {
      ++context().metrics->null_event_time;
    } else if (times.ints()[row] < watermark_) {
      ++context().metrics->late_rows;
    } else {
      taken_.push_back(static_cast<uint32_t>(row));
    }
  }
  if (taken_.empty()) return Progress::kDone;
  const Batch batch = taken_.size() == all.rows() ? all : all.Gather(taken_);
  WEIR_TRY(rows_.Begin(batch));
  rows_.EncodeRows(batch, nullptr);
  const auto arrived = batch.column(time_column_).ints();
  for (size_t row = 0; row < batch.rows(); ++row) {
    rows_.Prefetch(row);
    const uint32_t number = rows_.FindOrAdd(row);
    Partition& partition = rows_.at(number);
    rows_.Add(partition, row, row);
    if (partition.touched == 0) {
      waiting_.push_back({number, arrived[row]});
      partition.touched = static_cast<uint32_t>(waiting_.size());
    } else {
      Micros& earliest = waiting_[partition.touched - 1].earliest;
      earliest = std::min(earliest, arrived[row]);
    }
  }
  return Progress::kDone;
}

Status OverInTime::Advance(Micros watermark, Output& out) {
  if (watermark <= watermark_) return {};
  for (size_t i = 0; i < waiting_.size();) {
    if (waiting_[i].earliest >= watermark && watermark != kEndOfTime) {
      ++i;
      continue;
    }
    WEIR_ASSIGN(const bool waits, Release(waiting_[i], watermark));
    if (waits) {
      ++i;
      continue;
    }
    const uint32_t number = waiting_[i].partition;
    waiting_[i] = waiting_.back();
    rows_.at(waiting_[i].partition).touched = static_cast<uint32_t>(i + 1);
    waiting_.pop_back();
    rows_.at(number).touched = 0;
    if (rows_.at(number).rows.empty()) rows_.DropPartition(number);
  }
  changes_.Emit(rows_, out);
  for (const Ref ref : garbage_) rows_.Free(ref);
  garbage_.clear();
  watermark_ = watermark;
  return {};
}

Result<bool> OverInTime::Release(Waiting& waiting, Micros watermark) {
  Partition& partition = rows_.at(waiting.partition);
  const OrderedRefs& order = partition.rows;
  const RowRange region{RowsBefore(order, watermark_), RowsBefore(order, watermark)};
  size_t result = changes_.results()[0]->size();
  WEIR_TRY(compute_.Append(rows_, order, reach_.Needed(rows_, order, region), region, changes_.results()));
  std::vector<Ref> emitted;
  order.Copy(region.from, region.to, emitted);
  for (const Ref ref : emitted) changes_.Enter(ref, result++);
  const bool waits = region.to < order.size();
  if (waits) waiting.earliest = *WholeNumberIn(field_, rows_.SortBytes(order.At(order.PlaceOf(region.to))));
  if (!reach_.all_back() && watermark != kEndOfTime) Forget(partition, region.to, watermark);
  return waits;
}

// Rows yet to come are at the watermark or behind it.
void OverInTime::Forget(Partition& partition, size_t emitted, Micros watermark) {
  const size_t needed = std::min(emitted, reach_.FirstNeeded(rows_, partition.rows, emitted, watermark));
  for (size_t i = 0; i < needed; ++i) {
    garbage_.push_back(partition.rows.At(partition.rows.Begin()));
    rows_.DropFirst(partition);
  }
}

Status OverInTime::Restore(const SnapshotReader& reader) {
  WEIR_TRY(rows_.Restore(reader));
  watermark_ = rows_.mark().value_or(kMinMicros);
  rows_.ForEachPartition([&](uint32_t number, Partition& partition) {
    const size_t emitted = RowsBefore(partition.rows, watermark_);
    if (emitted == partition.rows.size()) return;
    const Ref first = partition.rows.At(partition.rows.PlaceOf(emitted));
    waiting_.push_back({number, *WholeNumberIn(field_, rows_.SortBytes(first))});
    partition.touched = static_cast<uint32_t>(waiting_.size());
  });
  return {};
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeOverInTime(const OverOptions& options) {
  const bool in_time = !options.input_retracts && !options.sort.empty() &&
                       options.sort[0].column == options.time_column && !options.sort[0].descending &&
                       !Reach(options).looks_ahead();
  if (!in_time) return PlanError("a window in event time is over append-only rows in the order of that time");
  return std::unique_ptr<Operator>(std::make_unique<OverInTime>(options));
}

}  // namespace weir
