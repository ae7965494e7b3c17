// Reads a file's records in large blocks, from any byte on.
//
// A record is a line, or with CSV quoting as many lines as its quoted fields need.  A carriage return before the
// newline is not part of the record, blank lines are no records, and the last record needs no newline.  One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace weir {

struct FileRecord {
  std::string_view text;  // 64 bytes behind its end are readable
  int64_t line = 0;       // of its first byte, from 1
};

class RecordReader {
 public:
  // Reading goes on at `byte`, before which the file has `line` lines.
  static Result<std::unique_ptr<RecordReader>> Open(const std::string& path, bool csv_quoting, int64_t byte,
                                                    int64_t line);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // At most `limit` records, none at the end of the file.  The views are valid until the next call.
  Status Next(size_t limit, std::vector<FileRecord>& records);

  // Behind the last record returned.
  int64_t byte() const { return byte_; }
  int64_t line() const { return line_; }

 private:
  RecordReader(std::string path, int fd, bool csv_quoting, int64_t byte, int64_t line);
  // Takes what the block holds.
  void TakeRecords(size_t limit, std::vector<FileRecord>& records);
  // The end (behind its newline) of the record that starts at `from`, or nullptr when the block ends before it does.
  const char* FindEnd(const char* from, const char* end, int64_t& lines) const;
  Status ReadBlock();

  const std::string path_;
  const int fd_;
  const bool csv_quoting_;
  int64_t byte_;
  int64_t line_;
  std::unique_ptr<char[]> block_;
  size_t capacity_ = 0;
  size_t begin_ = 0;  // of what is not taken yet
  size_t end_ = 0;
  bool at_end_ = false;
};

}  // namespace weir
