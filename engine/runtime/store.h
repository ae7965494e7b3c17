// What a job has beside its tasks and what takes part in its checkpoints: the table store, behind an interface that the
// engine knows.
//
// Life: Open (before any operator restores), OnComplete after each checkpoint, Close.  Methods are thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/checkpoint/manifest.h"
#include "engine/runtime/scheduler.h"

namespace weir {

// One line of `tables[]` in the summary.
struct TableFigures {
  std::string name;
  int64_t rows = 0;
  int64_t log_bytes = 0;   // of the log's files
  int64_t kv_bytes = 0;    // of the base's files
  int64_t lookups = 0;     // groups of rows asked for by a change
  int64_t cache_hits = 0;  // of these, answered from memory
  int64_t folds = 0;
};

class Store {
 public:
  struct Hooks {
    std::function<void()> checkpoint;   // one is needed soon: memory waits for it
    std::function<void()> room;         // memory is below its bound again: sources may go on
    std::function<void(Error)> fail;    // the job cannot go on
  };
  // State that operators keep in the store at a checkpoint, in bytes.
  struct StateBytes {
    int64_t full = 0;
    int64_t incremental = 0;  // written for this checkpoint
  };

  virtual ~Store() = default;

  // `restored` is null for a new job.  `state_dir` is empty for a job without one: then nothing outlives the process.
  virtual Status Open(const std::string& state_dir, const Manifest* restored, Scheduler& io, Hooks hooks) = 0;
  // All operators have snapshotted, and what they finish later is finished; the manifest follows.
  virtual Result<StateBytes> Prepare(Epoch epoch) = 0;
  // The checkpoint is complete; `oldest` is the oldest complete one that is kept.
  virtual Status OnComplete(const Manifest& manifest, Epoch oldest) = 0;
  // Instead of Open, for a job that has finished: drops what no kept checkpoint needs, where a crash came before it.
  virtual Status Tidy(const std::string& state_dir, Epoch oldest) = 0;
  // Memory is above its bound: sources read nothing until Hooks::room.
  virtual bool full() const = 0;
  virtual std::vector<TableFigures> Figures() const = 0;
  // Ends what runs in the background; no hook is called afterwards.
  virtual void Close() = 0;
};

}  // namespace weir
