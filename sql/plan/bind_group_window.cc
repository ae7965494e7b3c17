// GROUP BY TUMBLE(time, size): the form with the window among the keys, as older Flink writes it.
//
// The window function goes below the grouping, with its columns under a name that no query can write.  In SELECT and
// HAVING, TUMBLE_START(time, size) stands for window_start, TUMBLE_END for window_end, TUMBLE_ROWTIME for window_time; their
// arguments have to be those of GROUP BY.

#include <utility>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;

const char* const kWindowTable = "(window)";

AstExpressionPtr WindowColumnOf(size_t at, const char* name) {
  auto column = std::make_shared<AstExpression>();
  column->kind = Kind::kColumn;
  column->at = at;
  column->names = {kWindowTable, name};
  return column;
}

// The same tree of names and values, wherever it stands.
bool SameText(const AstExpression& a, const AstExpression& b) {
  if (a.kind != b.kind || a.text != b.text || a.names != b.names || a.arguments.size() != b.arguments.size()) {
    return false;
  }
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    if (!SameText(*a.arguments[i], *b.arguments[i])) return false;
  }
  return a.type == b.type;
}

// Replaces calls like TUMBLE_START by columns.
class Rewriter {
 public:
  explicit Rewriter(const AstExpression& window) : window_(window) {}

  AstExpressionPtr Rewrite(const AstExpressionPtr& expression) {
    if (expression == nullptr) return nullptr;
    if (expression->kind == Kind::kFunction) {
      for (const auto& [suffix, column] : {std::pair{"_start", "window_start"}, std::pair{"_end", "window_end"},
                                           std::pair{"_rowtime", "window_time"}}) {
        if (expression->text == window_.text + suffix) return Bound(*expression, column);
      }
    }
    auto copy = std::make_shared<AstExpression>(*expression);
    for (AstExpressionPtr& argument : copy->arguments) argument = Rewrite(argument);
    copy->filter = Rewrite(copy->filter);
    return copy;
  }
  // The first call whose arguments are not those of GROUP BY.
  const AstExpression* other() const { return other_; }

 private:
  AstExpressionPtr Bound(const AstExpression& call, const char* column) {
    AstExpression plain = call;
    plain.text = window_.text;
    if (!SameText(plain, window_) && other_ == nullptr) other_ = &call;
    return WindowColumnOf(call.at, column);
  }

  const AstExpression& window_;
  const AstExpression* other_ = nullptr;
};

}  // namespace

PlanPtr Binder::BindGroupWindow(const AstSelect& select, const std::vector<AstSelectItem>& items,
                                const BoundTable& from, const CteScope* ctes, const AstExpression& call) {
  // A late row is one before it is filtered.
  BoundTable below = from;
  std::vector<ExpressionPtr> conditions;
  while (below.plan->kind == NodeKind::kFilter) {
    conditions.push_back(below.plan->condition);
    below.plan = below.plan->inputs[0];
  }
  BoundTable windowed = from;
  windowed.plan = BindWindow(call.text, call.at, call.arguments, 0, below);
  if (windowed.plan == nullptr) return nullptr;
  const bool by_groups = windowed.plan->window.function == WindowFunction::kSession;
  if (by_groups && !windowed.plan->session_keys.empty()) {
    return Fail(call.at, "SESSION in GROUP BY takes a time and a gap; its keys are the other columns of GROUP BY");
  }
  windowed.plan->sessions_by_groups = by_groups;
  const int width = static_cast<int>(below.plan->schema->size());
  windowed.scope.tables.push_back(kWindowTable);
  for (const char* name : {"window_start", "window_end", "window_time"}) {
    const int index = width + static_cast<int>(windowed.scope.columns.size() - from.scope.columns.size());
    windowed.scope.columns.push_back({kWindowTable, name, index, true, true});
  }
  for (auto condition = conditions.rbegin(); condition != conditions.rend(); ++condition) {
    windowed.plan = NewFilter(std::move(windowed.plan), *condition);
  }
  Rewriter rewriter(call);
  AstSelect rewritten = select;
  rewritten.group_by.clear();
  for (const AstExpressionPtr& key : select.group_by) {
    if (!IsWindowCall(*key)) {
      rewritten.group_by.push_back(key);
    } else if (!SameText(*key, call)) {
      return Fail(key->at, "GROUP BY takes one window");
    }
  }
  for (const char* name : {"window_start", "window_end", "window_time"}) {
    rewritten.group_by.push_back(WindowColumnOf(call.at, name));
  }
  std::vector<AstSelectItem> rewritten_items = items;
  for (AstSelectItem& item : rewritten_items) {
    if (item.alias.empty() && item.expression->kind == Kind::kFunction) item.alias = item.expression->text;
    item.expression = rewriter.Rewrite(item.expression);
  }
  rewritten.having = rewriter.Rewrite(select.having);
  if (const AstExpression* other = rewriter.other()) {
    return Fail(other->at, "the arguments have to be those of " + call.text + " in GROUP BY");
  }
  return BindGrouped(rewritten, rewritten_items, windowed, ctes);
}

}  // namespace weir
