// What an operator is to the person who wrote the job: its place in the plan and the query it works for.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "jobs/planned_job.h"

namespace weir {

// Made once a job, for the errors of rows.  The job outlives it.
class OperatorDescriptions {
 public:
  explicit OperatorDescriptions(const PlannedJob& job);

  // "join-1 of query totals at job.yaml:12:5: INNER JOIN ON user_id = user_id"; the id alone for an operator of no
  // query.
  std::string Of(const PlanNode& node) const;

 private:
  // The sink's query is that of everything below; a part that several queries share belongs to all of them.
  void Visit(const PlanPtr& node, size_t query);
  std::string QueryText(size_t query) const;

  const JobFile& file_;
  std::unordered_map<const PlanNode*, std::vector<size_t>> queries_;
};

}  // namespace weir
