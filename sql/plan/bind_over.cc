// Window functions: calls with OVER.
//
// 1. A call is bound over the rows of FROM (or over the groups of a grouped SELECT) and becomes a column behind them.
// 2. Calls with the same partition and order share one kOver node; the nodes stand one on another, and those of one
//    ranking function on top, so that a condition on the number finds it.

#include <algorithm>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;

constexpr int64_t kMicrosADay = int64_t{86'400} * 1'000'000;
constexpr int kMaxWindowReferences = 100;

std::optional<OverFunction> FunctionOf(const std::string& name) {
  static const std::vector<std::pair<std::string, OverFunction>> functions = {
      {"row_number", OverFunction::kRowNumber},   {"rank", OverFunction::kRank},
      {"dense_rank", OverFunction::kDenseRank},   {"lag", OverFunction::kLag},
      {"lead", OverFunction::kLead},              {"first_value", OverFunction::kFirstValue},
      {"last_value", OverFunction::kLastValue},   {"nth_value", OverFunction::kNthValue},
      {"count", OverFunction::kCount},            {"sum", OverFunction::kSum},
      {"min", OverFunction::kMin},                {"max", OverFunction::kMax},
      {"avg", OverFunction::kAvg},
  };
  for (const auto& [known, function] : functions) {
    if (known == name) return function;
  }
  return std::nullopt;
}

std::optional<AggregateFunction> AggregateOf(OverFunction function) {
  switch (function) {
    case OverFunction::kCount:
      return AggregateFunction::kCount;
    case OverFunction::kSum:
      return AggregateFunction::kSum;
    case OverFunction::kMin:
      return AggregateFunction::kMin;
    case OverFunction::kMax:
      return AggregateFunction::kMax;
    case OverFunction::kAvg:
      return AggregateFunction::kAvg;
    default:
      return std::nullopt;
  }
}

bool IsRanking(OverFunction function) { return function <= OverFunction::kDenseRank; }

ExpressionPtr Typed(ExpressionPtr expression) {
  return expression->type().kind == TypeKind::kNull ? MakeNull(StringType()) : expression;
}

// The distance of a RANGE frame in the units in which the sort column is stored.
std::optional<int64_t> Distance(const Expression& offset, const DataType& sorted) {
  const ColumnPtr literal = offset.Literal();
  if (literal == nullptr || literal->IsNull(0)) return std::nullopt;
  const DataType& type = offset.type();
  if (sorted.kind == TypeKind::kDate && type.kind == TypeKind::kInterval) {
    const int64_t micros = literal->ints()[0];
    return micros % kMicrosADay == 0 ? std::optional(micros / kMicrosADay) : std::nullopt;
  }
  if ((sorted.IsTimestamp() || sorted.kind == TypeKind::kTime) && type.kind == TypeKind::kInterval) {
    return literal->ints()[0];
  }
  if (sorted.IsInteger() && type.IsInteger()) return literal->ints()[0];
  if (sorted.kind != TypeKind::kDecimal || !(type.IsInteger() || type.kind == TypeKind::kDecimal)) return std::nullopt;
  const Result<ExpressionPtr> scaled = MakeCast(MakeLiteral(literal), DecimalType(18, sorted.scale));
  if (!scaled) return std::nullopt;
  const ExpressionPtr folded = FoldConstants(*scaled);
  return folded->Literal() == nullptr ? std::nullopt : std::optional(folded->Literal()->ints()[0]);
}

}  // namespace

void ForEachPart(const AstExpression& expression, const std::function<void(const AstExpression&)>& visit) {
  for (const AstExpressionPtr& argument : expression.arguments) visit(*argument);
  if (expression.filter != nullptr) visit(*expression.filter);
  for (const AstAggregateOrder& item : expression.order) visit(*item.expression);
  if (expression.over == nullptr) return;
  for (const AstExpressionPtr& key : expression.over->partition_by) visit(*key);
  for (const AstSortItem& item : expression.over->order_by) visit(*item.expression);
}

bool ContainsWindow(const AstExpression& expression) {
  bool found = expression.over != nullptr;
  ForEachPart(expression, [&](const AstExpression& part) { found = found || ContainsWindow(part); });
  return found;
}

