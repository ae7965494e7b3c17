#include "connectors/file/record_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weir {
namespace {

constexpr size_t kBlock = size_t{1} << 20;
constexpr size_t kPadding = 64;
// A record that does not fit is not one: most likely a quote is never closed.
constexpr size_t kLargestRecord = size_t{256} << 20;

}  // namespace

Result<std::unique_ptr<RecordReader>> RecordReader::Open(const std::string& path, bool csv_quoting, int64_t byte,
                                                         int64_t line) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ConnectorError(std::string("cannot open the file: ") + std::strerror(errno), path);
  std::unique_ptr<RecordReader> reader(new RecordReader(path, fd, csv_quoting, byte, line));
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (byte > 0 && size >= 0 && size < byte) {
    return StateError("the file is shorter (" + std::to_string(size) +
                          " bytes) than what the checkpoint says was read (" + std::to_string(byte) + ")",
                      path);
  }
  if (size >= 0) ::lseek(fd, byte, SEEK_SET);
  return reader;
}

RecordReader::RecordReader(std::string path, int fd, bool csv_quoting, int64_t byte, int64_t line)
    : path_(std::move(path)), fd_(fd), csv_quoting_(csv_quoting), byte_(byte), line_(line) {}

RecordReader::~RecordReader() { ::close(fd_); }

Status RecordReader::Next(size_t limit, std::vector<FileRecord>& records) {
  records.clear();
  while (true) {
    TakeRecords(limit, records);
    if (!records.empty() || (at_end_ && begin_ == end_)) return {};
    WEIR_TRY(ReadBlock());
  }
}

const char* RecordReader::FindEnd(const char* from, const char* end, int64_t& lines) const {
  lines = 0;
  bool quoted = false;
  for (const char* at = from; at < end;) {
    const char* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    const char* stop = newline != nullptr ? newline : end;
    if (csv_quoting_) {
      for (const char* quote = at; quote < stop; ++quote) {
        quote = static_cast<const char*>(std::memchr(quote, '"', static_cast<size_t>(stop - quote)));
        if (quote == nullptr) break;
        quoted = !quoted;
      }
    }
    if (newline == nullptr) break;
    ++lines;
    if (!quoted) return newline + 1;
    at = newline + 1;
  }
  if (!at_end_) return nullptr;
  ++lines;  // the last line has no newline
  return end;
}

void RecordReader::TakeRecords(size_t limit, std::vector<FileRecord>& records) {
  while (records.size() < limit && begin_ < end_) {
    const char* from = block_.get() + begin_;
    int64_t lines = 0;
    const char* next = FindEnd(from, block_.get() + end_, lines);
    if (next == nullptr) return;
    size_t size = static_cast<size_t>(next - from);
    begin_ += size;
    byte_ += static_cast<int64_t>(size);
    if (from[size - 1] == '\n') --size;
    if (size > 0 && from[size - 1] == '\r') --size;
    if (size > 0) records.push_back({{from, size}, line_ + 1});
    line_ += lines;
  }
}

Status RecordReader::ReadBlock() {
  const size_t left = end_ - begin_;
  if (left > kLargestRecord)
    return DataError("a record is longer than 256 MiB", path_ + ":" + std::to_string(line_ + 1));
  // A record that fills the block needs a larger one.
  const size_t wanted = std::max(capacity_, left >= capacity_ / 2 ? std::max(kBlock, 2 * capacity_) : kBlock);
  if (wanted > capacity_) {
    auto larger = std::make_unique<char[]>(wanted + kPadding);
    if (left > 0) std::memcpy(larger.get(), block_.get() + begin_, left);
    block_ = std::move(larger);
    capacity_ = wanted;
  } else if (left > 0) {
    std::memmove(block_.get(), block_.get() + begin_, left);
  }
  begin_ = 0;
  end_ = left;
  while (end_ < capacity_) {
    const ssize_t got = ::read(fd_, block_.get() + end_, capacity_ - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ConnectorError(std::string("cannot read the file: ") + std::strerror(errno), path_);
    if (got == 0) at_end_ = true;
    if (got == 0) break;
    end_ += static_cast<size_t>(got);
  }
  std::memset(block_.get() + end_, 0, kPadding);
  return {};
}

}  // namespace weir
