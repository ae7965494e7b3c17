#include "sql/plan/two_phase.h"

#include <algorithm>
#include <map>
#include <set>

#include "sql/plan/aggregate_functions.h"
#include "sql/plan/nodes.h"

namespace weir {
namespace {

// A partial sum must not leave 128 bits while the whole one would not: at 30 digits that takes more than 10^8 rows.
constexpr int kMostDigits = 30;

std::string Quoted(const AggregateCall& call) { return std::string(AggregateName(call.function)) + " "; }

// Sums of exact numbers, and counts, are right whatever the order in which rows come and go.
std::string WhyNotOfNumbers(const AggregateCall& call, const DataType& argument, bool retracts, bool variance) {
  if (argument.physical() == Physical::kInt128 && argument.precision > kMostDigits) {
    return Quoted(call) + "of more than " + std::to_string(kMostDigits) + " digits could overflow in part and not as a whole";
  }
  if (!retracts) return {};
  if (variance || argument.physical() == Physical::kDouble) {
    return Quoted(call) + "cannot be taken back in part";
  }
  return {};
}

std::string WhyNotSplit(const AggregateCall& call, const Schema& rows, bool retracts) {
  const DataType argument = call.argument < 0 ? BigintType() : rows[static_cast<size_t>(call.argument)].type;
  // Each distinct value travels once, with how often it has come and gone.
  const bool by_value = call.distinct && call.argument >= 0 && !TakesOrder(call.function);
  switch (call.function) {
    case AggregateFunction::kCountStar:
    case AggregateFunction::kCount:
    case AggregateFunction::kMin:
    case AggregateFunction::kMax:
    case AggregateFunction::kBoolAnd:
    case AggregateFunction::kBoolOr:
      return {};
    case AggregateFunction::kSum:
    case AggregateFunction::kAvg:
      return by_value ? std::string() : WhyNotOfNumbers(call, argument, retracts, false);
    case AggregateFunction::kStddevSamp:
    case AggregateFunction::kStddevPop:
    case AggregateFunction::kVarSamp:
    case AggregateFunction::kVarPop:
      return by_value ? std::string() : WhyNotOfNumbers(call, argument, retracts, true);
    case AggregateFunction::kBitAnd:
    case AggregateFunction::kBitOr:
    case AggregateFunction::kBitXor:
      return retracts ? Quoted(call) + "cannot be taken back in part" : std::string();
    case AggregateFunction::kFirstValue:
    case AggregateFunction::kLastValue:
    case AggregateFunction::kStringAgg:
    case AggregateFunction::kArrayAgg:
      return Quoted(call) + "depends on the order of the rows";
    default:
      return Quoted(call) + "has no partial form";
  }
}

// A partial result has a bit for each FILTER of an argument whose values are counted.
constexpr size_t kMostFilters = 32;

bool HasManyFilters(const std::vector<AggregateCall>& calls) {
  std::map<int, std::set<int>> filters;
  for (const AggregateCall& call : calls) filters[call.argument].insert(call.filter);
  return std::any_of(filters.begin(), filters.end(),
                     [](const auto& of_argument) { return of_argument.second.size() > kMostFilters; });
}

// Deletes of a source may name rows that never came.  An aggregate ignores such a row when it has nothing to take it
// from, which a row that it was folded with would hide; operators with state have seen to it already.
bool HasDeletesOfSource(const PlanNode& node) {
  switch (node.kind) {
    case NodeKind::kScan:
      return node.changelog == ChangelogMode::kFull;
    case NodeKind::kFilter:
    case NodeKind::kProject:
    case NodeKind::kWindow:
    case NodeKind::kUnnest:
    case NodeKind::kUnion:
    case NodeKind::kExchange:
      return std::any_of(node.inputs.begin(), node.inputs.end(),
                         [](const PlanPtr& input) { return HasDeletesOfSource(*input); });
    default:
      return false;
  }
}

}  // namespace

std::string WhyOnePhase(const PlanNode& aggregate) {
  if (aggregate.windows && aggregate.windows->assigned &&
      aggregate.windows->spec.function == WindowFunction::kSession) {
    return "a session is known by all of its rows";
  }
  if (aggregate.late_rows) return "rows that are late go on as they came";
  const PlanNode& input = *aggregate.inputs[0];
  for (const AggregateCall& call : aggregate.calls) {
    std::string why = WhyNotSplit(call, *input.schema, aggregate.input_retracts);
    if (!why.empty()) return why;
  }
  if (HasManyFilters(aggregate.calls)) return "an argument has more than " + std::to_string(kMostFilters) + " filters";
  if (aggregate.input_retracts && HasDeletesOfSource(input)) return "a source may delete rows that it never gave";
  return {};
}

bool CountsValues(const PlanNode& aggregate) {
  return std::any_of(aggregate.calls.begin(), aggregate.calls.end(), [&](const AggregateCall& call) {
    const bool extreme = call.function == AggregateFunction::kMin || call.function == AggregateFunction::kMax;
    return extreme ? aggregate.input_retracts : call.distinct && call.argument >= 0;
  });
}

void AddLocalAggregate(PlanNode& aggregate, const MiniBatch& mini_batch) {
  auto local = std::make_shared<PlanNode>();
  local->kind = NodeKind::kLocalAggregate;
  local->inputs = aggregate.inputs;
  local->group_columns = aggregate.group_columns;
  local->calls = aggregate.calls;
  local->windows = aggregate.windows;
  local->input_retracts = aggregate.input_retracts;
  local->mini_batch = mini_batch;
  // A window's rows must not come behind a watermark of other tasks that has closed it.
  if (local->windows) local->mini_batch.allow_latency = 0;
  local->changelog = ChangelogMode::kAppend;
  RefreshSchema(*local);

  const auto groups = static_cast<int>(aggregate.group_columns.size());
  aggregate.rows = aggregate.inputs[0]->schema;
  aggregate.partial = static_cast<int>(local->schema->size()) - 1;
  aggregate.group_columns = Iota(aggregate.group_columns.size());
  if (aggregate.windows && aggregate.windows->assigned) {
    aggregate.windows->time = groups;
    if (aggregate.windows->condition >= 0) aggregate.windows->condition = groups + 1;
  }
  aggregate.inputs = {std::move(local)};
}

}  // namespace weir
