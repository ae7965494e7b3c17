#include "engine/data/batch.h"

#include "engine/data/text.h"

namespace weir {

std::string_view ToString(RowKind kind) {
  static constexpr std::string_view kNames[] = {"+I", "-U", "+U", "-D"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<RowKind> ParseRowKind(std::string_view text) {
  for (const RowKind kind : {RowKind::kInsert, RowKind::kUpdateBefore, RowKind::kUpdateAfter, RowKind::kDelete}) {
    if (text == ToString(kind)) return kind;
  }
  return std::nullopt;
}

Batch Batch::WithColumns(SchemaPtr schema, std::vector<ColumnPtr> columns) const {
  Batch out(std::move(schema), std::move(columns), rows_, kinds_);
  out.positions_ = positions_;
  return out;
}

Batch Batch::Gather(std::span<const uint32_t> selection) const {
  std::vector<ColumnPtr> columns;
  columns.reserve(columns_.size());
  for (const ColumnPtr& column : columns_) columns.push_back(Column::Gather(column, selection));
  std::vector<RowKind> kinds;
  if (!kinds_.empty()) {
    kinds.resize(selection.size());
    for (size_t i = 0; i < selection.size(); ++i) kinds[i] = kinds_[selection[i]];
  }
  Batch out(schema_, std::move(columns), selection.size(), std::move(kinds));
  if (positions_) {
    auto positions = std::make_shared<std::vector<RowPosition>>(selection.size());
    for (size_t i = 0; i < selection.size(); ++i) (*positions)[i] = (*positions_)[selection[i]];
    out.positions_ = std::move(positions);
  }
  return out;
}

Batch Batch::Slice(size_t from, size_t count) const {
  Selection selection(count);
  for (size_t i = 0; i < count; ++i) selection[i] = static_cast<uint32_t>(from + i);
  return Gather(selection);
}

size_t Batch::ByteSize() const {
  size_t bytes = kinds_.size() + (positions_ ? positions_->size() * sizeof(RowPosition) : 0);
  for (const ColumnPtr& column : columns_) bytes += column->ByteSize();
  return bytes;
}

std::string Batch::ToString() const {
  std::string out;
  for (size_t row = 0; row < rows_; ++row) {
    out += weir::ToString(kind(row));
    for (const ColumnPtr& column : columns_) {
      out += ' ';
      out += FormatValue(*column, row);
    }
    out += '\n';
  }
  return out;
}

BatchBuilder::BatchBuilder(SchemaPtr schema) : schema_(std::move(schema)) { Reset(); }

void BatchBuilder::Reset() {
  columns_.clear();
  columns_.reserve(schema_->size());
  for (const Field& field : schema_->fields()) columns_.push_back(std::make_shared<Column>(field.type));
  rows_ = 0;
  kinds_.clear();
}

void BatchBuilder::FinishRows(size_t count, RowKind kind) {
  if (kinds_.empty() && kind != RowKind::kInsert) kinds_.assign(rows_, RowKind::kInsert);
  rows_ += count;
  if (kind != RowKind::kInsert || !kinds_.empty()) kinds_.resize(rows_, kind);
}

void BatchBuilder::AppendSelected(const Batch& batch, std::span<const uint32_t> selection) {
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i]->AppendSelected(batch.column(i), selection);
  if (batch.insert_only()) return FinishRows(selection.size(), RowKind::kInsert);
  if (kinds_.empty()) kinds_.assign(rows_, RowKind::kInsert);
  for (const uint32_t row : selection) kinds_.push_back(batch.kinds()[row]);
  rows_ += selection.size();
}

void BatchBuilder::AppendRow(const Batch& batch, size_t row, RowKind kind) {
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i]->AppendFrom(batch.column(i), row);
  FinishRow(kind);
}

size_t BatchBuilder::ByteSize() const {
  size_t bytes = kinds_.size();
  for (const auto& column : columns_) bytes += column->ByteSize();
  return bytes;
}

Batch BatchBuilder::Build() {
  std::vector<ColumnPtr> columns;
  columns.reserve(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    WEIR_CHECK_EQ(columns_[i]->size(), rows_);
    columns.push_back(std::move(columns_[i]));
  }
  Batch out(schema_, std::move(columns), rows_, std::move(kinds_));
  Reset();
  return out;
}

std::string FormatValue(const Column& column, size_t row) {
  if (column.IsNull(row)) return "NULL";
  std::string out;
  const bool quoted = column.type().kind == TypeKind::kString;
  if (quoted) out += '\'';
  AppendValueText(column, row, out);
  if (quoted) out += '\'';
  return out;
}

}  // namespace weir
