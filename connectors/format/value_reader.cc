#include "connectors/format/value_reader.h"

#include <fmt/format.h>

#include <charconv>

#include "engine/data/bitmap.h"

namespace weir {
namespace {

// Digits that make a number of the unit one in microseconds: 1700000000.5 s is 1700000000500000 us.
int MicrosScale(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return 6;
    case TimeUnit::kMilliseconds:
      return 3;
    case TimeUnit::kMicroseconds:
      return 0;
  }
  return 0;
}

Micros RoundTo(Micros value, int digits) {
  static constexpr Micros kSteps[] = {1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
  const Micros step = kSteps[digits];
  if (step == 1) return value;
  const Micros shifted = value + step / 2;
  return shifted - (shifted % step + step) % step;
}

template <class T, class Append>
ParseFault Put(const Parsed<T>& value, Append append) {
  if (value) append(value.value);
  return value.fault;
}

}  // namespace

ValueReader::ValueReader(DataType type, TimeUnit unit, ReadRules rules)
    : type_(type),
      unit_(unit),
      rules_(std::move(rules)),
      integer_(type.IsInteger()),
      short_decimal_(type.kind == TypeKind::kDecimal && type.precision <= 18) {
  short_powers_[0] = 1;
  for (size_t i = 1; i < 19; ++i) short_powers_[i] = short_powers_[i - 1] * 10;
  if (short_decimal_) limit_ = short_powers_[type.precision];
  const int unit_digits = 6 - MicrosScale(unit);  // behind the second
  if ((type.kind == TypeKind::kTimestamp || type.kind == TypeKind::kTimestampLtz) && unit_digits <= type.precision) {
    epoch_step_ = short_powers_[MicrosScale(unit)];
  }
  const auto bits = [&](int count) {
    min_ = -(int64_t{1} << (count - 1));
    max_ = -(min_ + 1);
  };
  if (type.kind == TypeKind::kTinyint) bits(8);
  if (type.kind == TypeKind::kSmallint) bits(16);
  if (type.kind == TypeKind::kInt) bits(32);
}

ParseFault ValueReader::AppendDecimal(Parsed<Int128> value, Column& column) const {
  if (!value) return value.fault;
  if (column.physical() == Physical::kInt64) {
    column.AppendInt(static_cast<int64_t>(value.value));
  } else {
    column.AppendWide(value.value);
  }
  return ParseFault::kNone;
}

ParseFault ValueReader::ReadEpoch(std::string_view token, Column& column) const {
  const Parsed<Int128> micros = ParseDecimal(token, 38, MicrosScale(unit_));
  if (!micros) return micros.fault;
  const bool time = type_.kind == TypeKind::kTime;
  const Micros first = time ? 0 : kFirstTime;
  const Micros last = time ? 86'400'000'000 : kLastTime;
  if (micros.value < first || micros.value > last) return ParseFault::kRange;
  const Micros rounded = RoundTo(static_cast<Micros>(micros.value), type_.precision);
  if (rounded > last) return ParseFault::kRange;
  column.AppendInt(rounded);
  return ParseFault::kNone;
}

ParseFault ValueReader::ReadNumber(std::string_view token, Column& column) const {
  switch (type_.kind) {
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kDecimal:
      return ReadNumberText(token, false, column);
    case TypeKind::kFloat:
      return ReadNumberText(token, false, column);
    case TypeKind::kDouble: {
      double value = 0;
      const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
      if (error != std::errc()) return ReadNumberText(token, false, column);
      column.AppendDouble(value);
      return ParseFault::kNone;
    }
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return ReadEpoch(token, column);
    case TypeKind::kString:
      if (!rules_.lenient) return ParseFault::kSyntax;
      column.AppendText(token);
      return ParseFault::kNone;
    default:
      return ParseFault::kSyntax;
  }
}

ParseFault ValueReader::ReadNumberText(std::string_view text, bool words, Column& column) const {
  const auto put_double = [&](double v) { column.AppendDouble(v); };
  switch (type_.kind) {
    case TypeKind::kDecimal:
      return AppendDecimal(ParseDecimal(text, type_.precision, type_.scale), column);
    case TypeKind::kFloat:
      return Put(ParseFloat(text, words), put_double);
    case TypeKind::kDouble:
      return Put(ParseDouble(text, words), put_double);
    default:
      return Put(ParseInteger(text, min_, max_), [&](int64_t v) { column.AppendInt(v); });
  }
}

ParseFault ValueReader::ReadTimeText(std::string_view text, Column& column) const {
  const auto put = [&](int64_t v) { column.AppendInt(v); };
  switch (type_.kind) {
    case TypeKind::kDate:
      return Put(ParseDate(text), put);
    case TypeKind::kTime:
      return Put(ParseTime(text, type_.precision), put);
    case TypeKind::kTimestamp:
      return Put(ParseTimestamp(text, type_.precision), put);
    default:
      return Put(ParseTimestampLtz(text, type_.precision, rules_.time_zone), put);
  }
}

ParseFault ValueReader::ReadText(std::string_view text, Column& column) const {
  switch (type_.kind) {
    case TypeKind::kString:
      column.AppendText(text);
      return ParseFault::kNone;
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      const ParseFault fault = ReadTimeText(text, column);
      return fault == ParseFault::kSyntax && rules_.lenient && type_.kind != TypeKind::kDate ? ReadEpoch(text, column)
                                                                                             : fault;
    }
    case TypeKind::kBytes:
    case TypeKind::kBitmap32:
    case TypeKind::kBitmap64: {
      std::optional<std::string> bytes = ParseBase64(text);
      // A bitmap is checked before anything uses it, and equal sets get equal bytes.
      if (bytes && IsBitmap(type_.kind)) bytes = CanonicalBitmap(type_.kind, *bytes);
      if (!bytes) return ParseFault::kSyntax;
      column.AppendText(*bytes);
      return ParseFault::kNone;
    }
    case TypeKind::kBoolean:
      if (!rules_.lenient) return ParseFault::kSyntax;
      return Put(ParseBoolean(text), [&](bool v) { column.AppendBool(v); });
    case TypeKind::kDecimal:
      if (!rules_.lenient && !rules_.text_decimals) return ParseFault::kSyntax;
      return ReadNumberText(text, rules_.text_not_a_number, column);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      // Without lenient typing only the words are left to be text.
      if (!rules_.lenient && (!rules_.text_not_a_number || ParseDouble(text, false).fault != ParseFault::kSyntax)) {
        return ParseFault::kSyntax;
      }
      return ReadNumberText(text, rules_.text_not_a_number, column);
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
      return rules_.lenient ? ReadNumberText(text, rules_.text_not_a_number, column) : ParseFault::kSyntax;
    default:
      return ParseFault::kSyntax;
  }
}

