// From the SQL of a job to its plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "sql/plan/plan.h"

namespace weir {

enum class JoinOption { kAuto, kRegular, kDelta };

struct QueryText {
  std::string sql;   // INSERT INTO name SELECT ..., or CREATE VIEW name AS SELECT ...
  std::string name;  // for messages; may be empty
  std::optional<Micros> allowed_lateness = {};  // of its windows; absent: the job's
  Micros early = 0;                        // > 0: windows give results before their end, at most so often
  std::string late = {};                   // the sink of rows that are too late for its windows; empty: none
};

struct PlannerOptions {
  JoinOption join = JoinOption::kAuto;
  std::string time_zone = "UTC";
  Micros allowed_lateness = 0;
  // Aggregates behind an exchange fold rows by group before it (two_phase.h).
  bool two_phase = false;
  bool two_phase_groups = false;  // also where only some rows go to the same task
  MiniBatch mini_batch = {};
};

// A plan error with its place in a query: the job file maps it to file:line:column.
struct QueryError {
  size_t query = 0;  // index
  int line = 1;      // 1-based, within the query's text; 0: about its option `late`
  int column = 1;    // 1-based, in characters
  std::string message;
};

struct PlanOutcome {
  JobPlan plan;                    // valid when there are no errors
  std::vector<QueryError> errors;  // of all queries, as many as can be found
};

// Parses, binds, and plans all queries of a job.  Never throws; thread-safe.
PlanOutcome PlanJob(const std::vector<QueryText>& queries, const Catalog& catalog, const PlannerOptions& options);

// The plan as people read it, as JSON, or as Graphviz: per operator its changelog mode, keys, distribution and state; for
// joins which kind was chosen and why.
std::string ExplainText(const JobPlan& plan);
std::string ExplainJson(const JobPlan& plan);
std::string ExplainDot(const JobPlan& plan);

}  // namespace weir
