// One column of a batch: contiguous values of one physical form, a NULL mask only when there is a NULL.
//
// A Column is filled by one thread and then shared as ColumnPtr (immutable, any thread).  The value at a NULL row is
// defined (zero, empty), so that kernels may read every row without a branch.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/check.h"
#include "engine/data/buffer.h"
#include "engine/data/types.h"

namespace weir {

// Place of a text value in its column's arena.
struct TextRef {
  uint32_t offset;
  uint32_t size;
};

// The bytes of a column's text values.  Columns made by gathering share the arena and copy only the TextRefs.
using Arena = Buffer<char>;

class Column;
using ColumnPtr = std::shared_ptr<const Column>;
// Row numbers of a batch, ascending unless said otherwise.
using Selection = std::vector<uint32_t>;

class Column {
 public:
  explicit Column(DataType type) : type_(type), physical_(type.physical()) {}

  const DataType& type() const { return type_; }
  Physical physical() const { return physical_; }
  size_t size() const { return size_; }

  // --- reading -------------------------------------------------------------------------------------------------
  bool has_nulls() const { return !nulls_.empty(); }
  bool IsNull(size_t row) const { return !nulls_.empty() && nulls_[row] != 0; }
  // One byte a row, 1 = NULL; empty when there is none.
  std::span<const uint8_t> nulls() const { return nulls_; }
  std::span<const uint8_t> bools() const { return bools_; }
  std::span<const int64_t> ints() const { return ints_; }
  std::span<const double> doubles() const { return doubles_; }
  std::span<const Int128> wides() const { return wides_; }
  std::span<const TextRef> texts() const { return texts_; }
  const char* arena_data() const { return arena_ && !arena_->empty() ? arena_->data() : ""; }  // never null
  const std::shared_ptr<Arena>& arena() const { return arena_; }
  std::string_view text(size_t row) const {
    const TextRef ref = texts_[row];
    return {arena_data() + ref.offset, ref.size};
  }
  size_t ByteSize() const;  // of the values, without capacity; a shared arena counts by the texts that refer to it

  // --- filling, before the column is shared ------------------------------------------------------------------------
  void Reserve(size_t rows);
  void AppendNull();
  void AppendBool(bool value) { bools_.push_back(value), Grow(); }
  void AppendInt(int64_t value) { ints_.push_back(value), Grow(); }
  void AppendDouble(double value) { doubles_.push_back(value), Grow(); }
  void AppendWide(Int128 value) { wides_.push_back(value), Grow(); }
  void AppendText(std::string_view value) {
    if (!arena_) arena_ = std::make_shared<Arena>();
    const size_t offset = arena_->size();
    WEIR_CHECK_LE(offset + value.size(), size_t{UINT32_MAX});
    arena_->append(value.data(), value.size());
    texts_.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(value.size())});
    Grow();
  }
  // Copies the value or NULL of a column of the same physical form.
  void AppendFrom(const Column& other, size_t row);
  // The same for many rows: one call a column, not one a row.  Texts are copied into this column's arena.
  void AppendSelected(const Column& other, std::span<const uint32_t> rows);
  void AppendAll(const Column& other);

  // Makes the column `rows` long; the caller writes every value through the mutable_ accessors.
  void Resize(size_t rows);
  uint8_t* mutable_bools() { return bools_.data(); }
  int64_t* mutable_ints() { return ints_.data(); }
  double* mutable_doubles() { return doubles_.data(); }
  Int128* mutable_wides() { return wides_.data(); }
  TextRef* mutable_texts() { return texts_.data(); }
  // The NULL mask, created (all not NULL) on first use.
  uint8_t* mutable_nulls() {
    if (nulls_.empty()) nulls_.assign(size_, 0);
    return nulls_.data();
  }
  void SetNull(size_t row) { mutable_nulls()[row] = 1; }
  void ShareArena(std::shared_ptr<Arena> arena) { arena_ = std::move(arena); }
  Arena& mutable_arena() {
    if (!arena_) arena_ = std::make_shared<Arena>();
    return *arena_;
  }
  // Drops a mask without a NULL in it.
  void TrimNulls();
  // Undoes appends: the column is `rows` long afterwards (a bad record was half decoded).
  void Truncate(size_t rows);

  // --- whole columns ---------------------------------------------------------------------------------------------
  // The rows of `selection`, in its order; shares the arena.
  static ColumnPtr Gather(const ColumnPtr& column, std::span<const uint32_t> selection);
  // `rows` times the same value: row `row` of `column`.
  static ColumnPtr Repeat(const Column& column, size_t row, size_t rows);
  static ColumnPtr Nulls(DataType type, size_t rows);

 private:
  void Grow() {
    ++size_;
    if (!nulls_.empty()) nulls_.push_back(0);
  }

  DataType type_;
  Physical physical_;
  size_t size_ = 0;
  std::vector<uint8_t> nulls_;
  Buffer<uint8_t> bools_;
  Buffer<int64_t> ints_;
  Buffer<double> doubles_;
  Buffer<Int128> wides_;
  Buffer<TextRef> texts_;
  std::shared_ptr<Arena> arena_;
};

}  // namespace weir
