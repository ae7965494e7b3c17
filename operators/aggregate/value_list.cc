#include "operators/aggregate/value_list.h"

#include <algorithm>

#include "engine/data/array_codec.h"

namespace weir {
namespace {

constexpr size_t kMaxResultBytes = size_t{1} << 30;  // of one column's results in one batch

uint32_t& Dead(Record* record) { return record->count; }

bool IsLast(AggregateFunction function) { return function == AggregateFunction::kLastValue; }
bool TakesNulls(AggregateFunction function) { return function == AggregateFunction::kArrayAgg; }
bool IsEnd(AggregateFunction function) { return function == AggregateFunction::kFirstValue || IsLast(function); }

}  // namespace

ValueList::ValueList(const AggregateCall& call, const Schema& input, uint8_t part, KeyedState* state)
    : call_(call),
      type_(input[static_cast<size_t>(call.argument)].type),
      part_(part),
      state_(state),
      index_(&state->arena(), kIdAt, KeyIndex::KeySize::kToEnd) {
  std::vector<DataType> types;
  std::vector<OrderField> order;
  // With DISTINCT the order is the value's own, in the direction that ORDER BY says.
  for (const AggregateOrder& written : call.order) {
    order.push_back({input[static_cast<size_t>(written.column)].type, written.descending, written.nulls_first});
    if (call.distinct) break;
    columns_.push_back(written.column);
    types.push_back(order.back().type);
  }
  order_fields_ = columns_.size();
  columns_.push_back(call.argument);
  types.push_back(type_);
  if (order.size() < types.size()) order.push_back({type_});
  codec_ = RowCodec(types, call.distinct ? RowCodec::Form::kKey : RowCodec::Form::kExact);
  order_ = EncodedOrder(std::move(order));
}

bool ValueList::Before(Ref a, Ref b) const {
  if (!InOrderOfArrival()) {
    const int order = order_.Compare(RowOf(a), RowOf(b));
    if (order != 0) return order < 0;
  }
  return LoadAt<uint64_t>(state_->At(a)->payload()) < LoadAt<uint64_t>(state_->At(b)->payload());
}

ValueList::Array& ValueList::ArrayOf(char* group) {
  uint32_t name = NameOf(group);
  if (name == 0) {
    if (unused_.empty()) {
      arrays_.emplace_back();
      array_bytes_ += static_cast<int64_t>(sizeof(Array));
      name = static_cast<uint32_t>(arrays_.size());
    } else {
      name = unused_.back();
      unused_.pop_back();
    }
    SetName(group, name);
  }
  return arrays_[name - 1];
}

Result<int64_t> ValueList::Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups) {
  const Column& column = batch.column(static_cast<size_t>(call_.argument));
  const Column* filter = FilterColumn(batch, call_);
  const bool nulls = TakesNulls(call_.function);
  codec_.Encode(batch, columns_, encoded_);
  int64_t missing = 0;
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (signs[row] == 0 || (!nulls && column.IsNull(row)) || !FilterPasses(filter, row)) continue;
    key_ = IdOf(groups[row]);
    key_.append(encoded_.row(row));
    if (signs[row] > 0) {
      Add(groups[row], key_, next_number_++);
    } else if (!Remove(groups[row], key_)) {
      ++missing;
    }
  }
  return missing;
}

void ValueList::Add(char* group, std::string_view key, uint64_t number) {
  const uint64_t hash = MixHash(HashBytes(key));
  const Ref ref = state_->Allocate(part_, kIdAt + key.size());
  Record* record = state_->At(ref);
  StoreAt(record->payload(), number);
  std::memcpy(record->payload() + kIdAt, key.data(), key.size());
  record->next = index_.Find(hash, key);
  Dead(record) = 0;
  if (record->next != 0) {
    index_.Replace(hash, record->next, ref);
  } else {
    index_.Insert(hash, ref);
  }
  Array& array = ArrayOf(group);
  const size_t before = array.refs.capacity();
  array.refs.push_back(ref);
  array_bytes_ += static_cast<int64_t>((array.refs.capacity() - before) * sizeof(Ref));
}

bool ValueList::Remove(char* group, std::string_view key) {
  const uint64_t hash = MixHash(HashBytes(key));
  const Ref ref = index_.Find(hash, key);
  if (ref == 0) return false;
  Record* record = state_->At(ref);
  if (record->next != 0) {
    index_.Replace(hash, ref, record->next);
  } else {
    index_.Erase(hash, ref);
  }
  Dead(record) = 1;
  Array& array = ArrayOf(group);
  ++array.dead;
  if (2 * array.dead > array.refs.size()) Tidy(array);
  return true;
}

// Drops what was retracted; what is left stays in its order.
void ValueList::Tidy(Array& array) {
  if (array.dead == 0) return;
  size_t kept = 0;
  size_t sorted = 0;
  for (size_t i = 0; i < array.refs.size(); ++i) {
    const Ref ref = array.refs[i];
    if (Dead(state_->At(ref)) != 0) {
      state_->Free(ref);
      continue;
    }
    if (i < array.sorted) ++sorted;
    array.refs[kept++] = ref;
  }
  array.refs.resize(kept);
  array.sorted = sorted;
  array.dead = 0;
}

// A snapshot does not hold what was retracted.
void ValueList::BeforeSnapshot() {
  for (Array& array : arrays_) Tidy(array);
}

