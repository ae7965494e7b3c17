#include <unistd.h>

#include <thread>

#include "engine/data/text.h"
#include "jobs/job_file/map_reader.h"
#include "jobs/job_file/read_sections.h"

namespace weir {
namespace {

constexpr int64_t kMaxMiniBatch = 1'000'000;  // rows
constexpr int kMaxParallelism = 128;  // as many as there are key groups

int DefaultParallelism() {
  const unsigned cores = std::thread::hardware_concurrency();
  return static_cast<int>(std::min(std::max(cores, 1U), unsigned{kMaxParallelism}));
}

int64_t HalfOfTheMachine() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? pages / 2 * page : int64_t{1} << 30;
}

CheckpointDeclaration ReadCheckpoint(const DocumentNode& node, Diagnostics& out) {
  CheckpointDeclaration checkpoint;
  MapReader reader(node, "checkpoint", out);
  if (const DocumentNode* interval = reader.Take("interval")) {
    if (!(interval->IsScalar() && interval->text == "off")) {
      checkpoint.interval = ReadDuration(*interval, "interval", out);
      if (checkpoint.interval == 0)
        out.Add(interval->position, "interval: 0 is no interval; off turns checkpoints off");
    }
  }
  checkpoint.on_rows = reader.Integer("on_rows", 1, INT64_MAX).value_or(0);
  checkpoint.retain = static_cast<int>(reader.Integer("retain", 1, 1000).value_or(2));
  reader.Finish();
  return checkpoint;
}

MiniBatch ReadMiniBatch(const DocumentNode& node, Diagnostics& out) {
  MiniBatch mini_batch;
  MapReader reader(node, "mini_batch", out);
  mini_batch.allow_latency = reader.Duration("allow_latency").value_or(mini_batch.allow_latency);
  mini_batch.size = reader.Integer("size", 1, kMaxMiniBatch).value_or(mini_batch.size);
  reader.Finish();
  return mini_batch;
}

}  // namespace

OptionsDeclaration ReadOptions(const DocumentNode& node, Diagnostics& out) {
  OptionsDeclaration options;
  options.parallelism = DefaultParallelism();
  options.memory = HalfOfTheMachine();
  if (node.IsNull()) return options;
  MapReader reader(node, "options", out);
  options.parallelism =
      static_cast<int>(reader.Integer("parallelism", 1, kMaxParallelism).value_or(options.parallelism));
  options.join =
      reader
          .Choice<JoinOption>(
              "join", {{"auto", JoinOption::kAuto}, {"regular", JoinOption::kRegular}, {"delta", JoinOption::kDelta}})
          .value_or(JoinOption::kAuto);
  options.rocksdb_state = reader.Choice<bool>("state", {{"memory", false}, {"rocksdb", true}}).value_or(false);
  if (const DocumentNode* checkpoint = reader.Take("checkpoint")) options.checkpoint = ReadCheckpoint(*checkpoint, out);
  options.memory = reader.Size("memory").value_or(options.memory);
  options.redo_bytes = reader.Size("redo_bytes").value_or(options.redo_bytes);
  options.redo_rows = reader.Integer("redo_rows", 1, INT64_MAX).value_or(options.redo_rows);
  options.log_level = reader
                          .Choice<std::string>("log_level", {{"trace", "trace"},
                                                             {"debug", "debug"},
                                                             {"info", "info"},
                                                             {"warn", "warn"},
                                                             {"error", "error"},
                                                             {"off", "off"}})
                          .value_or(options.log_level);
  options.allowed_lateness = reader.Duration("allowed_lateness").value_or(0);
  if (const DocumentNode* zone = reader.Take("time_zone")) {
    if (const auto text = ReadText(*zone, "time_zone", out)) {
      options.time_zone = *text;
      if (!IsKnownZone(*text)) {
        out.Add(zone->position, fmt::format("time_zone: '{}' is not a time zone; write UTC or Europe/Berlin", *text));
      }
    }
  }
  const std::string phases =
      reader
          .Choice<std::string>("agg_phase_strategy",
                               {{"auto", "auto"}, {"one_phase", "one_phase"}, {"two_phase", "two_phase"}})
          .value_or("auto");
  options.two_phase = phases != "one_phase";
  options.two_phase_groups = phases == "two_phase";
  if (const DocumentNode* mini_batch = reader.Take("mini_batch")) options.mini_batch = ReadMiniBatch(*mini_batch, out);
  reader.Finish();
  return options;
}

}  // namespace weir
