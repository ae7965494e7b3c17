#include "operators/window.h"

namespace weir {
namespace {

constexpr Micros kMillisecond = 1000;

class Window final : public Operator {
 public:
  explicit Window(const WindowOptions& options) : options_(options) {}

  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    while (row_ < batch.rows()) {
      if (!out.HasRoom()) return Progress::kMore;
      WEIR_TRY(Assign(batch));
      if (!selection_.empty()) out.Emit(Rows(batch));
    }
    row_ = 0;
    return Progress::kDone;
  }

 private:
  // A batch's worth of rows: goes on in the middle of a row's windows.
  Status Assign(const Batch& batch) {
    selection_.clear();
    ends_.clear();
    const Column& times = batch.column(static_cast<size_t>(options_.time_column));
    const auto values = times.ints();
    for (; row_ < batch.rows(); ++row_, next_end_ = kMinMicros) {
      if (times.IsNull(row_)) {
        ++context().metrics->null_event_time;
        continue;
      }
      const Micros time = values[row_];
      if (time <= -kMaxWindowTime || time >= kMaxWindowTime) {
        return DataError("a time is too far from 1970 for a window");
      }
      if (next_end_ == kMinMicros) next_end_ = options_.window.LastEnd(time);
      for (; next_end_ > time; next_end_ -= options_.window.slide) {
        if (selection_.size() == kBatchRows) return {};
        selection_.push_back(static_cast<uint32_t>(row_));
        ends_.push_back(next_end_);
      }
    }
    return {};
  }

  Batch Rows(const Batch& batch) const {
    const Batch rows = batch.Gather(selection_);
    std::vector<ColumnPtr> columns = rows.columns();
    const auto add = [&](auto value) {
      auto column = std::make_shared<Column>((*options_.schema)[columns.size()].type);
      for (const Micros end : ends_) column->AppendInt(value(end));
      columns.push_back(std::move(column));
    };
    add([&](Micros end) { return options_.window.StartOf(end); });
    add([](Micros end) { return end; });
    add([](Micros end) { return end - kMillisecond; });
    std::vector<RowKind> kinds(rows.kinds().begin(), rows.kinds().end());
    for (RowKind& kind : kinds) kind = IsAdd(kind) ? RowKind::kInsert : RowKind::kDelete;
    return {options_.schema, std::move(columns), rows.rows(), std::move(kinds)};
  }

  WindowOptions options_;
  size_t row_ = 0;                // of the batch being processed
  Micros next_end_ = kMinMicros;  // of the row's windows; kMinMicros: it has not begun
  Selection selection_;
  std::vector<Micros> ends_;
};

}  // namespace

Result<std::unique_ptr<Operator>> MakeWindow(const WindowOptions& options) {
  if (options.window.function == WindowFunction::kSession) return PlanError("sessions exist only in an aggregate");
  return std::unique_ptr<Operator>(std::make_unique<Window>(options));
}

}  // namespace weir
