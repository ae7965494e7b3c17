// job.json in the state dir: which job wrote it.  State is only meaningful to the job whose operators it names, so
// another job, or the same one with other queries or sources, is refused before anything is touched.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "jobs/planned_job.h"

namespace weir {

// What makes two runs one job: its name, the text of its queries without the layout, and its sources' columns, keys,
// changelog mode, connector and topic.  Parallelism, paths, rates and sinks' options may change.
std::string JobIdentity(const JobFile& file, bool replayed);

// Ok for a new state dir and for one of the same job; else a config error that names both jobs.
Status CheckJobIdentity(const std::string& state_dir, const std::string& identity);
// Writes job.json unless it is there.  Call with the state dir locked.
Status WriteJobIdentity(const std::string& state_dir, const std::string& identity);

// SQL with every run of blanks outside quotes as one blank, without comments.
std::string NormaliseSql(const std::string& sql);

}  // namespace weir
