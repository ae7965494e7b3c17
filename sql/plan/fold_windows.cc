// Groupings by windows: which aggregates end with a window, and which assign their rows to windows themselves.
//
// 1. An aggregate over a window function, with projections and filters between, takes the function in: rows travel
//    once, not once a window, and are late or not where all of the watermark is known.  The conditions between become a
//    column of rows that count; those on windows alone go above the aggregate.
// 2. An aggregate whose group columns have the end of a window that its rows carry ends with it.
// 3. Sessions exist only in an aggregate: one that was not taken in is an error.

#include <algorithm>

#include "sql/plan/event_time.h"
#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

// What stands between an aggregate and the window function below it, over the function's columns.
struct Between {
  const PlanNode* window = nullptr;
  std::vector<ExpressionPtr> columns;  // the aggregate's input columns
  std::vector<ExpressionPtr> conditions;
};

bool LookBelow(const PlanPtr& input, Between& between) {
  const PlanNode* node = input.get();
  between.columns = ColumnExpressions(*node->schema);
  while (node->kind == NodeKind::kProject || node->kind == NodeKind::kFilter) {
    if (node->kind == NodeKind::kFilter) {
      if (!node->condition->deterministic()) return false;
      between.conditions.push_back(node->condition);
    } else {
      for (const ExpressionPtr& expression : node->expressions) {
        if (!expression->deterministic()) return false;
      }
      const auto substitute = [&](std::vector<ExpressionPtr>& expressions) {
        for (ExpressionPtr& expression : expressions) {
          expression = Substitute(expression, node->expressions);
          if (expression == nullptr) return false;
        }
        return true;
      };
      if (!substitute(between.columns) || !substitute(between.conditions)) return false;
    }
    node = node->inputs[0].get();
  }
  if (node->kind == NodeKind::kWindow) between.window = node;
  // The condition next to the rows is evaluated first and may guard the others.
  std::reverse(between.conditions.begin(), between.conditions.end());
  return between.window != nullptr;
}

// The columns of the aggregate's new input, each once.
class Columns {
 public:
  explicit Columns(PlanPtr input) : input_(std::move(input)) {}

  int Place(const ExpressionPtr& expression, const std::string& name) {
    for (size_t i = 0; i < expressions_.size(); ++i) {
      if (expressions_[i]->Signature() == expression->Signature()) return static_cast<int>(i);
    }
    expressions_.push_back(expression);
    names_.push_back(name);
    return static_cast<int>(expressions_.size() - 1);
  }
  PlanPtr Build() { return NewProject(input_, expressions_, names_); }

 private:
  PlanPtr input_;
  std::vector<ExpressionPtr> expressions_;
  std::vector<std::string> names_;
};

class Folding {
 public:
  Folding(const Catalog& catalog, Micros lateness, Micros early, std::vector<QueryError>& errors)
      : catalog_(catalog), lateness_(lateness), early_(early), errors_(errors) {}

  void Visit(PlanPtr& node) {
    if (node->kind == NodeKind::kAggregate) {
      PlanPtr folded = TakeIn(node);
      if (folded != nullptr) {
        node = folded;
        // Below the new input nothing has been looked at.
        PlanNode* aggregate = node.get();
        while (aggregate->kind != NodeKind::kAggregate) aggregate = aggregate->inputs[0].get();
        Visit(aggregate->inputs[0]);
        return;
      }
    }
    for (PlanPtr& input : node->inputs) Visit(input);
    if (node->kind == NodeKind::kWindow && node->window.function == WindowFunction::kSession) RefuseSession(*node);
    if (node->kind == NodeKind::kRank) {
      node->rank.lateness = lateness_;
      node->rank.early = early_ > 0;
    }
    if (node->kind == NodeKind::kAggregate) EndWithWindow(*node);
  }

 private:
  // The aggregate that assigns its rows, below what gives its columns their places; null where it cannot.
  PlanPtr TakeIn(const PlanPtr& node) {
    Between between;
    if (!LookBelow(node->inputs[0], between)) return nullptr;
    const PlanNode& window = *between.window;
    const int width = static_cast<int>(window.inputs[0]->schema->size());
    const auto of_window = [&](const ExpressionPtr& expression) {
      const std::vector<int> columns = ColumnsOf(expression);
      return !columns.empty() && columns.back() >= width;
    };
    std::vector<ExpressionPtr> counted, above;
    for (const ExpressionPtr& condition : between.conditions) {
      for (const ExpressionPtr& conjunct : SplitAnd(condition)) (of_window(conjunct) ? above : counted).push_back(conjunct);
    }
    bool ends = false;
    std::vector<int> groups;  // of the node's group columns: those that are no bound of a window
    for (size_t i = 0; i < node->group_columns.size(); ++i) {
      const ExpressionPtr& key = between.columns[static_cast<size_t>(node->group_columns[i])];
      const int bound = key->ColumnIndex() - width;
      if (bound < 0 && of_window(key)) return nullptr;
      if (bound < 0) groups.push_back(static_cast<int>(i));
      ends = ends || bound > 0 || (bound == 0 && window.window.function != WindowFunction::kCumulate);
    }
    if (!ends) return nullptr;
    for (const AggregateCall& call : node->calls) {
      const auto reads_window = [&](int column) {
        return column >= 0 && of_window(between.columns[static_cast<size_t>(column)]);
      };
      if (reads_window(call.argument) || reads_window(call.filter)) return nullptr;
      for (const AggregateOrder& key : call.order) {
        if (reads_window(key.column)) return nullptr;
      }
    }
    if (!SessionKeysAre(*node, between, groups)) return nullptr;
    return Build(node, between, groups, counted, above);
  }

