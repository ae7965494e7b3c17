// Values of any type as text and as JSON, and base64.
#include "engine/data/text.h"

#include <array>
#include <cmath>

#include "engine/data/array_codec.h"

namespace weir {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<uint8_t, 256> MakeBase64Values() {
  std::array<uint8_t, 256> values{};
  values.fill(0xff);
  for (size_t i = 0; i < kBase64.size(); ++i) values[static_cast<uint8_t>(kBase64[i])] = static_cast<uint8_t>(i);
  return values;
}
constexpr auto kBase64Values = MakeBase64Values();

// 1 for the bytes that a JSON string escapes: control characters, the quote and the backslash.
constexpr std::array<uint8_t, 256> MakeEscaped() {
  std::array<uint8_t, 256> escaped{};
  for (size_t i = 0; i < 0x20; ++i) escaped[i] = 1;
  escaped['"'] = escaped['\\'] = 1;
  return escaped;
}
constexpr auto kEscaped = MakeEscaped();

void AppendEscape(char c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default: {
      static constexpr char kHex[] = "0123456789abcdef";
      const auto code = static_cast<uint8_t>(c);
      const char escape[] = {'\\', 'u', '0', '0', kHex[code >> 4], kHex[code & 15]};
      out.append(escape, sizeof escape);
    }
  }
}

// True if one of the eight bytes is escaped: a control character, a quote or a backslash (bit tricks on a word; bytes
// above 0x7f never match because their top bit is masked away).
bool AnyEscaped(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kTops = 0x8080808080808080;
  const uint64_t ascii = ~word & kTops;
  const uint64_t low = word - kOnes * 0x20;
  const uint64_t quote = (word ^ (kOnes * '"')) - kOnes;
  const uint64_t slash = (word ^ (kOnes * '\\')) - kOnes;
  return ((low | quote | slash) & ascii) != 0;
}

// Length of the run at the start of the text that needs no escape.
size_t PlainPrefix(const char* text, size_t size) {
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, text + i, 8);
    if (AnyEscaped(word)) break;
  }
  while (i < size && kEscaped[static_cast<uint8_t>(text[i])] == 0) ++i;
  return i;
}

void AppendArrayText(const Column& column, size_t row, std::string& out) {
  Column elements(column.type().ElementType());
  DecodeArray(column.text(row), elements);
  out += '[';
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i != 0) out += ',';
    if (elements.IsNull(i)) {
      out += "null";
    } else {
      AppendJsonValue(elements, i, out);
    }
  }
  out += ']';
}

Int128 Unscaled(const Column& column, size_t row) {
  return column.physical() == Physical::kInt64 ? Int128{column.ints()[row]} : column.wides()[row];
}

}  // namespace

void AppendValueText(const Column& column, size_t row, std::string& out) {
  const DataType& type = column.type();
  switch (type.kind) {
    case TypeKind::kBoolean:
      out += column.bools()[row] != 0 ? "true" : "false";
      return;
    case TypeKind::kNull:
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kInterval:
      return AppendInteger(column.ints()[row], out);
    case TypeKind::kFloat:
      return AppendFloat(column.doubles()[row], out);
    case TypeKind::kDouble:
      return AppendDouble(column.doubles()[row], out);
    case TypeKind::kDecimal:
      return AppendDecimal(Unscaled(column, row), type.scale, out);
    case TypeKind::kString:
      out += column.text(row);
      return;
    case TypeKind::kDate:
      return AppendDate(column.ints()[row], out);
    case TypeKind::kTime:
      return AppendTime(column.ints()[row], type.precision, out);
    case TypeKind::kTimestamp:
      return AppendTimestamp(column.ints()[row], type.precision, 'T', out);
    case TypeKind::kTimestampLtz:
      AppendTimestamp(column.ints()[row], type.precision, 'T', out);
      out += 'Z';
      return;
    case TypeKind::kBytes:
    case TypeKind::kBitmap32:
    case TypeKind::kBitmap64:
      return AppendBase64(column.text(row), out);
    case TypeKind::kArray:
      return AppendArrayText(column, row, out);
  }
}

void AppendJsonValue(const Column& column, size_t row, std::string& out) {
  switch (column.type().kind) {
    case TypeKind::kString:
      return AppendJsonString(column.text(row), out);
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kBytes:
    case TypeKind::kBitmap32:
    case TypeKind::kBitmap64:
      out += '"';
      AppendValueText(column, row, out);
      out += '"';
      return;
    case TypeKind::kFloat:
    case TypeKind::kDouble: {
      const bool number = std::isfinite(column.doubles()[row]);
      if (!number) out += '"';
      AppendValueText(column, row, out);
      if (!number) out += '"';
      return;
    }
    default:
      return AppendValueText(column, row, out);
  }
}

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const size_t plain = PlainPrefix(at, static_cast<size_t>(end - at));
    out.append(at, plain);
    at += plain;
    if (at != end) AppendEscape(*at++, out);
  }
  out += '"';
}

void AppendBase64(std::string_view bytes, std::string& out) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const auto byte = [&](size_t k) { return k < left ? uint32_t{static_cast<uint8_t>(bytes[i + k])} : 0U; };
    const uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += kBase64[group >> 18];
    out += kBase64[group >> 12 & 63];
    out += left > 1 ? kBase64[group >> 6 & 63] : '=';
    out += left > 2 ? kBase64[group & 63] : '=';
  }
}

std::optional<std::string> ParseBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t group = 0;
  const size_t digits = text.size() - padding;
  for (size_t i = 0; i < digits; ++i) {
    const uint8_t value = kBase64Values[static_cast<uint8_t>(text[i])];
    if (value == 0xff) return std::nullopt;
    group = group << 6 | value;
    if (i % 4 == 3) {
      out += static_cast<char>(group >> 16 & 0xff);
      out += static_cast<char>(group >> 8 & 0xff);
      out += static_cast<char>(group & 0xff);
      group = 0;
    }
  }
  if (padding == 2) out += static_cast<char>(group >> 4 & 0xff);
  if (padding == 1) {
    out += static_cast<char>(group >> 10 & 0xff);
    out += static_cast<char>(group >> 2 & 0xff);
  }
  return out;
}

}  // namespace weir
