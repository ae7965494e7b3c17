// How a batch of one input is taken, in chunks of bounded output:
//
//   1. Resolve   each row changes its own side's state and becomes a Change: the row it retracts, the row it adds, and
//   how
//                many rows its key had before and after.
//   2. Collect   the rows of the other side with the same key become candidates, many changes at a time, so that the
//                memory of one is fetched while others are walked.  A change with more candidates than fit goes on in
//                the next chunk.
//   3. Evaluate  the condition, if there is one, over all pairs of the chunk at once.
//   4. Match     change by change and candidate by candidate, decides what is emitted (the table at Match).
//   5. Emit      makes the columns.
#include "operators/join/join.h"

#include <algorithm>

#include "engine/state/key_index.h"
#include "operators/join/join_output.h"
#include "operators/join/join_side.h"

namespace weir {
namespace {

constexpr size_t kWindow = 128;        // changes whose candidates are walked side by side
constexpr size_t kSlotDistance = 24;   // rows ahead for which the index slot is fetched,
constexpr size_t kGroupDistance = 12;  // and the key's record
constexpr size_t kSweepSlots = 2048;   // index slots a batch that the time to live looks at
constexpr size_t kNoRow = SIZE_MAX;

struct Change {
  size_t new_row = kNoRow;  // of the batch
  Ref new_ref = 0;          // where it is kept; 0 when it need not be
  Ref old_ref = 0;          // the kept row that goes; freed with the change
  ListHead others;          // the other side's rows of the key; none for a NULL key
  uint32_t own_before = 0;  // rows of the key on this side, before and after this change
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

  bool has_new() const { return new_row != kNoRow; }
  bool has_old() const { return old_ref != 0; }
};

class Join final : public Operator {
 public:
  explicit Join(const JoinOptions& options)
      : options_(options),
        semi_(options.type == JoinType::kSemi),
        anti_(options.type == JoinType::kAnti),
        state_("join", {{"left"}, {"right"}, {"keys", false}}, options.condition != nullptr, options.state),
        index_(&state_.arena(), sizeof(JoinGroup), KeyIndex::KeySize::kInCount) {
    std::vector<int> used[2];
    JoinOutput::UsedColumns(options, used[0], used[1]);
    sides_[0] = std::make_unique<JoinSide>(0, options_.left, used[0], &state_);
    sides_[1] = std::make_unique<JoinSide>(1, options_.right, used[1], &state_);
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
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    return state_.Open(context);
  }
  Result<Progress> Process(int input, const Batch& batch, Output& out) override;
  Status Snapshot(SnapshotWriter& writer) override {
    state_.Snapshot(writer);
    return {};
  }
  Status Restore(const SnapshotReader& reader) override;
  std::vector<StateSize> StateSizes() const override { return state_.Sizes(); }

 private:
  JoinSide& own() { return *sides_[input_]; }
  JoinSide& other() { return *sides_[1 - input_]; }
  JoinGroup& Group(Ref ref) const { return *reinterpret_cast<JoinGroup*>(state_.At(ref)->payload()); }

  Status Begin(const Batch& batch);
  void EncodeKeys(const Batch& batch, const std::vector<int>& columns);
  void SweepExpired();
  void NextStep(size_t& old_row, size_t& new_row);
  void Resolve(size_t old_row, size_t new_row);
  Ref FindOrAddGroup(size_t row);
  void Push(Change change);
  void ResolveWindow();
  void Collect();
  void WalkShort(size_t first, size_t last);
  bool WantsCandidates(const Change& change);
  Status Match();
  Status EvaluatePairs();
  void MatchOne(Change& change, uint32_t candidate, bool old_passes, bool new_passes);
  void MatchExistence(const Change& change, uint32_t candidate, bool old_passes, bool new_passes);
  void Start(Change& change);
  void Finish(Change& change);
  void FinishExistence(const Change& change);
  void FinishChunk();
  void FreeGarbage();
  uint32_t OldRow(const Change& change) const {
    return change.has_old() ? output_->OldRow(change.old_number) : JoinOutput::kNoRow;
  }
  uint32_t NewRow(const Change& change) const {
    return change.has_new() ? output_->NewRow(change.new_row) : JoinOutput::kNoRow;
  }

