#include "sql/plan/physical.h"

#include <algorithm>

#include "sql/plan/aggregate_functions.h"
#include "sql/plan/nodes.h"
#include "sql/plan/join_times.h"
#include "sql/plan/physical_planner.h"
#include "sql/plan/rules.h"
#include "sql/plan/suggest.h"
#include "sql/plan/two_phase.h"

namespace weir {

std::vector<int> UniqueFor(const PlanNode& input, const Placement& placement) {
  if (input.changelog == ChangelogMode::kAppend) return {};
  for (const UniqueKey& key : placement.keys) {
    if (key.strict && !key.columns.empty() && placement.OrderedBy(key.columns)) return key.columns;
  }
  return {};
}

void PhysicalPlanner::Record(PlanNode& node, const Placement& placement) {
  node.single = placement.single;
  node.distribution = placement.hashed.empty() ? std::vector<int>{} : placement.hashed.front();
  if (placement.hashed.empty() && !placement.bucketed.empty()) {
    node.distribution = placement.bucketed.front().columns;
    node.distribution_buckets = placement.bucketed.front().buckets;
  }
  node.unique_keys.clear();
  for (const UniqueKey& key : placement.keys) node.unique_keys.push_back(key.columns);
}

void PhysicalPlanner::Exchange(PlanPtr& input, Placement& placement, const std::vector<int>& key, int buckets) {
  const auto& hashed = placement.hashed;
  const auto& bucketed = placement.bucketed;
  const bool there = key.empty()   ? placement.single
                     : buckets > 0 ? std::find(bucketed.begin(), bucketed.end(), BucketedBy{key, buckets}) != bucketed.end()
                                   : std::find(hashed.begin(), hashed.end(), key) != hashed.end();
  if (there) return;
  const ChangelogMode mode = input->changelog;
  for (UniqueKey& unique : placement.keys) unique.strict = unique.strict && placement.OrderedBy(unique.columns);
  placement.hashed.clear();
  placement.bucketed.clear();
  placement.source_order.clear();
  placement.single = key.empty();
  if (buckets > 0) {
    placement.bucketed.push_back({key, buckets});
  } else if (!key.empty()) {
    placement.hashed.push_back(key);
  }
  input = NewKeyed(NodeKind::kExchange, input, key);
  input->buckets = buckets;
  input->changelog = mode;
  Record(*input, placement);
}

void PhysicalPlanner::OrderKeys(PlanPtr& input, Placement& placement, const std::vector<int>& key) {
  input = NewKeyed(NodeKind::kKeyOrder, input, key);
  input->changelog = ChangelogMode::kUpsert;
  placement.keys = {{key, true}};
  Record(*input, placement);
}

void PhysicalPlanner::CheckVolatile(const PlanNode& node, const Expression& expression, bool append) {
  if (append || expression.deterministic() || !error_.empty()) return;
  error_ = expression.ToString(node.kind == NodeKind::kJoin ? JoinedSchema(node) : *node.inputs[0]->schema) +
           " has another value each time it is computed, so a row that changes or goes could not be taken back; such "
           "functions work over append-only sources alone";
}

Placement PhysicalPlanner::PlanScan(PlanPtr& node) {
  Placement placement;
  const CatalogRelation& relation = *catalog_.Find(node->relation);
  if (relation.kind == CatalogRelation::Kind::kTable) {
    node = TableNode(relation);
    return TablePlacement(relation);
  }
  node->changelog = relation.changelog;
  if (relation.changelog == ChangelogMode::kAppend || relation.primary_key.empty()) return placement;
  std::vector<int> key;
  for (const int column : relation.primary_key) {
    const auto found = std::find(node->scan_columns.begin(), node->scan_columns.end(), column);
    if (found == node->scan_columns.end()) return placement;
    key.push_back(static_cast<int>(found - node->scan_columns.begin()));
  }
  placement.keys.push_back({key, true});
  placement.source_order = key;
  return placement;
}

// Where a side is spread by the join's columns in another order, the pairs follow that order, and the exchange is
// saved.
void PhysicalPlanner::ChooseKeyOrder(PlanNode& join, const Placement& left, const Placement& right) {
  for (size_t side = 0; side < 2; ++side) {
    const std::vector<int>& keys = side == 0 ? join.left_keys : join.right_keys;
    for (const std::vector<int>& hashed : (side == 0 ? left : right).hashed) {
      if (hashed.size() != keys.size() || !std::is_permutation(hashed.begin(), hashed.end(), keys.begin())) continue;
      const PlanNode before = join;
      std::vector<bool> used(keys.size(), false);
      for (size_t i = 0; i < hashed.size(); ++i) {
        const std::vector<int>& old = side == 0 ? before.left_keys : before.right_keys;
        size_t pair = 0;
        while (used[pair] || old[pair] != hashed[i]) ++pair;
        used[pair] = true;
        join.left_keys[i] = before.left_keys[pair];
        join.right_keys[i] = before.right_keys[pair];
        join.null_safe[i] = before.null_safe[pair];
      }
      return;
    }
  }
}

Placement PhysicalPlanner::PlanJoin(PlanPtr& node) {
  PlanNode& join = *node;
  if (join.condition != nullptr) CheckVolatile(join, *join.condition, false);
  if (join.strategy == JoinStrategy::kDelta) return PlanDeltaJoin(node);
  Placement left = Plan(join.inputs[0]);
  Placement right = Plan(join.inputs[1]);
  join.left_mode = join.inputs[0]->changelog;
  join.right_mode = join.inputs[1]->changelog;
  join.left_unique = UniqueFor(*join.inputs[0], left);
  join.right_unique = UniqueFor(*join.inputs[1], right);
  ChooseKeyOrder(join, left, right);
  Exchange(join.inputs[0], left, join.left_keys);
  Exchange(join.inputs[1], right, join.right_keys);
  const bool appends = join.left_mode == ChangelogMode::kAppend && join.right_mode == ChangelogMode::kAppend;
  if (appends) FindExpiry(join, catalog_);
  join.changelog = appends && join.join_type == JoinType::kInner ? ChangelogMode::kAppend : ChangelogMode::kFull;
  return JoinPlacement(join, left, right);
}

Placement PhysicalPlanner::PlanTemporalJoin(PlanNode& node) {
  Placement left = Plan(node.inputs[0]);
  Placement right = Plan(node.inputs[1]);
  if (node.inputs[0]->changelog != ChangelogMode::kAppend && error_.empty()) {
    error_ = "a row's version is looked up once, when the watermark has passed its time, so the left input of a temporal "
             "join can only append";
  }
  Exchange(node.inputs[0], left, node.left_keys);
  Exchange(node.inputs[1], right, node.right_keys);
  node.changelog = ChangelogMode::kAppend;
  Placement output;
  output.hashed = {node.left_keys};
  return output;
}

Placement PhysicalPlanner::PlanAggregate(PlanPtr& node) {
  Placement input = Plan(node->inputs[0]);
  // The groups follow the order of columns by which the input is spread already.
  const std::vector<int> written = node->group_columns;
  std::vector<int> order = Iota(node->schema->size());
  for (const std::vector<int>& hashed : input.hashed) {
    if (hashed.size() != written.size() || !std::is_permutation(hashed.begin(), hashed.end(), written.begin()))
      continue;
    node->group_columns = hashed;
    for (size_t i = 0; i < written.size(); ++i) {
      order[i] = static_cast<int>(std::find(hashed.begin(), hashed.end(), written[i]) - hashed.begin());
    }
    break;
  }
  node->input_retracts = node->inputs[0]->changelog != ChangelogMode::kAppend;
  for (const AggregateCall& call : node->calls) {
    if (node->input_retracts && error_.empty()) error_ = WhyNotRetractable(call.function);
  }
  if (node->windows && !node->windows->assigned) {
    // The end of the windows has moved with its column.
    const int end = written[static_cast<size_t>(node->windows->end_group)];
    const std::vector<int>& now = node->group_columns;
    node->windows->end_group = static_cast<int>(std::find(now.begin(), now.end(), end) - now.begin());
  }
  ExchangeGroups(*node, input);
  const bool once = node->windows && node->windows->lateness == 0 && node->windows->early == 0;
  const ChangelogMode mode = once ? ChangelogMode::kAppend : ChangelogMode::kFull;
  node->changelog = mode;
  CheckSession(*node);
  RefreshSchema(*node);
  Placement output;
  const std::vector<int> groups = Iota(written.size());
  output.single = groups.empty();
  if (!groups.empty()) output.hashed.push_back(groups);
  output.keys.push_back({AggregateKey(*node), true});
  Record(*node, output);
  PlanPtr reordered = SelectColumns(node, order);
  if (reordered == node) return output;
  node = reordered;
  node->changelog = mode;
  return output.Project(node->expressions);
}

void PhysicalPlanner::ExchangeGroups(PlanNode& aggregate, Placement& input) {
  const auto& hashed = input.hashed;
  const bool there = input.single || std::find(hashed.begin(), hashed.end(), aggregate.group_columns) != hashed.end();
  // Where all rows go to one task, folding them in theirs always pays; of groups nobody knows.
  const bool pays = aggregate.group_columns.empty() && !CountsValues(aggregate);
  const bool wanted = options_.two_phase && (options_.two_phase_groups || pays);
  if (wanted && !there && WhyOnePhase(aggregate).empty()) {
    AddLocalAggregate(aggregate, options_.mini_batch);
    input = {};
    Record(*aggregate.inputs[0], input);
  }
  Exchange(aggregate.inputs[0], input, aggregate.group_columns);
}

void PhysicalPlanner::CheckSession(const PlanNode& node) {
  const bool session = node.windows && node.windows->assigned && node.windows->spec.function == WindowFunction::kSession;
  if (!session || !node.input_retracts || !error_.empty()) return;
  error_ = "SESSION works over append-only rows alone: a row that goes could divide a session that has been joined; use "
           "TUMBLE, HOP or CUMULATE, or a source that only appends";
}

Placement PhysicalPlanner::PlanWindow(PlanNode& node) {
  Placement input = Plan(node.inputs[0]);
  node.changelog = node.inputs[0]->changelog;
  // One row becomes several, told apart by the end of their window.
  const int end = static_cast<int>(node.inputs[0]->schema->size()) + 1;
  for (UniqueKey& key : input.keys) key.columns.push_back(end);
  return input;
}

Placement PhysicalPlanner::PlanUnion(PlanNode& node) {
  std::vector<Placement> arms;
  bool all_single = true;
  bool append = true;
  for (PlanPtr& input : node.inputs) {
    arms.push_back(Plan(input));
    all_single = all_single && arms.back().single;
    append = append && input->changelog == ChangelogMode::kAppend;
  }
  // One task cannot feed many by itself: its rows are spread by all columns, which keeps the changes of a row in order.
  for (size_t i = 0; i < arms.size() && !all_single; ++i) {
    if (arms[i].single) Exchange(node.inputs[i], arms[i], Iota(node.schema->size()));
  }
  node.changelog = append ? ChangelogMode::kAppend : ChangelogMode::kFull;
  Placement output;
  output.single = all_single;
  return output;
}

Placement PhysicalPlanner::PlanNormalise(PlanNode& node) {
  Placement input = Plan(node.inputs[0]);
  Exchange(node.inputs[0], input, node.key);
  node.changelog = ChangelogMode::kFull;
  Placement output;
  output.hashed = {node.key};
  output.keys = {{node.key, true}};
  return output;
}

Placement PhysicalPlanner::Plan(PlanPtr& node) {
  Placement placement;
  switch (node->kind) {
    case NodeKind::kScan:
      placement = PlanScan(node);
      break;
    case NodeKind::kFilter:
      placement = Plan(node->inputs[0]);
      node->changelog = node->inputs[0]->changelog;
      CheckVolatile(*node, *node->condition, node->changelog == ChangelogMode::kAppend);
      break;
    case NodeKind::kProject:
      placement = Plan(node->inputs[0]).Project(node->expressions);
      SkipColumnChoice(*node);
      node->changelog = node->inputs[0]->changelog;
      for (const ExpressionPtr& expression : node->expressions) {
        CheckVolatile(*node, *expression, node->changelog == ChangelogMode::kAppend);
      }
      break;
    case NodeKind::kTemporalJoin:
      placement = PlanTemporalJoin(*node);
      break;
    case NodeKind::kUnnest: {
      placement = Plan(node->inputs[0]);
      placement.keys = UnnestKeys(*node, std::move(placement.keys));
      const bool append = node->inputs[0]->changelog == ChangelogMode::kAppend;
      node->changelog = append ? ChangelogMode::kAppend : ChangelogMode::kFull;
      for (const ExpressionPtr& expression : node->expressions) CheckVolatile(*node, *expression, append);
      break;
    }
    case NodeKind::kValues:
      placement.single = true;
      break;
    case NodeKind::kLateRows:  // its input is planned below another sink
      placement.single = node->inputs[0]->single;
      break;
    case NodeKind::kJoin:
      placement = PlanJoin(node);
      break;
    case NodeKind::kAggregate:
      placement = PlanAggregate(node);
      break;
    case NodeKind::kWindow:
      placement = PlanWindow(*node);
      break;
    case NodeKind::kUnion:
      placement = PlanUnion(*node);
      break;
    case NodeKind::kNormalise:
      placement = PlanNormalise(*node);
      break;
    case NodeKind::kRank:
      placement = PlanRank(*node);
      break;
    case NodeKind::kOver:
      placement = PlanOver(*node);
      break;
    case NodeKind::kTable:
      placement = PlanSourceTable(*node);
      break;
    default:
      break;
  }
  RefreshSchema(*node);
  Record(*node, placement);
  return placement;
}

Result<std::vector<int>> PhysicalPlanner::SinkKey(const PlanNode& sink, const CatalogRelation& relation,
                                                  const Placement& placement) {
  std::vector<int> key;
  for (const std::string& name : relation.sink_key) {
    const std::optional<size_t> column = sink.schema->Find(name);
    if (!column) {
      return PlanError("sink " + QuotedIfNeeded(relation.name) + " has the key column " + QuotedIfNeeded(name) +
                       ", which the query does not give" + DidYouMean(name, ColumnNames(*sink.schema)));
    }
    if (!Contains(key, static_cast<int>(*column))) key.push_back(static_cast<int>(*column));
  }
  if (!key.empty()) return key;
  // A key that can be written as it comes goes before one that needs a key order; then the smallest.
  const UniqueKey* best = nullptr;
  const auto direct = [&](const UniqueKey& unique) { return unique.strict && placement.OrderedBy(unique.columns); };
  for (const UniqueKey& unique : placement.keys) {
    if (unique.columns.empty()) continue;
    if (best == nullptr || (direct(unique) && !direct(*best))) best = &unique;
  }
  if (best == nullptr) {
    return PlanError("the query has no upsert key for sink " + QuotedIfNeeded(relation.name) +
                     "; set key or use changelog: full");
  }
  return best->columns;
}

Status PhysicalPlanner::PlanSink(PlanNode& sink) {
  Placement placement = Plan(sink.inputs[0]);
  if (!error_.empty()) return PlanError(error_);
  const CatalogRelation& relation = *catalog_.Find(sink.relation);
  RefreshSchema(sink);
  if (relation.upsert_sink) {
    WEIR_ASSIGN(sink.key, SinkKey(sink, relation, placement));
    const bool ordered = placement.OrderedBy(sink.key);
    const bool unique = std::any_of(placement.keys.begin(), placement.keys.end(), [&](const UniqueKey& key) {
      return key.strict && placement.OrderedBy(key.columns) && IsSubset(key.columns, sink.key);
    });
    const bool append = sink.inputs[0]->changelog == ChangelogMode::kAppend;
    if (!ordered) Exchange(sink.inputs[0], placement, sink.key);
    if (!(ordered && (unique || append))) {
      OrderKeys(sink.inputs[0], placement, sink.key);
    }
  }
  sink.changelog = sink.inputs[0]->changelog;
  Record(sink, placement);
  return {};
}

std::vector<SinkError> PhysicalPlanner::Run(std::vector<PlanPtr>& unread) {
  for (const PlanPtr& sink : sinks_) CountReads(*sink);
  std::vector<PlanPtr> written;
  for (size_t i = 0; i < sinks_.size(); ++i) {
    const CatalogRelation& relation = *catalog_.Find(sinks_[i]->relation);
    if (relation.kind == CatalogRelation::Kind::kTable) {
      PlanWrites(relation);
      continue;
    }
    error_.clear();
    if (const Status planned = PlanSink(*sinks_[i]); !planned) errors_.push_back({sinks_[i], planned.error().message});
    written.push_back(sinks_[i]);
  }
  for (const CatalogRelation& relation : catalog_.relations) {
    const auto table = tables_.find(relation.name);
    if (table == tables_.end() || !table->second.written) continue;
    if (table->second.reads == 0 && relation.indexes.empty()) unread.push_back(TableNode(relation));
    PlanIndexes(relation, unread);
  }
  sinks_ = std::move(written);
  return std::move(errors_);
}

std::vector<SinkError> PlanPhysically(std::vector<PlanPtr>& sinks, const Catalog& catalog,
                                      const PlannerOptions& options, std::vector<PlanPtr>& unread) {
  return PhysicalPlanner(sinks, catalog, options).Run(unread);
}

}  // namespace weir
