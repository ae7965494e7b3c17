#include "tables/base/sorted_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "engine/base/check.h"

namespace weir {
namespace {

// Eight bytes of a key from `from` on, big endian, zeros behind its end.
uint64_t Head(std::string_view key, size_t from) {
  uint64_t head = 0;
  std::memcpy(&head, key.data() + from, std::min(sizeof(head), key.size() - from));
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap64(head);
}

}  // namespace

size_t GroupPrefixBytes(std::string_view key) {
  if (key.size() <= kBucketBytes || key.starts_with(kMarkerKey.substr(0, kBucketBytes))) return 0;
  uint64_t length = 0;
  size_t at = kBucketBytes;
  for (int shift = 0; shift < 35; shift += 7) {
    if (at == key.size()) return 0;
    const auto byte = static_cast<uint8_t>(key[at++]);
    length |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return length <= key.size() - at ? at + length : 0;
  }
  return 0;
}

std::string_view GroupOf(std::string_view key, size_t prefix_bytes) {
  size_t at = kBucketBytes;
  while (static_cast<uint8_t>(key[at]) >= 0x80) ++at;
  return key.substr(at + 1, prefix_bytes - at - 1);
}

void AppendBucket(int bucket, std::string& key) {
  key.push_back(static_cast<char>(bucket >> 8));
  key.push_back(static_cast<char>(bucket));
}

void AppendKey(int bucket, std::string_view group, std::string_view unique, std::string& key) {
  AppendBucket(bucket, key);
  uint64_t length = group.size();
  for (; length >= 0x80; length >>= 7) key.push_back(static_cast<char>(length | 0x80));
  key.push_back(static_cast<char>(length));
  key.append(group);
  key.append(unique);
}

void SortedRows::Clear() {
  bytes_.clear();
  entries_.clear();
  order_.clear();
  shared_ = 0;
}

void SortedRows::Add(int bucket, std::string_view group, std::string_view unique, std::string_view rest, bool remove) {
  WEIR_CHECK_LT(entries_.size(), std::numeric_limits<uint32_t>::max());
  WEIR_CHECK_LE(rest.size(), std::numeric_limits<uint32_t>::max() >> 1);
  const size_t offset = bytes_.size();
  AppendKey(bucket, group, unique, bytes_);
  const size_t key_bytes = bytes_.size() - offset;
  WEIR_CHECK_LE(key_bytes, std::numeric_limits<uint32_t>::max());
  bytes_.append(rest);
  entries_.push_back({offset, static_cast<uint32_t>(key_bytes), static_cast<uint32_t>(rest.size()) & 0x7fffffffU,
                      static_cast<uint32_t>(remove) & 1U});
  const char* const first = bytes_.data();  // the first row lies at the front
  const char* const key = first + offset;
  shared_ = entries_.size() == 1 ? key_bytes : std::min(shared_, key_bytes);
  shared_ = static_cast<size_t>(std::mismatch(key, key + shared_, first).first - key);
}

void SortedRows::Sort() {
  order_.resize(entries_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) order_[i] = {Head(KeyOf(i), shared_), i};
  std::sort(order_.begin(), order_.end(), [this](const Place& a, const Place& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = KeyOf(a.index).substr(shared_).compare(KeyOf(b.index).substr(shared_));
    return order != 0 ? order < 0 : a.index < b.index;
  });
}

SortedRows::Row SortedRows::RowOf(size_t index) const {
  const Entry& entry = entries_[index];
  const std::string_view bytes(bytes_);
  return {bytes.substr(entry.offset, entry.key_bytes), bytes.substr(entry.offset + entry.key_bytes, entry.rest_bytes),
          entry.remove != 0, index};
}

}  // namespace weir
