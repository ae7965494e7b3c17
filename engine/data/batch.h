// A batch of rows with their kinds: what travels in channels and through operators.
//
// A changelog row is +I (new), -U and +U (the old and the new row of an update, adjacent and never in two batches) or
// -D (gone).  A -U without a +U behind it, or a +U without a -U before it, counts as -D or +I: an exchange separates
// a pair whose keys go to different tasks.  In an upsert stream (a source with a primary key that sends no -U) a +I or
// +U replaces the row of its key.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/data/column.h"

namespace weir {

enum class RowKind : uint8_t { kInsert = 0, kUpdateBefore = 1, kUpdateAfter = 2, kDelete = 3 };

inline bool IsAdd(RowKind kind) { return kind == RowKind::kInsert || kind == RowKind::kUpdateAfter; }
std::string_view ToString(RowKind kind);  // "+I" "-U" "+U" "-D"
std::optional<RowKind> ParseRowKind(std::string_view text);

inline constexpr size_t kBatchRows = 4096;

// Where rows of a source come from, so that a row refused further on can be named; one entry a row.
// Dropped by the first operator that is not a filter, projection or exchange.
struct RowPosition {
  uint32_t partition;  // index in the source's list of partitions
  int64_t offset;      // Kafka offset, line number of a file (from 1), or running number
};

// A value, cheap to copy: columns are shared.
class Batch {
 public:
  Batch() = default;
  Batch(SchemaPtr schema, std::vector<ColumnPtr> columns, size_t rows, std::vector<RowKind> kinds = {})
      : schema_(std::move(schema)), columns_(std::move(columns)), rows_(rows), kinds_(std::move(kinds)) {
    WEIR_CHECK_EQ(schema_->size(), columns_.size());
    WEIR_CHECK(kinds_.empty() || kinds_.size() == rows_);
  }

  size_t rows() const { return rows_; }
  const SchemaPtr& schema() const { return schema_; }
  const std::vector<ColumnPtr>& columns() const { return columns_; }
  const Column& column(size_t i) const { return *columns_[i]; }
  // Empty when every row is +I.
  std::span<const RowKind> kinds() const { return kinds_; }
  RowKind kind(size_t row) const { return kinds_.empty() ? RowKind::kInsert : kinds_[row]; }
  bool insert_only() const { return kinds_.empty(); }
  // Row `row` and the next are the -U and +U of one update.
  bool IsUpdatePair(size_t row) const {
    return row + 1 < kinds_.size() && kinds_[row] == RowKind::kUpdateBefore && kinds_[row + 1] == RowKind::kUpdateAfter;
  }

  const std::shared_ptr<const std::vector<RowPosition>>& positions() const { return positions_; }
  void set_positions(std::shared_ptr<const std::vector<RowPosition>> positions) { positions_ = std::move(positions); }

  // The same rows with other columns (a projection): kinds and positions are kept.
  Batch WithColumns(SchemaPtr schema, std::vector<ColumnPtr> columns) const;
  // The rows of `selection`.  Kinds are kept as they are: a caller that drops one half of a pair fixes them.
  Batch Gather(std::span<const uint32_t> selection) const;
  Batch Slice(size_t from, size_t count) const;
  size_t ByteSize() const;

  // A text picture for tests and errors: "+I 1 'x' NULL\n-D 2 'y' 3.50\n".
  std::string ToString() const;

 private:
  SchemaPtr schema_;
  std::vector<ColumnPtr> columns_;
  size_t rows_ = 0;
  std::vector<RowKind> kinds_;
  std::shared_ptr<const std::vector<RowPosition>> positions_;
};

// Collects rows into one batch.  Columns of the batch being built are reached by column(i) for direct appends; every
// row must get a value in every column and then a FinishRow (or one FinishRows for many).
class BatchBuilder {
 public:
  explicit BatchBuilder(SchemaPtr schema);

  const SchemaPtr& schema() const { return schema_; }
  size_t rows() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  Column& column(size_t i) { return *columns_[i]; }
  void FinishRow(RowKind kind) { FinishRows(1, kind); }
  void FinishRows(size_t count, RowKind kind);
  // The rows of `selection` of a batch of the same physical columns, with their kinds.
  void AppendSelected(const Batch& batch, std::span<const uint32_t> selection);
  void AppendRow(const Batch& batch, size_t row, RowKind kind);
  size_t ByteSize() const;

  // The batch; the builder is empty afterwards.
  Batch Build();

 private:
  void Reset();

  SchemaPtr schema_;
  std::vector<std::shared_ptr<Column>> columns_;
  size_t rows_ = 0;
  std::vector<RowKind> kinds_;  // empty while every row is +I
};

// The value of a column's row as ToString shows it: 1, 'x', NULL, 3.50, 2026-11-30T10:00:00.123.
std::string FormatValue(const Column& column, size_t row);

}  // namespace weir
