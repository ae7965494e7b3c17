#include <algorithm>

#include "engine/data/same_value.h"
#include "operators/aggregate/aggregate_operator.h"

namespace weir {
namespace {

constexpr Micros kMillisecond = 1000;  // window_time is that much before window_end

}  // namespace

// --- 4. Emit

void Aggregate::ClearResults() {
  result_groups_.clear();
  result_key_sizes_.clear();
  result_touched_.clear();
  result_kinds_.clear();
}

void Aggregate::AddResult(const char* group, uint32_t key_size, size_t touched, RowKind kind) {
  result_groups_.push_back(group);
  result_key_sizes_.push_back(key_size);
  result_touched_.push_back(static_cast<uint32_t>(touched));
  result_kinds_.push_back(kind);
}

Status Aggregate::Emit(Output& out) {
  ClearResults();
  for (size_t t = 0; t < touched_.size(); ++t) {
    const Record& record = *state_.At(touched_[t].ref);
    const char* before = touched_[t].before == Touched::kNew ? nullptr : before_.data() + touched_[t].before;
    const bool was = before != nullptr && (global() || RowsOf(before) > 0);
    bool is = global() || RowsOf(record.payload()) > 0;
    bool same_window = true;
    if (options_.windows) {
      const WindowPart now = open_.Load(record.payload());
      is = is && IsShown(now.end);
      // A session that has grown is another one.
      if (was) same_window = open_.Load(before).end == now.end && open_.Load(before).start == now.start;
    }
    const bool pair = was && is && same_window;
    if (was) AddResult(before, record.count, t, pair ? RowKind::kUpdateBefore : RowKind::kDelete);
    if (is) AddResult(record.payload(), record.count, t, pair ? RowKind::kUpdateAfter : RowKind::kInsert);
  }
  if (result_groups_.empty()) return {};
  std::vector<std::shared_ptr<Column>> columns;
  WEIR_TRY(MakeResults(columns));
  EmitRows(columns, out);
  return {};
}

Status Aggregate::AppendCall(const Accumulator& accumulator, Column& out) const {
  switch (accumulator.form) {
    case Accumulator::Form::kExtremeText:
      for (size_t i = 0; i < result_groups_.size(); ++i) {
        const char* group = result_groups_[i];
        if (LoadAt<uint32_t>(group + accumulator.offset + sizeof(uint32_t)) == 0) {
          out.AppendNull();
        } else {
          out.AppendText(TextOf(group, result_key_sizes_[i], accumulator));
        }
      }
      return {};
    case Accumulator::Form::kExtremeSet: {
      std::vector<Ref> values;
      values.reserve(result_groups_.size());
      for (const char* group : result_groups_) values.push_back(LoadAt<Ref>(group + accumulator.offset));
      plan_.sets[static_cast<size_t>(accumulator.value_set)]->Append(values, out);
      return {};
    }
    case Accumulator::Form::kState:
      for (size_t i = 0; i < result_groups_.size(); ++i) {
        if (result_kinds_[i] == RowKind::kUpdateBefore || result_kinds_[i] == RowKind::kDelete) {
          out.AppendFrom(of_before_[static_cast<size_t>(accumulator.state)], result_touched_[i]);
        } else {
          WEIR_TRY(plan_.StateOf(accumulator)->Append(result_groups_[i], out));
        }
      }
      return {};
    default:
      return accumulator.AppendResults(result_groups_, out);
  }
}

Status Aggregate::MakeResults(std::vector<std::shared_ptr<Column>>& columns) {
  for (const Field& field : options_.schema->fields()) columns.push_back(std::make_shared<Column>(field.type));
  const size_t keys = options_.group_columns.size();
  std::vector<const char*> key_bytes;
  key_bytes.reserve(result_touched_.size());
  for (const uint32_t t : result_touched_) key_bytes.push_back(GroupColumnsOf(touched_[t].ref));
  std::vector<Column*> targets;
  for (size_t i = 0; i < keys; ++i) targets.push_back(columns[i].get());
  key_codec_.Decode(key_bytes, targets);
  size_t column = keys;
  if (assigned()) {
    for (const char* group : result_groups_) {
      const WindowPart part = open_.Load(group);
      columns[column]->AppendInt(part.start);
      columns[column + 1]->AppendInt(part.end);
      columns[column + 2]->AppendInt(part.end - kMillisecond);
    }
    column += kWindowColumns;
  }
  for (const Accumulator& accumulator : plan_.accumulators) WEIR_TRY(AppendCall(accumulator, *columns[column++]));
  return {};
}

void Aggregate::EmitRows(std::vector<std::shared_ptr<Column>>& columns, Output& out) {
  const size_t keys = options_.group_columns.size();
  Selection selection;
  std::vector<RowKind> kinds;
  const auto flush = [&] {
    if (selection.empty()) return;
    const bool inserts = std::all_of(kinds.begin(), kinds.end(), [](RowKind kind) { return kind == RowKind::kInsert; });
    std::vector<ColumnPtr> gathered;
    for (const auto& column : columns) {
      gathered.push_back(selection.size() == column->size() ? ColumnPtr(column) : Column::Gather(column, selection));
    }
    const size_t rows = selection.size();
    out.Emit(Batch(options_.schema, std::move(gathered), rows, inserts ? std::vector<RowKind>{} : std::move(kinds)));
    selection.clear();
    kinds = {};
  };
  for (size_t i = 0; i < result_kinds_.size(); ++i) {
    const bool update = result_kinds_[i] == RowKind::kUpdateBefore;
    const size_t rows = update ? 2 : 1;
    bool changed = !update;
    for (size_t c = keys; c < columns.size() && !changed; ++c) changed = !SameValue(*columns[c], i, i + 1);
    if (changed && selection.size() + rows > kBatchRows) flush();
    for (size_t k = 0; k < rows && changed; ++k) {
      selection.push_back(static_cast<uint32_t>(i + k));
      kinds.push_back(result_kinds_[i + k]);
    }
    i += rows - 1;
  }
  flush();
}

void Aggregate::DropEmptyGroups() {
  for (const Touched& touched : touched_) {
    Record* record = state_.At(touched.ref);
    record->next = 0;
    if (global() || RowsOf(record->payload()) > 0) continue;
    if (options_.windows) {
      open_.Remove(touched.ref);
      DropGroup(touched.ref);
      continue;
    }
    for (const auto& set : plan_.sets) {
      if (set->ordered()) set->Forget(LoadAt<uint64_t>(record->payload() + plan_.id_offset));
    }
    for (const auto& state : plan_.states) state->Forget(record->payload());
    index_.Erase(touched.hash, touched.ref);
    state_.Free(touched.ref);
  }
  for (const auto& set : plan_.sets) set->FreeGarbage();
}

// The row of an aggregate without group columns, before any input.
Status Aggregate::EmitGlobal(Output& out) {
  if (!global() || context().task != 0 || index_.size() > 0) return {};
  const Batch nothing(std::make_shared<const Schema>(), {}, 1);
  HashRows(nothing, {}, hashes_);
  touched_.clear();
  before_.clear();
  of_before_.clear();
  for (const Accumulator& accumulator : plan_.accumulators) {
    if (accumulator.state >= 0) of_before_.emplace_back(accumulator.call.type);
  }
  key_codec_.Encode(nothing, {}, keys_);
  Touch(hashes_[0], keys_.row(0), 0);
  WEIR_TRY(Emit(out));
  DropEmptyGroups();
  return {};
}

}  // namespace weir
