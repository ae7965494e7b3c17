// = <> < <= > >=, IS [NOT] DISTINCT FROM, BETWEEN and IN.
//
//  1. Both sides are brought to comparable forms when the expression is built: a string literal takes the other side's
//     type, a numeric literal the other side's scale if that is exact, so that the loop compares plain integers.
//  2. Integers and decimals of different scales are compared exactly without a cast: no overflow in a comparison.
//  3. One loop for column against column, one for column against constant; a constant on the left is mirrored.
#include "sql/expr/comparison.h"

#include <algorithm>

#include "sql/expr/decimal.h"
#include "sql/expr/logic.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

struct Equal {
  template <class T>
  static bool Do(T a, T b) {
    return ValuesEqual(a, b);
  }
};
struct NotEqual {
  template <class T>
  static bool Do(T a, T b) {
    return !ValuesEqual(a, b);
  }
};
struct Less {
  template <class T>
  static bool Do(T a, T b) {
    return ValueLess(a, b);
  }
};
struct LessEqual {
  template <class T>
  static bool Do(T a, T b) {
    return !ValueLess(b, a);
  }
};
struct Greater {
  template <class T>
  static bool Do(T a, T b) {
    return ValueLess(b, a);
  }
};
struct GreaterEqual {
  template <class T>
  static bool Do(T a, T b) {
    return !ValueLess(a, b);
  }
};

Comparison Mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess:
      return Comparison::kGreater;
    case Comparison::kLessEqual:
      return Comparison::kGreaterEqual;
    case Comparison::kGreater:
      return Comparison::kLess;
    case Comparison::kGreaterEqual:
      return Comparison::kLessEqual;
    default:
      return comparison;
  }
}

// Calls f with the operation's type, so that the loop is compiled for it.
template <class F>
void WithOperation(Comparison comparison, F&& f) {
  switch (comparison) {
    case Comparison::kEqual:
      return f(Equal{});
    case Comparison::kNotEqual:
      return f(NotEqual{});
    case Comparison::kLess:
      return f(Less{});
    case Comparison::kLessEqual:
      return f(LessEqual{});
    case Comparison::kGreater:
      return f(Greater{});
    case Comparison::kGreaterEqual:
      return f(GreaterEqual{});
  }
}

// column = constant for texts of at least a word's size: the size, the first word and the last word decide most rows
// without a call.
template <class Word>
void EqualsText(const Column& column, std::string_view constant, size_t rows, bool negated, uint8_t* out) {
  constexpr size_t kWord = sizeof(Word);
  const size_t size = constant.size();
  const auto load = [](const char* from) {
    Word word;
    std::memcpy(&word, from, kWord);
    return word;
  };
  const Word head = load(constant.data());
  const Word tail = load(constant.data() + size - kWord);
  const char* arena = column.arena_data();
  const TextRef* texts = column.texts().data();
  for (size_t row = 0; row < rows; ++row) {
    const char* text = arena + texts[row].offset;
    const bool equal = texts[row].size == size && load(text) == head && load(text + size - kWord) == tail &&
                       (size <= 2 * kWord || std::memcmp(text, constant.data(), size) == 0);
    out[row] = equal != negated;
  }
}

void EqualsText(const Column& column, std::string_view constant, size_t rows, bool negated, uint8_t* out) {
  if (constant.size() >= 8) return EqualsText<uint64_t>(column, constant, rows, negated, out);
  if (constant.size() >= 4) return EqualsText<uint32_t>(column, constant, rows, negated, out);
  if (constant.size() >= 2) return EqualsText<uint16_t>(column, constant, rows, negated, out);
  if (constant.size() == 1) return EqualsText<uint8_t>(column, constant, rows, negated, out);
  for (size_t row = 0; row < rows; ++row) out[row] = (column.texts()[row].size == 0) != negated;
}

