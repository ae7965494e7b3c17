#include "sql/plan/nodes.h"

#include <algorithm>
#include <numeric>

#include "sql/plan/aggregate_functions.h"

namespace weir {
namespace {

PlanPtr NewNode(NodeKind kind, std::vector<PlanPtr> inputs) {
  auto node = std::make_shared<PlanNode>();
  node->kind = kind;
  node->inputs = std::move(inputs);
  return node;
}

void AppendFields(const Schema& schema, bool nullable, std::vector<Field>& fields) {
  for (Field field : schema.fields()) {
    field.nullable = field.nullable || nullable;
    fields.push_back(std::move(field));
  }
}

std::vector<Field> JoinFields(const PlanNode& join) {
  std::vector<Field> fields;
  const JoinType type = join.join_type;
  AppendFields(*join.inputs[0]->schema, type == JoinType::kRight || type == JoinType::kFull, fields);
  if (!LeftColumnsOnly(type)) {
    AppendFields(*join.inputs[1]->schema, type == JoinType::kLeft || type == JoinType::kFull, fields);
  }
  return fields;
}

std::vector<Field> UnionFields(const PlanNode& node) {
  std::vector<Field> fields = node.inputs[0]->schema->fields();
  for (const PlanPtr& input : node.inputs) {
    for (size_t i = 0; i < fields.size(); ++i) fields[i].nullable = fields[i].nullable || (*input->schema)[i].nullable;
  }
  return fields;
}

// The bounds of windows over a time column: of its kind, with milliseconds at least, which window_time needs.
void AppendWindowFields(DataType time, std::vector<Field>& fields) {
  time.precision = std::max<uint8_t>(time.precision, 3);
  for (const char* name : {"window_start", "window_end", "window_time"}) fields.push_back({name, time, false});
}

// What the exchange before an aggregate of two phases carries.
std::vector<Field> LocalAggregateFields(const PlanNode& node) {
  std::vector<Field> fields;
  const Schema& input = *node.inputs[0]->schema;
  for (const int column : node.group_columns) fields.push_back(input[static_cast<size_t>(column)]);
  if (node.windows && node.windows->assigned) {
    fields.push_back(input[static_cast<size_t>(node.windows->time)]);
    if (node.windows->condition >= 0) fields.push_back(input[static_cast<size_t>(node.windows->condition)]);
  }
  fields.push_back({"partial", {TypeKind::kBytes}, false});
  return fields;
}

std::vector<Field> AggregateFields(const PlanNode& node) {
  std::vector<Field> fields;
  const Schema& input = *node.inputs[0]->schema;
  for (const int column : node.group_columns) fields.push_back(input[static_cast<size_t>(column)]);
  if (node.windows && node.windows->assigned) {
    AppendWindowFields(input[static_cast<size_t>(node.windows->time)].type, fields);
  }
  for (const AggregateCall& call : node.calls) {
    fields.push_back({call.name, call.type, !CountsNothingAsZero(call.function)});
  }
  return fields;
}

// The input's columns, and the number behind them.
std::vector<Field> RankFields(const PlanNode& node) {
  std::vector<Field> fields = node.inputs[0]->schema->fields();
  if (node.rank.output) fields.push_back({node.rank.name, BigintType(), false});
  return fields;
}

bool NeverNull(OverFunction function) {
  return function == OverFunction::kRowNumber || function == OverFunction::kRank ||
         function == OverFunction::kDenseRank || function == OverFunction::kCount ||
         function == OverFunction::kCountStar;
}

std::vector<Field> OverFields(const PlanNode& node) {
  std::vector<Field> fields = node.inputs[0]->schema->fields();
  for (const OverCall& call : node.over) fields.push_back({call.name, call.type, !NeverNull(call.function)});
  return fields;
}

}  // namespace

std::vector<int> AggregateKey(const PlanNode& aggregate) {
  std::vector<int> key = Iota(aggregate.group_columns.size());
  if (aggregate.windows && aggregate.windows->assigned) key.push_back(static_cast<int>(key.size()) + 1);
  return key;
}

bool LeftColumnsOnly(JoinType type) { return type == JoinType::kSemi || type == JoinType::kAnti; }

bool CanBeNull(const Expression& expression, const Schema& schema) {
  if (const int column = expression.ColumnIndex(); column >= 0) return schema[static_cast<size_t>(column)].nullable;
  if (const ColumnPtr literal = expression.Literal()) return literal->IsNull(0);
  return !expression.NeverNull();
}

// An expression tells its operator only by its signature: it is `name` of its children if building that gives the same.
bool IsCall(const char* name, const Expression& expression) {
  const std::vector<ExpressionPtr> children = expression.children();
  if (children.size() != 2) return false;
  const Result<ExpressionPtr> rebuilt = MakeCall(name, children);
  return rebuilt && (*rebuilt)->Signature() == expression.Signature();
}

Schema JoinedSchema(const PlanNode& join) {
  std::vector<Field> fields;
  AppendFields(*join.inputs[0]->schema, false, fields);
  AppendFields(*join.inputs[1]->schema, false, fields);
  return Schema(std::move(fields));
}

void RefreshSchema(PlanNode& node) {
  switch (node.kind) {
    case NodeKind::kScan:
    case NodeKind::kValues:
      return;  // given at construction
    case NodeKind::kProject: {
      std::vector<Field> fields;
      for (size_t i = 0; i < node.expressions.size(); ++i) {
        const Expression& expression = *node.expressions[i];
        fields.push_back({(*node.schema)[i].name, expression.type(), CanBeNull(expression, *node.inputs[0]->schema)});
      }
      node.schema = std::make_shared<Schema>(std::move(fields));
      return;
    }
    case NodeKind::kJoin:
    case NodeKind::kTemporalJoin:
      node.schema = std::make_shared<Schema>(JoinFields(node));
      return;
    case NodeKind::kUnion:
      node.schema = std::make_shared<Schema>(UnionFields(node));
      return;
    case NodeKind::kAggregate:
      node.schema = std::make_shared<Schema>(AggregateFields(node));
      return;
    case NodeKind::kLocalAggregate:
      node.schema = std::make_shared<Schema>(LocalAggregateFields(node));
      return;
    case NodeKind::kRank:
      node.schema = std::make_shared<Schema>(RankFields(node));
      return;
    case NodeKind::kOver:
      node.schema = std::make_shared<Schema>(OverFields(node));
      return;
    case NodeKind::kWindow: {
      std::vector<Field> fields = node.inputs[0]->schema->fields();
      AppendWindowFields(fields[static_cast<size_t>(node.time_column)].type, fields);
      node.schema = std::make_shared<Schema>(std::move(fields));
      return;
    }
    case NodeKind::kLateRows:
      node.schema = std::make_shared<Schema>(node.inputs[0]->late_rows->fields);
      return;
    case NodeKind::kTable:
      if (!node.table.declared) node.schema = node.inputs[0]->schema;
      return;
    case NodeKind::kUnnest: {
      std::vector<Field> fields = node.inputs[0]->schema->fields();
      fields.insert(fields.end(), node.unnest_fields.begin(), node.unnest_fields.end());
      node.schema = std::make_shared<Schema>(std::move(fields));
      return;
    }
    case NodeKind::kFilter:
    case NodeKind::kNormalise:
    case NodeKind::kExchange:
    case NodeKind::kKeyOrder:
    case NodeKind::kSink:
      node.schema = node.inputs[0]->schema;
      return;
  }
}

PlanPtr NewScan(const CatalogRelation& relation, std::vector<int> columns) {
  PlanPtr node = NewNode(NodeKind::kScan, {});
  std::vector<Field> fields;
  for (const int column : columns) fields.push_back(relation.schema[static_cast<size_t>(column)]);
  node->relation = relation.name;
  node->schema = std::make_shared<Schema>(std::move(fields));
  node->scan_columns = std::move(columns);
  return node;
}

PlanPtr NewFilter(PlanPtr input, ExpressionPtr condition) {
  PlanPtr node = NewNode(NodeKind::kFilter, {std::move(input)});
  node->condition = std::move(condition);
  RefreshSchema(*node);
  return node;
}

PlanPtr NewProject(PlanPtr input, std::vector<ExpressionPtr> expressions, const std::vector<std::string>& names) {
  WEIR_CHECK_EQ(expressions.size(), names.size());
  PlanPtr node = NewNode(NodeKind::kProject, {std::move(input)});
  node->expressions = std::move(expressions);
  std::vector<Field> fields;
  for (size_t i = 0; i < names.size(); ++i) fields.push_back({names[i], node->expressions[i]->type(), true});
  node->schema = std::make_shared<Schema>(std::move(fields));
  RefreshSchema(*node);
  return node;
}

PlanPtr SelectColumns(PlanPtr input, const std::vector<int>& columns) {
  if (columns == Iota(input->schema->size())) return input;
  std::vector<ExpressionPtr> expressions;
  std::vector<std::string> names;
  for (const int column : columns) {
    const Field& field = (*input->schema)[static_cast<size_t>(column)];
    expressions.push_back(MakeColumn(column, field.type));
    names.push_back(field.name);
  }
  return NewProject(std::move(input), std::move(expressions), names);
}

PlanPtr NewJoin(PlanPtr left, PlanPtr right, JoinType type, ExpressionPtr condition) {
  PlanPtr node = NewNode(NodeKind::kJoin, {std::move(left), std::move(right)});
  node->join_type = type;
  node->condition = std::move(condition);
  RefreshSchema(*node);
  return node;
}

PlanPtr NewTemporalJoin(PlanPtr left, PlanPtr right, bool keep) {
  PlanPtr node = NewNode(NodeKind::kTemporalJoin, {std::move(left), std::move(right)});
  node->join_type = keep ? JoinType::kLeft : JoinType::kInner;
  RefreshSchema(*node);
  return node;
}

PlanPtr NewAggregate(PlanPtr input, std::vector<int> group_columns, std::vector<AggregateCall> calls) {
  PlanPtr node = NewNode(NodeKind::kAggregate, {std::move(input)});
  node->group_columns = std::move(group_columns);
  node->calls = std::move(calls);
  RefreshSchema(*node);
  return node;
}

PlanPtr NewRank(PlanPtr input, std::vector<int> partition, std::vector<SortColumn> sort, RankBounds bounds) {
  PlanPtr node = NewNode(NodeKind::kRank, {std::move(input)});
  node->partition = std::move(partition);
  node->sort = std::move(sort);
  node->rank = std::move(bounds);
  RefreshSchema(*node);
  return node;
}

PlanPtr NewWindow(PlanPtr input, const WindowSpec& window, int time_column, std::vector<int> session_keys) {
  PlanPtr node = NewNode(NodeKind::kWindow, {std::move(input)});
  node->window = window;
  node->time_column = time_column;
  node->session_keys = std::move(session_keys);
  RefreshSchema(*node);
  return node;
}

PlanPtr NewOver(PlanPtr input, std::vector<int> partition, std::vector<SortColumn> sort, std::vector<OverCall> calls) {
  PlanPtr node = NewNode(NodeKind::kOver, {std::move(input)});
  node->partition = std::move(partition);
  node->sort = std::move(sort);
  node->over = std::move(calls);
  RefreshSchema(*node);
  return node;
}

PlanPtr NewDistinct(PlanPtr input) {
  const size_t width = input->schema->size();
  return NewAggregate(std::move(input), Iota(width), {});
}

PlanPtr NewValues(Batch rows) {
  PlanPtr node = NewNode(NodeKind::kValues, {});
  node->schema = rows.schema();
  node->values = std::move(rows);
  return node;
}

PlanPtr NewOneRow() {
  BatchBuilder builder(std::make_shared<Schema>(std::vector<Field>{{"row", BigintType(), false}}));
  builder.column(0).AppendInt(1);
  builder.FinishRow(RowKind::kInsert);
  return NewValues(builder.Build());
}

PlanPtr NewUnion(std::vector<PlanPtr> inputs) {
  PlanPtr node = NewNode(NodeKind::kUnion, std::move(inputs));
  RefreshSchema(*node);
  return node;
}

PlanPtr NewUnnest(PlanPtr input, UnnestFunction function, std::vector<ExpressionPtr> arguments,
                  std::vector<Field> fields, bool ordinality, bool outer) {
  PlanPtr node = NewNode(NodeKind::kUnnest, {std::move(input)});
  node->unnest_function = function;
  node->expressions = std::move(arguments);
  node->unnest_fields = std::move(fields);
  node->ordinality = ordinality;
  node->unnest_outer = outer;
  RefreshSchema(*node);
  return node;
}

PlanPtr ClonePlan(const PlanPtr& plan) {
  auto copy = std::make_shared<PlanNode>(*plan);
  for (PlanPtr& input : copy->inputs) input = ClonePlan(input);
  return copy;
}

PlanPtr NewKeyed(NodeKind kind, PlanPtr input, std::vector<int> key) {
  PlanPtr node = NewNode(kind, {std::move(input)});
  node->key = std::move(key);
  RefreshSchema(*node);
  return node;
}

std::vector<int> Iota(size_t count, int offset) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), offset);
  return numbers;
}

std::vector<ExpressionPtr> ColumnExpressions(const Schema& schema) {
  std::vector<ExpressionPtr> expressions;
  for (size_t i = 0; i < schema.size(); ++i) expressions.push_back(MakeColumn(static_cast<int>(i), schema[i].type));
  return expressions;
}

std::vector<std::string> ColumnNames(const Schema& schema) {
  std::vector<std::string> names;
  for (const Field& field : schema.fields()) names.push_back(field.name);
  return names;
}

bool Contains(const std::vector<int>& set, int value) { return std::find(set.begin(), set.end(), value) != set.end(); }

bool IsSubset(const std::vector<int>& part, const std::vector<int>& whole) {
  return std::all_of(part.begin(), part.end(), [&](int value) { return Contains(whole, value); });
}

bool SameSet(const std::vector<int>& a, const std::vector<int>& b) { return IsSubset(a, b) && IsSubset(b, a); }

}  // namespace weir
