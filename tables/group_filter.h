// Which groups may have rows outside of memory: a Bloom filter of their hashes that grows with them.
//
// Layers of doubling size; a layer that is full is only read.  A hash chooses a block of one cache line in each layer and
// a bit in each of the block's eight words (the split block filter of Apache Parquet, with words of 64 bits).  With 16
// bits an entry about one of 1,000 answers of "may be" is wrong, in each layer.  One thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace weir {

class GroupFilter {
 public:
  bool empty() const { return layers_.empty(); }
  int64_t bytes() const { return bytes_; }
  // `hash`: all of its bits count.
  bool MayContain(uint64_t hash) const {
    for (const Layer& layer : layers_) {
      if (Contains(layer, hash)) return true;
    }
    return false;
  }
  void Add(uint64_t hash);
  void Clear() { *this = {}; }

 private:
  using Block = std::array<uint64_t, 8>;
  struct Layer {
    std::vector<Block> blocks;  // a power of two
    int64_t left = 0;           // entries until it is full
  };

  static size_t BlockOf(const Layer& layer, uint64_t hash) { return (hash >> 32) & (layer.blocks.size() - 1); }
  static uint64_t Bit(uint64_t hash, size_t word) {
    constexpr std::array<uint32_t, 8> kOdd = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                              0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};
    return uint64_t{1} << (static_cast<uint32_t>(static_cast<uint32_t>(hash) * kOdd[word]) >> 26);
  }
  static bool Contains(const Layer& layer, uint64_t hash) {
    const Block& block = layer.blocks[BlockOf(layer, hash)];
    for (size_t word = 0; word < block.size(); ++word) {
      if ((block[word] & Bit(hash, word)) == 0) return false;
    }
    return true;
  }

  std::vector<Layer> layers_;
  int64_t bytes_ = 0;
};

}  // namespace weir
