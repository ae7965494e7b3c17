// Which joins read their rows from tables, and why the others do not.
//
// A delta join needs an equality of one type on both sides (by which both tables are spread alike), inputs that give the
// same rows whenever they are computed, and a unique key of each input, by which a row is found again.  A key that the
// query did not select is carried along below the join and dropped above it.
#include <algorithm>

#include "sql/plan/nodes.h"
#include "sql/plan/placement.h"
#include "sql/plan/rules.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

// The relation that filters and projections read; null below anything else.
const PlanNode* ScanBelow(const PlanNode& node) {
  const PlanNode* below = &node;
  while (below->kind == NodeKind::kFilter || below->kind == NodeKind::kProject) below = below->inputs[0].get();
  return below->kind == NodeKind::kScan ? below : nullptr;
}

// An expression that a table below does not freeze; null when there is none.
const Expression* VolatileBelow(const PlanNode& node) {
  if (node.condition != nullptr && !node.condition->deterministic()) return node.condition.get();
  for (const ExpressionPtr& expression : node.expressions) {
    if (!expression->deterministic()) return expression.get();
  }
  for (const PlanPtr& input : node.inputs) {
    if (const Expression* found = VolatileBelow(*input)) return found;
  }
  return nullptr;
}

class JoinChooser {
 public:
  JoinChooser(const Catalog& catalog, JoinOption option, std::vector<QueryError>& errors)
      : catalog_(catalog), option_(option), errors_(errors) {
    tables_ = std::any_of(catalog.relations.begin(), catalog.relations.end(),
                          [](const CatalogRelation& r) { return r.kind == CatalogRelation::Kind::kTable; });
  }

  void Visit(PlanPtr& node) {
    for (PlanPtr& input : node->inputs) Visit(input);
    RefreshSchema(*node);
    if (node->kind != NodeKind::kJoin) return;
    PlanNode& join = *node;
    if (option_ == JoinOption::kRegular) {
      join.strategy_reason = "the job says join: regular";
      return;
    }
    join.strategy_reason = WhyNot(join);
    if (join.strategy_reason.empty() && option_ == JoinOption::kAuto) join.strategy_reason = WhyNotByItself(join);
    if (!join.strategy_reason.empty()) {
      if (option_ == JoinOption::kDelta) Refuse(join);
      return;
    }
    join.strategy = JoinStrategy::kDelta;
    node = CarryKeys(node);
  }

 private:
  std::string WhyNot(const PlanNode& join) const {
    if (join.left_keys.empty()) {
      return "it has no equality between its inputs, by which a row finds its matches; add one to its condition";
    }
    if (!join.mixed_keys.empty()) {
      return "the types of " + join.mixed_keys +
             " differ, and values of different types hash differently; declare both columns with one type, or cast one in "
             "the query";
    }
    for (size_t side = 0; side < 2; ++side) {
      const PlanNode& input = *join.inputs[side];
      if (const Expression* found = VolatileBelow(input)) {
        return found->ToString(*input.schema) +
               " below it has another value each time it is computed, so a row could not be looked up as it came; "
               "write it into a table first, and join the table";
      }
      if (LogicalKeys(input, catalog_).empty() && !CanCarryKey(input)) return WithoutKey(input, side);
    }
    return {};
  }

  // `join: auto` leaves a job without tables as it is.
  std::string WhyNotByItself(const PlanNode& join) const {
    if (!tables_) return "no tables are declared; declare its inputs under tables, or set join: delta, which makes them";
    for (size_t side = 0; side < 2; ++side) {
      const PlanNode* scan = ScanBelow(*join.inputs[side]);
      if (scan != nullptr && catalog_.Find(scan->relation)->kind == CatalogRelation::Kind::kTable) continue;
      const std::string what = scan == nullptr ? "the result of another operator"
                                               : "source " + QuotedIfNeeded(scan->relation);
      return std::string("its ") + (side == 0 ? "left" : "right") + " input is " + what +
             ", not a declared table; write it into one, or set join: delta, which makes the table";
    }
    return {};
  }

