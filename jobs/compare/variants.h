// The ways of running a job that a comparison sets side by side.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace weir {

// One column of the comparison: a job file and what is changed in it.
struct Variant {
  std::string name;                    // also a folder and, for Kafka, the end of a topic's name
  std::string job;                     // path of the job file
  std::vector<std::string> overrides;  // as of --set; the user's come first
};

// The three variants that weir knows, in the order in which a comparison runs them.
std::vector<std::string> KnownVariants();

// Variants of one job by name.  Unknown names and names given twice are config errors.
Result<std::vector<Variant>> MakeVariants(const std::string& job, const std::vector<std::string>& names,
                                          const std::vector<std::string>& overrides);

// Values of `KEY=V1,V2`: a comma within quotes, brackets or braces belongs to its value.
struct SweepKey {
  std::string key;
  std::vector<std::string> values;
};
Result<SweepKey> ParseSweep(const std::string& text);

}  // namespace weir
