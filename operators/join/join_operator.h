// The join's operator, private to this folder.
//
// How a batch of one input is taken, in chunks of bounded output:
//
//   1. Resolve   each row changes its own side's state and becomes a JoinChange: the row it retracts, the row it adds,
//                and how many rows its key had before and after.
//   2. Collect   the rows of the other side with the same key become candidates, many changes at a time, so that the
//                memory of one is fetched while others are walked.  A change with more candidates than fit goes on in
//                the next chunk.
//   3. Evaluate  the condition, if there is one, over all pairs of the chunk at once.
//   4. Match     change by change and candidate by candidate, decides what is emitted (the table at Match).
//   5. Emit      makes the columns.
//
// Step 1 is in resolve.cc, 2 in collect.cc, 3 to 5 in match.cc, what an interval join forgets in expire.cc, the rest in join.cc.  Where the rows are in tables, the
// groups of a batch are brought into memory before step 1 (RowGroups), and counts of matches, which are not stored, are
// made anew for groups that were read (counts.cc).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/state/key_index.h"
#include "operators/join/join.h"
#include "operators/join/expiry_queue.h"
#include "operators/join/join_output.h"
#include "operators/join/join_side.h"

namespace weir {

// Rows ahead for which the index slot is fetched, and the key's record.
inline constexpr size_t kSlotDistance = 24;
inline constexpr size_t kGroupDistance = 12;
inline constexpr size_t kJoinWindow = 128;  // changes whose candidates are walked side by side
inline constexpr size_t kNoBatchRow = SIZE_MAX;

// One change of a key by a row, or an update pair, of the batch.
struct JoinChange {
  size_t new_row = kNoBatchRow;  // of the batch
  Ref new_ref = 0;               // where it is kept; 0 when it need not be
  Ref old_ref = 0;               // the kept row that goes; freed with the change
  ListHead others;               // the other side's rows of the key; none for a NULL key
  uint32_t own_before = 0;       // rows of the key on this side, before and after this change
  uint32_t own_after = 0;
  uint32_t wanted = 0;  // candidates in all
  uint32_t taken = 0;   // candidates of this chunk and earlier ones
  uint32_t first = 0;   // this chunk's candidates: [first, first + count)
  uint32_t count = 0;
  uint32_t old_number = 0;  // of the old row in this chunk
  uint32_t old_matches = 0;
  uint32_t new_matches = 0;
  bool started = false;
  bool old_null_gone = false;  // the NULL-extended old row has been retracted

