// The changes that kept rows make of a batch: encoded rows and their numbers, made into batches at the end.
//
// Private to the folder.  Rows stay where they are until Emit.
#pragma once

#include <vector>

#include "engine/data/row_codec.h"
#include "engine/runtime/operator.h"

namespace weir {

class ChangedRows {
 public:
  // `numbered`: the schema has a number behind the columns of the row.
  ChangedRows(SchemaPtr schema, bool numbered) : schema_(std::move(schema)), numbered_(numbered) {}

  void Leave(const char* row, int64_t number) { leaving_.push_back({RowKind::kDelete, row, number}); }
  void Enter(const char* row, int64_t number) { entering_.push_back({RowKind::kInsert, row, number}); }
  void Update(const char* before, int64_t before_number, const char* after, int64_t after_number) {
    updated_.push_back({RowKind::kUpdateBefore, before, before_number});
    updated_.push_back({RowKind::kUpdateAfter, after, after_number});
  }
  // Emits what was added since the last call: what leaves, what changes, what enters.
  void Emit(const RowCodec& codec, Output& out);

 private:
  struct Change {
    RowKind kind;
    const char* row;
    int64_t number;
  };
  void Flush(const RowCodec& codec, Output& out);

  SchemaPtr schema_;
  bool numbered_;
  std::vector<Change> leaving_;
  std::vector<Change> updated_;
  std::vector<Change> entering_;
  // The batch being made.
  std::vector<const char*> rows_;
  std::vector<int64_t> numbers_;
  std::vector<RowKind> kinds_;
  bool inserts_ = true;
};

}  // namespace weir
