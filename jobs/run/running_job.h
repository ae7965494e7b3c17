// A job of a job file while it runs: wired, started, and created again after a crash that a replay or a test asks for.
#pragma once

#include <memory>
#include <mutex>

#include "engine/runtime/job.h"
#include "jobs/wire/wire.h"

namespace weir {

// What the job file says of running, as the runtime takes it.
JobOptions MakeJobOptions(const JobFile& file, std::string state_dir);

// Owned by one thread; Stop and Figures may be called from another.
class RunningJob {
 public:
  // `job` outlives this.  Nothing is opened yet.
  RunningJob(const PlannedJob& job, WireOptions wire, JobOptions options);
  ~RunningJob();

  // Wires, locks the state dir, restores if there is something to restore, starts the tasks.
  Status Start();
  Result<JobEnd> Wait();
  Status WaitUntilIdle();
  Status Checkpoint();
  // Ends the job where it stands, without a checkpoint.
  void Crash();
  // Crash, then a start from the state dir with the same feeds.
  Status CrashAndRestore();

  // Takes a last checkpoint and ends; false when the job is not running.
  bool Stop();
  // Counters since the job's first start, and the checkpoints of all its lives in this process.
  JobFigures Figures() const;

 private:
  const PlannedJob& job_;
  const WireOptions wire_;
  const JobOptions options_;
  mutable std::mutex mutex_;  // guards running_ as a pointer, and past_
  std::unique_ptr<Job> running_;
  JobFigures past_;  // of the lives before
};

}  // namespace weir