  // --- restore
  // ---------------------------------------------------------------------------------------------------------
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
  uint64_t sweep_position_ = 0;

  // --- the batch being processed
  // -----------------------------------------------------------------------------------------
  bool busy_ = false;
  Batch batch_;
  int input_ = 0;
  size_t row_ = 0;  // the next one to resolve
  Micros now_ = 0;
  std::vector<uint64_t> hashes_;
  std::vector<uint8_t> null_keys_;
  EncodedRows keys_;
  std::vector<std::pair<uint64_t, Ref>> empty_groups_;  // may be empty: looked at when the batch is done

  // --- the chunk
  // -----------------------------------------------------------------------------------------------------------
  std::vector<Change> changes_;  // unfinished ones of the last chunk first
  size_t ready_ = 0;             // changes that take part in the chunk
  size_t cost_ = 0;              // rows that the chunk may emit
  std::vector<Ref> candidates_;
  std::vector<Ref> old_rows_;
  std::vector<uint8_t> old_passes_;  // by candidate, when there is a condition
  std::vector<uint8_t> new_passes_;
  std::vector<Ref> garbage_;  // old rows of finished changes
};

void Join::EncodeKeys(const Batch& batch, const std::vector<int>& columns) {
  HashRows(batch, columns, hashes_);
  key_codec_.Encode(batch, columns, keys_);
  if (options_.null_safe.empty()) {
    null_keys_ = NullKeys(batch, columns);
    return;
  }
  std::vector<int> strict;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!options_.null_safe[i]) strict.push_back(columns[i]);
  }
  null_keys_ = NullKeys(batch, strict);
}

Status Join::Begin(const Batch& batch) {
  batch_ = batch;
  row_ = 0;
  now_ = context().clock == nullptr ? 0 : context().clock->Now();
  EncodeKeys(batch, own().input().keys);
  own().Encode(batch);
  const int64_t bytes = own().encoded_bytes() + static_cast<int64_t>(keys_.bytes.size() + batch.rows() * 128);
  WEIR_TRY(state_.BeginBatch(hashes_, index_.bytes() + sides_[0]->lists().bytes() + sides_[1]->lists().bytes(), bytes));
  if (state_.has_ttl()) SweepExpired();
  busy_ = true;
  return {};
}

// Looks at a bounded number of keys a batch and drops their expired rows, without a retraction: a time to live forgets.
void Join::SweepExpired() {
  index_.Sweep(sweep_position_, kSweepSlots, [&](Ref group) {
    for (const auto& side : sides_) {
      side->lists().RemoveIf(Group(group).lists[side->index()], [&](Ref row) {
        if (!state_.Expired(*state_.At(row))) return false;
        state_.Free(row);
        return true;
      });
    }
    if (Group(group).lists[0].size() + Group(group).lists[1].size() > 0) return false;
    state_.Free(group);
    return true;
  });
}

Result<Progress> Join::Process(int input, const Batch& batch, Output& out) {
  if (!busy_) {
    input_ = input;
    WEIR_TRY(Begin(batch));
  }
  while (true) {
    Collect();
    if (ready_ > 0) {
      WEIR_TRY(Match());
      output_->Emit(out);
      FinishChunk();
    }
    if (changes_.empty() && row_ == batch_.rows()) {
      FreeGarbage();
      busy_ = false;
      batch_ = Batch();
      return Progress::kDone;
    }
    if (!out.HasRoom()) return Progress::kMore;
  }
}

// --- 1. Resolve
// ------------------------------------------------------------------------------------------------------------

// The next one or two rows of the batch that are one change of the key.
void Join::NextStep(size_t& old_row, size_t& new_row) {
  old_row = new_row = kNoRow;
  if (IsAdd(batch_.kind(row_))) {
    new_row = row_++;
  } else if (batch_.IsUpdatePair(row_) && keys_.row(row_) == keys_.row(row_ + 1)) {
    old_row = row_++;
    new_row = row_++;
  } else {
    old_row = row_++;
  }
}

