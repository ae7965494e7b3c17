// Expressions: names to columns, literals to typed values, calls to MakeCall.

#include <algorithm>
#include <charconv>

#include "engine/data/text.h"
#include "sql/plan/aggregate_functions.h"
#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

using Kind = AstExpression::Kind;

constexpr int kMaxDecimalDigits = 38;

// Precision and scale of the digits as written: 0.908 is decimal(3,3), 1e3 decimal(4,0).  Empty when they are too many.
std::optional<DataType> DecimalTypeOf(const std::string& text) {
  const size_t exponent_at = text.find_first_of("eE");
  int64_t exponent = 0;
  if (exponent_at != std::string::npos) {
    const char* begin = text.data() + exponent_at + 1;
    if (*begin == '+') ++begin;
    const auto parsed = std::from_chars(begin, text.data() + text.size(), exponent);
    if (parsed.ec != std::errc()) return std::nullopt;
  }
  int64_t whole = 0;
  int64_t fraction = 0;
  bool behind_point = false;
  bool significant = false;
  for (const char c : text.substr(0, exponent_at)) {
    if (c == '.') behind_point = true;
    if (c < '0' || c > '9') continue;
    significant = significant || c != '0';
    if (behind_point) ++fraction;
    if (!behind_point && significant) ++whole;
  }
  const int64_t scale = std::max<int64_t>(0, fraction - exponent);
  const int64_t precision =
      std::max<int64_t>({1, scale, std::max<int64_t>(0, whole + std::max<int64_t>(exponent, -whole)) + scale});
  if (precision > kMaxDecimalDigits || exponent > kMaxDecimalDigits) return std::nullopt;
  return DecimalType(static_cast<int>(precision), static_cast<int>(scale));
}

ExpressionPtr IntegerLiteral(DataType type, int64_t value) {
  auto column = std::make_shared<Column>(type);
  column->AppendInt(value);
  return MakeLiteral(std::move(column));
}

}  // namespace

std::nullptr_t Binder::Fail(size_t at, std::string message) {
  if (silent_) return nullptr;
  const TextPlace place = source_->Locate(at);
  QueryError error{query_, place.line, place.column, std::move(message)};
  const bool known = std::any_of(errors_.begin(), errors_.end(), [&](const QueryError& other) {
    return other.query == error.query && other.line == error.line && other.column == error.column &&
           other.message == error.message;
  });
  if (!known) errors_.push_back(std::move(error));
  return nullptr;
}

ExpressionPtr Binder::BindCondition(const AstExpression& expression, ExpressionContext& context) {
  ExpressionPtr condition = BindExpression(expression, context);
  if (condition == nullptr) return nullptr;
  if (condition->type().kind == TypeKind::kNull) {
    Result<ExpressionPtr> cast = MakeCast(condition, BooleanType());
    return cast ? *cast : MakeNull(BooleanType());
  }
  if (condition->type().kind != TypeKind::kBoolean) {
    return Fail(expression.at, context.place + " needs a condition, and this is a " + condition->type().ToString());
  }
  return condition;
}

ExpressionPtr Binder::BindExpression(const AstExpression& expression, ExpressionContext& context) {
  if (context.grouping != nullptr && !context.grouping->keys.empty()) {
    if (ExpressionPtr key = AsGroupKey(expression, context)) return key;
  }
  return BindParts(expression, context);
}

// In a grouped SELECT an expression that equals a group key is that key's column.
ExpressionPtr Binder::AsGroupKey(const AstExpression& expression, ExpressionContext& context) {
  if (ContainsAggregate(expression) || ContainsWindow(expression)) return nullptr;
  const bool was_silent = std::exchange(silent_, true);
  ExpressionContext plain = context;
  plain.grouping = nullptr;
  const ExpressionPtr bound = BindParts(expression, plain);
  silent_ = was_silent;
  if (bound == nullptr) return nullptr;
  const std::string signature = bound->Signature();
  for (size_t i = 0; i < context.grouping->keys.size(); ++i) {
    if (context.grouping->keys[i]->Signature() == signature) return MakeColumn(static_cast<int>(i), bound->type());
  }
  return nullptr;
}

