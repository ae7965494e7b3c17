// What a run cost, as JSON: the file of --summary.  Field names are listed in docs/command_line.md.
#pragma once

#include <string>

#include "engine/runtime/job.h"

namespace weir {

struct ProcessFigures {
  double elapsed_s = 0;  // of the run
  double cpu_s = 0;      // user and system time of the process
  int64_t max_rss_bytes = 0;
};

// getrusage of this process; elapsed_s is the caller's.
ProcessFigures ReadProcessFigures();

std::string SummaryJson(const JobFigures& job, const ProcessFigures& process);
Status WriteSummary(const std::string& path, const JobFigures& job, const ProcessFigures& process);

}  // namespace weir
