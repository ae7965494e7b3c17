// ORDER BY items and window definitions, as written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/parse/ast.h"

namespace weir {

struct AstSortItem {
  size_t at = 0;
  AstExpressionPtr expression;
  bool descending = false;
  bool nulls_first = false;  // written, or PostgreSQL's default: first with DESC, last with ASC
};

struct AstFrameBound {
  // The values of PRECEDING and FOLLOWING have an offset.
  enum class Kind { kUnboundedPreceding, kPreceding, kCurrentRow, kFollowing, kUnboundedFollowing };
  Kind kind = Kind::kUnboundedPreceding;
  AstExpressionPtr offset;
};

// The frame of a window: RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW when none is written.
struct AstFrame {
  enum class Mode { kRows, kRange };
  Mode mode = Mode::kRange;
  AstFrameBound start{AstFrameBound::Kind::kUnboundedPreceding, nullptr};
  AstFrameBound end{AstFrameBound::Kind::kCurrentRow, nullptr};
  bool written = false;
};

// OVER (...), OVER name, or an entry of the WINDOW clause.
struct AstWindow {
  size_t at = 0;
  std::string name;     // in the WINDOW clause
  std::string extends;  // the window of that name with what is written here; alone in OVER name
  bool is_reference = false;
  std::vector<AstExpressionPtr> partition_by;
  std::vector<AstSortItem> order_by;
  AstFrame frame;
};

// What stands behind the rows of a SELECT: ORDER BY, LIMIT, OFFSET, FETCH; and the WINDOW clause and DISTINCT ON.
struct AstOrdering {
  std::vector<AstSortItem> order_by;
  AstExpressionPtr limit;  // null: all
  AstExpressionPtr offset;
  bool with_ties = false;
  std::vector<AstExpressionPtr> distinct_on;
  std::vector<AstWindow> windows;
};

}  // namespace weir
