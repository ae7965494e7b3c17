// The log of one bucket: the changes of its rows in order, in segment files of blocks with checksums.
// Format: docs/formats/log.md.
//
// Entries are buffered into blocks; Flush ends a block, so every position is between two blocks.  Replayed in order
// from a fold, a log is idempotent.  One thread writes; a sync may run on another, for what was flushed before it was
// asked for.
// Errors: kState, with the file's name.  After a failed write or sync the log takes no more: the job fails over.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/checkpoint/log_position.h"
#include "tables/log/log_entry.h"

namespace weir {

struct LogOptions {
  size_t block_bytes = 64 << 10;      // of entries, before compression
  uint64_t segment_bytes = 64 << 20;  // a new file from here
  uint32_t bucket = 0;                // written into the segments, and checked when they are opened again
};

class BucketLog {
 public:
  // Opens the log for writing behind `end`: what lies behind it (of a run that was lost) is cut without being read, in
  // this segment and later ones.  Makes the folder where needed.  An error when the log ends before `end`.
  static Result<std::unique_ptr<BucketLog>> Open(const std::string& folder, const LogPosition& end,
                                                 const LogOptions& options);
  virtual ~BucketLog() = default;

  // No allocation a row; writes a block when the buffer is full (page cache only; the kernel is asked to write it
  // back).
  virtual Status Append(const LogEntry& entry) = 0;
  virtual Status Flush() = 0;
  // What comes next begins a new segment.
  virtual Status EndSegment() = 0;
  // Behind the last flushed block.
  virtual LogPosition end() const = 0;
  // Makes durable what has been flushed so far; to be called later, on any thread, once.  fdatasync of every segment
  // written since the last one, and of the folder when a segment was made.
  virtual std::function<Status()> SyncLater() = 0;
  // Deletes the segments that lie wholly before `position`.
  virtual Status DropBefore(const LogPosition& position) = 0;
  // The number of the first segment that is there; that of `end` when there is none.
  virtual uint64_t first_segment() const = 0;
  virtual int64_t bytes() const = 0;  // of all segment files; any thread
};

// What a segment begins with.
struct SegmentStart {
  uint64_t offset = 0;  // of its first entry
  std::string group;    // of its first entry
};
// Errors: as ReadLog.  REQUIRES: a block has been written to the segment.
Result<SegmentStart> ReadSegmentStart(const std::string& folder, uint64_t number);

// Calls take(entry) for the entries in [from, to); views are valid during the call.  A bad checksum, a missing segment
// or a cut one is an error that names file and byte.
Status ReadLog(const std::string& folder, const LogPosition& from, const LogPosition& to,
               const std::function<Status(const LogEntry&)>& take);
// The same, block by block, for who can do more with many entries at once.
Status ReadLogBlocks(const std::string& folder, const LogPosition& from, const LogPosition& to,
                     const std::function<Status(std::span<const LogEntry>)>& take);

}  // namespace weir
