// Reads a bucket's log from one position to another: (1) the segments between them in order, (2) in each the header,
// whose first offset must be the one reached so far, (3) blocks, whose checksum is looked at before anything in them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "engine/base/check.h"
#include "tables/log/bucket_log.h"
#include "tables/log/log_block.h"
#include "tables/log/segment_file.h"

namespace weir {
namespace {

using Take = std::function<Status(std::span<const LogEntry>)>;

class LogReader {
 public:
  LogReader(const std::string& folder, uint64_t offset, const Take& take)
      : folder_(folder), offset_(offset), take_(take) {}

  // Reads segment `number` from byte `from` (0: its first block) to byte `to` (none: its end).
  Status ReadSegment(uint64_t number, uint64_t from, std::optional<uint64_t> to);
  uint64_t offset() const { return offset_; }
  // Has the kernel read a segment while the one before it is taken in.
  void ReadAhead(uint64_t number) const {
    if (const auto file = SegmentFile::OpenForReading(SegmentPath(folder_, number))) (*file)->ReadAhead();
  }
  // Reads the first block of a segment, at whatever offset that begins.  Returns that offset.
  Result<uint64_t> ReadFirstBlock(uint64_t number);

 private:
  Status CheckHeader(const SegmentFile& file, uint64_t number, bool from_start);
  // Reads the block at `byte`, which ends before `end`; returns its end.
  Result<uint64_t> ReadBlock(const SegmentFile& file, uint64_t byte, uint64_t end);

