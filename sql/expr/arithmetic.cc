// Arithmetic on numbers.
//
//  1. Integers and decimals of at most 18 digits run on int64 in one loop that only collects a flag; a second pass over
//     the rows finds the first row that failed, and a failure at a NULL row is none.
//  2. Wider decimals run on Int128; the result type's rules (decimal.h) decide how much is checked.
//  3. Doubles run in one loop and are checked afterwards: an infinity that no operand had is an overflow.
#include "sql/expr/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "engine/data/text.h"
#include "sql/expr/cast.h"
#include "sql/expr/decimal.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

bool IsFloating(const DataType& type) { return type.kind == TypeKind::kFloat || type.kind == TypeKind::kDouble; }

constexpr const char* kSymbols[] = {"+", "-", "*", "/", "%"};

template <class F>
auto WithArithmetic(Arithmetic operation, F&& f) {
  using enum Arithmetic;
  switch (operation) {
    case kAdd:
      return f(std::integral_constant<Arithmetic, kAdd>{});
    case kSubtract:
      return f(std::integral_constant<Arithmetic, kSubtract>{});
    case kMultiply:
      return f(std::integral_constant<Arithmetic, kMultiply>{});
    case kDivide:
      return f(std::integral_constant<Arithmetic, kDivide>{});
    case kModulo:
      break;
  }
  return f(std::integral_constant<Arithmetic, kModulo>{});
}

// --- int64
// --------------------------------------------------------------------------------------------------------------- One
// step; true when it failed.  Never traps, whatever the operands.
template <Arithmetic kOperation>
inline bool StepInt(int64_t a, int64_t b, int64_t& out) {
  if constexpr (kOperation == Arithmetic::kAdd) {
    return __builtin_add_overflow(a, b, &out);
  } else if constexpr (kOperation == Arithmetic::kSubtract) {
    return __builtin_sub_overflow(a, b, &out);
  } else if constexpr (kOperation == Arithmetic::kMultiply) {
    return __builtin_mul_overflow(a, b, &out);
  } else {
    if (b == 0 || b == -1) {
      // -1 apart: INT64_MIN / -1 and INT64_MIN % -1 trap.
      out = 0;
      if (b == 0) return true;
      return kOperation == Arithmetic::kDivide && __builtin_sub_overflow(int64_t{0}, a, &out);
    }
    out = kOperation == Arithmetic::kDivide ? a / b : a % b;
    return false;
  }
}

template <Arithmetic kOperation>
bool LoopInts(const Operand& left, const Operand& right, size_t rows, int64_t* out) {
  const int64_t* a = left.column->ints().data();
  const int64_t* b = right.column->ints().data();
  bool failed = false;
  if (right.constant) {
    const int64_t value = b[0];
    for (size_t row = 0; row < rows; ++row) failed |= StepInt<kOperation>(a[row], value, out[row]);
  } else if (left.constant) {
    const int64_t value = a[0];
    for (size_t row = 0; row < rows; ++row) failed |= StepInt<kOperation>(value, b[row], out[row]);
  } else {
    for (size_t row = 0; row < rows; ++row) failed |= StepInt<kOperation>(a[row], b[row], out[row]);
  }
  return failed;
}

bool OutsideRange(const int64_t* values, size_t rows, const IntegerRange& range) {
  bool outside = false;
  for (size_t row = 0; row < rows; ++row) outside |= (values[row] < range.min) | (values[row] > range.max);
  return outside;
}

std::string IntegerFailure(Arithmetic operation, const DataType& type, int64_t a, int64_t b) {
  const bool divides = operation == Arithmetic::kDivide || operation == Arithmetic::kModulo;
  if (divides && b == 0) return "division by zero";
  return TypeName(type) + " out of range: " + std::to_string(a) + " " + kSymbols[static_cast<size_t>(operation)] + " " +
         std::to_string(b);
}

