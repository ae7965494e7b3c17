// Implicit conversions while an expression is built, and literals.
//
// A string literal is of unknown type, as in PostgreSQL: it takes the type of what it stands next to.
#pragma once

#include <string>
#include <vector>

#include "sql/expr/expression.h"

namespace weir {

bool IsNullLiteral(const Expression& expression);    // NULL of any type
bool IsStringLiteral(const Expression& expression);  // not NULL
// The text of a string literal.  REQUIRES: IsStringLiteral.
std::string_view LiteralText(const Expression& expression);
// The value of an integer literal.
std::optional<int64_t> LiteralInt(const Expression& expression);

ExpressionPtr MakeIntLiteral(DataType type, int64_t value);
ExpressionPtr MakeDoubleLiteral(double value);
ExpressionPtr MakeDecimalLiteral(DataType type, Int128 unscaled);
// The value of an expression without columns that does not depend on the context; itself when it fails.
ExpressionPtr FoldNode(const ExpressionPtr& expression);

// The name in messages as PostgreSQL has it: integer for int.
std::string TypeName(const DataType& type);
// "1 month 2 days 03:00:00", as PostgreSQL's interval syntax.
std::string IntervalText(int64_t months, Micros micros);
// "bigint, string"
std::string TypeList(const std::vector<ExpressionPtr>& expressions);

// The integer or decimal type as a decimal: bigint is decimal(19,0).  REQUIRES: IsInteger or kDecimal.
DataType AsDecimal(const DataType& type);
// The same with the digits that a literal really has.
DataType AsDecimal(const Expression& expression);
// A column of `from` can be read as one of `to` without a change of its values: bigint for int.
bool SameValues(const DataType& from, const DataType& to);

// Converts an argument to the type a function needs: NULL to anything, string literals to anything (an error when they
// do not denote a value), and what MakeAssignmentCast allows without loss.  Empty error text: "not convertible".
Result<ExpressionPtr> Coerce(ExpressionPtr expression, DataType to);
// True when Coerce could succeed judging by the types.
bool IsCoercible(const Expression& expression, const DataType& to);
// All to one type, the common one; string literals follow the others.
Result<DataType> Unify(std::vector<ExpressionPtr>& expressions, const std::string& what);

// The months of an INTERVAL literal that is not a plain number of microseconds.
struct MonthInterval {
  int64_t months = 0;
  Micros micros = 0;
};
std::optional<MonthInterval> AsMonthInterval(const Expression& expression);

}  // namespace weir