template <class T>
void CompareTyped(Comparison comparison, const Operand& a, const Operand& b, size_t rows, uint8_t* out) {
  if (a.constant) return CompareTyped<T>(Mirrored(comparison), b, a, rows, out);
  if constexpr (std::is_same_v<T, std::string_view>) {
    const bool equality = comparison == Comparison::kEqual || comparison == Comparison::kNotEqual;
    if (b.constant && equality) {
      return EqualsText(*a.column, b.column->text(0), rows, comparison == Comparison::kNotEqual, out);
    }
  }
  WithOperation(comparison, [&](auto operation) {
    using Operation = decltype(operation);
    if constexpr (std::is_same_v<T, std::string_view>) {
      const Reader<T> left(a);
      const Reader<T> right(b);
      for (size_t row = 0; row < rows; ++row) out[row] = Operation::Do(left[row], right[row]);
    } else {
      const T* left = DataOf<T>(*a.column);
      const T* right = DataOf<T>(*b.column);
      if (b.constant) {
        const T value = right[0];
        for (size_t row = 0; row < rows; ++row) out[row] = Operation::Do(left[row], value);
      } else {
        for (size_t row = 0; row < rows; ++row) out[row] = Operation::Do(left[row], right[row]);
      }
    }
  });
}

void CompareWide(Comparison comparison, const Operand& a, const Operand& b, int a_shift, int b_shift, size_t rows,
                 uint8_t* out) {
  const WideReader left(a);
  const WideReader right(b);
  WithOperation(comparison, [&](auto operation) {
    using Operation = decltype(operation);
    if (a_shift == 0 && b_shift == 0) {
      for (size_t row = 0; row < rows; ++row) out[row] = Operation::template Do<Int128>(left[row], right[row]);
      return;
    }
    for (size_t row = 0; row < rows; ++row) {
      out[row] = Operation::template Do<int64_t>(CompareDecimal(left[row], a_shift, right[row], b_shift), 0);
    }
  });
}

bool IsExact(const DataType& type) { return type.IsInteger() || type.kind == TypeKind::kDecimal; }

Error CannotCompare(const Expression& left, const Expression& right) {
  const DataType& other = left.type().kind == TypeKind::kString ? right.type() : left.type();
  return PlanError("cannot compare " + TypeName(left.type()) + " with " + TypeName(right.type()) +
                   "; cast one side, e.g. CAST(x AS " + other.ToString() + ")");
}

// A number literal at the scale of the other side's decimal or integer, when it is exactly that.
ExpressionPtr AtScaleOf(const ExpressionPtr& literal, const DataType& other) {
  const ColumnPtr value = literal->Literal();
  if (!value || value->IsNull(0) || !IsExact(literal->type()) || !IsExact(other)) return literal;
  const int scale = other.kind == TypeKind::kDecimal ? other.scale : 0;
  const int own = literal->type().kind == TypeKind::kDecimal ? literal->type().scale : 0;
  const Int128 unscaled = WideReader({value, true})[0];
  Int128 rescaled = 0;
  Int128 back = 0;
  if (own == scale || !Rescale(unscaled, own, scale, rescaled) || !Rescale(rescaled, scale, own, back) ||
      back != unscaled) {
    return literal;
  }
  if (other.physical() == Physical::kInt64 && FitsPrecision(rescaled, 18)) {
    return other.IsInteger() ? MakeIntLiteral(BigintType(), static_cast<int64_t>(rescaled))
                             : MakeDecimalLiteral(DecimalType(18, scale), rescaled);
  }
  if (other.kind == TypeKind::kDecimal && FitsPrecision(rescaled, 38)) {
    return MakeDecimalLiteral(DecimalType(38, scale), rescaled);
  }
  return literal;
}

// `equality`: for = and <> alone, which bitmaps have, too: their bytes are canonical.
Status MakeComparable(ExpressionPtr& left, ExpressionPtr& right, bool equality) {
  std::vector<ExpressionPtr> both = {left, right};
  const auto unified = Unify(both, "compare");
  if (!unified) {
    if (IsStringLiteral(*left) || IsStringLiteral(*right)) return unified.error();
    return CannotCompare(*left, *right);
  }
  const bool bitmap = unified->kind == TypeKind::kBitmap32 || unified->kind == TypeKind::kBitmap64;
  if (!IsOrderable(*unified) && !(equality && bitmap))
    return PlanError("values of type " + TypeName(*unified) + " cannot be compared");
  if (IsExact(left->type()) && IsExact(right->type())) {
    left = AtScaleOf(left, right->type());
    right = AtScaleOf(right, left->type());
    return {};
  }
  // A timestamp(3) next to a timestamp(6) is compared as it is.
  if (!SameValues(left->type(), *unified)) left = both[0];
  if (!SameValues(right->type(), *unified)) right = both[1];
  return {};
}

template <Comparison kComparison>
Result<ExpressionPtr> BindComparison(const std::string&, std::vector<ExpressionPtr> arguments) {
  return MakeComparison(kComparison, std::move(arguments[0]), std::move(arguments[1]));
}

