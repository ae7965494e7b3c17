// weir run: plans the job, checks what it would touch, runs it, and says what it cost.
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "connectors/file/options.h"
#include "engine/base/file.h"
#include "engine/checkpoint/manifest_file.h"
#include "jobs/cli/exit_codes.h"
#include "jobs/cli/supervisor.h"
#include "jobs/cli/verbs.h"
#include "jobs/replay/replay.h"
#include "jobs/run/job_identity.h"
#include "jobs/run/running_job.h"
#include "jobs/run/summary.h"

namespace weir {
namespace {

using SteadyClock = std::chrono::steady_clock;

void LogToStderr(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("weir", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%H:%M:%S.%e %l %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

std::string StateDirOf(const RunVerb& verb, const JobFile& file) {
  if (!verb.state_dir.empty()) return verb.state_dir;
  std::string name = file.name;
  std::replace(name.begin(), name.end(), '/', '_');
  return ".weir/" + name;
}

// What only `run` has to refuse: rows that nobody can give or read.
std::vector<Error> CheckRunnable(const PlannedJob& job, bool replayed) {
  Diagnostics out(job.file.path);
  for (const SourceDeclaration& source : job.file.sources) {
    if (source.connector == SourceConnector::kMemory && !replayed) {
      out.Add(source.position,
              fmt::format("source {} is in memory, so it needs rows: run with --replay FILE", source.name));
    }
  }
  for (const SinkDeclaration& sink : job.file.sinks) {
    if (sink.connector == SinkConnector::kMemory) {
      out.Add(sink.position, fmt::format("sink {} is in memory, which only an embedding program can read", sink.name));
    }
  }
  return out.Errors();
}

// A new job must not mix its parts with those of another in one folder.
Status PrepareSinks(const PlannedJob& job, const std::string& state_dir, bool force) {
  if (!ListCheckpoints(state_dir).empty()) return {};
  Diagnostics out(job.file.path);
  for (const PlanPtr& node : job.plan.sinks) {
    const SinkDeclaration* sink = job.file.FindSink(node->relation);
    if (sink == nullptr || sink->connector != SinkConnector::kFile) continue;
    const Status prepared = PrepareFileSink(sink->path, force);
    if (!prepared) out.Add(sink->path_position, fmt::format("{}: {}", sink->path, prepared.error().message));
  }
  return out.empty() ? Status() : Status(out.Errors().front());
}

// Whether the newest checkpoint is the last of its job: then there is nothing to feed.  A damaged one is the runtime's
// to report.
bool HasFinished(const std::string& state_dir) {
  const std::vector<Epoch> epochs = ListCheckpoints(state_dir);
  if (epochs.empty()) return false;
  const auto manifest = ReadManifest(CheckpointFolder(state_dir, epochs.back()) + "/manifest.json");
  return manifest && manifest->finished;
}

// Everything of one run that outlives a failure, so that the summary can be written in any case.
class Session {
 public:
  Session(const RunVerb& verb, PlannedJob job)
      : verb_(verb), job_(std::move(job)), state_dir_(StateDirOf(verb, job_.file)), began_(SteadyClock::now()) {}

  int Execute() {
    if (!verb_.replay.empty()) {
      auto replay = ReadReplayFile(verb_.replay, job_.file);
      if (!replay) return Fail(replay.error());
      replay_ = std::move(*replay);
    }
    const std::string identity = JobIdentity(job_, replay_.has_value());
    const Status prepared = Prepare(identity);
    if (!prepared) return Fail(prepared.error());
    WireOptions wire;
    if (replay_) wire.feeds = MakeReplayFeeds(*replay_, job_.file);
    feeds_ = wire.feeds;
    JobOptions options = MakeJobOptions(job_.file, state_dir_);
    if (replay_) options.clock = &replay_clock_;
    options.check_operators = replay_.has_value();  // a replay looks for mistakes, not for speed
    options.force = verb_.force;
    running_.emplace(job_, std::move(wire), std::move(options));
    return RunSupervised(identity);
  }

 private:
  Status Prepare(const std::string& identity) {
    WEIR_TRY(CheckSummaryPath());
    WEIR_TRY(CheckJobIdentity(state_dir_, identity));
    WEIR_TRY(PrepareSinks(job_, state_dir_, verb_.force));
    finished_before_ = HasFinished(state_dir_);
    const Status made = MakeFolder(state_dir_);
    return made ? made : Status(ConfigError(made.error().message, made.error().where));
  }

  // Before the first row, not after the last: a job that has run to its end would not be run again for its summary.
  Status CheckSummaryPath() const {
    if (verb_.summary.empty() || std::ofstream(verb_.summary, std::ios::app)) return {};
    return ConfigError(fmt::format("cannot write the summary {}", verb_.summary));
  }

  int RunSupervised(const std::string& identity) {
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    bool interrupted = false;
    Result<JobEnd> end;
    {
      SupervisorHooks hooks;
      hooks.stop = [this] { return started_ && running_->Stop(); };
      hooks.figures = [this] { return Figures(); };
      hooks.progress = terminal && !replay_;
      hooks.kill_at = verb_.kill_at;
      Supervisor supervisor(std::move(hooks));
      end = Drive(identity);
      interrupted = supervisor.interrupted();
    }
    int exit_code = Report(end, interrupted);
    if (!verb_.summary.empty()) {
      ProcessFigures process = ReadProcessFigures();
      process.elapsed_s = Elapsed();
      const Status written = WriteSummary(verb_.summary, Figures(), process);
      if (!written) exit_code = std::max(exit_code, Fail(written.error()));
    }
    return exit_code;
  }

  Result<JobEnd> Drive(const std::string& identity) {
    WEIR_TRY(running_->Start());
    started_ = true;
    WEIR_TRY(WriteJobIdentity(state_dir_, identity));
    if (!replay_ || finished_before_) return running_->Wait();
    return Replay(*replay_, job_.file, verb_.replay_batch, feeds_, *running_, skipped_);
  }

  int Report(const Result<JobEnd>& end, bool interrupted) {
    if (!end) return interrupted ? (Fail(end.error()), kExitInterrupted) : Fail(end.error());
    if (*end == JobEnd::kAlreadyFinished) {
      fmt::print("job {} has finished; its state dir is {}, and another --state-dir runs it again\n", job_.file.name,
                 state_dir_);
      return kExitDone;
    }
    const JobFigures figures = Figures();
    spdlog::info("job {} {}: {} rows in, {} rows out, {:.2f} s", job_.file.name,
                 *end == JobEnd::kStopped ? "stopped" : "finished", figures.records_in, figures.records_out, Elapsed());
    return *end == JobEnd::kStopped ? kExitInterrupted : kExitDone;
  }

  // Rows that the replay refused count like bad records of their source.
  JobFigures Figures() const {
    JobFigures figures = running_->Figures();
    for (const auto& [name, count] : skipped_) {
      figures.records_in += count;
      figures.bad_records += count;
      for (SourceFigures& source : figures.sources) {
        if (source.name != name) continue;
        source.records_in += count;
        source.bad_records += count;
      }
    }
    return figures;
  }

  double Elapsed() const { return std::chrono::duration<double>(SteadyClock::now() - began_).count(); }

  const RunVerb& verb_;
  const PlannedJob job_;
  const std::string state_dir_;
  const SteadyClock::time_point began_;
  std::optional<ReplayFile> replay_;
  ManualClock replay_clock_;
  Feeds feeds_;
  std::optional<RunningJob> running_;
  std::atomic<bool> started_{false};
  bool finished_before_ = false;
  SkippedRows skipped_;  // the supervisor draws no progress of a replay, so only one thread uses it
};

}  // namespace

int Run(const RunVerb& verb) {
  JobFileOptions options;
  options.overrides = verb.overrides;
  options.sinks = verb.sinks;
  const bool replayed = !verb.replay.empty();
  auto job = PlanJobFile(verb.job, options, replayed ? InputCheck::kNone : InputCheck::kFiles);
  if (!job) {
    PrintErrors(job.error());
    return kExitWrong;
  }
  const std::vector<Error> errors = CheckRunnable(*job, replayed);
  if (!errors.empty()) {
    PrintErrors(errors);
    return kExitWrong;
  }
  LogToStderr(job->file.options.log_level);
  return Session(verb, std::move(*job)).Execute();
}

}  // namespace weir
