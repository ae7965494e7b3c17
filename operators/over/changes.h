// The changes of a batch: kept rows with results, made into batches at the end.  Private to the folder.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/operator.h"
#include "operators/ordered_rows.h"

namespace weir {

class OverChanges {
 public:
  // `input_width`: columns of the output before those of the results.
  OverChanges(SchemaPtr schema, size_t input_width) : schema_(std::move(schema)), input_width_(input_width) { Reset(); }

  // One column a call, to append results to; changes name them by their place.
  std::vector<std::shared_ptr<Column>>& results() { return results_; }
  bool SameResults(size_t a, size_t b) const;

  void Leave(Ref row, size_t result) { leaving_.push_back({RowKind::kDelete, row, result}); }
  void Enter(Ref row, size_t result) { entering_.push_back({RowKind::kInsert, row, result}); }
  void Update(Ref row, size_t before, size_t after) {
    updated_.push_back({RowKind::kUpdateBefore, row, before});
    updated_.push_back({RowKind::kUpdateAfter, row, after});
  }
  // Emits what leaves, what changes, what enters, and forgets all results.
  void Emit(const OrderedRows& rows, Output& out);

 private:
  struct Change {
    RowKind kind;
    Ref row;
    size_t result;
  };
  void Reset();
  void Flush(const OrderedRows& rows, Output& out);

  SchemaPtr schema_;
  size_t input_width_;
  std::vector<std::shared_ptr<Column>> results_;
  std::vector<Change> leaving_;
  std::vector<Change> updated_;
  std::vector<Change> entering_;
  // The batch being made.
  std::vector<const char*> rows_;
  Selection selection_;
  std::vector<RowKind> kinds_;
  bool inserts_ = true;
};

}  // namespace weir
