#include "operators/aggregate/local_values.h"

#include <algorithm>

#include "engine/data/hash.h"

namespace weir {
namespace {

constexpr int64_t kSample = 16384;         // values that are looked for before it is decided
constexpr int64_t kListed = 32 * kSample;  // rows until the next sample
constexpr size_t kFirstSlots = 1024;

void AppendRaw(std::string& out, const void* from, size_t size) { out.append(static_cast<const char*>(from), size); }

}  // namespace

void LocalValues::AddFilter(int filter) {
  if (std::find(filters_.begin(), filters_.end(), filter) == filters_.end()) filters_.push_back(filter);
}

// Whether the values of a batch are looked for.
bool LocalValues::Looks(size_t rows) {
  if (unlooked_ > 0) {
    unlooked_ -= static_cast<int64_t>(rows);
    return false;
  }
  if (sampled_ < kSample) return true;
  const bool pays = found_ * 2 >= sampled_;
  sampled_ = found_ = 0;
  if (!pays) unlooked_ = kListed;
  return pays;
}

void LocalValues::Update(const Batch& batch, std::span<const int8_t> signs, std::span<const uint32_t> group_of,
                         bool look) {
  const Column& column = batch.column(static_cast<size_t>(argument_));
  const int columns[] = {argument_};
  codec_.Encode(batch, columns, encoded_);
  look = look && Looks(batch.rows());
  if (look) HashRows(batch, columns, hashes_);
  MakeMasks(batch);
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (signs[row] == 0 || masks_[row] == 0 || column.IsNull(row)) continue;
    ++taken_;
    const std::string_view value = encoded_.row(row);
    const uint32_t at = look ? FindOrAdd(MixHash(hashes_[row] ^ group_of[row]), group_of[row], value)
                             : Add(0, group_of[row], value);
    entries_[at].mask |= masks_[row];
    for (uint32_t rest = retracts_ ? masks_[row] : 0; rest != 0; rest &= rest - 1) {
      counts_[at * filters_.size() + static_cast<size_t>(__builtin_ctz(rest))] += signs[row];
    }
  }
}

void LocalValues::MakeMasks(const Batch& batch) {
  const size_t rows = batch.rows();
  masks_.assign(rows, 0);
  for (size_t k = 0; k < filters_.size(); ++k) {
    const uint32_t bit = uint32_t{1} << k;
    const Column* filter = filters_[k] < 0 ? nullptr : &batch.column(static_cast<size_t>(filters_[k]));
    for (size_t row = 0; row < rows; ++row) masks_[row] |= FilterPasses(filter, row) ? bit : 0;
  }
}

// What tells short values apart.
uint64_t LocalValues::HeadOf(std::string_view value) {
  const auto head = LoadAt<uint64_t>(value.data());  // the buffer of encoded rows has slack behind it
  return value.size() >= sizeof head ? head : head & ((uint64_t{1} << (8 * value.size())) - 1);
}

uint32_t LocalValues::Add(uint64_t hash, uint32_t group, std::string_view value) {
  const auto entry = static_cast<uint32_t>(entries_.size());
  entries_.push_back({hash, HeadOf(value), group, kNone, static_cast<uint32_t>(bytes_.size()),
                      static_cast<uint32_t>(value.size()), 0});
  List& list = lists_[group];
  if (list.first == kNone) {
    list.first = entry;
  } else {
    entries_[list.last].next = entry;
  }
  list.last = entry;
  bytes_.append(value);
  if (retracts_) counts_.resize(counts_.size() + filters_.size(), 0);
  return entry;
}

uint32_t LocalValues::FindOrAdd(uint64_t hash, uint32_t group, std::string_view value) {
  if (slots_.size() < 2 * (entries_.size() + 1)) GrowSlots();
  ++sampled_;
  const uint64_t head = HeadOf(value);
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    if (slots_[at] == 0) {
      slots_[at] = static_cast<uint32_t>(entries_.size()) + 1;
      return Add(hash, group, value);
    }
    const Entry& entry = entries_[slots_[at] - 1];
    if (entry.hash != hash || entry.head != head || entry.group != group || entry.size != value.size()) continue;
    if (entry.size <= sizeof head || std::string_view(bytes_.data() + entry.at, entry.size) == value) {
      ++found_;
      return slots_[at] - 1;
    }
  }
}

void LocalValues::GrowSlots() {
  slots_.assign(std::max(kFirstSlots, 2 * slots_.size()), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t at = entries_[i].hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<uint32_t>(i) + 1;
  }
}

void LocalValues::AppendTo(size_t group, std::string& out) const {
  const size_t start = out.size();
  uint32_t number = 0;
  AppendRaw(out, &number, sizeof number);
  const size_t filters = filters_.size();
  for (uint32_t i = lists_[group].first; i != kNone; i = entries_[i].next) {
    if (retracts_) {
      const int32_t* counts = counts_.data() + i * filters;
      if (std::all_of(counts, counts + filters, [](int32_t count) { return count == 0; })) continue;
      AppendRaw(out, counts, filters * sizeof(int32_t));
    } else {
      AppendRaw(out, &entries_[i].mask, sizeof entries_[i].mask);
    }
    out.append(bytes_, entries_[i].at, entries_[i].size);
    ++number;
  }
  std::memcpy(out.data() + start, &number, sizeof number);
}

void LocalValues::Clear() {
  entries_.clear();
  counts_.clear();
  bytes_.clear();
  lists_.clear();
  taken_ = 0;
  std::fill(slots_.begin(), slots_.end(), 0);
}

}  // namespace weir