void ValueList::Sort(Array& array) {
  Tidy(array);
  if (array.sorted == array.refs.size()) return;
  if (!InOrderOfArrival() || array.moved) {
    const auto before = [this](Ref a, Ref b) { return Before(a, b); };
    const auto middle = array.refs.begin() + static_cast<std::ptrdiff_t>(array.sorted);
    std::sort(middle, array.refs.end(), before);
    std::inplace_merge(array.refs.begin(), middle, array.refs.end(), before);
  }
  array.sorted = array.refs.size();
  array.moved = false;
}

// The first or last record that is not retracted, or 0.  The arrays of FIRST_VALUE and LAST_VALUE are in the order of
// arrival as they are, and are tidied only when half of them is dead: a retraction does not walk a large group.
Ref ValueList::End(Array& array, bool first) {
  if (array.moved) Sort(array);
  if (array.dead == array.refs.size()) Tidy(array);
  if (array.refs.empty()) return 0;
  size_t at = first ? 0 : array.refs.size() - 1;
  size_t steps = 0;
  while (Dead(state_->At(array.refs[at])) != 0) {
    first ? ++at : --at;
    ++steps;
  }
  const Ref end = array.refs[at];
  if (steps > 16) Tidy(array);
  return end;
}

void ValueList::Decode(const std::vector<Ref>& refs, Column& values) const {
  std::vector<const char*> rows;
  rows.reserve(refs.size());
  for (const Ref ref : refs) rows.push_back(RowOf(ref));
  std::vector<Column*> targets(columns_.size(), nullptr);
  targets.back() = &values;
  codec_.Decode(rows, targets);
}

Status ValueList::Append(const char* group, Column& out) {
  const uint32_t name = NameOf(group);
  if (name == 0) {
    out.AppendNull();
    return {};
  }
  Array& array = arrays_[name - 1];
  if (IsEnd(call_.function)) {
    const Ref end = End(array, !IsLast(call_.function));
    if (end == 0) {
      out.AppendNull();
    } else {
      Decode({end}, out);
    }
    return {};
  }
  Sort(array);
  if (array.refs.empty()) {
    out.AppendNull();
    return {};
  }
  return call_.function == AggregateFunction::kArrayAgg ? AppendArrayValue(array, out) : AppendText(array, out);
}

Status ValueList::AppendText(const Array& array, Column& out) {
  Column values(type_);
  Decode(array.refs, values);
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    if (call_.distinct && i > 0 && values.text(i) == values.text(i - 1)) continue;
    if (i > 0) text += call_.separator;
    text += values.text(i);
  }
  if (text.size() + out.mutable_arena().size() > kMaxResultBytes)
    return DataError("the result of " + call_.name + " is too large");
  out.AppendText(text);
  return {};
}

Status ValueList::AppendArrayValue(const Array& array, Column& out) {
  std::vector<Ref> refs = array.refs;
  if (call_.distinct) {
    const auto same = [this](Ref a, Ref b) { return order_.Compare(RowOf(a), RowOf(b)) == 0; };
    refs.erase(std::unique(refs.begin(), refs.end(), same), refs.end());
  }
  Column values(type_);
  Decode(refs, values);
  std::string bytes;
  AppendArray(values, 0, values.size(), bytes);
  if (bytes.size() + out.mutable_arena().size() > kMaxResultBytes)
    return DataError("the result of " + call_.name + " is too large");
  out.AppendText(bytes);
  return {};
}

// The values keep their numbers, and so their order of arrival.
Status ValueList::MoveValues(char* to, char* from) {
  const uint32_t name = NameOf(from);
  if (name == 0) return {};
  Tidy(arrays_[name - 1]);
  const std::vector<Ref> refs = arrays_[name - 1].refs;
  for (const Ref ref : refs) {
    const Record& record = *state_->At(ref);
    key_ = IdOf(to);
    key_ += record.bytes().substr(kRestAt);
    Add(to, key_, LoadAt<uint64_t>(record.payload()));
  }
  Array& array = ArrayOf(to);
  array.moved = true;
  array.sorted = 0;
  Forget(from);
  SetName(from, 0);
  return {};
}

void ValueList::Forget(const char* group) {
  const uint32_t name = NameOf(group);
  if (name == 0) return;
  Array& array = arrays_[name - 1];
  Tidy(array);
  for (const Ref ref : array.refs) {
    const Record* record = state_->At(ref);
    const std::string_view key = index_.KeyOf(*record);
    const uint64_t hash = MixHash(HashBytes(key));
    if (index_.Find(hash, key) == ref) index_.Erase(hash, ref);
  }
  for (const Ref ref : array.refs) state_->Free(ref);
  array_bytes_ -= static_cast<int64_t>(array.refs.capacity() * sizeof(Ref));
  array = Array{};
  unused_.push_back(name);
}

Status ValueList::Restore(Restored& records) {
  const auto number_of = [](std::string_view payload) { return LoadAt<uint64_t>(payload.data()); };
  // A group's records are all in one file; within it they come in no order.
  std::sort(records.begin(), records.end(),
            [&](const auto& a, const auto& b) { return number_of(a.second) < number_of(b.second); });
  for (const auto& [group, payload] : records) {
    key_ = IdOf(group);
    key_ += payload.substr(kRestAt);
    Add(group, key_, number_of(payload));
    next_number_ = std::max(next_number_, number_of(payload) + 1);
  }
  return {};
}

}  // namespace weir
