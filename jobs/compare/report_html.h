// A comparison as one HTML page: tables, bars, and nothing that is not in the file.
#pragma once

#include <string>
#include <vector>

#include "jobs/compare/report_text.h"

namespace weir {

std::string ComparisonHtml(const std::string& title, const Comparison& comparison);
std::string SweepHtml(const std::string& title, const std::string& key, const std::vector<SweepStep>& steps);

}  // namespace weir
