#include "operators/aggregate/value_set.h"

#include <algorithm>

namespace weir {
namespace {

constexpr uint32_t kSortFrom = 64;  // values of a group: below, an extreme is found by walking them
constexpr size_t kSlotDistance = 16;
constexpr size_t kRecordDistance = 8;

uint32_t* CountsOf(Record* record) { return reinterpret_cast<uint32_t*>(record->payload()); }

}  // namespace

ValueSet::ValueSet(int argument, DataType type, uint8_t part, bool retracts, KeyedState* state)
    : argument_(argument),
      type_(type),
      part_(part),
      state_(state),
      codec_({type}, RowCodec::Form::kKey),
      retracts_(retracts) {}

int ValueSet::CounterFor(int filter) {
  const auto found = std::find(filters_.begin(), filters_.end(), filter);
  if (found != filters_.end()) return static_cast<int>(found - filters_.begin());
  filters_.push_back(filter);
  return static_cast<int>(filters_.size() - 1);
}

void ValueSet::Finish() {
  counts_size_ = filters_.size() * sizeof(uint32_t);
  index_ = std::make_unique<KeyIndex>(&state_->arena(), counts_size_, KeyIndex::KeySize::kToEnd);
}

int ValueSet::Compare(Ref a, Ref b) const {
  const char* left = ValueOf(a) + 1;  // behind the NULL bits: a set has no NULL
  const char* right = ValueOf(b) + 1;
  switch (type_.physical()) {
    case Physical::kBool:
      return *left - *right;
    case Physical::kInt64: {
      uint64_t x = 0;
      uint64_t y = 0;
      GetVarint(left, x);
      GetVarint(right, y);
      const auto signed_x = static_cast<int64_t>(x >> 1) ^ -static_cast<int64_t>(x & 1);
      const auto signed_y = static_cast<int64_t>(y >> 1) ^ -static_cast<int64_t>(y & 1);
      return signed_x < signed_y ? -1 : signed_x > signed_y;
    }
    case Physical::kDouble: {
      const auto x = LoadAt<double>(left);
      const auto y = LoadAt<double>(right);
      return DoubleLess(x, y) ? -1 : DoubleLess(y, x);
    }
    case Physical::kInt128: {
      const auto x = LoadAt<Int128>(left);
      const auto y = LoadAt<Int128>(right);
      return x < y ? -1 : x > y;
    }
    case Physical::kText: {
      uint64_t x = 0;
      uint64_t y = 0;
      left = GetVarint(left, x);
      right = GetVarint(right, y);
      return std::string_view(left, x).compare(std::string_view(right, y));
    }
  }
  return 0;
}

Result<int64_t> ValueSet::Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups) {
  const Column& column = batch.column(static_cast<size_t>(argument_));
  const int columns[] = {argument_};
  codec_.Encode(batch, columns, encoded_);
  // The keys as the index has them: the group's id and the value.
  const size_t rows = batch.rows();
  keys_.clear();
  std::vector<uint32_t> offsets(rows + 1, 0);
  std::vector<uint64_t> hashes(rows);
  for (size_t row = 0; row < rows; ++row) {
    if (signs[row] != 0) {
      keys_.append(groups[row] + id_offset_, sizeof(uint64_t));
      keys_.append(encoded_.row(row));
    }
    offsets[row + 1] = static_cast<uint32_t>(keys_.size());
  }
  const auto key_of = [&](size_t row) {
    return std::string_view(keys_.data() + offsets[row], offsets[row + 1] - offsets[row]);
  };
  for (size_t row = 0; row < rows; ++row) hashes[row] = HashOf(key_of(row));
  std::vector<const Column*> filters;
  for (const int filter : filters_)
    filters.push_back(filter < 0 ? nullptr : &batch.column(static_cast<size_t>(filter)));
  int64_t missing = 0;
  for (size_t row = 0; row < rows; ++row) {
    if (row + kSlotDistance < rows) index_->PrefetchSlot(hashes[row + kSlotDistance]);
    if (row + kRecordDistance < rows) index_->PrefetchRecord(hashes[row + kRecordDistance]);
    if (signs[row] == 0 || column.IsNull(row)) continue;
    const auto change = [&](size_t k) { return FilterPasses(filters[k], row) ? int64_t{signs[row]} : 0; };
    WEIR_ASSIGN(const int64_t absent, Take(groups[row], hashes[row], key_of(row), column, row, change));
    missing += absent;
  }
  return missing;
}

