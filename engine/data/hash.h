// Hashes of key columns: what an exchange splits by and what keyed state looks up by.
//
// Equal SQL values of one type have one hash: -0.0 is 0.0, every NaN is one NaN, NULL is a value of its own.  Integer
// kinds hash by value whatever their width.  The hash is part of the checkpoint format: key groups are derived from it.
#pragma once

#include <span>
#include <vector>

#include "engine/data/batch.h"

namespace weir {

inline constexpr int kKeyGroups = 128;

inline uint64_t MixHash(uint64_t x) {
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dULL;
  x ^= x >> 32;
  x *= 0xe9846af9b1a615dULL;
  x ^= x >> 28;
  return x;
}

uint64_t HashBytes(std::string_view bytes);

// hashes[i] = hash of row i's key columns.  `hashes` is resized.
void HashRows(const Batch& batch, std::span<const int> key_columns, std::vector<uint64_t>& hashes);

inline int KeyGroupOf(uint64_t hash) { return static_cast<int>(hash >> 57); }
// The task of a stage of `parallelism` tasks that owns a key group: contiguous ranges, as in Flink.
inline int TaskOf(int key_group, int parallelism) { return key_group * parallelism / kKeyGroups; }

// True where any of the key columns is NULL; empty when none has a NULL.
std::vector<uint8_t> NullKeys(const Batch& batch, std::span<const int> key_columns);

}  // namespace weir