Ref Join::FindOrAddGroup(size_t row) {
  const std::string_view key = keys_.row(row);
  Ref group = index_.Find(hashes_[row], key);
  if (group != 0) return group;
  group = state_.Allocate(JoinSide::kGroupPart, sizeof(JoinGroup) + key.size());
  Record* record = state_.At(group);
  record->count = static_cast<uint32_t>(key.size());
  new (record->payload()) JoinGroup();
  std::memcpy(record->payload() + sizeof(JoinGroup), key.data(), key.size());
  index_.Insert(hashes_[row], group);
  return group;
}

void Join::Resolve(size_t old_row, size_t new_row) {
  JoinSide& side = own();
  const size_t row = new_row != kNoRow ? new_row : old_row;
  const bool null_key = !null_keys_.empty() && null_keys_[row] != 0;
  if (null_key && (!side.emits_unmatched || side.append_only())) {
    // It can never match: kept only where it has been emitted and may be retracted.
    Change change;
    change.new_row = new_row;
    if (side.emits_unmatched && new_row != kNoRow) Push(change);
    return;
  }
  const Ref group = new_row != kNoRow ? FindOrAddGroup(row) : index_.Find(hashes_[row], keys_.row(row));
  if (group == 0) {
    ++context().metrics->ignored_deletes;
    return;
  }
  ListHead& list = Group(group).lists[input_];
  Change change;
  change.own_before = list.size();
  if (!null_key) change.others = Group(group).lists[1 - input_];
  Ref old_ref = 0;
  if (old_row != kNoRow) {
    old_ref = side.lists().Find(list, side.Prefix(old_row));
    if (old_ref == 0) ++context().metrics->ignored_deletes;
  }
  if (new_row != kNoRow && side.unique()) {
    const Ref replaced = side.lists().Find(list, side.Prefix(new_row));
    if (replaced != 0 && old_ref != 0 && replaced != old_ref) {
      // An update to the unique key of another row: that one goes first.
      side.lists().RemoveRecord(list, replaced);
      Change gone = change;
      gone.old_ref = replaced;
      gone.own_after = list.size();
      Push(gone);
      change.own_before = list.size();
    } else if (replaced != 0) {
      old_ref = replaced;
    }
  }
  if (old_ref != 0) {
    if (new_row != kNoRow && side.SameRow(*state_.At(old_ref), new_row)) return state_.Touch(*state_.At(old_ref));
    side.lists().RemoveRecord(list, old_ref);
    change.old_ref = old_ref;
  }
  if (new_row != kNoRow) {
    change.new_row = new_row;
    change.new_ref = side.Store(new_row);
    side.lists().Insert(list, change.new_ref);
  } else if (old_ref == 0) {
    return;
  }
  change.own_after = list.size();
  if (change.own_after == 0 && change.others.size() == 0) empty_groups_.emplace_back(hashes_[row], group);
  Push(change);
}

// Whether the change needs to see the other side's rows, or only how many there are.
bool Join::WantsCandidates(const Change& change) {
  if (output_->has_condition() || !(semi_ || anti_)) return true;
  return input_ == 1 && (change.own_before == 0) != (change.own_after == 0);
}

void Join::Push(Change change) {
  change.wanted = WantsCandidates(change) ? change.others.size() : 0;
  const bool silent = change.wanted == 0 && !own().emits_unmatched && !((semi_ || anti_) && input_ == 0);
  if (silent) {
    if (change.old_ref != 0) garbage_.push_back(change.old_ref);
    return;
  }
  if (!change.others.is_long() && change.wanted > 0) __builtin_prefetch(state_.At(change.others.head));
  changes_.push_back(change);
}

void Join::ResolveWindow() {
  const size_t rows = batch_.rows();
  const size_t goal = changes_.size() + kWindow;
  while (row_ < rows && changes_.size() < goal) {
    if (row_ + kSlotDistance < rows) index_.PrefetchSlot(hashes_[row_ + kSlotDistance]);
    if (row_ + kGroupDistance < rows) index_.PrefetchRecord(hashes_[row_ + kGroupDistance]);
    size_t old_row = 0;
    size_t new_row = 0;
    NextStep(old_row, new_row);
    Resolve(old_row, new_row);
  }
}

