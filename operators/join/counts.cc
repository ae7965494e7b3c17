#include <algorithm>

#include "operators/join/join_operator.h"

namespace weir {

// Rows that came into memory from a table have no counts of their matches: they are not stored, because the rows say it
// all.  Counted once when a group comes in, pair by pair; afterwards every change keeps them right.
Status Join::CountMatches(const std::vector<Ref>& groups) {
  std::vector<Ref> pairs[2];
  for (const Ref ref : groups) {
    const RowGroup& group = Group(ref);
    std::vector<Ref> rows[2];
    for (const auto& side : sides_) {
      std::vector<Ref>& into = rows[side->index()];
      const ListHead& list = group.lists[side->index()];
      if (list.is_long()) {
        into = side->lists().Long(list);
      } else {
        for (Ref row = list.head; row != 0; row = state_.At(row)->next) into.push_back(row);
      }
      for (const Ref row : into) state_.SetCount(row, 0);
    }
    if (MatchesNothing(index_.KeyOf(*state_.At(ref)))) continue;
    for (const Ref left : rows[0]) {
      for (const Ref right : rows[1]) {
        pairs[0].push_back(left);
        pairs[1].push_back(right);
        if (pairs[0].size() == kBatchRows) WEIR_TRY(CountPairs(pairs[0], pairs[1]));
      }
    }
  }
  return CountPairs(pairs[0], pairs[1]);
}

Status Join::CountPairs(std::vector<Ref>& left, std::vector<Ref>& right) {
  if (left.empty()) return {};
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < options_.left.schema->size(); ++i) {
    columns.push_back(std::make_shared<Column>((*options_.left.schema)[i].type));
  }
  const Batch none(options_.left.schema, std::move(columns), 0);
  output_->Begin(0, none, 1, 0, left, right, false);
  std::vector<uint32_t> own(left.size());
  std::vector<uint32_t> candidates(left.size());
  for (size_t i = 0; i < left.size(); ++i) {
    own[i] = output_->OldRow(i);
    candidates[i] = static_cast<uint32_t>(i);
  }
  std::vector<uint8_t> passes;
  WEIR_TRY(output_->EvaluateCondition(own, candidates, now_, passes));
  for (size_t i = 0; i < left.size(); ++i) {
    if (passes[i] == 0) continue;
    if (sides_[0]->counts) state_.SetCount(left[i], state_.At(left[i])->count + 1);
    if (sides_[1]->counts) state_.SetCount(right[i], state_.At(right[i])->count + 1);
  }
  left.clear();
  right.clear();
  return {};
}

// A key with a NULL that is not null-safe; the first bits of its bytes are those of the columns' NULLs (row_codec.h).
bool Join::MatchesNothing(std::string_view key) const {
  for (size_t i = 0; i < key_codec_.fields(); ++i) {
    const bool safe = !options_.null_safe.empty() && options_.null_safe[i];
    if (!safe && (static_cast<uint8_t>(key[i / 8]) >> (i % 8) & 1) != 0) return true;
  }
  return false;
}

}  // namespace weir