std::optional<AstWindow> Binder::ResolveWindow(const AstWindow& window, const AstOrdering* ordering, int depth) {
  const std::string& name = window.extends;
  if (name.empty()) return window;
  const AstWindow* base = nullptr;
  std::vector<std::string> names;
  for (size_t i = 0; ordering != nullptr && i < ordering->windows.size(); ++i) {
    names.push_back(ordering->windows[i].name);
    if (names.back() == name && base == nullptr) base = &ordering->windows[i];
  }
  if (base == nullptr || depth > kMaxWindowReferences) {
    Fail(window.at, base == nullptr ? "window " + QuotedIfNeeded(name) + " does not exist" + DidYouMean(name, names)
                                    : "window " + QuotedIfNeeded(name) + " is defined by itself");
    return std::nullopt;
  }
  std::optional<AstWindow> resolved = ResolveWindow(*base, ordering, depth + 1);
  if (!resolved || window.is_reference) return resolved;
  const bool again = !window.partition_by.empty() || (!window.order_by.empty() && !resolved->order_by.empty());
  if (again || resolved->frame.written) {
    Fail(window.at, again ? "window " + QuotedIfNeeded(name) + " has a PARTITION BY or ORDER BY that cannot be replaced"
                          : "window " + QuotedIfNeeded(name) + " has a frame; write OVER " + QuotedIfNeeded(name) +
                                " without parentheses");
    return std::nullopt;
  }
  if (!window.order_by.empty()) resolved->order_by = window.order_by;
  resolved->frame = window.frame;
  resolved->at = window.at;
  return resolved;
}

std::optional<int64_t> Binder::WindowNumber(const AstExpression& expression, const std::string& what) {
  const BoundTable nothing{NewOneRow(), {}};
  ExpressionContext context;
  context.table = &nothing;
  context.place = what;
  ExpressionPtr bound = BindExpression(expression, context);
  if (bound == nullptr) return std::nullopt;
  bound = FoldConstants(bound);
  const ColumnPtr literal = bound->Literal();
  if (literal != nullptr && !literal->IsNull(0) && bound->type().IsInteger()) return literal->ints()[0];
  Fail(expression.at, what + " must be a whole number that is known when the job starts");
  return std::nullopt;
}

bool Binder::BindBound(const AstFrameBound& written, bool rows, const BoundWindowCall& bound, size_t at,
                       FrameBound& to) {
  to.kind = static_cast<FrameBound::Kind>(written.kind);
  if (written.offset == nullptr) return true;
  if (rows) {
    const std::optional<int64_t> offset = WindowNumber(*written.offset, "the offset of a frame");
    if (!offset) return false;
    to.offset = *offset;
  } else {
    if (bound.sort.size() != 1) {
      Fail(at, "RANGE with a distance needs ORDER BY of exactly one column");
      return false;
    }
    const BoundTable nothing{NewOneRow(), {}};
    ExpressionContext context;
    context.table = &nothing;
    context.place = "a frame";
    const ExpressionPtr offset = BindExpression(*written.offset, context);
    if (offset == nullptr) return false;
    const DataType& sorted = bound.sort[0].expression->type();
    const std::optional<int64_t> distance = Distance(*FoldConstants(offset), sorted);
    if (!distance) {
      Fail(written.offset->at, "RANGE over " + sorted.ToString() + " cannot have this distance; it takes a number over a "
                               "number and an interval without months over a time, and not over a double");
      return false;
    }
    to.offset = *distance;
  }
  if (to.offset >= 0) return true;
  Fail(written.offset->at, "the offset of a frame must not be negative");
  return false;
}

bool Binder::BindOver(const AstWindow& window, ExpressionContext& inside, BoundWindowCall& bound) {
  bool complete = true;
  for (const AstExpressionPtr& key : window.partition_by) {
    ExpressionPtr expression = BindExpression(*key, inside);
    complete = complete && expression != nullptr;
    if (expression != nullptr) bound.partition.push_back(Typed(std::move(expression)));
  }
  for (const AstSortItem& item : window.order_by) {
    ExpressionPtr expression = BindExpression(*item.expression, inside);
    complete = complete && expression != nullptr;
    if (expression == nullptr) continue;
    expression = Typed(std::move(expression));
    if (!IsOrderable(expression->type())) {
      Fail(item.at, "ORDER BY cannot put " + expression->type().ToString() + " in order");
      complete = false;
    }
    bound.sort.push_back({std::move(expression), item.descending, item.nulls_first});
  }
  Frame& frame = bound.call.frame;
  frame.rows = window.frame.mode == AstFrame::Mode::kRows;
  return complete && BindBound(window.frame.start, frame.rows, bound, window.at, frame.start) &&
         BindBound(window.frame.end, frame.rows, bound, window.at, frame.end);
}

