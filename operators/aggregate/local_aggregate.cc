// A batch is folded in these steps:
//
//   1. Key     the group columns, the slice of the row's time and the condition; a sign a row.
//   2. Find    the group of each row among those that are held, by hash and value.  Two groups of one key would be no
//              error: the second phase adds up what it gets.
//   3. Update  the partial results, with the accumulators of the aggregate itself.
//   4. Flush   one row a group, unless it may be held.

#include "operators/aggregate/local_aggregate.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

#include "engine/data/hash.h"
#include "engine/data/same_value.h"
#include "engine/runtime/timed_operator.h"
#include "operators/aggregate/local_values.h"
#include "operators/aggregate/partial.h"

namespace weir {
namespace {

constexpr int64_t kSample = 16384;         // rows that are folded before it is decided
constexpr int64_t kPassed = 32 * kSample;  // rows until the next sample
constexpr int64_t kWorth = 3;              // of so many rows one comes out, where folding pays
constexpr size_t kFirstSlots = 1024;
constexpr size_t kHeldBytes = 1 << 20;  // of keys and values, before they go

class LocalAggregate final : public Operator, public TimedOperator {
 public:
  explicit LocalAggregate(const LocalAggregateOptions& options);

  Result<Progress> Process(int, const Batch& batch, Output& out) override;
  Status OnWatermark(Micros, Output& out) override { return Flush(out); }
  Status OnBarrier(Output& out) override { return Flush(out); }
  Result<Progress> OnEnd(Output& out) override {
    WEIR_TRY(Flush(out));
    return Progress::kDone;
  }
  Micros NextTimer() const override { return flush_at_; }
  Status OnTimer(Micros, Output& out) override { return Flush(out); }

 private:
  struct Text {
    bool present = false;
    std::string value;
  };

  bool assigned() const { return options_.windows && options_.windows->assigned; }

  Status MakeKeys(const Batch& batch);
  Result<ColumnPtr> SlicesOf(const ColumnPtr& times) const;
  void SignRows(const Batch& batch);
  void FindGroups();
  uint32_t FindOrAdd(uint64_t hash, size_t row);
  bool HasKey(size_t group, size_t row);
  void GrowSlots();
  Status Update(const Batch& batch, bool look);
  void UpdateTexts(const Batch& batch, const Accumulator& accumulator);
  Status Fold(const Batch& batch, Output& out);
  Status PassOn(const Batch& batch, Output& out);
  Status FlushOrHold(Output& out);
  Status Flush(Output& out);
  void Emit(std::vector<ColumnPtr> columns, Output& out);
  ColumnPtr MakePartials();
  bool IsNothing(size_t group) const;
  void NoteFolding();
  void Clear();

  LocalAggregateOptions options_;
  std::vector<Accumulator> accumulators_;
  std::vector<std::unique_ptr<LocalValues>> values_;
  size_t texts_a_group_ = 0;
  size_t fixed_ = 0;      // bytes of a partial result before its texts
  Micros slice_ = 0;      // windows are assigned: all of them have such a slice of time in whole or not at all
  bool may_hold_ = false;  // beyond the batch
  SchemaPtr key_schema_;
  std::vector<int> key_columns_;  // of key_schema_: all

  // --- the batch
  Batch keys_;
  std::vector<uint64_t> hashes_;
  std::vector<int8_t> signs_;         // of rows that count
  std::vector<uint32_t> group_of_;    // by row
  std::vector<char*> groups_;         // the same

  // --- what is held
  size_t held_groups_ = 0;
  int64_t held_rows_ = 0;
  Micros flush_at_ = kMaxMicros;
  BatchBuilder held_keys_;            // by group
  std::vector<uint64_t> group_hashes_;
  std::vector<uint32_t> slots_;       // a group's number and one; 0: free
  std::vector<char> partials_;        // by group, fixed_ bytes each
  std::vector<Text> texts_;           // groups x texts_a_group_
  size_t text_bytes_ = 0;             // that were put into them

