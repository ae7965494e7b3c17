// Dates and times: extract, date_trunc, date_bin, the current time, AT TIME ZONE, epoch conversions and constructors.
#include <algorithm>
#include <cmath>

#include "engine/data/text.h"
#include "sql/expr/cast.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"
#include "sql/expr/zone.h"

namespace weir {
namespace {

using View = std::string_view;
using Arguments = std::vector<ExpressionPtr>;

enum class Unit {
  kMicrosecond,
  kMillisecond,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kWeek,
  kMonth,
  kQuarter,
  kYear,
  kDecade,
  kCentury,
  kMillennium,
  kEpoch,
  kDayOfWeek,
  kIsoDayOfWeek,
  kDayOfYear,
  kIsoYear
};

struct NamedUnit {
  View name;
  Unit unit;
};

constexpr NamedUnit kUnits[] = {
    {"microsecond", Unit::kMicrosecond},
    {"microseconds", Unit::kMicrosecond},
    {"millisecond", Unit::kMillisecond},
    {"milliseconds", Unit::kMillisecond},
    {"second", Unit::kSecond},
    {"seconds", Unit::kSecond},
    {"minute", Unit::kMinute},
    {"minutes", Unit::kMinute},
    {"hour", Unit::kHour},
    {"hours", Unit::kHour},
    {"day", Unit::kDay},
    {"days", Unit::kDay},
    {"week", Unit::kWeek},
    {"weeks", Unit::kWeek},
    {"month", Unit::kMonth},
    {"months", Unit::kMonth},
    {"quarter", Unit::kQuarter},
    {"year", Unit::kYear},
    {"years", Unit::kYear},
    {"decade", Unit::kDecade},
    {"century", Unit::kCentury},
    {"millennium", Unit::kMillennium},
    {"epoch", Unit::kEpoch},
    {"dow", Unit::kDayOfWeek},
    {"isodow", Unit::kIsoDayOfWeek},
    {"doy", Unit::kDayOfYear},
    {"isoyear", Unit::kIsoYear},
};

Result<Unit> UnitOf(const Expression& argument, const std::string& function) {
  if (!IsStringLiteral(argument)) return PlanError("the first argument of " + function + " must be a constant unit");
  std::string name(LiteralText(argument));
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (const NamedUnit& unit : kUnits) {
    if (unit.name == name) return unit.unit;
  }
  return PlanError("unit \"" + name + "\" not recognized by " + function);
}

// 1 = Monday to 7 = Sunday; 1970-01-01 was a Thursday.
int64_t IsoDayOfWeek(int64_t days) { return days + 3 - FloorDivide(days + 3, 7) * 7 + 1; }

// The Thursday of the day's week decides the ISO year and the week in it.
int64_t ThursdayOf(int64_t days) { return days - IsoDayOfWeek(days) + 4; }

int64_t IsoWeek(int64_t days) {
  const int64_t thursday = ThursdayOf(days);
  return (thursday - FromCivil(ToCivil(thursday).year, 1, 1)) / 7 + 1;
}

// The field of a local time, an integer; second, millisecond and epoch are unscaled decimals.
int64_t FieldOf(Unit unit, Micros local) {
  const int64_t days = FloorDivide(local, kMicrosPerDay);
  const Micros rest = local - days * kMicrosPerDay;
  const auto date = [days] { return ToCivil(days); };
  switch (unit) {
    case Unit::kMicrosecond:
    case Unit::kMillisecond:
    case Unit::kSecond:
      return rest % (60 * kMicrosPerSecond);
    case Unit::kMinute:
      return rest / (60 * kMicrosPerSecond) % 60;
    case Unit::kHour:
      return rest / (3600 * kMicrosPerSecond);
    case Unit::kDay:
      return date().day;
    case Unit::kWeek:
      return IsoWeek(days);
    case Unit::kMonth:
      return date().month;
    case Unit::kQuarter:
      return (date().month - 1) / 3 + 1;
    case Unit::kYear:
      return date().year;
    case Unit::kDecade:
      return date().year / 10;
    case Unit::kCentury:
      return (date().year + 99) / 100;
    case Unit::kMillennium:
      return (date().year + 999) / 1000;
    case Unit::kEpoch:
      return local;
    case Unit::kDayOfWeek:
      return IsoDayOfWeek(days) % 7;
    case Unit::kIsoDayOfWeek:
      return IsoDayOfWeek(days);
    case Unit::kDayOfYear:
      return days - FromCivil(date().year, 1, 1) + 1;
    case Unit::kIsoYear:
      return ToCivil(ThursdayOf(days)).year;
  }
  return 0;
}

// Fields of an interval: days are the largest unit, and a negative interval has negative fields.
int64_t IntervalField(Unit unit, Micros micros) {
  switch (unit) {
    case Unit::kDay:
      return micros / kMicrosPerDay;
    case Unit::kHour:
      return micros / (3600 * kMicrosPerSecond) % 24;
    case Unit::kMinute:
      return micros / (60 * kMicrosPerSecond) % 60;
    case Unit::kEpoch:
      return micros;
    default:
      return micros % (60 * kMicrosPerSecond);
  }
}

DataType FieldType(Unit unit) {
  switch (unit) {
    case Unit::kSecond:
      return DecimalType(8, 6);
    case Unit::kMillisecond:
      return DecimalType(8, 3);
    case Unit::kEpoch:
      return DecimalType(18, 6);
    default:
      return BigintType();
  }
}

Result<ExpressionPtr> BindExtract(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(const Unit unit, UnitOf(*arguments[0], name));
  WEIR_ASSIGN(Arguments moment, Accept(name, "x", {arguments[1]}));
  const DataType from = moment[0]->type();
  const bool interval = from.kind == TypeKind::kInterval;
  const bool interval_unit = unit == Unit::kEpoch || (unit <= Unit::kDay);
  const bool time_unit = unit == Unit::kEpoch || unit < Unit::kDay;
  if ((interval && !interval_unit) || (from.kind == TypeKind::kTime && !time_unit)) {
    return PlanError("unit \"" + std::string(LiteralText(*arguments[0])) + "\" is not supported for type " +
                     TypeName(from));
  }
  const DataType type = FieldType(unit);
  const bool local = from.kind == TypeKind::kTimestampLtz && unit != Unit::kEpoch;
  const Micros factor = from.kind == TypeKind::kDate ? kMicrosPerDay : 1;
  Kernel kernel = [=](const KernelInput& input) {
    const KernelInput value{input.arguments.subspan(1), input.rows, input.context};
    ZoneConverter zone(local ? input.context.time_zone : "UTC");
    return MapRows<int64_t, int64_t>(value, type, [&](int64_t x) {
      return interval ? IntervalField(unit, x) : FieldOf(unit, zone.ToLocal(x * factor));
    });
  };
  ExpressionPtr field = MakeKernelCall({name, type, {arguments[0], moment[0]}, std::move(kernel), false, local});
  return name == "date_part" ? MakeCast(std::move(field), DoubleType()) : field;
}

Micros Truncate(Unit unit, Micros local) {
  const auto floor_to = [local](Micros step) { return FloorDivide(local, step) * step; };
  const int64_t days = FloorDivide(local, kMicrosPerDay);
  const auto month_start = [days](auto&& change) {
    CivilDate date = ToCivil(days);
    date.day = 1;
    change(date);
    return FromCivil(date.year, date.month, 1) * kMicrosPerDay;
  };
  switch (unit) {
    case Unit::kMillisecond:
      return floor_to(1000);
    case Unit::kSecond:
      return floor_to(kMicrosPerSecond);
    case Unit::kMinute:
      return floor_to(60 * kMicrosPerSecond);
    case Unit::kHour:
      return floor_to(3600 * kMicrosPerSecond);
    case Unit::kDay:
      return days * kMicrosPerDay;
    case Unit::kWeek:
      return (days - IsoDayOfWeek(days) + 1) * kMicrosPerDay;
    case Unit::kMonth:
      return month_start([](CivilDate&) {});
    case Unit::kQuarter:
      return month_start([](CivilDate& date) { date.month = (date.month - 1) / 3 * 3 + 1; });
    case Unit::kYear:
      return month_start([](CivilDate& date) { date.month = 1; });
    case Unit::kDecade:
      return month_start([](CivilDate& d) { d.month = 1, d.year = std::max(1, d.year / 10 * 10); });
    case Unit::kCentury:
      return month_start([](CivilDate& d) { d.month = 1, d.year = (d.year - 1) / 100 * 100 + 1; });
    case Unit::kMillennium:
      return month_start([](CivilDate& d) { d.month = 1, d.year = (d.year - 1) / 1000 * 1000 + 1; });
    default:
      return local;
  }
}

Result<ExpressionPtr> BindTruncate(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(const Unit unit, UnitOf(*arguments[0], name));
  if (unit > Unit::kMillennium) {
    return PlanError("unit \"" + std::string(LiteralText(*arguments[0])) + "\" is not supported by date_trunc");
  }
  WEIR_ASSIGN(Arguments moment, Accept(name, "t", {arguments[1]}));
  const DataType type = moment[0]->type();
  const bool local = type.kind == TypeKind::kTimestampLtz;
  Kernel kernel = [=](const KernelInput& input) {
    const KernelInput value{input.arguments.subspan(1), input.rows, input.context};
    ZoneConverter zone(local ? input.context.time_zone : "UTC");
    return MapRows<int64_t, int64_t>(value, type,
                                     [&](Micros x) { return zone.ToInstant(Truncate(unit, zone.ToLocal(x))); });
  };
  return MakeKernelCall({name, type, {arguments[0], moment[0]}, std::move(kernel), false, local});
}

// date_bin(stride, source, origin): the start of the interval of length `stride`, counted from origin, that has source.
Result<ExpressionPtr> BindBin(const std::string& name, Arguments arguments) {
  if (IsStringLiteral(*arguments[0])) {
    WEIR_ASSIGN(arguments[0], Coerce(arguments[0], {TypeKind::kInterval}));
  }
  if (arguments.size() == 2) arguments.push_back(MakeIntLiteral(TimestampType(0), 0));
  if (arguments[0]->type().kind != TypeKind::kInterval || AsMonthInterval(*arguments[0])) {
    return PlanError("the stride of date_bin must be an interval without months");
  }
  WEIR_ASSIGN(arguments, Accept(name, "*tt", std::move(arguments)));
  const DataType type = arguments[1]->type();
  Kernel kernel = [type](const KernelInput& input) {
    return MapRows<int64_t, int64_t, int64_t, int64_t>(
        input, type, [](Micros stride, Micros source, Micros origin, Failure& failure) {
          if (stride <= 0) {
            failure.Set("stride must be greater than zero");
            return source;
          }
          return FloorDivide(source - origin, stride) * stride + origin;
        });
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel), true});
}