Kernel IntegerKernel(Arithmetic operation, DataType type) {
  const IntegerRange range = RangeOf(type.kind);
  const bool narrow = type.kind != TypeKind::kBigint;
  return [=](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, type);
    const Operand& left = input.arguments[0];
    const Operand& right = input.arguments[1];
    int64_t* values = out->mutable_ints();
    return WithArithmetic(operation, [&](auto constant) -> RowResult<ColumnPtr> {
      constexpr Arithmetic kOperation = decltype(constant)::value;
      bool failed = LoopInts<kOperation>(left, right, input.rows, values);
      if (narrow) failed = OutsideRange(values, input.rows, range) || failed;
      if (failed) {
        const Reader<int64_t> a(left);
        const Reader<int64_t> b(right);
        for (size_t row = 0; row < input.rows; ++row) {
          int64_t value = 0;
          const bool bad = StepInt<kOperation>(a[row], b[row], value) || value < range.min || value > range.max;
          if (bad && !out->IsNull(row)) return FailRow(row, IntegerFailure(operation, type, a[row], b[row]));
        }
      }
      ClearNullRows(*out);
      return ColumnPtr(std::move(out));
    });
  };
}

// --- decimals
// ------------------------------------------------------------------------------------------------------------ Both
// sides and the result in int64: the result type has room for every result of + - *, so nothing is checked.
Kernel SmallDecimalKernel(Arithmetic operation, DataType type, int64_t left_factor, int64_t right_factor) {
  return [=](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, type);
    int64_t* values = out->mutable_ints();
    const Operand& left = input.arguments[0];
    const Operand& right = input.arguments[1];
    const auto run = [&](auto step) {
      const int64_t* a = left.column->ints().data();
      const int64_t* b = right.column->ints().data();
      if (right.constant) {
        const int64_t value = b[0] * right_factor;
        for (size_t row = 0; row < input.rows; ++row) values[row] = step(a[row] * left_factor, value);
      } else if (left.constant) {
        const int64_t value = a[0] * left_factor;
        for (size_t row = 0; row < input.rows; ++row) values[row] = step(value, b[row] * right_factor);
      } else {
        for (size_t row = 0; row < input.rows; ++row) values[row] = step(a[row] * left_factor, b[row] * right_factor);
      }
    };
    switch (operation) {
      case Arithmetic::kAdd:
        run([](int64_t a, int64_t b) { return a + b; });
        break;
      case Arithmetic::kSubtract:
        run([](int64_t a, int64_t b) { return a - b; });
        break;
      default:
        run([](int64_t a, int64_t b) { return a * b; });
        break;
    }
    ClearNullRows(*out);
    return ColumnPtr(std::move(out));
  };
}

// Scales of the operands and of the result.
struct Scales {
  int left;
  int right;
  int result;
};

// One step on 128 bits; false when the value does not fit.  REQUIRES: b != 0 for / and %.
template <Arithmetic kOperation>
bool StepWide(Int128 a, Int128 b, const Scales& scales, Int128& out) {
  if constexpr (kOperation == Arithmetic::kMultiply) {
    return MultiplyDecimal(a, b, scales.left + scales.right - scales.result, out);
  } else if constexpr (kOperation == Arithmetic::kDivide) {
    return DivideDecimal(a, b, scales.result + scales.right - scales.left, out);
  } else {
    Int128 left = 0;
    Int128 right = 0;
    if constexpr (kOperation == Arithmetic::kModulo) {
      // A divisor too large to be scaled up is larger than the dividend: the rest is the dividend.
      if (!Rescale(a, scales.left, scales.result, left)) return false;
      if (!Rescale(b, scales.right, scales.result, right)) return out = left, true;
      return out = left % right, true;
    } else {
      if (!Rescale(a, scales.left, scales.result, left) || !Rescale(b, scales.right, scales.result, right))
        return false;
      return kOperation == Arithmetic::kAdd ? !__builtin_add_overflow(left, right, &out)
                                            : !__builtin_sub_overflow(left, right, &out);
    }
  }
}

Kernel WideDecimalKernel(Arithmetic operation, DataType type, Scales scales) {
  const bool divides = operation == Arithmetic::kDivide || operation == Arithmetic::kModulo;
  return [=](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, type);
    const WideReader a(input.arguments[0]);
    const WideReader b(input.arguments[1]);
    const WideWriter writer(*out);
    return WithArithmetic(operation, [&](auto constant) -> RowResult<ColumnPtr> {
      constexpr Arithmetic kOperation = decltype(constant)::value;
      for (size_t row = 0; row < input.rows; ++row) {
        Int128 value = 0;
        if (!out->IsNull(row)) {
          const Int128 divisor = b[row];
          if (divides && divisor == 0) return FailRow(row, "division by zero");
          if (!StepWide<kOperation>(a[row], divisor, scales, value) || !FitsPrecision(value, type.precision)) {
            return FailRow(row, "numeric field overflow: the result does not fit " + type.ToString());
          }
        }
        writer.Set(row, value);
      }
      return ColumnPtr(std::move(out));
    });
  };
}

