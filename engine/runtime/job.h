// A running job: tasks on a pool of threads, the checkpoint coordinator, restore and restart.
//
// Thread-safe unless said otherwise.  Life: Create, Start, then Wait; Stop from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/checkpoint/manifest.h"
#include "engine/runtime/graph.h"

namespace weir {

struct JobOptions {
  std::string name;
  std::string state_dir;  // empty: no checkpoints on disk (an embedded job without recovery)
  int threads = 0;        // of the pool; 0 = as many as the largest parallelism, at most the cores
  std::optional<Micros> checkpoint_interval;
  int64_t checkpoint_rows = 0;  // a checkpoint every N source rows; 0 = off
  int retain = 2;
  size_t channel_rows = 4 * kBatchRows;
  size_t channel_bytes = 8 << 20;
  bool check_operators = false;  // wrap every operator in the checkers (tests)
  bool force = false;            // restore the checkpoint before a damaged newest one; its rows may come twice
  const Clock* clock = nullptr;  // null: the system's
};

enum class JobEnd { kFinished, kStopped, kAlreadyFinished };

struct OperatorFigures {
  std::string id;
  std::string kind;
  std::string name;
  int64_t records_in = 0;
  int64_t records_out = 0;
  int64_t state_bytes = 0;
  std::vector<StateSize> state;
};

struct SourceFigures {
  std::string name;
  int64_t records_in = 0;
  int64_t bad_records = 0;
  int64_t tombstones = 0;
  int64_t input_bytes = 0;
  int64_t lag = 0;
};

// Totals over restarts within the process and, for counters, since the job's first start (they are in the manifest).
struct JobFigures {
  int64_t records_in = 0;
  int64_t records_out = 0;  // rows taken by sinks
  int64_t bad_records = 0;
  int64_t late_rows = 0;
  int64_t tombstones = 0;
  int64_t null_event_time = 0;
  int64_t ignored_deletes = 0;
  int64_t input_bytes = 0;
  std::vector<SourceFigures> sources;
  std::vector<OperatorFigures> operators;
  std::vector<TableFigures> tables;
  std::vector<CheckpointFigures> checkpoints;  // of this process, without 0
  Micros first_output = 0;                     // Clock::Now of the first row into a sink; 0 = none yet
};

class Job {
 public:
  // Locks the state dir and finds the newest durable checkpoint.  Errors name the file.
  static Result<std::unique_ptr<Job>> Create(JobGraph graph, JobOptions options);
  virtual ~Job() = default;

  // Opens operators and sources, restores, writes checkpoint 0 of a new job, starts the tasks.
  virtual Status Start() = 0;
  // Until all sources have ended and the last checkpoint is complete, or Stop, or an error.
  virtual Result<JobEnd> Wait() = 0;
  // Takes a last checkpoint and ends; the state dir stays resumable.  Returns at once; Wait returns kStopped.
  virtual void Stop() = 0;
  // Ends without a checkpoint, as a crash would (tasks stop where they are).  Waits for the threads.
  virtual void Abort() = 0;

  // Takes a checkpoint now and waits until it is complete.
  virtual Result<CheckpointFigures> Checkpoint() = 0;
  // Waits until no task has anything to do: every row delivered so far has been processed.  For replay and tests with
  // memory sources, which wake their task when they are fed.
  virtual Status WaitUntilIdle() = 0;

  virtual JobFigures Figures() const = 0;
};

}  // namespace weir
