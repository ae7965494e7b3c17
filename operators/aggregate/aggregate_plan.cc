#include <algorithm>

#include "operators/aggregate/aggregate_operator.h"

namespace weir {

namespace {

bool NeedsSet(const Accumulator& accumulator) {
  return accumulator.form == Accumulator::Form::kExtremeSet ||
         (accumulator.call.distinct && accumulator.call.argument >= 0);
}

}  // namespace

std::vector<KeyedState::Part> AggregateStateParts(const AggregateOptions& options) {
  std::vector<int> arguments;
  for (const AggregateCall& call : options.calls) {
    if (!NeedsSet(Accumulator::Make(call, *options.input, options.input_retracts))) continue;
    if (std::find(arguments.begin(), arguments.end(), call.argument) == arguments.end())
      arguments.push_back(call.argument);
  }
  std::vector<KeyedState::Part> parts{{"groups"}};
  for (const int argument : arguments) {
    parts.push_back({"values of " + (*options.input)[static_cast<size_t>(argument)].name});
  }
  if (options.windows) parts.insert(parts.end(), {{"watermark"}, {"sessions", false}, {"windows of slices", false}});
  return parts;
}

AggregatePlan::AggregatePlan(const AggregateOptions& options, KeyedState* state) {
  for (const AggregateCall& call : options.calls) {
    Accumulator made = Accumulator::Make(call, *options.input, options.input_retracts);
    if (made.form == Accumulator::Form::kExtremeText) made.text = texts++;
    if (NeedsSet(made)) {
      size_t i = 0;
      while (i < sets.size() && sets[i]->argument() != call.argument) ++i;
      if (i == sets.size()) {
        sets.push_back(std::make_unique<ValueSet>(call.argument, made.argument, static_cast<uint8_t>(i + 2),
                                                  options.input_retracts, state));
      }
      made.value_set = static_cast<int>(i);
      made.counter = sets[i]->CounterFor(call.filter);
      // The values of a group are linked where they have to be found again: to go with their window, or into another group.
      if (made.IsExtreme() || options.windows) sets[i]->MakeOrdered();
    }
    accumulators.push_back(std::move(made));
  }
  if (!sets.empty()) {
    id_offset = fixed;
    fixed += sizeof(uint64_t);
  }
  if (options.windows) {
    window_offset = fixed;
    fixed += sizeof(WindowPart);
    watermark_part = static_cast<uint8_t>(sets.size() + 2);
    session_part = static_cast<uint8_t>(sets.size() + 3);
    slice_part = static_cast<uint8_t>(sets.size() + 4);
  }
  for (Accumulator& accumulator : accumulators) {
    accumulator.offset = fixed;
    fixed += accumulator.Size();
  }
  for (const auto& set : sets) {
    set->SetIdOffset(id_offset);
    set->SetListOffset(fixed);
    fixed += set->Size();
    set->Finish();
  }
  for (const Accumulator& accumulator : accumulators) {
    if (accumulator.FromSet()) sets[static_cast<size_t>(accumulator.value_set)]->Listen(&accumulator);
  }
}

}  // namespace weir
