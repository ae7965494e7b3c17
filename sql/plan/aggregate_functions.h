// The aggregate functions: their names, what they take, and the type of what they give.
//
// Types follow PostgreSQL, but for variances, which are double for every input; LISTAGG, FIRST_VALUE, LAST_VALUE and the
// bitmap functions follow Flink.
#pragma once

#include <optional>
#include <string>

#include "sql/plan/plan.h"

namespace weir {

// The name of an aggregate that weir has or that PostgreSQL or Flink have: such a call is never a scalar function.
bool IsAggregateName(const std::string& lower_name);
// Empty for a name that weir does not have.  COUNT is kCount.
std::optional<AggregateFunction> FindAggregate(const std::string& lower_name);
// The names of all that there are, for messages.
std::string AggregateNames();
// "stddev_samp"
const char* AggregateName(AggregateFunction function);

// The type of the result over an argument of this type; empty when the function does not take it.
std::optional<DataType> AggregateResultType(AggregateFunction function, const DataType& argument);

// Without a value its result is 0 and not NULL.
bool CountsNothingAsZero(AggregateFunction function);
// DISTINCT changes nothing: MIN, BOOL_AND, a bitmap.
bool IgnoresDuplicates(AggregateFunction function);
// False where DISTINCT would ask for another result, and which one nobody says.
bool TakesDistinct(AggregateFunction function);
// Takes ORDER BY inside the call.
bool TakesOrder(AggregateFunction function);
// Why it does not work over an input whose rows change or go; empty when it does.
std::string WhyNotRetractable(AggregateFunction function);

}  // namespace weir
