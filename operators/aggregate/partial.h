// A partial result: what some rows of one group add up to, as bytes that go from a local aggregate through an exchange
// to the aggregate itself.
//
//   i64 rows                   added less taken back
//   i64 changes                with windows: how many rows it is of, so that late ones are counted
//   accumulators               those that can be merged, as in a group's record, one after the other
//   texts                      the values of MIN and MAX of texts, in the order of their calls
//   values                     for each argument whose values are counted (DISTINCT, MIN and MAX that can be taken back):
//                              u32 number of values, then of each value an i32 for every FILTER (how often it has come
//                              less how often it has gone; without retractions instead one u32 with a bit for every
//                              FILTER that has passed it), and the value in canonical encoding
//   slack                      where there are values: kRowSlack bytes, for their decoder
//
// It never leaves the process: it may change with every version.
#pragma once

#include <span>
#include <vector>

#include "operators/aggregate/accumulator.h"

namespace weir {

inline constexpr size_t kPartialChanges = sizeof(int64_t);  // the place of `changes`

// Whether a value set feeds the accumulator: its values are counted one by one.
bool NeedsSet(const Accumulator& accumulator);

// Gives the accumulators their places.  Returns where they end, which is where the texts begin.
size_t PlacePartials(std::span<Accumulator> accumulators, bool windows);

}  // namespace weir
