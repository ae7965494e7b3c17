#include "sql/plan/join_times.h"

#include <algorithm>
#include <array>

#include "sql/plan/event_time.h"
#include "sql/plan/nodes.h"

namespace weir {
namespace {

struct Moment {
  int column = -1;
  Micros offset = 0;
};

// column, column + interval, column - interval
std::optional<Moment> AsMoment(const ExpressionPtr& expression) {
  if (expression->ColumnIndex() >= 0) return Moment{expression->ColumnIndex(), 0};
  const std::vector<ExpressionPtr> parts = expression->children();
  if (parts.size() != 2 || parts[1]->type().kind != TypeKind::kInterval) return std::nullopt;
  const ColumnPtr literal = FoldConstants(parts[1])->Literal();
  if (literal == nullptr || literal->IsNull(0)) return std::nullopt;
  const std::optional<Moment> inner = AsMoment(parts[0]);
  if (!inner) return std::nullopt;
  const Micros by = literal->ints()[0];
  if (IsCall("+", *expression)) return Moment{inner->column, inner->offset + by};
  if (IsCall("-", *expression)) return Moment{inner->column, inner->offset - by};
  return std::nullopt;
}

}  // namespace

std::optional<TimeBound> AsTimeBound(const ExpressionPtr& conjunct) {
  struct Form {
    const char* name;
    bool greater;
    bool strict;
  };
  constexpr std::array<Form, 4> kForms = {
      {{"<=", false, false}, {"<", false, true}, {">=", true, false}, {">", true, true}}};
  for (const Form& form : kForms) {
    if (!IsCall(form.name, *conjunct)) continue;
    const std::vector<ExpressionPtr> sides = conjunct->children();
    const std::optional<Moment> low = AsMoment(sides[form.greater ? 1 : 0]);
    const std::optional<Moment> high = AsMoment(sides[form.greater ? 0 : 1]);
    if (!low || !high) return std::nullopt;
    // low.column + low.offset <= high.column + high.offset
    return TimeBound{low->column, high->column, low->offset - high->offset, form.strict};
  }
  return std::nullopt;
}

namespace {

// Equal ends of windows: when the watermark has reached one and the lateness, all rows of both sides have come.
bool ExpireWithWindows(PlanNode& join, const EventTimes& left, const EventTimes& right) {
  for (size_t i = 0; i < join.left_keys.size(); ++i) {
    if (!Contains(left.window_ends, join.left_keys[i]) || !Contains(right.window_ends, join.right_keys[i])) continue;
    const Micros offset = std::max(left.lateness, right.lateness) - 1;
    join.left_expiry = RowExpiry{join.left_keys[i], offset};
    join.right_expiry = RowExpiry{join.right_keys[i], offset};
    return true;
  }
  return false;
}

}  // namespace

void FindExpiry(PlanNode& join, const Catalog& catalog) {
  const EventTimes left = EventTimesOf(*join.inputs[0], catalog);
  const EventTimes right = EventTimesOf(*join.inputs[1], catalog);
  if (ExpireWithWindows(join, left, right) || join.condition == nullptr || LeftColumnsOnly(join.join_type)) return;
  const int left_width = static_cast<int>(join.inputs[0]->schema->size());
  // Rows with the end E of a window come before the watermark E: what is said of times holds for them too.
  const auto is_time = [&](int column) {
    const EventTimes& side = column < left_width ? left : right;
    const int own = column < left_width ? column : column - left_width;
    return Contains(side.times, own) || Contains(side.window_ends, own);
  };
  for (const ExpressionPtr& conjunct : SplitAnd(join.condition)) {
    const std::optional<TimeBound> bound = AsTimeBound(conjunct);
    if (!bound || (bound->earlier < left_width) == (bound->later < left_width)) continue;
    if (!is_time(bound->earlier) || !is_time(bound->later)) continue;
    // A later row of the other side that matches has a time of at most later - offset: the row goes when the watermark
    // is above that, and no window of the other side takes late rows any more.
    const bool of_left = bound->later < left_width;
    const int column = of_left ? bound->later : bound->later - left_width;
    const int other = of_left ? bound->earlier - left_width : bound->earlier;
    const EventTimes& others = of_left ? right : left;
    const Micros behind = Contains(others.window_times, other) ? 1000 : 0;  // of the watermark, if that has microseconds
    const Micros offset = others.lateness + behind - bound->offset;
    std::optional<RowExpiry>& expiry = of_left ? join.left_expiry : join.right_expiry;
    if (!expiry || offset < expiry->offset) expiry = RowExpiry{column, offset};
  }
}

}  // namespace weir
