#include "operators/aggregate/aggregate.h"

#include <algorithm>

#include "operators/aggregate/aggregate_operator.h"

namespace weir {

namespace {

constexpr size_t kWaitingGroups = 65536;  // that wait for their early results at most
constexpr size_t kSweepSlots = 2048;  // index slots a batch that the time to live looks at

}  // namespace

int64_t Aggregate::IndexBytes() const {
  int64_t bytes = index_.bytes() + open_.bytes() + (session_index_ ? session_index_->bytes() : 0);
  for (const auto& set : plan_.sets) bytes += set->index_bytes();
  for (const auto& state : plan_.states) bytes += state->bytes();
  return bytes;
}

Status Aggregate::Begin(const Batch& batch) {
  HashRows(batch, options_.group_columns, hashes_);
  key_codec_.Encode(batch, options_.group_columns, key_prefix() > 0 ? plain_keys_ : keys_);
  if (key_prefix() > 0) PrefixKeys();
  const auto bytes = static_cast<int64_t>(keys_.bytes.size() + batch.rows() * (plan_.fixed + 64) + batch.ByteSize());
  WEIR_TRY(state_.BeginBatch(IndexBytes(), bytes));
  if (early_at_ != kMaxMicros) return {};  // those of earlier batches wait
  if (state_.has_ttl() && !global() && !options_.windows) SweepExpired();
  touched_.clear();
  before_.clear();
  of_before_.clear();
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.state >= 0) of_before_.emplace_back(accumulator.call.type);
  }
  for (const auto& state : plan_.states) state->BeginBatch();
  return {};
}

void Aggregate::SweepExpired() {
  index_.Sweep(sweep_position_, kSweepSlots, [&](Ref ref) {
    // The values of a group with sets outlive it: such groups stay until their rows are retracted.
    if (plan_.HasIds() || !state_.Expired(*state_.At(ref))) return false;
    state_.Free(ref);
    return true;
  });
}

Result<Progress> Aggregate::Process(int, const Batch& batch, Output& out) {
  if (batch.rows() == 0) return Progress::kDone;
  if (sessions()) {
    WEIR_TRY(ProcessSessions(batch, out));
  } else if (assigned()) {
    // A row can be in many windows: a part of the batch at a time.
    for (size_t next = 0; next < batch.rows();) {
      WEIR_TRY(AssignTimes(batch, next));
      if (!selection_.empty()) WEIR_TRY(ProcessRows(batch.Gather(selection_), out));
    }
  } else if (options_.windows) {
    AssignGiven(batch);
    if (!selection_.empty()) {
      WEIR_TRY(ProcessRows(selection_.size() == batch.rows() ? batch : batch.Gather(selection_), out));
    }
  } else {
    WEIR_TRY(ProcessRows(batch, out));
  }
  KeepLateRows(batch);
  return Progress::kDone;
}

Status Aggregate::ProcessRows(const Batch& batch, Output& out) {
  WEIR_TRY(Begin(batch));
  FindGroups(batch);
  if (options_.partial >= 0) {
    SignPartials(batch);
    WEIR_TRY(UpdateFromPartials());
  } else {
    SignRows(batch);
    WEIR_TRY(Update(batch));
  }
  return EmitOrWait(out);
}

Status Aggregate::EmitOrWait(Output& out) {
  // Results of before can name values of sets and states, which are good until the next batch alone; sessions move.
  const bool waits = early() && !plan_.HasIds() && !sessions() && touched_.size() < kWaitingGroups;
  if (waits) {
    const Micros now = context().clock == nullptr ? 0 : context().clock->Monotonic();
    if (early_at_ == kMaxMicros) early_at_ = now + options_.windows->early;
    if (now < early_at_) return {};
  }
  early_at_ = kMaxMicros;
  WEIR_TRY(Emit(out));
  DropEmptyGroups();
  return {};
}

Status Aggregate::EmitEarly(Output& out) {
  if (early_at_ == kMaxMicros) return {};
  early_at_ = kMaxMicros;
  WEIR_TRY(Emit(out));
  DropEmptyGroups();
  touched_.clear();
  before_.clear();
  return {};
}

Status Aggregate::Snapshot(SnapshotWriter& writer) {
  if (options_.windows) {
    if (watermark_record_ != 0) state_.Free(watermark_record_);
    watermark_record_ = state_.Allocate(plan_.watermark_part, sizeof watermark_);
    state_.At(watermark_record_)->next = 0;
    StoreAt(state_.At(watermark_record_)->payload(), watermark_);
  }
  for (const auto& state : plan_.states) state->BeforeSnapshot();
  state_.Snapshot(writer);
  return {};
}

Result<std::unique_ptr<Operator>> MakeAggregate(const AggregateOptions& options) {
  const bool assigned = options.windows && options.windows->assigned;
  if (options.schema->size() != options.group_columns.size() + options.calls.size() + (assigned ? kWindowColumns : 0)) {
    return PlanError("an aggregate has its group columns and one column a call");
  }
  if (!options.late_columns.empty() && (!assigned || options.input_retracts)) {
    return PlanError("late rows are those of assigned windows over append-only input");
  }
  for (const AggregateCall& call : options.calls) {
    if (call.argument < 0 && call.function != AggregateFunction::kCountStar) {
      return PlanError("an aggregate function needs an argument");
    }
  }
  // Each argument's values are a part of the state of their own.
  if (AggregateStateParts(options).size() > KeyedState::kMaxParts) {
    return PlanError("an aggregate has more than " + std::to_string(KeyedState::kMaxParts - 1) +
                     " calls with lists, bitmaps or sets of values: split it in two queries");
  }
  return std::unique_ptr<Operator>(std::make_unique<Aggregate>(options));
}

}  // namespace weir
