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
  const bool pays = found_ * 10 >= sampled_;
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
  filter_columns_.clear();
  for (const int filter : filters_) {
    filter_columns_.push_back(filter < 0 ? nullptr : &batch.column(static_cast<size_t>(filter)));
  }
  const size_t filters = filters_.size();
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (signs[row] == 0 || column.IsNull(row)) continue;
    const bool wanted = std::any_of(filter_columns_.begin(), filter_columns_.end(),
                                    [row](const Column* filter) { return FilterPasses(filter, row); });
    if (!wanted) continue;
    ++taken_;
    const std::string_view value = encoded_.row(row);
    const uint32_t entry = look ? FindOrAdd(MixHash(hashes_[row] ^ group_of[row]), group_of[row], value)
                                : Add(0, group_of[row], value);
    for (size_t k = 0; k < filters; ++k) {
      if (!FilterPasses(filter_columns_[k], row)) continue;
      int32_t& count = counts_[entry * filters + k];
      count = retracts_ ? count + signs[row] : 1;
    }
  }
}

uint32_t LocalValues::Add(uint64_t hash, uint32_t group, std::string_view value) {
  const auto entry = static_cast<uint32_t>(entries_.size());
  entries_.push_back({hash, group, kNone, static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(value.size())});
  List& list = lists_[group];
  if (list.first == kNone) {
    list.first = entry;
  } else {
    entries_[list.last].next = entry;
  }
  list.last = entry;
  bytes_.append(value);
  counts_.resize(counts_.size() + filters_.size(), 0);
  return entry;
}

uint32_t LocalValues::FindOrAdd(uint64_t hash, uint32_t group, std::string_view value) {
  if (slots_.size() < 2 * (entries_.size() + 1)) GrowSlots();
  ++sampled_;
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    if (slots_[at] == 0) {
      slots_[at] = static_cast<uint32_t>(entries_.size()) + 1;
      return Add(hash, group, value);
    }
    const Entry& entry = entries_[slots_[at] - 1];
    if (entry.hash == hash && entry.group == group && std::string_view(bytes_.data() + entry.at, entry.size) == value) {
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
    const int32_t* counts = counts_.data() + i * filters;
    if (std::all_of(counts, counts + filters, [](int32_t count) { return count == 0; })) continue;
    AppendRaw(out, counts, filters * sizeof(int32_t));
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
