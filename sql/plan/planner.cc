// The steps from the text of a job's queries to its plan:
//   1. parse every query, define the views in order, bind the INSERTs (errors of all are collected);
//   2. per INSERT: push filters, extract join keys, fold windows into aggregates; over all: choose the joins that read tables,
//      make one of the INSERTs into a sink with one writer;
//   3. per INSERT: choose where a normalise is needed, prune columns;
//   4. over all: one list of columns a source; per INSERT: merge projects; over all: exchanges, tables and properties;
//   5. sinks of late rows; over all: share equal subplans, give ids and names.

#include "sql/plan/planner.h"

#include <algorithm>
#include <memory>

#include "sql/parse/parser.h"
#include "sql/plan/binder.h"
#include "sql/plan/physical.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

class JobPlanner {
 public:
  JobPlanner(const std::vector<QueryText>& queries, const Catalog& catalog, const PlannerOptions& options)
      : queries_(queries), catalog_(catalog), options_(options), binder_(catalog, options, outcome_.errors) {}

  PlanOutcome Run() {
    BindAll();
    if (outcome_.errors.empty() && sinks_.empty()) {
      outcome_.errors.push_back({0, 1, 1, "the job has no INSERT INTO: nothing would be computed"});
    }
    if (outcome_.errors.empty()) Optimise();
    std::stable_sort(outcome_.errors.begin(), outcome_.errors.end(), [](const QueryError& a, const QueryError& b) {
      return std::tie(a.query, a.line, a.column) < std::tie(b.query, b.line, b.column);
    });
    if (!outcome_.errors.empty()) outcome_.plan = {};
    return std::move(outcome_);
  }

 private:
  void BindAll() {
    for (size_t i = 0; i < queries_.size(); ++i) {
      sources_.push_back(std::make_unique<SourceText>(queries_[i].sql));
      const SourceText& source = *sources_.back();
      const ParseOutcome parsed = ParseQuery(source);
      for (const PlacedMessage& error : parsed.errors) {
        const TextPlace place = source.Locate(error.at);
        outcome_.errors.push_back({i, place.line, place.column, error.message});
      }
      if (!parsed.errors.empty()) continue;
      if (parsed.statement.kind == AstStatement::Kind::kCreateView) {
        binder_.DefineView(parsed.statement, i, source);
        if (!queries_[i].late.empty()) {
          outcome_.errors.push_back({i, /*line=*/0, 0, "late belongs to the INSERT INTO that reads the view"});
        }
      } else if (PlanPtr sink = binder_.BindInsert(parsed.statement, i, source)) {
        sinks_.push_back(std::move(sink));
      }
    }
  }

  void Optimise() {
    for (PlanPtr& sink : sinks_) {
      sink = ExtractJoinKeys(PushFilters(sink));
      const QueryText& query = queries_[sink->query];
      FoldWindows(sink, catalog_, query.allowed_lateness.value_or(options_.allowed_lateness), query.early, outcome_.errors);
      KeepLateRows(sink, query.late, catalog_, outcome_.errors);
    }
    CheckTables(sinks_, catalog_, outcome_.errors);
    ChooseJoins(sinks_, catalog_, options_.join, outcome_.errors);
    MergeInserts(sinks_, catalog_, outcome_.errors);
    if (!outcome_.errors.empty()) return;
    for (PlanPtr& sink : sinks_) {
      InsertNormalise(sink, catalog_);
      PruneColumns(sink, catalog_);
    }
    UnifyScans(sinks_, catalog_);
    for (PlanPtr& sink : sinks_) sink = Tidy(sink);
    std::vector<PlanPtr> unread;
    for (const SinkError& error : PlanPhysically(sinks_, catalog_, options_, unread)) {
      outcome_.errors.push_back({error.sink->query, error.sink->line, error.sink->column, error.message});
    }
    if (!outcome_.errors.empty()) return;
    std::vector<PlanPtr> late = PlanLateSinks(Together(sinks_, unread));
    if (!outcome_.errors.empty()) return;
    std::vector<PlanPtr> roots = Together(Together(sinks_, late), unread);
    ShareEqualSubplans(roots);
    const auto first_late = roots.begin() + static_cast<std::ptrdiff_t>(sinks_.size());
    const auto first_unread = first_late + static_cast<std::ptrdiff_t>(late.size());
    sinks_.assign(roots.begin(), first_late);
    late.assign(first_late, first_unread);
    unread.assign(first_unread, roots.end());
    MergeLateSinks(late, outcome_.errors);
    outcome_.plan.sinks = Together(sinks_, late);
    outcome_.plan.tables_unread = unread;
    AssignIds(Together(outcome_.plan.sinks, unread), catalog_);
  }

  static std::vector<PlanPtr> Together(std::vector<PlanPtr> first, const std::vector<PlanPtr>& others) {
    first.insert(first.end(), others.begin(), others.end());
    return first;
  }

  std::vector<PlanPtr> PlanLateSinks(const std::vector<PlanPtr>& roots) {
    std::vector<PlanPtr> late = LateSinks(roots, outcome_.errors);
    std::vector<PlanPtr> none;
    if (!outcome_.errors.empty()) return late;
    for (const SinkError& error : PlanPhysically(late, catalog_, options_, none)) {
      outcome_.errors.push_back({error.sink->query, /*line=*/0, 0, error.message});
    }
    return late;
  }

  const std::vector<QueryText>& queries_;
  const Catalog& catalog_;
  const PlannerOptions& options_;
  PlanOutcome outcome_;
  Binder binder_;
  std::vector<std::unique_ptr<SourceText>> sources_;
  std::vector<PlanPtr> sinks_;
};

}  // namespace

PlanOutcome PlanJob(const std::vector<QueryText>& queries, const Catalog& catalog, const PlannerOptions& options) {
  return JobPlanner(queries, catalog, options).Run();
}

}  // namespace weir
