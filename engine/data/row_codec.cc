#include "engine/data/row_codec.h"

#include <bit>
#include <cmath>
#include <limits>

namespace weir {
namespace {

constexpr size_t kLongVarint = 9;
constexpr size_t kPrefetchDistance = 8;
// Room that values are written into beyond their own bytes.
constexpr size_t kSpill = 32;

uint64_t ZigZag(int64_t value) { return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63); }
int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1); }

inline size_t SizeOfVarint(uint64_t value) {
  const size_t bits = static_cast<size_t>(64 - std::countl_zero(value | 1));
  return bits > 56 ? kLongVarint : (bits + 6) / 7;
}

// Writes 8 bytes (9 for the longest form) whatever the length: the caller's buffer has slack.
inline char* WriteVarint(char* out, uint64_t value) {
  const size_t size = SizeOfVarint(value);
  if (size == kLongVarint) {
    *out = 0;
    std::memcpy(out + 1, &value, sizeof value);
  } else {
    const uint64_t word = (value << size) | (uint64_t{1} << (size - 1));
    std::memcpy(out, &word, sizeof word);
  }
  return out + size;
}

inline const char* ReadVarint(const char* in, uint64_t& value) {
  uint64_t word = 0;
  std::memcpy(&word, in, sizeof word);
  if ((word & 0xff) == 0) {
    std::memcpy(&value, in + 1, sizeof value);
    return in + kLongVarint;
  }
  const int size = std::countr_zero(word) + 1;
  value = (word << (64 - 8 * size)) >> (64 - 8 * size) >> size;
  return in + size;
}

inline const char* SkipVarint(const char* in) {
  const auto first = static_cast<unsigned char>(*in);
  return in + (first == 0 ? kLongVarint : static_cast<size_t>(std::countr_zero(first)) + 1);
}

inline const char* SkipField(Physical physical, const char* in) {
  switch (physical) {
    case Physical::kBool:
      return in + 1;
    case Physical::kInt64:
      return SkipVarint(in);
    case Physical::kDouble:
      return in + sizeof(double);
    case Physical::kInt128:
      return in + sizeof(Int128);
    case Physical::kText: {
      uint64_t size = 0;
      in = ReadVarint(in, size);
      return in + size;
    }
  }
  return in;
}

// Most texts are short, and a load and a store of a fixed size are cheaper than a call of memcpy.  Writes 16 bytes at
// least; `readable` bytes may be read from `from`.
inline void CopyText(char* out, const char* from, size_t size, size_t readable) {
  if (size <= 16 && readable >= 16) {
    std::memcpy(out, from, 16);
  } else {
    std::memcpy(out, from, size);
  }
}

double Canonical(double value) {
  if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  return value == 0 ? 0.0 : value;
}

inline bool HasNull(const char* row, size_t field) { return (row[field / 8] >> (field % 8)) & 1; }

// Where one decoded column goes: plain pointers, taken once a call.
struct Target {
  Column* column = nullptr;
  size_t base = 0;  // first new row
  uint8_t* bools = nullptr;
  int64_t* ints = nullptr;
  double* doubles = nullptr;
  Int128* wides = nullptr;
  TextRef* texts = nullptr;
  Arena* arena = nullptr;
  size_t arena_used = 0;

  Target(Column* target, size_t rows) : column(target) {
    if (column == nullptr) return;
    base = column->size();
    column->Resize(base + rows);
    switch (column->physical()) {
      case Physical::kBool:
        bools = column->mutable_bools() + base;
        break;
      case Physical::kInt64:
        ints = column->mutable_ints() + base;
        break;
      case Physical::kDouble:
        doubles = column->mutable_doubles() + base;
        break;
      case Physical::kInt128:
        wides = column->mutable_wides() + base;
        break;
      case Physical::kText:
        texts = column->mutable_texts() + base;
        arena = &column->mutable_arena();
        arena_used = arena->size();
        break;
    }
  }

