#include "connectors/file/parts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace weir {
namespace {

Error PathError(const std::string& what, const std::string& path, int error) {
  return ConnectorError(what + ": " + std::strerror(error), path);
}

// Takes exactly `digits` digits from the front of `text`.
bool TakeNumber(std::string_view& text, size_t digits, uint64_t& value) {
  if (text.size() < digits) return false;
  const char* const end = text.data() + digits;
  const auto [at, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || at != end) return false;
  text.remove_prefix(digits);
  return true;
}

}  // namespace

std::string FormatPartName(const PartName& name, std::string_view extension) {
  return fmt::format("{}part-{:012}-{:04}.{}", name.finished ? "" : ".", name.number, name.task, extension);
}

std::optional<PartName> ParsePartName(std::string_view file) {
  PartName name;
  name.finished = !file.starts_with('.');
  if (!name.finished) file.remove_prefix(1);
  if (!file.starts_with("part-")) return std::nullopt;
  file.remove_prefix(5);
  uint64_t task = 0;
  if (!TakeNumber(file, 12, name.number) || !file.starts_with('-')) return std::nullopt;
  file.remove_prefix(1);
  if (!TakeNumber(file, 4, task) || (file != ".jsonl" && file != ".csv")) return std::nullopt;
  name.task = static_cast<int>(task);
  return name;
}

std::string FormatCommitData(const std::string& hidden, const std::string& finished) { return hidden + " " + finished; }

Status PublishPart(const std::string& folder, const std::string& commit_data) {
  const size_t blank = commit_data.find(' ');
  if (blank == std::string::npos) return {};  // the epoch had no rows in this task
  const std::string hidden = folder + "/" + commit_data.substr(0, blank);
  const std::string finished = folder + "/" + commit_data.substr(blank + 1);
  if (std::rename(hidden.c_str(), finished.c_str()) != 0) {
    const int error = errno;
    std::error_code ignored;
    if (error != ENOENT || !std::filesystem::exists(finished, ignored)) {
      return PathError("cannot rename the part to " + finished, hidden, error);
    }
  }
  return SyncPartFolder(folder);
}

Status RemoveLeftovers(const std::string& folder, Epoch epoch) {
  WEIR_ASSIGN(const std::vector<std::string> files, ListFolder(folder));
  bool removed = false;
  for (const std::string& file : files) {
    const auto name = ParsePartName(file);
    if (!name || (name->finished && name->number <= epoch)) continue;
    const std::string path = folder + "/" + file;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return PathError("cannot delete the part", path, errno);
    removed = true;
  }
  return removed ? SyncPartFolder(folder) : Status();
}

Result<std::vector<std::string>> ListFolder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator at(folder, error);
  if (error == std::errc::no_such_file_or_directory) return names;
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  if (error) return ConnectorError("cannot read the folder: " + error.message(), folder);
  return names;
}

Status SyncPartFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return PathError("cannot open the folder", folder, errno);
  const int failed = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  return failed == 0 ? Status() : Status(PathError("cannot sync the folder", folder, failed));
}

}  // namespace weir
