// The accumulator of one aggregate call: some bytes in the group's record, updated a column at a time.
//
//   kRows        nothing: COUNT(*) is the group's number of rows
//   kCount       i64
//   kSumExact    Int128 sum, i64 values            integers and decimals, SUM and AVG
//   kSumDouble   f64 sum of the finite values, i64 finite values, i64 NaNs, i64 +infinities, i64 -infinities,
//                f64 what rounding cut off
//   kVarianceExact, kVarianceDouble                variance.h
//   kBools       i64 TRUEs, i64 FALSEs             BOOL_AND, BOOL_OR
//   kBits, kBitCounts                              bits.h
//   kExtreme     i64 present, 16 bytes value       MIN, MAX, FIRST_VALUE and LAST_VALUE of fixed-width values that are
//                                                  never retracted
//   kExtremeText u32 size, u32 present; the bytes stand behind the group's key
//   kExtremeSet  Ref of the value's record         MIN and MAX of values that can be retracted (value_set.h)
//   kState       u32 name of the group's values    lists, bitmaps, sketches (call_state.h)
//
// Bytes in records are not aligned for Int128: they are read and written through memcpy.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/data/batch.h"
#include "sql/plan/plan.h"

namespace weir {

template <class T>
T LoadAt(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void StoreAt(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

struct Accumulator {
  enum class Form {
    kRows,
    kCount,
    kSumExact,
    kSumDouble,
    kVarianceExact,
    kVarianceDouble,
    kBools,
    kBits,
    kBitCounts,
    kExtreme,
    kExtremeText,
    kExtremeSet,
    kState
  };

  Form form = Form::kRows;
  AggregateCall call;
  DataType argument;   // its type; of COUNT(*) bigint
  size_t offset = 0;   // in the group's payload
  size_t partial_offset = 0;  // in a partial result
  int value_set = -1;  // index of the set that feeds it, for DISTINCT and retractable extremes
  int counter = 0;     // which count of the set: by FILTER
  int text = -1;       // kExtremeText: its number among those
  int state = -1;      // kState: the same

  // `retracts`: the input has retractions.
  static Accumulator Make(const AggregateCall& call, const Schema& input, bool retracts);

  size_t Size() const;
  bool IsMin() const { return call.function == AggregateFunction::kMin; }
  bool IsExtreme() const { return form >= Form::kExtreme && form <= Form::kExtremeSet; }
  // Whether a value takes the place of the one kept so far: `less` compares MIN's and MAX's.
  template <class T, class Less>
  bool Replaces(const T& value, const T& kept, Less less) const {
    switch (call.function) {
      case AggregateFunction::kMin:
        return less(value, kept);
      case AggregateFunction::kMax:
        return less(kept, value);
      default:
        return call.function == AggregateFunction::kLastValue;
    }
  }
  bool FromSet() const { return value_set >= 0; }

  // Adds (sign 1) or takes back (-1) the values of a batch, skipping NULLs, rows with sign 0 and rows that the FILTER
  // drops.  groups[i] is the payload of row i's group.  Not for kRows, kExtremeText and accumulators fed by a set.
  Status Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups) const;
  // The same for one value, of row `row` of `column`.
  Status UpdateOne(char* group, const Column* column, size_t row, int sign) const;

  // Whether Merge can take another group's accumulator in: not where values lie outside of the accumulator's bytes, in a
  // set, a state or behind the group's key, and not where the order of arrival counts.  Forms that come to be answer
  // this and Merge together.
  bool CanMerge() const {
    if (call.function == AggregateFunction::kFirstValue || call.function == AggregateFunction::kLastValue) return false;
    return !FromSet() && form < Form::kExtremeText && form != Form::kBitCounts;
  }
  // Adds what `other` has taken to `group`, as if its values had come to `group` themselves; both are payloads of one
  // plan, `other` stays as it is.  What slices of a window and partial aggregates of several tasks are put together with.
  // Of counts and exact sums `other` may be of values that have gone, too.  REQUIRES: CanMerge.
  Status Merge(char* group, const char* other) const { return MergeAt(group + offset, other + offset); }

  // The same of a batch of partial results (partial.h) with the accumulator's bytes at partial_offset: partials[i] goes to
  // groups[i], unless its sign is 0.
  Status MergePartials(std::span<const char* const> partials, std::span<const int8_t> signs,
                       std::span<char* const> groups) const;

  // Appends the result for each group (its payload).  Not for extremes of text and sets.
  Status AppendResults(std::span<const char* const> groups, Column& out) const;

 private:
  Status MergeAt(char* at, const char* from) const;
  Status AppendExact(Int128 sum, int64_t count, Column& out) const;
  Status AppendDouble(const char* at, Column& out) const;
  Status AppendVariance(const char* at, Column& out) const;
  Error OutOfRange() const;
};

// Whether the value is NULL-free TRUE: what a FILTER lets pass.
inline bool FilterPasses(const Column* filter, size_t row) {
  return filter == nullptr || (filter->bools()[row] != 0 && !filter->IsNull(row));
}
inline const Column* FilterColumn(const Batch& batch, const AggregateCall& call) {
  return call.filter < 0 ? nullptr : &batch.column(static_cast<size_t>(call.filter));
}

// Order of numbers as SQL has it: NaN is the largest and equal to itself.
inline bool DoubleLess(double a, double b) {
  if (a != a) return false;
  if (b != b) return true;
  return a < b;
}

}  // namespace weir
