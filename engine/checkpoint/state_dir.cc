#include "engine/checkpoint/state_dir.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <random>

#include "engine/base/file.h"
#include "engine/checkpoint/manifest_file.h"

namespace weir {
namespace {

constexpr Epoch kEpochBlock = 1000;

// A random (version 4) UUID.
std::string MakeUuid() {
  std::random_device random;
  unsigned char bytes[16];
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<StateDir>> StateDir::Open(const std::string& path) {
  WEIR_TRY(MakeFolder(path));
  ::chmod(path.c_str(), 0700);
  const std::string lock_path = path + "/lock";
  const int fd = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return StateError(fmt::format("cannot open the lock: {}", std::strerror(errno)), lock_path);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return StateError("another process runs this job on this state dir; stop it, or use another --state-dir", path);
  }
  std::unique_ptr<StateDir> dir(new StateDir(path, fd));
  WEIR_TRY(MakeFolder(path + "/checkpoints"));
  if (std::filesystem::exists(path + "/uuid")) {
    WEIR_ASSIGN(dir->uuid_, ReadFile(path + "/uuid"));
    while (!dir->uuid_.empty() && dir->uuid_.back() == '\n') dir->uuid_.pop_back();
  } else {
    dir->uuid_ = MakeUuid();
    WEIR_TRY(WriteFileDurably(path + "/uuid", dir->uuid_ + "\n"));
  }
  if (std::filesystem::exists(path + "/epochs")) {
    WEIR_ASSIGN(const std::string text, ReadFile(path + "/epochs"));
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), dir->reserved_);
    if (fault != std::errc()) return StateError("the file is damaged: a number is expected", path + "/epochs");
    dir->next_ = dir->reserved_ + 1;
  }
  return dir;
}

StateDir::~StateDir() { ::close(lock_); }

Result<Epoch> StateDir::NextEpoch() {
  if (next_ > reserved_) {
    const Epoch reserved = reserved_ + kEpochBlock;
    WEIR_TRY(WriteFileDurably(path_ + "/epochs", fmt::format("{}\n", reserved)));
    reserved_ = reserved;
  }
  return next_++;
}

// Reads every state file once more than a restore needs: a damaged one must be found while the checkpoint before it can
// still be taken.  XXH3 costs about 0.1 ms a MiB.
Status StateDir::CheckStates(const Manifest& manifest) const {
  for (const OperatorStateRef& state : manifest.states) {
    if (state.file.empty()) continue;
    const std::string path = CheckpointFolder(path_, manifest.epoch) + "/" + state.file;
    WEIR_ASSIGN(const std::string content, ReadFile(path));
    if (static_cast<int64_t>(content.size()) != state.bytes) {
      return StateError("the state file of the checkpoint is cut off", path);
    }
    if (XXH3_64bits(content.data(), content.size()) != state.checksum) {
      return StateError("the state file of the checkpoint is damaged (its checksum is wrong)", path);
    }
  }
  return {};
}

Result<std::optional<Manifest>> StateDir::Newest(bool force) {
  const std::vector<Epoch> epochs = ListCheckpoints(path_);
  std::optional<Error> first_error;
  for (auto epoch = epochs.rbegin(); epoch != epochs.rend(); ++epoch) {
    auto manifest = ReadManifest(CheckpointFolder(path_, *epoch) + "/manifest.json");
    if (manifest) {
      if (const Status whole = CheckStates(*manifest); !whole) manifest = whole.error();
    }
    if (manifest) return std::optional(std::move(*manifest));
    if (!first_error) first_error = manifest.error();
    if (!force) break;
  }
  if (!first_error) return std::optional<Manifest>();
  return StateError(first_error->message + "; its results may already be published. --force restores the checkpoint "
                    "before it, if there is one, and accepts duplicates", first_error->where);
}

Status StateDir::DropUnfinished(std::optional<Epoch> restored) {
  std::error_code error;
  std::vector<std::string> doomed;
  for (const auto& entry : std::filesystem::directory_iterator(path_ + "/checkpoints", error)) {
    const std::string name = entry.path().filename();
    Epoch epoch = 0;
    if (name.starts_with("chk-")) std::from_chars(name.data() + 4, name.data() + name.size(), epoch);
    const bool whole = std::filesystem::exists(entry.path() / "manifest.json");
    if (!whole || (restored && epoch > *restored)) doomed.push_back(entry.path());
  }
  for (const std::string& folder : doomed) WEIR_TRY(RemoveTree(folder));
  return {};
}

Result<Epoch> StateDir::DropOld(Epoch complete, int retain) {
  std::vector<Epoch> epochs;
  for (const Epoch epoch : ListCheckpoints(path_)) {
    if (epoch <= complete) epochs.push_back(epoch);
  }
  for (size_t i = 0; i + static_cast<size_t>(retain) < epochs.size(); ++i) {
    const std::string folder = CheckpointFolder(path_, epochs[i]);
    std::error_code error;
    std::filesystem::remove(folder + "/manifest.json", error);
    WEIR_TRY(RemoveTree(folder));
  }
  if (epochs.empty()) return complete;
  return epochs[epochs.size() - std::min(epochs.size(), static_cast<size_t>(retain))];
}

}  // namespace weir
