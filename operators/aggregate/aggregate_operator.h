// The aggregate's operator, private to this folder.
//
// A batch is aggregated in these steps:
//
//   0. Assign    groups of windows: which rows are on time, and in which windows (assign.cc); sessions have their own way
//                to step 2 (session.cc).
//   1. Find      the group of each row, once a row; the first touch of a group in the batch keeps its bytes of before.
//   2. Sign      each row counts +1 or -1 in its group's number of rows; a retraction from an empty group is dropped.
//   3. Update    each call adds the batch's values, a column at a time; value sets tell their calls about new values.
//   4. Emit      the results of before and after are made into columns and compared: one net change a group.
//
// A group's record: i64 rows, [u64 id], [WindowPart], the accumulators, the value sets' lists, the key, the texts of MIN
// and MAX.  The key of a group whose window is assigned begins with the window's end (sessions: not).
//
// In two phases the rows are partial results (partial.h): step 2 adds as many rows as one is of, step 3 merges.
//
// Steps 1 to 3 are in update.cc and merge_partials.cc, 4 in emit.cc, the plan of a record in aggregate_plan.cc, restore in restore.cc, the end
// of windows and what makes one group of two in close.cc, the rest in aggregate.cc.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/runtime/late_rows.h"
#include "engine/runtime/timed_operator.h"
#include "engine/state/key_index.h"
#include "operators/aggregate/aggregate.h"
#include "operators/aggregate/open_windows.h"
#include "operators/aggregate/session_index.h"
#include "operators/aggregate/value_set.h"

namespace weir {

// Rows in a group, from its record.
inline int64_t RowsOf(const char* group) { return LoadAt<int64_t>(group); }

// One accumulator a call, and the sets that feed some of them.  Decides where everything lies in a group's record.
struct AggregatePlan {
  AggregatePlan(const AggregateOptions& options, KeyedState* state);

  std::vector<Accumulator> accumulators;
  std::vector<std::unique_ptr<ValueSet>> sets;
  std::vector<std::unique_ptr<CallState>> states;

  // Groups have ids, by which values outside of their records name them.
  bool HasIds() const { return !sets.empty() || !states.empty(); }
  // Null where the accumulator has none.
  CallState* StateOf(const Accumulator& accumulator) const {
    return accumulator.state < 0 ? nullptr : states[static_cast<size_t>(accumulator.state)].get();
  }
  size_t id_offset = 0;
  size_t window_offset = 0;  // of the WindowPart
  uint8_t watermark_part = 0;  // of the state, with windows
  uint8_t session_part = 0;    // the same; not saved
  uint8_t slice_part = 0;      // groups of a window put together of its slices; not saved
  size_t fixed = sizeof(int64_t);  // bytes before the key
  int texts = 0;
  size_t partial_fixed = 0;  // bytes of a partial result before its texts
};

// Parts of the state: the groups, then one a value set, then one a call state.
std::vector<KeyedState::Part> AggregateStateParts(const AggregateOptions& options);

inline Status CheckWindowTime(Micros time) {
  if (time > -kMaxWindowTime && time < kMaxWindowTime) return {};
  return DataError("a time is too far from 1970 for a window");
}

// One task's aggregate; the steps are in files of their own.
class Aggregate final : public Operator, public TimedOperator, public LateRowsOperator {
 public:
  explicit Aggregate(const AggregateOptions& options)
      : options_(options),
        state_("aggregate", AggregateStateParts(options), false, options.state),
        plan_(options_, &state_),
        index_(&state_.arena(), plan_.fixed, KeyIndex::KeySize::kInCount),
        open_(&state_, plan_.window_offset) {
    std::vector<DataType> types;
    for (const int column : options_.group_columns)
      types.push_back((*options_.input)[static_cast<size_t>(column)].type);
    key_codec_ = RowCodec(types, RowCodec::Form::kKey);
    slices_ = CanSlice();
    if (sessions()) session_index_ = std::make_unique<SessionIndex>(&state_, plan_.session_part);
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return state_.Open(context);
  }
  Result<Progress> Process(int, const Batch& batch, Output& out) override;
  Status OnWatermark(Micros watermark, Output& out) override;
  Status OnBarrier(Output& out) override {
    WEIR_TRY(EmitEarly(out));
    return EmitGlobal(out);
  }
  Result<Progress> OnEnd(Output& out) override {
    WEIR_TRY(EmitEarly(out));
    WEIR_TRY(EmitGlobal(out));
    return Progress::kDone;
  }
  Batch TakeLateRows() override { return std::exchange(late_rows_, {}); }
  Micros NextTimer() const override { return early_at_; }
  Status OnTimer(Micros, Output& out) override { return EmitEarly(out); }
  Status Snapshot(SnapshotWriter& writer) override;
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override { return state_.Sizes(); }

