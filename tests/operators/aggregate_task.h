// An aggregate over rows of six columns, for its tests.
#pragma once

#include "operators/aggregate/aggregate.h"
#include "tests/operators/fakes.h"

namespace weir::testing {

inline const SchemaPtr kAggregateInput = MakeSchema({{"g", BigintType()},
                                     {"v", BigintType()},
                                     {"d", DoubleType()},
                                     {"t", StringType()},
                                     {"f", BooleanType()},
                                     {"m", DecimalType(12, 2)}});

inline AggregateOptions AggregateOver(std::vector<int> groups, std::vector<AggregateCall> calls, bool retracts) {
  AggregateOptions options;
  options.input = kAggregateInput;
  options.input_retracts = retracts;
  std::vector<Field> fields;
  for (const int column : groups) fields.push_back((*kAggregateInput)[static_cast<size_t>(column)]);
  for (const AggregateCall& call : calls) fields.push_back({call.name, call.type});
  options.schema = MakeSchema(fields);
  options.group_columns = std::move(groups);
  options.calls = std::move(calls);
  return options;
}

struct AggregateTask : OperatorUnderTest {
  explicit AggregateTask(const AggregateOptions& options, int task = 0, int parallelism = 1)
      : OperatorUnderTest(MakeAggregate(options), kAggregateInput, task, parallelism) {}
};

}  // namespace weir::testing