Result<ExpressionPtr> MakeDecimalArithmetic(Arithmetic operation, ExpressionPtr left, ExpressionPtr right) {
  const DataType a = AsDecimal(*left);
  const DataType b = AsDecimal(*right);
  DataType type;
  bool capped = false;
  const int add_digits = std::max(a.precision - a.scale, b.precision - b.scale) + 1 + std::max(a.scale, b.scale);
  switch (operation) {
    case Arithmetic::kAdd:
    case Arithmetic::kSubtract:
      type = AddType(a, b);
      capped = add_digits > kMaxDecimalDigits;
      break;
    case Arithmetic::kMultiply:
      type = MultiplyType(a, b);
      capped = a.precision + b.precision > kMaxDecimalDigits;
      break;
    case Arithmetic::kDivide:
      type = DivideType(a, b);
      break;
    case Arithmetic::kModulo:
      type = ModuloType(a, b);
      break;
  }
  const bool divides = operation == Arithmetic::kDivide || operation == Arithmetic::kModulo;
  const bool small = !divides && type.physical() == Physical::kInt64 && left->type().physical() == Physical::kInt64 &&
                     right->type().physical() == Physical::kInt64;
  Kernel kernel;
  if (small) {
    const bool product = operation == Arithmetic::kMultiply;
    kernel = SmallDecimalKernel(operation, type, product ? 1 : PowerOfTen64(type.scale - a.scale),
                                product ? 1 : PowerOfTen64(type.scale - b.scale));
  } else {
    kernel = WideDecimalKernel(operation, type, {a.scale, b.scale, type.scale});
  }
  return MakeKernelCall(
      {kSymbols[static_cast<size_t>(operation)], type, {left, right}, std::move(kernel), divides || capped});
}

// --- doubles
// -------------------------------------------------------------------------------------------------------------
template <Arithmetic kOperation>
inline double StepDouble(double a, double b) {
  if constexpr (kOperation == Arithmetic::kAdd) {
    return a + b;
  } else if constexpr (kOperation == Arithmetic::kSubtract) {
    return a - b;
  } else if constexpr (kOperation == Arithmetic::kMultiply) {
    return a * b;
  } else if constexpr (kOperation == Arithmetic::kDivide) {
    return a / b;
  } else {
    return std::fmod(a, b);
  }
}

// Why the result of a and b is an error, or null.
const char* DoubleFailure(Arithmetic operation, double a, double b, double result) {
  const bool divides = operation == Arithmetic::kDivide || operation == Arithmetic::kModulo;
  if (divides && b == 0 && !std::isnan(a)) return "division by zero";
  if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) return "value out of range: overflow";
  const bool can_underflow = operation == Arithmetic::kMultiply || operation == Arithmetic::kDivide;
  if (can_underflow && result == 0 && a != 0 && (operation == Arithmetic::kDivide ? !std::isinf(b) : b != 0)) {
    return "value out of range: underflow";
  }
  return nullptr;
}

Kernel DoubleKernel(Arithmetic operation, DataType type) {
  const bool single = type.kind == TypeKind::kFloat;
  return [=](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, type);
    double* values = out->mutable_doubles();
    const Reader<double> a(input.arguments[0]);
    const Reader<double> b(input.arguments[1]);
    bool suspect = false;
    WithArithmetic(operation, [&](auto constant) {
      constexpr Arithmetic kOperation = decltype(constant)::value;
      for (size_t row = 0; row < input.rows; ++row) {
        const double value = StepDouble<kOperation>(a[row], b[row]);
        values[row] = single ? static_cast<double>(static_cast<float>(value)) : value;
        // Infinities and NaN differ from themselves when subtracted; a zero may be an underflow.
        suspect |= (values[row] - values[row] != 0) | (values[row] == 0);
      }
      return 0;
    });
    if (suspect) {
      for (size_t row = 0; row < input.rows; ++row) {
        if (out->IsNull(row)) continue;
        const char* failure = DoubleFailure(operation, a[row], b[row], values[row]);
        if (failure) return FailRow(row, failure);
      }
    }
    ClearNullRows(*out);
    return ColumnPtr(std::move(out));
  };
}

