#include "operators/log_table.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/data/bucket.h"
#include "engine/data/row_codec.h"

namespace weir {
namespace {

class LogTableOperator final : public Operator {
 public:
  explicit LogTableOperator(const LogTableOptions& options) : options_(options) {
    std::vector<DataType> types;
    for (size_t i = 0; i < options_.schema->size(); ++i) {
      types.push_back((*options_.schema)[i].type);
      columns_.push_back(static_cast<int>(i));
    }
    codec_ = RowCodec(types, RowCodec::Form::kExact);
  }

  Status Open(const OperatorContext& context) override {
    WEIR_TRY(Operator::Open(context));
    for (int bucket = 0; bucket < options_.table->buckets(); ++bucket) {
      if (TaskOfBucket(bucket, context.parallelism) == context.task) owned_.push_back(bucket);
    }
    return options_.table->OpenBuckets(owned_);
  }

  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    for (const RowKind kind : batch.kinds()) WEIR_CHECK(kind == RowKind::kInsert);
    ChooseBuckets(batch);
    codec_.Encode(batch, columns_, encoded_);
    const Micros now = context().clock->Now();
    for (size_t row = 0; row < batch.rows(); ++row) {
      WEIR_TRY(options_.table->AppendRow(buckets_[row], now, encoded_.row(row)));
    }
    options_.table->Count(static_cast<int64_t>(batch.rows()), 0, 0);
    if (options_.read) out.Emit(Batch(options_.schema, batch.columns(), batch.rows()));
    return Progress::kDone;
  }

  Status OnBarrier(Output&) override {
    const Micros now = context().clock->Now();
    for (const int bucket : owned_) WEIR_TRY(options_.table->Expire(bucket, now));
    return {};
  }

  Status Snapshot(SnapshotWriter& writer) override { return options_.table->Snapshot(owned_, 0, writer); }

 private:
  void ChooseBuckets(const Batch& batch) {
    if (!options_.bucket_columns.empty()) {
      BucketRows(batch, options_.bucket_columns, options_.table->buckets(), buckets_);
      return;
    }
    WEIR_CHECK(!owned_.empty());
    turn_ = (turn_ + 1) % owned_.size();
    buckets_.assign(batch.rows(), static_cast<uint16_t>(owned_[turn_]));
  }

  const LogTableOptions options_;
  std::vector<int> columns_;
  RowCodec codec_;
  std::vector<int> owned_;  // buckets of this task
  size_t turn_ = 0;         // in owned_: of the last batch
  std::vector<uint16_t> buckets_;
  EncodedRows encoded_;
};

}  // namespace

Result<std::unique_ptr<Operator>> MakeLogTableOperator(const LogTableOptions& options) {
  if (!options.table->is_log()) return PlanError("a log table's rows go into a log table");
  return std::unique_ptr<Operator>(std::make_unique<LogTableOperator>(options));
}

}  // namespace weir
