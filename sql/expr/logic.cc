// AND, OR, NOT and the tests IS [NOT] NULL, TRUE, FALSE, UNKNOWN, in three-valued logic on byte masks.
//
// A boolean's value at a NULL row is 0, so that the loops are a few bitwise operations on two masks.
#include "sql/expr/logic.h"

#include <algorithm>

#include "sql/expr/kernel.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

// The values and NULLs of a boolean operand, with the all-zero mask of `zeros` for a missing NULL mask.
struct Truth {
  Truth(const Column& column, const std::vector<uint8_t>& zeros)
      : values(column.bools().data()), nulls(column.has_nulls() ? column.nulls().data() : zeros.data()) {}
  const uint8_t* values;
  const uint8_t* nulls;
};

ColumnPtr Combine(bool conjunction, const Column& left, const Column& right) {
  const size_t rows = left.size();
  auto out = std::make_shared<Column>(BooleanType());
  out->Resize(rows);
  uint8_t* values = out->mutable_bools();
  if (!left.has_nulls() && !right.has_nulls()) {
    const uint8_t* a = left.bools().data();
    const uint8_t* b = right.bools().data();
    if (conjunction) {
      for (size_t row = 0; row < rows; ++row) values[row] = a[row] & b[row];
    } else {
      for (size_t row = 0; row < rows; ++row) values[row] = a[row] | b[row];
    }
    return out;
  }
  const std::vector<uint8_t> zeros(rows, 0);
  const Truth a(left, zeros);
  const Truth b(right, zeros);
  uint8_t* nulls = out->mutable_nulls();
  if (conjunction) {
    for (size_t row = 0; row < rows; ++row) {
      values[row] = a.values[row] & b.values[row];
      // NULL unless one side is FALSE, which is neither 1 nor NULL.
      nulls[row] = static_cast<uint8_t>((a.nulls[row] | b.nulls[row]) & (a.values[row] | a.nulls[row]) &
                                        (b.values[row] | b.nulls[row]));
    }
  } else {
    for (size_t row = 0; row < rows; ++row) {
      values[row] = a.values[row] | b.values[row];
      nulls[row] = static_cast<uint8_t>((a.nulls[row] | b.nulls[row]) & (values[row] ^ 1));
    }
  }
  out->TrimNulls();
  return out;
}

class JunctionExpression final : public Expression {
 public:
  JunctionExpression(bool conjunction, ExpressionPtr left, ExpressionPtr right)
      : Expression(BooleanType()),
        conjunction_(conjunction),
        left_(std::move(left)),
        right_(std::move(right)),
        right_columns_(ColumnsOf(right_)),
        can_fail_(left_->CanFail() || right_->CanFail()),
        right_can_fail_(right_->CanFail()) {}

  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext& context) const override {
    auto left = left_->Evaluate(batch, context);
    if (!left) return left;
    if (right_can_fail_) return EvaluateRest(batch, context, *left);
    auto right = right_->Evaluate(batch, context);
    if (!right) return right;
    return Combine(conjunction_, **left, **right);
  }

  std::string ToString(const Schema& schema) const override {
    return "(" + left_->ToString(schema) + (conjunction_ ? " AND " : " OR ") + right_->ToString(schema) + ")";
  }
  std::vector<ExpressionPtr> children() const override { return {left_, right_}; }
  ExpressionPtr WithChildren(std::vector<ExpressionPtr> children) const override {
    return MakeJunction(conjunction_, std::move(children[0]), std::move(children[1]));
  }
  bool deterministic() const override { return left_->deterministic() && right_->deterministic(); }
  bool CanFail() const override { return can_fail_; }
  bool IsConstant() const override { return left_->IsConstant() && right_->IsConstant(); }
  bool UsesContext() const override { return left_->UsesContext() || right_->UsesContext(); }
  std::string Signature() const override {
    return (conjunction_ ? "AND(" : "OR(") + left_->Signature() + "," + right_->Signature() + ")";
  }
  bool conjunction() const { return conjunction_; }

 private:
  // The right side on the rows that the left side has not decided: not FALSE for AND, not TRUE for OR.
  RowResult<ColumnPtr> EvaluateRest(const Batch& batch, const EvalContext& context, const ColumnPtr& left) const {
    Selection open;
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (left->IsNull(row) || (left->bools()[row] != 0) == conjunction_) open.push_back(static_cast<uint32_t>(row));
    }
    if (open.empty()) return left;
    if (open.size() == batch.rows()) {
      auto right = right_->Evaluate(batch, context);
      if (!right) return right;
      return Combine(conjunction_, *left, **right);
    }
    auto right = right_->Evaluate(GatherColumns(batch, right_columns_, open), context);
    if (!right) {
      right.error().row = open[right.error().row];
      return right;
    }
    // Undecided rows elsewhere keep the left value, which decides whatever stands on the right.
    auto full = std::make_shared<Column>(BooleanType());
    full->Resize(batch.rows());
    std::fill_n(full->mutable_bools(), batch.rows(), uint8_t{conjunction_});
    for (size_t i = 0; i < open.size(); ++i) {
      full->mutable_bools()[open[i]] = (*right)->bools()[i];
      if ((*right)->IsNull(i)) full->SetNull(open[i]);
    }
    return Combine(conjunction_, *left, *full);
  }

  bool conjunction_;
  ExpressionPtr left_;
  ExpressionPtr right_;
  std::vector<int> right_columns_;
  bool can_fail_;
  bool right_can_fail_;
};

