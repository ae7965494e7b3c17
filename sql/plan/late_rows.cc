// The sink of rows that are too late for the windows of a query (the query's option `late`).
//
// 1. Before columns are pruned the aggregate that assigns the query's rows to windows gets all columns of the table
// that
//    its window function names: these are the columns of the sink.  Windows over windows get no late rows: the inner
//    ones give their results before the watermark goes on.
// 2. When the plan is physical, a sink is put above a kLateRows node above that aggregate.  What else drops late rows
// of
//    the query is refused: what the sink gets is what the query counts as late.
// 3. Queries that share the aggregate share its late rows.

#include <algorithm>
#include <set>

#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

bool AssignsWindows(const PlanNode& node) {
  return node.kind == NodeKind::kAggregate && node.windows && node.windows->assigned;
}

void Report(size_t query, std::string message, std::vector<QueryError>& errors) {
  errors.push_back({query, /*line=*/0, 0, std::move(message)});
}

bool IsSinkOfItsOwn(const PlanNode& insert, const std::string& late, const Catalog& catalog,
                    std::vector<QueryError>& errors) {
  const CatalogRelation* target = catalog.Find(late);
  if (target == nullptr) {
    std::vector<std::string> names;
    for (const CatalogRelation& relation : catalog.relations) {
      if (relation.kind == CatalogRelation::Kind::kSink) names.push_back(relation.name);
    }
    Report(insert.query, "sink " + QuotedIfNeeded(late) + " does not exist" + DidYouMean(late, names), errors);
    return false;
  }
  if (target->kind == CatalogRelation::Kind::kSink) return true;
  const bool table = target->kind == CatalogRelation::Kind::kTable;
  Report(insert.query, QuotedIfNeeded(late) + " is a " + (table ? "table" : "source") + "; late takes a sink", errors);
  return false;
}

// Returns whether there is an aggregate of windows at the node or below it.
bool KeepBelow(PlanNode& node, const std::string& late, std::set<PlanNode*>& keepers) {
  bool below = false;
  for (PlanPtr& input : node.inputs) below = KeepBelow(*input, late, keepers) || below;
  if (!AssignsWindows(node)) return below;
  if (!below) keepers.insert(&node);
  return true;
}

// The input of an aggregate that assigns windows is a projection of the columns of the window function's table.
void KeepColumns(PlanNode& aggregate, const std::string& late) {
  PlanNode& project = *aggregate.inputs[0];
  LateRows rows;
  rows.sink = late;
  std::vector<std::string> names = ColumnNames(*project.schema);
  const Schema& table = *project.inputs[0]->schema;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto forwards = [&](const ExpressionPtr& expression) {
      return expression->ColumnIndex() == static_cast<int>(i);
    };
    const auto found = std::find_if(project.expressions.begin(), project.expressions.end(), forwards);
    rows.columns.push_back(static_cast<int>(found - project.expressions.begin()));
    rows.fields.push_back(table[i]);
    if (found != project.expressions.end()) continue;
    project.expressions.push_back(MakeColumn(static_cast<int>(i), table[i].type));
    names.push_back(table[i].name);
  }
  aggregate.inputs[0] = NewProject(project.inputs[0], project.expressions, names);
  aggregate.late_rows = std::move(rows);
}

// Where rows go that an operator beside the query's late aggregate finds late, in words; empty: nowhere.
std::string DropsLate(const PlanNode& node) {
  switch (node.kind) {
    case NodeKind::kAggregate:
      return node.windows && !node.late_rows ? "a GROUP BY of rows that carry their window" : "";
    case NodeKind::kRank:
      return node.rank.window_end >= 0 ? "a ROW_NUMBER by window" : "";
    case NodeKind::kOver:
      return node.over_time >= 0 ? "OVER (... ORDER BY the event time)" : "";
    case NodeKind::kTemporalJoin:
      return "a join with the newest row at a time";
    case NodeKind::kJoin:
      return node.left_expiry || node.right_expiry ? "a join on times or windows" : "";
    default:
      return "";
  }
}

// Rows come from a source without an aggregate of windows between.
bool ReadsSource(const PlanNode& node) {
  if (AssignsWindows(node)) return false;
  return node.inputs.empty() ||
         std::any_of(node.inputs.begin(), node.inputs.end(), [](const PlanPtr& input) { return ReadsSource(*input); });
}

class LateSinkMaker {
 public:
  explicit LateSinkMaker(std::vector<QueryError>& errors) : errors_(errors) {}

