// What filter and project do with a row that an expression refuses: skip it if its source says so, else fail.
#pragma once

#include "engine/runtime/operator.h"
#include "sql/expr/expression.h"

namespace weir {

// The batch without row `failed` (and without the other row of its update), after asking on_row_error; or the error
// that ends the job, when the batch has no positions or its source does not skip.
Result<Batch> WithoutFailedRow(const Batch& batch, const RowError& failed, const OperatorContext& context);

}  // namespace weir
