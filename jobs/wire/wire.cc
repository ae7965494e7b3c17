#include "jobs/wire/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/data/hash.h"
#include "jobs/wire/operator_descriptions.h"
#include "jobs/wire/union_operator.h"
#include "operators/registry.h"
#include "operators/table_index.h"
#include "operators/values.h"
#include "sql/plan/node_text.h"
#include "sql/plan/state_backend.h"
#include "tables/table_set.h"

namespace weir {
namespace {

class Wiring {
 public:
  Wiring(const PlannedJob& job, const WireOptions& options) : job_(job), options_(options), descriptions_(job) {}

  Result<JobGraph> Build() {
    const OptionsDeclaration& options = job_.file.options;
    tables_ = std::make_shared<TableSet>(TableSetOptions{options.memory, options.redo_bytes, options.redo_rows});
    std::vector<PlanPtr> roots = job_.plan.sinks;
    roots.insert(roots.end(), job_.plan.tables_unread.begin(), job_.plan.tables_unread.end());
    for (const PlanPtr& root : roots) CountConsumers(root);
    for (const PlanPtr& root : roots) {
      WEIR_ASSIGN(const int stage, Place(root));
      (void)stage;
    }
    if (has_tables_) graph_.store = tables_;
    return std::move(graph_);
  }

 private:
  // How the rows of a node reach a stage: from which stage, and over which exchange.
  struct Input {
    EdgeSpec edge;
    int parallelism = 1;  // that the receiver has to have; of a forward edge the sender's
  };

  void CountConsumers(const PlanPtr& node) {
    if (++consumers_[node.get()] > 1) return;  // its inputs are counted already
    if (node->kind == NodeKind::kLateRows) return;  // reads no results of its input, which is below another sink
    for (const PlanPtr& input : node->inputs) CountConsumers(input);
  }

  // The stage whose last operator is the node.
  Result<int> Place(const PlanPtr& node) {
    const auto placed = stages_.find(node.get());
    if (placed != stages_.end()) return placed->second;
    WEIR_ASSIGN(const int stage, PlaceNew(node));
    stages_[node.get()] = stage;
    return stage;
  }

  Result<int> PlaceNew(const PlanPtr& node) {
    if (node->kind == NodeKind::kScan) return AddScan(*node);
    if (node->kind == NodeKind::kValues) return AddValues(*node);
    if (CanFuse(*node)) {
      if (TakesColumnsOfJoin(*node)) {
        projections_[node->inputs.front().get()] = node.get();
        return Place(node->inputs.front());
      }
      WEIR_ASSIGN(const int stage, Place(node->inputs.front()));
      WEIR_TRY(Append(*node, stage));
      return stage;
    }
    WEIR_ASSIGN(std::vector<Input> inputs, PlaceInputs(*node));
    if (GoesToAnyBucket(*node)) SpreadOverBuckets(*node, inputs);
    StageSpec spec;
    spec.name = node->id;
    spec.parallelism = Reconcile(inputs);
    for (Input& input : inputs) spec.inputs.push_back(std::move(input.edge));
    const int stage = static_cast<int>(graph_.stages.size());
    graph_.stages.push_back(std::move(spec));
    WEIR_TRY(Append(*node, stage));
    return stage;
  }

  bool CanFuse(const PlanNode& node) const {
    if (node.inputs.size() != 1 || node.kind == NodeKind::kLateRows) return false;
    const PlanNode* input = node.inputs.front().get();
    if (input->kind == NodeKind::kExchange || consumers_.at(input) != 1) return false;
    // Rows of a log table that go to any bucket need one in their task.
    return !GoesToAnyBucket(node) || job_.file.options.parallelism <= node.table.buckets;
  }

  // A projection of columns alone behind a join: the join then reads only those columns of the rows it keeps.
  static bool TakesColumnsOfJoin(const PlanNode& node) {
    if (node.kind != NodeKind::kProject || node.inputs.front()->kind != NodeKind::kJoin) return false;
    return std::all_of(node.expressions.begin(), node.expressions.end(),
                       [](const ExpressionPtr& expression) { return expression->ColumnIndex() >= 0; });
  }

