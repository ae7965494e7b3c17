#include "operators/registry.h"

#include "operators/aggregate/aggregate.h"
#include "operators/aggregate/local_aggregate.h"
#include "operators/filter.h"
#include "operators/join/join.h"
#include "operators/key_order.h"
#include "operators/log_table.h"
#include "operators/normalise.h"
#include "operators/over/over.h"
#include "operators/project.h"
#include "operators/rank/rank.h"
#include "operators/table.h"
#include "operators/temporal_join.h"
#include "operators/unnest.h"
#include "operators/window.h"

namespace weir {
namespace {

const SchemaPtr& InputSchema(const PlanNode& node, size_t i = 0) { return node.inputs.at(i)->schema; }

Result<std::unique_ptr<Operator>> MakeJoinOf(const PlanNode& node, const OperatorBuildOptions& build) {
  JoinOptions options;
  options.type = node.join_type;
  options.left = {InputSchema(node, 0), node.left_keys, node.left_unique, node.left_mode,
                  node.left_table.kind == TableKind::kDeclared, node.left_expiry};
  options.right = {InputSchema(node, 1), node.right_keys, node.right_unique, node.right_mode,
                   node.right_table.kind == TableKind::kDeclared, node.right_expiry};
  options.null_safe = node.null_safe;
  options.condition = node.condition;
  options.output_columns = build.output_columns;
  options.schema = build.output_columns ? build.output_schema : node.schema;
  options.time_zone = build.time_zone;
  options.state = build.state;
  if (build.tables[0]) {
    options.tables = JoinTables{build.tables[0], build.tables[1], node.left_table.bucket_columns,
                                node.right_table.bucket_columns};
  }
  return MakeJoin(options);
}

Result<std::unique_ptr<Operator>> MakeAggregateOf(const PlanNode& node, const OperatorBuildOptions& build) {
  AggregateOptions options{InputSchema(node), node.schema, node.group_columns, node.calls, node.input_retracts,
                           build.state,       node.windows,       node.partial, node.rows};
  if (node.late_rows) {
    options.late_columns = node.late_rows->columns;
    options.late_schema = std::make_shared<Schema>(node.late_rows->fields);
  }
  return MakeAggregate(options);
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeOperator(const PlanNode& node, const OperatorBuildOptions& build) {
  const size_t inputs = node.kind == NodeKind::kJoin || node.kind == NodeKind::kTemporalJoin ? 2 : 1;
  const bool any_number = node.kind == NodeKind::kTable;
  if (node.inputs.size() != inputs && !any_number) return PlanError("node " + node.id + " has the wrong number of inputs");
  switch (node.kind) {
    case NodeKind::kFilter:
      return MakeFilter({node.condition, build.time_zone});
    case NodeKind::kProject:
      return MakeProject({node.schema, node.expressions, build.time_zone});
    case NodeKind::kJoin:
      return MakeJoinOf(node, build);
    case NodeKind::kAggregate:
      return MakeAggregateOf(node, build);
    case NodeKind::kLocalAggregate:
      return MakeLocalAggregate({InputSchema(node), node.schema, node.group_columns, node.calls, node.input_retracts,
                                 node.windows, node.mini_batch});
    case NodeKind::kWindow:
      return MakeWindow({node.schema, node.window, node.time_column});
    case NodeKind::kNormalise:
      return MakeNormalise({node.schema, node.key, build.state});
    case NodeKind::kKeyOrder:
      return MakeKeyOrder({node.schema, node.key});
    case NodeKind::kRank:
      return MakeRank({InputSchema(node), node.schema, node.partition, node.sort, node.rank, node.input_retracts,
                       build.state});
    case NodeKind::kOver:
      return MakeOver({InputSchema(node), node.schema, node.partition, node.sort, node.over, node.input_retracts,
                       node.over_time, build.state});
    case NodeKind::kTable:
      if (node.table.kind == TableKind::kLog) {
        return MakeLogTableOperator({node.schema, node.table.bucket_columns, build.tables[0], build.table_is_read});
      }
      return MakeTableOperator({node.schema, node.key, node.table.bucket_columns, build.tables[0], build.table_is_read});
    case NodeKind::kTemporalJoin:
      return MakeTemporalJoin({{InputSchema(node, 0), node.left_keys, node.left_time},
                               {InputSchema(node, 1), node.right_keys, node.right_time},
                               node.before,
                               node.join_type == JoinType::kLeft,
                               node.schema,
                               build.state});
    case NodeKind::kUnnest:
      return MakeUnnest({node.schema, node.expressions, node.unnest_function, node.ordinality, node.unnest_outer,
                         build.time_zone});
    case NodeKind::kScan:
    case NodeKind::kExchange:
    case NodeKind::kUnion:
    case NodeKind::kLateRows:
    case NodeKind::kSink:
    case NodeKind::kValues:
      break;
  }
  return PlanError("node " + node.id + " is not an operator");
}

}  // namespace weir
