// job.json in the state dir: which job wrote it.  State is only meaningful to the job whose operators it names, so
// another job, or the same one with other queries or sources, is refused before anything is touched.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "jobs/planned_job.h"

namespace weir {

// What makes two runs one job: its name, the text of its queries without the layout, its sources' columns, keys,
// changelog mode, connector and topic, its tables' columns, keys and buckets, also of those that joins make, and where
// joins keep their state.
// Parallelism, paths, rates and sinks' options may change, and declared indexes that no join keeps may come and go.
std::string JobIdentity(const PlannedJob& job, bool replayed);

// Ok for a new state dir and for one of the same job; else a config error that names both jobs, or says what differs.
Status CheckJobIdentity(const std::string& state_dir, const std::string& identity);
// Writes job.json where it is not there or has other indexes.  Call with the state dir locked, after the check.
Status WriteJobIdentity(const std::string& state_dir, const std::string& identity);

// SQL with every run of blanks outside quotes as one blank, without comments.
std::string NormaliseSql(const std::string& sql);

}  // namespace weir