// --- the time of the batch
// -----------------------------------------------------------------------------------------------
template <TypeKind kKind>
Result<ExpressionPtr> BindNow(const std::string& name, Arguments arguments) {
  const DataType type = kKind == TypeKind::kDate ? DateType() : DataType{kKind, 3};
  CallSpec spec{name, type, std::move(arguments), [type](const KernelInput& input) -> RowResult<ColumnPtr> {
                  ZoneConverter zone(input.context.time_zone);
                  Micros value = input.context.now;
                  if (kKind != TypeKind::kTimestampLtz) value = zone.ToLocal(value);
                  value =
                      kKind == TypeKind::kDate ? FloorDivide(value, kMicrosPerDay) : FloorDivide(value, 1000) * 1000;
                  auto out = std::make_shared<Column>(type);
                  for (size_t row = 0; row < input.rows; ++row) out->AppendInt(value);
                  return ColumnPtr(std::move(out));
                }};
  spec.uses_context = true;
  spec.deterministic = false;
  return MakeKernelCall(std::move(spec));
}

// --- time zones
// ------------------------------------------------------------------------------------------------------------ x AT
// TIME ZONE zone, and timezone(zone, x): a local time of the zone becomes an instant, an instant a local time.
Result<ExpressionPtr> BindZone(const std::string& name, Arguments arguments) {
  if (name == "timezone") std::swap(arguments[0], arguments[1]);
  WEIR_ASSIGN(arguments, Accept(name, "ts", std::move(arguments)));
  const DataType from = arguments[0]->type();
  const bool to_local = from.kind == TypeKind::kTimestampLtz;
  const DataType type = to_local ? TimestampType(from.precision) : TimestampLtzType(from.precision);
  const bool constant = IsStringLiteral(*arguments[1]);
  if (constant && !IsKnownZone(LiteralText(*arguments[1]))) {
    return PlanError("time zone \"" + std::string(LiteralText(*arguments[1])) + "\" not recognized");
  }
  Kernel kernel = [type, to_local](const KernelInput& input) {
    std::string current;
    ZoneConverter zone("UTC");
    return MapRows<int64_t, int64_t, View>(input, type, [&](Micros x, View wanted, Failure& failure) {
      if (wanted != current) {
        if (!IsKnownZone(wanted)) failure.Set("time zone \"" + std::string(wanted) + "\" not recognized");
        current = wanted;
        zone = ZoneConverter(current);
      }
      return to_local ? zone.ToLocal(x) : zone.ToInstant(x);
    });
  };
  return MakeKernelCall({"AT TIME ZONE", type, std::move(arguments), std::move(kernel), !constant});
}