Result<ExpressionPtr> BindDistinct(const std::string& name, std::vector<ExpressionPtr> arguments) {
  WEIR_TRY(MakeComparable(arguments[0], arguments[1], true));
  const bool distinct = name == "IS DISTINCT FROM";
  Kernel equal = ComparisonKernel(Comparison::kEqual, arguments[0]->type(), arguments[1]->type());
  Kernel kernel = [equal, distinct](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto same = equal(input);
    if (!same) return same;
    auto out = std::make_shared<Column>(BooleanType());
    out->Resize(input.rows);
    uint8_t* values = out->mutable_bools();
    const Operand& a = input.arguments[0];
    const Operand& b = input.arguments[1];
    for (size_t row = 0; row < input.rows; ++row) {
      // A NULL result of the comparison has the value 0.
      const bool alike = (*same)->bools()[row] != 0 || (a.IsNull(row) && b.IsNull(row));
      values[row] = alike != distinct;
    }
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, BooleanType(), std::move(arguments), std::move(kernel)});
}

Result<ExpressionPtr> BindBetween(const std::string& name, std::vector<ExpressionPtr> arguments) {
  WEIR_ASSIGN(ExpressionPtr low, MakeComparison(Comparison::kGreaterEqual, arguments[0], arguments[1]));
  WEIR_ASSIGN(ExpressionPtr high, MakeComparison(Comparison::kLessEqual, arguments[0], arguments[2]));
  ExpressionPtr both = MakeJunction(true, std::move(low), std::move(high));
  if (name == "BETWEEN") return both;
  return MakeCall("NOT", {std::move(both)});
}

// x IN (constants): the constants in a hash set, or for a few of them one after the other.
template <class T>
Kernel InSetKernel(const std::vector<ExpressionPtr>& arguments) {
  std::vector<T> few;
  std::vector<ColumnPtr> owners;  // keep the texts alive
  bool has_null = false;
  for (size_t i = 1; i < arguments.size(); ++i) {
    ColumnPtr literal = arguments[i]->Literal();
    if (literal->IsNull(0)) {
      has_null = true;
    } else {
      few.push_back(Reader<T>({literal, true})[0]);
      owners.push_back(std::move(literal));
    }
  }
  std::sort(few.begin(), few.end(), ValueLess<T>);
  return [few, owners, has_null](const KernelInput& input) -> RowResult<ColumnPtr> {
    const Operand tested[] = {input.arguments[0]};
    auto out = StrictResult({tested, input.rows, input.context}, BooleanType());
    const Reader<T> values(input.arguments[0]);
    uint8_t* found = out->mutable_bools();
    if (few.size() <= 8) {
      std::fill_n(found, input.rows, uint8_t{0});
      for (const T constant : few) {
        for (size_t row = 0; row < input.rows; ++row) found[row] |= ValuesEqual(values[row], constant);
      }
    } else {
      for (size_t row = 0; row < input.rows; ++row) {
        found[row] = std::binary_search(few.begin(), few.end(), values[row], ValueLess<T>);
      }
    }
    if (has_null) {
      uint8_t* nulls = out->mutable_nulls();
      for (size_t row = 0; row < input.rows; ++row) nulls[row] |= !found[row];
    }
    ClearNullRows(*out);
    return ColumnPtr(std::move(out));
  };
}

Kernel InSetKernelFor(const std::vector<ExpressionPtr>& arguments) {
  switch (arguments[0]->type().physical()) {
    case Physical::kBool:
      return InSetKernel<uint8_t>(arguments);
    case Physical::kInt64:
      return InSetKernel<int64_t>(arguments);
    case Physical::kDouble:
      return InSetKernel<double>(arguments);
    case Physical::kInt128:
      return InSetKernel<Int128>(arguments);
    case Physical::kText:
      break;
  }
  return InSetKernel<std::string_view>(arguments);
}

