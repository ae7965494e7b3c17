// Sets of integers as Roaring bitmaps: the values of types bitmap32 and bitmap64.
//
// A bitmap32 holds ids of 32 bits, a bitmap64 of 64, both unsigned; a negative int or bigint is the id with the same
// bits.  Their bytes are the portable format: https://github.com/RoaringBitmap/RoaringFormatSpec, and for 64 bits its
// extension (u64 count, then of each 2^32 ids the u32 high half and a 32-bit bitmap).  The bytes that Serialise makes
// are canonical: equal sets have equal bytes, so that values of these types are compared and grouped as bytes.
//
// A Bitmap belongs to one thread; nothing throws but for want of memory.
#pragma once

#include <map>
#include <optional>
#include <roaring/roaring.hh>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/types.h"

namespace weir {

inline bool IsBitmap(TypeKind kind) { return kind == TypeKind::kBitmap32 || kind == TypeKind::kBitmap64; }

class Bitmap {
 public:
  // `kind`: kBitmap32 or kBitmap64.
  explicit Bitmap(TypeKind kind = TypeKind::kBitmap64) : kind_(kind) {}

  // The set that the bytes describe; empty when they are no bitmap of that kind: cut off, out of order, with a wrong
  // count or offset, or with bytes behind the end.  Any bytes may be given.
  static std::optional<Bitmap> Parse(TypeKind kind, std::string_view bytes);
  // Appends the canonical bytes.
  void Serialise(std::string& out) const;

  // REQUIRES for kBitmap32: the id has 32 bits.  False when it was there already, or was not there.
  bool Add(uint64_t id);
  bool Remove(uint64_t id);
  bool Contains(uint64_t id) const;

  uint64_t Cardinality() const { return cardinality_; }
  // Appends the ids, smallest first.
  void AppendIds(std::vector<uint64_t>& out) const;
  // About what it takes in memory.
  size_t ByteSize() const;

  void Or(const Bitmap& other);
  void And(const Bitmap& other);
  void Xor(const Bitmap& other);
  void AndNot(const Bitmap& other);

 private:
  void Count();
  template <class Change>
  void Combine(const Bitmap& other, bool keep_own, Change change);

  TypeKind kind_;
  std::map<uint32_t, Roaring> parts_;  // by high half; none is empty
  uint64_t cardinality_ = 0;
};

// The id of a value of an integer column in a bitmap of that kind.
inline uint64_t BitmapId(TypeKind kind, int64_t value) {
  return kind == TypeKind::kBitmap32 ? static_cast<uint32_t>(value) : static_cast<uint64_t>(value);
}
// And back: an int for kBitmap32, a bigint for kBitmap64.
inline int64_t BitmapValue(TypeKind kind, uint64_t id) {
  return kind == TypeKind::kBitmap32 ? static_cast<int32_t>(id) : static_cast<int64_t>(id);
}

// The canonical bytes of a bitmap that came from outside; empty when the bytes are none.
std::optional<std::string> CanonicalBitmap(TypeKind kind, std::string_view bytes);

// The number of ids that canonical (or checked) bytes hold, without building the set.
uint64_t BitmapCardinality(TypeKind kind, std::string_view bytes);

}  // namespace weir
