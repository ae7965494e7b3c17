// A replay file, read: the rows of each source as one batch, and the order in which everything arrives.
//
// Format: one JSON value a line.
//   ["orders", "+I", 1, "x"]             a row: source, kind, values in the order of the source's columns
//   ["orders@1", "+I", 1, "x"]           the same in partition 1
//   ["orders@1", "idle"]                 the partition is declared idle
//   ["*", "batch"]                       ends a batch
//   ["*", "checkpoint"]                  takes a checkpoint, drops the running job and restores it
//   {"topic": "orders", "value": "..."}  a raw message for the source's decoder; further keys: partition, offset, key,
//                                        timestamp (epoch ms), value_b64, key_b64; value null is a tombstone
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/data/batch.h"
#include "jobs/job_file/job_file.h"

namespace weir {

struct ReplayMessage {
  std::string value;
  bool tombstone = false;
  std::optional<std::string> key;
  int64_t timestamp_ms = -1;
  int64_t offset = 0;
};

struct ReplayEvent {
  enum class Kind { kRow, kMessage, kIdle, kBatch, kCheckpoint };
  Kind kind = Kind::kBatch;
  int line = 0;     // in the file, from 1
  int source = -1;  // index in JobFile::sources
  int partition = 0;
  size_t index = 0;   // kRow: row of ReplayFile::rows[source]; kMessage: of ReplayFile::messages
  int null_key = -1;  // kRow: a primary key column that is NULL: the source's on_error decides
};

struct ReplayFile {
  std::string path;
  std::vector<Batch> rows;      // a source; empty schema order as declared
  std::vector<int> partitions;  // a source: as many as declared, or as the file names
  std::vector<ReplayMessage> messages;
  std::vector<ReplayEvent> events;
};

// Errors name path:line.
Result<ReplayFile> ReadReplayFile(const std::string& path, const JobFile& job);
Result<ReplayFile> ParseReplayFile(const std::string& path, std::string_view text, const JobFile& job);

}  // namespace weir