 private:
  static constexpr uint8_t kGroupPart = 1;  // of the state; value sets have the parts behind it

  struct Touched {
    Ref ref = 0;
    uint64_t hash = 0;
    uint32_t before = kNew;  // place of the bytes of before; kNew: there was no such group
    static constexpr uint32_t kNew = UINT32_MAX;
  };
  struct Text {
    bool changed = false;
    bool present = false;
    std::string_view value;  // in the group's record or in the batch
  };

  bool global() const { return options_.group_columns.empty() && !options_.windows; }
  bool assigned() const { return options_.windows && options_.windows->assigned; }
  bool sessions() const { return assigned() && options_.windows->spec.function == WindowFunction::kSession; }
  // Bytes of a key before the group columns.
  size_t key_prefix() const { return assigned() && !sessions() ? sizeof(Micros) : 0; }
  const char* GroupColumnsOf(Ref group) const { return state_.At(group)->payload() + plan_.fixed + key_prefix(); }

  // --- windows
  // A window has given its results when the watermark has reached its end, and takes no more rows `lateness` behind.
  bool HasEnded(Micros end) const { return end <= watermark_ && !slices_; }
  bool early() const { return options_.windows && options_.windows->early > 0; }
  // A group of a window has results outside, or gives them now.
  bool IsShown(Micros end) const { return early() || HasEnded(end); }
  Micros ClosedUntil() const;
  // Rows of a CUMULATE go into the first of their windows that is open; the groups of that one go on to the next.
  bool CarriesOn() const;
  // Overlapping windows of HOP share slices: a row goes into one group a slice, and a window's groups are made of its
  // slices' when it ends.
  bool CanSlice() const;
  Micros SliceLength() const;
  Status CloseSlices(Micros watermark, Output& out);
  Micros NextWindowEnd(Micros after) const;
  Status EmitSlices(Micros end, Output& out);
  // Rows that a row of the input is of: with partial results as many as were folded.
  int64_t RowsIn(const Batch& batch, size_t row) const;
  Status AssignTimes(const Batch& batch, size_t& next);
  void AssignGiven(const Batch& batch);
  void NoteLate(const Batch& batch, size_t row);
  void KeepLateRows(const Batch& batch);
  void AssignRow(uint32_t row, Micros time, Micros closed);
  Status ProcessRows(const Batch& batch, Output& out);
  // Early results: groups stay touched until it is time, or until they are many.
  Status EmitOrWait(Output& out);
  Status EmitEarly(Output& out);
  Status ProcessSessions(const Batch& batch, Output& out);
  void FindSessions(size_t row, Micros time);
  uint32_t TouchSession(Ref session);
  Result<uint32_t> TakeIntoSession(size_t row, Micros time);
  void PrefixKeys();
  void NewWindowPart(Ref ref, uint64_t column_hash, Micros start, Micros end);
  Status CloseUntil(Micros watermark, Output& out);
  Status EmitUntil(Micros watermark, Output& out);
  void RelistGrown(std::vector<Ref>& groups);
  Status EmitWindow(const std::vector<Ref>& groups, Output& out);
  Status CarryOn(Ref group, Micros end);
  uint64_t IndexHash(const WindowPart& part) const;
  void Relink(Ref from, Ref to);
  void RelinkIndex(Ref from, Ref to);
  void DropGroup(Ref group);
  Status MergeGroups(Ref& to, Ref from);
  void MergeTexts(Ref& to, Ref from);
  Status EmitGlobal(Output& out);
  Status Begin(const Batch& batch);
  void FindGroups(const Batch& batch);
  uint32_t Touch(uint64_t hash, std::string_view key, size_t row);
  uint32_t NoteTouched(Ref ref, uint64_t hash, uint32_t before);
  uint32_t KeepBefore(Ref ref);
  Ref NewGroup(std::string_view key);
  void SignRows(const Batch& batch);
  Status Update(const Batch& batch);
  // The same two steps for partial results (merge_partials.cc).
  void SignPartials(const Batch& batch);
  Status UpdateFromPartials();
  void ReadTexts(const Accumulator& accumulator);
  void TakeTexts(const Accumulator& accumulator);
  void UpdateTexts(const Batch& batch, const Accumulator& accumulator);
  void StoreTexts();
  Ref StoreTextsOf(Ref group, std::span<const Text> texts);
  std::string_view TextOf(const char* group, size_t key_size, const Accumulator& accumulator) const;
  Status Emit(Output& out);
  Status MakeResults(std::vector<std::shared_ptr<Column>>& columns);
  Status AppendCall(const Accumulator& accumulator, Column& out) const;
  void KeepResultsOfBefore(Ref ref, uint32_t before);
  void EmitRows(std::vector<std::shared_ptr<Column>>& columns, Output& out);
  void ClearResults();
  void AddResult(const char* group, uint32_t key_size, size_t touched, RowKind kind);
  void DropEmptyGroups();
  void SweepExpired();
  int64_t IndexBytes() const;

