#include "jobs/replay/replay_value.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/data/array_codec.h"
#include "engine/data/bitmap.h"
#include "engine/data/text.h"

namespace weir {
namespace {

using Kind = ReplayJson::Kind;

Status NotA(const ReplayJson& value, const DataType& type) {
  const char* name = value.kind == Kind::kBool     ? (value.boolean ? "true" : "false")
                     : value.kind == Kind::kArray  ? "a list"
                     : value.kind == Kind::kObject ? "an object"
                                                   : nullptr;
  if (name != nullptr) return DataError(fmt::format("{} is not a {}", name, type.ToString()));
  return DataError(fmt::format("'{}' is not a {}", value.text, type.ToString()));
}

bool IsTextOrNumber(const ReplayJson& value) { return value.kind == Kind::kNumber || value.kind == Kind::kString; }

struct IntegerRange {
  int64_t min;
  int64_t max;
};

IntegerRange RangeOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyint:
      return {INT8_MIN, INT8_MAX};
    case TypeKind::kSmallint:
      return {INT16_MIN, INT16_MAX};
    case TypeKind::kInt:
      return {INT32_MIN, INT32_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

Status AppendInteger(const ReplayJson& value, Column& column) {
  const IntegerRange range = RangeOf(column.type().kind);
  const auto parsed = ParseInteger(value.text, range.min, range.max);
  if (value.kind != Kind::kNumber || !parsed) return NotA(value, column.type());
  column.AppendInt(parsed.value);
  return {};
}

Status AppendDecimal(const ReplayJson& value, Column& column) {
  const DataType& type = column.type();
  const auto parsed = ParseDecimal(value.text, type.precision, type.scale);
  if (!IsTextOrNumber(value) || !parsed) return NotA(value, type);
  if (column.physical() == Physical::kInt64) {
    column.AppendInt(static_cast<int64_t>(parsed.value));
  } else {
    column.AppendWide(parsed.value);
  }
  return {};
}

Status AppendFloating(const ReplayJson& value, Column& column) {
  const auto parsed = ParseDouble(value.text, value.kind == Kind::kString);
  const bool single = column.type().kind == TypeKind::kFloat;
  if (!IsTextOrNumber(value) || !parsed) return NotA(value, column.type());
  const double number = single ? static_cast<double>(static_cast<float>(parsed.value)) : parsed.value;
  if (std::isinf(number) && !std::isinf(parsed.value)) return NotA(value, column.type());
  column.AppendDouble(number);
  return {};
}

// Rounds microseconds to the digits that the type keeps, as every other way into such a column does.
Micros RoundTo(Micros value, int digits) {
  Micros unit = 1;
  for (int i = digits; i < 6; ++i) unit *= 10;
  const Micros rest = ((value % unit) + unit) % unit;
  return value - rest + (2 * rest >= unit ? unit : 0);
}

Status AppendTimestampValue(const ReplayJson& value, Column& column) {
  const DataType& type = column.type();
  Parsed<Micros> parsed;
  if (value.kind == Kind::kNumber) {
    const auto millis = ParseDecimal(value.text, 38, 3);  // a fraction of a millisecond is microseconds
    if (!millis || millis.value < kFirstTime || millis.value > kLastTime) return NotA(value, type);
    parsed.value = RoundTo(static_cast<Micros>(millis.value), type.precision);
  } else if (value.kind == Kind::kString) {
    parsed = type.kind == TypeKind::kTimestamp ? ParseTimestamp(value.text, type.precision)
                                               : ParseTimestampLtz(value.text, type.precision, "UTC");
  } else {
    return NotA(value, type);
  }
  if (!parsed) return NotA(value, type);
  column.AppendInt(parsed.value);
  return {};
}

Status AppendDateOrTime(const ReplayJson& value, Column& column) {
  const DataType& type = column.type();
  const auto parsed = type.kind == TypeKind::kDate ? ParseDate(value.text) : ParseTime(value.text, type.precision);
  if (value.kind == Kind::kString && parsed) {
    column.AppendInt(parsed.value);
    return {};
  }
  if (value.kind != Kind::kNumber) return NotA(value, type);
  return AppendInteger(value, column);  // days, or microseconds of the day
}

Status AppendBinary(const ReplayJson& value, Column& column) {
  auto bytes = ParseBase64(value.text);
  if (bytes && IsBitmap(column.type().kind)) bytes = CanonicalBitmap(column.type().kind, *bytes);
  if (value.kind != Kind::kString || !bytes) return NotA(value, column.type());
  column.AppendText(*bytes);
  return {};
}

Status AppendList(const ReplayJson& value, Column& column) {
  if (value.kind != Kind::kArray) return NotA(value, column.type());
  Column elements(column.type().ElementType());
  for (const ReplayJson& item : value.items) WEIR_TRY(AppendReplayValue(item, elements));
  std::string encoded;
  AppendArray(elements, 0, elements.size(), encoded);
  column.AppendText(encoded);
  return {};
}

}  // namespace

Status AppendReplayValue(const ReplayJson& value, Column& column) {
  if (value.kind == Kind::kNull) {
    column.AppendNull();
    return {};
  }
  switch (column.type().kind) {
    case TypeKind::kBoolean:
      if (value.kind != Kind::kBool) return NotA(value, column.type());
      column.AppendBool(value.boolean);
      return {};
    case TypeKind::kString:
      if (value.kind != Kind::kString) return NotA(value, column.type());
      column.AppendText(value.text);
      return {};
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return AppendFloating(value, column);
    case TypeKind::kDecimal:
      return AppendDecimal(value, column);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return AppendTimestampValue(value, column);
    case TypeKind::kDate:
    case TypeKind::kTime:
      return AppendDateOrTime(value, column);
    case TypeKind::kBytes:
    case TypeKind::kBitmap32:
    case TypeKind::kBitmap64:
      return AppendBinary(value, column);
    case TypeKind::kArray:
      return AppendList(value, column);
    default:
      return AppendInteger(value, column);
  }
}

}  // namespace weir
