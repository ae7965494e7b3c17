// A job file with its plan: what every verb of the command line begins with.
#pragma once

#include <string>
#include <vector>

#include "jobs/job_file/job_file.h"
#include "sql/plan/planner.h"

namespace weir {

struct PlannedJob {
  JobFile file;
  JobPlan plan;
};

enum class InputCheck {
  kNone,   // a replay or a program feeds the sources
  kFiles,  // file sources must find their files, so that a misspelt path is an error before the job starts
};

// All errors of the job file and of its queries, in the order of the file.
template <class T>
using Checked = tl::expected<T, std::vector<Error>>;

Checked<PlannedJob> PlanJobText(const std::string& path, const std::string& text, const JobFileOptions& options,
                                InputCheck inputs);
// The same from a file.
Checked<PlannedJob> PlanJobFile(const std::string& path, const JobFileOptions& options, InputCheck inputs);

// Sources, tables and sinks as the planner sees them.
Catalog MakeCatalog(const JobFile& file);

}  // namespace weir
