#include "engine/data/sort_key.h"

#include <bit>
#include <cmath>
#include <limits>

namespace weir {
namespace {

constexpr uint8_t kValue = 0x20;
constexpr size_t kFixedRoom = 24;  // more than any field but a text takes

size_t BytesOf(uint64_t value) { return (static_cast<size_t>(64 - std::countl_zero(value)) + 7) / 8; }

char* PutInt(char* out, int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  const size_t bytes = BytesOf(value < 0 ? ~bits : bits);
  *out++ = static_cast<char>(value < 0 ? kValue - 1 - bytes : kValue + bytes);
  if (bytes > 0) PutBigEndian(out, bits << (64 - 8 * bytes));
  return out + bytes;
}

char* PutDouble(char* out, double value) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  if (value == 0) value = 0;  // -0.0 is 0.0
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  uint64_t bits = std::bit_cast<uint64_t>(value);
  bits = (bits & kSign) != 0 ? ~bits : bits | kSign;
  *out++ = static_cast<char>(kValue);
  PutBigEndian(out, bits);
  return out + sizeof bits;
}

char* PutWide(char* out, Int128 value) {
  *out++ = static_cast<char>(kValue);
  const auto high = static_cast<uint64_t>(static_cast<int64_t>(value >> 64));
  PutBigEndian(out, high ^ (uint64_t{1} << 63));
  PutBigEndian(out + 8, static_cast<uint64_t>(value));
  return out + 16;
}

char* PutText(char* out, std::string_view text) {
  *out++ = static_cast<char>(kValue);
  for (const char c : text) {
    *out++ = c;
    if (c == '\0') *out++ = static_cast<char>(0xFF);
  }
  *out++ = '\0';
  *out++ = '\0';
  return out;
}

void Invert(char* begin, char* end) {
  for (char* at = begin; at < end; ++at) *at = static_cast<char>(~*at);
}

char* PutField(char* out, const SortField& field, const Column& column, size_t row) {
  if (column.IsNull(row)) {
    *out++ = static_cast<char>(field.nulls_first ? 0x00 : 0xFF);
    return out;
  }
  char* const begin = out;
  switch (field.physical) {
    case Physical::kBool:
      *out++ = static_cast<char>(kValue + (column.bools()[row] != 0 ? 1 : 0));
      break;
    case Physical::kInt64:
      out = PutInt(out, column.ints()[row]);
      break;
    case Physical::kDouble:
      out = PutDouble(out, column.doubles()[row]);
      break;
    case Physical::kInt128:
      out = PutWide(out, column.wides()[row]);
      break;
    case Physical::kText:
      out = PutText(out, column.text(row));
      break;
  }
  if (field.descending) Invert(begin, out);
  return out;
}

}  // namespace

void AppendSortKey(const SortField& field, int64_t value, std::string& key) {
  char bytes[kFixedRoom];
  char* const end = PutInt(bytes, value);
  if (field.descending) Invert(bytes, end);
  key.append(bytes, end);
}

std::optional<int64_t> WholeNumberIn(const SortField& field, std::string_view key) {
  const auto first = static_cast<uint8_t>(key[0]);
  if (first == 0x00 || first == 0xFF) return std::nullopt;
  const auto flip = static_cast<uint8_t>(field.descending ? 0xFF : 0x00);
  const auto tag = static_cast<uint8_t>(first ^ flip);
  const bool negative = tag < kValue;
  const size_t bytes = negative ? kValue - 1u - tag : static_cast<size_t>(tag - kValue);
  uint64_t bits = negative ? ~uint64_t{0} : 0;
  for (size_t i = 1; i <= bytes; ++i) bits = (bits << 8) | (static_cast<uint8_t>(key[i]) ^ flip);
  return static_cast<int64_t>(bits);
}

void SortKeyCodec::Encode(const Batch& batch, std::span<const int> columns, EncodedRows& out) const {
  WEIR_CHECK_EQ(columns.size(), fields_.size());
  out.offsets.resize(batch.rows() + 1);
  out.offsets[0] = 0;
  size_t used = 0;
  for (size_t row = 0; row < batch.rows(); ++row) {
    size_t room = kRowSlack + fields_.size() * kFixedRoom;
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Column& column = batch.column(static_cast<size_t>(columns[i]));
      if (fields_[i].physical == Physical::kText) room += 2 * column.texts()[row].size;
    }
    if (out.bytes.size() < used + room) out.bytes.resize(2 * (used + room));
    char* at = out.bytes.data() + used;
    for (size_t i = 0; i < fields_.size(); ++i) {
      at = PutField(at, fields_[i], batch.column(static_cast<size_t>(columns[i])), row);
    }
    used = static_cast<size_t>(at - out.bytes.data());
    WEIR_CHECK_LE(used, size_t{UINT32_MAX});
    out.offsets[row + 1] = static_cast<uint32_t>(used);
  }
  if (out.bytes.size() < used + kRowSlack) out.bytes.resize(used + kRowSlack);
}

}  // namespace weir
