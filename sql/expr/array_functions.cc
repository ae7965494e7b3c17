// Arrays: ARRAY[...], a[i], cardinality, array_contains, = ANY.
#include "engine/data/array_codec.h"
#include "sql/expr/comparison.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

using View = std::string_view;
using Arguments = std::vector<ExpressionPtr>;

bool IsArray(const Expression& expression) { return expression.type().kind == TypeKind::kArray; }

Result<ExpressionPtr> BindConstructor(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(const DataType element, Unify(arguments, "unite"));
  if (element.kind == TypeKind::kArray) return PlanError("an array of arrays is not supported");
  const DataType type = ArrayType(element);
  Kernel kernel = [element, type](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = std::make_shared<Column>(type);
    out->Resize(input.rows);
    TextOutput texts(*out);
    std::string scratch;
    for (size_t row = 0; row < input.rows; ++row) {
      Column elements(element);
      for (const Operand& argument : input.arguments)
        elements.AppendFrom(*argument.column, argument.constant ? 0 : row);
      scratch.clear();
      AppendArray(elements, 0, elements.size(), scratch);
      if (!texts.Set(row, scratch)) return FailRow(row, "array too large");
    }
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel)});
}

// Counted from 1; NULL outside.
Result<ExpressionPtr> BindSubscript(const std::string& name, Arguments arguments) {
  if (!IsArray(*arguments[0])) return PlanError("cannot subscript type " + TypeName(arguments[0]->type()));
  WEIR_ASSIGN(arguments, Accept(name, "*l", std::move(arguments)));
  const DataType type = arguments[0]->type().ElementType();
  Kernel kernel = [type](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = std::make_shared<Column>(type);
    out->Reserve(input.rows);
    const Reader<View> arrays(input.arguments[0]);
    const Reader<int64_t> indexes(input.arguments[1]);
    for (size_t row = 0; row < input.rows; ++row) {
      const bool null = input.arguments[0].IsNull(row) || input.arguments[1].IsNull(row);
      const int64_t index = indexes[row];
      if (null || index < 1 || index > static_cast<int64_t>(ArraySize(arrays[row]))) {
        out->AppendNull();
        continue;
      }
      Column elements(type);
      DecodeArray(arrays[row], elements);
      out->AppendFrom(elements, static_cast<size_t>(index - 1));
    }
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel)});
}

// cardinality(a), and array_length(a, 1), which is NULL for an empty array.
Result<ExpressionPtr> BindLength(const std::string& name, Arguments arguments) {
  if (!IsArray(*arguments[0])) return NoSuchFunction(name, arguments);
  const bool null_when_empty = name == "array_length" && arguments.size() == 2;
  if (arguments.size() == 2 && LiteralInt(*arguments[1]) != 1) {
    return PlanError("arrays have one dimension: the second argument of array_length must be 1");
  }
  arguments.resize(1);
  Kernel kernel = [null_when_empty](const KernelInput& input) {
    auto lengths = MapRows<int64_t, View>(input, IntType(),
                                          [](View a) { return static_cast<int64_t>(a.empty() ? 0 : ArraySize(a)); });
    if (!lengths || !null_when_empty) return lengths;
    auto out = std::make_shared<Column>(IntType());
    for (size_t row = 0; row < input.rows; ++row) {
      const int64_t length = (*lengths)->ints()[row];
      if ((*lengths)->IsNull(row) || length == 0) {
        out->AppendNull();
      } else {
        out->AppendInt(length);
      }
    }
    return RowResult<ColumnPtr>(std::move(out));
  };
  return MakeKernelCall({name, IntType(), std::move(arguments), std::move(kernel)});
}

// 1 found, 0 not found, 2 not found but a NULL is among the elements.
template <class T>
uint8_t Find(const Column& elements, T value) {
  const Operand operand{ColumnPtr(ColumnPtr(), &elements), false};
  const Reader<T> reader(operand);
  bool has_null = false;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements.IsNull(i)) {
      has_null = true;
    } else if (ValuesEqual(reader[i], value)) {
      return 1;
    }
  }
  return has_null ? 2 : 0;
}

template <class T>
RowResult<ColumnPtr> FindRows(const KernelInput& input, size_t array_at, bool null_aware) {
  auto out = StrictResult(input, BooleanType());
  const Reader<View> arrays(input.arguments[array_at]);
  const Reader<T> values(input.arguments[1 - array_at]);
  const DataType element = input.arguments[array_at].column->type().ElementType();
  for (size_t row = 0; row < input.rows; ++row) {
    out->mutable_bools()[row] = 0;
    if (out->IsNull(row)) continue;
    Column elements(element);
    DecodeArray(arrays[row], elements);
    const uint8_t found = Find<T>(elements, values[row]);
    out->mutable_bools()[row] = found == 1;
    if (found == 2 && null_aware) out->SetNull(row);
  }
  return ColumnPtr(std::move(out));
}

// array_contains(array, value): FALSE next to NULL elements; value = ANY (array): NULL then, as SQL's IN.
Result<ExpressionPtr> BindContains(const std::string& name, Arguments arguments) {
  const bool any = name == "ANY =";
  const size_t array_at = any ? 1 : 0;
  if (!IsArray(*arguments[array_at])) return NoSuchFunction(name, arguments);
  const DataType element = arguments[array_at]->type().ElementType();
  ExpressionPtr& value = arguments[1 - array_at];
  if (!IsCoercible(*value, element)) {
    return PlanError("cannot compare " + TypeName(value->type()) + " with " + TypeName(element) +
                     "; cast one side, e.g. CAST(x AS " + element.ToString() + ")");
  }
  // Integers of all widths compare as they are.
  if (!(value->type().IsInteger() && element.IsInteger())) {
    WEIR_ASSIGN(value, MakeAssignmentCast(value, element));
  }
  Kernel kernel = [element, array_at, any](const KernelInput& input) -> RowResult<ColumnPtr> {
    switch (element.physical()) {
      case Physical::kBool:
        return FindRows<uint8_t>(input, array_at, any);
      case Physical::kInt64:
        return FindRows<int64_t>(input, array_at, any);
      case Physical::kDouble:
        return FindRows<double>(input, array_at, any);
      case Physical::kInt128:
        return FindRows<Int128>(input, array_at, any);
      case Physical::kText:
        break;
    }
    return FindRows<View>(input, array_at, any);
  };
  return MakeKernelCall({name, BooleanType(), std::move(arguments), std::move(kernel)});
}

}  // namespace

std::span<const FunctionRule> ArrayRules() {
  static constexpr FunctionRule kRules[] = {
      {"ARRAY", 1, kAnyNumber, BindConstructor}, {"SUBSCRIPT", 2, 2, BindSubscript},
      {"cardinality", 1, 1, BindLength},         {"array_length", 1, 2, BindLength},
      {"array_contains", 2, 2, BindContains},    {"ANY =", 2, 2, BindContains},
  };
  return kRules;
}

}  // namespace weir
