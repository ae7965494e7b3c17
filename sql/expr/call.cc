// The eager call node: evaluates its arguments, then runs its kernel.
//
//  1. A constant argument (a literal, or an expression without columns) is evaluated on one row and stays one row.
//  2. When all are constant the kernel runs on one row and the value is repeated.
#include <algorithm>

#include "sql/expr/kernel.h"

namespace weir {
namespace {

class CallExpression final : public Expression {
 public:
  explicit CallExpression(CallSpec spec)
      : Expression(spec.type), spec_(std::make_shared<const CallSpec>(std::move(spec))) {
    Inspect(spec_->arguments);
    arguments_ = spec_->arguments;
  }
  CallExpression(std::shared_ptr<const CallSpec> spec, std::vector<ExpressionPtr> arguments)
      : Expression(spec->type), spec_(std::move(spec)), arguments_(std::move(arguments)) {
    Inspect(arguments_);
  }

  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext& context) const override {
    if (batch.rows() == 0) return ColumnPtr(std::make_shared<Column>(type()));
    if (constant_ && batch.rows() > 1) {
      auto value = Run(OneRow(), context);
      if (!value) return value;
      return Column::Repeat(**value, 0, batch.rows());
    }
    return Run(batch, context);
  }

  std::string ToString(const Schema& schema) const override {
    std::vector<std::string> texts;
    for (const ExpressionPtr& argument : arguments_) texts.push_back(argument->ToString(schema));
    return CallText(spec_->name, type(), texts);
  }

  std::vector<ExpressionPtr> children() const override { return arguments_; }
  ExpressionPtr WithChildren(std::vector<ExpressionPtr> children) const override {
    return std::make_shared<CallExpression>(spec_, std::move(children));
  }
  bool deterministic() const override { return deterministic_; }
  bool CanFail() const override { return can_fail_; }
  bool IsConstant() const override { return constant_; }
  bool UsesContext() const override { return uses_context_; }

  std::string Signature() const override {
    std::string out = spec_->name + ":" + type().ToString() + "(";
    for (const ExpressionPtr& argument : arguments_) out += argument->Signature() + ",";
    return out + ")";
  }

 private:
  void Inspect(const std::vector<ExpressionPtr>& arguments) {
    deterministic_ = spec_->deterministic;
    can_fail_ = spec_->can_fail;
    uses_context_ = spec_->uses_context;
    constant_ = !spec_->per_row;
    for (const ExpressionPtr& argument : arguments) {
      deterministic_ = deterministic_ && argument->deterministic();
      can_fail_ = can_fail_ || argument->CanFail();
      uses_context_ = uses_context_ || argument->UsesContext();
      constant_ = constant_ && argument->IsConstant();
    }
  }

  RowResult<ColumnPtr> Run(const Batch& batch, const EvalContext& context) const {
    std::vector<Operand> operands;
    operands.reserve(arguments_.size());
    for (const ExpressionPtr& argument : arguments_) {
      auto operand = EvaluateOperand(*argument, batch, context);
      if (!operand) return tl::unexpected(std::move(operand.error()));
      // On one row nothing needs to be told apart, so kernels never see constants only.
      if (batch.rows() == 1) operand->constant = false;
      operands.push_back(std::move(*operand));
    }
    return spec_->kernel({operands, batch.rows(), context});
  }

  std::shared_ptr<const CallSpec> spec_;  // its arguments are those it was made with, not those of a copy
  std::vector<ExpressionPtr> arguments_;
  bool deterministic_ = true;
  bool can_fail_ = false;
  bool uses_context_ = false;
  bool constant_ = false;
};

}  // namespace

ExpressionPtr MakeKernelCall(CallSpec spec) { return std::make_shared<CallExpression>(std::move(spec)); }

const Batch& OneRow() {
  static const Batch batch(std::make_shared<Schema>(), {}, 1);
  return batch;
}

RowResult<Operand> EvaluateOperand(const Expression& expression, const Batch& batch, const EvalContext& context) {
  if (ColumnPtr literal = expression.Literal()) return Operand{std::move(literal), true};
  const bool constant = expression.IsConstant();
  auto column = expression.Evaluate(constant ? OneRow() : batch, context);
  if (!column) return tl::unexpected(std::move(column.error()));
  return Operand{std::move(*column), constant};
}

Batch GatherColumns(const Batch& batch, const std::vector<int>& columns, std::span<const uint32_t> selection) {
  std::vector<ColumnPtr> gathered = batch.columns();
  for (const int index : columns) {
    ColumnPtr& column = gathered[static_cast<size_t>(index)];
    column = Column::Gather(column, selection);
  }
  return Batch(batch.schema(), std::move(gathered), selection.size());
}

std::shared_ptr<Column> StrictResult(const KernelInput& input, const DataType& type) {
  auto out = std::make_shared<Column>(type);
  out->Resize(input.rows);
  for (const Operand& argument : input.arguments) {
    if (!argument.column->has_nulls()) continue;
    if (argument.constant) {
      if (argument.column->IsNull(0)) std::fill_n(out->mutable_nulls(), input.rows, uint8_t{1});
      continue;
    }
    const bool first = !out->has_nulls();
    uint8_t* to = out->mutable_nulls();
    const uint8_t* from = argument.column->nulls().data();
    if (first) {
      std::copy_n(from, input.rows, to);
    } else {
      for (size_t row = 0; row < input.rows; ++row) to[row] |= from[row];
    }
  }
  return out;
}

namespace {

template <class T>
void ZeroWhere(T* values, const uint8_t* nulls, size_t rows) {
  for (size_t row = 0; row < rows; ++row) values[row] = nulls[row] ? T{} : values[row];
}

}  // namespace

void ClearNullRows(Column& column) {
  if (!column.has_nulls()) return;
  const uint8_t* nulls = column.nulls().data();
  switch (column.physical()) {
    case Physical::kBool:
      return ZeroWhere(column.mutable_bools(), nulls, column.size());
    case Physical::kInt64:
      return ZeroWhere(column.mutable_ints(), nulls, column.size());
    case Physical::kDouble:
      return ZeroWhere(column.mutable_doubles(), nulls, column.size());
    case Physical::kInt128:
      return ZeroWhere(column.mutable_wides(), nulls, column.size());
    case Physical::kText:
      return ZeroWhere(column.mutable_texts(), nulls, column.size());
  }
}

}  // namespace weir
