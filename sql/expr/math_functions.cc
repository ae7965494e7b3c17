// Mathematical functions.  Rounding functions keep decimals exact; roots, logarithms and angles are double.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "sql/expr/arithmetic.h"
#include "sql/expr/cast.h"
#include "sql/expr/decimal.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

using Arguments = std::vector<ExpressionPtr>;

bool IsFloating(const DataType& type) { return type.kind == TypeKind::kFloat || type.kind == TypeKind::kDouble; }

// --- abs and sign
// ----------------------------------------------------------------------------------------------------------
Result<ExpressionPtr> BindAbs(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, "n", std::move(arguments)));
  const DataType type = arguments[0]->type();
  Kernel kernel;
  if (IsFloating(type)) {
    kernel = [type](const KernelInput& input) {
      return MapRows<double, double>(input, type, [](double value) { return std::fabs(value); });
    };
  } else if (type.physical() == Physical::kInt128) {
    kernel = [type](const KernelInput& input) {
      return MapRows<Int128, Int128>(input, type, [](Int128 value) { return value < 0 ? -value : value; });
    };
  } else {
    kernel = [type, max = RangeOf(type.kind).max](const KernelInput& input) {
      return MapRows<int64_t, int64_t>(input, type, [&](int64_t value, Failure& failure) {
        if (value < -max) {
          failure.Set(TypeName(type) + " out of range");
          return int64_t{0};
        }
        return value < 0 ? -value : value;
      });
    };
  }
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel), type.IsInteger()});
}

Result<ExpressionPtr> BindSign(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, "n", std::move(arguments)));
  if (IsFloating(arguments[0]->type())) {
    return MakeKernelCall({name, DoubleType(), std::move(arguments), [](const KernelInput& input) {
                             return MapRows<double, double>(input, DoubleType(), [](double value) {
                               return value > 0 ? 1.0 : value < 0 ? -1.0 : value;
                             });
                           }});
  }
  Kernel kernel = [](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, IntType());
    const WideReader values(input.arguments[0]);
    int64_t* to = out->mutable_ints();
    for (size_t row = 0; row < input.rows; ++row) to[row] = (values[row] > 0) - (values[row] < 0);
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, IntType(), std::move(arguments), std::move(kernel)});
}

// --- rounding
// ----------------------------------------------------------------------------------------------------------------
enum class Rounding { kHalfAway, kTowardZero, kUp, kDown };

// value at scale `from`, rounded to `digits` (which may be negative), again at scale `to`.
bool RoundExact(Int128 value, Rounding rounding, int from, int digits, int to, Int128& out) {
  const int drop = from - digits;
  if (drop <= 0) return Rescale(value, from, to, out);
  Int128 kept = 0;
  if (rounding == Rounding::kHalfAway) {
    kept = RoundDigits(value, drop);
  } else if (drop <= kMaxDecimalDigits) {
    const Int128 power = PowerOfTen(drop);
    kept = value / power;
    const Int128 rest = value % power;
    if (rounding == Rounding::kUp && rest > 0) ++kept;
    if (rounding == Rounding::kDown && rest < 0) --kept;
  }
  if (digits >= 0 || kept == 0) return Rescale(kept, digits, to, out);
  return !__builtin_mul_overflow(kept, PowerOfTen(std::min(to - digits, kMaxDecimalDigits)), &out);
}

double RoundDouble(double value, Rounding rounding, int64_t digits) {
  const auto round_whole = [rounding, digits](double x) {
    switch (rounding) {
      // PostgreSQL's round(double) is half to even; round(double, n) goes the way of decimals.
      case Rounding::kHalfAway:
        return digits == 0 ? std::nearbyint(x) : std::round(x);
      case Rounding::kTowardZero:
        return std::trunc(x);
      case Rounding::kUp:
        return std::ceil(x);
      case Rounding::kDown:
        break;
    }
    return std::floor(x);
  };
  if (digits == 0 || !std::isfinite(value)) return round_whole(value);
  if (digits > 300) return value;
  if (digits < -308) return 0;
  const double power = std::pow(10.0, static_cast<double>(std::abs(digits)));
  const double scaled = digits > 0 ? value * power : value / power;
  if (!std::isfinite(scaled) || std::fabs(scaled) >= 9007199254740992.0) return value;
  // 2.675 * 100 is 267.49999999999997: the digits that were written decide, not the product's last bit.
  double whole = round_whole(scaled);
  if (rounding == Rounding::kHalfAway) whole = std::round(scaled + std::copysign(std::fabs(scaled) * 4e-16, scaled));
  return digits > 0 ? whole / power : whole * power;
}

