// From a plan node to its operator: the one place where kinds of nodes and operators meet.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/state/keyed_state.h"
#include "sql/plan/plan.h"
#include "tables/table.h"

namespace weir {

struct OperatorBuildOptions {
  std::string time_zone = "UTC";
  StateOptions state;
  // Joins: when a projection of columns alone follows, those columns, counted over left and then right columns, and the
  // schema of the projection; the join then does its work and the projection is left out.
  std::optional<std::vector<int>> output_columns;
  SchemaPtr output_schema;
  // A delta join's, or a regular join's whose state is in RocksDB: of the left and the right input.  A table's own: the
  // first.
  std::shared_ptr<Table> tables[2];
  bool table_is_read = true;
};

// Filter, project, join, aggregate, normalise, key order, table and log table.  Scans and sinks are connectors, exchanges and
// unions are edges, values are a source (operators/values.h): for these it is an error.
Result<std::unique_ptr<Operator>> MakeOperator(const PlanNode& node, const OperatorBuildOptions& options);

}  // namespace weir