// --- 2. Collect
// ------------------------------------------------------------------------------------------------------------

void Join::Collect() {
  candidates_.clear();
  old_rows_.clear();
  ready_ = 0;
  cost_ = 0;
  while (true) {
    if (ready_ == changes_.size()) ResolveWindow();
    if (ready_ == changes_.size()) return;
    const size_t first = ready_;
    bool full = false;
    for (; ready_ < changes_.size() && ready_ - first < kWindow; ++ready_) {
      Change& change = changes_[ready_];
      // A candidate gives two rows when it becomes an update; the change itself gives its NULL-extended rows.
      const size_t each = change.has_old() || other().preserved ? 2 : 1;
      const size_t base = own().emits_unmatched || semi_ ? 2 : 0;
      const size_t left = change.wanted - change.taken;
      size_t room = cost_ + base < kBatchRows ? (kBatchRows - cost_ - base) / each : 0;
      full = left > room;
      if (full && !(change.others.is_long() && room > 0)) break;
      change.first = static_cast<uint32_t>(candidates_.size());
      change.count = static_cast<uint32_t>(std::min(left, room));
      change.old_number = static_cast<uint32_t>(old_rows_.size());
      if (change.has_old()) old_rows_.push_back(change.old_ref);
      cost_ += base + each * change.count;
      candidates_.resize(candidates_.size() + change.count);
      if (full) {
        ++ready_;
        break;
      }
      if (cost_ >= kBatchRows) {
        full = true;
        ++ready_;
        break;
      }
    }
    WalkShort(first, ready_);
    if (full) return;
  }
}

// Fills in the candidates of the changes [first, last): short lists side by side, so that cache misses overlap.
void Join::WalkShort(size_t first, size_t last) {
  struct Walk {
    Ref ref;
    uint32_t to;
    uint32_t end;
  };
  Walk walks[kWindow];
  size_t active = 0;
  for (size_t i = first; i < last; ++i) {
    Change& change = changes_[i];
    if (change.count == 0) continue;
    if (change.others.is_long()) {
      const std::vector<Ref>& rows = other().lists().Long(change.others);
      std::copy_n(rows.begin() + change.taken, change.count, candidates_.begin() + change.first);
    } else {
      walks[active++] = {change.others.head, change.first, change.first + change.count};
    }
    change.taken += change.count;
  }
  while (active > 0) {
    size_t kept = 0;
    for (size_t i = 0; i < active; ++i) {
      Walk walk = walks[i];
      candidates_[walk.to++] = walk.ref;
      if (walk.to == walk.end) continue;
      walk.ref = state_.At(walk.ref)->next;
      __builtin_prefetch(state_.At(walk.ref));
      walks[kept++] = walk;
    }
    active = kept;
  }
}

// --- 3. Evaluate, 4. Match
// -----------------------------------------------------------------------------------------------------

Status Join::EvaluatePairs() {
  std::vector<uint32_t> own_rows;
  std::vector<uint32_t> candidate_rows;
  for (const bool old : {false, true}) {
    for (size_t i = 0; i < ready_; ++i) {
      const Change& change = changes_[i];
      if (old ? !change.has_old() : !change.has_new()) continue;
      const uint32_t row = old ? OldRow(change) : NewRow(change);
      for (uint32_t k = 0; k < change.count; ++k) {
        own_rows.push_back(row);
        candidate_rows.push_back(change.first + k);
      }
    }
  }
  std::vector<uint8_t> passes;
  WEIR_TRY(output_->EvaluateCondition(own_rows, candidate_rows, now_, passes));
  new_passes_.assign(candidates_.size(), 0);
  old_passes_.assign(candidates_.size(), 0);
  size_t at = 0;
  for (const bool old : {false, true}) {
    for (size_t i = 0; i < ready_; ++i) {
      const Change& change = changes_[i];
      if (old ? !change.has_old() : !change.has_new()) continue;
      std::vector<uint8_t>& to = old ? old_passes_ : new_passes_;
      std::copy_n(passes.begin() + static_cast<std::ptrdiff_t>(at), change.count, to.begin() + change.first);
      at += change.count;
    }
  }
  return {};
}

