// A comparison on a terminal: tables of at most 120 columns, units in the header, and what the saving costs in words.
#pragma once

#include <string>
#include <vector>

#include "jobs/compare/comparison.h"

namespace weir {

// One value of a sweep with its comparison.
struct SweepStep {
  std::string value;
  Comparison comparison;
};

std::string ComparisonText(const Comparison& comparison);
std::string SweepText(const std::string& key, const std::vector<SweepStep>& steps);

// A sentence for every variant but the first: its checkpoints, recovery and CPU beside the first one's, and what its
// tables hold and read for that.  Where the cost went is always said, also when there is no saving.
std::vector<std::string> CostSentences(const Comparison& comparison);

}  // namespace weir
