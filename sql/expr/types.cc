#include "sql/expr/types.h"

#include <algorithm>
#include <limits>

#include "engine/data/text.h"
#include "sql/expr/decimal.h"
#include "sql/expr/kernel.h"
#include "sql/expr/registry.h"

namespace weir {
namespace {

// An interval with months: it has no column form, so only date arithmetic can use it.
class MonthIntervalExpression final : public Expression {
 public:
  explicit MonthIntervalExpression(MonthInterval value) : Expression({TypeKind::kInterval}), value_(value) {}

  RowResult<ColumnPtr> Evaluate(const Batch&, const EvalContext&) const override {
    return FailRow(0, "an interval of months can only be added to or subtracted from a date or timestamp");
  }
  std::string ToString(const Schema&) const override {
    return "INTERVAL '" + IntervalText(value_.months, value_.micros) + "'";
  }
  ExpressionPtr Remap(const std::vector<int>&) const override {
    return std::make_shared<MonthIntervalExpression>(value_);
  }
  std::string Signature() const override {
    return "interval:" + std::to_string(value_.months) + ":" + std::to_string(value_.micros);
  }
  const MonthInterval& value() const { return value_; }

 private:
  MonthInterval value_;
};

bool IsFloating(TypeKind kind) { return kind == TypeKind::kFloat || kind == TypeKind::kDouble; }

// A text for a decimal of unknown digits, as precise as it is written.
Result<ExpressionPtr> NaturalDecimal(std::string_view text) {
  const size_t exponent = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, exponent);
  const size_t point = mantissa.find('.');
  int scale = point == std::string_view::npos ? 0 : static_cast<int>(std::min<size_t>(mantissa.size() - point - 1, 38));
  if (exponent != std::string_view::npos) scale = std::max(scale, 20);
  const auto parsed = ParseDecimal(text, kMaxDecimalDigits, scale);
  if (!parsed) return PlanError("invalid input syntax for type decimal: \"" + std::string(text) + "\"");
  return MakeDecimalLiteral(DecimalType(std::max(DigitsOf(parsed.value), std::max(scale, 1)), scale), parsed.value);
}

DataType UnitedDecimal(const DataType& a, const DataType& b) {
  const int scale = std::max(a.scale, b.scale);
  const int digits = std::max(a.precision - a.scale, b.precision - b.scale);
  return DecimalType(std::min(digits + scale, kMaxDecimalDigits), scale);
}

std::optional<DataType> CommonNumber(const DataType& a, const DataType& b) {
  if (IsFloating(a.kind) || IsFloating(b.kind)) {
    return a.kind == TypeKind::kFloat && b.kind == TypeKind::kFloat ? a : DoubleType();
  }
  if (a.IsInteger() && b.IsInteger()) return a.kind > b.kind ? a : b;
  return UnitedDecimal(AsDecimal(a), AsDecimal(b));
}

}  // namespace

bool IsNullLiteral(const Expression& expression) {
  const ColumnPtr literal = expression.Literal();
  return literal && literal->IsNull(0);
}

bool IsStringLiteral(const Expression& expression) {
  return expression.type().kind == TypeKind::kString && expression.Literal() && !expression.Literal()->IsNull(0);
}

std::string_view LiteralText(const Expression& expression) { return expression.Literal()->text(0); }

std::optional<int64_t> LiteralInt(const Expression& expression) {
  const ColumnPtr literal = expression.Literal();
  if (!literal || literal->IsNull(0) || !expression.type().IsInteger()) return std::nullopt;
  return literal->ints()[0];
}

ExpressionPtr MakeDoubleLiteral(double value) {
  auto column = std::make_shared<Column>(DoubleType());
  column->AppendDouble(value);
  return MakeLiteral(std::move(column));
}

ExpressionPtr MakeDecimalLiteral(DataType type, Int128 unscaled) {
  auto column = std::make_shared<Column>(type);
  if (type.physical() == Physical::kInt64) {
    column->AppendInt(static_cast<int64_t>(unscaled));
  } else {
    column->AppendWide(unscaled);
  }
  return MakeLiteral(std::move(column));
}

ExpressionPtr MakeInterval(int64_t months, Micros micros) {
  if (months == 0) return MakeIntLiteral({TypeKind::kInterval}, micros);
  return std::make_shared<MonthIntervalExpression>(MonthInterval{months, micros});
}

std::optional<MonthInterval> AsMonthInterval(const Expression& expression) {
  const auto* interval = dynamic_cast<const MonthIntervalExpression*>(&expression);
  return interval ? std::optional(interval->value()) : std::nullopt;
}

std::string IntervalText(int64_t months, Micros micros) {
  std::string out;
  const auto add = [&out](int64_t count, const char* unit) {
    if (count == 0) return;
    if (!out.empty()) out += ' ';
    out += std::to_string(count) + " " + unit + (count == 1 || count == -1 ? "" : "s");
  };
  constexpr Micros kSecond = 1000000;
  add(months / 12, "year");
  add(months % 12, "month");
  add(micros / (86400 * kSecond), "day");
  add(micros / (3600 * kSecond) % 24, "hour");
  add(micros / (60 * kSecond) % 60, "minute");
  add(micros / kSecond % 60, "second");
  add(micros / 1000 % 1000, "millisecond");
  add(micros % 1000, "microsecond");
  return out.empty() ? "0 seconds" : out;
}

std::string TypeName(const DataType& type) {
  if (type.kind == TypeKind::kInt) return "integer";
  if (type.kind == TypeKind::kNull) return "unknown";
  return type.ToString();
}

std::string TypeList(const std::vector<ExpressionPtr>& expressions) {
  std::string out;
  for (const ExpressionPtr& expression : expressions) {
    if (!out.empty()) out += ", ";
    out += TypeName(expression->type());
  }
  return out;
}

