// The tables of a comparison, as cells: what the terminal and the HTML page both show.
#pragma once

#include "jobs/compare/report_text.h"
#include "jobs/compare/text_table.h"

namespace weir {

// What a run of each variant costs.
TextTable RunTable(const Comparison& comparison);
// What its checkpoints and its recovery cost.
TextTable CheckpointTable(const Comparison& comparison);
TextTable SweepTable(const std::string& key, const std::vector<SweepStep>& steps);

}  // namespace weir
