// The record of a checkpoint: what a restore needs (manifest.json) and what it cost (complete.json).
// Formats: docs/formats/manifest.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/checkpoint/log_position.h"
#include "engine/runtime/source.h"

namespace weir {

// One line of `checkpoints[]` in the summary.  Times in milliseconds, sizes in bytes.
struct CheckpointFigures {
  Epoch id = 0;
  Micros trigger_time = 0;     // wall clock, microseconds since 1970
  double start_delay_ms = 0;   // from the trigger to the first barrier taken, largest over tasks
  double alignment_ms = 0;     // waiting for the other inputs' barriers, largest over tasks
  double sync_ms = 0;          // Snapshot calls, largest over tasks
  double async_ms = 0;         // writing after Snapshot returned, largest over operators
  double end_to_end_ms = 0;    // trigger to durable manifest
  int64_t full_bytes = 0;
  int64_t incremental_bytes = 0;
  int64_t manifest_bytes = 0;
  int64_t operator_state_bytes = 0;
};

struct OperatorStateRef {
  std::string operator_id;
  int task = 0;
  int parallelism = 1;
  std::string file;  // relative to the checkpoint's folder; empty: only commit data
  int64_t bytes = 0;
  uint64_t checksum = 0;  // XXH3 of the file
  std::string commit_data;
};

struct Manifest {
  int version = 1;
  Epoch epoch = 0;
  bool finished = false;
  std::string uuid;  // of the state dir
  std::map<std::string, Positions> sources;                        // source -> partition -> position
  std::map<std::string, std::map<std::string, Micros>> watermarks; // source -> partition -> largest event time seen
  std::map<std::string, std::vector<std::string>> idle;            // source -> partitions declared idle
  std::vector<OperatorStateRef> states;
  TablePositions tables;  // ends of the logs, bucket by bucket
  std::map<std::string, int64_t> counters;  // of the summary, totals since the job's first start
};

}  // namespace weir
