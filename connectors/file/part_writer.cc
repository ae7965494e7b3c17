#include "connectors/file/part_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weir {

Result<std::unique_ptr<PartWriter>> PartWriter::Create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return ConnectorError(std::string("cannot create the part: ") + std::strerror(errno), path);
  return std::unique_ptr<PartWriter>(new PartWriter(path, fd));
}

PartWriter::~PartWriter() {
  if (fd_ >= 0) ::close(fd_);
}

Status PartWriter::Write() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t wrote = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return ConnectorError(std::string("cannot write: ") + std::strerror(errno), path_);
    done += static_cast<size_t>(wrote);
  }
  buffer_.clear();
  return {};
}

Status PartWriter::Finish() {
  WEIR_TRY(Write());
  // A failed fsync is never repeated: the kernel may have dropped the pages.
  const int synced = ::fsync(fd_) == 0 ? 0 : errno;
  const int closed = ::close(fd_) == 0 ? 0 : errno;
  fd_ = -1;
  if (synced != 0) return ConnectorError(std::string("cannot sync: ") + std::strerror(synced), path_);
  if (closed != 0) return ConnectorError(std::string("cannot close: ") + std::strerror(closed), path_);
  return {};
}

}  // namespace weir