template <class Change>
Result<int64_t> ValueSet::Take(char* group, uint64_t hash, std::string_view key, const Column& column, size_t row,
                               Change change) {
  bool wanted = false;
  bool comes = false;
  for (size_t k = 0; k < filters_.size(); ++k) {
    wanted |= change(k) != 0;
    comes |= change(k) > 0;
  }
  if (!wanted) return 0;
  Ref ref = index_->Find(hash, key);
  if (ref == 0) {
    if (!comes) return 1;
    ref = Add(group, hash, key);
  }
  bool copied = false;
  for (size_t k = 0; k < filters_.size(); ++k) {
    const uint32_t count = CountsOf(state_->At(ref))[k];
    const int64_t by = change(k);
    const int64_t now = std::max<int64_t>(count + by, 0);
    if (now == count || (!retracts_ && count > 0)) continue;
    if (now > UINT32_MAX) return DataError("a group holds one value more than 4294967295 times");
    if (!copied) ref = Writable(group, hash, ref);
    copied = true;
    CountsOf(state_->At(ref))[k] = static_cast<uint32_t>(now);
    if (count == 0) WEIR_TRY(Appeared(group, ref, static_cast<int>(k), column, row));
    if (now == 0) WEIR_TRY(Vanished(group, ref, static_cast<int>(k), column, row));
  }
  const uint32_t* counts = CountsOf(state_->At(ref));
  if (std::all_of(counts, counts + filters_.size(), [](uint32_t count) { return count == 0; })) {
    Remove(group, hash, ref);
  }
  return 0;
}

Result<int64_t> ValueSet::MergePartials(std::span<const char*> partials, std::span<const int8_t> signs,
                                        std::span<char* const> groups) {
  const size_t counts_size = retracts_ ? filters_.size() * sizeof(int32_t) : sizeof(uint32_t);
  std::vector<const char*> values;
  std::vector<const char*> counts;
  std::vector<char*> group_of;
  for (size_t i = 0; i < partials.size(); ++i) {
    auto number = LoadAt<uint32_t>(partials[i]);
    const char* at = partials[i] + sizeof number;
    for (; number > 0; --number) {
      const char* value = at + counts_size;
      if (signs[i] != 0) {
        counts.push_back(at);
        values.push_back(value);
        group_of.push_back(groups[i]);
      }
      at = value + codec_.EncodedSize(value);
    }
    partials[i] = at;
  }
  Column column(type_);
  Column* targets[] = {&column};
  keys_.clear();
  std::vector<uint32_t> offsets(values.size() + 1, 0);
  std::vector<uint64_t> hashes(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    keys_.append(group_of[i] + id_offset_, sizeof(uint64_t));
    keys_.append(values[i], codec_.EncodedSize(values[i]));
    offsets[i + 1] = static_cast<uint32_t>(keys_.size());
  }
  const auto key_of = [&](size_t i) { return std::string_view(keys_.data() + offsets[i], offsets[i + 1] - offsets[i]); };
  for (size_t i = 0; i < values.size(); ++i) hashes[i] = HashOf(key_of(i));
  codec_.Decode(values, targets);
  int64_t missing = 0;
  for (size_t i = 0; i < group_of.size(); ++i) {
    if (i + kSlotDistance < group_of.size()) index_->PrefetchSlot(hashes[i + kSlotDistance]);
    if (i + kRecordDistance < group_of.size()) index_->PrefetchRecord(hashes[i + kRecordDistance]);
    const auto change = [&](size_t k) {
      return retracts_ ? int64_t{LoadAt<int32_t>(counts[i] + k * sizeof(int32_t))}
                       : int64_t{LoadAt<uint32_t>(counts[i]) >> k & 1};
    };
    WEIR_ASSIGN(const int64_t absent, Take(group_of[i], hashes[i], key_of(i), column, i, change));
    missing += absent;
  }
  return missing;
}

Ref ValueSet::Add(char* group, uint64_t hash, std::string_view key) {
  const Ref ref = state_->Allocate(part_, counts_size_ + key.size());
  char* payload = state_->At(ref)->payload();
  std::memset(payload, 0, counts_size_);
  std::memcpy(payload + counts_size_, key.data(), key.size());
  index_->Insert(hash, ref);
  if (ordered_) Link(group, ref);
  return ref;
}

void ValueSet::Remove(char* group, uint64_t hash, Ref ref) {
  index_->Erase(hash, ref);
  if (ordered_) Unlink(group, ref);
  // Results of before the batch may still name it.
  garbage_.push_back(ref);
}

