#include "engine/checkpoint/restored_state.h"

#include <xxhash.h>

#include "engine/base/file.h"
#include "engine/checkpoint/manifest_file.h"

namespace weir {

RestoredState::RestoredState(const Manifest& manifest, const std::string& state_dir, const std::string& operator_id)
    : epoch_(manifest.epoch), tables_(manifest.tables) {
  for (const OperatorStateRef& state : manifest.states) {
    if (state.operator_id != operator_id) continue;
    const std::string path = state.file.empty() ? "" : CheckpointFolder(state_dir, manifest.epoch) + "/" + state.file;
    parts_.push_back({state.task, state.parallelism, path, state.commit_data});
    checksums_.push_back(state.checksum);
  }
}

Result<std::string> RestoredState::Read(const Part& part) const {
  if (part.path.empty()) return std::string();
  WEIR_ASSIGN(std::string content, ReadFile(part.path));
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].path == part.path && XXH3_64bits(content.data(), content.size()) != checksums_[i]) {
      return StateError("the state file is damaged (its checksum is wrong)", part.path);
    }
  }
  return content;
}

}  // namespace weir
