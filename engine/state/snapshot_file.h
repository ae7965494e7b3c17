// The file that one task's operator writes of its keyed state at a checkpoint.
//
//   header   "WEIRSTAT", u32 version, u32 task, u32 parallelism, u32 length and name of the operator's kind
//   blocks   u32 type, u32 raw bytes, u32 stored bytes, u32 zero, u64 XXH3 of the stored bytes, then the stored bytes
//            (LZ4 of the raw ones; as they are when that is not shorter)
//     rows         per record: u8 part, varint size, [varint count, if the owner counts], payload
//     corrections  u64 number of the record in the file, u32 its count at the barrier: in place of the one written
//     end          empty; a file without it is cut off
//
// Numbers are little-endian.  A damaged file is an error (kState) that names it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/base/result.h"
#include "engine/runtime/operator.h"

namespace weir {

struct SnapshotHeader {
  std::string kind;  // of the operator
  int task = 0;
  int parallelism = 1;
};

// One record of the file; views into the block being read, followed by at least kRowSlack readable bytes.
struct SnapshotRecord {
  uint8_t part = 0;
  uint32_t count = 0;
  std::string_view payload;
};

class SnapshotFileWriter {
 public:
  SnapshotFileWriter(SnapshotWriter::File& file, bool counted) : file_(file), counted_(counted) {}
  Status Begin(const SnapshotHeader& header);
  Status Add(uint8_t part, uint32_t count, std::string_view payload);
  Status AddCorrection(uint64_t record, uint32_t count);
  Status End();

 private:
  enum BlockType : uint32_t { kRows = 1, kCorrections = 2, kEnd = 3 };
  friend class SnapshotFileReader;

  Status Flush(BlockType type);

  SnapshotWriter::File& file_;
  bool counted_;
  bool correcting_ = false;
  std::string raw_;
  std::string packed_;
};

class SnapshotFileReader {
 public:
  // `content` must outlive the reader; `path` is for messages.
  SnapshotFileReader(std::string_view content, std::string path, bool counted)
      : content_(content), path_(std::move(path)), counted_(counted) {}
  Result<SnapshotHeader> ReadHeader();
  // Calls take(record) for every record, after ReadHeader.
  Status ForEach(const std::function<Status(const SnapshotRecord&)>& take);

 private:
  Error Damaged(std::string_view what) const;
  Status NextBlock(uint32_t& type, bool unpack);
  Status ReadCorrections();
  Status ReadRows(uint64_t& number, const std::function<Status(const SnapshotRecord&)>& take) const;

  std::string_view content_;
  std::string path_;
  bool counted_;
  size_t at_ = 0;
  std::string block_;
  size_t block_size_ = 0;
  std::unordered_map<uint64_t, uint32_t> corrections_;
};

}  // namespace weir
