// One walk down.  Push(node, conjuncts) returns a plan equal to filter(conjuncts) over node.

#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

using Conjuncts = std::vector<ExpressionPtr>;

bool IsTrue(const Expression& expression) {
  const ColumnPtr literal = expression.Literal();
  return literal != nullptr && !literal->IsNull(0) && literal->physical() == Physical::kBool &&
         literal->bools()[0] != 0;
}

void AddConjuncts(const ExpressionPtr& condition, Conjuncts& conjuncts) {
  if (condition == nullptr) return;
  for (const ExpressionPtr& conjunct : SplitAnd(condition)) {
    ExpressionPtr folded = FoldConstants(conjunct);
    if (!IsTrue(*folded)) conjuncts.push_back(std::move(folded));
  }
}

PlanPtr Wrap(PlanPtr node, const Conjuncts& conjuncts) {
  return conjuncts.empty() ? node : NewFilter(std::move(node), JoinAnd(conjuncts));
}

// No row whose columns are all NULL passes the conjunct.
bool RejectsNulls(const ExpressionPtr& conjunct, const SchemaPtr& schema) {
  if (!conjunct->deterministic()) return false;
  std::vector<ColumnPtr> columns;
  for (const Field& field : schema->fields()) columns.push_back(Column::Nulls(field.type, 1));
  const RowResult<ColumnPtr> value = conjunct->Evaluate(Batch(schema, std::move(columns), 1), EvalContext{});
  return value && ((*value)->IsNull(0) || (*value)->bools()[0] == 0);
}

enum class Side { kNone, kLeft, kRight, kBoth };

Side SideOf(const ExpressionPtr& conjunct, int left_width) {
  const std::vector<int> columns = ColumnsOf(conjunct);
  if (columns.empty()) return Side::kNone;
  if (columns.back() < left_width) return Side::kLeft;
  return columns.front() >= left_width ? Side::kRight : Side::kBoth;
}

// A condition above an outer join that drops the rows extended with NULL on one side: they need not be made.
void MakeStricter(PlanNode& join, const Conjuncts& conjuncts) {
  const int left_width = static_cast<int>(join.inputs[0]->schema->size());
  for (const ExpressionPtr& conjunct : conjuncts) {
    const Side side = SideOf(conjunct, left_width);
    if (side == Side::kNone || side == Side::kBoth || !RejectsNulls(conjunct, join.schema)) continue;
    const JoinType type = join.join_type;
    if (side == Side::kRight) {
      if (type == JoinType::kLeft) join.join_type = JoinType::kInner;
      if (type == JoinType::kFull) join.join_type = JoinType::kRight;
    } else {
      if (type == JoinType::kRight) join.join_type = JoinType::kInner;
      if (type == JoinType::kFull) join.join_type = JoinType::kLeft;
    }
  }
}

PlanPtr Push(PlanPtr node, Conjuncts conjuncts);

PlanPtr PushJoin(PlanPtr join, Conjuncts conjuncts) {
  const int left_width = static_cast<int>(join->inputs[0]->schema->size());
  const size_t right_width = join->inputs[1]->schema->size();
  if (!LeftColumnsOnly(join->join_type)) MakeStricter(*join, conjuncts);
  const JoinType type = join->join_type;
  const bool inner = type == JoinType::kInner;
  const bool keeps_left = inner || type == JoinType::kLeft || LeftColumnsOnly(type);  // WHERE may go to the left side
  const bool keeps_right = inner || type == JoinType::kRight;
  Conjuncts left, right, on, above;
  // ON comes before WHERE, also where both end up in one condition: the first may guard the second.
  // Conditions in ON: a side whose rows are all kept cannot lose any by them; the other side can.
  Conjuncts written;
  AddConjuncts(join->condition, written);
  const bool on_to_left = inner || type == JoinType::kRight || type == JoinType::kSemi;
  const bool on_to_right = inner || type == JoinType::kLeft || LeftColumnsOnly(type);
  for (ExpressionPtr& conjunct : written) {
    const Side side = SideOf(conjunct, left_width);
    if (conjunct->deterministic() && on_to_left && side == Side::kLeft) {
      left.push_back(std::move(conjunct));
    } else if (conjunct->deterministic() && on_to_right && side == Side::kRight) {
      right.push_back(std::move(conjunct));
    } else {
      on.push_back(std::move(conjunct));
    }
  }
  for (ExpressionPtr& conjunct : conjuncts) {
    const Side side = SideOf(conjunct, left_width);
    if (!conjunct->deterministic()) {
      above.push_back(std::move(conjunct));
    } else if (keeps_left && (side == Side::kLeft || side == Side::kNone)) {
      left.push_back(std::move(conjunct));
    } else if (keeps_right && (side == Side::kRight || side == Side::kNone)) {
      right.push_back(std::move(conjunct));
    } else if (inner) {
      on.push_back(std::move(conjunct));
    } else {
      above.push_back(std::move(conjunct));
    }
  }
  std::vector<int> to_right(static_cast<size_t>(left_width), -1);
  const std::vector<int> shifted = Iota(right_width);
  to_right.insert(to_right.end(), shifted.begin(), shifted.end());
  for (ExpressionPtr& conjunct : right) conjunct = conjunct->Remap(to_right);
  join->condition = on.empty() ? nullptr : JoinAnd(on);
  join->inputs[0] = Push(join->inputs[0], std::move(left));
  join->inputs[1] = Push(join->inputs[1], std::move(right));
  RefreshSchema(*join);
  return Wrap(std::move(join), above);
}

