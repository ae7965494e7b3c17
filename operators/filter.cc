#include "operators/filter.h"

#include "operators/row_errors.h"

namespace weir {
namespace {

class Filter final : public Operator {
 public:
  explicit Filter(const FilterOptions& options) : condition_(options.condition) { eval_.time_zone = options.time_zone; }

  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    eval_.now = context().clock == nullptr ? 0 : context().clock->Now();
    Batch input = batch;
    while (input.rows() > 0) {
      const auto passes = condition_->Evaluate(input, eval_);
      if (passes) {
        Select(input, **passes, out);
        break;
      }
      WEIR_ASSIGN(input, WithoutFailedRow(input, passes.error(), context()));
    }
    return Progress::kDone;
  }

 private:
  void Select(const Batch& input, const Column& passes, Output& out) {
    selection_.resize(input.rows());
    const auto values = passes.bools();
    const auto nulls = passes.nulls();
    size_t count = 0;
    for (size_t row = 0; row < input.rows(); ++row) {
      selection_[count] = static_cast<uint32_t>(row);
      count += values[row] != 0 && (nulls.empty() || nulls[row] == 0) ? 1 : 0;
    }
    selection_.resize(count);
    if (count == 0) return;
    if (count == input.rows()) return out.Emit(input);
    Batch kept = input.Gather(selection_);
    if (input.insert_only()) return out.Emit(std::move(kept));
    std::vector<RowKind> kinds(kept.kinds().begin(), kept.kinds().end());
    for (size_t i = 0; i < count; ++i) {
      const uint32_t row = selection_[i];
      const bool with_next = i + 1 < count && selection_[i + 1] == row + 1 && input.IsUpdatePair(row);
      const bool with_last = i > 0 && selection_[i - 1] + 1 == row && input.IsUpdatePair(row - 1);
      if (kinds[i] == RowKind::kUpdateBefore && !with_next) kinds[i] = RowKind::kDelete;
      // An upsert stream has no -U: there a +U stands alone and replaces its row.
      const bool was_pair = row > 0 && input.IsUpdatePair(row - 1);
      if (kinds[i] == RowKind::kUpdateAfter && was_pair && !with_last) kinds[i] = RowKind::kInsert;
    }
    Batch fixed(kept.schema(), kept.columns(), kept.rows(), std::move(kinds));
    fixed.set_positions(kept.positions());
    out.Emit(std::move(fixed));
  }

  ExpressionPtr condition_;
  EvalContext eval_;
  Selection selection_;
};

}  // namespace

Result<std::unique_ptr<Operator>> MakeFilter(const FilterOptions& options) {
  if (!options.condition || options.condition->type().kind != TypeKind::kBoolean) {
    return PlanError("the condition of a filter must be boolean");
  }
  return std::unique_ptr<Operator>(std::make_unique<Filter>(options));
}

}  // namespace weir