  // --- whether it pays
  int64_t sampled_ = 0;     // rows, and the values of each
  int64_t came_out_ = 0;    // groups, and the values of each
  int64_t unfolded_ = 0;  // rows that are still to pass
};

// The output without the partial result.
SchemaPtr KeySchema(const Schema& schema) {
  std::vector<Field> fields = schema.fields();
  fields.pop_back();
  return std::make_shared<const Schema>(std::move(fields));
}

bool IsInexact(const Accumulator& accumulator) {
  return accumulator.form == Accumulator::Form::kSumDouble || accumulator.form == Accumulator::Form::kVarianceDouble;
}

LocalAggregate::LocalAggregate(const LocalAggregateOptions& options)
    : options_(options), key_schema_(KeySchema(*options.schema)), held_keys_(key_schema_) {
  for (const AggregateCall& call : options_.calls) {
    Accumulator made = Accumulator::Make(call, *options_.input, options_.input_retracts);
    if (made.form == Accumulator::Form::kExtremeText) made.text = static_cast<int>(texts_a_group_++);
    if (NeedsSet(made)) {
      size_t i = 0;
      while (i < values_.size() && values_[i]->argument() != call.argument) ++i;
      if (i == values_.size()) {
        values_.push_back(std::make_unique<LocalValues>(call.argument, made.argument, options_.input_retracts));
      }
      values_[i]->AddFilter(call.filter);
      made.value_set = static_cast<int>(i);
    }
    accumulators_.push_back(std::move(made));
  }
  fixed_ = PlacePartials(accumulators_, options_.windows.has_value());
  for (Accumulator& accumulator : accumulators_) accumulator.offset = accumulator.partial_offset;
  if (assigned()) slice_ = std::gcd(options_.windows->spec.size, options_.windows->spec.slide);
  key_columns_.resize(key_schema_->size());
  std::iota(key_columns_.begin(), key_columns_.end(), 0);
  // A sum of doubles that leaves their range is computed again row by row, which rows of earlier batches could not be.
  may_hold_ = options_.mini_batch.allow_latency > 0 &&
              std::none_of(accumulators_.begin(), accumulators_.end(), IsInexact);
}

// --- 1. Key

Result<ColumnPtr> LocalAggregate::SlicesOf(const ColumnPtr& times) const {
  auto slices = std::make_shared<Column>(times->type());
  slices->Resize(times->size());
  int64_t* out = slices->mutable_ints();
  const auto values = times->ints();
  Micros start = 0;
  for (size_t row = 0; row < values.size(); ++row) {
    const Micros time = values[row];
    if (time < start || time - start >= slice_) {
      if (!times->IsNull(row) && (time <= -kMaxWindowTime || time >= kMaxWindowTime)) {
        return DataError("a time is too far from 1970 for a window");
      }
      const Micros rest = time % slice_;
      start = time - rest - (rest < 0 ? slice_ : 0);
    }
    out[row] = start;
    if (times->IsNull(row)) slices->SetNull(row);
  }
  return ColumnPtr(std::move(slices));
}

Status LocalAggregate::MakeKeys(const Batch& batch) {
  std::vector<ColumnPtr> columns;
  for (const int column : options_.group_columns) columns.push_back(batch.columns()[static_cast<size_t>(column)]);
  if (assigned()) {
    WEIR_ASSIGN(ColumnPtr slices, SlicesOf(batch.columns()[static_cast<size_t>(options_.windows->time)]));
    columns.push_back(std::move(slices));
    if (options_.windows->condition >= 0) {
      columns.push_back(batch.columns()[static_cast<size_t>(options_.windows->condition)]);
    }
  }
  keys_ = Batch(key_schema_, std::move(columns), batch.rows());
  return {};
}

// Rows that do not count are folded by themselves: they can be late.
void LocalAggregate::SignRows(const Batch& batch) {
  const Column* condition = !assigned() || options_.windows->condition < 0
                                ? nullptr
                                : &batch.column(static_cast<size_t>(options_.windows->condition));
  signs_.assign(batch.rows(), 1);
  if (batch.insert_only() && condition == nullptr) return;
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (!IsAdd(batch.kind(row))) signs_[row] = -1;
    if (!FilterPasses(condition, row)) signs_[row] = 0;
  }
}

// --- 2. Find

void LocalAggregate::FindGroups() {
  HashRows(keys_, key_columns_, hashes_);
  const size_t rows = hashes_.size();
  group_of_.resize(rows);
  for (size_t row = 0; row < rows; ++row) {
    // Rows of one group often come one after the other.
    const bool again = row > 0 && hashes_[row] == hashes_[row - 1] && HasKey(group_of_[row - 1], row);
    group_of_[row] = again ? group_of_[row - 1] : FindOrAdd(hashes_[row], row);
  }
}

bool LocalAggregate::HasKey(size_t group, size_t row) {
  for (size_t i = 0; i < key_columns_.size(); ++i) {
    if (!SameValue(held_keys_.column(i), group, keys_.column(i), row)) return false;
  }
  return true;
}

uint32_t LocalAggregate::FindOrAdd(uint64_t hash, size_t row) {
  if (slots_.size() < 2 * (held_groups_ + 1)) GrowSlots();
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    if (slots_[at] == 0) {
      slots_[at] = static_cast<uint32_t>(held_groups_) + 1;
      group_hashes_.push_back(hash);
      for (size_t i = 0; i < key_columns_.size(); ++i) held_keys_.column(i).AppendFrom(keys_.column(i), row);
      held_keys_.FinishRow(RowKind::kInsert);
      return static_cast<uint32_t>(held_groups_++);
    }
    const uint32_t group = slots_[at] - 1;
    if (group_hashes_[group] == hash && HasKey(group, row)) return group;
  }
}

