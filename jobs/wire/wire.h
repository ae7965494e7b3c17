// From a plan to the graph that the runtime executes.
//
// A stage is a chain of operators that run in one task without a channel between them.  The plan is cut into stages
//   1. at every exchange (which becomes a hash or gather edge),
//   2. behind a node that several nodes read, and
//   3. before a node with several inputs (a join, a union).
// A source is one stage whatever reads it, so it is read once.  Stages behind a gather run in one task, all others in
// options.parallelism tasks.
#pragma once

#include "engine/runtime/graph.h"
#include "jobs/planned_job.h"
#include "jobs/wire/connectors.h"

namespace weir {

struct WireOptions {
  Feeds feeds;            // replace the connectors of the sources they name
  MemoryResults results;  // of memory sinks
};

// The graph of the job.  Every call makes a new one, so that a job can be created again after a crash.
Result<JobGraph> WireJob(const PlannedJob& job, const WireOptions& options);

}  // namespace weir