Result<ExpressionPtr> BindIn(const std::string& name, std::vector<ExpressionPtr> arguments) {
  if (name == "NOT IN") {
    WEIR_ASSIGN(ExpressionPtr in, BindIn("IN", std::move(arguments)));
    return MakeCall("NOT", {std::move(in)});
  }
  const bool constants = std::all_of(arguments.begin() + 1, arguments.end(),
                                     [](const ExpressionPtr& argument) { return argument->Literal() != nullptr; });
  std::vector<ExpressionPtr> unified = arguments;
  const auto type = Unify(unified, "compare");
  // Only a list that takes the tested side as it is: constants are then converted once.
  if (constants && type && IsOrderable(*type) && SameValues(arguments[0]->type(), *type)) {
    unified[0] = arguments[0];
    const bool literal = std::all_of(unified.begin() + 1, unified.end(),
                                     [](const ExpressionPtr& argument) { return argument->Literal() != nullptr; });
    if (literal && arguments.size() > 2) {
      Kernel kernel = InSetKernelFor(unified);
      return MakeKernelCall({name, BooleanType(), std::move(unified), std::move(kernel)});
    }
  }
  ExpressionPtr any;
  for (size_t i = 1; i < arguments.size(); ++i) {
    WEIR_ASSIGN(ExpressionPtr equal, MakeComparison(Comparison::kEqual, arguments[0], arguments[i]));
    any = any ? MakeJunction(false, std::move(any), std::move(equal)) : std::move(equal);
  }
  return any;
}

}  // namespace

Kernel ComparisonKernel(Comparison comparison, const DataType& left, const DataType& right) {
  const Physical physical = left.physical();
  const bool exact = IsExact(left) && IsExact(right);
  const int left_scale = left.kind == TypeKind::kDecimal ? left.scale : 0;
  const int right_scale = right.kind == TypeKind::kDecimal ? right.scale : 0;
  const int left_shift = exact ? std::max(0, right_scale - left_scale) : 0;
  const int right_shift = exact ? std::max(0, left_scale - right_scale) : 0;
  const bool wide =
      left_shift > 0 || right_shift > 0 || physical == Physical::kInt128 || right.physical() == Physical::kInt128;
  return [=](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, BooleanType());
    const Operand& a = input.arguments[0];
    const Operand& b = input.arguments[1];
    uint8_t* values = out->mutable_bools();
    if (wide) {
      CompareWide(comparison, a, b, left_shift, right_shift, input.rows, values);
    } else {
      switch (physical) {
        case Physical::kBool:
          CompareTyped<uint8_t>(comparison, a, b, input.rows, values);
          break;
        case Physical::kInt64:
          CompareTyped<int64_t>(comparison, a, b, input.rows, values);
          break;
        case Physical::kDouble:
          CompareTyped<double>(comparison, a, b, input.rows, values);
          break;
        case Physical::kInt128:
          break;  // wide
        case Physical::kText:
          CompareTyped<std::string_view>(comparison, a, b, input.rows, values);
          break;
      }
    }
    ClearNullRows(*out);
    return ColumnPtr(std::move(out));
  };
}

Result<ExpressionPtr> MakeComparison(Comparison comparison, ExpressionPtr left, ExpressionPtr right) {
  static constexpr const char* kNames[] = {"=", "<>", "<", "<=", ">", ">="};
  const bool equality = comparison == Comparison::kEqual || comparison == Comparison::kNotEqual;
  WEIR_TRY(MakeComparable(left, right, equality));
  Kernel kernel = ComparisonKernel(comparison, left->type(), right->type());
  return MakeKernelCall({kNames[static_cast<size_t>(comparison)], BooleanType(), {left, right}, std::move(kernel)});
}

std::span<const FunctionRule> ComparisonRules() {
  static constexpr FunctionRule kRules[] = {
      {"=", 2, 2, BindComparison<Comparison::kEqual>},
      {"<>", 2, 2, BindComparison<Comparison::kNotEqual>},
      {"!=", 2, 2, BindComparison<Comparison::kNotEqual>},
      {"<", 2, 2, BindComparison<Comparison::kLess>},
      {"<=", 2, 2, BindComparison<Comparison::kLessEqual>},
      {">", 2, 2, BindComparison<Comparison::kGreater>},
      {">=", 2, 2, BindComparison<Comparison::kGreaterEqual>},
      {"IS DISTINCT FROM", 2, 2, BindDistinct},
      {"IS NOT DISTINCT FROM", 2, 2, BindDistinct},
      {"BETWEEN", 3, 3, BindBetween},
      {"NOT BETWEEN", 3, 3, BindBetween},
      {"IN", 2, kAnyNumber, BindIn},
      {"NOT IN", 2, kAnyNumber, BindIn},
  };
  return kRules;
}

}  // namespace weir
