// The state dir of a job: lock, uuid, epoch numbers, checkpoints.  One process at a time holds it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/checkpoint/manifest.h"

namespace weir {

class StateDir {
 public:
  // Makes the folder (0700) if needed and locks it; an error when another process holds the lock.
  static Result<std::unique_ptr<StateDir>> Open(const std::string& path);
  ~StateDir();

  const std::string& path() const { return path_; }
  const std::string& uuid() const { return uuid_; }

  // The next epoch number: never given twice, also after a crash.  Reserves a durable block when needed.
  Result<Epoch> NextEpoch();

  // The newest checkpoint; empty for a new state dir.  A damaged newest one is an error that names it, unless `force`:
  // then the one before it is taken, and its rows may be published twice.
  Result<std::optional<Manifest>> Newest(bool force);

  // Removes what no retained checkpoint needs: folders above `restored` or without a manifest.
  Status DropUnfinished(std::optional<Epoch> restored);
  // Keeps the newest `retain` complete checkpoints up to `complete`; manifests go first.  Returns the oldest kept.
  Result<Epoch> DropOld(Epoch complete, int retain);

 private:
  Status CheckStates(const Manifest& manifest) const;
  StateDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  const std::string path_;
  const int lock_;
  std::string uuid_;
  Epoch next_ = 1;
  Epoch reserved_ = 0;
};

}  // namespace weir
