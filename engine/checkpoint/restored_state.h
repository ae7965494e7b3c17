// The parts of one operator in the restored checkpoint.
#pragma once

#include "engine/checkpoint/manifest.h"

namespace weir {

class RestoredState final : public SnapshotReader {
 public:
  RestoredState(const Manifest& manifest, const std::string& state_dir, const std::string& operator_id);
  Epoch epoch() const override { return epoch_; }
  const std::vector<Part>& parts() const override { return parts_; }
  const TablePositions& tables() const override { return tables_; }
  Result<std::string> Read(const Part& part) const override;

 private:
  const Epoch epoch_;
  const TablePositions tables_;
  std::vector<Part> parts_;
  std::vector<uint64_t> checksums_;  // of the parts' files
};

}  // namespace weir
