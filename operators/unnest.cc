// A batch is taken in two steps: the arguments are computed for all its rows; then the rows are walked, and for as many
// elements as a batch of the output has room for the number of the input row, its kind and the elements are noted.  The
// input's columns are gathered by those numbers, a whole column at a time.

#include "operators/unnest.h"

#include <algorithm>

#include "engine/data/array_codec.h"
#include "operators/row_errors.h"

namespace weir {
namespace {

class Unnest final : public Operator {
 public:
  explicit Unnest(const UnnestOptions& options) : options_(options) { eval_.time_zone = options.time_zone; }

  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    if (!busy_) WEIR_TRY(Begin(batch));
    while (row_ < input_.rows()) {
      if (!out.HasRoom()) return Progress::kMore;
      WEIR_TRY(EmitChunk(out));
    }
    busy_ = false;
    return Progress::kDone;
  }

 private:
  // What row_ expands to, of which `next_` elements have been given out.
  struct Series {
    int64_t from = 0;
    int64_t step = 1;
  };

  Status Begin(const Batch& batch) {
    busy_ = true;
    row_ = 0;
    next_ = 0;
    opened_ = false;
    input_ = batch;
    arguments_.clear();
    eval_.now = context().clock == nullptr ? 0 : context().clock->Now();
    while (input_.rows() > 0) {
      std::vector<ColumnPtr> values;
      std::optional<RowError> failed;
      for (const ExpressionPtr& argument : options_.arguments) {
        auto column = argument->Evaluate(input_, eval_);
        if (!column) {
          failed = column.error();
          break;
        }
        values.push_back(std::move(*column));
      }
      if (!failed) failed = BadStep(values);
      if (!failed) {
        arguments_ = std::move(values);
        return {};
      }
      WEIR_ASSIGN(input_, WithoutFailedRow(input_, *failed, context()));
    }
    return {};
  }

  std::optional<RowError> BadStep(const std::vector<ColumnPtr>& values) const {
    if (options_.function != UnnestFunction::kSeries || values.size() < 3) return std::nullopt;
    for (size_t row = 0; row < values[2]->size(); ++row) {
      if (!values[2]->IsNull(row) && values[2]->ints()[row] == 0) {
        return RowError{row, "the step of generate_series is 0"};
      }
    }
    return std::nullopt;
  }

  // How many elements row_ has; decodes its arrays.
  uint64_t Open() {
    opened_ = true;
    if (options_.function == UnnestFunction::kSeries) return OpenSeries();
    uint64_t longest = 0;
    elements_.clear();
    for (const ColumnPtr& array : arguments_) {
      Column& column = elements_.emplace_back(array->type().ElementType());
      if (!array->IsNull(row_)) DecodeArray(array->text(row_), column);
      longest = std::max<uint64_t>(longest, column.size());
    }
    return longest;
  }

  uint64_t OpenSeries() {
    for (const ColumnPtr& bound : arguments_) {
      if (bound->IsNull(row_)) return 0;
    }
    const int64_t from = arguments_[0]->ints()[row_];
    const int64_t to = arguments_[1]->ints()[row_];
    const int64_t step = arguments_.size() > 2 ? arguments_[2]->ints()[row_] : 1;
    series_ = {from, step};
    if (step > 0 ? from > to : from < to) return 0;
    // Differences of 64-bit numbers need 65 bits with a sign, and fit without one.
    const uint64_t distance = step > 0 ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                                       : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
    const uint64_t size = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    const uint64_t steps = distance / size;
    return steps == UINT64_MAX ? UINT64_MAX : steps + 1;
  }

  Status EmitChunk(Output& out) {
    const size_t input_width = input_.columns().size();
    std::vector<std::shared_ptr<Column>> added;
    for (size_t i = input_width; i < options_.schema->size(); ++i) {
      added.push_back(std::make_shared<Column>((*options_.schema)[i].type));
    }
    selection_.clear();
    std::vector<RowKind> kinds;
    while (row_ < input_.rows() && selection_.size() < kBatchRows) {
      if (!opened_) count_ = Open();
      const uint64_t room = kBatchRows - selection_.size();
      const bool fill = options_.outer && count_ == 0;
      const uint64_t taken = fill ? 1 : std::min<uint64_t>(count_ - next_, room);
      if (fill) {
        for (const auto& column : added) column->AppendNull();
      } else {
        AppendElements(added, taken);
      }
      selection_.insert(selection_.end(), taken, static_cast<uint32_t>(row_));
      if (!input_.insert_only()) {
        kinds.insert(kinds.end(), taken, IsAdd(input_.kind(row_)) ? RowKind::kInsert : RowKind::kDelete);
      }
      next_ += taken;
      if (!fill && next_ < count_) break;
      ++row_;
      next_ = 0;
      opened_ = false;
    }
    if (selection_.empty()) return {};
    std::vector<ColumnPtr> columns;
    for (const ColumnPtr& column : input_.columns()) columns.push_back(Column::Gather(column, selection_));
    columns.insert(columns.end(), added.begin(), added.end());
    const bool inserts = std::all_of(kinds.begin(), kinds.end(), [](RowKind kind) { return kind == RowKind::kInsert; });
    if (inserts) kinds.clear();
    out.Emit(Batch(options_.schema, std::move(columns), selection_.size(), std::move(kinds)));
    return {};
  }

  void AppendElements(const std::vector<std::shared_ptr<Column>>& added, uint64_t count) {
    const size_t values = added.size() - (options_.ordinality ? 1 : 0);
    for (uint64_t i = next_; i < next_ + count; ++i) {
      if (options_.function == UnnestFunction::kSeries) {
        // Exact although the product may wrap: the sum is between the bounds.
        added[0]->AppendInt(static_cast<int64_t>(static_cast<uint64_t>(series_.from) +
                                                 i * static_cast<uint64_t>(series_.step)));
      } else {
        for (size_t column = 0; column < values; ++column) {
          if (i < elements_[column].size()) {
            added[column]->AppendFrom(elements_[column], i);
          } else {
            added[column]->AppendNull();
          }
        }
      }
      if (options_.ordinality) added[values]->AppendInt(static_cast<int64_t>(i + 1));
    }
  }

  const UnnestOptions options_;
  EvalContext eval_;

  // --- the batch being processed
  bool busy_ = false;
  Batch input_;
  std::vector<ColumnPtr> arguments_;
  size_t row_ = 0;
  bool opened_ = false;      // count_, elements_ and series_ are those of row_
  uint64_t count_ = 0;
  uint64_t next_ = 0;
  std::vector<Column> elements_;
  Series series_;
  Selection selection_;
};

}  // namespace

Result<std::unique_ptr<Operator>> MakeUnnest(const UnnestOptions& options) {
  if (options.arguments.empty()) return PlanError("an unnest needs an argument");
  return std::unique_ptr<Operator>(std::make_unique<Unnest>(options));
}

}  // namespace weir
