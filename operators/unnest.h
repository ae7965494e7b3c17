// UNNEST(array, ...) and generate_series(from, to[, step]) in FROM: makes a row for every element.
//
// The output has the input's columns, then one column an array (or the number of the series), then, with ordinality,
// the place of the element from 1.  Several arrays run side by side, the shorter ones filled up with NULL.  A NULL or
// empty array, or a NULL bound, gives no row; with `outer` it gives one whose added columns are NULL (LEFT JOIN).
//
// Row kinds: all; +I and +U become +I, -U and -D become -D, as an update may change how many rows there are.  Keeps no
// state.  Errors: kData from an argument, or from a step of 0.  A row with a million elements is given out in batches,
// with Process returning kMore where the output has no room.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/operator.h"
#include "sql/expr/expression.h"
#include "sql/plan/plan.h"

namespace weir {

struct UnnestOptions {
  SchemaPtr schema;                      // of the output
  std::vector<ExpressionPtr> arguments;  // over the input: arrays, or the two or three bigints of a series
  UnnestFunction function = UnnestFunction::kArrays;
  bool ordinality = false;
  bool outer = false;
  std::string time_zone = "UTC";
};

Result<std::unique_ptr<Operator>> MakeUnnest(const UnnestOptions& options);

}  // namespace weir
