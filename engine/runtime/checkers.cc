#include "engine/runtime/checkers.h"

#include "engine/runtime/late_rows.h"
#include "engine/runtime/timed_operator.h"

namespace weir {
namespace {

class CheckedOutput final : public Output {
 public:
  CheckedOutput(Output& out, const std::string& where) : out_(out), where_(where) {}
  void Emit(Batch batch) override {
    CheckBatch(batch, where_);
    out_.Emit(std::move(batch));
  }
  bool HasRoom() const override { return out_.HasRoom(); }

 private:
  Output& out_;
  const std::string& where_;
};

class CheckedOperator final : public Operator, public TimedOperator, public LateRowsOperator {
 public:
  CheckedOperator(std::unique_ptr<Operator> inner, std::string where)
      : inner_(std::move(inner)),
        timed_(dynamic_cast<TimedOperator*>(inner_.get())),
        late_(dynamic_cast<LateRowsOperator*>(inner_.get())), where_(std::move(where)) {}

  Status Open(const OperatorContext& context) override { return inner_->Open(context); }
  Result<Progress> Process(int input, const Batch& batch, Output& out) override {
    WEIR_CHECK(!ended_);
    CheckBatch(batch, where_);
    CheckedOutput checked(out, where_);
    return inner_->Process(input, batch, checked);
  }
  Status OnWatermark(Micros watermark, Output& out) override {
    WEIR_CHECK_LE(watermark_, watermark);
    watermark_ = watermark;
    CheckedOutput checked(out, where_);
    return inner_->OnWatermark(watermark, checked);
  }
  Micros NextTimer() const override { return timed_ == nullptr ? kMaxMicros : timed_->NextTimer(); }
  Status OnTimer(Micros now, Output& out) override {
    CheckedOutput checked(out, where_);
    return timed_->OnTimer(now, checked);
  }
  Batch TakeLateRows() override {
    Batch rows = late_ == nullptr ? Batch() : late_->TakeLateRows();
    if (rows.rows() > 0) CheckBatch(rows, where_);
    return rows;
  }
  Result<Progress> OnEnd(Output& out) override {
    CheckedOutput checked(out, where_);
    auto progress = inner_->OnEnd(checked);
    ended_ = progress && *progress == Progress::kDone;
    return progress;
  }
  Status Snapshot(SnapshotWriter& writer) override {
    WEIR_CHECK_LT(epoch_, writer.epoch());
    epoch_ = writer.epoch();
    return inner_->Snapshot(writer);
  }
  Status Restore(const SnapshotReader& reader) override {
    epoch_ = reader.epoch();
    return inner_->Restore(reader);
  }
  Status OnBarrier(Output& out) override {
    CheckedOutput checked(out, where_);
    return inner_->OnBarrier(checked);
  }
  Status OnCommit(Epoch epoch, const std::string& commit_data) override { return inner_->OnCommit(epoch, commit_data); }
  std::vector<StateSize> StateSizes() const override { return inner_->StateSizes(); }
  void Close() override { inner_->Close(); }

 private:
  const std::unique_ptr<Operator> inner_;
  TimedOperator* const timed_;    // the same, if it is one
  LateRowsOperator* const late_;  // the same
  const std::string where_;
  Micros watermark_ = kMinMicros;
  Epoch epoch_ = 0;
  bool ended_ = false;
};

}  // namespace

void CheckBatch(const Batch& batch, const std::string& where) {
  for (size_t i = 0; i < batch.columns().size(); ++i) {
    const Column& column = batch.column(i);
    const Field& field = (*batch.schema())[i];
    if (column.size() != batch.rows()) CheckFailed(where.c_str(), 0, field.name.c_str(), column.size(), batch.rows());
    if (column.type() != field.type) {
      CheckFailed(where.c_str(), 0, field.name.c_str(), column.type().ToString(), field.type.ToString());
    }
    if (column.has_nulls()) WEIR_CHECK_EQ(column.nulls().size(), batch.rows());
    if (column.physical() != Physical::kText) continue;
    const size_t arena = column.arena() ? column.arena()->size() : 0;
    for (const TextRef& ref : column.texts()) WEIR_CHECK_LE(size_t{ref.offset} + ref.size, arena);
  }
  if (batch.positions()) WEIR_CHECK_EQ(batch.positions()->size(), batch.rows());
  for (const RowKind kind : batch.kinds()) WEIR_CHECK(kind <= RowKind::kDelete);
}

OperatorSpec Checked(const OperatorSpec& spec) {
  OperatorSpec checked = spec;
  checked.make = [make = spec.make, id = spec.id](int task, int parallelism) -> Result<std::unique_ptr<Operator>> {
    WEIR_ASSIGN(auto inner, make(task, parallelism));
    return std::unique_ptr<Operator>(std::make_unique<CheckedOperator>(std::move(inner), id));
  };
  return checked;
}

}  // namespace weir
