// + - * / on dates, times, timestamps and intervals.
//
// An interval is a number of microseconds; a literal may have months as well, which are added by the calendar: the day
// is kept or becomes the month's last, as in PostgreSQL.
#include <algorithm>
#include <cmath>

#include "engine/data/text.h"
#include "sql/expr/arithmetic.h"
#include "sql/expr/cast.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"
#include "sql/expr/zone.h"

namespace weir {
namespace {

using Arguments = std::vector<ExpressionPtr>;

constexpr DataType kInterval{TypeKind::kInterval};

bool IsInterval(const Expression& e) { return e.type().kind == TypeKind::kInterval; }
bool IsDate(const Expression& e) { return e.type().kind == TypeKind::kDate; }
bool IsTimestamp(const Expression& e) { return e.type().IsTimestamp(); }
bool IsTime(const Expression& e) { return e.type().kind == TypeKind::kTime; }

// Digits of a second's fraction that the values of an interval expression can have.
int IntervalDigits(const Expression& expression) {
  if (const ColumnPtr literal = expression.Literal(); literal && IsInterval(expression)) {
    const Micros micros = literal->ints()[0];
    return micros % kMicrosPerSecond == 0 ? 0 : micros % 1000 == 0 ? 3 : 6;
  }
  const std::vector<ExpressionPtr> children = expression.children();
  int digits = children.empty() ? 6 : 0;
  for (const ExpressionPtr& child : children) {
    const DataType& type = child->type();
    if (IsInterval(*child)) {
      digits = std::max(digits, IntervalDigits(*child));
    } else if (type.IsTimestamp() || type.kind == TypeKind::kTime) {
      digits = std::max<int>(digits, type.precision);
    } else if (!type.IsInteger() && type.kind != TypeKind::kDate) {
      digits = 6;
    }
  }
  return digits;
}

DataType WithDigits(DataType type, int digits) {
  type.precision = static_cast<uint8_t>(std::max<int>(type.precision, digits));
  return type;
}

// left + sign * right * factor on int64, within [min, max].
Kernel SumKernel(DataType type, int64_t right_factor, int64_t min, int64_t max) {
  return [=](const KernelInput& input) {
    return MapRows<int64_t, int64_t, int64_t>(input, type, [&](int64_t a, int64_t b, Failure& failure) {
      int64_t out = 0;
      if (__builtin_mul_overflow(b, right_factor, &b) || __builtin_add_overflow(a, b, &out) || out < min || out > max) {
        failure.Set(TypeName({type.kind}) + " out of range");
      }
      return out;
    });
  };
}

Kernel MomentKernel(DataType type, int64_t factor) { return SumKernel(type, factor, kFirstTime, kLastTime); }

int64_t LastDayOfMonth(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// The day number moved by months; false outside the years 1 to 9999.
bool AddMonths(int64_t days, int64_t months, int64_t& out) {
  const CivilDate date = ToCivil(days);
  int64_t total = 0;
  if (__builtin_add_overflow(int64_t{date.year} * 12 + date.month - 1, months, &total)) return false;
  const int64_t year = FloorDivide(total, 12);
  if (year < 1 || year > 9999) return false;
  const int month = static_cast<int>(total - year * 12) + 1;
  const int64_t day = std::min<int64_t>(date.day, LastDayOfMonth(static_cast<int>(year), month));
  out = FromCivil(static_cast<int>(year), month, static_cast<int>(day));
  return true;
}

// moment + months, then + micros; a timestamp_ltz moves in the local time of the job.
Result<ExpressionPtr> MakeMonthSum(ExpressionPtr moment, MonthInterval by) {
  if (IsDate(*moment)) {
    WEIR_ASSIGN(moment, MakeCast(moment, TimestampType(0)));
  }
  const DataType type = moment->type();
  const bool local = type.kind == TypeKind::kTimestampLtz;
  Kernel kernel = [type, local](const KernelInput& input) {
    ZoneConverter zone(local ? input.context.time_zone : "UTC");
    return MapRows<int64_t, int64_t, int64_t>(input, type, [&](Micros value, int64_t months, Failure& failure) {
      const Micros here = zone.ToLocal(value);
      const int64_t days = FloorDivide(here, kMicrosPerDay);
      int64_t moved = 0;
      if (!AddMonths(days, months, moved)) failure.Set("timestamp out of range");
      return zone.ToInstant(moved * kMicrosPerDay + (here - days * kMicrosPerDay));
    });
  };
  ExpressionPtr months = MakeBigint(by.months);
  ExpressionPtr sum =
      MakeKernelCall({"add_months", type, {std::move(moment), std::move(months)}, std::move(kernel), true, local});
  if (by.micros == 0) return FoldNode(sum);
  return MakeCall("+", {FoldNode(sum), MakeInterval(0, by.micros)});
}

Result<ExpressionPtr> MakeSum(const std::string& name, Arguments arguments) {
  const int64_t sign = name == "+" ? 1 : -1;
  if (name == "+") {
    // The moment first: interval + date and int + date are the same the other way round.
    const bool swap = (IsInterval(*arguments[0]) && !IsInterval(*arguments[1])) ||
                      (!IsTimeType(arguments[0]->type()) && IsTimeType(arguments[1]->type()));
    if (swap) std::swap(arguments[0], arguments[1]);
  }
  ExpressionPtr& left = arguments[0];
  ExpressionPtr& right = arguments[1];
  const auto call = [&](DataType type, Kernel kernel) -> Result<ExpressionPtr> {
    return MakeKernelCall({name, type, {left, right}, std::move(kernel), true});
  };
  if (IsInterval(*right)) {
    if (const auto months = AsMonthInterval(*right)) {
      if (!IsDate(*left) && !IsTimestamp(*left)) {
        return PlanError("an interval of months can only be added to or subtracted from a date or timestamp");
      }
      return MakeMonthSum(left, {sign * months->months, sign * months->micros});
    }
    const int digits = IntervalDigits(*right);
    if (IsDate(*left)) {
      WEIR_ASSIGN(left, MakeCast(left, TimestampType(0)));
      left = FoldNode(left);
    }
    if (IsTimestamp(*left)) {
      const DataType type = WithDigits(left->type(), digits);
      return call(type, MomentKernel(type, sign));
    }
    if (IsInterval(*left)) return call(kInterval, SumKernel(kInterval, sign, INT64_MIN, INT64_MAX));
    if (IsTime(*left)) {
      const DataType type = WithDigits(left->type(), digits);
      return call(type, [type, sign](const KernelInput& input) {
        return MapRows<int64_t, int64_t, int64_t>(input, type, [sign](int64_t a, int64_t b) {
          const int64_t sum = a + sign * (b % kMicrosPerDay);
          return sum - FloorDivide(sum, kMicrosPerDay) * kMicrosPerDay;
        });
      });
    }
  }
  if (IsDate(*left) && (right->type().IsInteger() || IsNullLiteral(*right))) {
    WEIR_ASSIGN(right, Coerce(right, BigintType()));
    constexpr int64_t kFirstDay = kFirstTime / kMicrosPerDay;
    return call(DateType(), SumKernel(DateType(), sign, kFirstDay, kLastTime / kMicrosPerDay));
  }
  return NoSuchOperator(name, arguments);
}

// The distance of two moments of one kind.
Result<ExpressionPtr> MakeDifference(Arguments arguments) {
  WEIR_ASSIGN(const DataType type, Unify(arguments, "subtract"));
  const bool dates = type.kind == TypeKind::kDate;
  if (!dates && !type.IsTimestamp() && type.kind != TypeKind::kTime) return NoSuchOperator("-", arguments);
  const DataType result = dates ? IntType() : kInterval;
  return MakeKernelCall({"-", result, std::move(arguments), SumKernel(result, -1, INT64_MIN, INT64_MAX), true});
}

Result<ExpressionPtr> MakeScaled(const std::string& name, Arguments arguments) {
  if (name == "*" && !IsInterval(*arguments[0])) std::swap(arguments[0], arguments[1]);
  if (const auto months = AsMonthInterval(*arguments[0])) {
    const auto factor = LiteralInt(*arguments[1]);
    int64_t scaled = 0;
    if (name == "*" && factor && !__builtin_mul_overflow(months->months, *factor, &scaled)) {
      return MakeInterval(scaled, months->micros * *factor);
    }
    return PlanError("an interval of months can only be multiplied by a constant integer");
  }
  const bool valid = IsInterval(*arguments[0]) && (arguments[1]->type().IsNumeric() || IsNullLiteral(*arguments[1]));
  if (!valid) return NoSuchOperator(name, arguments);
  if (name == "*" && arguments[1]->type().IsInteger()) {
    return MakeKernelCall({name, kInterval, std::move(arguments),
                           [](const KernelInput& input) {
                             return MapRows<int64_t, int64_t, int64_t>(input, kInterval,
                                                                       [](int64_t a, int64_t b, Failure& failure) {
                                                                         int64_t out = 0;
                                                                         if (__builtin_mul_overflow(a, b, &out))
                                                                           failure.Set("interval out of range");
                                                                         return out;
                                                                       });
                           },
                           true});
  }
  WEIR_ASSIGN(arguments[1], Coerce(arguments[1], DoubleType()));
  const bool divides = name == "/";
  Kernel kernel = [divides](const KernelInput& input) {
    return MapRows<int64_t, int64_t, double>(
        input, kInterval, [divides](int64_t a, double b, Failure& failure) -> int64_t {
          if (divides && b == 0) {
            failure.Set("division by zero");
            return 0;
          }
          const double out = std::nearbyint(divides ? static_cast<double>(a) / b : static_cast<double>(a) * b);
          if (!(std::fabs(out) < 9.2e18)) {
            failure.Set("interval out of range");
            return 0;
          }
          return static_cast<int64_t>(out);
        });
  };
  return MakeKernelCall({name, kInterval, std::move(arguments), std::move(kernel), true});
}

}  // namespace

bool IsTimeType(const DataType& type) {
  return type.IsTimestamp() || type.kind == TypeKind::kDate || type.kind == TypeKind::kTime ||
         type.kind == TypeKind::kInterval;
}

Result<ExpressionPtr> BindTimeArithmetic(const std::string& name, Arguments arguments) {
  if (arguments.size() == 1) {
    if (!IsInterval(*arguments[0])) return NoSuchOperator(name, arguments);
    if (name == "+") return arguments[0];
    return MakeScaled("*", {arguments[0], MakeBigint(-1)});
  }
  // An open literal is what makes sense: '1 day' next to + is an interval, next to timestamp - a timestamp.
  for (size_t i = 0; i < 2; ++i) {
    const Expression& other = *arguments[1 - i];
    if (!IsStringLiteral(*arguments[i])) continue;
    const bool moment = name == "-" && !IsInterval(other);
    const DataType type = moment ? other.type() : kInterval;
    WEIR_ASSIGN(arguments[i], Coerce(arguments[i], name == "*" || name == "/" ? DoubleType() : type));
  }
  if (name == "*" || name == "/") return MakeScaled(name, std::move(arguments));
  if (name == "-" && IsTimeType(arguments[1]->type()) && !IsInterval(*arguments[1])) {
    return MakeDifference(std::move(arguments));
  }
  if (name == "+" || name == "-") return MakeSum(name, std::move(arguments));
  return NoSuchOperator(name, arguments);
}

}  // namespace weir
