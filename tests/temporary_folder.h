// A folder that goes with the test.  Its name is never used twice, so tests run side by side.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/base/check.h"

namespace weir::testing {

class TemporaryFolder {
 public:
  enum class Place { kDisk, kMemory };

  // kMemory: in memory where there is such a folder, for tests that make thousands of checkpoints and test no sync.
  explicit TemporaryFolder(Place place = Place::kDisk) {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = place == Place::kMemory && std::filesystem::exists(memory);
    std::string name = ((in_memory ? memory : std::filesystem::temp_directory_path()) / "weir-test-XXXXXX").string();
    WEIR_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace weir::testing
