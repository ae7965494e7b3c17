// Casts: one kernel a pair of types.
#pragma once

#include "sql/expr/kernel.h"

namespace weir {

struct CastRule {
  Kernel kernel;  // empty: there is no such cast
  bool can_fail = false;
  bool uses_context = false;
};

CastRule NumberCast(const DataType& from, const DataType& to);  // numbers and booleans among themselves
CastRule TextCast(const DataType& from, const DataType& to);    // from anything to text, or from text to anything
CastRule TimeCast(const DataType& from, const DataType& to);    // dates, times and timestamps among themselves

// The column under another type of the same physical form.
ColumnPtr Retyped(const ColumnPtr& column, const DataType& type);

// Range of an integer type.
struct IntegerRange {
  int64_t min;
  int64_t max;
};
IntegerRange RangeOf(TypeKind kind);

// Rounded half away from zero to `digits` digits of the second's fraction.
Micros RoundMicros(Micros value, int digits);

inline constexpr Micros kMicrosPerSecond = 1000000;
inline constexpr Micros kMicrosPerDay = Micros{86400} * kMicrosPerSecond;

inline int64_t FloorDivide(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return quotient - (value % by < 0 ? 1 : 0);
}

}  // namespace weir
