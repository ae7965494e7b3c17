// The thread beside a running job: takes signals, and draws the progress line on a terminal.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "engine/runtime/job.h"

namespace weir {

struct SupervisorHooks {
  // Asks the job to take a last checkpoint and end; false when it is not running, so nothing would be lost.
  std::function<bool()> stop;
  std::function<JobFigures()> figures;
  bool progress = false;
  int64_t kill_at = 0;  // ends the process with SIGKILL at this many records, after a complete checkpoint; 0: never
};

// While it lives, SIGINT and SIGTERM are blocked in every thread started after it and handled here: the first calls
// `stop`, the second leaves the process at once with 130.  Make it before the job, in the main thread.
class Supervisor {
 public:
  explicit Supervisor(SupervisorHooks hooks);
  ~Supervisor();

  bool interrupted() const { return interrupted_; }

 private:
  void Loop();
  void Interrupt();
  void KillIfDue() const;
  void DrawProgress();

  SupervisorHooks hooks_;
  std::atomic<bool> interrupted_{false};
  std::atomic<bool> ended_{false};
  int64_t last_records_ = 0;
  bool drawn_ = false;
  std::thread thread_;
};

}  // namespace weir
