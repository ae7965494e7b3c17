// The bytes of a log segment: its header, and blocks of entries with checksums.  Layout: docs/formats/log.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/data/column.h"
#include "tables/log/log_entry.h"

namespace weir {

inline constexpr uint32_t kLogVersion = 1;
inline constexpr size_t kSegmentHeaderBytes = 40;
inline constexpr size_t kBlockHeaderBytes = 32;

struct SegmentHeader {
  uint32_t bucket = 0;
  uint64_t number = 0;
  uint64_t first_offset = 0;  // changes before the segment's first, since the table was made
};

std::string EncodeSegmentHeader(const SegmentHeader& header);
// `path` is for messages.
Result<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, const std::string& path);

// What went wrong at a byte of a log segment.
Error LogDamage(const std::string& path, uint64_t byte, std::string_view what);

struct BlockHeader {
  uint64_t checksum = 0;  // XXH3-64 of everything behind it, to the end of the block
  uint32_t magic = 0;
  uint32_t entries = 0;
  uint32_t raw_bytes = 0;     // of the entries
  uint32_t stored_bytes = 0;  // as they are in the file: fewer when compressed
  uint64_t first_offset = 0;
};
static_assert(sizeof(BlockHeader) == kBlockHeaderBytes);

// Collects entries into a block.  Buffers are kept from block to block, so that no entry allocates.
class BlockWriter {
 public:
  explicit BlockWriter(size_t block_bytes);

  // An error when the entry is larger than a block can ever be.
  Status Add(const LogEntry& entry);
  bool full() const { return size_ >= block_bytes_; }
  uint32_t entries() const { return entries_; }
  // Ends the block: its bytes, valid until the next call of Seal.  The writer is empty afterwards.
  std::string_view Seal(uint64_t first_offset);

 private:
  Status MakeRoom(size_t bytes);

  size_t block_bytes_;
  uint32_t entries_ = 0;
  size_t size_ = 0;
  Buffer<char> raw_;
  Buffer<char> sealed_;
  size_t group_at_ = 0;  // the last entry's group within raw_
  size_t group_size_ = 0;
};

// Takes blocks apart.  Buffers are kept from block to block.
class BlockReader {
 public:
  // The header of a block that starts at `byte`; an error when it cannot be one that ends within `room` bytes.
  static Result<BlockHeader> DecodeHeader(std::string_view bytes, uint64_t room, const std::string& path,
                                          uint64_t byte);

  // The entries of a whole block, header included, after its checksum was found good; valid until the next call, and as
  // long as `block` is.
  Result<std::span<const LogEntry>> Read(std::string_view block, const std::string& path, uint64_t byte);

 private:
  Buffer<char> raw_;
  std::vector<LogEntry> entries_;
};

}  // namespace weir