  bool has_new() const { return new_row != kNoBatchRow; }
  bool has_old() const { return old_ref != 0; }
};

// The join in one task; the steps are in files of their own.
class Join final : public Operator {
 public:
  explicit Join(const JoinOptions& options)
      : options_(options),
        semi_(options.type == JoinType::kSemi),
        anti_(options.type == JoinType::kAnti),
        state_("join", {{"left"}, {"right"}, {"keys", false}}, options.condition != nullptr, options.state),
        index_(&state_.arena(), sizeof(RowGroup), KeyIndex::KeySize::kInCount) {
    std::vector<int> used[2];
    JoinOutput::UsedColumns(options, used[0], used[1]);
    const bool in_tables = options.tables.has_value();
    sides_[0] = std::make_unique<JoinSide>(0, options_.left, used[0], &state_, in_tables);
    sides_[1] = std::make_unique<JoinSide>(1, options_.right, used[1], &state_, in_tables);
    sides_[0]->preserved = options.type == JoinType::kLeft || options.type == JoinType::kFull;
    sides_[1]->preserved = options.type == JoinType::kRight || options.type == JoinType::kFull;
    for (const auto& side : sides_) {
      side->emits_unmatched = side->preserved || (anti_ && side->index() == 0);
      side->counts = options.condition && (side->preserved || ((semi_ || anti_) && side->index() == 0));
    }
    output_ = std::make_unique<JoinOutput>(options_, sides_[0].get(), sides_[1].get());
    std::vector<DataType> types;
    for (const int key : options_.left.keys) types.push_back((*options_.left.schema)[static_cast<size_t>(key)].type);
    key_codec_ = RowCodec(types, RowCodec::Form::kKey);
    if (in_tables) MakeGroups();
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    WEIR_TRY(state_.Open(context));
    return groups_ ? groups_->Open(context) : Status{};
  }
  Result<Progress> Process(int input, const Batch& batch, Output& out) override;
  Status Snapshot(SnapshotWriter& writer) override {
    if (groups_) return groups_->Snapshot(writer);
    state_.Snapshot(writer);
    return {};
  }
  Status OnWatermark(Micros watermark, Output&) override {
    Expire(watermark);
    return {};
  }
  Status OnBarrier(Output&) override {
    if (groups_) groups_->Relieve(true);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override {
    // Rows in tables are the tables' to report.
    return is_delta() ? std::vector<StateSize>{} : state_.Sizes();
  }

 private:
  JoinSide& own() { return *sides_[input_]; }
  JoinSide& other() { return *sides_[1 - input_]; }
  RowGroup& Group(Ref ref) const { return *reinterpret_cast<RowGroup*>(state_.At(ref)->payload()); }
  bool is_delta() const { return options_.tables && options_.tables->left->logged(); }

  void MakeGroups();
  Status Begin(const Batch& batch);
  Status CountMatches(const std::vector<Ref>& groups);
  Status CountPairs(std::vector<Ref>& left, std::vector<Ref>& right);
  bool MatchesNothing(std::string_view key) const;
  void EncodeKeys(const Batch& batch, const std::vector<int>& columns);
  void SweepExpired();
  bool expires(const JoinSide& side) const { return side.input().expiry.has_value() && !groups_; }
  void NoteExpiry(const JoinSide& side, const Column& times, size_t time_row, Ref row, Ref group);
  void Expire(Micros watermark);
  void RemoveDue(int side);
  void EraseGroups(const std::vector<Ref>& groups);
  void NextStep(size_t& old_row, size_t& new_row);
  Status Resolve(size_t old_row, size_t new_row);
  Status NoteChange(size_t row, Ref group, Ref removed, Ref added) {
    return groups_ ? groups_->Changed(static_cast<size_t>(input_), buckets_[row], group, removed, added) : Status{};
  }
  Ref FindOrAddGroup(size_t row);
  void Push(JoinChange change);
  Status ResolveWindow();
  Status Collect();
  void WalkShort(size_t first, size_t last);
  bool WantsCandidates(const JoinChange& change);
  Status Match();
  Status EvaluatePairs();
  void MatchOne(JoinChange& change, uint32_t candidate, bool old_passes, bool new_passes);
  void MatchExistence(const JoinChange& change, uint32_t candidate, bool old_passes, bool new_passes);
  void Start(JoinChange& change);
  void Finish(JoinChange& change);
  void FinishExistence(const JoinChange& change);
  void FinishChunk();
  void FreeGarbage();
  uint32_t OldRow(const JoinChange& change) const {
    return change.has_old() ? output_->OldRow(change.old_number) : JoinOutput::kNoRow;
  }
  uint32_t NewRow(const JoinChange& change) const {
    return change.has_new() ? output_->NewRow(change.new_row) : JoinOutput::kNoRow;
  }

  // --- restore
  struct RestoreBuffer {
    Buffer<char> bytes;
    std::vector<uint32_t> offsets{0};
    std::vector<uint32_t> counts;
  };
  Status RestoreRows(int side, RestoreBuffer& rows, bool filter);

  JoinOptions options_;
  bool semi_;
  bool anti_;
  KeyedState state_;
  KeyIndex index_;
  std::unique_ptr<JoinSide> sides_[2];
  std::unique_ptr<JoinOutput> output_;
  RowCodec key_codec_;
  std::unique_ptr<RowGroups> groups_;  // where the rows are kept in tables
  uint64_t sweep_position_ = 0;
  ExpiryQueue expiring_[2];
  std::vector<ExpiryQueue::Row> due_[2];  // those that may go, and are still in their lists
  Micros watermark_ = kMinMicros;

  // --- the batch being processed
  bool busy_ = false;
  bool prepared_ = false;  // the groups of the batch are in memory
  Batch batch_;
  int input_ = 0;
  size_t row_ = 0;  // the next one to resolve
  Micros now_ = 0;
  std::vector<uint64_t> hashes_;
  std::vector<uint16_t> buckets_;  // of the rows, where they are kept in tables
  std::vector<uint8_t> null_keys_;
  EncodedRows keys_;
  std::vector<std::pair<uint64_t, Ref>> empty_groups_;  // may be empty: looked at when the batch is done

  // --- the chunk
  std::vector<JoinChange> changes_;  // unfinished ones of the last chunk first
  size_t ready_ = 0;                 // changes that take part in the chunk
  size_t cost_ = 0;                  // rows that the chunk may emit
  std::vector<Ref> candidates_;
  std::vector<Ref> old_rows_;
  std::vector<uint8_t> old_passes_;  // by candidate, when there is a condition
  std::vector<uint8_t> new_passes_;
  std::vector<Ref> garbage_;  // old rows of finished changes
};

}  // namespace weir
