// The select list: one expression a column.  Columns that are only passed on are shared, not copied.
//
// Row kinds pass unchanged.  Rows that an expression refuses are skipped if the source allows it, updates as a whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/operator.h"
#include "sql/expr/expression.h"

namespace weir {

struct ProjectOptions {
  SchemaPtr schema;  // of the output
  std::vector<ExpressionPtr> expressions;
  std::string time_zone = "UTC";
};

Result<std::unique_ptr<Operator>> MakeProject(const ProjectOptions& options);

}  // namespace weir