template <Rounding kRounding>
Result<ExpressionPtr> BindRound(const std::string& name, Arguments arguments) {
  const bool has_digits = arguments.size() == 2;
  WEIR_ASSIGN(arguments, Accept(name, "ni", std::move(arguments)));
  const DataType from = arguments[0]->type();
  if (IsFloating(from)) {
    if (!has_digits) arguments.push_back(MakeIntLiteral(IntType(), 0));
    return MakeKernelCall(
        {name, from, has_digits ? arguments : Arguments{arguments[0]}, [from, has_digits](const KernelInput& input) {
           if (has_digits) {
             return MapRows<double, double, int64_t>(
                 input, from, [](double value, int64_t digits) { return RoundDouble(value, kRounding, digits); });
           }
           return MapRows<double, double>(input, from, [](double value) { return RoundDouble(value, kRounding, 0); });
         }});
  }
  if (from.IsInteger() && !has_digits) return arguments[0];
  // A constant number of digits gives the scale; otherwise the scale stays.
  std::optional<int64_t> constant = has_digits ? LiteralInt(*arguments[1]) : std::optional<int64_t>(0);
  const int from_scale = from.kind == TypeKind::kDecimal ? from.scale : 0;
  int to_scale = from_scale;
  if (constant) to_scale = static_cast<int>(std::clamp<int64_t>(*constant, 0, from_scale));
  DataType type = from;
  if (from.kind == TypeKind::kDecimal) {
    type = DecimalType(std::clamp(from.precision - from_scale + to_scale + 1, 1, kMaxDecimalDigits), to_scale);
  }
  Kernel kernel = [=](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, type);
    const WideReader values(input.arguments[0]);
    const WideWriter writer(*out);
    const IntegerRange range = RangeOf(type.kind);
    for (size_t row = 0; row < input.rows; ++row) {
      Int128 value = 0;
      if (!out->IsNull(row)) {
        int64_t digits = constant.value_or(0);
        if (!constant) digits = Reader<int64_t>(input.arguments[1])[row];
        const int bounded = static_cast<int>(std::clamp<int64_t>(digits, -kMaxDecimalDigits - 1, kMaxDecimalDigits));
        bool fits = RoundExact(values[row], kRounding, from_scale, bounded, to_scale, value);
        fits = fits && (type.kind == TypeKind::kDecimal ? FitsPrecision(value, type.precision)
                                                        : value >= range.min && value <= range.max);
        if (!fits) return FailRow(row, "numeric field overflow: the result does not fit " + type.ToString());
      }
      writer.Set(row, value);
    }
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel), true});
}

// --- double functions
// ----------------------------------------------------------------------------------------------------- What is checked
// before and after a function of doubles.
struct DoubleFunction {
  std::string_view name;
  double (*compute)(double);
  // Why the argument is refused, or null.
  const char* (*refuse)(double);
};

const char* Accepts(double) { return nullptr; }
const char* RefusesNegative(double x) { return x < 0 ? "cannot take square root of a negative number" : nullptr; }
const char* RefusesLog(double x) {
  if (x == 0) return "cannot take logarithm of zero";
  return x < 0 ? "cannot take logarithm of a negative number" : nullptr;
}
const char* RefusesBeyondOne(double x) { return std::fabs(x) > 1 ? "input is out of range" : nullptr; }
const char* RefusesInfinite(double x) { return std::isinf(x) ? "input is out of range" : nullptr; }