PlanPtr PushProject(PlanPtr project, const Conjuncts& conjuncts) {
  Conjuncts below, above;
  for (ExpressionPtr& expression : project->expressions) expression = FoldConstants(expression);
  for (const ExpressionPtr& conjunct : conjuncts) {
    bool movable = conjunct->deterministic();
    for (const int column : ColumnsOf(conjunct)) {
      movable = movable && project->expressions[static_cast<size_t>(column)]->deterministic();
    }
    ExpressionPtr moved = movable ? Substitute(conjunct, project->expressions) : nullptr;
    if (moved == nullptr) {
      above.push_back(conjunct);
    } else {
      AddConjuncts(moved, below);
    }
  }
  project->inputs[0] = Push(project->inputs[0], std::move(below));
  RefreshSchema(*project);
  return Wrap(std::move(project), above);
}

PlanPtr PushAggregate(PlanPtr aggregate, const Conjuncts& conjuncts) {
  Conjuncts below, above;
  const int groups = static_cast<int>(aggregate->group_columns.size());
  for (const ExpressionPtr& conjunct : conjuncts) {
    const std::vector<int> columns = ColumnsOf(conjunct);
    const bool movable = conjunct->deterministic() && !columns.empty() && columns.back() < groups;
    ExpressionPtr moved = movable ? conjunct->Remap(aggregate->group_columns) : nullptr;
    (moved == nullptr ? above : below).push_back(moved == nullptr ? conjunct : moved);
  }
  aggregate->inputs[0] = Push(aggregate->inputs[0], std::move(below));
  RefreshSchema(*aggregate);
  return Wrap(std::move(aggregate), above);
}

// Conditions on the columns of the partition drop whole partitions and go below; those on the number of a row in its
// partition make it a kRank node; the others stay above.
PlanPtr PushOrdered(PlanPtr node, Conjuncts conjuncts) {
  Conjuncts below, above;
  for (ExpressionPtr& conjunct : conjuncts) {
    const std::vector<int> columns = ColumnsOf(conjunct);
    const bool movable = conjunct->deterministic() && !columns.empty() && IsSubset(columns, node->partition);
    (movable ? below : above).push_back(std::move(conjunct));
  }
  node->inputs[0] = Push(node->inputs[0], std::move(below));
  RefreshSchema(*node);
  return Wrap(BoundRank(std::move(node), above), above);
}

// Conditions on the left rows alone may come before their versions are looked up.
PlanPtr PushTemporalJoin(PlanPtr join, const Conjuncts& conjuncts) {
  Conjuncts below, above;
  const int left_width = static_cast<int>(join->inputs[0]->schema->size());
  for (const ExpressionPtr& conjunct : conjuncts) {
    const Side side = SideOf(conjunct, left_width);
    const bool movable = conjunct->deterministic() && (side == Side::kLeft || side == Side::kNone);
    (movable ? below : above).push_back(conjunct);
  }
  join->inputs[0] = Push(join->inputs[0], std::move(below));
  join->inputs[1] = Push(join->inputs[1], {});
  RefreshSchema(*join);
  return Wrap(std::move(join), above);
}

PlanPtr PushUnnest(PlanPtr unnest, const Conjuncts& conjuncts) {
  Conjuncts below, above;
  const int width = static_cast<int>(unnest->inputs[0]->schema->size());
  for (ExpressionPtr& expression : unnest->expressions) expression = FoldConstants(expression);
  for (const ExpressionPtr& conjunct : conjuncts) {
    const std::vector<int> columns = ColumnsOf(conjunct);
    const bool movable = conjunct->deterministic() && (columns.empty() || columns.back() < width);
    (movable ? below : above).push_back(conjunct);
  }
  unnest->inputs[0] = Push(unnest->inputs[0], std::move(below));
  RefreshSchema(*unnest);
  return Wrap(std::move(unnest), above);
}

PlanPtr Push(PlanPtr node, Conjuncts conjuncts) {
  switch (node->kind) {
    case NodeKind::kFilter: {
      Conjuncts all;
      AddConjuncts(node->condition, all);
      all.insert(all.end(), conjuncts.begin(), conjuncts.end());
      return Push(node->inputs[0], std::move(all));
    }
    case NodeKind::kProject:
      return PushProject(std::move(node), conjuncts);
    case NodeKind::kJoin:
      return PushJoin(std::move(node), std::move(conjuncts));
    case NodeKind::kAggregate:
      return PushAggregate(std::move(node), conjuncts);
    case NodeKind::kRank:
    case NodeKind::kOver:
      return PushOrdered(std::move(node), std::move(conjuncts));
    case NodeKind::kTemporalJoin:
      return PushTemporalJoin(std::move(node), conjuncts);
    case NodeKind::kUnnest:
      return PushUnnest(std::move(node), conjuncts);
    case NodeKind::kUnion: {
      for (PlanPtr& input : node->inputs) input = Push(input, conjuncts);
      RefreshSchema(*node);
      return node;
    }
    case NodeKind::kWindow: {
      // A late row is one before it is filtered: a condition stays above the windows.
      node->inputs[0] = Push(node->inputs[0], {});
      RefreshSchema(*node);
      return Wrap(std::move(node), conjuncts);
    }
    case NodeKind::kSink: {
      node->inputs[0] = Push(node->inputs[0], {});
      RefreshSchema(*node);
      return node;
    }
    default:
      return Wrap(std::move(node), conjuncts);
  }
}

}  // namespace

PlanPtr PushFilters(PlanPtr plan) { return Push(std::move(plan), {}); }

}  // namespace weir
