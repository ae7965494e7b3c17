// Random numbers of the generator: splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// 2014).
//
// Its state advances by a constant, so draw k is computed without the draws before it.  Immutable, any thread.
#pragma once

#include <cstdint>

namespace weir {

inline constexpr int64_t kGeneratorStartMs = 1767225600000;  // 2026-01-01T00:00:00Z

class RandomDraws {
 public:
  explicit RandomDraws(uint64_t state) : state_(state) {}
  // Draw k (from 0), all 64 bits.
  uint64_t Bits(uint64_t k) const {
    uint64_t z = state_ + (k + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // Draw k, uniform in [0, bound).
  uint64_t Below(uint64_t k, uint64_t bound) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Bits(k)) * bound) >> 64);
  }

 private:
  uint64_t state_;
};

}  // namespace weir
