#include "engine/data/row_codec.h"

#include <bit>
#include <cmath>
#include <limits>

namespace weir {
namespace {

constexpr size_t kLongVarint = 9;
constexpr size_t kPrefetchDistance = 8;

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
    if (arena_used + size > arena->size()) {
      WEIR_CHECK_LE(arena_used + size, size_t{UINT32_MAX});
      arena->resize(std::max(arena_used + size, 2 * arena->size() + 4096));
    }
    std::memcpy(arena->data() + arena_used, from, size);
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

template <class SizeOf>
void AddSizes(const Column& column, uint32_t* sizes, SizeOf size_of) {
  const size_t rows = column.size();
  if (!column.has_nulls()) {
    for (size_t i = 0; i < rows; ++i) sizes[i] += static_cast<uint32_t>(size_of(i));
    return;
  }
  const auto nulls = column.nulls();
  for (size_t i = 0; i < rows; ++i) sizes[i] += nulls[i] ? 0U : static_cast<uint32_t>(size_of(i));
}

// Writes the field of every row at its cursor and moves the cursors.
template <class Write>
void WriteField(const Column& column, size_t field, const EncodedRows& out, char* bytes, uint32_t* cursors,
                Write write) {
  const size_t rows = column.size();
  if (!column.has_nulls()) {
    for (size_t i = 0; i < rows; ++i) cursors[i] = static_cast<uint32_t>(write(bytes + cursors[i], i) - bytes);
    return;
  }
  const auto nulls = column.nulls();
  for (size_t i = 0; i < rows; ++i) {
    if (nulls[i]) {
      char& bits = bytes[out.offsets[i] + field / 8];
      bits = static_cast<char>(bits | (1 << (field % 8)));
    } else {
      cursors[i] = static_cast<uint32_t>(write(bytes + cursors[i], i) - bytes);
    }
  }
}

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

// Two passes a column over the batch, sizes and then values, so that each loop is over one type.
void RowCodec::Encode(const Batch& batch, std::span<const int> columns, EncodedRows& out) const {
  WEIR_CHECK_EQ(columns.size(), fields_.size());
  const size_t rows = batch.rows();
  out.offsets.assign(rows + 1, static_cast<uint32_t>(null_bytes_));
  out.offsets[0] = 0;
  uint32_t* sizes = out.offsets.data() + 1;
  for (const int index : columns) {
    const Column& column = batch.column(static_cast<size_t>(index));
    switch (column.physical()) {
      case Physical::kBool:
        AddSizes(column, sizes, [](size_t) { return 1; });
        break;
      case Physical::kInt64: {
        const auto values = column.ints();
        AddSizes(column, sizes, [&](size_t i) { return SizeOfVarint(ZigZag(values[i])); });
        break;
      }
      case Physical::kDouble:
        AddSizes(column, sizes, [](size_t) { return sizeof(double); });
        break;
      case Physical::kInt128:
        AddSizes(column, sizes, [](size_t) { return sizeof(Int128); });
        break;
      case Physical::kText: {
        const auto values = column.texts();
        AddSizes(column, sizes, [&](size_t i) { return SizeOfVarint(values[i].size) + values[i].size; });
        break;
      }
    }
  }
  uint64_t total = 0;
  for (size_t i = 1; i <= rows; ++i) {
    total += out.offsets[i];
    WEIR_CHECK_LE(total, uint64_t{UINT32_MAX} - 16);
    out.offsets[i] = static_cast<uint32_t>(total);
  }
  out.bytes.resize(total + 2 * kRowSlack);
  char* bytes = out.bytes.data();
  thread_local std::vector<uint32_t> cursors;
  cursors.assign(out.offsets.begin(), out.offsets.end() - 1);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < null_bytes_; ++k) bytes[cursors[i]++] = 0;
  }
  // A varint is written as 8 or 9 bytes: what it spills into the next row would be lost.  Row i's last field may be
  // written after row i + 1's first, so values are written exactly.
  const auto put_varint = [](char* at, uint64_t value) {
    char buffer[16];
    const size_t size = static_cast<size_t>(WriteVarint(buffer, value) - buffer);
    for (size_t k = 0; k < size; ++k) at[k] = buffer[k];
    return at + size;
  };
  for (size_t field = 0; field < fields_.size(); ++field) {
    const Column& column = batch.column(static_cast<size_t>(columns[field]));
    WEIR_CHECK(column.physical() == fields_[field]);
    switch (fields_[field]) {
      case Physical::kBool:
        WriteField(column, field, out, bytes, cursors.data(), [v = column.bools()](char* at, size_t i) {
          *at = static_cast<char>(v[i]);
          return at + 1;
        });
        break;
      case Physical::kInt64:
        WriteField(column, field, out, bytes, cursors.data(),
                   [v = column.ints(), put_varint](char* at, size_t i) { return put_varint(at, ZigZag(v[i])); });
        break;
      case Physical::kDouble: {
        const bool canonical = form_ == Form::kKey;
        WriteField(column, field, out, bytes, cursors.data(), [v = column.doubles(), canonical](char* at, size_t i) {
          const double value = canonical ? Canonical(v[i]) : v[i];
          std::memcpy(at, &value, sizeof value);
          return at + sizeof value;
        });
        break;
      }
      case Physical::kInt128:
        WriteField(column, field, out, bytes, cursors.data(), [v = column.wides()](char* at, size_t i) {
          std::memcpy(at, &v[i], sizeof v[i]);
          return at + sizeof v[i];
        });
        break;
      case Physical::kText:
        WriteField(column, field, out, bytes, cursors.data(),
                   [v = column.texts(), arena = column.arena_data(), put_varint](char* at, size_t i) {
                     at = put_varint(at, v[i].size);
                     std::memcpy(at, arena + v[i].offset, v[i].size);
                     return at + v[i].size;
                   });
        break;
    }
  }
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
