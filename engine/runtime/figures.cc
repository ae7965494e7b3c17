#include "engine/runtime/figures.h"

#include <algorithm>

namespace weir {
namespace {

class Collector {
 public:
  Collector(JobFigures& figures, const std::map<std::string, int64_t>& base) : figures_(figures), base_(base) {
    figures_.late_rows = Base("late_rows");
    figures_.null_event_time = Base("null_event_time");
    figures_.ignored_deletes = Base("ignored_deletes");
    figures_.records_out = Base("records_out");
  }

  SourceFigures BeginSource(const std::string& name) const {
    const std::string prefix = "source." + name + ".";
    return {name, Base(prefix + "records_in"), Base(prefix + "bad_records"), Base(prefix + "tombstones"),
            Base(prefix + "input_bytes"), 0};
  }

  OperatorFigures BeginOperator(const OperatorSpec& op) const {
    const std::string prefix = "operator." + op.id + ".";
    return {op.id, op.kind, op.name, Base(prefix + "records_in"), Base(prefix + "records_out"), 0, {}};
  }

  static void AddSource(const SourceMetrics& metrics, SourceFigures& source) {
    source.records_in += metrics.records_in;
    source.bad_records += metrics.bad_records;
    source.tombstones += metrics.tombstones;
    source.input_bytes += metrics.input_bytes;
    source.lag += metrics.lag;
  }

  void AddOperator(const OperatorMetrics& metrics, OperatorFigures& op) {
    op.records_in += metrics.records_in;
    op.records_out += metrics.records_out;
    figures_.late_rows += metrics.late_rows;
    figures_.null_event_time += metrics.null_event_time;
    figures_.ignored_deletes += metrics.ignored_deletes;
    if (op.kind == "sink") figures_.records_out += metrics.records_in;
  }

  static void AddState(const std::vector<StateSize>& sizes, OperatorFigures& op) {
    for (const StateSize& size : sizes) {
      op.state_bytes += size.bytes;
      const auto part = std::find_if(op.state.begin(), op.state.end(),
                                     [&](const StateSize& known) { return known.part == size.part; });
      if (part == op.state.end()) {
        op.state.push_back(size);
      } else {
        part->rows += size.rows;
        part->bytes += size.bytes;
      }
    }
  }

  void EndSource(SourceFigures source) {
    figures_.records_in += source.records_in;
    figures_.bad_records += source.bad_records;
    figures_.tombstones += source.tombstones;
    figures_.input_bytes += source.input_bytes;
    figures_.sources.push_back(std::move(source));
  }

 private:
  int64_t Base(const std::string& name) const {
    const auto found = base_.find(name);
    return found == base_.end() ? 0 : found->second;
  }

  JobFigures& figures_;
  const std::map<std::string, int64_t>& base_;
};

}  // namespace

JobFigures CollectFigures(const JobGraph& graph, const std::vector<std::vector<std::unique_ptr<Task>>>& tasks,
                          const std::map<std::string, int64_t>& base) {
  JobFigures figures;
  Collector collector(figures, base);
  static const std::vector<std::unique_ptr<Task>> kNotBuilt;
  for (size_t s = 0; s < graph.stages.size(); ++s) {
    const StageSpec& stage = graph.stages[s];
    SourceFigures source;
    if (stage.source) source = collector.BeginSource(stage.source->name);
    std::vector<OperatorFigures> operators;
    for (const OperatorSpec& op : stage.chain) operators.push_back(collector.BeginOperator(op));
    for (const auto& task : s < tasks.size() ? tasks[s] : kNotBuilt) {
      if (task->has_source()) Collector::AddSource(task->source_metrics(), source);
      for (size_t i = 0; i < task->operators().size(); ++i) {
        const OperatorMetrics& metrics = *task->operators()[i].metrics;
        collector.AddOperator(metrics, operators[i]);
        Collector::AddState(task->StateSizesOf(i), operators[i]);
        source.bad_records += metrics.bad_records;
      }
    }
    if (stage.source) collector.EndSource(std::move(source));
    for (OperatorFigures& op : operators) figures.operators.push_back(std::move(op));
  }
  return figures;
}

}  // namespace weir
