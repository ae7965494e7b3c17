// Keys are encoded a chunk of rows at a time, column after column, so that what a type needs is decided once a column
// and chunk: (1) every row gets a slot as long as its key can be, (2) each column appends its value to every slot,
// (3) the slots are hashed.
#include "engine/data/bucket.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/check.h"

namespace weir {
namespace {

static_assert(std::endian::native == std::endian::little, "the key bytes are little endian, as the loads here are");

constexpr size_t kChunkRows = 512;
constexpr size_t kMaxVarint32 = 5;
constexpr size_t kMaxVarint64 = 10;
constexpr size_t kMaxWide = 1 + sizeof(Int128);
// Values are stored as whole words, of which the bytes that do not count are overwritten by the next value.
constexpr size_t kSlotSlack = 8;
constexpr char kNullByte = '\xff';

constexpr uint32_t kC1 = 0xcc9e2d51;
constexpr uint32_t kC2 = 0x1b873593;
constexpr uint32_t kSeed = 42;

inline uint32_t MixWord(uint32_t hash, uint32_t word) {
  word = std::rotl(word * kC1, 15) * kC2;
  return std::rotl(hash ^ word, 13) * 5 + 0xe6546b64;
}

inline uint32_t Finish(uint32_t hash) {
  hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  return hash ^ (hash >> 16);
}

inline uint32_t HashKey(const char* at, size_t size) {
  uint32_t hash = kSeed;
  const char* const end = at + size;
  for (; end - at >= 4; at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, at, sizeof word);
    hash = MixWord(hash, word);
  }
  for (; at < end; ++at) hash = MixWord(hash, static_cast<uint32_t>(static_cast<int8_t>(*at)));
  return Finish(hash ^ static_cast<uint32_t>(size));
}

inline int32_t HashOfHash(uint32_t hash) {
  const uint32_t result = Finish(MixWord(0, hash) ^ 4);
  // The absolute value, 0 for the smallest number; half of all hashes are negative, so a branch would be a coin toss.
  const uint32_t sign = 0 - (result >> 31);
  return static_cast<int32_t>(((result ^ sign) - sign) & 0x7fffffff);
}

inline int32_t HashBoth(std::string_view key) { return HashOfHash(HashKey(key.data(), key.size())); }

// hash % count with two multiplications in place of a division (Lemire, Kaser, Kurz: Faster remainder by direct
// computation, 2019).
class Remainder {
 public:
  explicit Remainder(uint32_t count) : count_(count), inverse_(~uint64_t{0} / count + 1) {}
  uint32_t Of(uint32_t hash) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint32_t>(static_cast<Wide>(inverse_ * hash) * count_ >> 64);
  }

 private:
  uint32_t count_;
  uint64_t inverse_;
};

