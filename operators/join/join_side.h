// One input of a regular join: which of its columns are kept and how its rows lie in the arena.
//
// A kept row is its unique columns (canonical, the prefix by which it is found) and then the other kept columns
// (exact). Only columns that the output, the condition or a key needs are kept, unless rows are found by equality.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/data/row_codec.h"
#include "engine/state/keyed_state.h"
#include "engine/state/record_list.h"
#include "operators/join/join.h"
#include "tables/row_groups.h"

namespace weir {

class JoinSide {
 public:
  static constexpr uint8_t kGroupPart = 3;  // the sides are parts 1 (left) and 2 (right)

  // `used`: columns that the output or the condition needs.
  // `sequenced`: rows without a unique key get a number behind them, so that equal ones differ in a table.
  JoinSide(int index, const JoinInput& input, const std::vector<int>& used, KeyedState* state, bool sequenced);
  JoinSide(const JoinSide&) = delete;

  // --- what the join type says about this side -----------------------------------------------------------------------
  bool preserved = false;        // its rows appear without a match, NULL-extended
  bool emits_unmatched = false;  // preserved, or the left side of an anti join
  bool counts = false;           // Record::count is the row's number of matches

  int index() const { return index_; }
  uint8_t part() const { return static_cast<uint8_t>(index_ + 1); }
  bool append_only() const { return input_.mode == ChangelogMode::kAppend; }
  bool unique() const { return !input_.unique.empty() && !append_only(); }
  const JoinInput& input() const { return input_; }
  const std::vector<int>& used() const { return used_; }
  RecordLists& lists() { return lists_; }
  const RecordLists& lists() const { return lists_; }

  // Encodes the rows of a batch; the other functions then take its row numbers.
  // Rows found by equality are compared as SQL compares them: -0.0 becomes 0.0, in what is kept and what is emitted.
  Batch Canonical(const Batch& batch) const;
  void Encode(const Batch& batch);
  int64_t encoded_bytes() const;
  std::string_view Prefix(size_t row) const {
    return searched_by_unique_ ? unique_rows_.row(row) : rest_rows_.row(row);
  }
  bool SameRow(const Record& record, size_t row) const;
  Ref Store(size_t row, uint64_t sequence);
  bool sequenced() const { return sequenced_; }
  // Of a payload: the part that tells rows of a key apart, for the table.
  RecordLists::PrefixSize unique_size() const { return sequenced_ ? nullptr : &JoinSide::PrefixSize; }
  Ref StoreBytes(std::string_view payload, uint32_t count);

  // Appends the columns of kept rows: targets[c] for column c of the input, null where it is not wanted.
  void Decode(std::span<const Ref> rows, std::span<Column* const> targets) const;
  void DecodeBytes(std::vector<const char*>& rows, std::span<Column* const> targets) const;

 private:
  static size_t PrefixSize(const void* side, const Record& record);
  static RowCodec MakeCodec(const Schema& schema, const std::vector<int>& columns, RowCodec::Form form);

  int index_;
  JoinInput input_;
  std::vector<int> used_;
  std::vector<int> unique_columns_;
  std::vector<int> rest_columns_;
  bool searched_by_unique_;
  bool sequenced_;
  RowCodec unique_codec_;
  RowCodec rest_codec_;
  KeyedState* state_;
  RecordLists lists_;
  EncodedRows unique_rows_;
  EncodedRows rest_rows_;
};

}  // namespace weir
