#include "operators/aggregate/aggregate_operator.h"

namespace weir {

// --- 0. Assign

Micros Aggregate::ClosedUntil() const {
  const Micros lateness = options_.windows->lateness;
  if (watermark_ == kMaxMicros || watermark_ < kMinMicros + lateness) return watermark_;
  return watermark_ - lateness;
}

bool Aggregate::CarriesOn() const {
  const WindowGrouping& windows = *options_.windows;
  return windows.assigned && windows.spec.function == WindowFunction::kCumulate && !options_.input_retracts &&
         windows.lateness == 0 && windows.early == 0;
}

// Rows from `next` on until there are enough for a step.
Status Aggregate::AssignTimes(const Batch& batch, size_t& next) {
  selection_.clear();
  ends_.clear();
  const WindowGrouping& windows = *options_.windows;
  const Column& times = batch.column(static_cast<size_t>(windows.time));
  const Column* condition = windows.condition < 0 ? nullptr : &batch.column(static_cast<size_t>(windows.condition));
  const auto values = times.ints();
  const Micros closed = ClosedUntil();
  for (; next < batch.rows() && selection_.size() < kBatchRows; ++next) {
    if (times.IsNull(next)) {
      context().metrics->null_event_time += RowsIn(batch, next);
      continue;
    }
    WEIR_TRY(CheckWindowTime(values[next]));
    const Micros last = windows.spec.LastEnd(values[next]);
    if (last == kMinMicros) continue;  // between two windows
    if (last <= closed) {
      NoteLate(batch, next);
    } else if (FilterPasses(condition, next)) {
      AssignRow(static_cast<uint32_t>(next), values[next], closed);
    }
  }
  return {};
}

void Aggregate::AssignRow(uint32_t row, Micros time, Micros closed) {
  const WindowSpec& spec = options_.windows->spec;
  const Micros last = spec.LastEnd(time);
  if (slices_) {
    const Micros rest = time % SliceLength();
    selection_.push_back(row);
    ends_.push_back(time - rest + (rest < 0 ? 0 : SliceLength()));
    return;
  }
  if (CarriesOn()) {
    selection_.push_back(row);
    ends_.push_back(last - (last - std::max(time, closed) - 1) / spec.slide * spec.slide);
    return;
  }
  for (Micros end = last; end > time && end > closed; end -= spec.slide) {
    selection_.push_back(row);
    ends_.push_back(end);
  }
}

void Aggregate::AssignGiven(const Batch& batch) {
  selection_.clear();
  ends_.clear();
  const auto column = options_.group_columns[static_cast<size_t>(options_.windows->end_group)];
  const Column& ends = batch.column(static_cast<size_t>(column));
  const auto values = ends.ints();
  const Micros closed = ClosedUntil();
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (ends.IsNull(row)) {
      context().metrics->null_event_time += RowsIn(batch, row);
    } else if (values[row] <= closed) {
      context().metrics->late_rows += RowsIn(batch, row);
    } else {
      selection_.push_back(static_cast<uint32_t>(row));
      ends_.push_back(values[row]);
    }
  }
}

void Aggregate::NoteLate(const Batch& batch, size_t row) {
  context().metrics->late_rows += RowsIn(batch, row);
  if (!options_.late_columns.empty()) late_.push_back(static_cast<uint32_t>(row));
}

// The batch has been taken whole: what was late in it goes to who takes late rows.
void Aggregate::KeepLateRows(const Batch& batch) {
  if (late_.empty()) return;
  const Batch rows = batch.Gather(late_);
  std::vector<ColumnPtr> columns;
  for (const int column : options_.late_columns) columns.push_back(rows.columns()[static_cast<size_t>(column)]);
  late_rows_ = Batch(options_.late_schema, std::move(columns), rows.rows());
  late_.clear();
}

// The window's end before each key, and the hashes with it.
void Aggregate::PrefixKeys() {
  const size_t rows = ends_.size();
  keys_.offsets.resize(rows + 1);
  keys_.offsets[0] = 0;
  keys_.bytes.resize(plain_keys_.bytes.size() + rows * sizeof(Micros));
  char* at = keys_.bytes.data();
  column_hashes_ = hashes_;
  for (size_t row = 0; row < rows; ++row) {
    const std::string_view key = plain_keys_.row(row);
    StoreAt(at, ends_[row]);
    std::memcpy(at + sizeof(Micros), key.data(), key.size());
    at += sizeof(Micros) + key.size();
    keys_.offsets[row + 1] = static_cast<uint32_t>(at - keys_.bytes.data());
    hashes_[row] = WindowHash(hashes_[row], ends_[row]);
  }
}

void Aggregate::NewWindowPart(Ref ref, uint64_t column_hash, Micros start, Micros end) {
  WindowPart part;
  part.start = start;
  part.end = end;
  part.hash = column_hash;
  open_.Store(state_.At(ref)->payload(), part);
  open_.Add(ref);
}

}  // namespace weir
