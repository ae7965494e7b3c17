#include <algorithm>

#include "operators/join/join_operator.h"

namespace weir {

// --- 3. Evaluate, 4. Match

Status Join::EvaluatePairs() {
  std::vector<uint32_t> own_rows;
  std::vector<uint32_t> candidate_rows;
  for (const bool old : {false, true}) {
    for (size_t i = 0; i < ready_; ++i) {
      const JoinChange& change = changes_[i];
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
      const JoinChange& change = changes_[i];
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
    JoinChange& change = changes_[i];
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

void Join::Start(JoinChange& change) {
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
void Join::MatchOne(JoinChange& change, uint32_t candidate, bool old_passes, bool new_passes) {
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
void Join::MatchExistence(const JoinChange& change, uint32_t candidate, bool old_passes, bool new_passes) {
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

void Join::Finish(JoinChange& change) {
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

void Join::FinishExistence(const JoinChange& change) {
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

}  // namespace weir
