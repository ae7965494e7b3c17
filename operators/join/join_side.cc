#include "operators/join/join_side.h"

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

bool Contains(const std::vector<int>& columns, int column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

// A unique column comes back from its canonical form as it was, unless it is a floating-point number: -0.0.
// Rows that are found by equality keep every column: a retraction of a row that is not there must not find another.
std::vector<int> RestColumns(const JoinInput& input, const std::vector<int>& used, bool unique) {
  std::vector<int> rest;
  for (int column = 0; column < static_cast<int>(input.schema->size()); ++column) {
    const bool compared = !unique && input.mode != ChangelogMode::kAppend;
    if (!input.whole_rows && !compared && !Contains(used, column) && !Contains(input.keys, column)) continue;
    const bool exact = (*input.schema)[static_cast<size_t>(column)].type.physical() != Physical::kDouble;
    if (!(unique && exact && Contains(input.unique, column))) rest.push_back(column);
  }
  return rest;
}

}  // namespace

RowCodec JoinSide::MakeCodec(const Schema& schema, const std::vector<int>& columns, RowCodec::Form form) {
  std::vector<DataType> types;
  for (const int column : columns) types.push_back(schema[static_cast<size_t>(column)].type);
  return {types, form};
}

JoinSide::JoinSide(int index, const JoinInput& input, const std::vector<int>& used, KeyedState* state, bool sequenced)
    : index_(index),
      input_(input),
      used_(used),
      unique_columns_(unique() ? input.unique : std::vector<int>{}),
      rest_columns_(RestColumns(input, used, unique())),
      searched_by_unique_(unique()),
      sequenced_(sequenced && !unique()),
      unique_codec_(MakeCodec(*input.schema, unique_columns_, RowCodec::Form::kKey)),
      rest_codec_(MakeCodec(*input.schema, rest_columns_, RowCodec::Form::kExact)),
      state_(state),
      lists_(&state->arena(), !append_only(), &JoinSide::PrefixSize, this) {}

size_t JoinSide::PrefixSize(const void* owner, const Record& record) {
  const auto* side = static_cast<const JoinSide*>(owner);
  if (side->searched_by_unique_) return side->unique_codec_.EncodedSize(record.payload());
  return record.size - (side->sequenced_ ? sizeof(uint64_t) : 0);
}

Batch JoinSide::Canonical(const Batch& batch) const {
  if (unique() || append_only()) return batch;
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < batch.columns().size(); ++i) {
    const auto values = batch.column(i).doubles();
    const auto is_negative_zero = [](double value) { return value == 0 && std::signbit(value); };
    if (std::none_of(values.begin(), values.end(), is_negative_zero)) continue;
    if (columns.empty()) columns = batch.columns();
    auto copy = std::make_shared<Column>(batch.column(i));
    for (size_t row = 0; row < values.size(); ++row) {
      if (values[row] == 0) copy->mutable_doubles()[row] = 0;
    }
    columns[i] = std::move(copy);
  }
  return columns.empty() ? batch : batch.WithColumns(batch.schema(), std::move(columns));
}

void JoinSide::Encode(const Batch& batch) {
  if (searched_by_unique_) unique_codec_.Encode(batch, unique_columns_, unique_rows_);
  rest_codec_.Encode(batch, rest_columns_, rest_rows_);
}

int64_t JoinSide::encoded_bytes() const {
  return static_cast<int64_t>(rest_rows_.bytes.size() + (searched_by_unique_ ? unique_rows_.bytes.size() : 0));
}

bool JoinSide::SameRow(const Record& record, size_t row) const {
  const std::string_view rest = rest_rows_.row(row);
  if (!searched_by_unique_) return record.bytes().substr(0, PrefixSize(this, record)) == rest;
  const std::string_view unique = unique_rows_.row(row);
  return record.size == unique.size() + rest.size() && record.bytes().substr(0, unique.size()) == unique &&
         record.bytes().substr(unique.size()) == rest;
}

Ref JoinSide::Store(size_t row, uint64_t sequence) {
  const std::string_view rest = rest_rows_.row(row);
  if (sequenced_) {
    const Ref ref = state_->Allocate(part(), rest.size() + sizeof sequence);
    Record* record = state_->At(ref);
    record->count = 0;
    std::memcpy(record->payload(), rest.data(), rest.size());
    std::memcpy(record->payload() + rest.size(), &sequence, sizeof sequence);
    return ref;
  }
  if (!searched_by_unique_) return StoreBytes(rest, 0);
  const std::string_view unique = unique_rows_.row(row);
  const Ref ref = state_->Allocate(part(), unique.size() + rest.size());
  char* payload = state_->At(ref)->payload();
  std::memcpy(payload, unique.data(), unique.size());
  std::memcpy(payload + unique.size(), rest.data(), rest.size());
  return ref;
}

Ref JoinSide::StoreBytes(std::string_view payload, uint32_t count) {
  const Ref ref = state_->Allocate(part(), payload.size());
  Record* record = state_->At(ref);
  record->count = count;
  std::memcpy(record->payload(), payload.data(), payload.size());
  return ref;
}

void JoinSide::Decode(std::span<const Ref> rows, std::span<Column* const> targets) const {
  thread_local std::vector<const char*> payloads;
  payloads.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) payloads[i] = state_->At(rows[i])->payload();
  DecodeBytes(payloads, targets);
}

void JoinSide::DecodeBytes(std::vector<const char*>& rows, std::span<Column* const> targets) const {
  std::vector<Column*> fields;
  if (searched_by_unique_) {
    for (const int column : unique_columns_) {
      // A column that is also among the exact ones is taken from there.
      fields.push_back(Contains(rest_columns_, column) ? nullptr : targets[static_cast<size_t>(column)]);
    }
    unique_codec_.Decode(rows, fields, true);
  }
  fields.clear();
  for (const int column : rest_columns_) fields.push_back(targets[static_cast<size_t>(column)]);
  rest_codec_.Decode(rows, fields);
}

}  // namespace weir