  void Null(size_t row) {
    column->SetNull(base + row);
    switch (column->physical()) {
      case Physical::kBool:
        bools[row] = 0;
        break;
      case Physical::kInt64:
        ints[row] = 0;
        break;
      case Physical::kDouble:
        doubles[row] = 0;
        break;
      case Physical::kInt128:
        wides[row] = 0;
        break;
      case Physical::kText:
        texts[row] = {0, 0};
        break;
    }
  }

  void Text(size_t row, const char* from, size_t size) {
    if (arena_used + size + 16 > arena->size()) {
      WEIR_CHECK_LE(arena_used + size, size_t{UINT32_MAX});
      arena->resize(std::max(arena_used + size + 16, 2 * arena->size() + 4096));
    }
    char* to = arena->data() + arena_used;
    if (size <= 16) {
      // Behind a row are kRowSlack readable bytes.
      std::memcpy(to, from, kRowSlack);
      if (size > kRowSlack) std::memcpy(to + kRowSlack, from + kRowSlack, kRowSlack);
    } else {
      std::memcpy(to, from, size);
    }
    texts[row] = {static_cast<uint32_t>(arena_used), static_cast<uint32_t>(size)};
    arena_used += size;
  }

  const char* Take(Physical physical, const char* in, size_t row) {
    uint64_t raw = 0;
    switch (physical) {
      case Physical::kBool:
        bools[row] = static_cast<uint8_t>(*in);
        return in + 1;
      case Physical::kInt64:
        in = ReadVarint(in, raw);
        ints[row] = UnZigZag(raw);
        return in;
      case Physical::kDouble:
        std::memcpy(doubles + row, in, sizeof(double));
        return in + sizeof(double);
      case Physical::kInt128:
        std::memcpy(wides + row, in, sizeof(Int128));
        return in + sizeof(Int128);
      case Physical::kText:
        in = ReadVarint(in, raw);
        Text(row, in, raw);
        return in + raw;
    }
    return in;
  }
};

// A column being encoded: plain pointers, taken once a call.
struct Origin {
  Physical physical;
  const uint8_t* nulls = nullptr;  // null when no value is
  const uint8_t* bools = nullptr;
  const int64_t* ints = nullptr;
  const double* doubles = nullptr;
  const Int128* wides = nullptr;
  const TextRef* texts = nullptr;
  const char* arena = nullptr;
  size_t arena_size = 0;
  bool canonical;   // -0.0 becomes 0.0
  size_t most = 0;  // bytes that all values take, at most

  Origin(const Column& column, bool canonical_doubles)
      : physical(column.physical()),
        nulls(column.has_nulls() ? column.nulls().data() : nullptr),
        bools(column.bools().data()),
        ints(column.ints().data()),
        doubles(column.doubles().data()),
        wides(column.wides().data()),
        texts(column.texts().data()),
        arena(column.arena_data()),
        arena_size(column.arena() ? column.arena()->size() : 0),
        canonical(canonical_doubles),
        most(column.size() * sizeof(Int128)) {
    for (const TextRef& text : column.texts()) most += text.size;
  }

  // Writes up to kSpill bytes too many.
  char* Write(char* out, size_t row) const {
    switch (physical) {
      case Physical::kBool:
        *out = static_cast<char>(bools[row]);
        return out + 1;
      case Physical::kInt64:
        return WriteVarint(out, ZigZag(ints[row]));
      case Physical::kDouble: {
        const double value = canonical ? Canonical(doubles[row]) : doubles[row];
        std::memcpy(out, &value, sizeof value);
        return out + sizeof value;
      }
      case Physical::kInt128:
        std::memcpy(out, wides + row, sizeof(Int128));
        return out + sizeof(Int128);
      case Physical::kText: {
        const TextRef text = texts[row];
        out = WriteVarint(out, text.size);
        CopyText(out, arena + text.offset, text.size, arena_size - text.offset);
        return out + text.size;
      }
    }
    return out;
  }
};

}  // namespace

