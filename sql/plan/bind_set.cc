// UNION, INTERSECT and EXCEPT.
//
// The rows of both sides are put together, each with a mark of its side, and grouped by all columns, in which NULL is
// equal to NULL.  Of INTERSECT and EXCEPT the groups stay that have rows of both sides, or of the left alone; with ALL
// every group is repeated as often as its counts say.

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

using SetOperation = AstSelect::SetOperation;

const char* WordOf(SetOperation operation) {
  if (operation == SetOperation::kIntersect) return "INTERSECT";
  return operation == SetOperation::kExcept ? "EXCEPT" : "UNION";
}

ExpressionPtr Int(int64_t value) {
  auto column = std::make_shared<Column>(IntType());
  column->AppendInt(value);
  return MakeLiteral(std::move(column));
}

// The columns of the side and two more: left_mark and right_mark.
PlanPtr Marked(PlanPtr side, const ExpressionPtr& left_mark, const ExpressionPtr& right_mark) {
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*side->schema);
  std::vector<std::string> names = ColumnNames(*side->schema);
  expressions.push_back(left_mark);
  expressions.push_back(right_mark);
  names.push_back("of_left");
  names.push_back("of_right");
  return NewProject(std::move(side), std::move(expressions), names);
}

}  // namespace

Result<PlanPtr> Binder::PlanIntersectOrExcept(SetOperation operation, bool all, PlanPtr left, PlanPtr right) {
  const size_t width = left->schema->size();
  const std::vector<std::string> names = ColumnNames(*left->schema);
  const bool intersect = operation == SetOperation::kIntersect;
  const int columns = static_cast<int>(width);
  // Whether a group has rows of a side is a largest mark of 0 or 1: it changes less often than a count.
  const DataType type = all ? BigintType() : IntType();
  AggregateCall call;
  call.function = all ? AggregateFunction::kCountStar : AggregateFunction::kMax;
  call.type = type;
  std::vector<AggregateCall> calls(2, call);
  for (int side = 0; side < 2; ++side) {
    AggregateCall& made = calls[static_cast<size_t>(side)];
    made.name = side == 0 ? "left_rows" : "right_rows";
    (all ? made.filter : made.argument) = columns + side;
  }
  const ExpressionPtr yes = all ? MakeBoolean(true) : Int(1);
  const ExpressionPtr no = all ? MakeBoolean(false) : Int(0);
  std::vector<PlanPtr> sides = {Marked(std::move(left), yes, no), Marked(std::move(right), no, yes)};
  PlanPtr plan = NewAggregate(NewUnion(std::move(sides)), Iota(width), std::move(calls));
  const ExpressionPtr left_rows = MakeColumn(columns, type);
  const ExpressionPtr right_rows = MakeColumn(columns + 1, type);
  if (all) {
    WEIR_ASSIGN(ExpressionPtr times, MakeCall(intersect ? "LEAST" : "-", {left_rows, right_rows}));
    plan = NewUnnest(std::move(plan), UnnestFunction::kSeries, {MakeBigint(1), std::move(times)},
                     {{"copy", BigintType(), false}}, /*ordinality=*/false, /*outer=*/false);
  } else {
    WEIR_ASSIGN(ExpressionPtr in_left, MakeCall("=", {left_rows, Int(1)}));
    WEIR_ASSIGN(ExpressionPtr in_right, MakeCall("=", {right_rows, Int(intersect ? 1 : 0)}));
    plan = NewFilter(std::move(plan), JoinAnd({std::move(in_left), std::move(in_right)}));
  }
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*plan->schema);
  expressions.resize(width);
  return NewProject(std::move(plan), std::move(expressions), names);
}

PlanPtr Binder::BindSetOperation(const AstSelect& select, const CteScope* ctes) {
  PlanPtr left = select.left == nullptr ? nullptr : BindSelect(*select.left, ctes, nullptr, /*keep_nulls=*/true);
  const std::vector<size_t> left_places = item_places_;
  PlanPtr right = select.right == nullptr ? nullptr : BindSelect(*select.right, ctes, nullptr, /*keep_nulls=*/true);
  if (left == nullptr || right == nullptr) return nullptr;
  const std::string word = WordOf(select.set_operation);
  const size_t width = left->schema->size();
  if (right->schema->size() != width) {
    return Fail(select.at, "the two sides of " + word + " have " + std::to_string(width) + " and " +
                               std::to_string(right->schema->size()) + " columns");
  }
  std::vector<DataType> types;
  for (size_t i = 0; i < width; ++i) {
    const Field& a = (*left->schema)[i];
    const Field& b = (*right->schema)[i];
    const std::optional<DataType> common = CommonType(a.type, b.type);
    if (!common) {
      return Fail(select.at, "column " + std::to_string(i + 1) + " of " + word + " (" + QuotedIfNeeded(a.name) +
                                 ") is " + a.type.ToString() + " on the left and " + b.type.ToString() +
                                 " on the right; cast one");
    }
    types.push_back(*common);
  }
  left = UniteTypes(std::move(left), types, select.at);
  right = UniteTypes(std::move(right), types, select.at);
  if (left == nullptr || right == nullptr) return nullptr;
  item_places_ = left_places;  // a set operation has the names of its left side
  if (select.set_operation == SetOperation::kUnion) {
    PlanPtr all = NewUnion({std::move(left), std::move(right)});
    return select.all ? all : NewDistinct(ResolveNulls(std::move(all)));
  }
  Result<PlanPtr> plan = PlanIntersectOrExcept(select.set_operation, select.all, ResolveNulls(std::move(left)),
                                               ResolveNulls(std::move(right)));
  return plan ? *plan : Fail(select.at, plan.error().message);
}

PlanPtr Binder::UniteTypes(PlanPtr arm, const std::vector<DataType>& types, size_t at) {
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*arm->schema);
  bool changed = false;
  for (size_t i = 0; i < types.size(); ++i) {
    if (expressions[i]->type() == types[i]) continue;
    // A NULL has no column form: it is replaced where it was written, at the top of the arm.
    Result<ExpressionPtr> cast = expressions[i]->type().kind == TypeKind::kNull
                                     ? Result<ExpressionPtr>(MakeNull(types[i]))
                                     : MakeAssignmentCast(expressions[i], types[i]);
    if (!cast) return Fail(at, cast.error().message);
    expressions[i] = *cast;
    changed = true;
  }
  if (!changed) return arm;
  const std::vector<std::string> names = ColumnNames(*arm->schema);
  return NewProject(std::move(arm), std::move(expressions), names);
}

}  // namespace weir
