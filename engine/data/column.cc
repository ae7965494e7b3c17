#include "engine/data/column.h"

#include <algorithm>

namespace weir {
namespace {

template <class T>
void GatherInto(Buffer<T>& out, std::span<const T> from, std::span<const uint32_t> rows) {
  const size_t start = out.size();
  out.resize(start + rows.size());
  T* to = out.data() + start;
  for (size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
}

template <class T>
void AppendTo(Buffer<T>& out, std::span<const T> from) {
  out.append(from.data(), from.size());
}

}  // namespace

size_t Column::ByteSize() const {
  size_t bytes = nulls_.size() + bools_.size() + ints_.size() * sizeof(int64_t) + doubles_.size() * sizeof(double) +
                 wides_.size() * sizeof(Int128) + texts_.size() * sizeof(TextRef);
  for (const TextRef& ref : texts_) bytes += ref.size;
  return bytes;
}

void Column::Reserve(size_t rows) {
  switch (physical_) {
    case Physical::kBool: bools_.reserve(rows); break;
    case Physical::kInt64: ints_.reserve(rows); break;
    case Physical::kDouble: doubles_.reserve(rows); break;
    case Physical::kInt128: wides_.reserve(rows); break;
    case Physical::kText: texts_.reserve(rows); break;
  }
}

void Column::AppendNull() {
  mutable_nulls();
  switch (physical_) {
    case Physical::kBool: bools_.push_back(0); break;
    case Physical::kInt64: ints_.push_back(0); break;
    case Physical::kDouble: doubles_.push_back(0); break;
    case Physical::kInt128: wides_.push_back(0); break;
    case Physical::kText: texts_.push_back({0, 0}); break;
  }
  nulls_.resize(size_);
  nulls_.push_back(1);
  ++size_;
}

void Column::AppendFrom(const Column& other, size_t row) {
  if (other.IsNull(row)) return AppendNull();
  switch (physical_) {
    case Physical::kBool: return AppendBool(other.bools_[row] != 0);
    case Physical::kInt64: return AppendInt(other.ints_[row]);
    case Physical::kDouble: return AppendDouble(other.doubles_[row]);
    case Physical::kInt128: return AppendWide(other.wides_[row]);
    case Physical::kText: return AppendText(other.text(row));
  }
}

void Column::AppendSelected(const Column& other, std::span<const uint32_t> rows) {
  WEIR_CHECK(physical_ == other.physical_);
  if (rows.empty()) return;
  if (other.has_nulls() || has_nulls()) {
    mutable_nulls();
    nulls_.resize(size_);
    nulls_.reserve(size_ + rows.size());
    for (const uint32_t row : rows) nulls_.push_back(other.IsNull(row) ? 1 : 0);
  }
  size_ += rows.size();
  switch (physical_) {
    case Physical::kBool: return GatherInto(bools_, other.bools(), rows);
    case Physical::kInt64: return GatherInto(ints_, other.ints(), rows);
    case Physical::kDouble: return GatherInto(doubles_, other.doubles(), rows);
    case Physical::kInt128: return GatherInto(wides_, other.wides(), rows);
    case Physical::kText: break;
  }
  size_t bytes = 0;
  for (const uint32_t row : rows) bytes += other.texts_[row].size;
  if (bytes == 0) return texts_.resize(texts_.size() + rows.size(), TextRef{0, 0});
  Arena& arena = mutable_arena();
  size_t at = arena.size();
  WEIR_CHECK_LE(at + bytes, size_t{UINT32_MAX});
  if (arena.capacity() < at + bytes) arena.reserve(std::max(at + bytes, 2 * arena.capacity()));
  arena.resize(at + bytes);
  texts_.reserve(texts_.size() + rows.size());
  const char* from = other.arena_data();
  char* to = arena.data();
  for (const uint32_t row : rows) {
    const TextRef ref = other.texts_[row];
    if (ref.size > 0) std::memcpy(to + at, from + ref.offset, ref.size);
    texts_.push_back({static_cast<uint32_t>(at), ref.size});
    at += ref.size;
  }
}

void Column::AppendAll(const Column& other) {
  WEIR_CHECK(physical_ == other.physical_);
  if (other.size_ == 0) return;
  if (other.has_nulls() || has_nulls()) {
    mutable_nulls();
    nulls_.resize(size_);
    if (other.has_nulls()) {
      nulls_.insert(nulls_.end(), other.nulls_.begin(), other.nulls_.end());
    } else {
      nulls_.resize(size_ + other.size_, 0);
    }
  }
  size_ += other.size_;
  switch (physical_) {
    case Physical::kBool: return AppendTo(bools_, other.bools());
    case Physical::kInt64: return AppendTo(ints_, other.ints());
    case Physical::kDouble: return AppendTo(doubles_, other.doubles());
    case Physical::kInt128: return AppendTo(wides_, other.wides());
    case Physical::kText: break;
  }
  Arena& arena = mutable_arena();
  for (size_t row = 0; row < other.size_; ++row) {
    const std::string_view value = other.text(row);
    const size_t at = arena.size();
    WEIR_CHECK_LE(at + value.size(), size_t{UINT32_MAX});
    arena.append(value.data(), value.size());
    texts_.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(value.size())});
  }
}

