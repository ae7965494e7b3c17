// Columns filled from a law, and texts of which a kind has few.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/data/column.h"

namespace weir {

// Written once; every batch refers to the same bytes.
class Words {
 public:
  void Add(std::string_view word) {
    refs_.push_back({static_cast<uint32_t>(arena_->size()), static_cast<uint32_t>(word.size())});
    arena_->append(word.data(), word.size());
  }
  size_t size() const { return refs_.size(); }
  TextRef operator[](size_t i) const { return refs_[i]; }
  std::string_view text(size_t i) const { return {arena_->data() + refs_[i].offset, refs_[i].size}; }
  const std::shared_ptr<Arena>& arena() const { return arena_; }

 private:
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  std::vector<TextRef> refs_;
};

// `value` gives the number of a row, in the physical form of `type`.
template <class Rows, class Value>
ColumnPtr IntColumn(DataType type, const Rows& rows, Value value) {
  auto column = std::make_shared<Column>(type);
  column->Resize(rows.size());
  int64_t* to = column->mutable_ints();
  for (size_t i = 0; i < rows.size(); ++i) to[i] = value(rows[i]);
  return column;
}

// `value` gives the index of a row's word.
template <class Rows, class Value>
ColumnPtr WordColumn(const Words& words, const Rows& rows, Value value) {
  auto column = std::make_shared<Column>(StringType());
  column->ShareArena(words.arena());
  column->Resize(rows.size());
  TextRef* to = column->mutable_texts();
  for (size_t i = 0; i < rows.size(); ++i) to[i] = words[value(rows[i])];
  return column;
}

// `write(row, at)` writes a row's text and returns its end; all together have at most `bytes`.
template <class Rows, class Write>
ColumnPtr WrittenColumn(const Rows& rows, size_t bytes, Write write) {
  auto column = std::make_shared<Column>(StringType());
  column->Resize(rows.size());
  Arena& arena = column->mutable_arena();
  arena.resize(bytes);
  TextRef* refs = column->mutable_texts();
  char* at = arena.data();
  for (size_t i = 0; i < rows.size(); ++i) {
    char* const end = write(rows[i], at);
    refs[i] = {static_cast<uint32_t>(at - arena.data()), static_cast<uint32_t>(end - at)};
    at = end;
  }
  arena.resize(static_cast<size_t>(at - arena.data()));
  return column;
}

}  // namespace weir