  // restore.cc
  struct RestoredFile {
    std::vector<std::string> groups;
    std::vector<std::pair<uint8_t, std::string>> values;
    std::unordered_map<uint64_t, Ref> by_id;
    bool filter = false;
  };
  Status RestoreGroups(RestoredFile& file);
  Ref RestoreGroup(std::string_view payload, size_t row);
  Status RestoreValues(const RestoredFile& file);

  AggregateOptions options_;
  KeyedState state_;
  AggregatePlan plan_;
  KeyIndex index_;
  RowCodec key_codec_;
  uint64_t next_id_ = 1;
  uint64_t sweep_position_ = 0;

  // --- windows
  OpenWindows open_;
  Micros watermark_ = kMinMicros;
  bool slices_ = false;
  Micros early_at_ = kMaxMicros;  // when the touched groups give their results, monotonic; kMaxMicros: none waits
  Ref watermark_record_ = 0;
  std::vector<uint32_t> selection_;  // rows of the batch that count, a row once for each of its windows
  std::vector<Micros> ends_;         // of the window, by row
  std::vector<uint32_t> late_;       // rows of the batch that are late, where they are taken
  Batch late_rows_;
  EncodedRows plain_keys_;           // without the window
  std::vector<uint64_t> column_hashes_;  // the same
  std::unique_ptr<SessionIndex> session_index_;
  std::vector<Ref> sessions_;      // of the row
  std::vector<uint32_t> part_of_;  // by touched session: the one that it has become a part of, or itself

  // --- the batch being processed
  std::vector<uint64_t> hashes_;
  EncodedRows keys_;
  std::vector<uint32_t> touched_of_row_;
  std::vector<Touched> touched_;
  std::string before_;         // records of before: u32 key size, then the payload, padded to 8 bytes
  std::vector<char*> groups_;  // by row
  std::vector<int8_t> signs_;
  std::vector<const char*> partials_;      // by row, in two phases: where they begin
  std::vector<const char*> partial_rests_;  // behind what has been read of them
  std::vector<Text> texts_;  // touched x texts
  std::vector<Column> of_before_;  // by call state: the results of before, by touched group
  Status before_failed_;           // what one of them could not be made for
  // Rows of results: payload, key size and touched group of each; an update has two.
  std::vector<const char*> result_groups_;
  std::vector<uint32_t> result_key_sizes_;
  std::vector<uint32_t> result_touched_;
  std::vector<RowKind> result_kinds_;
};

}  // namespace weir
