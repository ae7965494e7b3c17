// From row_number() and a condition on it to the first rows of each partition.

#include <algorithm>
#include <optional>

#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

// Rows with these numbers pass a condition; `exact`: all of them do.
struct Range {
  int64_t from = 1;
  int64_t to = RankBounds::kAll;
  bool exact = true;
};

std::optional<int64_t> WholeNumber(const Expression& expression) {
  const ColumnPtr literal = expression.Literal();
  if (literal == nullptr || literal->IsNull(0) || !expression.type().IsInteger()) return std::nullopt;
  return literal->ints()[0];
}

// The operator's name stands before the colon of a signature.
std::string OperatorOf(const Expression& expression) {
  const std::string signature = expression.Signature();
  return signature.substr(0, signature.find(':'));
}

int64_t Before(int64_t value) { return value == std::numeric_limits<int64_t>::min() ? value : value - 1; }
int64_t After(int64_t value) { return value == RankBounds::kAll ? value : value + 1; }

std::optional<Range> Comparison(const std::string& name, int64_t value) {
  if (name == "=") return Range{value, value, true};
  if (name == "<=") return Range{1, value, true};
  if (name == "<") return Range{1, Before(value), true};
  if (name == ">=") return Range{value, RankBounds::kAll, true};
  if (name == ">") return Range{After(value), RankBounds::kAll, true};
  return std::nullopt;
}

std::string Mirrored(const std::string& name) {
  if (name == "<") return ">";
  if (name == "<=") return ">=";
  if (name == ">") return "<";
  if (name == ">=") return "<=";
  return name;
}

std::optional<Range> RangeOf(const Expression& conjunct, int number) {
  const std::vector<ExpressionPtr> arguments = conjunct.children();
  const std::string name = OperatorOf(conjunct);
  if (name == "IN" && arguments.size() > 1 && arguments[0]->ColumnIndex() == number) {
    Range range{RankBounds::kAll, 0, false};
    for (size_t i = 1; i < arguments.size(); ++i) {
      const std::optional<int64_t> value = WholeNumber(*arguments[i]);
      if (!value) return std::nullopt;
      range.from = std::min(range.from, *value);
      range.to = std::max(range.to, *value);
    }
    return range;
  }
  if (arguments.size() != 2) return std::nullopt;
  const bool left = arguments[0]->ColumnIndex() == number;
  if (!left && arguments[1]->ColumnIndex() != number) return std::nullopt;
  const std::optional<int64_t> value = WholeNumber(*arguments[left ? 1 : 0]);
  return value ? Comparison(left ? name : Mirrored(name), *value) : std::nullopt;
}

bool IsRanking(OverFunction function) {
  return function == OverFunction::kRowNumber || function == OverFunction::kRank ||
         function == OverFunction::kDenseRank;
}

}  // namespace

PlanPtr BoundRank(PlanPtr over, std::vector<ExpressionPtr>& conjuncts) {
  if (over->kind != NodeKind::kOver || over->over.size() != 1) return over;
  const OverCall& call = over->over[0];
  if (!IsRanking(call.function)) return over;
  const auto number = static_cast<int>(over->inputs[0]->schema->size());
  RankBounds bounds;
  bounds.function = call.function;
  bounds.output = true;
  bounds.name = call.name;
  std::vector<ExpressionPtr> left;
  for (const ExpressionPtr& conjunct : conjuncts) {
    const std::optional<Range> range = RangeOf(*conjunct, number);
    if (range) {
      bounds.from = std::max(bounds.from, range->from);
      bounds.to = std::min(bounds.to, range->to);
    }
    if (!range || !range->exact) left.push_back(conjunct);
  }
  if (bounds.to == RankBounds::kAll) return over;
  // Keep-last: the newest by an order that is descending throughout.
  bounds.latest_first = bounds.one_row() && !over->sort.empty() &&
                        std::all_of(over->sort.begin(), over->sort.end(), [](const SortColumn& c) { return c.descending; });
  conjuncts = std::move(left);
  return NewRank(over->inputs[0], over->partition, over->sort, std::move(bounds));
}

}  // namespace weir
