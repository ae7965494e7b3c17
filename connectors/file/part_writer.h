// Writes one part of a file sink, buffered.
//
// One thread at a time: first the sink's task, then, after Snapshot handed it over, a thread of the I/O pool.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace weir {

class PartWriter {
 public:
  // A file of that name is overwritten: it is a leftover of a run that did not get to its first checkpoint.
  static Result<std::unique_ptr<PartWriter>> Create(const std::string& path);
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  // For appending; followed by WriteIfFull.
  std::string& buffer() { return buffer_; }
  Status WriteIfFull() { return buffer_.size() < kBuffer ? Status() : Write(); }
  // Everything is on disk afterwards; the file is closed.
  Status Finish();

 private:
  static constexpr size_t kBuffer = size_t{1} << 18;

  PartWriter(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  Status Write();

  const std::string path_;
  int fd_;
  std::string buffer_;
};

}  // namespace weir
