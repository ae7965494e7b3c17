#include "jobs/compare/variant_run.h"

#include <fmt/format.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "engine/base/file.h"

namespace weir {
namespace {

constexpr int kExitOfInterrupt = 130;
constexpr int kExitOfWrongJob = 2;

// A small job may have ended before it can be killed; then the kill comes earlier, and checkpoints follow faster.
struct KillPlan {
  double at;            // of the records
  int64_t checkpoints;  // in the whole run, when the job's own come too seldom
};
constexpr KillPlan kKillPlans[] = {{0.8, 10}, {0.5, 20}, {0.2, 50}};

// The end of a text, from the beginning of a line on.
std::string LastLines(const std::string& text, size_t size) {
  if (text.size() <= size) return text;
  const size_t newline = text.find('\n', text.size() - size);
  return newline == std::string::npos ? text.substr(text.size() - size) : text.substr(newline + 1);
}

// As the value of --set, whatever is in it: JSON text is YAML.
std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

VariantRunner::VariantRunner(Candidate candidate, VariantFolders folders, bool keep_sinks)
    : candidate_(std::move(candidate)),
      folders_(std::move(folders)),
      keep_sinks_(keep_sinks),
      log_(folders_.work + "/log") {}

Result<MeasuredRun> VariantRunner::Measure() {
  WEIR_TRY(MakeFolder(folders_.work));
  WEIR_TRY(MakeFolder(folders_.results));
  const RunFolders run{folders_.results, folders_.work + "/state", folders_.work + "/summary.json"};
  std::vector<std::string> arguments = Arguments(run);
  if (keep_sinks_) {
    arguments.push_back("--topic-suffix");
    arguments.push_back("-" + candidate_.variant.name);
  }
  WEIR_TRY(Finish(arguments));
  MeasuredRun measured;
  WEIR_ASSIGN(measured.summary, ReadFile(run.summary));
  WEIR_ASSIGN(measured.figures, ReadRunFigures(measured.summary));
  if (!keep_sinks_) {
    WEIR_ASSIGN(measured.sinks, ReadSinks(run.sinks));
  }
  return measured;
}

Result<RecoveredRun> VariantRunner::KillAndRecover(int64_t records, bool own_checkpoints) {
  const RunFolders run{folders_.work + "/recovered", folders_.work + "/recovered-state",
                       folders_.work + "/recovered-summary.json"};
  RecoveredRun recovered;
  for (const KillPlan& plan : kKillPlans) {
    WEIR_TRY(RemoveTree(run.state));
    WEIR_TRY(RemoveTree(run.sinks));
    const int64_t kill_at = std::max<int64_t>(1, static_cast<int64_t>(plan.at * static_cast<double>(records)));
    const bool own = own_checkpoints && &plan == std::begin(kKillPlans);
    const int64_t every = own ? 0 : std::max<int64_t>(1, records / plan.checkpoints);
    WEIR_ASSIGN(const bool killed, RunUntilKilled(Arguments(run), kill_at, every));
    if (!killed) continue;
    recovered.killed_at = kill_at;
    WEIR_ASSIGN(const ProcessEnd end, Finish(Arguments(run)));
    WEIR_ASSIGN(const std::string summary, ReadFile(run.summary));
    WEIR_ASSIGN(const RunFigures figures, ReadRunFigures(summary));
    if (figures.first_row_out_time > 0) {
      recovered.recovery_ms = figures.first_row_out_time - static_cast<double>(end.started) / 1000.0;
    }
    break;
  }
  WEIR_ASSIGN(recovered.sinks, ReadSinks(run.sinks));
  return recovered;
}

std::vector<std::string> VariantRunner::Arguments(const RunFolders& folders) const {
  const Variant& variant = candidate_.variant;
  std::vector<std::string> arguments = {"run",       variant.job,     "--state-dir",  folders.state,
                                        "--summary", folders.summary, "--sinks-into", folders.sinks};
  for (const std::string& assignment : variant.overrides) {
    arguments.push_back("--set");
    arguments.push_back(assignment);
  }
  // The name is the default of consumer groups and transactional ids, which variants must not share.
  arguments.push_back("--set");
  arguments.push_back("name=" + Quoted(fmt::format("{}-{}", candidate_.job_name, variant.name)));
  return arguments;
}

Result<bool> VariantRunner::RunUntilKilled(std::vector<std::string> arguments, int64_t kill_at,
                                           int64_t checkpoint_rows) {
  arguments.push_back("--kill-at");
  arguments.push_back(std::to_string(kill_at));
  if (checkpoint_rows > 0) {
    arguments.push_back("--set");
    arguments.push_back(fmt::format("options.checkpoint.on_rows={}", checkpoint_rows));
  }
  WEIR_ASSIGN(const ProcessEnd end, RunSelf(arguments, log_));
  if (end.signal == SIGKILL) return true;
  if (end.exit_code == 0) return false;
  return Failure(end);
}

Result<ProcessEnd> VariantRunner::Finish(const std::vector<std::string>& arguments) {
  WEIR_ASSIGN(const ProcessEnd end, RunSelf(arguments, log_));
  if (end.exit_code != 0) return Failure(end);
  return end;
}

Error VariantRunner::Failure(const ProcessEnd& end) const {
  const std::string& name = candidate_.variant.name;
  if (end.exit_code == kExitOfInterrupt) return StateError(fmt::format("{} was interrupted", name));
  const auto log = ReadFile(log_);
  const std::string said = log ? LastLines(*log, 4096) : std::string();
  const std::string how = end.signal != 0 ? fmt::format("was ended by signal {}", end.signal)
                                          : fmt::format("failed with exit {}", end.exit_code);
  const std::string message = fmt::format("{} {}:\n{}", name, how, said.empty() ? "(it said nothing)" : said);
  return end.exit_code == kExitOfWrongJob ? ConfigError(message) : StateError(message);
}

Result<SinkResults> VariantRunner::ReadSinks(const std::string& root) const {
  SinkResults results;
  for (const std::string& sink : candidate_.sinks) {
    SinkResult result;
    result.folder = RedirectedSinkFolder(root, sink);
    WEIR_ASSIGN(result.rows, FingerprintOf(result.folder));
    results.emplace(sink, std::move(result));
  }
  return results;
}

}  // namespace weir