Status Join::Match() {
  size_t first_row = batch_.rows();
  size_t last_row = 0;
  for (size_t i = 0; i < ready_; ++i) {
    if (!changes_[i].has_new()) continue;
    first_row = std::min(first_row, changes_[i].new_row);
    last_row = std::max(last_row, changes_[i].new_row);
  }
  const bool existence = semi_ || anti_;
  // Without a row that is added there is nothing of the batch to copy: an empty range.
  if (first_row > last_row) first_row = last_row + 1;
  output_->Begin(input_, batch_, first_row, last_row, old_rows_, candidates_, other().preserved);
  const bool simple =
      !output_->has_condition() && !existence && !own().preserved && !other().preserved && old_rows_.empty();
  if (simple) {
    for (size_t i = 0; i < ready_; ++i) output_->AddAll(NewRow(changes_[i]), changes_[i].count);
    return {};
  }
  if (output_->has_condition()) WEIR_TRY(EvaluatePairs());
  for (size_t i = 0; i < ready_; ++i) {
    Change& change = changes_[i];
    if (!change.started) Start(change);
    for (uint32_t k = 0; k < change.count; ++k) {
      const uint32_t candidate = change.first + k;
      const bool old_passes = output_->has_condition() ? old_passes_[candidate] != 0 : change.has_old();
      const bool new_passes = output_->has_condition() ? new_passes_[candidate] != 0 : change.has_new();
      if (existence) {
        MatchExistence(change, candidate, old_passes, new_passes);
      } else {
        MatchOne(change, candidate, old_passes, new_passes);
      }
      change.new_matches += new_passes ? 1 : 0;
    }
    if (change.taken == change.wanted) Finish(change);
  }
  return {};
}

void Join::Start(Change& change) {
  change.started = true;
  if (!change.has_old()) return;
  // Earlier changes of the batch are finished: the count is that of this moment.
  change.old_matches = own().counts ? state_.At(change.old_ref)->count : change.others.size();
}

// The candidate's row on the other side had matches or not, and has matches or not:
//
//   had  has   old   new   emitted
//   yes  yes   yes   yes   -U(old, row) +U(new, row)
//   yes  yes   yes   no    -D(old, row)
//   yes  yes   no    yes   +I(new, row)
//   no   yes   no    yes   -U(NULL, row) +U(new, row)      only where the other side is preserved
//   yes  no    yes   no    -U(old, row) +U(NULL, row)      the same
//
// A NULL-extended old row goes before, or with, the first match of the new one.
void Join::MatchOne(Change& change, uint32_t candidate, bool old_passes, bool new_passes) {
  if (!old_passes && !new_passes) return;
  bool had = true;
  bool has = true;
  if (other().counts) {
    const Ref ref = candidates_[candidate];
    const uint32_t before = state_.At(ref)->count;
    // A time to live may have dropped rows that were counted.
    const uint32_t after = before - (old_passes && before > 0 ? 1 : 0) + (new_passes ? 1 : 0);
    state_.SetCount(ref, after);
    had = before > 0;
    has = after > 0;
  } else if (other().preserved) {
    had = change.own_before > 0;
    has = change.own_after > 0;
  }
  const uint32_t old_row = OldRow(change);
  const uint32_t new_row = NewRow(change);
  if (own().preserved && new_passes && change.has_old() && change.old_matches == 0 && !change.old_null_gone) {
    change.old_null_gone = true;
    if (had) {
      output_->Add(old_row, JoinOutput::kNoRow, RowKind::kUpdateBefore);
      output_->Add(new_row, candidate, RowKind::kUpdateAfter);
      return;
    }
    output_->Add(old_row, JoinOutput::kNoRow, RowKind::kDelete);
  }
  if (!had && has) {
    output_->Add(JoinOutput::kNoRow, candidate, RowKind::kUpdateBefore);
    output_->Add(new_row, candidate, RowKind::kUpdateAfter);
  } else if (had && !has) {
    output_->Add(old_row, candidate, RowKind::kUpdateBefore);
    output_->Add(JoinOutput::kNoRow, candidate, RowKind::kUpdateAfter);
  } else if (old_passes && new_passes) {
    output_->Add(old_row, candidate, RowKind::kUpdateBefore);
    output_->Add(new_row, candidate, RowKind::kUpdateAfter);
  } else if (old_passes) {
    output_->Add(old_row, candidate, RowKind::kDelete);
  } else {
    output_->Add(new_row, candidate, RowKind::kInsert);
  }
}

