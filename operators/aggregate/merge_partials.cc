#include "operators/aggregate/aggregate_operator.h"
#include "operators/aggregate/partial.h"

namespace weir {

int64_t Aggregate::RowsIn(const Batch& batch, size_t row) const {
  if (options_.partial < 0) return 1;
  return LoadAt<int64_t>(batch.column(static_cast<size_t>(options_.partial)).text(row).data() + kPartialChanges);
}

// --- 2. Sign

void Aggregate::SignPartials(const Batch& batch) {
  const Column& column = batch.column(static_cast<size_t>(options_.partial));
  const size_t rows = batch.rows();
  partials_.resize(rows);
  signs_.assign(rows, 1);
  for (size_t row = 0; row < rows; ++row) {
    partials_[row] = column.text(row).data();
    const auto more = LoadAt<int64_t>(partials_[row]);
    if (more < 0 && RowsOf(groups_[row]) + more < 0) {
      signs_[row] = 0;
      context().metrics->ignored_deletes -= more;
      continue;
    }
    StoreAt<int64_t>(groups_[row], RowsOf(groups_[row]) + more);
  }
}

// --- 3. Update

Status Aggregate::UpdateFromPartials() {
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.CanMerge() && accumulator.form != Accumulator::Form::kRows) {
      WEIR_TRY(accumulator.MergePartials(partials_, signs_, groups_));
    }
  }
  if (plan_.texts == 0 && plan_.sets.empty()) return {};
  texts_.assign(touched_.size() * static_cast<size_t>(plan_.texts), Text{});
  partial_rests_ = partials_;
  for (const char*& rest : partial_rests_) rest += plan_.partial_fixed;
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.form == Accumulator::Form::kExtremeText) TakeTexts(accumulator);
  }
  for (const auto& set : plan_.sets) {
    WEIR_ASSIGN(const int64_t missing, set->MergePartials(partial_rests_, signs_, groups_));
    context().metrics->ignored_deletes += missing;
    set->Settle();
  }
  if (plan_.texts > 0) StoreTexts();
  return {};
}

// The rests of the partial results begin with the text of this call, and with what follows it afterwards.
void Aggregate::TakeTexts(const Accumulator& accumulator) {
  ReadTexts(accumulator);
  const auto texts = static_cast<size_t>(plan_.texts);
  for (size_t row = 0; row < partials_.size(); ++row) {
    const char* fixed = partials_[row] + accumulator.partial_offset;
    if (LoadAt<uint32_t>(fixed + sizeof(uint32_t)) == 0) continue;
    const std::string_view value(partial_rests_[row], LoadAt<uint32_t>(fixed));
    partial_rests_[row] += value.size();
    if (signs_[row] == 0) continue;
    Text& text = texts_[touched_of_row_[row] * texts + static_cast<size_t>(accumulator.text)];
    if (text.present && !accumulator.Replaces(value, text.value, std::less<std::string_view>())) continue;
    text = {true, true, value};
  }
}

}  // namespace weir
