// Runs weir itself as a child process, so that a variant's CPU, memory and crash are its own.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"

namespace weir {

struct ProcessEnd {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;      // 0: ended by itself
  Micros started = 0;  // wall clock right before the fork, microseconds since 1970
};

// Interrupts of the comparison while it lives: SIGINT and SIGTERM are taken, handed to the child that runs, and
// remembered.  One at a time, made in the main thread.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();

 private:
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

// Runs this binary with the arguments and waits for its end; stdout and stderr are appended to the file `log`.  The
// child dies with its parent.  Call it from a process with one thread: the child is forked.
Result<ProcessEnd> RunSelf(const std::vector<std::string>& arguments, const std::string& log);

}  // namespace weir
