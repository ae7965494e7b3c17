// The words of explain for kRank and kOver nodes.
#pragma once

#include <string>
#include <vector>

#include "sql/plan/plan.h"

namespace weir {

// "row_number <= 3 by (k) order by ts DESC", and what explains it.
void DescribeOrdered(const PlanNode& node, std::string& title, std::vector<std::string>& details);
// What the node keeps.
std::string OrderedStateText(const PlanNode& node);
// "row_number", "first_value"
const char* OverFunctionName(OverFunction function);

}  // namespace weir
