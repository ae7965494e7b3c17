#include "tables/log/segment_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace weir {
namespace {

constexpr std::string_view kSuffix = ".seg";

Error SystemError(std::string_view what, const std::string& path) {
  return StateError(fmt::format("cannot {}: {}", what, std::strerror(errno)), path);
}

}  // namespace

std::string SegmentPath(const std::string& folder, uint64_t number) {
  return fmt::format("{}/{:012}{}", folder, number, kSuffix);
}

Result<std::vector<SegmentInfo>> ListSegments(const std::string& folder) {
  std::vector<SegmentInfo> segments;
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr && errno == ENOENT) return segments;
  if (entries == nullptr) return SystemError("read the folder", folder);
  while (const dirent* entry = ::readdir(entries)) {
    std::string_view name = entry->d_name;
    if (!name.ends_with(kSuffix)) continue;
    name.remove_suffix(kSuffix.size());
    SegmentInfo segment;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), segment.number);
    if (fault != std::errc() || end != name.data() + name.size()) continue;
    struct stat info {};
    if (::stat(SegmentPath(folder, segment.number).c_str(), &info) != 0) continue;
    segment.bytes = static_cast<uint64_t>(info.st_size);
    segments.push_back(segment);
  }
  ::closedir(entries);
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return segments;
}

Result<std::shared_ptr<SegmentFile>> SegmentFile::Open(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) return SystemError("open the log segment", path);
  return std::shared_ptr<SegmentFile>(new SegmentFile(fd, path));
}

Result<std::shared_ptr<SegmentFile>> SegmentFile::Create(const std::string& path) {
  return Open(path, O_WRONLY | O_CREAT | O_EXCL);
}
Result<std::shared_ptr<SegmentFile>> SegmentFile::OpenForWriting(const std::string& path) { return Open(path, O_RDWR); }
Result<std::shared_ptr<SegmentFile>> SegmentFile::OpenForReading(const std::string& path) {
  return Open(path, O_RDONLY);
}

SegmentFile::~SegmentFile() { ::close(fd_); }

Result<uint64_t> SegmentFile::Size() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return SystemError("read the size of the log segment", path_);
  return static_cast<uint64_t>(info.st_size);
}

Status SegmentFile::Truncate(uint64_t bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) return SystemError("cut the log segment", path_);
  return {};
}

Status SegmentFile::WriteAt(uint64_t byte, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::pwrite(fd_, content.data(), content.size(), static_cast<off_t>(byte));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write the log segment", path_);
    content.remove_prefix(static_cast<size_t>(written));
    byte += static_cast<uint64_t>(written);
  }
  return {};
}

void SegmentFile::WriteBehind(uint64_t from, uint64_t bytes) {
  (void)::sync_file_range(fd_, static_cast<off_t>(from), static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

void SegmentFile::ReadAhead() const { (void)::posix_fadvise(fd_, 0, 0, POSIX_FADV_WILLNEED); }

Status SegmentFile::Sync(uint64_t bytes) {
  if (::fdatasync(fd_) != 0) return SystemError("fdatasync the log segment", path_);
  uint64_t before = synced_bytes();
  while (before < bytes && !synced_bytes_.compare_exchange_weak(before, bytes, std::memory_order_acq_rel)) {
  }
  return {};
}

Result<bool> SegmentFile::ReadAt(uint64_t byte, std::span<char> target) const {
  while (!target.empty()) {
    const ssize_t got = ::pread(fd_, target.data(), target.size(), static_cast<off_t>(byte));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read the log segment", path_);
    if (got == 0) return false;
    target = target.subspan(static_cast<size_t>(got));
    byte += static_cast<uint64_t>(got);
  }
  return true;
}

}  // namespace weir