void Column::Resize(size_t rows) {
  size_ = rows;
  if (!nulls_.empty()) nulls_.resize(rows, 0);
  switch (physical_) {
    case Physical::kBool: bools_.resize(rows); break;
    case Physical::kInt64: ints_.resize(rows); break;
    case Physical::kDouble: doubles_.resize(rows); break;
    case Physical::kInt128: wides_.resize(rows); break;
    case Physical::kText: texts_.resize(rows); break;
  }
}

void Column::TrimNulls() {
  if (std::find(nulls_.begin(), nulls_.end(), uint8_t{1}) == nulls_.end()) nulls_.clear();
}

void Column::Truncate(size_t rows) {
  if (rows >= size_) return;
  Resize(rows);
  if (rows == 0) nulls_.clear();
}

ColumnPtr Column::Gather(const ColumnPtr& column, std::span<const uint32_t> selection) {
  auto out = std::make_shared<Column>(column->type_);
  out->size_ = selection.size();
  if (column->has_nulls()) {
    out->nulls_.resize(selection.size());
    for (size_t i = 0; i < selection.size(); ++i) out->nulls_[i] = column->nulls_[selection[i]];
    out->TrimNulls();
  }
  switch (column->physical_) {
    case Physical::kBool: GatherInto(out->bools_, column->bools(), selection); break;
    case Physical::kInt64: GatherInto(out->ints_, column->ints(), selection); break;
    case Physical::kDouble: GatherInto(out->doubles_, column->doubles(), selection); break;
    case Physical::kInt128: GatherInto(out->wides_, column->wides(), selection); break;
    case Physical::kText:
      GatherInto(out->texts_, column->texts(), selection);
      out->arena_ = column->arena_;
      break;
  }
  return out;
}

ColumnPtr Column::Repeat(const Column& column, size_t row, size_t rows) {
  if (column.IsNull(row)) return Nulls(column.type_, rows);
  auto out = std::make_shared<Column>(column.type_);
  out->size_ = rows;
  switch (column.physical_) {
    case Physical::kBool: out->bools_.assign(rows, column.bools_[row]); break;
    case Physical::kInt64: out->ints_.assign(rows, column.ints_[row]); break;
    case Physical::kDouble: out->doubles_.assign(rows, column.doubles_[row]); break;
    case Physical::kInt128: out->wides_.assign(rows, column.wides_[row]); break;
    case Physical::kText:
      out->texts_.assign(rows, column.texts_[row]);
      out->arena_ = column.arena_;
      break;
  }
  return out;
}

ColumnPtr Column::Nulls(DataType type, size_t rows) {
  auto out = std::make_shared<Column>(type);
  out->size_ = rows;
  out->nulls_.assign(rows, 1);
  switch (out->physical_) {
    case Physical::kBool: out->bools_.assign(rows, 0); break;
    case Physical::kInt64: out->ints_.assign(rows, 0); break;
    case Physical::kDouble: out->doubles_.assign(rows, 0); break;
    case Physical::kInt128: out->wides_.assign(rows, 0); break;
    case Physical::kText: out->texts_.assign(rows, {0, 0}); break;
  }
  if (rows == 0) out->nulls_.clear();
  return out;
}

}  // namespace weir
