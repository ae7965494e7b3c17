// The rules that turn a bound tree into the plan that runs, in the order of their use (planner.cc).
//
// Each works on trees that no one else holds: inputs are changed in place or replaced.
#pragma once

#include <optional>
#include <vector>

#include "sql/plan/catalog.h"
#include "sql/plan/plan.h"

namespace weir {

// --- push_filters.cc -------------------------------------------------------------------------------------------------
// Moves every condition as far down as its meaning allows: through projects and unions, below groupings by its columns,
// into inner joins and to the sides of outer joins that keep their rows.  A condition above an outer join that no
// null-extended row can pass makes the join stricter.  Constant parts are folded.
PlanPtr PushFilters(PlanPtr plan);

// --- join_keys.cc ----------------------------------------------------------------------------------------------------
// Takes the equalities of each join's condition out as key columns (computed below the join where they are expressions,
// and cast to the common type of both sides).
PlanPtr ExtractJoinKeys(PlanPtr plan);

// --- changelog.cc ----------------------------------------------------------------------------------------------------
// The key of a stream that still replaces rows by key here (an upsert source with only projects and filters behind it
// that leave its key and its order alone); empty when there is none.
std::optional<std::vector<int>> UpsertKey(const PlanNode& node, const Catalog& catalog);
// Puts a normalise behind every upsert source whose consumer needs the row that was replaced.
void InsertNormalise(PlanPtr& sink, const Catalog& catalog);

// --- prune_columns.cc ------------------------------------------------------------------------------------------------
// Drops columns and aggregate calls nobody reads, down to the scans; puts a project before joins, aggregates and unions
// that would carry more than they need.
void PruneColumns(PlanPtr& sink, const Catalog& catalog);
// One list of columns for all scans of a relation, so that a source is read once.
void UnifyScans(std::vector<PlanPtr>& sinks, const Catalog& catalog);

// --- tidy.cc ---------------------------------------------------------------------------------------------------------
// Merges adjacent projects and adjacent filters and drops projects that change nothing.
PlanPtr Tidy(PlanPtr plan);
// Replaces column i by replacements[i].  Null when a node cannot be rebuilt.
ExpressionPtr Substitute(const ExpressionPtr& expression, const std::vector<ExpressionPtr>& replacements);

// --- share.cc --------------------------------------------------------------------------------------------------------
// Makes one node of equal subtrees, over all sinks, and gives every node its id.
void ShareEqualSubplans(std::vector<PlanPtr>& sinks);
void AssignIds(const std::vector<PlanPtr>& sinks);

}  // namespace weir