DataType AsDecimal(const DataType& type) {
  switch (type.kind) {
    case TypeKind::kTinyint:
      return DecimalType(3, 0);
    case TypeKind::kSmallint:
      return DecimalType(5, 0);
    case TypeKind::kInt:
      return DecimalType(10, 0);
    case TypeKind::kBigint:
      return DecimalType(19, 0);
    default:
      return type;
  }
}

DataType AsDecimal(const Expression& expression) {
  if (const auto value = LiteralInt(expression)) return DecimalType(DigitsOf(*value), 0);
  return AsDecimal(expression.type());
}

bool SameValues(const DataType& from, const DataType& to) {
  if (from == to) return true;
  if (from.IsInteger() && to.IsInteger()) return from.kind <= to.kind;
  if (from.kind == TypeKind::kFloat && to.kind == TypeKind::kDouble) return true;
  if (from.kind != to.kind) return false;
  if (from.kind == TypeKind::kDecimal) {
    return from.scale == to.scale && from.precision <= to.precision && from.physical() == to.physical();
  }
  const bool has_digits = from.IsTimestamp() || from.kind == TypeKind::kTime;
  return has_digits && from.precision <= to.precision;
}

bool IsOrderable(const DataType& type) {
  return type.kind != TypeKind::kBitmap32 && type.kind != TypeKind::kBitmap64 && type.kind != TypeKind::kArray;
}

std::optional<DataType> CommonType(const DataType& a, const DataType& b) {
  if (a == b || b.kind == TypeKind::kNull) return a;
  if (a.kind == TypeKind::kNull) return b;
  if (a.IsNumeric() && b.IsNumeric()) return CommonNumber(a, b);
  if (a.kind == b.kind) {
    if (a.kind == TypeKind::kArray) {
      const auto element = CommonType(a.ElementType(), b.ElementType());
      return element ? std::optional(ArrayType(*element)) : std::nullopt;
    }
    return a.precision > b.precision ? a : b;
  }
  const auto is_time = [](const DataType& type) { return type.IsTimestamp() || type.kind == TypeKind::kDate; };
  if (!is_time(a) || !is_time(b)) return std::nullopt;
  const bool ltz = a.kind == TypeKind::kTimestampLtz || b.kind == TypeKind::kTimestampLtz;
  const int digits = std::max(a.IsTimestamp() ? a.precision : 0, b.IsTimestamp() ? b.precision : 0);
  return ltz ? TimestampLtzType(digits) : TimestampType(digits);
}

bool IsCoercible(const Expression& expression, const DataType& to) {
  if (expression.type() == to || IsNullLiteral(expression) || IsStringLiteral(expression)) return true;
  const DataType& from = expression.type();
  if (from.IsNumeric() && to.IsNumeric()) {
    if (IsFloating(to.kind)) return true;
    if (IsFloating(from.kind)) return false;
    return to.kind == TypeKind::kDecimal || (from.IsInteger() && from.kind <= to.kind) || LiteralInt(expression);
  }
  if (from.kind == TypeKind::kArray || to.kind == TypeKind::kArray) return false;
  return CommonType(from, to).has_value() && to.kind != TypeKind::kDate;
}

Result<ExpressionPtr> Coerce(ExpressionPtr expression, DataType to) {
  if (expression->type() == to) return expression;
  if (IsNullLiteral(*expression)) return MakeNull(to);
  if (!IsCoercible(*expression, to)) {
    return PlanError("cannot convert " + TypeName(expression->type()) + " to " + TypeName(to));
  }
  const bool text = IsStringLiteral(*expression);
  if (text && to.kind == TypeKind::kDecimal) return NaturalDecimal(LiteralText(*expression));
  if (text && to.IsTimestamp()) to.precision = 6;
  const ExpressionPtr original = expression;
  WEIR_ASSIGN(ExpressionPtr cast, MakeCast(std::move(expression), to));
  if (!text || cast->Literal() || cast->UsesContext()) return cast;
  // Folding failed: the text denotes no value of the type.
  auto value = cast->Evaluate(OneRow(), EvalContext{});
  return PlanError(value ? "invalid input" : value.error().message);
}

Result<DataType> Unify(std::vector<ExpressionPtr>& expressions, const std::string& what) {
  // String literals follow the others; alone they are strings.
  std::optional<DataType> type;
  for (const ExpressionPtr& expression : expressions) {
    if (IsStringLiteral(*expression)) continue;
    DataType own = expression->type();
    if (IsNullLiteral(*expression) && own.kind == TypeKind::kString) own = {};
    if (own.IsInteger() && type && type->kind == TypeKind::kDecimal) own = AsDecimal(*expression);
    if (!type) {
      type = own;
      continue;
    }
    const auto common = CommonType(*type, own);
    if (!common) {
      return PlanError("cannot " + what + " " + TypeName(*type) + " and " + TypeName(own) +
                       "; cast one side, e.g. CAST(x AS " + (own.kind == TypeKind::kString ? *type : own).ToString() +
                       ")");
    }
    type = common;
  }
  if (!type || type->kind == TypeKind::kNull) type = StringType();
  for (ExpressionPtr& expression : expressions) {
    if (IsStringLiteral(*expression) && type->kind != TypeKind::kString) {
      WEIR_ASSIGN(expression, Coerce(std::move(expression), *type));
      const auto common = CommonType(*type, expression->type());
      if (common) type = common;
    }
  }
  for (ExpressionPtr& expression : expressions) {
    WEIR_ASSIGN(expression, MakeAssignmentCast(std::move(expression), *type));
  }
  return *type;
}

}  // namespace weir
