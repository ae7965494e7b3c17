// The files of a bucket's log: one a segment, named by its number, in the log's folder.
//
// A segment is a header and blocks (log_block.h).  Every error (kState) names the file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace weir {

struct SegmentInfo {
  uint64_t number = 0;
  uint64_t bytes = 0;
};

std::string SegmentPath(const std::string& folder, uint64_t number);
// By number; other files are passed over.  Empty when there is no folder.
Result<std::vector<SegmentInfo>> ListSegments(const std::string& folder);

// One open segment.  Writing belongs to one thread; Sync may run beside it on another.
class SegmentFile {
 public:
  static Result<std::shared_ptr<SegmentFile>> Create(const std::string& path);
  static Result<std::shared_ptr<SegmentFile>> OpenForWriting(const std::string& path);
  static Result<std::shared_ptr<SegmentFile>> OpenForReading(const std::string& path);
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;
  ~SegmentFile();

  const std::string& path() const { return path_; }
  Result<uint64_t> Size() const;
  Status Truncate(uint64_t bytes);
  Status WriteAt(uint64_t byte, std::string_view content);
  // Asks the kernel to begin writing a range back.  Only a hint: what goes wrong shows at Sync.
  void WriteBehind(uint64_t from, uint64_t bytes);
  // Asks the kernel to read all of it.  Only a hint.
  void ReadAhead() const;
  // Makes the first `bytes` durable.  After an error the file must not be synced again: the kernel reports it once.
  Status Sync(uint64_t bytes);
  uint64_t synced_bytes() const { return synced_bytes_.load(std::memory_order_acquire); }
  // True when all of `target` was there to be read.
  Result<bool> ReadAt(uint64_t byte, std::span<char> target) const;

 private:
  SegmentFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  static Result<std::shared_ptr<SegmentFile>> Open(const std::string& path, int flags);

  int fd_;
  std::string path_;
  std::atomic<uint64_t> synced_bytes_{0};
};

}  // namespace weir