  Result<std::vector<Input>> PlaceInputs(const PlanNode& node) {
    std::vector<Input> inputs;
    for (const PlanPtr& from : node.inputs) {
      Input input;
      const bool exchanged = from->kind == NodeKind::kExchange;
      WEIR_ASSIGN(input.edge.from_stage, Place(exchanged ? from->inputs.front() : Unwrap(from)));
      const int sender = graph_.stages[static_cast<size_t>(input.edge.from_stage)].parallelism;
      if (node.kind == NodeKind::kLateRows) input.edge.late_of = from->id;
      if (!exchanged) {
        input.edge.exchange = Exchange::kForward;
        input.parallelism = sender;
      } else if (from->key.empty()) {
        input.edge.exchange = Exchange::kGather;
        input.parallelism = 1;
      } else {
        input.edge.exchange = from->buckets > 0 ? Exchange::kBucket : Exchange::kHash;
        input.edge.key_columns = from->key;
        input.edge.buckets = from->buckets;
        input.parallelism = job_.file.options.parallelism;
      }
      inputs.push_back(std::move(input));
    }
    return inputs;
  }

  static bool GoesToAnyBucket(const PlanNode& node) {
    return node.kind == NodeKind::kTable && node.table.bucket_columns.empty();
  }

  // Inputs in as many tasks as the table has go straight on; the rows of others are spread by their values.
  void SpreadOverBuckets(const PlanNode& node, std::vector<Input>& inputs) const {
    const int tasks = std::min(job_.file.options.parallelism, node.table.buckets);
    for (Input& input : inputs) {
      if (input.parallelism == tasks) continue;
      input.edge.exchange = Exchange::kHash;
      for (size_t i = 0; i < node.schema->size(); ++i) input.edge.key_columns.push_back(static_cast<int>(i));
      input.parallelism = tasks;
    }
  }

  // An exchange that turned out unnecessary stands for its input.
  static PlanPtr Unwrap(PlanPtr node) {
    return node;
  }

  // A stage has one parallelism.  Where an input comes from a single task and another does not (a union of an aggregate
  // and a scan), all go to one task: every row still comes after the rows it followed.
  static int Reconcile(std::vector<Input>& inputs) {
    int least = inputs.front().parallelism;
    bool equal = true;
    for (const Input& input : inputs) {
      equal = equal && input.parallelism == inputs.front().parallelism;
      least = std::min(least, input.parallelism);
    }
    if (equal) return least;
    for (Input& input : inputs) {
      if (input.parallelism != 1) input.edge = {input.edge.from_stage, Exchange::kGather, {}};
    }
    return 1;
  }

  Result<int> AddScan(const PlanNode& node) {
    const SourceDeclaration* declared = job_.file.FindSource(node.relation);
    if (declared == nullptr)
      return Error{ErrorCode::kBug, "the plan reads " + node.relation + ", which is no source", {}};
    const auto feed = options_.feeds.find(node.relation);
    StageSpec stage;
    stage.name = node.id;
    stage.parallelism = job_.file.options.parallelism;
    SourceSpec source;
    source.name = node.relation;
    source.skip_bad_rows = declared->skip_bad_rows;
    WEIR_ASSIGN(source.make, MakeSourceFactory(job_.file, *declared, node.scan_columns,
                                               feed == options_.feeds.end() ? nullptr : feed->second));
    source.event_time = EventTimeOf(node, *declared);
    stage.source = std::move(source);
    graph_.stages.push_back(std::move(stage));
    return static_cast<int>(graph_.stages.size()) - 1;
  }

  // Watermarks are for operators that read the time column; a plan that reads it nowhere has none of them, so it is not
  // decoded for their sake.
  static std::optional<EventTimeSpec> EventTimeOf(const PlanNode& node, const SourceDeclaration& declared) {
    if (!declared.event_time) return std::nullopt;
    const auto& columns = node.scan_columns;
    const auto found = std::find(columns.begin(), columns.end(), declared.event_time->column);
    if (found == columns.end()) return std::nullopt;
    EventTimeSpec spec;
    spec.column = static_cast<int>(found - columns.begin());
    spec.bound = declared.event_time->watermark;
    spec.idle_timeout = declared.event_time->idle_timeout;
    spec.every_row = declared.event_time->every_row;
    return spec;
  }

  Result<int> AddValues(const PlanNode& node) {
    StageSpec stage;
    stage.name = node.id;
    SourceSpec source;
    source.name = node.id;
    source.make = [rows = node.values](int, int) { return MakeValuesSource(rows); };
    stage.source = std::move(source);
    graph_.stages.push_back(std::move(stage));
    return static_cast<int>(graph_.stages.size()) - 1;
  }

  Status Append(const PlanNode& node, int stage) {
    OperatorSpec spec;
    spec.id = node.id;
    spec.kind = KindName(node.kind);
    spec.name = node.kind == NodeKind::kSink ? node.relation : node.id;
    spec.described = descriptions_.Of(node);
    WEIR_ASSIGN(spec.make, MakeFactory(node));
    graph_.stages[static_cast<size_t>(stage)].chain.push_back(std::move(spec));
    return {};
  }