constexpr DoubleFunction kDoubleFunctions[] = {
    {"sqrt", [](double x) { return std::sqrt(x); }, RefusesNegative},
    {"cbrt", [](double x) { return std::cbrt(x); }, Accepts},
    {"exp", [](double x) { return std::exp(x); }, Accepts},
    {"ln", [](double x) { return std::log(x); }, RefusesLog},
    {"log", [](double x) { return std::log10(x); }, RefusesLog},
    {"log10", [](double x) { return std::log10(x); }, RefusesLog},
    {"log2", [](double x) { return std::log2(x); }, RefusesLog},
    {"sin", [](double x) { return std::sin(x); }, RefusesInfinite},
    {"cos", [](double x) { return std::cos(x); }, RefusesInfinite},
    {"tan", [](double x) { return std::tan(x); }, RefusesInfinite},
    {"cot", [](double x) { return 1.0 / std::tan(x); }, RefusesInfinite},
    {"asin", [](double x) { return std::asin(x); }, RefusesBeyondOne},
    {"acos", [](double x) { return std::acos(x); }, RefusesBeyondOne},
    {"atan", [](double x) { return std::atan(x); }, Accepts},
    {"sinh", [](double x) { return std::sinh(x); }, Accepts},
    {"cosh", [](double x) { return std::cosh(x); }, Accepts},
    {"tanh", [](double x) { return std::tanh(x); }, Accepts},
    {"degrees", [](double x) { return x * (180.0 / std::numbers::pi); }, Accepts},
    {"radians", [](double x) { return x * (std::numbers::pi / 180.0); }, Accepts},
};

Result<ExpressionPtr> BindDouble(const std::string& name, Arguments arguments) {
  const DoubleFunction& function = *std::find_if(std::begin(kDoubleFunctions), std::end(kDoubleFunctions),
                                                 [&](const auto& f) { return f.name == name; });
  WEIR_ASSIGN(arguments, Accept(name, "d", std::move(arguments)));
  Kernel kernel = [&function](const KernelInput& input) {
    return MapRows<double, double>(input, DoubleType(), [&](double x, Failure& failure) {
      if (const char* why = function.refuse(x)) {
        failure.Set(why);
        return 0.0;
      }
      const double result = function.compute(x);
      if (std::isinf(result) && !std::isinf(x)) failure.Set("value out of range: overflow");
      return result;
    });
  };
  return MakeKernelCall({name, DoubleType(), std::move(arguments), std::move(kernel), true});
}

using BinaryFunction = double (*)(double, double, Failure&);

template <BinaryFunction kFunction>
Result<ExpressionPtr> BindBinary(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, "dd", std::move(arguments)));
  Kernel kernel = [](const KernelInput& input) {
    return MapRows<double, double, double>(input, DoubleType(), [](double a, double b, Failure& failure) {
      const double result = kFunction(a, b, failure);
      if (!failure.failed && std::isinf(result) && !std::isinf(a) && !std::isinf(b)) {
        failure.Set("value out of range: overflow");
      }
      return result;
    });
  };
  return MakeKernelCall({name, DoubleType(), std::move(arguments), std::move(kernel), true});
}

double Power(double base, double exponent, Failure& failure) {
  if (base == 0 && exponent < 0) failure.Set("zero raised to a negative power is undefined");
  if (base < 0 && std::trunc(exponent) != exponent) {
    failure.Set("a negative number raised to a non-integer power yields a complex result");
  }
  return std::pow(base, exponent);
}

double LogOfBase(double base, double x, Failure& failure) {
  for (const double value : {base, x}) {
    if (const char* why = RefusesLog(value)) failure.Set(why);
  }
  if (base == 1) failure.Set("division by zero");
  return std::log(x) / std::log(base);
}

double ArcTangent2(double y, double x, Failure&) { return std::atan2(y, x); }

Result<ExpressionPtr> BindLog(const std::string& name, Arguments arguments) {
  return arguments.size() == 1 ? BindDouble(name, std::move(arguments))
                               : BindBinary<LogOfBase>(name, std::move(arguments));
}

// The quotient without its fraction: of integers as /, of decimals and doubles truncated.
Result<ExpressionPtr> BindDiv(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, "nn", std::move(arguments)));
  const bool decimal =
      arguments[0]->type().kind == TypeKind::kDecimal || arguments[1]->type().kind == TypeKind::kDecimal;
  const bool floating = IsFloating(arguments[0]->type()) || IsFloating(arguments[1]->type());
  if (decimal && !floating) {
    // (a - a % b) / b has no fraction, so that nothing is rounded up.
    WEIR_ASSIGN(ExpressionPtr rest, MakeArithmetic("%", arguments[0], arguments[1]));
    WEIR_ASSIGN(ExpressionPtr even, MakeArithmetic("-", arguments[0], std::move(rest)));
    WEIR_ASSIGN(ExpressionPtr quotient, MakeArithmetic("/", std::move(even), arguments[1]));
    return MakeCall("trunc", {std::move(quotient)});
  }
  WEIR_ASSIGN(ExpressionPtr quotient, MakeArithmetic("/", arguments[0], arguments[1]));
  return floating ? MakeCall("trunc", {std::move(quotient)}) : std::move(quotient);
}

