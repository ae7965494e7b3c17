// WHERE and HAVING: passes the rows for which a condition is true.
//
// Row kinds: of an update whose one row passes alone, the -U becomes -D and the +U becomes +I.  Rows whose condition
// cannot be computed are skipped if the source allows it (OperatorContext::on_row_error), an update as a whole.
#pragma once

#include <memory>
#include <string>

#include "engine/runtime/operator.h"
#include "sql/expr/expression.h"

namespace weir {

struct FilterOptions {
  ExpressionPtr condition;  // boolean, over the input's columns
  std::string time_zone = "UTC";
};

Result<std::unique_ptr<Operator>> MakeFilter(const FilterOptions& options);

}  // namespace weir
