#include "sql/plan/grouping.h"

#include <algorithm>

#include "sql/plan/nodes.h"

namespace weir {
namespace {

// FILTER is evaluated before the argument, which may fail on the rows that it drops.
ExpressionPtr Guarded(const BoundAggregate& bound, const ExpressionPtr& expression) {
  if (bound.filter == nullptr || !expression->CanFail()) return expression;
  auto guarded = MakeCall("CASE", {bound.filter, expression, MakeNull(expression->type())});
  return guarded ? *guarded : expression;
}

// What the aggregate reads, with the calls over its columns.
struct AggregateInput {
  PlanPtr project;
  std::vector<AggregateCall> calls;
};

AggregateInput MakeInput(const Grouping& grouping, const PlanPtr& input) {
  std::vector<ExpressionPtr> expressions = grouping.keys;
  std::vector<std::string> names = grouping.key_names;
  // An argument that is already there (a key, or another call's argument) is not computed twice.
  const auto place = [&](const ExpressionPtr& expression, const std::string& name) {
    const int column = expression->ColumnIndex();
    for (size_t i = 0; i < expressions.size(); ++i) {
      if (expression->deterministic() && expressions[i]->Signature() == expression->Signature())
        return static_cast<int>(i);
    }
    expressions.push_back(expression);
    names.push_back(column >= 0 ? (*input->schema)[static_cast<size_t>(column)].name : name);
    return static_cast<int>(expressions.size() - 1);
  };
  AggregateInput made;
  for (const BoundAggregate& bound : grouping.calls) {
    AggregateCall call;
    call.function = bound.function;
    call.distinct = bound.distinct;
    call.type = bound.type;
    call.name = bound.name;
    call.separator = bound.separator;
    if (bound.argument != nullptr) call.argument = place(Guarded(bound, bound.argument), bound.name + "_argument");
    if (bound.filter != nullptr) call.filter = place(bound.filter, bound.name + "_filter");
    for (const BoundAggregate::Order& order : bound.order) {
      const int column = place(Guarded(bound, order.expression), bound.name + "_order");
      call.order.push_back({column, order.descending, order.nulls_first});
    }
    made.calls.push_back(std::move(call));
  }
  // A group without columns would have no way to be a row.
  if (grouping.keys.empty() && made.calls.empty()) {
    made.calls.emplace_back();
    made.calls.back().type = BigintType();
    made.calls.back().name = "count";
  }
  made.project = NewProject(input, std::move(expressions), names);
  return made;
}

// Plans are trees until equal parts are shared, so each use of one needs nodes of its own.
PlanPtr Copy(const PlanPtr& node) {
  auto copy = std::make_shared<PlanNode>(*node);
  for (PlanPtr& input : copy->inputs) input = Copy(input);
  return copy;
}

// The aggregate of one grouping set, with the columns of the whole.
PlanPtr PlanSet(const Grouping& grouping, const std::vector<size_t>& set, const AggregateInput& input) {
  std::vector<int> columns;
  for (const size_t key : set) columns.push_back(static_cast<int>(key));
  std::vector<AggregateCall> calls = input.calls;
  if (columns.empty() && calls.empty()) {
    calls.emplace_back();
    calls.back().type = BigintType();
    calls.back().name = "count";
  }
  const size_t call_count = input.calls.size();
  PlanPtr aggregate = NewAggregate(Copy(input.project), columns, std::move(calls));
  std::vector<ExpressionPtr> expressions;
  std::vector<std::string> names = grouping.key_names;
  int64_t left_out = 0;
  for (size_t key = 0; key < grouping.keys.size(); ++key) {
    const auto found = std::find(set.begin(), set.end(), key);
    const DataType& type = grouping.keys[key]->type();
    if (found == set.end()) left_out |= int64_t{1} << key;
    expressions.push_back(found == set.end() ? MakeNull(type) : MakeColumn(static_cast<int>(found - set.begin()), type));
  }
  expressions.push_back(MakeBigint(left_out));
  names.push_back("grouping");
  for (size_t i = 0; i < call_count; ++i) {
    expressions.push_back(MakeColumn(static_cast<int>(set.size() + i), input.calls[i].type));
    names.push_back(input.calls[i].name);
  }
  return NewProject(std::move(aggregate), std::move(expressions), names);
}

}  // namespace

PlanPtr PlanGrouping(const Grouping& grouping, const PlanPtr& input) {
  AggregateInput made = MakeInput(grouping, input);
  if (grouping.sets.empty()) {
    return NewAggregate(std::move(made.project), Iota(grouping.keys.size()), std::move(made.calls));
  }
  std::vector<PlanPtr> arms;
  for (const std::vector<size_t>& set : grouping.sets) arms.push_back(PlanSet(grouping, set, made));
  return arms.size() == 1 ? arms.front() : NewUnion(std::move(arms));
}

}  // namespace weir