Result<ExpressionPtr> BindPi(const std::string&, Arguments) { return MakeDoubleLiteral(std::numbers::pi); }

Result<ExpressionPtr> BindRandom(const std::string& name, Arguments arguments) {
  CallSpec spec{name, DoubleType(), std::move(arguments), [](const KernelInput& input) -> RowResult<ColumnPtr> {
                  std::mt19937_64 generator{std::random_device{}()};
                  std::uniform_real_distribution<double> unit(0.0, 1.0);
                  auto out = std::make_shared<Column>(DoubleType());
                  out->Resize(input.rows);
                  for (size_t row = 0; row < input.rows; ++row) out->mutable_doubles()[row] = unit(generator);
                  return ColumnPtr(std::move(out));
                }};
  spec.deterministic = false;
  spec.per_row = true;
  return MakeKernelCall(std::move(spec));
}

// --- bits
// ------------------------------------------------------------------------------------------------------------------
Result<ExpressionPtr> BindBits(const std::string& name, Arguments arguments) {
  for (const ExpressionPtr& argument : arguments) {
    if (!argument->type().IsInteger() && !IsNullLiteral(*argument)) return NoSuchOperator(name, arguments);
  }
  WEIR_ASSIGN(const DataType type, Unify(arguments, "combine"));
  const char symbol = name[0];
  const int64_t bits = type.kind == TypeKind::kBigint ? 64 : 32;
  Kernel kernel = [type, symbol, bits](const KernelInput& input) {
    return MapRows<int64_t, int64_t, int64_t>(input, type, [symbol, bits](int64_t a, int64_t b) -> int64_t {
      const int64_t distance = b & (bits - 1);
      switch (symbol) {
        case '&':
          return a & b;
        case '|':
          return a | b;
        case '#':
          return a ^ b;
        case '<': {
          const uint64_t shifted = static_cast<uint64_t>(a) << distance;
          return bits == 64 ? static_cast<int64_t>(shifted) : static_cast<int32_t>(shifted);
        }
        default:
          return a >> distance;
      }
    });
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel)});
}

}  // namespace

std::span<const FunctionRule> MathRules() {
  static constexpr FunctionRule kRules[] = {
      {"abs", 1, 1, BindAbs},
      {"sign", 1, 1, BindSign},
      {"round", 1, 2, BindRound<Rounding::kHalfAway>},
      {"trunc", 1, 2, BindRound<Rounding::kTowardZero>},
      {"ceil", 1, 1, BindRound<Rounding::kUp>},
      {"ceiling", 1, 1, BindRound<Rounding::kUp>},
      {"floor", 1, 1, BindRound<Rounding::kDown>},
      {"sqrt", 1, 1, BindDouble},
      {"cbrt", 1, 1, BindDouble},
      {"exp", 1, 1, BindDouble},
      {"ln", 1, 1, BindDouble},
      {"log", 1, 2, BindLog},
      {"log10", 1, 1, BindDouble},
      {"log2", 1, 1, BindDouble},
      {"sin", 1, 1, BindDouble},
      {"cos", 1, 1, BindDouble},
      {"tan", 1, 1, BindDouble},
      {"cot", 1, 1, BindDouble},
      {"asin", 1, 1, BindDouble},
      {"acos", 1, 1, BindDouble},
      {"atan", 1, 1, BindDouble},
      {"atan2", 2, 2, BindBinary<ArcTangent2>},
      {"sinh", 1, 1, BindDouble},
      {"cosh", 1, 1, BindDouble},
      {"tanh", 1, 1, BindDouble},
      {"degrees", 1, 1, BindDouble},
      {"radians", 1, 1, BindDouble},
      {"power", 2, 2, BindBinary<Power>},
      {"pow", 2, 2, BindBinary<Power>},
      {"^", 2, 2, BindBinary<Power>},
      {"div", 2, 2, BindDiv},
      {"pi", 0, 0, BindPi},
      {"random", 0, 0, BindRandom},
      {"&", 2, 2, BindBits},
      {"|", 2, 2, BindBits},
      {"#", 2, 2, BindBits},
      {"<<", 2, 2, BindBits},
      {">>", 2, 2, BindBits},
  };
  return kRules;
}

}  // namespace weir