  Result<OperatorFactory> MakeFactory(const PlanNode& node) {
    if (node.kind == NodeKind::kUnion || node.kind == NodeKind::kLateRows) {
      return OperatorFactory(
          [schema = node.schema](int, int) -> Result<std::unique_ptr<Operator>> { return MakeUnion(schema); });
    }
    if (node.kind == NodeKind::kSink) {
      const SinkDeclaration* sink = job_.file.FindSink(node.relation);
      if (sink == nullptr) return Error{ErrorCode::kBug, "the plan writes " + node.relation + ", which is no sink", {}};
      const auto result = options_.results.find(node.relation);
      return MakeSinkFactory(*sink, node.inputs.front()->schema, node.key,
                             result == options_.results.end() ? nullptr : result->second);
    }
    OperatorBuildOptions build;
    build.time_zone = job_.file.options.time_zone;
    if (const auto projection = projections_.find(&node); projection != projections_.end()) {
      build.output_columns.emplace();
      for (const ExpressionPtr& column : projection->second->expressions) {
        build.output_columns->push_back(column->ColumnIndex());
      }
      build.output_schema = projection->second->schema;
    }
    AddTables(node, build);
    return OperatorFactory([node = PlanNode(node), build](int, int) { return MakeOperator(node, build); });
  }

  // The tables that the operator keeps its rows in, if it does.
  void AddTables(const PlanNode& node, OperatorBuildOptions& build) {
    const auto add = [this](const std::string& name, int buckets, TableOptions::Kind kind) {
      has_tables_ = true;
      return tables_->Add({name, buckets, kind});
    };
    if (node.kind == NodeKind::kTable) {
      build.tables[0] = AddTable(node);
      build.table_is_read = consumers_.at(&node) > 1 || !IsUnread(node);
    } else if (node.kind == NodeKind::kJoin && node.strategy == JoinStrategy::kDelta) {
      build.tables[0] = add(node.left_table.name, node.left_table.buckets, TableOptions::Kind::kLogged);
      build.tables[1] = add(node.right_table.name, node.right_table.buckets, TableOptions::Kind::kLogged);
    } else if (job_.file.options.rocksdb_state && MayKeepStateInRocksDb(node)) {
      build.tables[0] = add(node.id + ".left", kKeyGroups, TableOptions::Kind::kState);
      build.tables[1] = add(node.id + ".right", kKeyGroups, TableOptions::Kind::kState);
    }
  }

  std::shared_ptr<Table> AddTable(const PlanNode& node) {
    has_tables_ = true;
    TableOptions options;
    options.name = node.table.name;
    options.buckets = node.table.buckets;
    if (node.table.kind == TableKind::kLog) {
      options.kind = TableOptions::Kind::kLog;
      options.ttl = job_.file.FindTable(node.table.name)->ttl;
    }
    if (node.table.kind == TableKind::kIndex) options.fill = FillOfIndex(node);
    return declared_[&node] = tables_->Add(std::move(options));
  }

  // An index that was declared after the job had begun gets the rows of its table, which is placed before it.
  std::function<Status(TableFill&)> FillOfIndex(const PlanNode& node) const {
    const PlanNode* table = node.inputs.front().get();
    while (table->kind != NodeKind::kTable) table = table->inputs.front().get();
    TableIndexOptions index{declared_.at(table), node.schema, node.key, node.table.bucket_columns, node.table.buckets};
    return [index = std::move(index)](TableFill& rows) { return FillIndex(index, rows); };
  }

  bool IsUnread(const PlanNode& node) const {
    const auto& unread = job_.plan.tables_unread;
    return std::any_of(unread.begin(), unread.end(), [&](const PlanPtr& table) { return table.get() == &node; });
  }

  const PlannedJob& job_;
  const WireOptions& options_;
  const OperatorDescriptions descriptions_;
  JobGraph graph_;
  std::shared_ptr<TableSet> tables_;
  bool has_tables_ = false;
  std::unordered_map<const PlanNode*, int> consumers_;
  std::unordered_map<const PlanNode*, int> stages_;
  std::unordered_map<const PlanNode*, std::shared_ptr<Table>> declared_;  // of kTable nodes
  std::unordered_map<const PlanNode*, const PlanNode*> projections_;  // join -> the projection that it does itself
};

}  // namespace

Result<JobGraph> WireJob(const PlannedJob& job, const WireOptions& options) { return Wiring(job, options).Build(); }

}  // namespace weir
