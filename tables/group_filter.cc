#include "tables/group_filter.h"

namespace weir {
namespace {

constexpr size_t kFirstBlocks = 4;
constexpr int64_t kEntriesOfBlock = 32;

}  // namespace

void GroupFilter::Add(uint64_t hash) {
  if (MayContain(hash)) return;
  if (layers_.empty() || layers_.back().left == 0) {
    const size_t blocks = layers_.empty() ? kFirstBlocks : 2 * layers_.back().blocks.size();
    layers_.push_back({std::vector<Block>(blocks), static_cast<int64_t>(blocks) * kEntriesOfBlock});
    bytes_ += static_cast<int64_t>(blocks * sizeof(Block));
  }
  Layer& layer = layers_.back();
  Block& block = layer.blocks[BlockOf(layer, hash)];
  for (size_t word = 0; word < block.size(); ++word) block[word] |= Bit(hash, word);
  --layer.left;
}

}  // namespace weir