char* PutVarint(char* out, uint64_t value) {
  // Exact writes: the caller has no slack behind the number.
  char buffer[16];
  const size_t size = static_cast<size_t>(WriteVarint(buffer, value) - buffer);
  std::memcpy(out, buffer, size);
  return out + size;
}
const char* GetVarint(const char* in, uint64_t& value) { return ReadVarint(in, value); }
size_t VarintSize(uint64_t value) { return SizeOfVarint(value); }

RowCodec::RowCodec(const std::vector<DataType>& types, Form form) : null_bytes_((types.size() + 7) / 8), form_(form) {
  fields_.reserve(types.size());
  for (const DataType& type : types) fields_.push_back(type.physical());
}

// Row by row, so that a value may be written with more bytes than it has: the next one is written over them.
void RowCodec::Encode(const Batch& batch, std::span<const int> columns, EncodedRows& out) const {
  WEIR_CHECK_EQ(columns.size(), fields_.size());
  const size_t rows = batch.rows();
  std::vector<Origin> origins;
  origins.reserve(columns.size());
  size_t most = rows * null_bytes_;
  for (size_t field = 0; field < fields_.size(); ++field) {
    const Column& column = batch.column(static_cast<size_t>(columns[field]));
    WEIR_CHECK(column.physical() == fields_[field]);
    most += origins.emplace_back(column, form_ == Form::kKey).most;
  }
  WEIR_CHECK_LE(most, size_t{UINT32_MAX} - kSpill);
  out.offsets.resize(rows + 1);
  out.bytes.resize(most + kSpill);
  char* const bytes = out.bytes.data();
  char* at = bytes;
  for (size_t row = 0; row < rows; ++row) {
    out.offsets[row] = static_cast<uint32_t>(at - bytes);
    char* const bits = at;
    for (size_t i = 0; i < null_bytes_; ++i) *at++ = 0;
    for (size_t field = 0; field < origins.size(); ++field) {
      const Origin& origin = origins[field];
      if (origin.nulls != nullptr && origin.nulls[row] != 0) {
        bits[field / 8] = static_cast<char>(bits[field / 8] | (1 << (field % 8)));
      } else {
        at = origin.Write(at, row);
      }
    }
  }
  const size_t total = static_cast<size_t>(at - bytes);
  out.offsets[rows] = static_cast<uint32_t>(total);
  out.bytes.resize(total + 2 * kRowSlack);
}

void RowCodec::Decode(std::span<const char*> rows, std::span<Column* const> targets, bool advance) const {
  WEIR_CHECK_EQ(targets.size(), fields_.size());
  std::vector<Target> places;
  places.reserve(targets.size());
  size_t fields = 0;  // up to the last one that is wanted
  for (size_t f = 0; f < targets.size(); ++f) {
    places.emplace_back(targets[f], rows.size());
    if (targets[f] != nullptr) fields = f + 1;
  }
  if (advance) fields = fields_.size();
  if (fields == 0) return;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (row + kPrefetchDistance < rows.size()) __builtin_prefetch(rows[row + kPrefetchDistance]);
    const char* start = rows[row];
    const char* in = start + null_bytes_;
    for (size_t f = 0; f < fields; ++f) {
      Target& place = places[f];
      if (HasNull(start, f)) {
        if (place.column != nullptr) place.Null(row);
      } else if (place.column != nullptr) {
        in = place.Take(fields_[f], in, row);
      } else {
        in = SkipField(fields_[f], in);
      }
    }
    rows[row] = in;
  }
  for (Target& place : places) {
    if (place.arena != nullptr) place.arena->resize(place.arena_used);
  }
}

size_t RowCodec::EncodedSize(const char* row) const {
  const char* in = row + null_bytes_;
  for (size_t f = 0; f < fields_.size(); ++f) {
    if (!HasNull(row, f)) in = SkipField(fields_[f], in);
  }
  return static_cast<size_t>(in - row);
}

}  // namespace weir
