// A comparison for programs: the file of --json.  Fields are listed in docs/command_line.md.
#pragma once

#include <string>
#include <vector>

#include "jobs/compare/report_text.h"

namespace weir {

Result<std::string> ComparisonJson(const Comparison& comparison);
Result<std::string> SweepJson(const std::string& key, const std::vector<SweepStep>& steps);

}  // namespace weir
