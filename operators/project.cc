#include "operators/project.h"

#include "operators/row_errors.h"

namespace weir {
namespace {

class Project final : public Operator {
 public:
  explicit Project(const ProjectOptions& options) : schema_(options.schema), expressions_(options.expressions) {
    eval_.time_zone = options.time_zone;
  }

  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    eval_.now = context().clock == nullptr ? 0 : context().clock->Now();
    Batch input = batch;
    while (input.rows() > 0) {
      auto columns = Evaluate(input);
      if (columns) {
        out.Emit(input.WithColumns(schema_, std::move(*columns)));
        break;
      }
      WEIR_ASSIGN(input, WithoutFailedRow(input, columns.error(), context()));
    }
    return Progress::kDone;
  }

 private:
  RowResult<std::vector<ColumnPtr>> Evaluate(const Batch& input) const {
    std::vector<ColumnPtr> columns;
    columns.reserve(expressions_.size());
    for (const ExpressionPtr& expression : expressions_) {
      const int index = expression->ColumnIndex();
      if (index >= 0) {
        columns.push_back(input.columns()[static_cast<size_t>(index)]);
        continue;
      }
      auto column = expression->Evaluate(input, eval_);
      if (!column) return tl::make_unexpected(column.error());
      columns.push_back(std::move(*column));
    }
    return columns;
  }

  SchemaPtr schema_;
  std::vector<ExpressionPtr> expressions_;
  EvalContext eval_;
};

}  // namespace

Result<std::unique_ptr<Operator>> MakeProject(const ProjectOptions& options) {
  if (!options.schema || options.schema->size() != options.expressions.size()) {
    return PlanError("a projection needs one expression a column");
  }
  return std::unique_ptr<Operator>(std::make_unique<Project>(options));
}

}  // namespace weir