  const std::string& folder_;
  uint64_t offset_;  // of the next entry
  const Take& take_;
  std::optional<uint32_t> bucket_;
  std::string previous_ = "the position that reading starts at";
  Buffer<char> block_;
  BlockReader reader_;
};

Status LogReader::ReadSegment(uint64_t number, uint64_t from, std::optional<uint64_t> to) {
  WEIR_ASSIGN(const auto file, SegmentFile::OpenForReading(SegmentPath(folder_, number)));
  WEIR_ASSIGN(const uint64_t size, file->Size());
  const uint64_t end = to.value_or(size);
  const uint64_t needed = std::max({end, from, uint64_t{kSegmentHeaderBytes}});
  if (size < needed) return LogDamage(file->path(), size, fmt::format("it ends before byte {}", needed));
  WEIR_TRY(CheckHeader(*file, number, from == 0));
  uint64_t byte = std::max(from, uint64_t{kSegmentHeaderBytes});
  while (byte < end) {
    WEIR_ASSIGN(byte, ReadBlock(*file, byte, end));
  }
  previous_ = file->path();
  return {};
}

Result<uint64_t> LogReader::ReadFirstBlock(uint64_t number) {
  WEIR_ASSIGN(const auto file, SegmentFile::OpenForReading(SegmentPath(folder_, number)));
  WEIR_ASSIGN(const uint64_t size, file->Size());
  if (size <= kSegmentHeaderBytes) return LogDamage(file->path(), size, "it ends before its first block");
  std::string bytes(kSegmentHeaderBytes, '\0');
  WEIR_ASSIGN(const bool whole, file->ReadAt(0, bytes));
  if (!whole) return LogDamage(file->path(), 0, "the header is cut off");
  WEIR_ASSIGN(const SegmentHeader header, DecodeSegmentHeader(bytes, file->path()));
  offset_ = header.first_offset;
  WEIR_TRY(CheckHeader(*file, number, true));
  WEIR_TRY(ReadBlock(*file, kSegmentHeaderBytes, size));
  return header.first_offset;
}

Status LogReader::CheckHeader(const SegmentFile& file, uint64_t number, bool from_start) {
  std::string bytes(kSegmentHeaderBytes, '\0');
  WEIR_ASSIGN(const bool whole, file.ReadAt(0, bytes));
  if (!whole) return LogDamage(file.path(), 0, "the header is cut off");
  WEIR_ASSIGN(const SegmentHeader header, DecodeSegmentHeader(bytes, file.path()));
  if (header.number != number || header.bucket != bucket_.value_or(header.bucket)) {
    return LogDamage(file.path(), 0,
                     fmt::format("it is segment {} of bucket {}, of another log", header.number, header.bucket));
  }
  bucket_ = header.bucket;
  if (from_start ? header.first_offset != offset_ : header.first_offset > offset_) {
    return LogDamage(
        file.path(), 0,
        fmt::format("it begins at offset {}, but {} ends at offset {}", header.first_offset, previous_, offset_));
  }
  return {};
}

Result<uint64_t> LogReader::ReadBlock(const SegmentFile& file, uint64_t byte, uint64_t end) {
  if (block_.size() < kBlockHeaderBytes) block_.resize(kBlockHeaderBytes);
  const uint64_t room = end - byte;
  if (room < kBlockHeaderBytes) return LogDamage(file.path(), byte, "the header of a block is cut off");
  WEIR_ASSIGN(const bool has_header, file.ReadAt(byte, {block_.data(), kBlockHeaderBytes}));
  if (!has_header) return LogDamage(file.path(), byte, "the header of a block is cut off");
  WEIR_ASSIGN(const BlockHeader header,
              BlockReader::DecodeHeader({block_.data(), kBlockHeaderBytes}, room, file.path(), byte));
  const size_t size = kBlockHeaderBytes + header.stored_bytes;
  if (block_.size() < size) block_.resize(size);
  WEIR_ASSIGN(const bool has_body,
              file.ReadAt(byte + kBlockHeaderBytes, {block_.data() + kBlockHeaderBytes, header.stored_bytes}));
  if (!has_body) return LogDamage(file.path(), byte, "the block is cut off");
  if (header.first_offset != offset_) {
    return LogDamage(file.path(), byte,
                     fmt::format("the block begins at offset {}, expected {}", header.first_offset, offset_));
  }
  WEIR_ASSIGN(const std::span<const LogEntry> entries, reader_.Read({block_.data(), size}, file.path(), byte));
  WEIR_TRY(take_(entries));
  offset_ += header.entries;
  return byte + size;
}

}  // namespace

Result<SegmentStart> ReadSegmentStart(const std::string& folder, uint64_t number) {
  SegmentStart start;
  const Take take = [&](std::span<const LogEntry> entries) -> Status {
    if (!entries.empty()) start.group = entries.front().group;
    return {};
  };
  LogReader reader(folder, 0, take);
  WEIR_ASSIGN(start.offset, reader.ReadFirstBlock(number));
  return start;
}

Status ReadLog(const std::string& folder, const LogPosition& from, const LogPosition& to,
               const std::function<Status(const LogEntry&)>& take) {
  return ReadLogBlocks(folder, from, to, [&](std::span<const LogEntry> entries) -> Status {
    for (const LogEntry& entry : entries) WEIR_TRY(take(entry));
    return {};
  });
}

Status ReadLogBlocks(const std::string& folder, const LogPosition& from, const LogPosition& to, const Take& take) {
  if (from == to) return {};
  WEIR_CHECK_LE(from.offset, to.offset);
  WEIR_CHECK_LE(from.segment, to.segment);
  LogReader reader(folder, from.offset, take);
  for (uint64_t number = from.segment; number <= to.segment; ++number) {
    const bool last = number == to.segment;
    if (number < to.segment) reader.ReadAhead(number + 1);
    if (last && to.byte == 0) break;
    WEIR_TRY(reader.ReadSegment(number, number == from.segment ? from.byte : 0,
                                last ? std::optional<uint64_t>(to.byte) : std::nullopt));
  }
  if (reader.offset() == to.offset) return {};
  return LogDamage(SegmentPath(folder, to.segment), to.byte,
                   fmt::format("offset {} lies there, expected {}", reader.offset(), to.offset));
}

}  // namespace weir
