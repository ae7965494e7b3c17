// Adds up what the tasks of a job have counted.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/job.h"
#include "engine/runtime/task.h"

namespace weir {

// `base` has the counters of the restored checkpoint.  Any thread; checkpoints and first_output are left to the caller.
JobFigures CollectFigures(const JobGraph& graph, const std::vector<std::vector<std::unique_ptr<Task>>>& tasks,
                          const std::map<std::string, int64_t>& base);

}  // namespace weir
