// ORDER BY as bytes: rows compare as memcmp compares their sort keys.
//
// A key is its fields, one behind the other, each delimiting itself:
//   NULL      00 (first) or FF (last), whatever the direction
//   integer   20 + the number of bytes n, then n bytes, highest first; of a negative number 1F - n and its n low bytes
//   double    20, 8 bytes in the order of SQL: NaN is the largest, -0.0 is 0.0
//   int128    20, 16 bytes
//   boolean   20 or 21
//   text      20, the bytes (00 becomes 00 FF), 00 00
// and every byte of a value is inverted where the order is descending.  So small numbers take few bytes, and no key is
// a proper prefix of another one.  Numbers of one column have one scale, so the unscaled values compare.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/row_codec.h"

namespace weir {

struct SortField {
  Physical physical = Physical::kInt64;
  bool descending = false;
  bool nulls_first = false;
};

class SortKeyCodec {
 public:
  SortKeyCodec() = default;
  explicit SortKeyCodec(std::vector<SortField> fields) : fields_(std::move(fields)) {}

  // The key of every row of the batch; one column a field.
  void Encode(const Batch& batch, std::span<const int> columns, EncodedRows& out) const;

 private:
  std::vector<SortField> fields_;
};

// Appends the key of one whole number (a value of a column of physical form int64).
void AppendSortKey(const SortField& field, int64_t value, std::string& key);
// The whole number that a key begins with; empty for NULL.
std::optional<int64_t> WholeNumberIn(const SortField& field, std::string_view key);

// 8 bytes that compare as numbers do.
inline void PutBigEndian(char* out, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(out, &value, sizeof value);
}
// The first 8 bytes of a key as a number, as if zeros followed it.
inline uint64_t SortPrefix(std::string_view key) {
  uint64_t value = 0;
  std::memcpy(&value, key.data(), key.size() < sizeof value ? key.size() : sizeof value);
  return __builtin_bswap64(value);
}

}  // namespace weir
