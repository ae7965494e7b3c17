#include "engine/data/bitmap_format.h"

#include <cstring>

namespace weir {
namespace {

constexpr uint32_t kCookieWithRuns = 12347;
constexpr uint32_t kCookieWithoutRuns = 12346;
constexpr size_t kMaxContainers = 65536;
constexpr size_t kOffsetsFrom = 4;  // containers, where there are runs
constexpr uint32_t kMaxArray = 4096;
constexpr size_t kBitsetBytes = 8192;

// Takes values from the front; `good` turns false, and values zero, when the bytes end too early.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T Take() {
    T value{};
    const std::string_view raw = TakeBytes(sizeof value);
    if (good_) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string_view TakeBytes(size_t count) {
    good_ = good_ && count <= bytes_.size() - at_;
    if (!good_) return {};
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }
  bool good() const { return good_; }
  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool good_ = true;
};

uint16_t Load16(std::string_view bytes, size_t index) {
  uint16_t value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

bool CheckArray(std::string_view values, uint32_t cardinality) {
  for (uint32_t i = 1; i < cardinality; ++i) {
    if (Load16(values, i) <= Load16(values, i - 1)) return false;
  }
  return true;
}

bool CheckBitset(std::string_view bits, uint32_t cardinality) {
  uint32_t count = 0;
  for (size_t i = 0; i < kBitsetBytes; i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bits.data() + i, sizeof word);
    count += static_cast<uint32_t>(__builtin_popcountll(word));
  }
  return count == cardinality;
}

bool CheckRuns(Cursor& cursor, uint32_t cardinality) {
  const auto runs = cursor.Take<uint16_t>();
  uint32_t count = 0;
  uint32_t next = 0;  // first value that a run may start with
  for (uint32_t i = 0; i < runs; ++i) {
    const uint32_t start = cursor.Take<uint16_t>();
    const uint32_t last = start + cursor.Take<uint16_t>();
    if (!cursor.good() || start < next || last > UINT16_MAX) return false;
    count += last - start + 1;
    next = last + 1;
  }
  return cursor.good() && count == cardinality;
}

// One 32-bit bitmap; adds up its cardinality.
bool CheckPart(Cursor& cursor, uint64_t& cardinality) {
  const size_t start = cursor.at();
  const auto cookie = cursor.Take<uint32_t>();
  const bool with_runs = (cookie & 0xFFFF) == kCookieWithRuns;
  if (!with_runs && cookie != kCookieWithoutRuns) return false;
  const size_t containers = with_runs ? (cookie >> 16) + 1 : cursor.Take<uint32_t>();
  if (!cursor.good() || containers > kMaxContainers) return false;
  const std::string_view is_run = with_runs ? cursor.TakeBytes((containers + 7) / 8) : std::string_view{};
  const std::string_view header = cursor.TakeBytes(4 * containers);
  const bool offsets_given = !with_runs || containers >= kOffsetsFrom;
  const std::string_view offsets = offsets_given ? cursor.TakeBytes(4 * containers) : std::string_view{};
  if (!cursor.good()) return false;
  for (size_t i = 0; i < containers; ++i) {
    if (i > 0 && Load16(header, 2 * i) <= Load16(header, 2 * i - 2)) return false;
    const uint32_t count = uint32_t{Load16(header, 2 * i + 1)} + 1;
    cardinality += count;
    if (offsets_given) {
      uint32_t offset;
      std::memcpy(&offset, offsets.data() + 4 * i, sizeof offset);
      if (offset != cursor.at() - start) return false;
    }
    if (with_runs && (static_cast<uint8_t>(is_run[i / 8]) >> (i % 8) & 1) != 0) {
      if (!CheckRuns(cursor, count)) return false;
      continue;
    }
    const bool array = count <= kMaxArray;
    const std::string_view values = cursor.TakeBytes(array ? 2 * count : kBitsetBytes);
    if (!cursor.good() || !(array ? CheckArray(values, count) : CheckBitset(values, count))) return false;
  }
  return true;
}

}  // namespace

bool CheckBitmap(TypeKind kind, std::string_view bytes, std::vector<BitmapPart>& parts) {
  Cursor cursor(bytes);
  const bool wide = kind == TypeKind::kBitmap64;
  const uint64_t count = wide ? cursor.Take<uint64_t>() : 1;
  constexpr size_t kLeastPart = 12;  // a high half and a bitmap without containers
  if (!cursor.good() || (wide && count > cursor.left() / kLeastPart)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    BitmapPart part;
    if (wide) part.high = cursor.Take<uint32_t>();
    if (!cursor.good() || (i > 0 && part.high <= parts.back().high)) return false;
    const size_t start = cursor.at();
    if (!CheckPart(cursor, part.cardinality)) return false;
    part.bytes = bytes.substr(start, cursor.at() - start);
    parts.push_back(part);
  }
  return cursor.left() == 0;
}

}  // namespace weir