void ValueSet::Link(char* group, Ref ref) {
  List list = LoadList(group);
  Record* record = state_->At(ref);
  record->next = list.head;
  record->count = 0;
  if (list.head != 0) state_->At(list.head)->count = ref;
  list.head = ref;
  ++list.values;
  StoreAt(group + list_offset_, list);
}

void ValueSet::Unlink(char* group, Ref ref) {
  List list = LoadList(group);
  const Record* record = state_->At(ref);
  if (record->next != 0) state_->At(record->next)->count = record->count;
  if (record->count != 0) {
    state_->At(record->count)->next = record->next;
  } else {
    list.head = record->next;
  }
  --list.values;
  StoreAt(group + list_offset_, list);
}

// A value of a snapshot in progress is not changed but replaced, everywhere it is named.
Ref ValueSet::Writable(char* group, uint64_t hash, Ref ref) {
  if (!state_->arena().InView(ref)) return ref;
  std::vector<std::unique_ptr<Sorted>>* sorted = nullptr;
  if (ordered_ && !sorted_.empty()) {
    const auto found = sorted_.find(LoadAt<uint64_t>(group + id_offset_));
    if (found != sorted_.end()) sorted = &found->second;
  }
  std::vector<bool> in_sorted(filters_.size(), false);
  for (size_t k = 0; sorted != nullptr && k < sorted->size(); ++k) {
    if ((*sorted)[k]) in_sorted[k] = (*sorted)[k]->erase(ref) > 0;
  }
  const Ref copy = state_->Writable(ref);
  index_->Replace(hash, ref, copy);
  if (!ordered_) return copy;
  const Record* record = state_->At(copy);
  if (record->next != 0) state_->At(record->next)->count = copy;
  if (record->count != 0) {
    state_->At(record->count)->next = copy;
  } else {
    List list = LoadList(group);
    list.head = copy;
    StoreAt(group + list_offset_, list);
  }
  for (const Accumulator* listener : listeners_) {
    if (!listener->IsExtreme() || LoadAt<Ref>(group + listener->offset) != ref) continue;
    StoreAt(group + listener->offset, copy);
  }
  for (size_t k = 0; k < filters_.size(); ++k) {
    if (in_sorted[k]) (*sorted)[k]->insert(copy);
  }
  return copy;
}

Status ValueSet::Appeared(char* group, Ref ref, int counter, const Column& column, size_t row) {
  for (size_t i = 0; i < listeners_.size(); ++i) {
    const Accumulator* listener = listeners_[i];
    if (listener->counter != counter) continue;
    if (!listener->IsExtreme()) {
      WEIR_TRY(Tell(i, group, column, row, 1));
      continue;
    }
    const auto current = LoadAt<Ref>(group + listener->offset);
    const bool better = current == 0 || (listener->IsMin() ? Compare(ref, current) < 0 : Compare(ref, current) > 0);
    if (better) StoreAt(group + listener->offset, ref);
  }
  if (Sorted* sorted = SortedOf(group, counter)) sorted->insert(ref);
  return {};
}

Status ValueSet::Vanished(char* group, Ref ref, int counter, const Column& column, size_t row) {
  if (Sorted* sorted = SortedOf(group, counter)) sorted->erase(ref);
  for (size_t i = 0; i < listeners_.size(); ++i) {
    const Accumulator* listener = listeners_[i];
    if (listener->counter != counter) continue;
    if (!listener->IsExtreme()) {
      WEIR_TRY(Tell(i, group, column, row, -1));
    } else if (LoadAt<Ref>(group + listener->offset) == ref) {
      StoreAt<Ref>(group + listener->offset, 0);
      unsettled_.emplace_back(group, listener);
    }
  }
  return {};
}

Status ValueSet::Tell(size_t listener, char* group, const Column& column, size_t row, int sign) const {
  if (listener_states_[listener] == nullptr) return listeners_[listener]->UpdateOne(group, &column, row, sign);
  listener_states_[listener]->UpdateOne(group, column, row, sign);
  return {};
}

ValueSet::Sorted* ValueSet::SortedOf(const char* group, int counter) {
  if (sorted_.empty()) return nullptr;
  const auto found = sorted_.find(LoadAt<uint64_t>(group + id_offset_));
  if (found == sorted_.end()) return nullptr;
  return found->second[static_cast<size_t>(counter)].get();
}