ExpressionPtr Binder::BindParts(const AstExpression& expression, ExpressionContext& context) {
  switch (expression.kind) {
    case Kind::kColumn:
      return BindColumn(expression, context);
    case Kind::kInteger:
    case Kind::kDecimal:
      return BindNumber(expression);
    case Kind::kString:
      return MakeString(expression.text);
    case Kind::kBoolean:
      return MakeBoolean(expression.text == "true");
    case Kind::kNull:
      return MakeNull(DataType{});
    case Kind::kOperator:
    case Kind::kFunction:
      return BindCall(expression, context);
    case Kind::kCast:
      return BindCast(expression, context);
    case Kind::kSubquery:
      break;
  }
  const SubqueryValues* values = context.grouping != nullptr ? &context.grouping->subqueries : context.subqueries;
  if (values != nullptr) {
    if (const auto found = values->find(&expression); found != values->end()) return found->second;
  }
  return Fail(expression.at, "a subquery is not supported in " + context.place +
                                 "; join it in FROM, where its columns have names");
}

ExpressionPtr Binder::BindNumber(const AstExpression& expression) {
  const std::string& text = expression.text;
  if (expression.kind == Kind::kInteger) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) {
      const bool fits_int = value >= INT32_MIN && value <= INT32_MAX;
      return IntegerLiteral(fits_int ? IntType() : BigintType(), value);
    }
  }
  const std::optional<DataType> type = DecimalTypeOf(text);
  if (!type && text.find_first_of("eE") != std::string::npos) {
    // PostgreSQL's numeric has room for it; here a number with an exponent is then a double.
    const Parsed<double> number = ParseDouble(text, false);
    if (!number) return Fail(expression.at, "the number " + text + " is out of the range of double");
    auto column = std::make_shared<Column>(DoubleType());
    column->AppendDouble(number.value);
    return MakeLiteral(std::move(column));
  }
  if (!type) return Fail(expression.at, "the number " + text + " has more than 38 digits");
  const Parsed<Int128> value = ParseDecimal(text, type->precision, type->scale);
  if (!value) return Fail(expression.at, "the number " + text + " cannot be read");
  auto column = std::make_shared<Column>(*type);
  if (type->physical() == Physical::kInt64) {
    column->AppendInt(static_cast<int64_t>(value.value));
  } else {
    column->AppendWide(value.value);
  }
  return MakeLiteral(std::move(column));
}

std::vector<const ScopeColumn*> Binder::ColumnsNamed(const AstExpression& expression, const BoundTable& level,
                                                     std::shared_ptr<const ScopeIndex>& index) {
  if (index == nullptr || index->scope != &level.scope) index = std::make_shared<const ScopeIndex>(level.scope);
  std::vector<const ScopeColumn*> found;
  const auto named = index->columns.find(expression.names.back());
  if (named == index->columns.end()) return found;
  const bool qualified = expression.names.size() == 2;
  for (const ScopeColumn* column : named->second) {
    if (qualified ? column->table == expression.names[0] : !column->qualified_only) found.push_back(column);
  }
  return found;
}

ExpressionPtr Binder::BindColumn(const AstExpression& expression, ExpressionContext& context) {
  const std::string& name = expression.names.back();
  for (const bool outer : {false, true}) {
    const BoundTable* level = outer ? context.outer : context.table;
    if (level == nullptr) continue;
    const std::vector<const ScopeColumn*> columns =
        ColumnsNamed(expression, *level, outer ? context.outer_index : context.table_index);
    if (columns.empty()) continue;
    const ScopeColumn* found = columns.front();
    std::vector<std::string> candidates;
    for (const ScopeColumn* column : columns) {
      candidates.push_back(column->table.empty() ? name : QuotedIfNeeded(column->table) + "." + QuotedIfNeeded(name));
    }
    if (candidates.size() > 1) {
      return Fail(expression.at, "column " + QuotedIfNeeded(name) + " is ambiguous; there are " + ListOf(candidates));
    }
    const DataType type = (*level->plan->schema)[static_cast<size_t>(found->index)].type;
    if (level == context.outer) {
      if (!context.outer_allowed) {
        return Fail(expression.at, candidates[0] +
                                       " belongs to the outer query: a subquery may use it only in its items, its "
                                       "WHERE and its HAVING, and not in aggregates, UNION or FROM");
      }
      const int base =
          context.outer_base >= 0 ? context.outer_base : static_cast<int>(context.table->plan->schema->size());
      return MakeColumn(base + found->index, type);
    }
    if (context.grouping != nullptr) {
      return Fail(expression.at,
                  "column " + candidates[0] + " must be in GROUP BY or inside an aggregate such as MIN or MAX");
    }
    return MakeColumn(found->index, type);
  }
  ReportUnknownColumn(expression, context);
  return nullptr;
}