[[gnu::noinline]] char* PutLongLeb128(char* out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

// Spreads the groups of seven bits over the bytes of a word: without a branch on the length, which differs from row to
// row.
inline char* PutLeb128(char* out, uint64_t value) {
  if (value >= uint64_t{1} << 56) return PutLongLeb128(out, value);
  uint64_t word = (value & 0xfffffff) | ((value & 0xfffffff0000000) << 4);
  word = (word & 0x00003fff00003fff) | ((word & 0x0fffc0000fffc000) << 2);
  word = (word & 0x007f007f007f007f) | ((word & 0x3f803f803f803f80) << 1);
  const auto bytes = (static_cast<unsigned>(std::bit_width(value | 1)) * 9 + 64) / 64;
  word |= 0x8080808080808080 & ((uint64_t{1} << (8 * (bytes - 1))) - 1);
  std::memcpy(out, &word, sizeof word);
  return out + bytes;
}

template <class T>
char* PutWord(char* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return out + sizeof value;
}

template <class T>
char* PutReal(char* out, T value) {
  if (value == 0) value = 0;  // -0.0 is 0.0
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  return PutWord(out, value);
}

// Java's BigInteger.toByteArray: big endian, as short as the sign allows.
char* PutWide(char* out, Int128 value) {
  int bytes = 1;
  while (bytes < 16 && value >> (8 * bytes - 1) != 0 && value >> (8 * bytes - 1) != -1) ++bytes;
  *out++ = static_cast<char>(bytes);
  for (int i = bytes - 1; i >= 0; --i) *out++ = static_cast<char>(value >> (8 * i));
  return out;
}

inline int64_t FloorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

// Microseconds as Fluss writes them: milliseconds, and from timestamp(4) on the nanoseconds within the millisecond.
inline char* PutMillis(char* out, int64_t micros) {
  return PutLeb128(out, static_cast<uint64_t>(FloorDivide(micros, 1000)));
}
inline char* PutMillisAndNanos(char* out, int64_t micros) {
  const int64_t millis = FloorDivide(micros, 1000);
  out = PutLeb128(out, static_cast<uint64_t>(millis));
  return PutLeb128(out, static_cast<uint64_t>((micros - millis * 1000) * 1000));
}

inline char* PutText(char* out, std::string_view text) {
  out = PutLeb128(out, text.size());
  // A call of memcpy costs more than most keys are long.
  const size_t size = text.size();
  if (size > 16) {
    std::memcpy(out, text.data(), size);
  } else if (size >= 8) {
    std::memcpy(out, text.data(), 8);
    std::memcpy(out + size - 8, text.data() + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(out, text.data(), 4);
    std::memcpy(out + size - 4, text.data() + size - 4, 4);
  } else {
    for (size_t i = 0; i < size; ++i) out[i] = text[i];
  }
  return out + size;
}

// The longest that a value of the column can be; without the text itself.
size_t MaxBytes(const Column& column) {
  switch (column.physical()) {
    case Physical::kBool:
      return 1;
    case Physical::kInt64:
      return column.type().IsTimestamp() ? kMaxVarint64 + kMaxVarint32 : kMaxVarint64;
    case Physical::kDouble:
      return sizeof(double);
    case Physical::kInt128:
      return kMaxWide;
    case Physical::kText:
      return kMaxVarint32;
  }
  return 0;
}

// The keys of a chunk of rows of one batch.
class KeyChunk {
 public:
  KeyChunk(const Batch& batch, std::span<const int> key_columns) : batch_(batch), key_columns_(key_columns) {
    for (const int index : key_columns_) max_bytes_ += MaxBytes(column(index));
  }

  // Encodes `rows` rows, at most kChunkRows, from row `from` on.
  void Encode(size_t from, size_t rows) {
    from_ = from;
    rows_ = rows;
    LaySlots();
    for (const int index : key_columns_) AppendColumn(column(index));
  }

  std::string_view key(size_t i) const {
    const char* start = bytes_.data() + starts_[i];
    return {start, static_cast<size_t>(ends_[i] - start)};
  }

 private:
  const Column& column(int index) const { return batch_.column(static_cast<size_t>(index)); }

  void LaySlots() {
    for (size_t i = 0; i < rows_; ++i) starts_[i] = max_bytes_ + kSlotSlack;
    for (const int index : key_columns_) {
      if (column(index).physical() != Physical::kText) continue;
      const TextRef* texts = column(index).texts().data() + from_;
      for (size_t i = 0; i < rows_; ++i) starts_[i] += texts[i].size;
    }
    size_t total = 0;
    for (size_t i = 0; i < rows_; ++i) total += std::exchange(starts_[i], total);
    if (bytes_.size() < total) bytes_.resize(total);
    for (size_t i = 0; i < rows_; ++i) ends_[i] = bytes_.data() + starts_[i];
  }

  template <class Put>
  void Append(const Column& column, Put put) {
    if (!column.has_nulls()) {
      for (size_t i = 0; i < rows_; ++i) ends_[i] = put(ends_[i], from_ + i);
      return;
    }
    const uint8_t* nulls = column.nulls().data() + from_;
    for (size_t i = 0; i < rows_; ++i) {
      if (nulls[i] != 0) {
        *ends_[i]++ = kNullByte;
      } else {
        ends_[i] = put(ends_[i], from_ + i);
      }
    }
  }

  void AppendColumn(const Column& column) {
    switch (column.physical()) {
      case Physical::kBool: {
        const auto values = column.bools();
        return Append(column, [values](char* out, size_t row) { return PutWord(out, values[row]); });
      }
      case Physical::kInt64:
        return AppendInts(column);
      case Physical::kDouble: {
        const auto values = column.doubles();
        if (column.type().kind == TypeKind::kFloat) {
          return Append(column,
                        [values](char* out, size_t row) { return PutReal(out, static_cast<float>(values[row])); });
        }
        return Append(column, [values](char* out, size_t row) { return PutReal(out, values[row]); });
      }
      case Physical::kInt128: {
        const auto values = column.wides();
        return Append(column, [values](char* out, size_t row) { return PutWide(out, values[row]); });
      }
      case Physical::kText: {
        const char* arena = column.arena_data();
        const auto texts = column.texts();
        return Append(column, [arena, texts](char* out, size_t row) {
          return PutText(out, {arena + texts[row].offset, texts[row].size});
        });
      }
    }
  }

  void AppendInts(const Column& column) {
    const auto values = column.ints();
    switch (column.type().kind) {
      case TypeKind::kTinyint:
        return Append(column,
                      [values](char* out, size_t row) { return PutWord(out, static_cast<int8_t>(values[row])); });
      case TypeKind::kSmallint:
        return Append(column,
                      [values](char* out, size_t row) { return PutWord(out, static_cast<int16_t>(values[row])); });
      case TypeKind::kInt:
      case TypeKind::kDate:
        return Append(column,
                      [values](char* out, size_t row) { return PutLeb128(out, static_cast<uint32_t>(values[row])); });
      case TypeKind::kTime:
        return Append(column, [values](char* out, size_t row) {
          return PutLeb128(out, static_cast<uint32_t>(FloorDivide(values[row], 1000)));
        });
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        if (column.type().precision <= 3) {
          return Append(column, [values](char* out, size_t row) { return PutMillis(out, values[row]); });
        }
        return Append(column, [values](char* out, size_t row) { return PutMillisAndNanos(out, values[row]); });
      default:
        return Append(column,
                      [values](char* out, size_t row) { return PutLeb128(out, static_cast<uint64_t>(values[row])); });
    }
  }

  const Batch& batch_;
  std::span<const int> key_columns_;
  size_t max_bytes_ = 0;  // of a key, without its texts
  size_t from_ = 0;
  size_t rows_ = 0;
  Buffer<char> bytes_;
  std::array<size_t, kChunkRows> starts_;
  std::array<char*, kChunkRows> ends_;
};

}  // namespace

int32_t BucketHash(std::string_view key_bytes) { return HashBoth(key_bytes); }

void BucketRows(const Batch& batch, std::span<const int> key_columns, int count, std::vector<uint16_t>& buckets) {
  WEIR_CHECK(count > 0 && count <= 1 << 16);
  buckets.resize(batch.rows());
  if (count == 1) {
    std::fill(buckets.begin(), buckets.end(), uint16_t{0});
    return;
  }
  const Remainder remainder(static_cast<uint32_t>(count));
  KeyChunk chunk(batch, key_columns);
  for (size_t from = 0; from < batch.rows(); from += kChunkRows) {
    const size_t rows = std::min(kChunkRows, batch.rows() - from);
    chunk.Encode(from, rows);
    for (size_t i = 0; i < rows; ++i) {
      buckets[from + i] = static_cast<uint16_t>(remainder.Of(static_cast<uint32_t>(HashBoth(chunk.key(i)))));
    }
  }
}

std::string BucketKeyBytes(const Batch& batch, std::span<const int> key_columns, size_t row) {
  KeyChunk chunk(batch, key_columns);
  chunk.Encode(row, 1);
  return std::string(chunk.key(0));
}

}  // namespace weir
