#include <algorithm>

#include "operators/aggregate/aggregate_operator.h"
#include "operators/aggregate/partial.h"

namespace weir {

namespace {

Accumulator MakeAccumulator(const AggregateCall& call, const AggregateOptions& options) {
  // The first and the last of two windows that become one are known by the order in which all values came: a list has it.
  const bool end = call.function == AggregateFunction::kFirstValue || call.function == AggregateFunction::kLastValue;
  return Accumulator::Make(call, options.arguments(), options.input_retracts || (end && options.windows.has_value()));
}

}  // namespace

std::vector<KeyedState::Part> AggregateStateParts(const AggregateOptions& options) {
  std::vector<int> arguments;
  std::vector<std::string> states;
  for (const AggregateCall& call : options.calls) {
    const Accumulator made = MakeAccumulator(call, options);
    if (made.form == Accumulator::Form::kState) states.push_back(call.name);
    if (!NeedsSet(made)) continue;
    if (std::find(arguments.begin(), arguments.end(), call.argument) == arguments.end())
      arguments.push_back(call.argument);
  }
  std::vector<KeyedState::Part> parts{{"groups"}};
  for (const int argument : arguments) {
    parts.push_back({"values of " + options.arguments()[static_cast<size_t>(argument)].name});
  }
  for (const std::string& name : states) parts.push_back({"values of " + name});
  if (options.windows) parts.insert(parts.end(), {{"watermark"}, {"sessions", false}, {"windows of slices", false}});
  return parts;
}

AggregatePlan::AggregatePlan(const AggregateOptions& options, KeyedState* state) {
  for (const AggregateCall& call : options.calls) {
    Accumulator made = MakeAccumulator(call, options);
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
  for (Accumulator& accumulator : accumulators) {
    if (accumulator.form != Accumulator::Form::kState) continue;
    accumulator.state = static_cast<int>(states.size());
    const auto part = static_cast<uint8_t>(2 + sets.size() + states.size());
    states.push_back(MakeCallState(accumulator.call, options.arguments(), part, state));
  }
  if (HasIds()) {
    id_offset = fixed;
    fixed += sizeof(uint64_t);
  }
  if (options.windows) {
    window_offset = fixed;
    fixed += sizeof(WindowPart);
    watermark_part = static_cast<uint8_t>(2 + sets.size() + states.size());
    session_part = static_cast<uint8_t>(3 + sets.size() + states.size());
    slice_part = static_cast<uint8_t>(4 + sets.size() + states.size());
  }
  for (Accumulator& accumulator : accumulators) {
    accumulator.offset = fixed;
    fixed += accumulator.Size();
    if (accumulator.state >= 0) StateOf(accumulator)->SetOffsets(accumulator.offset, id_offset);
  }
  if (options.partial >= 0) partial_fixed = PlacePartials(accumulators, options.windows.has_value());
  for (const auto& set : sets) {
    set->SetIdOffset(id_offset);
    set->SetListOffset(fixed);
    fixed += set->Size();
    set->Finish();
  }
  for (const Accumulator& accumulator : accumulators) {
    if (!accumulator.FromSet()) continue;
    sets[static_cast<size_t>(accumulator.value_set)]->Listen(&accumulator, StateOf(accumulator));
  }
}

}  // namespace weir
