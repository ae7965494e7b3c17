// CAST and the implicit conversions: which pairs exist, and the kernels between numbers and between times.
#include "sql/expr/cast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/data/text.h"
#include "sql/expr/decimal.h"
#include "sql/expr/types.h"
#include "sql/expr/zone.h"

namespace weir {
namespace {

bool IsExact(const DataType& type) { return type.IsInteger() || type.kind == TypeKind::kDecimal; }
bool IsFloating(const DataType& type) { return type.kind == TypeKind::kFloat || type.kind == TypeKind::kDouble; }
int ScaleOf(const DataType& type) { return type.kind == TypeKind::kDecimal ? type.scale : 0; }

std::string OutOfRange(const DataType& type) {
  return type.kind == TypeKind::kDecimal ? "numeric field overflow: the value does not fit " + type.ToString()
                                         : TypeName(type) + " out of range";
}

// Integers and decimals: a change of scale with a check of the range.
Kernel ExactToExact(DataType from, DataType to) {
  const int from_scale = ScaleOf(from);
  const int to_scale = ScaleOf(to);
  const IntegerRange range = RangeOf(to.kind);
  return [=](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, to);
    const WideReader values(input.arguments[0]);
    const WideWriter writer(*out);
    for (size_t row = 0; row < input.rows; ++row) {
      Int128 value = 0;
      bool fits = Rescale(values[row], from_scale, to_scale, value);
      fits = fits && (to.kind == TypeKind::kDecimal ? FitsPrecision(value, to.precision)
                                                    : value >= range.min && value <= range.max);
      if (!fits && !out->IsNull(row)) return FailRow(row, OutOfRange(to));
      writer.Set(row, value);
    }
    ClearNullRows(*out);
    return ColumnPtr(std::move(out));
  };
}

Kernel ExactToDouble(DataType from, DataType to) {
  const bool single = to.kind == TypeKind::kFloat;
  const int scale = ScaleOf(from);
  return [=](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, to);
    double* values = out->mutable_doubles();
    if (from.physical() == Physical::kInt64 && scale == 0) {
      const int64_t* ints = input.arguments[0].column->ints().data();
      for (size_t row = 0; row < input.rows; ++row) values[row] = static_cast<double>(ints[row]);
    } else if (from.physical() == Physical::kInt64 && from.precision <= 15) {
      // Both are exact in a double, so that the one division rounds correctly.
      const int64_t* ints = input.arguments[0].column->ints().data();
      const double power = static_cast<double>(PowerOfTen64(scale));
      for (size_t row = 0; row < input.rows; ++row) values[row] = static_cast<double>(ints[row]) / power;
    } else {
      const WideReader wides(input.arguments[0]);
      for (size_t row = 0; row < input.rows; ++row) values[row] = DecimalToDouble(wides[row], scale);
    }
    if (single) {
      for (size_t row = 0; row < input.rows; ++row) values[row] = static_cast<double>(static_cast<float>(values[row]));
    }
    return ColumnPtr(std::move(out));
  };
}

Kernel DoubleToFloat(DataType to) {
  return [to](const KernelInput& input) {
    return MapRows<double, double>(input, to, [](double value, Failure& failure) {
      const double single = static_cast<double>(static_cast<float>(value));
      if (std::isinf(single) && !std::isinf(value)) failure.Set("value out of range: overflow");
      return single;
    });
  };
}

// Rounds half to even, as PostgreSQL's rint.
Kernel DoubleToInteger(DataType to) {
  const IntegerRange range = RangeOf(to.kind);
  return [to, range](const KernelInput& input) {
    return MapRows<int64_t, double>(input, to, [&](double value, Failure& failure) -> int64_t {
      const double rounded = std::nearbyint(value);
      // The largest bigint is no double: the bound is exclusive.
      if (!(rounded >= static_cast<double>(range.min) && rounded < static_cast<double>(range.max) + 1.0) ||
          rounded >= 9223372036854775808.0) {
        failure.Set(OutOfRange(to));
        return 0;
      }
      return static_cast<int64_t>(rounded);
    });
  };
}

