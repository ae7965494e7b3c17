// The rules that turn a bound tree into the plan that runs, in the order of their use (planner.cc).
//
// Each works on trees that no one else holds: inputs are changed in place or replaced.
#pragma once

#include <optional>
#include <vector>

#include "sql/plan/catalog.h"
#include "sql/plan/plan.h"
#include "sql/plan/planner.h"

namespace weir {

// --- push_filters.cc -------------------------------------------------------------------------------------------------
// Moves every condition as far down as its meaning allows: through projects and unions, below groupings by its columns,
// into inner joins and to the sides of outer joins that keep their rows.  A condition above an outer join that no
// null-extended row can pass makes the join stricter.  Constant parts are folded.
PlanPtr PushFilters(PlanPtr plan);

// --- bound_rank.cc ---------------------------------------------------------------------------------------------------
// Makes a kOver node of one ROW_NUMBER, RANK or DENSE_RANK a kRank node if the conditions above it bound the number from
// above, and takes those out of `conjuncts` that the bounds say in full.
PlanPtr BoundRank(PlanPtr over, std::vector<ExpressionPtr>& conjuncts);

// --- join_keys.cc ----------------------------------------------------------------------------------------------------
// Takes the equalities of each join's condition out as key columns (computed below the join where they are expressions,
// and cast to the common type of both sides).
PlanPtr ExtractJoinKeys(PlanPtr plan);

// --- fold_windows.cc -------------------------------------------------------------------------------------------------
// Aggregates by the windows of a window function assign rows to windows themselves, and those by the end of a window that
// rows carry end with it: both give the results of a window once, and forget it (PlanNode::windows).  Sessions that are not
// grouped are an error.
void FoldWindows(PlanPtr& sink, const Catalog& catalog, Micros lateness, Micros early, std::vector<QueryError>& errors);

// --- late_rows.cc ----------------------------------------------------------------------------------------------------
// Gives the query's aggregates of windows the columns of the rows that they drop as late, and the sink `late` for them.
void KeepLateRows(PlanPtr& sink, const std::string& late, const Catalog& catalog, std::vector<QueryError>& errors);
// The sinks of late rows of physical plans, whose roots are sinks and tables that nobody reads: kSink nodes above kLateRows
// nodes.  What else drops late rows in such a query is an error.
std::vector<PlanPtr> LateSinks(const std::vector<PlanPtr>& roots, std::vector<QueryError>& errors);
// Of sinks that shared plans have made equal one stays; a sink for the late rows of different aggregates is an error.
void MergeLateSinks(std::vector<PlanPtr>& late, std::vector<QueryError>& errors);

// --- join_choice.cc --------------------------------------------------------------------------------------------------
// Decides for every join whether its rows are in tables or in its own state, and says why.  A join that the job wants as
// a delta join and that cannot be one is an error at its place.
void ChooseJoins(std::vector<PlanPtr>& sinks, const Catalog& catalog, JoinOption option,
                 std::vector<QueryError>& errors);

// --- merge_inserts.cc ------------------------------------------------------------------------------------------------
// Makes one INSERT of UNION ALL of those into a sink that has one writer only (CatalogRelation::one_writer).  Different
// columns are an error.
void MergeInserts(std::vector<PlanPtr>& sinks, const Catalog& catalog, std::vector<QueryError>& errors);

// --- table_order.cc --------------------------------------------------------------------------------------------------
// Reports tables that are read and that no INSERT writes, and INSERTs that form a cycle.  `sinks`: all INSERTs.
void CheckTables(const std::vector<PlanPtr>& sinks, const Catalog& catalog, std::vector<QueryError>& errors);

// --- changelog.cc ----------------------------------------------------------------------------------------------------
// The key of a stream that still replaces rows by key here (an upsert source with only projects and filters behind it
// that leave its key and its order alone); empty when there is none.
std::optional<std::vector<int>> UpsertKey(const PlanNode& node, const Catalog& catalog);
// Puts a normalise behind every upsert source whose consumer needs the row that was replaced; where that is a delta join,
// a table of the source's rows.
void InsertNormalise(PlanPtr& sink, const Catalog& catalog);

// --- prune_columns.cc ------------------------------------------------------------------------------------------------
// Drops columns and aggregate calls nobody reads, down to the scans; puts a project before joins, aggregates and unions
// that would carry more than they need.
void PruneColumns(PlanPtr& sink, const Catalog& catalog);

// --- unify_scans.cc --------------------------------------------------------------------------------------------------
// One list of columns for all scans of a relation, so that a source is read once.
void UnifyScans(std::vector<PlanPtr>& sinks, const Catalog& catalog);

// --- tidy.cc ---------------------------------------------------------------------------------------------------------
// Merges adjacent projects and adjacent filters and drops projects that change nothing.
PlanPtr Tidy(PlanPtr plan);
// Replaces column i by replacements[i].  Null when a node cannot be rebuilt.
ExpressionPtr Substitute(const ExpressionPtr& expression, const std::vector<ExpressionPtr>& replacements);

// --- share.cc --------------------------------------------------------------------------------------------------------
// Makes one node of equal subtrees, over all sinks and tables that nobody reads.
void ShareEqualSubplans(std::vector<PlanPtr>& roots);

// --- names.cc --------------------------------------------------------------------------------------------------------
// Gives every node its id and every table its name; `catalog` says which names are taken.
void AssignIds(const std::vector<PlanPtr>& roots, const Catalog& catalog);

}  // namespace weir