// LAG, LEAD (value [, offset [, default]]) and NTH_VALUE (value, n).
bool Binder::BindNeighbour(const AstExpression& call, ExpressionContext& inside, BoundWindowCall& bound) {
  const bool nth = bound.call.function == OverFunction::kNthValue;
  const size_t count = call.arguments.size();
  if (count < (nth ? 2 : 1) || count > (nth ? 2 : 3)) {
    Fail(call.at, call.text + (nth ? " takes a value and a number" : " takes a value, an offset and a default"));
    return false;
  }
  if (count > 1) {
    const std::optional<int64_t> offset = WindowNumber(*call.arguments[1], "the offset of " + call.text);
    if (!offset) return false;
    bound.call.offset = *offset;
    if (nth && *offset < 1) {
      Fail(call.arguments[1]->at, "the number of nth_value must be at least 1");
      return false;
    }
  }
  if (count < 3) return true;
  ExpressionPtr value = BindExpression(*call.arguments[2], inside);
  if (value == nullptr) return false;
  const DataType type = bound.argument->type();
  const Result<ExpressionPtr> cast = value->type().kind == TypeKind::kNull ? Result<ExpressionPtr>(MakeNull(type))
                                     : value->type() == type               ? Result<ExpressionPtr>(value)
                                                                           : MakeAssignmentCast(value, type);
  if (!cast) {
    Fail(call.arguments[2]->at, "the default of " + call.text + " must be " + type.ToString() + "; cast it");
    return false;
  }
  bound.default_value = FoldConstants(*cast);
  return true;
}

bool Binder::BindWindowFunction(const AstExpression& call, ExpressionContext& inside, BoundWindowCall& bound) {
  const OverFunction function = bound.call.function;
  const std::optional<AggregateFunction> aggregate = AggregateOf(function);
  if (call.distinct || (call.filter != nullptr && !aggregate)) {
    Fail(call.at, call.distinct ? "DISTINCT in a window function is not supported, as in PostgreSQL"
                                : "FILTER belongs to aggregates, and " + call.text + " is none");
    return false;
  }
  if (!call.order.empty()) {
    Fail(call.at, "ORDER BY inside a window function is not supported, as in PostgreSQL; order the window");
    return false;
  }
  if (call.filter != nullptr) {
    bound.filter = BindCondition(*call.filter, inside);
    if (bound.filter == nullptr) return false;
  }
  if (call.star && function == OverFunction::kCount) {
    bound.call.function = OverFunction::kCountStar;
    bound.call.type = BigintType();
    return true;
  }
  if (IsRanking(function)) {
    bound.call.type = BigintType();
    if (call.arguments.empty() && !call.star) return true;
    Fail(call.at, call.text + " takes no argument");
    return false;
  }
  if (call.star || call.arguments.empty() || (aggregate && call.arguments.size() != 1)) {
    Fail(call.at, call.star ? "* is allowed only in COUNT(*)" : call.text + " takes an argument");
    return false;
  }
  bound.argument = BindExpression(*call.arguments[0], inside);
  if (bound.argument == nullptr) return false;
  if (aggregate) {
    const std::optional<DataType> type = AggregateType(call, *aggregate, bound.argument->type());
    if (!type) return false;
    bound.call.type = *type;
    bound.argument = Typed(bound.argument);
    return true;
  }
  bound.argument = Typed(bound.argument);
  bound.call.type = bound.argument->type();
  const bool single = function == OverFunction::kFirstValue || function == OverFunction::kLastValue;
  if (!single) return BindNeighbour(call, inside, bound);
  if (call.arguments.size() == 1) return true;
  Fail(call.at, call.text + " takes one argument");
  return false;
}