  void Visit(const PlanPtr& node) {
    if (!visited_.insert(node.get()).second) return;
    for (const PlanPtr& input : node->inputs) Visit(input);
    if (node->late_rows) Add(node);
    const std::string what = DropsLate(*node);
    if (what.empty()) return;
    const bool reads =
        std::any_of(node->inputs.begin(), node->inputs.end(), [](const PlanPtr& input) { return ReadsSource(*input); });
    if (reads) other_ = what;
  }

  std::vector<PlanPtr> Finish() {
    if (!sinks_.empty() && !other_.empty()) {
      Report(sinks_.front()->query,
             "late takes the rows that are too late for a GROUP BY of TUMBLE, HOP, CUMULATE or SESSION, and this query "
             "has rows that are late for " +
                 other_ + " too; leave late out, or make that a job of its own",
             errors_);
    }
    return std::move(sinks_);
  }

 private:
  void Add(const PlanPtr& aggregate) {
    if (aggregate->input_retracts) {
      Report(
          aggregate->query,
          "late takes rows that are only added, and the input of these windows also takes rows back; leave late out, "
          "or read a source that only appends",
          errors_);
      return;
    }
    PlanPtr rows = NewKeyed(NodeKind::kLateRows, aggregate, {});
    PlanPtr sink = NewKeyed(NodeKind::kSink, std::move(rows), {});
    sink->relation = aggregate->late_rows->sink;
    sink->query = aggregate->query;
    sink->line = aggregate->line;
    sink->column = aggregate->column;
    sinks_.push_back(std::move(sink));
  }

  std::vector<QueryError>& errors_;
  std::set<const PlanNode*> visited_;
  std::vector<PlanPtr> sinks_;
  std::string other_;
};

}  // namespace

void KeepLateRows(PlanPtr& sink, const std::string& late, const Catalog& catalog, std::vector<QueryError>& errors) {
  if (late.empty() || !IsSinkOfItsOwn(*sink, late, catalog, errors)) return;
  std::set<PlanNode*> keepers;
  KeepBelow(*sink, late, keepers);
  if (keepers.empty()) {
    Report(sink->query,
           "late takes the rows that are too late for a GROUP BY of TUMBLE, HOP, CUMULATE or SESSION, and this query "
           "has none",
           errors);
  }
  for (PlanNode* aggregate : keepers) {
    std::set<std::string> seen;
    for (const Field& field : aggregate->inputs[0]->inputs[0]->schema->fields()) {
      if (seen.insert(field.name).second) continue;
      Report(sink->query,
             "column " + QuotedIfNeeded(field.name) +
                 " appears twice in the table that the windows read, and so in sink " + QuotedIfNeeded(late) +
                 "; give one an alias in a subquery: TUMBLE((SELECT ...), ...)",
             errors);
      return;
    }
    KeepColumns(*aggregate, late);
    aggregate->query = sink->query;
    aggregate->line = sink->line;
    aggregate->column = sink->column;
  }
}

std::vector<PlanPtr> LateSinks(const std::vector<PlanPtr>& roots, std::vector<QueryError>& errors) {
  std::vector<PlanPtr> late;
  for (const PlanPtr& root : roots) {
    LateSinkMaker maker(errors);
    maker.Visit(root);
    for (PlanPtr& made : maker.Finish()) late.push_back(std::move(made));
  }
  for (const PlanPtr& made : late) {
    const auto same = [&](const PlanPtr& root) {
      return root->kind == NodeKind::kSink && root->relation == made->relation;
    };
    if (std::none_of(roots.begin(), roots.end(), same)) continue;
    Report(made->query,
           "sink " + QuotedIfNeeded(made->relation) + " is written by a query; late rows need a sink of their own",
           errors);
  }
  return late;
}

void MergeLateSinks(std::vector<PlanPtr>& late, std::vector<QueryError>& errors) {
  std::vector<PlanPtr> kept;
  for (PlanPtr& sink : late) {
    const auto same = [&](const PlanPtr& other) { return other->relation == sink->relation; };
    const auto first = std::find_if(kept.begin(), kept.end(), same);
    if (first == kept.end()) {
      kept.push_back(std::move(sink));
    } else if ((*first)->inputs[0] != sink->inputs[0]) {
      Report(sink->query,
             "sink " + QuotedIfNeeded(sink->relation) +
                 " would get the late rows of two different groupings; give each a query and a sink",
             errors);
    }
  }
  late = std::move(kept);
}

}  // namespace weir