Result<ExpressionPtr> ToBoolean(ExpressionPtr expression, const std::string& where) {
  if (IsCoercible(*expression, BooleanType())) return Coerce(std::move(expression), BooleanType());
  return PlanError("argument of " + where + " must be boolean, not " + TypeName(expression->type()));
}

Result<ExpressionPtr> BindJunction(const std::string& name, std::vector<ExpressionPtr> arguments) {
  ExpressionPtr all;
  for (ExpressionPtr& argument : arguments) {
    WEIR_ASSIGN(ExpressionPtr condition, ToBoolean(std::move(argument), name));
    all = all ? MakeJunction(name == "AND", std::move(all), std::move(condition)) : std::move(condition);
  }
  return all;
}

Result<ExpressionPtr> BindNot(const std::string& name, std::vector<ExpressionPtr> arguments) {
  WEIR_ASSIGN(ExpressionPtr condition, ToBoolean(std::move(arguments[0]), name));
  Kernel kernel = [](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = StrictResult(input, BooleanType());
    const uint8_t* values = input.arguments[0].column->bools().data();
    uint8_t* to = out->mutable_bools();
    for (size_t row = 0; row < input.rows; ++row) to[row] = values[row] ^ 1;
    ClearNullRows(*out);
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, BooleanType(), {std::move(condition)}, std::move(kernel)});
}

Result<ExpressionPtr> BindIsNull(const std::string& name, std::vector<ExpressionPtr> arguments) {
  const bool negated = name == "IS NOT NULL";
  Kernel kernel = [negated](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = std::make_shared<Column>(BooleanType());
    out->Resize(input.rows);
    const Column& column = *input.arguments[0].column;
    uint8_t* to = out->mutable_bools();
    if (column.has_nulls()) {
      const uint8_t flip = negated;
      const uint8_t* nulls = column.nulls().data();
      for (size_t row = 0; row < input.rows; ++row) to[row] = nulls[row] ^ flip;
    } else {
      std::fill_n(to, input.rows, uint8_t{negated});
    }
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, BooleanType(), std::move(arguments), std::move(kernel)});
}

// IS [NOT] TRUE and FALSE: a NULL is neither.
Result<ExpressionPtr> BindIsTruth(const std::string& name, std::vector<ExpressionPtr> arguments) {
  WEIR_ASSIGN(ExpressionPtr condition, ToBoolean(std::move(arguments[0]), name));
  const bool truth = name.ends_with("TRUE");
  const uint8_t flip = name.starts_with("IS NOT");
  Kernel kernel = [truth, flip](const KernelInput& input) -> RowResult<ColumnPtr> {
    auto out = std::make_shared<Column>(BooleanType());
    out->Resize(input.rows);
    const std::vector<uint8_t> zeros(input.rows, 0);
    const Truth in(*input.arguments[0].column, zeros);
    uint8_t* to = out->mutable_bools();
    for (size_t row = 0; row < input.rows; ++row) {
      const int is = truth ? in.values[row] : (in.values[row] | in.nulls[row]) ^ 1;
      to[row] = static_cast<uint8_t>(is ^ flip);
    }
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, BooleanType(), {std::move(condition)}, std::move(kernel)});
}

Result<ExpressionPtr> BindIsUnknown(const std::string& name, std::vector<ExpressionPtr> arguments) {
  WEIR_ASSIGN(ExpressionPtr condition, ToBoolean(std::move(arguments[0]), name));
  return BindIsNull(name == "IS UNKNOWN" ? "IS NULL" : "IS NOT NULL", {std::move(condition)});
}

}  // namespace

ExpressionPtr MakeJunction(bool conjunction, ExpressionPtr left, ExpressionPtr right) {
  return std::make_shared<JunctionExpression>(conjunction, std::move(left), std::move(right));
}

bool IsConjunction(const Expression& expression) {
  const auto* junction = dynamic_cast<const JunctionExpression*>(&expression);
  return junction != nullptr && junction->conjunction();
}

std::span<const FunctionRule> LogicRules() {
  static constexpr FunctionRule kRules[] = {
      {"AND", 1, kAnyNumber, BindJunction},
      {"OR", 1, kAnyNumber, BindJunction},
      {"NOT", 1, 1, BindNot},
      {"IS NULL", 1, 1, BindIsNull},
      {"IS NOT NULL", 1, 1, BindIsNull},
      {"IS TRUE", 1, 1, BindIsTruth},
      {"IS NOT TRUE", 1, 1, BindIsTruth},
      {"IS FALSE", 1, 1, BindIsTruth},
      {"IS NOT FALSE", 1, 1, BindIsTruth},
      {"IS UNKNOWN", 1, 1, BindIsUnknown},
      {"IS NOT UNKNOWN", 1, 1, BindIsUnknown},
  };
  return kRules;
}

}  // namespace weir
