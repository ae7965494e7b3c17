#include "operators/join/join_output.h"

#include <algorithm>

namespace weir {
namespace {

// Columns that the output has, counted over left and then right columns.
std::vector<int> OutputColumns(const JoinOptions& options) {
  if (options.output_columns) return *options.output_columns;
  size_t count = options.left.schema->size();
  if (options.type != JoinType::kSemi && options.type != JoinType::kAnti) count += options.right.schema->size();
  std::vector<int> columns(count);
  for (size_t i = 0; i < count; ++i) columns[i] = static_cast<int>(i);
  return columns;
}

}  // namespace

void JoinOutput::UsedColumns(const JoinOptions& options, std::vector<int>& left, std::vector<int>& right) {
  std::vector<int> all = OutputColumns(options);
  if (options.condition) {
    const std::vector<int> condition = ColumnsOf(options.condition);
    all.insert(all.end(), condition.begin(), condition.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const int left_size = static_cast<int>(options.left.schema->size());
  for (const int column : all) {
    if (column < left_size) {
      left.push_back(column);
    } else {
      right.push_back(column - left_size);
    }
  }
}

JoinOutput::JoinOutput(const JoinOptions& options, JoinSide* left, JoinSide* right)
    : schema_(options.schema), sides_{left, right} {
  const int left_size = static_cast<int>(options.left.schema->size());
  const auto place = [&](int column) { return column < left_size ? Place{0, column} : Place{1, column - left_size}; };
  for (const int column : OutputColumns(options)) output_.push_back(place(column));
  eval_.time_zone = options.time_zone;
  if (!options.condition) return;
  std::vector<int> mapping(options.left.schema->size() + options.right.schema->size(), -1);
  std::vector<Field> fields;
  for (const int column : ColumnsOf(options.condition)) {
    mapping[static_cast<size_t>(column)] = static_cast<int>(condition_columns_.size());
    const Place at = place(column);
    condition_columns_.push_back(at);
    fields.push_back((*(at.side == 0 ? options.left : options.right).schema)[static_cast<size_t>(at.column)]);
  }
  condition_ = options.condition->Remap(mapping);
  condition_schema_ = std::make_shared<const Schema>(std::move(fields));
}

void JoinOutput::Begin(int own, const Batch& batch, size_t first_row, size_t last_row, std::span<const Ref> old_rows,
                       std::span<const Ref> candidates, bool with_null) {
  own_ = own;
  own_rows_.clear();
  candidate_rows_.clear();
  kinds_.clear();
  first_row_ = 0;
  candidate_count_ = candidates.size();
  if (old_rows.empty() && !with_null) {
    own_columns_ = batch.columns();
  } else {
    first_row_ = first_row;
    MakeOwnColumns(batch, last_row, old_rows, with_null);
  }
  const JoinSide& other = *sides_[1 - own];
  candidate_columns_.assign(other.input().schema->size(), nullptr);
  std::vector<Column*> targets(candidate_columns_.size(), nullptr);
  for (const int column : other.used()) {
    const auto i = static_cast<size_t>(column);
    candidate_columns_[i] = std::make_shared<Column>((*other.input().schema)[i].type);
    targets[i] = candidate_columns_[i].get();
  }
  if (!candidates.empty()) other.Decode(candidates, targets);
}

// The rows of the batch, then the retracted ones, then a NULL row, in columns of their own.
void JoinOutput::MakeOwnColumns(const Batch& batch, size_t last_row, std::span<const Ref> old_rows, bool with_null) {
  const JoinSide& side = *sides_[own_];
  const size_t count = first_row_ <= last_row ? last_row - first_row_ + 1 : 0;
  Selection rows(count);
  for (size_t i = 0; i < count; ++i) rows[i] = static_cast<uint32_t>(first_row_ + i);
  std::vector<std::shared_ptr<Column>> made(side.input().schema->size());
  std::vector<Column*> targets(made.size(), nullptr);
  for (const int column : side.used()) {
    const auto i = static_cast<size_t>(column);
    made[i] = std::make_shared<Column>((*side.input().schema)[i].type);
    made[i]->AppendSelected(batch.column(i), rows);
    targets[i] = made[i].get();
  }
  old_base_ = count;
  if (!old_rows.empty()) side.Decode(old_rows, targets);
  own_null_ = count + old_rows.size();
  if (with_null) {
    for (Column* column : targets) {
      if (column != nullptr) column->AppendNull();
    }
  }
  own_columns_.assign(made.begin(), made.end());
}

Status JoinOutput::EvaluateCondition(std::span<const uint32_t> own, std::span<const uint32_t> candidates, Micros now,
                                     std::vector<uint8_t>& passes) const {
  passes.clear();
  if (own.empty()) return {};
  std::vector<ColumnPtr> columns;
  columns.reserve(condition_columns_.size());
  for (const Place& place : condition_columns_) {
    const auto i = static_cast<size_t>(place.column);
    columns.push_back(place.side == own_ ? Column::Gather(own_columns_[i], own)
                                         : Column::Gather(candidate_columns_[i], candidates));
  }
  EvalContext eval = eval_;
  eval.now = now;
  const auto result = condition_->Evaluate(Batch(condition_schema_, std::move(columns), own.size()), eval);
  if (!result) return DataError("in the condition of a join: " + result.error().message);
  const Column& truth = **result;
  passes.assign(truth.bools().begin(), truth.bools().end());
  for (size_t i = 0; i < truth.nulls().size(); ++i) passes[i] = truth.nulls()[i] ? 0 : passes[i];
  return {};
}

void JoinOutput::Emit(Output& out) {
  if (own_rows_.empty()) return;
  const size_t rows = own_rows_.size();
  bool candidate_null = false;
  for (uint32_t& row : own_rows_) row = row == kNoRow ? static_cast<uint32_t>(own_null_) : row;
  for (uint32_t& row : candidate_rows_) {
    candidate_null |= row == kNoRow;
    row = row == kNoRow ? static_cast<uint32_t>(candidate_count_) : row;
  }
  std::vector<ColumnPtr> columns;
  columns.reserve(output_.size());
  for (const Place& place : output_) {
    const auto i = static_cast<size_t>(place.column);
    if (place.side == own_) {
      columns.push_back(Column::Gather(own_columns_[i], own_rows_));
      continue;
    }
    const std::shared_ptr<Column>& column = candidate_columns_[i];
    if (candidate_rows_.empty()) {
      columns.push_back(column);
      continue;
    }
    if (candidate_null && column->size() == candidate_count_) column->AppendNull();
    columns.push_back(Column::Gather(column, candidate_rows_));
  }
  out.Emit(Batch(schema_, std::move(columns), rows, std::move(kinds_)));
  own_rows_.clear();
  candidate_rows_.clear();
  kinds_ = {};
}

}  // namespace weir
