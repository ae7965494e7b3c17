// What a plan node does, in words: shared by the forms of explain.
#pragma once

#include <string>
#include <vector>

#include "sql/plan/plan.h"

namespace weir {

struct NodeText {
  std::string title;                 // "INNER JOIN ON user_id = user_id"
  std::vector<std::string> details;  // one a line: strategy, keys of the sides, state
};

NodeText DescribeNode(const PlanNode& node);
// "append; unique (user_id, ds); hashed by (user_id, ds)"
std::string DescribeProperties(const PlanNode& node);

const char* KindName(NodeKind kind);
const char* ModeName(ChangelogMode mode);
const char* JoinName(JoinType type);
std::string FunctionName(const AggregateCall& call);  // "count"
// What the operator keeps and where; empty for none.
std::string StateOf(const PlanNode& node);
// "declared", "automatic", "index", "internal"
const char* TableKindName(TableKind kind);
// "8 buckets by (user_id)"
std::string BucketsText(const TableRef& table, const Schema& schema);

// A table of the job, whether a node keeps it or a side of a delta join.
struct TableText {
  const TableRef* table = nullptr;
  const PlanNode* node = nullptr;      // that keeps it
  const Schema* schema = nullptr;      // of its columns
  std::vector<int> key;                // by which rows replace one another; empty: rows are counted
};
// All tables, in the order of their nodes.
std::vector<TableText> TablesOf(const JobPlan& plan);
// "user_id, ds"
std::string NamesOf(const std::vector<int>& columns, const Schema& schema);
// The further condition of a join, with left. and right. before names that both sides have.
std::string ConditionText(const PlanNode& join);
// All nodes below the sinks and the tables that nobody reads, inputs before their consumers, each once.
std::vector<const PlanNode*> NodesOf(const JobPlan& plan);

}  // namespace weir