void Binder::ReportUnknownColumn(const AstExpression& expression, const ExpressionContext& context) {
  const std::string& name = expression.names.back();
  for (const BoundTable* outer : outers_) {
    std::shared_ptr<const ScopeIndex> index;
    if (outer == context.table || outer == context.outer || ColumnsNamed(expression, *outer, index).empty()) continue;
    const std::string qualified = expression.names.size() == 2 ? QuotedIfNeeded(expression.names[0]) + "." : "";
    Fail(expression.at, qualified + QuotedIfNeeded(name) +
                            " belongs to an outer query: a subquery may use it only in its items, its WHERE and its "
                            "HAVING, outside of aggregates, and only of the query right around it");
    return;
  }
  std::vector<std::string> tables;
  std::vector<std::string> names;
  for (const BoundTable* level : {context.table, context.outer}) {
    if (level == nullptr) continue;
    tables.insert(tables.end(), level->scope.tables.begin(), level->scope.tables.end());
    for (const ScopeColumn& column : level->scope.columns) {
      if (expression.names.size() == 1 || column.table == expression.names[0]) names.push_back(column.name);
    }
  }
  if (expression.names.size() == 2) {
    const std::string& table = expression.names[0];
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) {
      Fail(expression.at, "table " + QuotedIfNeeded(table) + " is not in FROM" + DidYouMean(table, tables));
      return;
    }
    Fail(expression.at,
         "column " + QuotedIfNeeded(name) + " does not exist in " + QuotedIfNeeded(table) + DidYouMean(name, names));
    return;
  }
  Fail(expression.at, "column " + QuotedIfNeeded(name) + " does not exist" + DidYouMean(name, names));
}

ExpressionPtr Binder::BindCall(const AstExpression& expression, ExpressionContext& context) {
  if (expression.kind == Kind::kFunction) {
    if (expression.over != nullptr) return BindWindowCall(expression, context);
    if (IsAggregateName(expression.text)) return BindAggregate(expression, context);
    if (expression.text == "grouping") return BindGroupingCall(expression, context);
    if (expression.star || expression.distinct || expression.filter != nullptr || !expression.order.empty()) {
      return Fail(expression.at,
                  "*, DISTINCT, ORDER BY and FILTER belong to aggregates, and " + expression.text + " is none that weir has");
    }
  }
  std::vector<ExpressionPtr> arguments;
  for (const AstExpressionPtr& argument : expression.arguments) arguments.push_back(BindExpression(*argument, context));
  for (const ExpressionPtr& argument : arguments) {
    if (argument == nullptr) return nullptr;
  }
  Result<ExpressionPtr> call = MakeCall(expression.text, std::move(arguments));
  if (!call) return Fail(expression.at, call.error().message);
  return *call;
}

ExpressionPtr Binder::BindCast(const AstExpression& expression, ExpressionContext& context) {
  ExpressionPtr value = BindExpression(*expression.arguments[0], context);
  if (value == nullptr) return nullptr;
  DataType type = expression.type;
  if (expression.bare_numeric) {
    // PostgreSQL's numeric without a precision keeps every digit; decimals here have a fixed scale.
    const DataType& from = value->type();
    if (from.kind == TypeKind::kDecimal) return value;
    if (from.IsInteger()) {
      type = DecimalType(from.kind == TypeKind::kBigint ? 19 : 10, 0);
    } else {
      return Fail(expression.at, "give numeric a precision and a scale here, for example numeric(38,6)");
    }
  }
  Result<ExpressionPtr> cast = MakeCast(std::move(value), type);
  if (!cast) return Fail(expression.at, cast.error().message);
  return FoldConstants(*cast);
}

}  // namespace weir
