#include "operators/row_changes.h"

namespace weir {

// Columns of the batch are shared when no kept row is among the changes, else batch and kept rows lie together.
void RowChanges::Emit(const Batch& batch, Output& out) {
  if (changes_.empty()) return;
  std::vector<const char*> kept;
  Selection selection;
  std::vector<RowKind> kinds;
  bool inserts = true;
  for (const Change& change : changes_) {
    kinds.push_back(change.kind);
    inserts &= change.kind == RowKind::kInsert;
    selection.push_back(change.encoded == nullptr ? change.row : static_cast<uint32_t>(batch.rows() + kept.size()));
    if (change.encoded != nullptr) kept.push_back(change.encoded);
  }
  std::vector<ColumnPtr> columns;
  if (kept.empty()) {
    for (const ColumnPtr& column : batch.columns()) columns.push_back(Column::Gather(column, selection));
  } else {
    std::vector<std::shared_ptr<Column>> made;
    std::vector<Column*> targets;
    for (size_t i = 0; i < schema_->size(); ++i) {
      made.push_back(std::make_shared<Column>((*schema_)[i].type));
      made.back()->AppendAll(batch.column(i));
      targets.push_back(made.back().get());
    }
    codec_->Decode(kept, targets);
    for (const auto& column : made) columns.push_back(Column::Gather(column, selection));
  }
  if (inserts) kinds.clear();
  out.Emit(Batch(schema_, std::move(columns), changes_.size(), std::move(kinds)));
  changes_.clear();
}

}  // namespace weir
