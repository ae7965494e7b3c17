#include "engine/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace weir {
namespace {

Error SystemError(std::string_view what, const std::string& path) {
  return StateError(fmt::format("cannot {}: {}", what, std::strerror(errno)), path);
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("open the file", path);
  struct stat info {};
  std::string content;
  if (::fstat(fd, &info) == 0 && info.st_size > 0) content.resize(static_cast<size_t>(info.st_size));
  size_t at = 0;
  while (at < content.size()) {
    const ssize_t got = ::read(fd, content.data() + at, content.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const Error error = SystemError("read the file", path);
      ::close(fd);
      return error;
    }
    if (got == 0) break;
    at += static_cast<size_t>(got);
  }
  content.resize(at);
  ::close(fd);
  return content;
}

Status SyncFolder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SystemError("open the folder", path);
  const int failed = ::fsync(fd);
  ::close(fd);
  if (failed != 0) return SystemError("fsync the folder", path);
  return {};
}

Status WriteFileDurably(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".tmp";
  {
    WEIR_ASSIGN(WritableFile file, WritableFile::Create(temporary));
    WEIR_TRY(file.Append(content));
    WEIR_TRY(file.Sync());
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return SystemError("rename the file into place", path);
  return SyncFolder(std::filesystem::path(path).parent_path().string());
}

Status MakeFolder(const std::string& path) {
  std::string partial;
  for (const auto& part : std::filesystem::path(path)) {
    partial = partial.empty() ? part.string() : (std::filesystem::path(partial) / part).string();
    if (partial.empty() || ::mkdir(partial.c_str(), 0700) == 0 || errno == EEXIST) continue;
    return SystemError("make the folder", partial);
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return SystemError("read the folder", path);
  if (!S_ISDIR(info.st_mode)) return StateError("a folder is needed here, but this is a file", path);
  return {};
}

Status RemoveTree(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return StateError(fmt::format("cannot remove: {}", error.message()), path);
  return {};
}

Result<WritableFile> WritableFile::Create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return SystemError("create the file", path);
  return WritableFile(fd, path);
}

WritableFile::WritableFile(WritableFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

WritableFile& WritableFile::operator=(WritableFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  return *this;
}

WritableFile::~WritableFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status WritableFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write the file", path_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status WritableFile::Sync() {
  if (::fsync(fd_) != 0) return SystemError("fsync the file", path_);
  return {};
}

}  // namespace weir