// Through 15 significant digits, as PostgreSQL: 0.1 + 0.2 is 0.3.
Kernel DoubleToDecimal(DataType to) {
  return [to](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, to);
    const WideWriter writer(*out);
    const double* values = input.arguments[0].column->doubles().data();
    char text[40];
    for (size_t row = 0; row < input.rows; ++row) {
      if (out->IsNull(row)) {
        writer.Set(row, 0);
        continue;
      }
      const auto end = fmt::format_to(text, "{:.15g}", values[row]);
      const auto parsed = std::isfinite(values[row])
                              ? ParseDecimal({text, static_cast<size_t>(end - text)}, to.precision, to.scale)
                              : Parsed<Int128>{0, ParseFault::kRange};
      if (!parsed) return FailRow(row, OutOfRange(to));
      writer.Set(row, parsed.value);
    }
    return ColumnPtr(std::move(out));
  };
}

Kernel BooleanToInteger(DataType to) {
  return [to](const KernelInput& input) {
    return MapRows<int64_t, uint8_t>(input, to, [](uint8_t value) -> int64_t { return value; });
  };
}

Kernel IntegerToBoolean(DataType to) {
  return [to](const KernelInput& input) {
    return MapRows<uint8_t, int64_t>(input, to, [](int64_t value) -> uint8_t { return value != 0; });
  };
}

template <class F>
Kernel MapMicros(DataType to, F function) {
  return [to, function](const KernelInput& input) {
    return MapRows<int64_t, int64_t>(input, to, [&](int64_t value) { return function(value); });
  };
}

// `instant_to_local` or the way back, then rounding to the target's digits.
Kernel ZoneKernel(DataType to, bool to_local, bool from_date, bool to_date) {
  return [=](const KernelInput& input) {
    ZoneConverter zone(input.context.time_zone);
    return MapRows<int64_t, int64_t>(input, to, [&](int64_t value) -> int64_t {
      if (from_date) value *= kMicrosPerDay;
      const Micros moved = to_local ? zone.ToLocal(value) : zone.ToInstant(value);
      return to_date ? FloorDivide(moved, kMicrosPerDay) : RoundMicros(moved, to.precision);
    });
  };
}

Kernel RetypeKernel(DataType to) {
  return [to](const KernelInput& input) -> RowResult<ColumnPtr> { return Retyped(input.arguments[0].column, to); };
}

CastRule FindCast(const DataType& from, const DataType& to) {
  if (SameValues(from, to)) return {RetypeKernel(to)};
  const auto is_number = [](const DataType& type) { return type.IsNumeric() || type.kind == TypeKind::kBoolean; };
  if (is_number(from) && is_number(to)) return NumberCast(from, to);
  if (from.kind == TypeKind::kString || to.kind == TypeKind::kString) return TextCast(from, to);
  return TimeCast(from, to);
}

}  // namespace

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

Micros RoundMicros(Micros value, int digits) {
  if (digits >= 6) return value;
  const Micros unit = PowerOfTen64(6 - digits);
  const Micros rest = value % unit;
  const Micros half = unit / 2;
  return value - rest + (rest >= half ? unit : rest <= -half ? -unit : 0);
}

ColumnPtr Retyped(const ColumnPtr& column, const DataType& type) {
  auto out = std::make_shared<Column>(type);
  out->Resize(column->size());
  if (column->has_nulls()) std::ranges::copy(column->nulls(), out->mutable_nulls());
  switch (column->physical()) {
    case Physical::kBool:
      std::ranges::copy(column->bools(), out->mutable_bools());
      break;
    case Physical::kInt64:
      std::ranges::copy(column->ints(), out->mutable_ints());
      break;
    case Physical::kDouble:
      std::ranges::copy(column->doubles(), out->mutable_doubles());
      break;
    case Physical::kInt128:
      std::ranges::copy(column->wides(), out->mutable_wides());
      break;
    case Physical::kText:
      std::ranges::copy(column->texts(), out->mutable_texts());
      out->ShareArena(column->arena());
      break;
  }
  return out;
}

