// Times to text and back by patterns: to_char, date_format, to_timestamp, to_date.
#include <cmath>

#include "engine/data/text.h"
#include "sql/expr/cast.h"
#include "sql/expr/registry.h"
#include "sql/expr/time_pattern.h"
#include "sql/expr/types.h"
#include "sql/expr/zone.h"

namespace weir {
namespace {

using Arguments = std::vector<ExpressionPtr>;

// The pattern is compiled once, so it must be constant.
Result<std::string> PatternText(const std::string& name, const Expression& argument) {
  if (!IsStringLiteral(argument)) return PlanError("the pattern of " + name + " must be a constant text");
  return std::string(LiteralText(argument));
}

// to_char(x, PostgreSQL's pattern), date_format(x, Java's pattern).
Result<ExpressionPtr> BindFormat(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(const std::string text, PatternText(name, *arguments[1]));
  WEIR_ASSIGN(TimePattern pattern,
              name == "to_char" ? Result<TimePattern>(TimePattern::Postgres(text)) : TimePattern::Java(text));
  WEIR_ASSIGN(Arguments moment, Accept(name, "t", {arguments[0]}));
  const bool local = moment[0]->type().kind == TypeKind::kTimestampLtz;
  // Times come nearly in order, and most of a batch have the day, the hour or the minute of the row before.
  Kernel kernel = [pattern, local, unit = pattern.unit()](const KernelInput& input) {
    ZoneConverter zone(local ? input.context.time_zone : "UTC");
    const KernelInput value{input.arguments.first(1), input.rows, input.context};
    std::string text;
    Micros from = 0;
    Micros to = 0;  // `text` is that of the times in [from, to)
    return MapText<int64_t>(value, StringType(), [&](Micros x, std::string& out) {
      const Micros time = zone.ToLocal(x);
      if (time < from || time >= to) {
        from = FloorDivide(time, unit) * unit;
        to = from + unit;
        text.clear();
        pattern.Append(time, text);
      }
      out = text;
    });
  };
  return MakeKernelCall({name, StringType(), {moment[0], arguments[1]}, std::move(kernel), false, local});
}

// Text by a pattern to a timestamp_ltz (in the job's time zone) or a date.
Result<ExpressionPtr> BindParse(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(const std::string text, PatternText(name, *arguments[1]));
  WEIR_ASSIGN(TimePattern pattern, TimePattern::Either(text));
  WEIR_ASSIGN(arguments, Accept(name, "ss", std::move(arguments)));
  const bool date = name == "to_date";
  const DataType type = date ? DateType() : TimestampLtzType(6);
  Kernel kernel = [pattern, type, date](const KernelInput& input) {
    ZoneConverter zone(input.context.time_zone);
    const KernelInput value{input.arguments.first(1), input.rows, input.context};
    return MapRows<int64_t, std::string_view>(value, type, [&](std::string_view x, Failure& failure) -> int64_t {
      const auto parsed = pattern.Parse(x);
      if (!parsed) {
        failure.Set(parsed.error().message);
        return 0;
      }
      return date ? FloorDivide(*parsed, kMicrosPerDay) : zone.ToInstant(*parsed);
    });
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel), true, !date});
}

Result<ExpressionPtr> BindToTimestamp(const std::string& name, Arguments arguments) {
  if (arguments.size() == 2) return BindParse(name, std::move(arguments));
  if (arguments[0]->type().kind == TypeKind::kString) return MakeCast(arguments[0], TimestampType(3));
  WEIR_ASSIGN(arguments, Accept(name, "d", std::move(arguments)));
  const DataType type = TimestampLtzType(6);
  Kernel kernel = [type](const KernelInput& input) {
    return MapRows<int64_t, double>(input, type, [](double seconds, Failure& failure) -> Micros {
      const double micros = std::nearbyint(seconds * 1e6);
      if (!(micros >= static_cast<double>(kFirstTime) && micros <= static_cast<double>(kLastTime))) {
        failure.Set("timestamp out of range");
        return 0;
      }
      return static_cast<Micros>(micros);
    });
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel), true});
}

Result<ExpressionPtr> BindToDate(const std::string& name, Arguments arguments) {
  if (arguments.size() == 2) return BindParse(name, std::move(arguments));
  return MakeCast(std::move(arguments[0]), DateType());
}

}  // namespace

std::span<const FunctionRule> TimeFormatRules() {
  static constexpr FunctionRule kRules[] = {
      {"to_char", 2, 2, BindFormat},
      {"date_format", 2, 2, BindFormat},
      {"to_timestamp", 1, 2, BindToTimestamp},
      {"to_date", 1, 2, BindToDate},
  };
  return kRules;
}

}  // namespace weir
