// weir checkpoints list|show: what is in a state dir, without opening the job.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/quantity.h"
#include "engine/checkpoint/manifest_file.h"
#include "engine/data/text.h"
#include "jobs/cli/exit_codes.h"
#include "jobs/cli/verbs.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

struct Checkpoint {
  Manifest manifest;
  CheckpointFigures figures;
  bool complete = false;
};

Result<Checkpoint> Read(const std::string& state_dir, Epoch epoch) {
  const std::string folder = CheckpointFolder(state_dir, epoch);
  Checkpoint checkpoint;
  WEIR_ASSIGN(checkpoint.manifest, ReadManifest(folder + "/manifest.json"));
  checkpoint.figures.id = epoch;
  std::error_code ignored;
  if (std::filesystem::exists(folder + "/complete.json", ignored)) {
    WEIR_ASSIGN(checkpoint.figures, ReadFigures(folder + "/complete.json"));
    checkpoint.complete = true;
  }
  return checkpoint;
}

const char* StatusOf(const Checkpoint& checkpoint) {
  if (!checkpoint.complete) return "prepared";
  return checkpoint.manifest.finished ? "finished" : "complete";
}

// A prepared checkpoint has not recorded its time yet.
std::string TriggerText(const Checkpoint& checkpoint) {
  if (!checkpoint.complete) return "-";
  std::string text;
  AppendTimestamp(checkpoint.figures.trigger_time, 3, 'T', text);
  return text + "Z";
}

Json FiguresJson(const Checkpoint& checkpoint) {
  const CheckpointFigures& figures = checkpoint.figures;
  return {{"id", figures.id},
          {"status", StatusOf(checkpoint)},
          {"trigger_time", figures.trigger_time / 1000},
          {"start_delay_ms", figures.start_delay_ms},
          {"alignment_ms", figures.alignment_ms},
          {"sync_ms", figures.sync_ms},
          {"async_ms", figures.async_ms},
          {"end_to_end_ms", figures.end_to_end_ms},
          {"full_bytes", figures.full_bytes},
          {"incremental_bytes", figures.incremental_bytes},
          {"manifest_bytes", figures.manifest_bytes},
          {"operator_state_bytes", figures.operator_state_bytes}};
}

Json CheckpointJson(const Checkpoint& checkpoint) {
  Json json = FiguresJson(checkpoint);
  json["finished"] = checkpoint.manifest.finished;
  json["sources"] = checkpoint.manifest.sources;
  json["watermarks"] = checkpoint.manifest.watermarks;
  json["counters"] = checkpoint.manifest.counters;
  json["states"] = Json::array();
  for (const OperatorStateRef& state : checkpoint.manifest.states) {
    json["states"].push_back({{"operator", state.operator_id},
                              {"task", state.task},
                              {"parallelism", state.parallelism},
                              {"file", state.file},
                              {"bytes", state.bytes}});
  }
  return json;
}

std::string CheckpointText(const Checkpoint& checkpoint) {
  const CheckpointFigures& figures = checkpoint.figures;
  std::string text = fmt::format("checkpoint {} ({})\n", figures.id, StatusOf(checkpoint));
  text += fmt::format("  triggered     {}\n", TriggerText(checkpoint));
  text += fmt::format("  end to end    {:.1f} ms (start delay {:.1f}, alignment {:.1f}, sync {:.1f}, async {:.1f})\n",
                      figures.end_to_end_ms, figures.start_delay_ms, figures.alignment_ms, figures.sync_ms,
                      figures.async_ms);
  text += fmt::format("  full          {} (manifest {}, operator state {})\n", FormatSize(figures.full_bytes),
                      FormatSize(figures.manifest_bytes), FormatSize(figures.operator_state_bytes));
  text += fmt::format("  newly written {}\n", FormatSize(figures.incremental_bytes));
  for (const auto& [source, positions] : checkpoint.manifest.sources) {
    text += fmt::format("  source {}\n", source);
    for (const auto& [partition, position] : positions) text += fmt::format("    {} at {}\n", partition, position);
  }
  for (const OperatorStateRef& state : checkpoint.manifest.states) {
    text += fmt::format("  state {} task {}/{}: {}\n", state.operator_id, state.task, state.parallelism,
                        FormatSize(state.bytes));
  }
  return text;
}

Result<std::vector<Epoch>> Epochs(const std::string& state_dir) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(state_dir + "/checkpoints", ignored)) {
    return ConfigError(fmt::format("{} is not the state dir of a job: it has no checkpoints", state_dir));
  }
  return ListCheckpoints(state_dir);
}

}  // namespace

int ListCheckpointsOf(const CheckpointsVerb& verb) {
  const auto epochs = Epochs(verb.state_dir);
  if (!epochs) return Fail(epochs.error());
  Json list = Json::array();
  std::string text = fmt::format("{:>8}  {:<9} {:<24} {:>12} {:>12} {:>12}\n", "id", "status", "triggered",
                                 "end to end", "full", "written");
  int exit_code = kExitDone;
  for (const Epoch epoch : *epochs) {
    const auto checkpoint = Read(verb.state_dir, epoch);
    if (!checkpoint) {
      exit_code = Fail(checkpoint.error());
      continue;
    }
    list.push_back(FiguresJson(*checkpoint));
    const CheckpointFigures& figures = checkpoint->figures;
    text += fmt::format("{:>8}  {:<9} {:<24} {:>9.1f} ms {:>12} {:>12}\n", epoch, StatusOf(*checkpoint),
                        TriggerText(*checkpoint), figures.end_to_end_ms, FormatSize(figures.full_bytes),
                        FormatSize(figures.incremental_bytes));
  }
  fmt::print("{}", verb.format == TextFormat::kJson ? list.dump(2) + "\n" : text);
  return exit_code;
}

int ShowCheckpoint(const CheckpointsVerb& verb) {
  const auto epochs = Epochs(verb.state_dir);
  if (!epochs) return Fail(epochs.error());
  if (epochs->empty()) return Fail(ConfigError(fmt::format("{} has no checkpoint", verb.state_dir)));
  const Epoch epoch = verb.epoch.value_or(epochs->back());
  if (std::find(epochs->begin(), epochs->end(), epoch) == epochs->end()) {
    return Fail(ConfigError(
        fmt::format("{} has no checkpoint {}; there are {}", verb.state_dir, epoch, fmt::join(*epochs, ", "))));
  }
  const auto checkpoint = Read(verb.state_dir, epoch);
  if (!checkpoint) return Fail(checkpoint.error());
  fmt::print("{}", verb.format == TextFormat::kJson ? CheckpointJson(*checkpoint).dump(2) + "\n"
                                                    : CheckpointText(*checkpoint));
  return kExitDone;
}

}  // namespace weir
