// A variant that is known to run: its job is planned, and its input can be read as often as there are variants.
#pragma once

#include <string>
#include <vector>

#include "jobs/compare/variants.h"
#include "jobs/planned_job.h"

namespace weir {

struct Candidate {
  Variant variant;
  std::string job_name;
  std::vector<std::string> sinks;  // that queries write to, sorted
};

// All errors of the job as the variant changes it; config errors for sources that would not give every variant the same
// rows: memory sources, Kafka topics read for ever, from their end or from where the job's group has got to.
Checked<Candidate> PlanCandidate(const Variant& variant);

}  // namespace weir