ExpressionPtr Binder::BindWindowCall(const AstExpression& call, ExpressionContext& context) {
  if (context.windows == nullptr) {
    return Fail(call.at, context.place == "a window function"
                             ? "window functions cannot be nested; compute the inner one in a subquery"
                             : "window functions are not allowed in " + context.place +
                                   "; compute the value in a subquery and use its column");
  }
  const std::optional<OverFunction> function = FunctionOf(call.text);
  if (!function) {
    return Fail(call.at, call.text + " with OVER is not supported; there are ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, "
                         "FIRST_VALUE, LAST_VALUE, NTH_VALUE, COUNT, SUM, AVG, MIN and MAX");
  }
  const std::optional<AstWindow> window = ResolveWindow(*call.over, context.windows->ordering, 0);
  if (!window) return nullptr;
  ExpressionContext inside = context;
  inside.windows = nullptr;
  inside.place = "a window function";
  BoundWindowCall bound;
  bound.call.function = *function;
  bound.call.name = call.text;
  const bool of_window = BindOver(*window, inside, bound);
  if (!BindWindowFunction(call, inside, bound) || !of_window) return nullptr;
  const DataType type = bound.call.type;
  context.windows->calls.push_back(std::move(bound));
  return MakeColumn(context.windows->first_column + static_cast<int>(context.windows->calls.size()) - 1, type);
}

namespace {

// The calls of one kOver node.
struct WindowNode {
  std::vector<int> partition;
  std::vector<SortColumn> sort;
  std::vector<OverCall> calls;
  std::vector<size_t> numbers;  // of the calls, in the binding

  bool ranks() const { return calls.size() == 1 && IsRanking(calls[0].function); }
};

}  // namespace

PlanPtr Binder::PlanWindows(const WindowBinding& windows, PlanPtr input, std::vector<int>& mapping) {
  std::vector<ExpressionPtr> expressions = ColumnExpressions(*input->schema);
  std::vector<std::string> names = ColumnNames(*input->schema);
  const auto place = [&](const ExpressionPtr& expression) {
    if (expression == nullptr) return -1;
    for (size_t i = 0; i < expressions.size(); ++i) {
      if (expression->deterministic() && expressions[i]->Signature() == expression->Signature())
        return static_cast<int>(i);
    }
    expressions.push_back(expression);
    names.push_back("window_" + std::to_string(expressions.size()));
    return static_cast<int>(expressions.size()) - 1;
  };
  mapping = Iota(input->schema->size());
  std::vector<WindowNode> nodes;
  for (size_t i = 0; i < windows.calls.size(); ++i) {
    const BoundWindowCall& bound = windows.calls[i];
    WindowNode node;
    for (const ExpressionPtr& key : bound.partition) {
      const int column = place(key);
      if (!Contains(node.partition, column)) node.partition.push_back(column);
    }
    for (const BoundSort& sort : bound.sort) {
      const int column = place(sort.expression);
      const bool known = Contains(node.partition, column) ||
                         std::any_of(node.sort.begin(), node.sort.end(), [&](auto& s) { return s.column == column; });
      // A sort column that is constant or that comes again decides nothing; RANGE with a distance looks at it, though.
      if (!known || bound.sort.size() == 1) node.sort.push_back({column, sort.descending, sort.nulls_first});
    }
    OverCall call = bound.call;
    call.argument = place(bound.argument);
    call.filter = place(bound.filter);
    call.default_value = place(bound.default_value);
    const auto same = std::find_if(nodes.begin(), nodes.end(), [&](const WindowNode& other) {
      return other.partition == node.partition && other.sort == node.sort;
    });
    WindowNode& to = same == nodes.end() ? nodes.emplace_back(std::move(node)) : *same;
    to.calls.push_back(std::move(call));
    to.numbers.push_back(i);
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const WindowNode& a, const WindowNode& b) { return !a.ranks() && b.ranks(); });
  mapping.resize(static_cast<size_t>(windows.first_column) + windows.calls.size(), -1);
  PlanPtr plan = NewProject(std::move(input), std::move(expressions), names);
  for (WindowNode& node : nodes) {
    for (size_t i = 0; i < node.numbers.size(); ++i) {
      mapping[static_cast<size_t>(windows.first_column) + node.numbers[i]] =
          static_cast<int>(plan->schema->size() + i);
    }
    plan = NewOver(std::move(plan), std::move(node.partition), std::move(node.sort), std::move(node.calls));
  }
  return plan;
}

}  // namespace weir
