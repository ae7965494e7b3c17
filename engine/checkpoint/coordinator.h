// Takes checkpoints: asks the sources for barriers, collects what the tasks snapshot, writes state files and the
// manifest on the I/O pool, then lets the sinks publish.
//
// The order of an epoch: operators snapshot -> state files and sink parts durable, sends acknowledged -> manifest durable
// (the checkpoint is prepared) -> OnCommit of operators and sources -> complete.json -> old checkpoints go.
// One checkpoint is in flight at a time; a trigger meanwhile is remembered and follows at once.  Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/snapshot.h"
#include "engine/checkpoint/state_dir.h"
#include "engine/runtime/scheduler.h"
#include "engine/runtime/store.h"

namespace weir {

class Coordinator {
 public:
  enum class Purpose {
    kPeriodic,
    kStop,      // the last one of this process: sources read no more after its barrier
    kFinished,  // the last one of the job: all tasks have ended
  };
  struct Hooks {
    std::function<void(Epoch, Purpose)> request_barriers;
    std::function<void(Purpose)> completed;
    std::function<void(Error)> fail;
  };

  // `dir` is null for a job without a state dir: sinks are told to publish, nothing is written.
  Coordinator(StateDir* dir, Scheduler& io, const Clock& clock, int retain, Hooks hooks);

  void SetTasks(size_t tasks) { tasks_ = tasks; }
  void SetStore(Store* store) { store_ = store; }
  // Counters of the restored checkpoint: added to those of the running tasks.
  void SetBaseCounters(std::map<std::string, int64_t> counters) { base_counters_ = std::move(counters); }

  // Checkpoint 0: positions before the first row.  Synchronous.
  Status WriteInitial(const std::vector<TaskSnapshot>& tasks);
  void Trigger(Purpose purpose);
  void Acknowledge(Epoch epoch, TaskSnapshot snapshot);
  // Triggers and waits for the completion of a checkpoint that began after the call.
  Result<CheckpointFigures> TakeNow();
  // Nothing is published any more; waiters return.
  void Abort();

  std::vector<CheckpointFigures> Figures() const;
  bool in_flight() const;

 private:
  struct InFlight {
    Purpose purpose;
    Manifest manifest;
    CheckpointFigures figures;
    Micros triggered = 0;  // monotonic
    size_t acknowledged = 0;
    size_t writing = 0;
    std::vector<OperatorSnapshot> operators;
    std::vector<std::pair<Source*, Positions>> sources;
  };

  void Begin(Purpose purpose);  // with the lock held
  void AddTask(const TaskSnapshot& snapshot, InFlight& flight) const;
  void Write(std::shared_ptr<InFlight> flight, OperatorSnapshot snapshot, Micros from);
  void FinishWork(const std::shared_ptr<InFlight>& flight, const std::function<Status()>& work, Micros from);
  Result<OperatorStateRef> WriteState(Epoch epoch, const OperatorSnapshot& snapshot) const;
  void FinishIfReady(const std::shared_ptr<InFlight>& flight);  // with the lock held
  void Finish(const std::shared_ptr<InFlight>& flight);
  Status Publish(InFlight& flight);
  std::string Folder(Epoch epoch) const;
  static std::map<std::string, int64_t> Sum(const std::map<std::string, int64_t>& a,
                                            const std::map<std::string, int64_t>& b);

  StateDir* const dir_;
  Scheduler& io_;
  const Clock& clock_;
  const int retain_;
  const Hooks hooks_;
  size_t tasks_ = 0;
  Store* store_ = nullptr;
  std::map<std::string, int64_t> base_counters_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<InFlight> flight_;
  std::optional<Purpose> queued_;
  Epoch last_epoch_ = 0;       // without a state dir
  uint64_t begun_ = 0;
  uint64_t ended_ = 0;
  bool aborted_ = false;
  bool closed_ = false;  // the last checkpoint is complete: none follows
  std::vector<CheckpointFigures> figures_;
};

}  // namespace weir