// Semi and anti joins: a change of the right side makes left rows appear or disappear.
void Join::MatchExistence(const Change& change, uint32_t candidate, bool old_passes, bool new_passes) {
  if (input_ == 0 || (!old_passes && !new_passes)) return;
  bool had = change.own_before > 0;
  bool has = change.own_after > 0;
  if (other().counts) {
    const Ref ref = candidates_[candidate];
    const uint32_t before = state_.At(ref)->count;
    const uint32_t after = before - (old_passes && before > 0 ? 1 : 0) + (new_passes ? 1 : 0);
    state_.SetCount(ref, after);
    had = before > 0;
    has = after > 0;
  }
  if (had != has) output_->Add(JoinOutput::kNoRow, candidate, has == semi_ ? RowKind::kInsert : RowKind::kDelete);
}

void Join::Finish(Change& change) {
  if (!output_->has_condition()) change.new_matches = change.others.size();
  if (own().counts && change.new_ref != 0) state_.SetCount(change.new_ref, change.new_matches);
  if (semi_ || anti_) return FinishExistence(change);
  if (!own().preserved) return;
  const bool old_null = change.has_old() && change.old_matches == 0 && !change.old_null_gone;
  const bool new_null = change.has_new() && change.new_matches == 0;
  if (old_null && new_null) {
    output_->Add(OldRow(change), JoinOutput::kNoRow, RowKind::kUpdateBefore);
    output_->Add(NewRow(change), JoinOutput::kNoRow, RowKind::kUpdateAfter);
  } else if (old_null) {
    output_->Add(OldRow(change), JoinOutput::kNoRow, RowKind::kDelete);
  } else if (new_null) {
    output_->Add(NewRow(change), JoinOutput::kNoRow, RowKind::kInsert);
  }
}

void Join::FinishExistence(const Change& change) {
  if (input_ == 1) return;
  const bool had = change.has_old() && (change.old_matches > 0) == semi_;
  const bool has = change.has_new() && (change.new_matches > 0) == semi_;
  if (had && has) {
    output_->Add(OldRow(change), JoinOutput::kNoRow, RowKind::kUpdateBefore);
    output_->Add(NewRow(change), JoinOutput::kNoRow, RowKind::kUpdateAfter);
  } else if (had) {
    output_->Add(OldRow(change), JoinOutput::kNoRow, RowKind::kDelete);
  } else if (has) {
    output_->Add(NewRow(change), JoinOutput::kNoRow, RowKind::kInsert);
  }
}

void Join::FinishChunk() {
  size_t done = 0;
  while (done < ready_ && changes_[done].taken == changes_[done].wanted) {
    if (changes_[done].old_ref != 0) garbage_.push_back(changes_[done].old_ref);
    ++done;
  }
  changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(done));
}

// At the end of a batch: until then resolved changes may name retracted rows and groups.
void Join::FreeGarbage() {
  for (const Ref ref : garbage_) state_.Free(ref);
  garbage_.clear();
  for (const auto& [hash, group] : empty_groups_) {
    // The group may have got rows again, or stand here twice: erased once.
    if (Group(group).lists[0].size() + Group(group).lists[1].size() > 0) continue;
    if (index_.Erase(hash, group)) state_.Free(group);
  }
  empty_groups_.clear();
}

// --- restore
// -----------------------------------------------------------------------------------------------------------------