Ref ValueSet::Extreme(char* group, int counter, bool min) {
  const List list = LoadList(group);
  const auto counted = [&](Ref ref) { return CountsOf(state_->At(ref))[counter] > 0; };
  if (list.values < kSortFrom) {
    if (list.values < kSortFrom / 2) Forget(LoadAt<uint64_t>(group + id_offset_));
    Ref best = 0;
    for (Ref ref = list.head; ref != 0; ref = state_->At(ref)->next) {
      if (!counted(ref)) continue;
      if (best == 0 || (min ? Compare(ref, best) < 0 : Compare(ref, best) > 0)) best = ref;
    }
    return best;
  }
  auto& of_group = sorted_[LoadAt<uint64_t>(group + id_offset_)];
  if (of_group.empty()) of_group.resize(filters_.size());
  std::unique_ptr<Sorted>& sorted = of_group[static_cast<size_t>(counter)];
  if (!sorted) {
    sorted = std::make_unique<Sorted>(Less{this});
    for (Ref ref = list.head; ref != 0; ref = state_->At(ref)->next) {
      if (counted(ref)) sorted->insert(ref);
    }
  }
  if (sorted->empty()) return 0;
  return min ? *sorted->begin() : *sorted->rbegin();
}

void ValueSet::Settle() {
  for (const auto& [group, listener] : unsettled_) {
    // A value that has come since may stand there, but is not known to be the extreme of all.
    StoreAt(group + listener->offset, Extreme(group, listener->counter, listener->IsMin()));
  }
  unsettled_.clear();
}

void ValueSet::Append(std::span<const Ref> values, Column& out) const {
  std::vector<const char*> rows;
  std::vector<size_t> nulls;
  static constexpr char kNullRow[1 + 2 * kRowSlack] = {1};
  rows.reserve(values.size());
  for (const Ref ref : values) rows.push_back(ref == 0 ? kNullRow : ValueOf(ref));
  Column* targets[] = {&out};
  codec_.Decode(rows, targets);
}

uint64_t ValueSet::GroupId(std::string_view payload, size_t counters) {
  return LoadAt<uint64_t>(payload.data() + counters * sizeof(uint32_t));
}

void ValueSet::Restore(char* group, std::string_view payload) {
  std::string key(group + id_offset_, sizeof(uint64_t));
  key += payload.substr(counts_size_ + sizeof(uint64_t));
  const Ref ref = Add(group, HashOf(key), key);
  std::memcpy(state_->At(ref)->payload(), payload.data(), counts_size_);
  for (const Accumulator* listener : listeners_) {
    if (!listener->IsExtreme() || CountsOf(state_->At(ref))[listener->counter] == 0) continue;
    const auto current = LoadAt<Ref>(group + listener->offset);
    const bool better = current == 0 || (listener->IsMin() ? Compare(ref, current) < 0 : Compare(ref, current) > 0);
    if (better) StoreAt(group + listener->offset, ref);
  }
}

void ValueSet::Forget(uint64_t group_id) {
  if (!sorted_.empty()) sorted_.erase(group_id);
}

void ValueSet::DropGroup(const char* group) {
  Forget(LoadAt<uint64_t>(group + id_offset_));
  for (Ref ref = LoadList(group).head; ref != 0;) {
    const Record* record = state_->At(ref);
    const Ref next = record->next;
    index_->Erase(HashOf(index_->KeyOf(*record)), ref);
    state_->Free(ref);
    ref = next;
  }
}

Status ValueSet::MoveValues(char* to, char* from) {
  std::vector<Ref> values;
  for (Ref ref = LoadList(from).head; ref != 0; ref = state_->At(ref)->next) values.push_back(ref);
  if (values.empty()) return {};
  Column column(type_);
  Append(values, column);
  std::string key(to + id_offset_, sizeof(uint64_t));
  for (size_t i = 0; i < values.size(); ++i) {
    key.resize(sizeof(uint64_t));
    key += index_->KeyOf(*state_->At(values[i])).substr(sizeof(uint64_t));
    const uint64_t hash = HashOf(key);
    Ref ref = index_->Find(hash, key);
    ref = ref == 0 ? Add(to, hash, key) : Writable(to, hash, ref);
    for (size_t k = 0; k < filters_.size(); ++k) {
      const uint32_t more = CountsOf(state_->At(values[i]))[k];
      uint32_t& count = CountsOf(state_->At(ref))[k];
      if (more == 0 || (!retracts_ && count > 0)) continue;
      const bool appears = count == 0;
      if (more > UINT32_MAX - count) return DataError("a group holds one value more than 4294967295 times");
      count += more;
      if (appears) WEIR_TRY(Appeared(to, ref, static_cast<int>(k), column, i));
    }
  }
  DropGroup(from);
  ClearList(from);
  return {};
}

void ValueSet::FreeGarbage() {
  for (const Ref ref : garbage_) state_->Free(ref);
  garbage_.clear();
}

}  // namespace weir
