// Expressions made by hand, so that the tests of operators do not depend on SQL's.
#pragma once

#include <functional>

#include "sql/expr/expression.h"

namespace weir::testing {

class ColumnReference final : public Expression {
 public:
  ColumnReference(int index, DataType type) : Expression(type), index_(index) {}
  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext&) const override {
    return batch.columns()[static_cast<size_t>(index_)];
  }
  std::string ToString(const Schema& schema) const override { return schema[static_cast<size_t>(index_)].name; }
  ExpressionPtr Remap(const std::vector<int>& mapping) const override {
    return std::make_shared<ColumnReference>(mapping[static_cast<size_t>(index_)], type());
  }
  int ColumnIndex() const override { return index_; }
  std::string Signature() const override { return "column " + std::to_string(index_); }

 private:
  int index_;
};

// A function of some columns, row by row.  The function appends the value of a row, or says why there is none.
class RowFunction final : public Expression {
 public:
  using Function = std::function<std::string(const std::vector<ColumnPtr>& arguments, size_t row, Column& out)>;

  RowFunction(DataType type, std::vector<ExpressionPtr> arguments, Function function)
      : Expression(type), arguments_(std::move(arguments)), function_(std::move(function)) {}

  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext& context) const override {
    std::vector<ColumnPtr> columns;
    for (const ExpressionPtr& argument : arguments_) columns.push_back(*argument->Evaluate(batch, context));
    auto out = std::make_shared<Column>(type());
    for (size_t row = 0; row < batch.rows(); ++row) {
      const std::string failed = function_(columns, row, *out);
      if (!failed.empty()) return tl::make_unexpected(RowError{row, failed});
    }
    return ColumnPtr(std::move(out));
  }
  std::string ToString(const Schema&) const override { return "f()"; }
  std::vector<ExpressionPtr> children() const override { return arguments_; }
  ExpressionPtr Remap(const std::vector<int>& mapping) const override {
    std::vector<ExpressionPtr> arguments;
    for (const ExpressionPtr& argument : arguments_) arguments.push_back(argument->Remap(mapping));
    return std::make_shared<RowFunction>(type(), std::move(arguments), function_);
  }
  std::string Signature() const override { return "f"; }

 private:
  std::vector<ExpressionPtr> arguments_;
  Function function_;
};

// Column a differs from column b, both text; NULL when one of them is.
inline ExpressionPtr TextsDiffer(int a, int b) {
  return std::make_shared<RowFunction>(
      BooleanType(),
      std::vector<ExpressionPtr>{std::make_shared<ColumnReference>(a, StringType()),
                                 std::make_shared<ColumnReference>(b, StringType())},
      [](const std::vector<ColumnPtr>& arguments, size_t row, Column& out) -> std::string {
        if (arguments[0]->IsNull(row) || arguments[1]->IsNull(row)) {
          out.AppendNull();
        } else {
          out.AppendBool(arguments[0]->text(row) != arguments[1]->text(row));
        }
        return {};
      });
}

}  // namespace weir::testing