Status Join::Restore(const SnapshotReader& reader) {
  RestoreBuffer buffers[2];
  bool filtered = false;
  const auto take = [&](const SnapshotReader::Part&, const SnapshotRecord& record, bool filter) -> Status {
    if (record.part > 2) return StateError("the state file of a join has an unknown part");
    filtered = filter;
    RestoreBuffer& rows = buffers[record.part - 1];
    rows.bytes.insert(rows.bytes.end(), record.payload.begin(), record.payload.end());
    rows.offsets.push_back(static_cast<uint32_t>(rows.bytes.size()));
    rows.counts.push_back(record.count);
    return rows.counts.size() < kBatchRows ? Status{} : RestoreRows(record.part - 1, rows, filter);
  };
  state_.after_file = [&](const SnapshotReader::Part&) -> Status {
    WEIR_TRY(RestoreRows(0, buffers[0], filtered));
    return RestoreRows(1, buffers[1], filtered);
  };
  const Status status = state_.Restore(reader, take);
  state_.after_file = nullptr;
  return status;
}

Status Join::RestoreRows(int side_index, RestoreBuffer& rows, bool filter) {
  const size_t count = rows.counts.size();
  if (count == 0) return {};
  JoinSide& side = *sides_[side_index];
  const Schema& schema = *side.input().schema;
  rows.bytes.resize(rows.bytes.size() + 2 * kRowSlack);
  std::vector<const char*> payloads(count);
  for (size_t i = 0; i < count; ++i) payloads[i] = rows.bytes.data() + rows.offsets[i];
  std::vector<Column*> targets(schema.size(), nullptr);
  std::vector<std::shared_ptr<Column>> made(schema.size());
  for (const int key : side.input().keys) {
    const auto i = static_cast<size_t>(key);
    if (made[i]) continue;
    made[i] = std::make_shared<Column>(schema[i].type);
    targets[i] = made[i].get();
  }
  side.DecodeBytes(payloads, targets);
  // A batch of the key columns alone.
  std::vector<Field> fields;
  std::vector<ColumnPtr> columns;
  std::vector<int> keys;
  for (const int key : side.input().keys) {
    keys.push_back(static_cast<int>(keys.size()));
    fields.push_back(schema[static_cast<size_t>(key)]);
    columns.push_back(made[static_cast<size_t>(key)]);
  }
  EncodeKeys(Batch(std::make_shared<const Schema>(std::move(fields)), std::move(columns), count), keys);
  for (size_t i = 0; i < count; ++i) {
    if (i + kSlotDistance < count) index_.PrefetchSlot(hashes_[i + kSlotDistance]);
    if (i + kGroupDistance < count) index_.PrefetchRecord(hashes_[i + kGroupDistance]);
    if (filter && TaskOf(KeyGroupOf(hashes_[i]), context().parallelism) != context().task) continue;
    const std::string_view payload(rows.bytes.data() + rows.offsets[i], rows.offsets[i + 1] - rows.offsets[i]);
    const Ref ref = side.StoreBytes(payload, rows.counts[i]);
    side.lists().Insert(Group(FindOrAddGroup(i)).lists[side_index], ref);
  }
  rows = RestoreBuffer{};
  return {};
}

Status Validate(const JoinOptions& options) {
  if (options.left.keys.size() != options.right.keys.size()) return PlanError("a join needs its keys in pairs");
  for (size_t i = 0; i < options.left.keys.size(); ++i) {
    const DataType& left = (*options.left.schema)[static_cast<size_t>(options.left.keys[i])].type;
    const DataType& right = (*options.right.schema)[static_cast<size_t>(options.right.keys[i])].type;
    if (left.physical() != right.physical()) {
      return PlanError("the keys of a join differ in type: " + left.ToString() + " and " + right.ToString());
    }
  }
  if (!options.null_safe.empty() && options.null_safe.size() != options.left.keys.size()) {
    return PlanError("null_safe of a join needs one entry a key");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeJoin(const JoinOptions& options) {
  WEIR_TRY(Validate(options));
  return std::unique_ptr<Operator>(std::make_unique<Join>(options));
}

}  // namespace weir
