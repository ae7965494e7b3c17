// The columns of a table that take no NULL.
#include "sql/expr/expression.h"

namespace weir {
namespace {

class NotNullExpression final : public Expression {
 public:
  NotNullExpression(ExpressionPtr input, std::string what, bool of_deletes)
      : Expression(input->type()), input_(std::move(input)), what_(std::move(what)), of_deletes_(of_deletes) {}

  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext& context) const override {
    RowResult<ColumnPtr> column = input_->Evaluate(batch, context);
    if (!column || !(*column)->has_nulls()) return column;
    for (size_t row = 0; row < batch.rows(); ++row) {
      if ((*column)->IsNull(row) && (of_deletes_ || IsAdd(batch.kind(row)))) {
        return tl::unexpected(RowError{row, "NULL in " + what_});
      }
    }
    return column;
  }

  std::string ToString(const Schema& schema) const override { return input_->ToString(schema) + " NOT NULL"; }
  std::vector<ExpressionPtr> children() const override { return {input_}; }
  ExpressionPtr WithChildren(std::vector<ExpressionPtr> children) const override {
    return MakeNotNull(std::move(children[0]), what_, of_deletes_);
  }
  int ForwardedColumn() const override { return input_->ForwardedColumn(); }
  // With -U and -D left alone the column may still hold NULLs.
  bool NeverNull() const override { return of_deletes_; }
  bool deterministic() const override { return input_->deterministic(); }
  bool UsesContext() const override { return input_->UsesContext(); }
  std::string Signature() const override {
    return std::string(of_deletes_ ? "NOT NULL(" : "NOT NULL IF ADDED(") + std::to_string(what_.size()) + ":" + what_ +
           "," + input_->Signature() + ")";
  }

 private:
  ExpressionPtr input_;
  std::string what_;
  bool of_deletes_;
};

}  // namespace

ExpressionPtr MakeNotNull(ExpressionPtr input, std::string what, bool of_deletes) {
  return std::make_shared<NotNullExpression>(std::move(input), std::move(what), of_deletes);
}

}  // namespace weir
