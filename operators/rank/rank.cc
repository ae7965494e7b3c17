// A batch is taken in these steps:
//
//   1. Choose  of append-only input only rows that stand before the last one of a full partition; the others cost no
//              more than a look at that one.
//   2. Change  each row goes into its partition or out of it; the first touch of a partition keeps what it let through.
//   3. Emit    what each touched partition lets through now is compared with that.
//   4. Settle  rows that no one needs are dropped, and partitions without rows.
//
// Partitions of windows are only changed, and emitted whole when their window has ended.
#include "operators/rank/rank.h"

#include <map>
#include <utility>

#include "operators/ordered_rows.h"
#include "operators/rank/changed_rows.h"
#include "operators/rank/keep_one.h"

namespace weir {
namespace {

using Partition = OrderedRows::Partition;

class Rank final : public Operator {
 public:
  explicit Rank(const RankOptions& options)
      : bounds_(options.bounds),
        retracts_(options.input_retracts),
        by_number_(bounds_.function == OverFunction::kRowNumber && (bounds_.output || bounds_.from == bounds_.to)),
        rows_({"rank", options.input, options.partition, options.sort, options.input_retracts, bounds_.latest_first,
               options.state}),
        changes_(options.schema, bounds_.output) {}

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return rows_.Open(context);
  }
  Result<Progress> Process(int, const Batch& batch, Output& out) override;
  Status OnWatermark(Micros watermark, Output& out) override {
    if (in_windows()) EndWindows(watermark, out);
    return {};
  }
  Result<Progress> OnEnd(Output& out) override {
    if (in_windows()) EndWindows(std::numeric_limits<Micros>::max(), out);
    return Progress::kDone;
  }
  Status Snapshot(SnapshotWriter& writer) override {
    if (in_windows()) rows_.SetMark(watermark_);
    rows_.Snapshot(writer);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override { return rows_.Sizes(); }

 private:
  struct Item {
    Ref ref = 0;
    int64_t number = 0;
  };
  struct Touched {
    uint32_t partition = 0;
    size_t before = 0;  // first of its items in before_
  };

  bool in_windows() const { return bounds_.window_end >= 0; }
  bool unbounded() const { return bounds_.to == RankBounds::kAll; }
  bool Stays(const Partition& partition, std::string_view sort_key) const;
  void Choose(const Batch& batch);
  void Touch(uint32_t number);
  void Take(size_t row, size_t encoded);
  void Retract(size_t row, size_t encoded);
  // The rows that are let through, appended; returns how many rows have a number up to `to`.
  size_t Window(const Partition& partition, std::vector<Item>& items) const;
  void CompareByNumber(std::span<const Item> before, std::span<const Item> after);
  void CompareRows(std::span<const Item> before, std::span<const Item> after);
  void Settle(Partition& partition);
  void Compare(Output& out);
  // Drops rows of windows that have ended.
  Batch OpenWindows(const Batch& batch);
  void NoteWindow(uint32_t number, Micros end);
  void EndWindows(Micros watermark, Output& out);
  const char* RowOf(const Item& item) const { return rows_.record(item.ref).payload(); }
  void FreeGarbage() {
    for (const Ref ref : garbage_) rows_.Free(ref);
    garbage_.clear();
  }

  const RankBounds bounds_;
  const bool retracts_;
  const bool by_number_;
  OrderedRows rows_;
  ChangedRows changes_;
  Micros watermark_ = kMinMicros;
  std::map<Micros, std::vector<uint32_t>> windows_;  // partitions by the end of their window

  // --- the batch being processed
  Selection chosen_;
  std::vector<Touched> touched_;
  std::vector<Item> before_;
  std::vector<Item> after_;
  std::vector<Ref> garbage_;  // rows that changes may name
};

// Whether a new row with this key cannot be let through, now or later.
bool Rank::Stays(const Partition& partition, std::string_view sort_key) const {
  if (!partition.full) return false;
  const int order = sort_key.compare(rows_.SortBytes(partition.rows.Last()));
  if (order != 0) return order > 0;
  return bounds_.function == OverFunction::kRowNumber && !bounds_.latest_first;
}

void Rank::Choose(const Batch& batch) {
  chosen_.clear();
  for (size_t row = 0; row < batch.rows(); ++row) {
    rows_.Prefetch(row);
    const uint32_t number = rows_.Find(row);
    if (number == OrderedRows::kNone || !Stays(rows_.at(number), rows_.sort_key(row))) {
      chosen_.push_back(static_cast<uint32_t>(row));
    }
  }
}

void Rank::Touch(uint32_t number) {
  Partition& partition = rows_.at(number);
  if (partition.touched != 0) return;
  touched_.push_back({number, before_.size()});
  partition.touched = static_cast<uint32_t>(touched_.size());
  if (!in_windows()) Window(partition, before_);
}

void Rank::Take(size_t row, size_t encoded) {
  const uint32_t number = rows_.FindOrAdd(row);
  Partition& partition = rows_.at(number);
  if (Stays(partition, rows_.sort_key(row))) return;
  Touch(number);
  rows_.Add(partition, row, encoded);
  if (retracts_ || bounds_.function != OverFunction::kRowNumber || unbounded()) return;
  const auto limit = static_cast<size_t>(bounds_.to);
  if (partition.rows.size() > limit) {
    garbage_.push_back(partition.rows.Last());
    rows_.DropLast(partition);
  }
  partition.full = partition.rows.size() == limit;
}

void Rank::Retract(size_t row, size_t encoded) {
  const uint32_t number = rows_.Find(row);
  if (number != OrderedRows::kNone) {
    Touch(number);
    if (const Ref ref = rows_.Remove(rows_.at(number), row, encoded); ref != 0) {
      garbage_.push_back(ref);
      return;
    }
  }
  ++context().metrics->ignored_deletes;
}

size_t Rank::Window(const Partition& partition, std::vector<Item>& items) const {
  const OrderedRefs& rows = partition.rows;
  size_t position = 0;
  int64_t number = 0;
  std::string_view last;
  OrderedRefs::Place place = rows.Begin();
  if (bounds_.function == OverFunction::kRowNumber && bounds_.from > 1) {
    position = static_cast<size_t>(std::min<int64_t>(bounds_.from - 1, static_cast<int64_t>(rows.size())));
    place = rows.PlaceOf(position);
  }
  for (; position < rows.size(); ++position, rows.Next(place)) {
    const Ref ref = rows.At(place);
    const auto row_number = static_cast<int64_t>(position) + 1;
    if (bounds_.function == OverFunction::kRowNumber) {
      number = row_number;
    } else if (const std::string_view key = rows_.SortBytes(ref); position == 0 || key != last) {
      number = bounds_.function == OverFunction::kRank ? row_number : number + 1;
      last = key;
    }
    if (number > bounds_.to) break;
    if (number >= bounds_.from) items.push_back({ref, number});
  }
  return position;
}

void Rank::CompareByNumber(std::span<const Item> before, std::span<const Item> after) {
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    if (i >= after.size()) {
      changes_.Leave(RowOf(before[i]), before[i].number);
    } else if (i >= before.size()) {
      changes_.Enter(RowOf(after[i]), after[i].number);
    } else if (before[i].ref != after[i].ref && rows_.RowBytes(before[i].ref) != rows_.RowBytes(after[i].ref)) {
      changes_.Update(RowOf(before[i]), before[i].number, RowOf(after[i]), after[i].number);
    }
  }
}

// Both are in the order of their keys: one walk over the two.
void Rank::CompareRows(std::span<const Item> before, std::span<const Item> after) {
  size_t b = 0;
  size_t a = 0;
  while (b < before.size() || a < after.size()) {
    int order = 0;
    bool same = false;
    if (b == before.size() || a == after.size()) {
      order = b == before.size() ? 1 : -1;
    } else if (before[b].ref != after[a].ref) {
      order = SortKeyOf(rows_.record(before[b].ref)).compare(SortKeyOf(rows_.record(after[a].ref)));
      same = order == 0 && rows_.RowBytes(before[b].ref) == rows_.RowBytes(after[a].ref);
    } else {
      same = true;
    }
    if (same) {
      if (bounds_.output && before[b].number != after[a].number) {
        changes_.Update(RowOf(before[b]), before[b].number, RowOf(after[a]), after[a].number);
      }
      ++b, ++a;
    } else if (order > 0) {
      changes_.Enter(RowOf(after[a]), after[a].number);
      ++a;
    } else {
      changes_.Leave(RowOf(before[b]), before[b].number);
      ++b;
    }
  }
}

// REQUIRES: garbage may name rows of the partition.
void Rank::Settle(Partition& partition) {
  if (retracts_ || unbounded()) return;
  after_.clear();
  const size_t needed = Window(partition, after_);
  while (partition.rows.size() > needed) {
    garbage_.push_back(partition.rows.Last());
    rows_.DropLast(partition);
  }
  if (needed == 0) return;
  // Numbers follow from those of the last row: the next row's is larger than all that are let through.
  const int64_t last = after_.empty() ? 0 : after_.back().number;
  partition.full = bounds_.function == OverFunction::kDenseRank ? last >= bounds_.to
                                                                : static_cast<int64_t>(needed) >= bounds_.to;
}

void Rank::Compare(Output& out) {
  for (size_t t = 0; t < touched_.size(); ++t) {
    const Partition& partition = rows_.at(touched_[t].partition);
    const size_t end = t + 1 < touched_.size() ? touched_[t + 1].before : before_.size();
    const std::span<const Item> before(before_.data() + touched_[t].before, end - touched_[t].before);
    after_.clear();
    Window(partition, after_);
    by_number_ ? CompareByNumber(before, after_) : CompareRows(before, after_);
  }
  changes_.Emit(rows_.row_codec(), out);
}

Batch Rank::OpenWindows(const Batch& batch) {
  const Column& ends = batch.column(static_cast<size_t>(bounds_.window_end));
  Selection open;
  for (size_t row = 0; row < batch.rows(); ++row) {
    const bool ended = ends.IsNull(row) || ends.ints()[row] + bounds_.lateness <= watermark_;
    if (!ended) open.push_back(static_cast<uint32_t>(row));
  }
  context().metrics->late_rows += static_cast<int64_t>(batch.rows() - open.size());
  return open.size() == batch.rows() ? batch : batch.Gather(open);
}

void Rank::NoteWindow(uint32_t number, Micros end) {
  Partition& partition = rows_.at(number);
  if (std::exchange(partition.noted, true)) return;
  windows_[end].push_back(number);
}

void Rank::EndWindows(Micros watermark, Output& out) {
  while (!windows_.empty() && windows_.begin()->first + bounds_.lateness <= watermark) {
    for (const uint32_t number : windows_.begin()->second) {
      Partition& partition = rows_.at(number);
      after_.clear();
      Window(partition, after_);
      for (const Item& item : after_) changes_.Enter(RowOf(item), item.number);
      while (!partition.rows.empty()) {
        garbage_.push_back(partition.rows.Last());
        rows_.DropLast(partition);
      }
      rows_.DropPartition(number);
    }
    windows_.erase(windows_.begin());
  }
  changes_.Emit(rows_.row_codec(), out);
  FreeGarbage();
  watermark_ = std::max(watermark_, watermark);
}

Result<Progress> Rank::Process(int, const Batch& all, Output& out) {
  if (bounds_.from > bounds_.to) return Progress::kDone;
  const Batch batch = in_windows() ? OpenWindows(all) : all;
  if (batch.rows() == 0) return Progress::kDone;
  WEIR_TRY(rows_.Begin(batch));
  if (retracts_) {
    rows_.EncodeRows(batch, nullptr);
    for (size_t row = 0; row < batch.rows(); ++row) {
      rows_.Prefetch(row);
      IsAdd(batch.kind(row)) ? Take(row, row) : Retract(row, row);
    }
  } else {
    Choose(batch);
    if (chosen_.empty()) return Progress::kDone;
    rows_.EncodeRows(batch, &chosen_);
    for (size_t i = 0; i < chosen_.size(); ++i) Take(chosen_[i], i);
  }
  if (in_windows()) {
    const auto ends = batch.column(static_cast<size_t>(bounds_.window_end)).ints();
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (const uint32_t number = rows_.Find(row); number != OrderedRows::kNone) NoteWindow(number, ends[row]);
    }
  } else {
    Compare(out);
  }
  for (const Touched& touched : touched_) {
    Partition& partition = rows_.at(touched.partition);
    partition.touched = 0;
    if (bounds_.function != OverFunction::kRowNumber) Settle(partition);
    if (partition.rows.empty() && !in_windows()) rows_.DropPartition(touched.partition);
  }
  FreeGarbage();
  touched_.clear();
  before_.clear();
  return Progress::kDone;
}

Status Rank::Restore(const SnapshotReader& reader) {
  WEIR_TRY(rows_.Restore(reader));
  watermark_ = rows_.mark().value_or(kMinMicros);
  rows_.ForEachPartition([&](uint32_t number, Partition& partition) {
    Settle(partition);
    if (!in_windows()) return;
    auto end = std::make_shared<Column>(TimestampType(6));
    std::vector<Column*> targets(rows_.row_codec().fields(), nullptr);
    targets[static_cast<size_t>(bounds_.window_end)] = end.get();
    const char* row = rows_.record(partition.rows.Last()).payload();
    rows_.row_codec().Decode({&row, 1}, targets);
    NoteWindow(number, end->ints()[0]);
  });
  FreeGarbage();
  return {};
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeRank(const RankOptions& options) {
  if (options.schema->size() != options.input->size() + (options.bounds.output ? 1 : 0)) {
    return PlanError("a rank has its input's columns and its number");
  }
  if (options.bounds.one_row() && !options.input_retracts && options.bounds.window_end < 0) return MakeKeepOne(options);
  return std::unique_ptr<Operator>(std::make_unique<Rank>(options));
}

}  // namespace weir
