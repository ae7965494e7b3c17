// From a logical tree to the plan that runs: exchanges, key order, and the properties of every node.
//
// Two facts about a stream decide what may be relied on behind it:
//   hashed        columns by whose hash an exchange has spread the rows: equal values are in one task, and keyed state
//   of a
//                 later operator on the same columns may live in that task without another exchange.
//   source order  columns whose equal values come from one partition of a source in order, although no hash says where.
// A unique key of the collapsed result is *strict* when it also holds at every moment: then a consumer may replace rows
// by it.  Behind an exchange on other columns the new row of a key can overtake the retraction of the old one, and the
// key is no longer strict.
#pragma once

#include "engine/base/result.h"
#include "sql/plan/catalog.h"
#include "sql/plan/plan.h"

namespace weir {

// `sink`: a kSink node over a tree nobody else holds.  The error is a sentence about the sink.
Status PlanPhysically(PlanPtr& sink, const Catalog& catalog);

}  // namespace weir
