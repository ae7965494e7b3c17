// The walk that makes a job's trees physical: one object a job, one call of Run.  Split over physical.cc (operators), physical_order.cc (rows in order),
// physical_tables.cc (what is written into tables) and physical_delta.cc (joins whose rows are in tables).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "sql/plan/catalog.h"
#include "sql/plan/physical.h"
#include "sql/plan/placement.h"
#include "sql/plan/plan.h"

namespace weir {

// Columns of a unique key that holds at every moment in the task that sees the row; empty when there is none.
std::vector<int> UniqueFor(const PlanNode& input, const Placement& placement);

class PhysicalPlanner {
 public:
  PhysicalPlanner(std::vector<PlanPtr>& sinks, const Catalog& catalog, const PlannerOptions& options)
      : sinks_(sinks), catalog_(catalog), options_(options) {}

  // Plans every sink.  On return `sinks` holds those that are no tables; the tables that nothing reads go to `unread`.
  std::vector<SinkError> Run(std::vector<PlanPtr>& unread);

 private:
  // A declared table: what its INSERTs write, ready to be taken by the table or by the join it is one with.
  struct Table {
    bool written = false;        // `inputs` is complete
    std::vector<PlanPtr> inputs;  // one an INSERT, spread by bucket
    PlanPtr node;                 // kTable; null while the table has none
    int reads = 0;                // scans in all trees
    std::vector<bool> indexed;    // of the declared indexes: a join keeps it
  };

  // An input of a delta join that is a declared table, if they can be one.
  struct Fusion {
    const CatalogRelation* table = nullptr;  // null: the input is not fused
    std::vector<int> columns;                // of the table, for each column of the input
    std::vector<size_t> pairs;               // of the join's equalities, in the order of the bucket key
  };

  // --- physical.cc -----------------------------------------------------------------------------------------------
  // Plans the subtree; `node` may be wrapped or replaced.  The placement is that of the output.
  Placement Plan(PlanPtr& node);
  Status PlanSink(PlanNode& sink);
  Placement PlanScan(PlanPtr& node);
  Placement PlanJoin(PlanPtr& node);
  void ChooseKeyOrder(PlanNode& join, const Placement& left, const Placement& right);
  Placement PlanTemporalJoin(PlanNode& node);
  Placement PlanAggregate(PlanPtr& node);
  // An exchange of the aggregate's input by its groups, with a local aggregate before it where that is worth it.
  void ExchangeGroups(PlanNode& aggregate, Placement& input);
  Placement PlanWindow(PlanNode& node);
  void CheckSession(const PlanNode& node);
  Placement PlanUnion(PlanNode& node);
  Placement PlanNormalise(PlanNode& node);
  Result<std::vector<int>> SinkKey(const PlanNode& sink, const CatalogRelation& relation, const Placement& placement);

  // An exchange on `key` above the input unless it is spread by exactly these columns already: by their hash, or
  // with `buckets` by their bucket.
  void Exchange(PlanPtr& input, Placement& placement, const std::vector<int>& key, int buckets = 0);
  // Per-epoch order of a key's changes above the input.
  void OrderKeys(PlanPtr& input, Placement& placement, const std::vector<int>& key);
  void Record(PlanNode& node, const Placement& placement);
  // A value that differs at each evaluation cannot be retracted.
  void CheckVolatile(const PlanNode& node, const Expression& expression, bool append);

  // --- physical_order.cc -----------------------------------------------------------------------------------------
  Placement PlanPartition(PlanNode& node);
  Placement PlanRank(PlanNode& node);
  Placement PlanOver(PlanNode& node);

  // --- physical_tables.cc ----------------------------------------------------------------------------------------
  void CountReads(const PlanNode& node);
  // Plans the INSERTs of a declared table.
  void PlanWrites(const CatalogRelation& relation);
  void PlanWrite(PlanPtr& sink, const CatalogRelation& relation);
  // The same of a log table, whose rows are only added.
  void PlanAppend(PlanPtr& sink, const CatalogRelation& relation);
  // The node that keeps a declared table.
  PlanPtr TableNode(const CatalogRelation& relation);
  Placement TablePlacement(const CatalogRelation& relation) const;
  Placement PlanSourceTable(PlanNode& node);
  // All INSERTs of a table as one input.
  PlanPtr WritesAsOne(const CatalogRelation& relation);

  // --- physical_indexes.cc ---------------------------------------------------------------------------------------
  // Says of the table of a delta join's input that it is a declared index, when the join's columns are its columns.
  void TakeDeclaredIndex(const PlanNode& input, const std::vector<int>& keys, TableRef& table);
  // The declared indexes that no join keeps.
  void PlanIndexes(const CatalogRelation& relation, std::vector<PlanPtr>& unread);
  PlanPtr IndexNode(const CatalogRelation& relation, const std::vector<int>& index);

  // --- physical_delta.cc -----------------------------------------------------------------------------------------
  Placement PlanDeltaJoin(PlanPtr& node);
  // A projection above one that only chose columns of a fused join chooses them itself.
  void SkipColumnChoice(PlanNode& project) const;
  Fusion FindFusion(const PlanNode& join, size_t side) const;
  void ChooseFusions(const PlanNode& join, Fusion& left, Fusion& right) const;
  // Puts the tables' own columns in the place of the fused inputs.  Returns where the columns that the join had are.
  std::vector<int> Fuse(PlanNode& join, const Fusion& left, const Fusion& right);
  void MoveKeysToCondition(PlanNode& join, const Fusion& left, const Fusion& right);
  std::vector<size_t> BucketPairs(const PlanNode& join, const Fusion& left, const Fusion& right) const;
  std::vector<int> SourceKey(const PlanNode& input) const;
  TableRef SideTable(const PlanNode& input, const std::vector<int>& bucket_columns) const;

  std::vector<PlanPtr>& sinks_;
  const Catalog& catalog_;
  const PlannerOptions& options_;
  std::map<std::string, Table> tables_;
  std::string error_;  // the first one of the sink being planned
  std::vector<SinkError> errors_;
};

}  // namespace weir
