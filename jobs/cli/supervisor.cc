#include "jobs/cli/supervisor.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "engine/base/quantity.h"
#include "jobs/cli/exit_codes.h"

namespace weir {
namespace {

constexpr long kTickNanos = 500'000'000;
constexpr int64_t kTicksPerSecond = 2;
constexpr long kKillTickNanos = 1'000'000;  // a small job reads a batch in less

// SIGUSR1 only ends the wait of this thread; nobody else gets it.
sigset_t HandledSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  return set;
}

std::string Short(int64_t count) {
  if (count >= 10'000'000) return fmt::format("{:.1f} M", static_cast<double>(count) / 1e6);
  if (count >= 10'000) return fmt::format("{:.0f} k", static_cast<double>(count) / 1e3);
  return fmt::format("{}", count);
}

}  // namespace

Supervisor::Supervisor(SupervisorHooks hooks) : hooks_(std::move(hooks)) {
  const sigset_t set = HandledSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { Loop(); });
}

Supervisor::~Supervisor() {
  ended_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Supervisor::Loop() {
  const sigset_t set = HandledSignals();
  while (!ended_) {
    const timespec tick{0, hooks_.kill_at > 0 ? kKillTickNanos : kTickNanos};
    const int signal = sigtimedwait(&set, nullptr, &tick);
    if (signal < 0 && hooks_.kill_at > 0 && !ended_) KillIfDue();
    if (signal == SIGINT || signal == SIGTERM) Interrupt();
    if (signal < 0 && hooks_.progress && hooks_.kill_at == 0 && !ended_) DrawProgress();
  }
}

void Supervisor::Interrupt() {
  if (interrupted_.exchange(true) || !hooks_.stop()) {
    std::fputs("\n", stderr);
    ::_exit(kExitInterrupted);
  }
  std::fputs(hooks_.progress ? "\n" : "", stderr);
  std::fputs("taking a last checkpoint; Ctrl-C again leaves at once\n", stderr);
}

// A crash as the kernel makes it: nothing is flushed, closed or said.
void Supervisor::KillIfDue() const {
  const JobFigures figures = hooks_.figures();
  if (figures.records_in >= hooks_.kill_at && !figures.checkpoints.empty()) ::kill(::getpid(), SIGKILL);
}

void Supervisor::DrawProgress() {
  const JobFigures figures = hooks_.figures();
  int64_t lag = 0;
  for (const SourceFigures& source : figures.sources) lag += source.lag;
  int64_t state = 0;
  for (const OperatorFigures& op : figures.operators) state += op.state_bytes;
  std::string line =
      fmt::format("\r{} rows  {} rows/s  lag {}  state {}", Short(figures.records_in),
                  Short((figures.records_in - last_records_) * kTicksPerSecond), Short(lag), FormatSize(state));
  if (!figures.checkpoints.empty()) {
    const CheckpointFigures& last = figures.checkpoints.back();
    line += fmt::format("  checkpoint {}: {}, {:.0f} ms", last.id, FormatSize(last.full_bytes), last.end_to_end_ms);
  }
  last_records_ = figures.records_in;
  drawn_ = true;
  line += "\x1b[K";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace weir
