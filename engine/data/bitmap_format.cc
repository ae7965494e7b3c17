#include "engine/data/bitmap_format.h"

#include <roaring/containers/containers.h>

#include <cstring>

#include "engine/base/check.h"

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

// --- writing

// Calls visit(first, last) for the longest runs of a container, in order.
template <class Visit>
void ForEachRun(const void* container, uint8_t type, Visit visit) {
  uint32_t first = 0;
  uint32_t next = 0;  // behind the run so far; 0: there is none
  const auto take = [&](uint32_t from, uint32_t to) {
    if (next != 0 && from == next) {
      next = to + 1;
      return;
    }
    if (next != 0) visit(first, next - 1);
    first = from;
    next = to + 1;
  };
  if (type == ARRAY_CONTAINER_TYPE_CODE) {
    const auto* array = static_cast<const array_container_t*>(container);
    for (int32_t i = 0; i < array->cardinality; ++i) take(array->array[i], array->array[i]);
  } else if (type == RUN_CONTAINER_TYPE_CODE) {
    const auto* runs = static_cast<const run_container_t*>(container);
    for (int32_t i = 0; i < runs->n_runs; ++i) {
      take(runs->runs[i].value, uint32_t{runs->runs[i].value} + runs->runs[i].length);
    }
  } else {
    WEIR_CHECK(type == BITSET_CONTAINER_TYPE_CODE);
    const auto* bitset = static_cast<const bitset_container_t*>(container);
    for (uint32_t word = 0; word < kBitsetBytes / sizeof(uint64_t); ++word) {
      for (uint64_t bits = bitset->array[word]; bits != 0;) {
        const auto from = static_cast<uint32_t>(__builtin_ctzll(bits));
        const uint64_t behind = ~(bits >> from);
        const uint32_t length = behind == 0 ? 64 : static_cast<uint32_t>(__builtin_ctzll(behind));
        take(word * 64 + from, word * 64 + from + length - 1);
        bits = from + length >= 64 ? 0 : bits >> (from + length) << (from + length);
      }
    }
  }
  if (next != 0) visit(first, next - 1);
}

struct Shape {
  uint32_t runs = 0;
  uint32_t cardinality = 0;

  size_t PlainBytes() const { return cardinality <= kMaxArray ? 2 * size_t{cardinality} : kBitsetBytes; }
  size_t RunBytes() const { return 2 + 4 * size_t{runs}; }
  // The rule of CRoaring's run_optimize, which prices an array at two bytes more than it takes: so the bytes are those of
  // other writers.
  bool AsRuns() const { return RunBytes() < PlainBytes() + (cardinality <= kMaxArray ? 2 : 0); }
  size_t Bytes() const { return AsRuns() ? RunBytes() : PlainBytes(); }
};

template <class T>
void Append(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendContainer(const void* container, uint8_t type, const Shape& shape, std::string& out) {
  if (shape.AsRuns()) {
    Append(static_cast<uint16_t>(shape.runs), out);
    ForEachRun(container, type, [&](uint32_t first, uint32_t last) {
      Append(static_cast<uint16_t>(first), out);
      Append(static_cast<uint16_t>(last - first), out);
    });
  } else if (shape.cardinality <= kMaxArray) {
    ForEachRun(container, type, [&](uint32_t first, uint32_t last) {
      for (uint32_t value = first; value <= last; ++value) Append(static_cast<uint16_t>(value), out);
    });
  } else {
    const size_t at = out.size();
    out.resize(at + kBitsetBytes, '\0');
    ForEachRun(container, type, [&](uint32_t first, uint32_t last) {
      for (uint32_t value = first; value <= last; ++value) {
        out[at + value / 8] = static_cast<char>(static_cast<uint8_t>(out[at + value / 8]) | 1u << (value % 8));
      }
    });
  }
}

}  // namespace

void AppendBitmapPart(const Roaring& part, std::string& out) {
  const roaring_array_t& containers = part.roaring.high_low_container;
  const auto count = static_cast<size_t>(containers.size);
  std::vector<Shape> shapes(count);
  bool with_runs = false;
  for (size_t i = 0; i < count; ++i) {
    ForEachRun(containers.containers[i], containers.typecodes[i], [&](uint32_t first, uint32_t last) {
      ++shapes[i].runs;
      shapes[i].cardinality += last - first + 1;
    });
    WEIR_CHECK(shapes[i].cardinality > 0);
    with_runs = with_runs || shapes[i].AsRuns();
  }
  const size_t start = out.size();
  if (with_runs) {
    Append(kCookieWithRuns | static_cast<uint32_t>(count - 1) << 16, out);
    for (size_t i = 0; i < count; i += 8) {
      uint32_t flags = 0;
      for (size_t k = i; k < count && k < i + 8; ++k) flags |= static_cast<uint32_t>(shapes[k].AsRuns()) << (k - i);
      out += static_cast<char>(flags);
    }
  } else {
    Append(kCookieWithoutRuns, out);
    Append(static_cast<uint32_t>(count), out);
  }
  for (size_t i = 0; i < count; ++i) {
    Append(containers.keys[i], out);
    Append(static_cast<uint16_t>(shapes[i].cardinality - 1), out);
  }
  if (!with_runs || count >= kOffsetsFrom) {
    size_t offset = out.size() - start + 4 * count;
    for (const Shape& shape : shapes) {
      Append(static_cast<uint32_t>(offset), out);
      offset += shape.Bytes();
    }
  }
  for (size_t i = 0; i < count; ++i) {
    AppendContainer(containers.containers[i], containers.typecodes[i], shapes[i], out);
  }
}

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
