// The keys of a base, and rows that are to be visited in the order of their keys, in flat buffers: nothing is allocated
// a row.  Key: bucket (2 bytes, big endian), LEB128 length of the group, group, unique.  The length makes a group's
// keys neighbours and keeps apart groups of which one is a prefix of the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

inline constexpr size_t kBucketBytes = 2;
// Behind every row, because no bucket has this number; a key without a group.
inline constexpr std::string_view kMarkerKey = "\xff\xff\x6d";

// The number of bytes of a key that its group's rows share; 0 when `key` is the marker or no key at all.
size_t GroupPrefixBytes(std::string_view key);
// The group in the first `prefix_bytes` of a key, as GroupPrefixBytes gave them.
std::string_view GroupOf(std::string_view key, size_t prefix_bytes);
void AppendBucket(int bucket, std::string& key);
void AppendKey(int bucket, std::string_view group, std::string_view unique, std::string& key);

class SortedRows {
 public:
  struct Row {
    std::string_view key;
    std::string_view rest;
    bool remove = false;
    size_t index = 0;  // the how manieth it was added
  };

  void Clear();
  void Add(int bucket, std::string_view group, std::string_view unique, std::string_view rest = {},
           bool remove = false);
  // By the bytes of the keys; rows of one key stay in the order in which they were added.
  void Sort();

  size_t size() const { return entries_.size(); }
  // The i-th row of the order.  REQUIRES: Sort since the last Add.
  Row at(size_t i) const { return RowOf(order_[i].index); }
  // Asks the processor for the bytes of the i-th row: after a sort each row is a cache miss.
  void Prefetch(size_t i) const { __builtin_prefetch(bytes_.data() + entries_[order_[i].index].offset); }

 private:
  struct Entry {
    uint64_t offset;  // of the key in bytes_; `rest` follows it
    uint32_t key_bytes;
    uint32_t rest_bytes : 31;
    uint32_t remove : 1;
  };
  struct Place {
    uint64_t head;  // the first bytes behind what all keys share, as a number that compares as they do
    uint32_t index;
  };

  std::string_view KeyOf(size_t index) const {
    return std::string_view(bytes_).substr(entries_[index].offset, entries_[index].key_bytes);
  }
  Row RowOf(size_t index) const;

  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<Place> order_;
  size_t shared_ = 0;  // bytes that all keys begin with
};

}  // namespace weir
