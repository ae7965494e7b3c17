// Whether two rows of a column hold the same value, bit by bit: NULL is NULL, 0.0 is not -0.0.
#pragma once

#include <cstring>

#include "engine/data/column.h"

namespace weir {

inline bool SameValue(const Column& column, size_t a, size_t b) {
  if (column.IsNull(a) != column.IsNull(b)) return false;
  switch (column.physical()) {
    case Physical::kBool:
      return column.bools()[a] == column.bools()[b];
    case Physical::kInt64:
      return column.ints()[a] == column.ints()[b];
    case Physical::kDouble:
      return std::memcmp(&column.doubles()[a], &column.doubles()[b], sizeof(double)) == 0;
    case Physical::kInt128:
      return column.wides()[a] == column.wides()[b];
    case Physical::kText:
      return column.text(a) == column.text(b);
  }
  return false;
}

}  // namespace weir
