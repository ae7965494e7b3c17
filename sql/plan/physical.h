// From a logical tree to the plan that runs: exchanges, key order, and the properties of every node.
//
// Two facts about a stream decide what may be relied on behind it:
//   hashed        columns by whose hash an exchange has spread the rows: equal values are in one task, and keyed state
//   of a
//                 later operator on the same columns may live in that task without another exchange.
//   bucketed      the same by the bucket of the columns, for tables and the joins that are one with them.
//   source order  columns whose equal values come from one partition of a source in order, although no hash says where.
// A unique key of the collapsed result is *strict* when it also holds at every moment: then a consumer may replace rows
// by it.  Behind an exchange on other columns the new row of a key can overtake the retraction of the old one, and the
// key is no longer strict.
#pragma once

#include <string>
#include <vector>

#include "sql/plan/catalog.h"
#include "sql/plan/plan.h"
#include "sql/plan/planner.h"

namespace weir {

struct SinkError {
  PlanPtr sink;
  std::string message;
};

// `sinks`: the kSink nodes of all INSERTs over trees nobody else holds.  On return the INSERTs into tables have become
// kTable nodes below the sinks that read them, or below `unread`, or inputs of the join that is one with the table.
std::vector<SinkError> PlanPhysically(std::vector<PlanPtr>& sinks, const Catalog& catalog,
                                      const PlannerOptions& options, std::vector<PlanPtr>& unread);

}  // namespace weir
