#include "engine/data/bitmap.h"

#include <cstring>

#include "engine/base/check.h"
#include "engine/data/bitmap_format.h"

namespace weir {
namespace {

template <class T>
void AppendRaw(T value, std::string& out) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

uint32_t High(uint64_t id) { return static_cast<uint32_t>(id >> 32); }
uint32_t Low(uint64_t id) { return static_cast<uint32_t>(id); }

}  // namespace

std::optional<Bitmap> Bitmap::Parse(TypeKind kind, std::string_view bytes) {
  std::vector<BitmapPart> parts;
  if (!CheckBitmap(kind, bytes, parts)) return std::nullopt;
  Bitmap bitmap(kind);
  for (const BitmapPart& part : parts) {
    if (part.cardinality == 0) continue;
    roaring_bitmap_t* read = roaring_bitmap_portable_deserialize_safe(part.bytes.data(), part.bytes.size());
    if (read == nullptr) return std::nullopt;
    bitmap.parts_.emplace_hint(bitmap.parts_.end(), part.high, Roaring(read));
    bitmap.cardinality_ += part.cardinality;
  }
  return bitmap;
}

void Bitmap::Serialise(std::string& out) const {
  if (kind_ == TypeKind::kBitmap32) {
    const Roaring none;
    return AppendBitmapPart(parts_.empty() ? none : parts_.begin()->second, out);
  }
  AppendRaw(uint64_t{parts_.size()}, out);
  for (const auto& [high, part] : parts_) {
    AppendRaw(high, out);
    AppendBitmapPart(part, out);
  }
}

bool Bitmap::Add(uint64_t id) {
  WEIR_CHECK(kind_ == TypeKind::kBitmap64 || High(id) == 0);
  const bool added = parts_[High(id)].addChecked(Low(id));
  cardinality_ += added ? 1 : 0;
  return added;
}

bool Bitmap::Remove(uint64_t id) {
  const auto part = parts_.find(High(id));
  if (part == parts_.end() || !part->second.removeChecked(Low(id))) return false;
  --cardinality_;
  if (part->second.isEmpty()) parts_.erase(part);
  return true;
}

bool Bitmap::Contains(uint64_t id) const {
  const auto part = parts_.find(High(id));
  return part != parts_.end() && part->second.contains(Low(id));
}

void Bitmap::Count() {
  cardinality_ = 0;
  for (const auto& [high, part] : parts_) cardinality_ += part.cardinality();
}

void Bitmap::AppendIds(std::vector<uint64_t>& out) const {
  std::vector<uint32_t> lows;
  for (const auto& [high, part] : parts_) {
    lows.resize(part.cardinality());
    part.toUint32Array(lows.data());
    for (const uint32_t low : lows) out.push_back(uint64_t{high} << 32 | low);
  }
}

size_t Bitmap::ByteSize() const {
  constexpr size_t kPartOverhead = 128;
  constexpr size_t kManyParts = 64;  // spread over so many, ids are few in each
  if (parts_.size() > kManyParts) return sizeof *this + parts_.size() * kPartOverhead + 4 * cardinality_;
  size_t bytes = sizeof *this;
  for (const auto& [high, part] : parts_) bytes += kPartOverhead + part.getSizeInBytes();
  return bytes;
}

template <class Change>
void Bitmap::Combine(const Bitmap& other, bool keep_own, Change change) {
  for (auto part = parts_.begin(); part != parts_.end();) {
    const auto theirs = other.parts_.find(part->first);
    if (theirs != other.parts_.end()) {
      change(part->second, theirs->second);
    } else if (!keep_own) {
      part = parts_.erase(part);
      continue;
    }
    part = part->second.isEmpty() ? parts_.erase(part) : std::next(part);
  }
  Count();
}

void Bitmap::Or(const Bitmap& other) {
  for (const auto& [high, part] : other.parts_) parts_[high] |= part;
  Count();
}

void Bitmap::And(const Bitmap& other) {
  Combine(other, false, [](Roaring& own, const Roaring& theirs) { own &= theirs; });
}

void Bitmap::Xor(const Bitmap& other) {
  for (const auto& [high, part] : other.parts_) {
    const auto own = parts_.try_emplace(high).first;
    own->second ^= part;
    if (own->second.isEmpty()) parts_.erase(own);
  }
  Count();
}

void Bitmap::AndNot(const Bitmap& other) {
  Combine(other, true, [](Roaring& own, const Roaring& theirs) { own -= theirs; });
}

std::optional<std::string> CanonicalBitmap(TypeKind kind, std::string_view bytes) {
  std::optional<Bitmap> bitmap = Bitmap::Parse(kind, bytes);
  if (!bitmap) return std::nullopt;
  std::string canonical;
  bitmap->Serialise(canonical);
  return canonical;
}

uint64_t BitmapCardinality(TypeKind kind, std::string_view bytes) {
  std::vector<BitmapPart> parts;
  if (!CheckBitmap(kind, bytes, parts)) return 0;
  uint64_t count = 0;
  for (const BitmapPart& part : parts) count += part.cardinality;
  return count;
}

}  // namespace weir
