// AND and OR: the nodes whose right side is evaluated only where it matters.
#pragma once

#include "sql/expr/expression.h"

namespace weir {

// a AND b, or a OR b.  REQUIRES: both boolean.
ExpressionPtr MakeJunction(bool conjunction, ExpressionPtr left, ExpressionPtr right);
bool IsConjunction(const Expression& expression);

}  // namespace weir