void LocalAggregate::GrowSlots() {
  slots_.assign(std::max(kFirstSlots, 2 * slots_.size()), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t group = 0; group < held_groups_; ++group) {
    size_t at = group_hashes_[group] & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<uint32_t>(group) + 1;
  }
}

// --- 3. Update

Status LocalAggregate::Update(const Batch& batch, bool look) {
  const size_t rows = batch.rows();
  partials_.resize(held_groups_ * fixed_, 0);
  if (texts_.size() < held_groups_ * texts_a_group_) texts_.resize(held_groups_ * texts_a_group_);
  groups_.resize(rows);
  for (size_t row = 0; row < rows; ++row) {
    char* group = partials_.data() + group_of_[row] * fixed_;
    groups_[row] = group;
    StoreAt<int64_t>(group, LoadAt<int64_t>(group) + signs_[row]);
  }
  if (options_.windows) {
    for (char* group : groups_) StoreAt(group + kPartialChanges, LoadAt<int64_t>(group + kPartialChanges) + 1);
  }
  for (const Accumulator& accumulator : accumulators_) {
    if (accumulator.FromSet() || accumulator.form == Accumulator::Form::kRows) continue;
    if (accumulator.form == Accumulator::Form::kExtremeText) {
      UpdateTexts(batch, accumulator);
    } else {
      WEIR_TRY(accumulator.Update(batch, signs_, groups_));
    }
  }
  for (const auto& values : values_) {
    values->Grow(held_groups_);
    values->Update(batch, signs_, group_of_, look);
  }
  return {};
}

void LocalAggregate::UpdateTexts(const Batch& batch, const Accumulator& accumulator) {
  const Column& column = batch.column(static_cast<size_t>(accumulator.call.argument));
  const Column* filter = FilterColumn(batch, accumulator.call);
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (signs_[row] == 0 || column.IsNull(row) || !FilterPasses(filter, row)) continue;
    Text& text = texts_[group_of_[row] * texts_a_group_ + static_cast<size_t>(accumulator.text)];
    const std::string_view value = column.text(row);
    if (text.present && !accumulator.Replaces(value, std::string_view(text.value), std::less<std::string_view>())) continue;
    text.present = true;
    text.value.assign(value);
    text_bytes_ += value.size();
  }
}

// --- 4. Flush

Result<Progress> LocalAggregate::Process(int, const Batch& batch, Output& out) {
  if (batch.rows() == 0) return Progress::kDone;
  WEIR_TRY(MakeKeys(batch));
  SignRows(batch);
  if (unfolded_ > 0) {
    unfolded_ -= static_cast<int64_t>(batch.rows());
    WEIR_TRY(PassOn(batch, out));
  } else {
    WEIR_TRY(Fold(batch, out));
  }
  return Progress::kDone;
}

Status LocalAggregate::Fold(const Batch& batch, Output& out) {
  FindGroups();
  held_rows_ += static_cast<int64_t>(batch.rows());
  if (Status updated = Update(batch, true); !updated) {
    if (may_hold_) return updated;
    // A sum that leaves its range here need not do so together with what other tasks have.
    Clear();
    return PassOn(batch, out);
  }
  return FlushOrHold(out);
}

// Each row becomes a partial result of its own.
Status LocalAggregate::PassOn(const Batch& batch, Output& out) {
  WEIR_TRY(Flush(out));
  held_groups_ = batch.rows();
  group_of_.resize(held_groups_);
  std::iota(group_of_.begin(), group_of_.end(), 0U);
  WEIR_TRY(Update(batch, false));
  Emit(keys_.columns(), out);
  Clear();
  return {};
}