Result<ExpressionPtr> BindArithmetic(const std::string& name, std::vector<ExpressionPtr> arguments) {
  if (std::any_of(arguments.begin(), arguments.end(),
                  [](const ExpressionPtr& argument) { return IsTimeType(argument->type()); })) {
    return BindTimeArithmetic(name, std::move(arguments));
  }
  if (arguments.size() == 1) {
    if (IsStringLiteral(*arguments[0])) {
      WEIR_ASSIGN(arguments[0], Coerce(arguments[0], DoubleType()));
    }
    if (!arguments[0]->type().IsNumeric()) return NoSuchOperator(name, arguments);
    if (name == "+") return arguments[0];
    const DataType type = arguments[0]->type();
    const DataType zero_type = type.kind == TypeKind::kDecimal ? DecimalType(1, 0) : type;
    ExpressionPtr zero = IsFloating(type) ? MakeDoubleLiteral(-0.0) : nullptr;
    if (!zero) zero = zero_type.kind == TypeKind::kDecimal ? MakeDecimalLiteral(zero_type, 0) : MakeIntLiteral(type, 0);
    WEIR_ASSIGN(ExpressionPtr negated, MakeArithmetic("-", std::move(zero), arguments[0]));
    // 0 - x widens a decimal by a digit that its negative never needs.
    return MakeCast(std::move(negated), type);
  }
  return MakeArithmetic(name, std::move(arguments[0]), std::move(arguments[1]));
}

}  // namespace

Result<ExpressionPtr> MakeArithmetic(const std::string& name, ExpressionPtr left, ExpressionPtr right) {
  const auto* symbol = std::find(std::begin(kSymbols), std::end(kSymbols), name);
  const Arithmetic operation = static_cast<Arithmetic>(symbol - std::begin(kSymbols));
  const auto is_open = [](const Expression& e) { return IsStringLiteral(e) || IsNullLiteral(e); };
  if (is_open(*left) && right->type().IsNumeric()) {
    WEIR_ASSIGN(left, Coerce(left, right->type()));
  } else if (is_open(*right) && left->type().IsNumeric()) {
    WEIR_ASSIGN(right, Coerce(right, left->type()));
  }
  const DataType a = left->type();
  const DataType b = right->type();
  if (!a.IsNumeric() || !b.IsNumeric()) return NoSuchOperator(name, {left, right});
  if (IsFloating(a) || IsFloating(b)) {
    const DataType type = *CommonType(a, b);
    if (!IsFloating(a)) {
      WEIR_ASSIGN(left, MakeCast(left, type));
    }
    if (!IsFloating(b)) {
      WEIR_ASSIGN(right, MakeCast(right, type));
    }
    return MakeKernelCall({name, type, {left, right}, DoubleKernel(operation, type), true});
  }
  if (a.kind == TypeKind::kDecimal || b.kind == TypeKind::kDecimal) {
    return MakeDecimalArithmetic(operation, std::move(left), std::move(right));
  }
  DataType type = a.kind > b.kind ? a : b;
  if (type.kind == TypeKind::kTinyint) type = {TypeKind::kSmallint};
  return MakeKernelCall({name, type, {left, right}, IntegerKernel(operation, type), true});
}

std::span<const FunctionRule> ArithmeticRules() {
  static constexpr FunctionRule kRules[] = {
      {"+", 1, 2, BindArithmetic},
      {"-", 1, 2, BindArithmetic},
      {"*", 2, 2, BindArithmetic},
      {"/", 2, 2, BindArithmetic},
      {"%", 2, 2, BindArithmetic},
      {"mod", 2, 2,
       [](const std::string&, std::vector<ExpressionPtr> arguments) {
         return BindArithmetic("%", std::move(arguments));
       }},
  };
  return kRules;
}

}  // namespace weir
