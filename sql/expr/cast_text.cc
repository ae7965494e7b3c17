// Casts from and to text.  What a text may look like is engine/data/text.h; here are the messages and the loops.
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "engine/data/text.h"
#include "sql/expr/cast.h"
#include "sql/expr/types.h"
#include "sql/expr/zone.h"

namespace weir {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::string BadText(ParseFault fault, const DataType& type, std::string_view text) {
  std::string shown(text.substr(0, 100));
  if (fault == ParseFault::kRange && type.kind == TypeKind::kDecimal) {
    return "numeric field overflow: \"" + shown + "\" does not fit " + type.ToString();
  }
  if (fault == ParseFault::kRange) return "value \"" + shown + "\" is out of range for type " + TypeName(type);
  return "invalid input syntax for type " + TypeName(type) + ": \"" + shown + "\"";
}

// parse(text) gives Parsed<..>; the column gets its value.
template <class Out, class Parse>
RowResult<ColumnPtr> ParseRows(const KernelInput& input, const DataType& type, Parse&& parse) {
  return MapRows<Out, std::string_view>(input, type, [&](std::string_view text, Failure& failure) -> Out {
    const auto parsed = parse(Trimmed(text));
    if (!parsed) failure.Set(BadText(parsed.fault, type, text));
    return static_cast<Out>(parsed.value);
  });
}

// Digits with a sign only: "1.0" is no bigint in a cast.
Parsed<int64_t> PlainInteger(std::string_view text, const IntegerRange& range) {
  const std::string_view digits = text.substr(!text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return {0, ParseFault::kSyntax};
  }
  return ParseInteger(text, range.min, range.max);
}

RowResult<ColumnPtr> TextToExact(const KernelInput& input, const DataType& to) {
  if (to.IsInteger()) {
    return ParseRows<int64_t>(input, to,
                              [range = RangeOf(to.kind)](std::string_view text) { return PlainInteger(text, range); });
  }
  const auto parse = [&to](std::string_view text) { return ParseDecimal(text, to.precision, to.scale); };
  if (to.physical() == Physical::kInt64) return ParseRows<int64_t>(input, to, parse);
  return ParseRows<Int128>(input, to, parse);
}

RowResult<ColumnPtr> TextToDouble(const KernelInput& input, const DataType& to) {
  return ParseRows<double>(input, to, [single = to.kind == TypeKind::kFloat](std::string_view text) {
    Parsed<double> parsed = ParseDouble(text, true);
    if (!single || !parsed) return parsed;
    const bool infinite = parsed.value - parsed.value != 0;
    parsed.value = static_cast<double>(static_cast<float>(parsed.value));
    if (!infinite && parsed.value - parsed.value != 0) parsed.fault = ParseFault::kRange;
    return parsed;
  });
}

RowResult<ColumnPtr> TextToTime(const KernelInput& input, const DataType& to) {
  switch (to.kind) {
    case TypeKind::kDate:
      return ParseRows<int64_t>(input, to, ParseDate);
    case TypeKind::kTime:
      return ParseRows<int64_t>(input, to, [&](std::string_view text) { return ParseTime(text, to.precision); });
    case TypeKind::kTimestampLtz:
      return ParseRows<int64_t>(input, to, [&](std::string_view text) {
        return ParseTimestampLtz(text, to.precision, input.context.time_zone);
      });
    case TypeKind::kInterval:
      return ParseRows<int64_t>(input, to, [](std::string_view text) -> Parsed<int64_t> {
        const auto parsed = ParseInterval(text);
        if (!parsed) return {0, parsed.fault};
        return {parsed.value.micros, parsed.value.months == 0 ? ParseFault::kNone : ParseFault::kRange};
      });
    default:
      return ParseRows<int64_t>(input, to, [&](std::string_view text) { return ParseTimestamp(text, to.precision); });
  }
}

RowResult<ColumnPtr> ToText(const KernelInput& input) {
  auto out = StrictResult(input, StringType());
  const Column& column = *input.arguments[0].column;
  TextOutput texts(*out);
  std::string scratch;
  for (size_t row = 0; row < input.rows; ++row) {
    scratch.clear();
    if (!out->IsNull(row)) AppendValueText(column, row, scratch);
    if (!texts.Set(row, scratch)) return FailRow(row, "text too large");
  }
  return ColumnPtr(std::move(out));
}

// "+02:00", "-03:30", "+00:53:28"; Z for the zone of UTC itself.
void AppendOffset(Micros offset, std::string& out) {
  if (offset == 0) {
    out += 'Z';
    return;
  }
  const Micros seconds = std::abs(offset) / kMicrosPerSecond;
  out += fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', seconds / 3600, seconds / 60 % 60);
  if (seconds % 60 != 0) out += fmt::format(":{:02}", seconds % 60);
}

// An instant as the job's time zone has it, with its offset: the text reads back as the same instant anywhere.
RowResult<ColumnPtr> InstantToText(const KernelInput& input) {
  auto out = StrictResult(input, StringType());
  const Column& column = *input.arguments[0].column;
  const auto instants = column.ints();
  TextOutput texts(*out);
  ZoneConverter zone(input.context.time_zone);
  std::string scratch;
  for (size_t row = 0; row < input.rows; ++row) {
    scratch.clear();
    if (!out->IsNull(row)) {
      const Micros local = zone.ToLocal(instants[row]);
      AppendTimestamp(local, column.type().precision, 'T', scratch);
      AppendOffset(local - instants[row], scratch);
    }
    if (!texts.Set(row, scratch)) return FailRow(row, "text too large");
  }
  return ColumnPtr(std::move(out));
}

}  // namespace

CastRule TextCast(const DataType& from, const DataType& to) {
  if (from.kind == TypeKind::kTimestampLtz) return {InstantToText, false, true};
  if (to.kind == TypeKind::kString) return {ToText};
  switch (to.kind) {
    case TypeKind::kBoolean:
      return {[to](const KernelInput& input) { return ParseRows<uint8_t>(input, to, ParseBoolean); }, true};
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kDecimal:
      return {[to](const KernelInput& input) { return TextToExact(input, to); }, true};
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return {[to](const KernelInput& input) { return TextToDouble(input, to); }, true};
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kInterval:
      return {[to](const KernelInput& input) { return TextToTime(input, to); }, true,
              to.kind == TypeKind::kTimestampLtz};
    case TypeKind::kBytes:
      return {
          [to](const KernelInput& input) -> RowResult<ColumnPtr> { return Retyped(input.arguments[0].column, to); }};
    default:
      return {};
  }
}

}  // namespace weir
