// Whether two rows of a column hold the same value, bit by bit: NULL is NULL, 0.0 is not -0.0.
#pragma once

#include <cstring>

#include "engine/data/column.h"

namespace weir {

// Of two columns of one type.
inline bool SameValue(const Column& left, size_t a, const Column& right, size_t b) {
  if (left.IsNull(a) != right.IsNull(b)) return false;
  switch (left.physical()) {
    case Physical::kBool:
      return left.bools()[a] == right.bools()[b];
    case Physical::kInt64:
      return left.ints()[a] == right.ints()[b];
    case Physical::kDouble:
      return std::memcmp(&left.doubles()[a], &right.doubles()[b], sizeof(double)) == 0;
    case Physical::kInt128:
      return left.wides()[a] == right.wides()[b];
    case Physical::kText:
      return left.text(a) == right.text(b);
  }
  return false;
}

inline bool SameValue(const Column& column, size_t a, size_t b) { return SameValue(column, a, column, b); }

}  // namespace weir