CastRule NumberCast(const DataType& from, const DataType& to) {
  if (from.kind == TypeKind::kBoolean) return to.IsInteger() ? CastRule{BooleanToInteger(to)} : CastRule{};
  if (to.kind == TypeKind::kBoolean) return from.IsInteger() ? CastRule{IntegerToBoolean(to)} : CastRule{};
  if (IsExact(from) && IsExact(to)) {
    const DataType a = AsDecimal(from);
    const bool widens =
        to.kind == TypeKind::kDecimal && to.scale >= a.scale && to.precision - to.scale >= a.precision - a.scale;
    return {ExactToExact(from, to), !widens};
  }
  if (IsExact(from)) return {ExactToDouble(from, to)};
  if (to.kind == TypeKind::kFloat) return {DoubleToFloat(to), true};
  if (IsFloating(to)) return {RetypeKernel(to)};
  if (to.IsInteger()) return {DoubleToInteger(to), true};
  return {DoubleToDecimal(to), true};
}

CastRule TimeCast(const DataType& from, const DataType& to) {
  const int digits = to.precision;
  const auto rounded = [digits](Micros value) { return RoundMicros(value, digits); };
  if (from.kind == to.kind && (from.IsTimestamp() || from.kind == TypeKind::kTime)) return {MapMicros(to, rounded)};
  if (from.kind == TypeKind::kDate && to.kind == TypeKind::kTimestamp) {
    return {MapMicros(to, [](int64_t days) { return days * kMicrosPerDay; })};
  }
  if (from.kind == TypeKind::kTimestamp && to.kind == TypeKind::kDate) {
    return {MapMicros(to, [](Micros value) { return FloorDivide(value, kMicrosPerDay); })};
  }
  if (from.kind == TypeKind::kTimestamp && to.kind == TypeKind::kTime) {
    return {MapMicros(to, [digits](Micros value) {
      return RoundMicros(value - FloorDivide(value, kMicrosPerDay) * kMicrosPerDay, digits);
    })};
  }
  const bool from_ltz = from.kind == TypeKind::kTimestampLtz;
  const bool to_ltz = to.kind == TypeKind::kTimestampLtz;
  if (from_ltz && to.kind == TypeKind::kTimestamp) return {ZoneKernel(to, true, false, false), false, true};
  if (from_ltz && to.kind == TypeKind::kDate) return {ZoneKernel(to, true, false, true), false, true};
  if (to_ltz && from.kind == TypeKind::kTimestamp) return {ZoneKernel(to, false, false, false), false, true};
  if (to_ltz && from.kind == TypeKind::kDate) return {ZoneKernel(to, false, true, false), false, true};
  return {};
}

Result<ExpressionPtr> MakeCast(ExpressionPtr input, DataType to) {
  if (input->type() == to) return input;
  if (IsNullLiteral(*input)) return MakeNull(to);
  if (IsStringLiteral(*input) && to.kind == TypeKind::kInterval) {
    const auto parsed = ParseInterval(LiteralText(*input));
    if (!parsed)
      return PlanError("invalid input syntax for type interval: \"" + std::string(LiteralText(*input)) + "\"");
    return MakeInterval(parsed.value.months, parsed.value.micros);
  }
  CastRule rule = FindCast(input->type(), to);
  if (!rule.kernel) return PlanError("cannot cast type " + TypeName(input->type()) + " to " + TypeName(to));
  return FoldNode(
      MakeKernelCall({"CAST", to, {std::move(input)}, std::move(rule.kernel), rule.can_fail, rule.uses_context}));
}

Result<ExpressionPtr> MakeAssignmentCast(ExpressionPtr input, DataType to) {
  const DataType& from = input->type();
  if (from == to) return input;
  if (IsNullLiteral(*input)) return MakeNull(to);
  const bool numbers = from.IsNumeric() && to.IsNumeric();
  const bool times = CommonType(from, to).has_value() && !numbers;
  const bool literal = IsStringLiteral(*input) && to.kind != TypeKind::kArray;
  if (!numbers && !times && !literal) {
    return PlanError("a value of type " + TypeName(from) + " cannot be put into a column of type " + TypeName(to) +
                     "; use CAST(x AS " + to.ToString() + ")");
  }
  return MakeCast(std::move(input), to);
}

}  // namespace weir
