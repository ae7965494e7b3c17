// The aggregate's operator, private to this folder.
//
// A batch is aggregated in these steps:
//
//   1. Find      the group of each row, once a row; the first touch of a group in the batch keeps its bytes of before.
//   2. Sign      each row counts +1 or -1 in its group's number of rows; a retraction from an empty group is dropped.
//   3. Update    each call adds the batch's values, a column at a time; value sets tell their calls about new values.
//   4. Emit      the results of before and after are made into columns and compared: one net change a group.
//
// A group's record: i64 rows, [u64 id], the accumulators, the value sets' lists, the key, the texts of MIN and MAX.
//
// Steps 1 to 3 are in update.cc, 4 in emit.cc, the plan of a record in aggregate_plan.cc, the rest in aggregate.cc.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/state/key_index.h"
#include "operators/aggregate/aggregate.h"
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
  size_t fixed = sizeof(int64_t);  // bytes before the key
  int texts = 0;
};

// Parts of the state: the groups, then one a value set, then one a call state.
std::vector<KeyedState::Part> AggregateStateParts(const AggregateOptions& options);

// One task's aggregate; the steps are in files of their own.
class Aggregate final : public Operator {
 public:
  explicit Aggregate(const AggregateOptions& options)
      : options_(options),
        state_("aggregate", AggregateStateParts(options), false, options.state),
        plan_(options_, &state_),
        index_(&state_.arena(), plan_.fixed, KeyIndex::KeySize::kInCount) {
    std::vector<DataType> types;
    for (const int column : options_.group_columns)
      types.push_back((*options_.input)[static_cast<size_t>(column)].type);
    key_codec_ = RowCodec(types, RowCodec::Form::kKey);
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return state_.Open(context);
  }
  Result<Progress> Process(int, const Batch& batch, Output& out) override;
  Status OnWatermark(Micros, Output& out) override { return EmitGlobal(out); }
  Status OnBarrier(Output& out) override { return EmitGlobal(out); }
  Result<Progress> OnEnd(Output& out) override {
    WEIR_TRY(EmitGlobal(out));
    return Progress::kDone;
  }
  Status Snapshot(SnapshotWriter& writer) override {
    for (const auto& state : plan_.states) state->BeforeSnapshot();
    state_.Snapshot(writer);
    return {};
  }
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

  bool global() const { return options_.group_columns.empty(); }
  Status EmitGlobal(Output& out);
  Status Begin(const Batch& batch);
  void FindGroups(const Batch& batch);
  uint32_t Touch(uint64_t hash, std::string_view key);
  void SignRows(const Batch& batch);
  Status Update(const Batch& batch);
  void UpdateTexts(const Batch& batch, const Accumulator& accumulator);
  void StoreTexts();
  std::string_view TextOf(const char* group, size_t key_size, const Accumulator& accumulator) const;
  Status Emit(Output& out);
  Status MakeResults(std::vector<std::shared_ptr<Column>>& columns);
  Status AppendCall(const Accumulator& accumulator, Column& out) const;
  Status KeepResultsOfBefore();
  void EmitRows(std::vector<std::shared_ptr<Column>>& columns, Output& out);
  void DropEmptyGroups();
  void SweepExpired();
  int64_t IndexBytes() const;

  struct RestoredFile {
    std::vector<std::string> groups;
    std::vector<std::pair<uint8_t, std::string>> values;
    std::unordered_map<uint64_t, Ref> by_id;
    bool filter = false;
  };
  Status RestoreGroups(RestoredFile& file);
  Status RestoreValues(const RestoredFile& file);

  AggregateOptions options_;
  KeyedState state_;
  AggregatePlan plan_;
  KeyIndex index_;
  RowCodec key_codec_;
  uint64_t next_id_ = 1;
  uint64_t sweep_position_ = 0;

  // --- the batch being processed
  std::vector<uint64_t> hashes_;
  EncodedRows keys_;
  std::vector<uint32_t> touched_of_row_;
  std::vector<Touched> touched_;
  std::string before_;         // records of before: u32 key size, then the payload, padded to 8 bytes
  std::vector<char*> groups_;  // by row
  std::vector<int8_t> signs_;
  std::vector<Text> texts_;  // touched x texts
  std::vector<Column> of_before_;  // by call state: the results of before, by touched group
  // Rows of results: payload, key size and touched group of each; an update has two.
  std::vector<const char*> result_groups_;
  std::vector<uint32_t> result_key_sizes_;
  std::vector<uint32_t> result_touched_;
  std::vector<RowKind> result_kinds_;
};

}  // namespace weir