// --- epochs and constructors
// -------------------------------------------------------------------------------------------
Result<ExpressionPtr> BindEpochMs(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, "t", std::move(arguments)));
  return MakeKernelCall({name, BigintType(), std::move(arguments), [](const KernelInput& input) {
                           return MapRows<int64_t, int64_t>(input, BigintType(),
                                                            [](Micros x) { return FloorDivide(x, 1000); });
                         }});
}

// unix milliseconds or seconds -> timestamp(3) or timestamp(0), in UTC.
Result<ExpressionPtr> BindFromEpoch(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, "l", std::move(arguments)));
  const bool ltz = name == "to_timestamp_ltz_ms";
  const DataType type = ltz ? TimestampLtzType(3) : TimestampType(3);
  Kernel kernel = [type](const KernelInput& input) {
    return MapRows<int64_t, int64_t>(input, type, [](int64_t ms, Failure& failure) {
      if (ms < kFirstTime / 1000 || ms > kLastTime / 1000) {
        failure.Set("timestamp out of range: " + std::to_string(ms) + " ms");
        return Micros{0};
      }
      return ms * 1000;
    });
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel), true});
}

template <bool kWithTime>
Result<ExpressionPtr> BindMake(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, kWithTime ? "iiiiid" : "iii", std::move(arguments)));
  const DataType type = kWithTime ? TimestampType(6) : DateType();
  Kernel kernel = [type](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, type);
    const auto part = [&](size_t i, size_t row) { return Reader<int64_t>(input.arguments[i])[row]; };
    for (size_t row = 0; row < input.rows; ++row) {
      out->mutable_ints()[row] = 0;
      if (out->IsNull(row)) continue;
      const int64_t year = part(0, row);
      const int64_t month = part(1, row);
      const int64_t day = part(2, row);
      bool valid = year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
      int64_t value = 0;
      if (valid) {
        value = FromCivil(static_cast<int>(year), static_cast<int>(month), static_cast<int>(day));
        valid = ToCivil(value).day == day;
      }
      if constexpr (kWithTime) {
        const int64_t hour = part(3, row);
        const int64_t minute = part(4, row);
        const double second = Reader<double>(input.arguments[5])[row];
        valid = valid && hour >= 0 && hour <= 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 60;
        if (valid) {
          value = value * kMicrosPerDay + (hour * 3600 + minute * 60) * kMicrosPerSecond + std::llround(second * 1e6);
        }
      }
      if (!valid) return FailRow(row, "date or time field value out of range");
      out->mutable_ints()[row] = value;
    }
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel), true});
}

}  // namespace

std::span<const FunctionRule> TimeRules() {
  static constexpr FunctionRule kRules[] = {
      {"extract", 2, 2, BindExtract},
      {"date_part", 2, 2, BindExtract},
      {"date_trunc", 2, 2, BindTruncate},
      {"date_bin", 2, 3, BindBin},
      {"current_timestamp", 0, 0, BindNow<TypeKind::kTimestampLtz>},
      {"now", 0, 0, BindNow<TypeKind::kTimestampLtz>},
      {"localtimestamp", 0, 0, BindNow<TypeKind::kTimestamp>},
      {"current_date", 0, 0, BindNow<TypeKind::kDate>},
      {"AT TIME ZONE", 2, 2, BindZone},
      {"timezone", 2, 2, BindZone},
      {"epoch_ms", 1, 1, BindEpochMs},
      {"to_timestamp_ms", 1, 1, BindFromEpoch},
      {"to_timestamp_ltz_ms", 1, 1, BindFromEpoch},
      {"make_timestamp", 6, 6, BindMake<true>},
      {"make_date", 3, 3, BindMake<false>},
  };
  return kRules;
}

}  // namespace weir