  bool SessionKeysAre(const PlanNode& node, const Between& between, const std::vector<int>& groups) const {
    const PlanNode& window = *between.window;
    if (window.window.function != WindowFunction::kSession || window.sessions_by_groups) return true;
    std::vector<int> keys;
    for (const int group : groups) {
      keys.push_back(between.columns[static_cast<size_t>(node.group_columns[static_cast<size_t>(group)])]->ColumnIndex());
    }
    return SameSet(keys, window.session_keys);
  }

  PlanPtr Build(const PlanPtr& node, const Between& between, const std::vector<int>& groups,
                const std::vector<ExpressionPtr>& counted, const std::vector<ExpressionPtr>& above) {
    const PlanNode& window = *between.window;
    const Schema& names = *node->inputs[0]->schema;
    const ExpressionPtr condition = counted.empty() ? nullptr : JoinAnd(counted);
    Columns columns(window.inputs[0]);
    // A row that does not count may fail in what is computed of it.
    const auto place = [&](int column) {
      ExpressionPtr expression = between.columns[static_cast<size_t>(column)];
      if (condition != nullptr && expression->CanFail()) {
        const auto guarded = MakeCall("CASE", {condition, expression, MakeNull(expression->type())});
        if (guarded) expression = *guarded;
      }
      return columns.Place(expression, names[static_cast<size_t>(column)].name);
    };
    std::vector<int> group_columns;
    for (const int group : groups) group_columns.push_back(place(node->group_columns[static_cast<size_t>(group)]));
    std::vector<AggregateCall> calls = node->calls;
    for (AggregateCall& call : calls) {
      if (call.argument >= 0) call.argument = place(call.argument);
      if (call.filter >= 0) call.filter = place(call.filter);
      for (AggregateOrder& key : call.order) key.column = place(key.column);
    }
    WindowGrouping grouping;
    grouping.spec = window.window;
    const Field& time = (*window.inputs[0]->schema)[static_cast<size_t>(window.time_column)];
    grouping.time = columns.Place(MakeColumn(window.time_column, time.type), time.name);
    if (condition != nullptr) grouping.condition = columns.Place(condition, "counts");
    grouping.lateness = lateness_;
    grouping.early = early_;
    PlanPtr aggregate = NewAggregate(columns.Build(), std::move(group_columns), std::move(calls));
    aggregate->windows = grouping;
    RefreshSchema(*aggregate);
    return Restore(*node, between, groups, std::move(aggregate), above);
  }

  // The columns of the aggregate that was, and the conditions on windows.
  PlanPtr Restore(const PlanNode& node, const Between& between, const std::vector<int>& groups, PlanPtr aggregate,
                  const std::vector<ExpressionPtr>& above) {
    const int width = static_cast<int>(between.window->inputs[0]->schema->size());
    const int own = static_cast<int>(groups.size());
    std::vector<int> places;  // of the old output's columns in the new one
    std::vector<int> of_window(static_cast<size_t>(width), -1);
    for (int i = 0; i < static_cast<int>(kWindowColumns); ++i) of_window.push_back(own + i);
    for (size_t i = 0; i < node.group_columns.size(); ++i) {
      const ExpressionPtr& key = between.columns[static_cast<size_t>(node.group_columns[i])];
      const auto group = std::find(groups.begin(), groups.end(), static_cast<int>(i));
      if (group == groups.end()) {
        places.push_back(own + key->ColumnIndex() - width);
        continue;
      }
      places.push_back(static_cast<int>(group - groups.begin()));
      if (key->ColumnIndex() >= 0) of_window[static_cast<size_t>(key->ColumnIndex())] = places.back();
    }
    for (size_t i = 0; i < node.calls.size(); ++i) places.push_back(own + static_cast<int>(kWindowColumns + i));
    std::vector<ExpressionPtr> conditions;
    for (const ExpressionPtr& conjunct : above) {
      ExpressionPtr moved = conjunct->Remap(of_window);
      if (moved == nullptr) return nullptr;
      conditions.push_back(std::move(moved));
    }
    const Schema& schema = *aggregate->schema;
    std::vector<ExpressionPtr> expressions;
    for (const int column : places) {
      expressions.push_back(MakeColumn(column, schema[static_cast<size_t>(column)].type));
    }
    if (!conditions.empty()) aggregate = NewFilter(std::move(aggregate), JoinAnd(conditions));
    return NewProject(std::move(aggregate), std::move(expressions), ColumnNames(*node.schema));
  }

  void EndWithWindow(PlanNode& aggregate) {
    const EventTimes input = EventTimesOf(*aggregate.inputs[0], catalog_);
    for (size_t i = 0; i < aggregate.group_columns.size(); ++i) {
      if (!Contains(input.window_ends, aggregate.group_columns[i])) continue;
      WindowGrouping grouping;
      grouping.assigned = false;
      grouping.end_group = static_cast<int>(i);
      grouping.lateness = lateness_;
      grouping.early = early_;
      aggregate.windows = grouping;
      return;
    }
  }

  void RefuseSession(const PlanNode& window) {
    errors_.push_back({window.query, window.line, window.column,
                       "sessions exist only where they are grouped: write GROUP BY with the keys of SESSION, "
                       "window_start and window_end, and nothing else, and group its result again for other groups"});
  }

  const Catalog& catalog_;
  const Micros lateness_;
  const Micros early_;
  std::vector<QueryError>& errors_;
};

}  // namespace

void FoldWindows(PlanPtr& sink, const Catalog& catalog, Micros lateness, Micros early,
                 std::vector<QueryError>& errors) {
  Folding(catalog, lateness, early, errors).Visit(sink);
}

}  // namespace weir
