// Files that survive a crash: every error names the path, durable means fsynced together with its folder.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace weir {

Result<std::string> ReadFile(const std::string& path);
// Writes under a temporary name, fsyncs, renames, fsyncs the folder: the file is there whole or not at all.
Status WriteFileDurably(const std::string& path, std::string_view content);
Status SyncFolder(const std::string& path);
// The folder and its parents, mode 0700 for what is made.
Status MakeFolder(const std::string& path);
Status RemoveTree(const std::string& path);

// A file that is being written; closed (without fsync) by the destructor.
class WritableFile {
 public:
  static Result<WritableFile> Create(const std::string& path);
  WritableFile(WritableFile&& other) noexcept;
  WritableFile& operator=(WritableFile&& other) noexcept;
  ~WritableFile();

  Status Append(std::string_view bytes);
  Status Sync();
  const std::string& path() const { return path_; }

 private:
  WritableFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_ = -1;
  std::string path_;
};

}  // namespace weir
