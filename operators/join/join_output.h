// The columns of one bounded amount of join work, and the batch that comes of it.
//
// A chunk has own rows (rows of the batch being processed, rows that they retract, a NULL row) and candidates (rows of
// the other side).  Results are pairs of row numbers of the two; columns are made at the end, a whole column at a time.
#pragma once

#include <span>
#include <vector>

#include "engine/runtime/operator.h"
#include "operators/join/join_side.h"

namespace weir {

class JoinOutput {
 public:
  // A missing row: NULL in every column.
  static constexpr uint32_t kNoRow = UINT32_MAX;

  JoinOutput(const JoinOptions& options, JoinSide* left, JoinSide* right);

  // Columns of each side that the output or the condition reads, sorted.
  static void UsedColumns(const JoinOptions& options, std::vector<int>& left, std::vector<int>& right);

  bool has_condition() const { return condition_ != nullptr; }

  // Starts a chunk over the rows [first_row, last_row] of a batch of input `own`.  `with_null`: results may lack the
  // own row.
  void Begin(int own, const Batch& batch, size_t first_row, size_t last_row, std::span<const Ref> old_rows,
             std::span<const Ref> candidates, bool with_null);
  uint32_t NewRow(size_t batch_row) const { return static_cast<uint32_t>(batch_row - first_row_); }
  uint32_t OldRow(size_t old) const { return static_cast<uint32_t>(old_base_ + old); }

  // passes[i]: whether the condition is true for own row own[i] and candidate candidates[i].
  Status EvaluateCondition(std::span<const uint32_t> own, std::span<const uint32_t> candidates, Micros now,
                           std::vector<uint8_t>& passes) const;

  void Add(uint32_t own, uint32_t candidate, RowKind kind) {
    own_rows_.push_back(own);
    candidate_rows_.push_back(candidate);
    if (kind != RowKind::kInsert && kinds_.empty()) kinds_.assign(own_rows_.size() - 1, RowKind::kInsert);
    if (kind != RowKind::kInsert || !kinds_.empty()) kinds_.push_back(kind);
  }
  // One +I for each of the next `count` candidates, in order.  REQUIRES: nothing else is added to this chunk.
  void AddAll(uint32_t own, size_t count) { own_rows_.insert(own_rows_.end(), count, own); }
  size_t rows() const { return own_rows_.size(); }

  // Emits the chunk's results, if there are any.
  void Emit(Output& out);

 private:
  struct Place {
    int side = 0;
    int column = 0;
  };

  void MakeOwnColumns(const Batch& batch, size_t last_row, std::span<const Ref> old_rows, bool with_null);

  SchemaPtr schema_;
  JoinSide* sides_[2];
  std::vector<Place> output_;
  ExpressionPtr condition_;  // over condition_columns_
  std::vector<Place> condition_columns_;
  SchemaPtr condition_schema_;
  EvalContext eval_;

  int own_ = 0;
  size_t first_row_ = 0;
  size_t old_base_ = 0;
  size_t own_null_ = 0;  // number of the NULL row among the own rows
  size_t candidate_count_ = 0;
  std::vector<ColumnPtr> own_columns_;                      // by column of the own input; null where unused
  std::vector<std::shared_ptr<Column>> candidate_columns_;  // by column of the other input

  std::vector<uint32_t> own_rows_;
  std::vector<uint32_t> candidate_rows_;  // empty after AddAll: the candidates as they are
  std::vector<RowKind> kinds_;
};

}  // namespace weir
