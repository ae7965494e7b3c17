#include "operators/rank/changed_rows.h"

namespace weir {

void ChangedRows::Emit(const RowCodec& codec, Output& out) {
  for (std::vector<Change>* changes : {&leaving_, &updated_, &entering_}) {
    for (const Change& change : *changes) {
      // A pair never spans two batches.
      const size_t room = change.kind == RowKind::kUpdateBefore ? 2 : 1;
      if (rows_.size() + room > kBatchRows) Flush(codec, out);
      rows_.push_back(change.row);
      numbers_.push_back(change.number);
      kinds_.push_back(change.kind);
      inserts_ &= change.kind == RowKind::kInsert;
    }
    changes->clear();
  }
  Flush(codec, out);
}

void ChangedRows::Flush(const RowCodec& codec, Output& out) {
  const size_t count = rows_.size();
  if (count == 0) return;
  std::vector<std::shared_ptr<Column>> columns;
  std::vector<Column*> targets;
  for (const Field& field : schema_->fields()) columns.push_back(std::make_shared<Column>(field.type));
  for (size_t i = 0; i < codec.fields(); ++i) targets.push_back(columns[i].get());
  codec.Decode(rows_, targets);
  if (numbered_) {
    columns.back()->Resize(count);
    std::copy(numbers_.begin(), numbers_.end(), columns.back()->mutable_ints());
  }
  std::vector<RowKind> kinds = inserts_ ? std::vector<RowKind>{} : std::move(kinds_);
  out.Emit(Batch(schema_, {columns.begin(), columns.end()}, count, std::move(kinds)));
  rows_.clear();
  numbers_.clear();
  kinds_.clear();
  inserts_ = true;
}

}  // namespace weir
