// A bound scalar expression that is evaluated column-wise.
//
// Immutable and shared between tasks (ExpressionPtr); per-call scratch lives on the stack.  SQL's three-valued logic;
// arithmetic that overflows or divides by zero is a row error, never a wrapped value.
//
// Types of results, where PostgreSQL has no counterpart or weir differs:
//   integers            the wider type; a result outside it is a row error
//   decimal + - %       scale max(s1, s2), enough digits before the point
//   decimal *           scale s1 + s2, precision p1 + p2; above 38 digits the scale is cut to max(s1, s2, 20), rounded
//   decimal /           scale max(6, s1 + p2 + 1); above 38 digits max(38 - digits before the point, 16); rounded half
//                       away from zero
//   integer op decimal  the integer is decimal(19,0), (10,0) or (5,0); a literal has as many digits as it needs
//   decimal op double   double
// A decimal has at most 38 digits; a value that does not fit its type is a row error ("numeric field overflow").
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/data/batch.h"

namespace weir {

// The first row that failed, so that a caller may drop it and evaluate again.
struct RowError {
  size_t row = 0;
  std::string message;  // "division by zero", "bigint out of range: 9223372036854775807 + 1"
};

template <class T>
using RowResult = tl::expected<T, RowError>;

struct EvalContext {
  std::string time_zone = "UTC";
  Micros now = 0;  // for CURRENT_TIMESTAMP: the time of the batch
};

class Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

class Expression {
 public:
  explicit Expression(DataType type) : type_(type) {}
  virtual ~Expression() = default;

  const DataType& type() const { return type_; }
  // The value for every row of the batch, in order; the column has batch.rows() rows.
  virtual RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext& context) const = 0;
  // As SQL, columns by the names of `schema`.
  virtual std::string ToString(const Schema& schema) const = 0;
  // Direct sub-expressions, for rules that walk trees.
  virtual std::vector<ExpressionPtr> children() const { return {}; }
  // The same with other sub-expressions of the same types; null for a leaf.
  virtual ExpressionPtr WithChildren(std::vector<ExpressionPtr> children) const;
  // The same with columns renumbered: column i becomes mapping[i].  Null if a needed column maps to -1.
  virtual ExpressionPtr Remap(const std::vector<int>& mapping) const;
  // >= 0 when the expression is exactly that input column.
  virtual int ColumnIndex() const { return -1; }
  // >= 0 when every value it gives is that input column's: a column, or one whose NULLs are refused.
  virtual int ForwardedColumn() const { return ColumnIndex(); }
  // No value it gives is NULL, whatever the input columns are.
  virtual bool NeverNull() const { return false; }
  // Set when it is a literal: a column of one row.
  virtual ColumnPtr Literal() const { return nullptr; }
  virtual bool deterministic() const { return true; }
  // False when no row can make it fail.  AND, OR, CASE and COALESCE evaluate a later part that can fail only on the rows
  // that need it (`x <> 0 AND 10 / x > 1`), and every other part on the whole batch, without a branch.
  virtual bool CanFail() const { return true; }
  // One value for all rows of a batch: it uses no column and is not drawn anew for each row.
  virtual bool IsConstant() const { return false; }
  // Reads EvalContext (the time zone or the time), so it cannot be computed when the job is planned.
  virtual bool UsesContext() const { return false; }
  // Kind-specific name for structural comparison together with children(): operators and functions with arguments.
  virtual std::string Signature() const = 0;  // equal signatures = equal expressions

 private:
  DataType type_;
};

// --- construction (sql/expr/build.cc).  Errors are plain sentences; the binder adds the position. --------------------
ExpressionPtr MakeColumn(int index, DataType type);
ExpressionPtr MakeLiteral(ColumnPtr one_row);
ExpressionPtr MakeNull(DataType type);
ExpressionPtr MakeBigint(int64_t value);
ExpressionPtr MakeString(std::string_view value);
ExpressionPtr MakeBoolean(bool value);
// The value of `input`; a NULL is a row error that says "NULL in `what`".  With `of_deletes` also in rows that say -U
// or -D, which may otherwise leave columns beside the key empty.  Only at the top of a projection.
ExpressionPtr MakeNotNull(ExpressionPtr input, std::string what, bool of_deletes);
// INTERVAL '1 month 2 days'.  With months only `date or timestamp + or - interval` can use it: a kInterval column holds
// microseconds.  MakeCast(MakeString("1 month"), interval) gives the same.
ExpressionPtr MakeInterval(int64_t months, Micros micros);

// Explicit casts (CAST, ::) as PostgreSQL allows them.
Result<ExpressionPtr> MakeCast(ExpressionPtr input, DataType to);
// The implicit conversions of an INSERT target or of a set operation: numeric widening and rounding to the target's
// decimal, NULL to anything, timestamp(n) to timestamp(m), integer to double; no text to number.
Result<ExpressionPtr> MakeAssignmentCast(ExpressionPtr input, DataType to);
// The type both can be compared or united in; empty when there is none (a number and a text).
std::optional<DataType> CommonType(const DataType& a, const DataType& b);
bool IsOrderable(const DataType& type);

// Operators by their SQL names: + - * / % || = <> < <= > >= AND OR NOT "IS NULL" "IS NOT NULL" "IS DISTINCT FROM"
// "IS NOT DISTINCT FROM" "IS TRUE" "IS FALSE" "IS UNKNOWN" (and IS NOT ...), LIKE, ILIKE, "NOT LIKE", "SIMILAR TO", ~, IN
// (first argument in the rest), BETWEEN, CASE (condition, value, ..., else), COALESCE, NULLIF, GREATEST, LEAST,
// SUBSCRIPT (array, index), AT TIME ZONE, and every function name in lower case.  A bare string literal next to a date
// or number is converted to that type as PostgreSQL does for unknown literals.
Result<ExpressionPtr> MakeCall(const std::string& name, std::vector<ExpressionPtr> arguments);
bool IsKnownFunction(const std::string& lower_name);
// Names of functions close to a misspelt one, for messages.
std::vector<std::string> SimilarFunctions(const std::string& lower_name);

// Conjuncts of a condition, and back.  Join gives TRUE for none.
std::vector<ExpressionPtr> SplitAnd(const ExpressionPtr& condition);
ExpressionPtr JoinAnd(const std::vector<ExpressionPtr>& conjuncts);
// Replaces sub-expressions without columns and without errors by their value.
ExpressionPtr FoldConstants(const ExpressionPtr& expression);
// Input columns used, sorted.
std::vector<int> ColumnsOf(const ExpressionPtr& expression);

}  // namespace weir