Status LocalAggregate::FlushOrHold(Output& out) {
  if (!may_hold_ || held_rows_ >= options_.mini_batch.size || held_groups_ >= kBatchRows) return Flush(out);
  size_t bytes = held_keys_.ByteSize() + text_bytes_;
  for (const auto& values : values_) bytes += values->bytes();
  if (bytes > kHeldBytes) return Flush(out);
  const Micros now = context().clock == nullptr ? 0 : context().clock->Monotonic();
  if (flush_at_ == kMaxMicros) flush_at_ = now + options_.mini_batch.allow_latency;
  return now < flush_at_ ? Status{} : Flush(out);
}

Status LocalAggregate::Flush(Output& out) {
  if (held_groups_ == 0) return {};
  NoteFolding();
  Emit(held_keys_.Build().columns(), out);
  Clear();
  return {};
}

void LocalAggregate::NoteFolding() {
  sampled_ += held_rows_;
  came_out_ += static_cast<int64_t>(held_groups_);
  for (const auto& values : values_) {
    sampled_ += static_cast<int64_t>(values->taken());
    came_out_ += static_cast<int64_t>(values->values());
  }
  if (sampled_ < kSample) return;
  if (came_out_ * kWorth > sampled_) unfolded_ = kPassed;
  sampled_ = came_out_ = 0;
}

// What came has gone again, with all that it had added.
bool LocalAggregate::IsNothing(size_t group) const {
  const char* bytes = partials_.data() + group * fixed_;
  if (!std::all_of(bytes, bytes + fixed_, [](char byte) { return byte == 0; })) return false;
  return std::none_of(values_.begin(), values_.end(), [&](const auto& values) { return values->HasValues(group); });
}

ColumnPtr LocalAggregate::MakePartials() {
  auto column = std::make_shared<Column>(DataType{TypeKind::kBytes});
  if (values_.empty() && texts_a_group_ == 0) {
    column->Resize(held_groups_);
    column->mutable_arena().append(partials_.data(), partials_.size());
    TextRef* texts = column->mutable_texts();
    for (size_t i = 0; i < held_groups_; ++i) texts[i] = {static_cast<uint32_t>(i * fixed_), static_cast<uint32_t>(fixed_)};
    return column;
  }
  std::string bytes;
  for (size_t group = 0; group < held_groups_; ++group) {
    bytes.assign(partials_.data() + group * fixed_, fixed_);
    for (const Accumulator& accumulator : accumulators_) {
      if (accumulator.form != Accumulator::Form::kExtremeText) continue;
      const Text& text = texts_[group * texts_a_group_ + static_cast<size_t>(accumulator.text)];
      if (!text.present) continue;
      StoreAt(bytes.data() + accumulator.partial_offset, static_cast<uint32_t>(text.value.size()));
      StoreAt(bytes.data() + accumulator.partial_offset + sizeof(uint32_t), uint32_t{1});
      bytes += text.value;
    }
    for (const auto& values : values_) values->AppendTo(group, bytes);
    if (!values_.empty()) bytes.append(kRowSlack, '\0');
    column->AppendText(bytes);
  }
  return column;
}

void LocalAggregate::Emit(std::vector<ColumnPtr> columns, Output& out) {
  columns.push_back(MakePartials());
  Batch all(options_.schema, std::move(columns), held_groups_);
  if (options_.input_retracts && !options_.windows) {
    Selection kept;
    for (size_t group = 0; group < held_groups_; ++group) {
      if (!IsNothing(group)) kept.push_back(static_cast<uint32_t>(group));
    }
    if (kept.empty()) return;
    if (kept.size() < held_groups_) all = all.Gather(kept);
  }
  for (size_t from = 0; from < all.rows(); from += kBatchRows) {
    const size_t rows = std::min(kBatchRows, all.rows() - from);
    out.Emit(rows == all.rows() ? all : all.Slice(from, rows));
  }
}

void LocalAggregate::Clear() {
  if (!held_keys_.empty()) held_keys_.Build();
  for (size_t i = 0; i < held_groups_ * texts_a_group_; ++i) texts_[i].present = false;
  held_groups_ = 0;
  held_rows_ = 0;
  text_bytes_ = 0;
  flush_at_ = kMaxMicros;
  group_hashes_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
  partials_.clear();
  for (const auto& values : values_) values->Clear();
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeLocalAggregate(const LocalAggregateOptions& options) {
  return std::unique_ptr<Operator>(std::make_unique<LocalAggregate>(options));
}

}  // namespace weir
