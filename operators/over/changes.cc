#include "operators/over/changes.h"

#include "engine/data/same_value.h"

namespace weir {
void OverChanges::Reset() {
  results_.clear();
  for (size_t i = input_width_; i < schema_->size(); ++i) results_.push_back(std::make_shared<Column>((*schema_)[i].type));
}

bool OverChanges::SameResults(size_t a, size_t b) const {
  for (const auto& column : results_) {
    if (!SameValue(*column, a, b)) return false;
  }
  return true;
}

void OverChanges::Emit(const OrderedRows& rows, Output& out) {
  for (std::vector<Change>* changes : {&leaving_, &updated_, &entering_}) {
    for (const Change& change : *changes) {
      // A pair never spans two batches.
      const size_t room = change.kind == RowKind::kUpdateBefore ? 2 : 1;
      if (rows_.size() + room > kBatchRows) Flush(rows, out);
      rows_.push_back(rows.record(change.row).payload());
      selection_.push_back(static_cast<uint32_t>(change.result));
      kinds_.push_back(change.kind);
      inserts_ &= change.kind == RowKind::kInsert;
    }
    changes->clear();
  }
  Flush(rows, out);
  Reset();
}

void OverChanges::Flush(const OrderedRows& rows, Output& out) {
  const size_t count = rows_.size();
  if (count == 0) return;
  std::vector<std::shared_ptr<Column>> decoded;
  std::vector<Column*> targets;
  for (size_t i = 0; i < input_width_; ++i) {
    decoded.push_back(std::make_shared<Column>((*schema_)[i].type));
    targets.push_back(decoded.back().get());
  }
  rows.row_codec().Decode(rows_, targets);
  std::vector<ColumnPtr> columns(decoded.begin(), decoded.end());
  for (const auto& result : results_) columns.push_back(Column::Gather(result, selection_));
  std::vector<RowKind> kinds = inserts_ ? std::vector<RowKind>{} : std::move(kinds_);
  out.Emit(Batch(schema_, std::move(columns), count, std::move(kinds)));
  rows_.clear();
  selection_.clear();
  kinds_.clear();
  inserts_ = true;
}

}  // namespace weir
