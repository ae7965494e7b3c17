// Where the changes of a stream are and which keys it has, while the plan is made physical (see physical.h).
#pragma once

#include <vector>

#include "sql/plan/catalog.h"
#include "sql/plan/plan.h"

namespace weir {

struct UniqueKey {
  std::vector<int> columns;  // empty: at most one row
  bool strict = false;       // holds at every moment, not only at a barrier

  bool operator==(const UniqueKey&) const = default;
};

// Rows are in the task of the bucket of these columns.  That is another function than the hash of an exchange: two
// streams meet only where both were spread by the same columns and the same function.
struct BucketedBy {
  std::vector<int> columns;
  int buckets = 0;

  bool operator==(const BucketedBy&) const = default;
};

struct Placement {
  std::vector<std::vector<int>> hashed;  // alternatives; each in the order in which the exchange hashed
  std::vector<BucketedBy> bucketed;      // the same, by bucket
  std::vector<int> source_order;
  bool single = false;
  std::vector<UniqueKey> keys;  // smallest first

  // All changes of equal values of the key come from one task in order.
  bool OrderedBy(const std::vector<int>& key) const;
  // Behind a projection: what survives of everything, renumbered.
  Placement Project(const std::vector<ExpressionPtr>& expressions) const;
  // Sorts the keys, drops those that contain another one, and bounds their number.
  void TidyKeys();
};

// Of the output of a join whose inputs (behind their exchanges) are placed so.
Placement JoinPlacement(const PlanNode& join, const Placement& left, const Placement& right);

// Of the output of a kRank node whose input has these keys (behind its exchange).
std::vector<UniqueKey> RankKeys(const PlanNode& rank, const std::vector<UniqueKey>& input);
// Of the output of an unnest whose input has these keys.
std::vector<UniqueKey> UnnestKeys(const PlanNode& node, std::vector<UniqueKey> keys);

// The unique keys of the collapsed result of a tree that has no exchanges yet, smallest first; `strict` means nothing.
std::vector<UniqueKey> LogicalKeys(const PlanNode& node, const Catalog& catalog);

}  // namespace weir