  std::string WithoutKey(const PlanNode& input, size_t side) const {
    const std::string place = side == 0 ? "left" : "right";
    if (const PlanNode* scan = ScanBelow(input)) {
      const CatalogRelation& relation = *catalog_.Find(scan->relation);
      const std::string name = QuotedIfNeeded(relation.name);
      if (relation.IsLogTable()) {
        return "its " + place + " input " + name + " is a log table, which has no key by which a row is found again; give " +
               name + " a primary_key";
      }
      if (relation.primary_key.empty()) {
        return "its " + place + " input " + name + " has no key by which a row is found again; give " + name +
               " a primary_key";
      }
      if (relation.changelog == ChangelogMode::kAppend) {
        return "its " + place + " input " + name + " is append only, so its primary_key replaces nothing; leave out " +
               "changelog: append";
      }
    }
    return "its " + place +
           " input has no unique key by which a row is found again; group it, or write it into a table with a "
           "primary_key and join the table";
  }

  void Refuse(const PlanNode& join) {
    QueryError error{join.query, join.line, join.column,
                     "this join cannot be a delta join: " + join.strategy_reason + "; or set join: auto"};
    const bool known = std::any_of(errors_.begin(), errors_.end(), [&](const QueryError& other) {
      return other.query == error.query && other.line == error.line && other.column == error.column &&
             other.message == error.message;
    });
    if (!known) errors_.push_back(std::move(error));
  }

  // A key lies below filters and projections, some of which do not pass it on.
  bool CanCarryKey(const PlanNode& node) const {
    const PlanNode* below = &node;
    while (below->kind == NodeKind::kFilter || below->kind == NodeKind::kProject) below = below->inputs[0].get();
    const std::vector<UniqueKey> keys = LogicalKeys(*below, catalog_);
    return !keys.empty() && !keys.front().columns.empty();
  }

  // Appends the key's columns that the projections drop.  Returns the key's places.
  std::vector<int> AppendKey(PlanPtr& node) {
    if (node->kind == NodeKind::kFilter) {
      std::vector<int> key = AppendKey(node->inputs[0]);
      RefreshSchema(*node);
      return key;
    }
    if (node->kind != NodeKind::kProject) return LogicalKeys(*node, catalog_).front().columns;
    const std::vector<int> below = AppendKey(node->inputs[0]);
    std::vector<ExpressionPtr> expressions = node->expressions;
    std::vector<std::string> names = ColumnNames(*node->schema);
    std::vector<int> key;
    for (const int column : below) {
      const auto found = std::find_if(expressions.begin(), expressions.end(),
                                      [&](const ExpressionPtr& e) { return e->ForwardedColumn() == column; });
      key.push_back(static_cast<int>(found - expressions.begin()));
      if (found != expressions.end()) continue;
      const Field& field = (*node->inputs[0]->schema)[static_cast<size_t>(column)];
      expressions.push_back(MakeColumn(column, field.type));
      names.push_back(field.name);
    }
    node = NewProject(node->inputs[0], std::move(expressions), names);
    return key;
  }

  PlanPtr CarryKeys(PlanPtr join) {
    const size_t left_width = join->inputs[0]->schema->size();
    const size_t right_width = join->inputs[1]->schema->size();
    for (PlanPtr& input : join->inputs) {
      if (LogicalKeys(*input, catalog_).empty()) AppendKey(input);
    }
    const int shift = static_cast<int>(join->inputs[0]->schema->size() - left_width);
    std::vector<int> mapping = Iota(left_width);
    for (const int column : Iota(right_width, static_cast<int>(left_width) + shift)) mapping.push_back(column);
    if (join->condition != nullptr) join->condition = join->condition->Remap(mapping);
    RefreshSchema(*join);
    if (LeftColumnsOnly(join->join_type)) mapping.resize(left_width);
    return SelectColumns(std::move(join), mapping);
  }

  const Catalog& catalog_;
  const JoinOption option_;
  std::vector<QueryError>& errors_;
  bool tables_ = false;
};

}  // namespace

void ChooseJoins(std::vector<PlanPtr>& sinks, const Catalog& catalog, JoinOption option,
                 std::vector<QueryError>& errors) {
  JoinChooser chooser(catalog, option, errors);
  for (PlanPtr& sink : sinks) chooser.Visit(sink);
}

}  // namespace weir
