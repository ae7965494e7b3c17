// The changes that an operator with kept rows makes of a batch: rows of the batch and rows that it kept, in order.
//
// For operators that hold the last row of each key (a table, normalise).  Kept rows are encoded with all columns of the
// schema, exactly, and stay where they are until Emit.
#pragma once

#include <vector>

#include "engine/data/row_codec.h"
#include "engine/runtime/operator.h"

namespace weir {

class RowChanges {
 public:
  RowChanges(SchemaPtr schema, const RowCodec* codec) : schema_(std::move(schema)), codec_(codec) {}

  void AddRow(RowKind kind, size_t row) { Add(kind, static_cast<uint32_t>(row), nullptr); }
  void AddKept(RowKind kind, const char* encoded) { Add(kind, 0, encoded); }
  size_t size() const { return changes_.size(); }
  void Clear() { changes_.clear(); }

  // Emits what was added since the last call, if anything.
  void Emit(const Batch& batch, Output& out);

 private:
  struct Change {
    RowKind kind;
    uint32_t row;         // of the batch, where there is no kept row
    const char* encoded;  // a kept row, or null
  };
  void Add(RowKind kind, uint32_t row, const char* encoded) { changes_.push_back({kind, row, encoded}); }

  SchemaPtr schema_;
  const RowCodec* codec_;
  std::vector<Change> changes_;
};

}  // namespace weir
