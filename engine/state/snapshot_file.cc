#include "engine/state/snapshot_file.h"

#include <lz4.h>
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <cstring>

#include "engine/data/row_codec.h"

namespace weir {
namespace {

constexpr std::string_view kMagic = "WEIRSTAT";
constexpr uint32_t kVersion = 1;
constexpr size_t kBlockBytes = 256 << 10;
constexpr size_t kMaxRaw = size_t{LZ4_MAX_INPUT_SIZE};
constexpr size_t kBlockHeader = 24;
// Of LZ4: how fast it gives up on bytes that do not repeat.  State is written by the job's own threads, and is mostly
// texts that hardly repeat: half of the time for a file that is 5 to 9 % larger (bids: 0.8 instead of 1.7 ns a byte).
constexpr int kAcceleration = 8;

template <class T>
void PutNumber(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class T>
T NumberAt(std::string_view in, size_t at) {
  T value;
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}

}  // namespace

Status SnapshotFileWriter::Begin(const SnapshotHeader& header) {
  std::string bytes(kMagic);
  PutNumber(bytes, kVersion);
  PutNumber(bytes, static_cast<uint32_t>(header.task));
  PutNumber(bytes, static_cast<uint32_t>(header.parallelism));
  PutNumber(bytes, static_cast<uint32_t>(header.kind.size()));
  bytes += header.kind;
  raw_.reserve(kBlockBytes + 4096);
  return file_.Append(bytes);
}

Status SnapshotFileWriter::Add(uint8_t part, uint32_t count, std::string_view payload) {
  if (payload.size() + raw_.size() > kMaxRaw - 64 && !raw_.empty()) WEIR_TRY(Flush(kRows));
  if (payload.size() > kMaxRaw - 64) return StateError("a row of more than 2 GiB cannot be written to a checkpoint");
  char head[24];
  char* at = head;
  *at++ = static_cast<char>(part);
  at = PutVarint(at, payload.size());
  if (counted_) at = PutVarint(at, count);
  raw_.append(head, static_cast<size_t>(at - head));
  raw_.append(payload);
  return raw_.size() >= kBlockBytes ? Flush(kRows) : Status{};
}

Status SnapshotFileWriter::AddCorrection(uint64_t record, uint32_t count) {
  if (!correcting_ && !raw_.empty()) WEIR_TRY(Flush(kRows));
  correcting_ = true;
  PutNumber(raw_, record);
  PutNumber(raw_, count);
  return raw_.size() >= kBlockBytes ? Flush(kCorrections) : Status{};
}

Status SnapshotFileWriter::End() {
  if (!raw_.empty()) WEIR_TRY(Flush(correcting_ ? kCorrections : kRows));
  return Flush(kEnd);
}

Status SnapshotFileWriter::Flush(BlockType type) {
  packed_.resize(kBlockHeader + static_cast<size_t>(LZ4_compressBound(static_cast<int>(raw_.size()))));
  auto stored =
      static_cast<size_t>(LZ4_compress_fast(raw_.data(), packed_.data() + kBlockHeader, static_cast<int>(raw_.size()),
                                            static_cast<int>(packed_.size() - kBlockHeader), kAcceleration));
  if (stored == 0 || stored >= raw_.size()) {
    stored = raw_.size();
    std::memcpy(packed_.data() + kBlockHeader, raw_.data(), stored);
  }
  const uint64_t checksum = XXH3_64bits(packed_.data() + kBlockHeader, stored);
  const uint32_t words[4] = {type, static_cast<uint32_t>(raw_.size()), static_cast<uint32_t>(stored), 0};
  std::memcpy(packed_.data(), words, sizeof words);
  std::memcpy(packed_.data() + sizeof words, &checksum, sizeof checksum);
  raw_.clear();
  return file_.Append(std::string_view(packed_).substr(0, kBlockHeader + stored));
}

Error SnapshotFileReader::Damaged(std::string_view what) const {
  return StateError("the state file is damaged (" + std::string(what) + "): restore an earlier checkpoint", path_);
}

Result<SnapshotHeader> SnapshotFileReader::ReadHeader() {
  constexpr size_t kFixed = kMagic.size() + 4 * sizeof(uint32_t);
  if (content_.size() < kFixed || content_.substr(0, kMagic.size()) != kMagic) return Damaged("no state header");
  const auto version = NumberAt<uint32_t>(content_, kMagic.size());
  if (version != kVersion) {
    return StateError("the state file has format version " + std::to_string(version) + ", this weir reads version " +
                          std::to_string(kVersion),
                      path_);
  }
  SnapshotHeader header;
  header.task = static_cast<int>(NumberAt<uint32_t>(content_, kMagic.size() + 4));
  header.parallelism = static_cast<int>(NumberAt<uint32_t>(content_, kMagic.size() + 8));
  const size_t size = NumberAt<uint32_t>(content_, kMagic.size() + 12);
  if (size > content_.size() - kFixed) return Damaged("header");
  header.kind = content_.substr(kFixed, size);
  at_ = kFixed + size;
  return header;
}

Status SnapshotFileReader::NextBlock(uint32_t& type, bool unpack) {
  if (content_.size() - at_ < kBlockHeader) return Damaged("cut off");
  type = NumberAt<uint32_t>(content_, at_);
  const size_t raw = NumberAt<uint32_t>(content_, at_ + 4);
  const size_t stored = NumberAt<uint32_t>(content_, at_ + 8);
  const auto checksum = NumberAt<uint64_t>(content_, at_ + 16);
  at_ += kBlockHeader;
  if (stored > content_.size() - at_ || raw > kMaxRaw || stored > raw) return Damaged("block header");
  const std::string_view bytes = content_.substr(at_, stored);
  at_ += stored;
  if (!unpack) return {};
  if (XXH3_64bits(bytes.data(), bytes.size()) != checksum) return Damaged("checksum");
  block_.resize(raw + 2 * kRowSlack);
  block_size_ = raw;
  if (stored == raw) {
    std::memcpy(block_.data(), bytes.data(), raw);
    return {};
  }
  const int got = LZ4_decompress_safe(bytes.data(), block_.data(), static_cast<int>(stored), static_cast<int>(raw));
  return got == static_cast<int>(raw) ? Status{} : Status(Damaged("compressed block"));
}

Status SnapshotFileReader::ReadCorrections() {
  constexpr size_t kEntry = sizeof(uint64_t) + sizeof(uint32_t);
  if (block_size_ % kEntry != 0) return Damaged("corrections");
  for (size_t at = 0; at < block_size_; at += kEntry) {
    corrections_[NumberAt<uint64_t>(block_, at)] = NumberAt<uint32_t>(block_, at + sizeof(uint64_t));
  }
  return {};
}

Status SnapshotFileReader::ReadRows(uint64_t& number, const std::function<Status(const SnapshotRecord&)>& take) const {
  const char* at = block_.data();
  const char* end = at + block_size_;
  while (at < end) {
    SnapshotRecord record;
    record.part = static_cast<uint8_t>(*at++);
    uint64_t size = 0;
    uint64_t count = 0;
    at = GetVarint(at, size);
    if (counted_) at = GetVarint(at, count);
    if (at > end || size > static_cast<uint64_t>(end - at)) return Damaged("row");
    record.count = static_cast<uint32_t>(count);
    if (!corrections_.empty()) {
      const auto found = corrections_.find(number);
      if (found != corrections_.end()) record.count = found->second;
    }
    record.payload = {at, size};
    WEIR_TRY(take(record));
    at += size;
    ++number;
  }
  return {};
}

Status SnapshotFileReader::ForEach(const std::function<Status(const SnapshotRecord&)>& take) {
  // Corrections stand behind the rows they correct, so the block headers are walked first.
  const size_t start = at_;
  uint32_t type = 0;
  while (type != SnapshotFileWriter::kEnd) {
    if (content_.size() - at_ < kBlockHeader) return Damaged("cut off");
    const bool corrections = NumberAt<uint32_t>(content_, at_) == SnapshotFileWriter::kCorrections;
    WEIR_TRY(NextBlock(type, corrections));
    if (corrections) WEIR_TRY(ReadCorrections());
  }
  at_ = start;
  uint64_t number = 0;
  for (type = 0; type != SnapshotFileWriter::kEnd;) {
    WEIR_TRY(NextBlock(type, true));
    if (type == SnapshotFileWriter::kRows) WEIR_TRY(ReadRows(number, take));
  }
  return {};
}

}  // namespace weir