ParseFault ValueReader::ReadBoolean(bool value, Column& column) const {
  if (type_.kind == TypeKind::kBoolean) {
    column.AppendBool(value);
    return ParseFault::kNone;
  }
  if (!takes_raw()) return ParseFault::kSyntax;
  column.AppendText(value ? "true" : "false");
  return ParseFault::kNone;
}

ParseFault ValueReader::ReadPlain(std::string_view text, Column& column) const {
  switch (type_.kind) {
    case TypeKind::kBoolean:
      return Put(ParseBoolean(text), [&](bool v) { column.AppendBool(v); });
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal:
      return ReadNumberText(text, true, column);
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      const ParseFault fault = ReadTimeText(text, column);
      return fault == ParseFault::kSyntax ? ReadEpoch(text, column) : fault;
    }
    default:
      return ReadText(text, column);
  }
}

std::string DescribeFault(std::string_view column, std::string_view value, bool is_text, DataType type,
                          ParseFault fault) {
  constexpr size_t kShown = 60;
  const bool cut = value.size() > kShown;
  size_t size = cut ? kShown : value.size();
  while (cut && size > 0 && (static_cast<uint8_t>(value[size]) & 0xC0) == 0x80) --size;  // whole characters
  const std::string_view quote = is_text ? "'" : "";
  return fmt::format("column {}: {}{}{}{} {} {}", column, quote, value.substr(0, size), cut ? "..." : "", quote,
                     fault == ParseFault::kRange ? "is out of range for" : "is not a", type.ToString());
}

}  // namespace weir
