#include "jobs/compare/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace weir {
namespace {

// Written by the signal handler, so they are lock-free atomics of the process.
std::atomic<pid_t> child{0};
std::atomic<bool> was_interrupted{false};
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// On a terminal Ctrl-C reaches the child as well, which must not count it twice: a second one means leave at once.
void OnInterrupt(int signal) {
  was_interrupted = true;
  const pid_t running = child;
  if (running > 0 && signal == SIGTERM) ::kill(running, SIGTERM);
}

// After the fork: only calls that are safe there, and no return.
[[noreturn]] void BecomeWeir(char* const* arguments, int log, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::execv("/proc/self/exe", arguments);
  ::_exit(127);
}

Result<ProcessEnd> WaitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return StateError(fmt::format("cannot wait for weir run: {}", std::strerror(errno)));
  }
  ProcessEnd end;
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  was_interrupted = false;
  struct sigaction action {};
  action.sa_handler = OnInterrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &interrupt_before_);
  ::sigaction(SIGTERM, &action, &terminate_before_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &interrupt_before_, nullptr);
  ::sigaction(SIGTERM, &terminate_before_, nullptr);
}

bool InterruptGuard::interrupted() { return was_interrupted; }

Result<ProcessEnd> RunSelf(const std::vector<std::string>& arguments, const std::string& log) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return StateError(fmt::format("cannot write the file: {}", std::strerror(errno)), log);
  std::vector<std::string> texts = {"weir"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);

  const pid_t parent = ::getpid();
  const Micros started = SystemClock().Now();
  const pid_t pid = ::fork();
  if (pid == 0) BecomeWeir(pointers.data(), file, parent);
  ::close(file);
  if (pid < 0) return StateError(fmt::format("cannot start weir run: {}", std::strerror(errno)));
  child = pid;
  auto end = WaitFor(pid);
  child = 0;
  if (end) end->started = started;
  return end;
}

}  // namespace weir
