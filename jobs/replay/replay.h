// Runs a job on a replay file, deterministically: the next lines are delivered only when the job has come to rest.
#pragma once

#include "jobs/replay/replay_file.h"
#include "jobs/run/running_job.h"

namespace weir {

// Feeds for all sources, with as many partitions as the file needs.
Feeds MakeReplayFeeds(const ReplayFile& replay, const JobFile& job);

// Rows that the replay itself refused under on_error: skip, by source name; they never reached the job.
using SkippedRows = std::map<std::string, int64_t>;

// Delivers every event to the started job, up to `batch_lines` lines at a time, ends all sources and waits for the end.
// Lines of one source in a row are pushed as one batch; a batch ends at "batch", "checkpoint" and idle lines.
Result<JobEnd> Replay(const ReplayFile& replay, const JobFile& job, int64_t batch_lines, const Feeds& feeds,
                      RunningJob& running, SkippedRows& skipped);

}  // namespace weir
