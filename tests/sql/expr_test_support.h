// A small way to say: this call, on these values, gives that.
//
//   EXPECT_EQ(Eval("+", {Big({1, kNull}), Lit(2)}), "3 NULL");
//
// Values are printed as FormatValue does; a row error is "error at 0: division by zero", a plan error "plan: ...".
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/data/batch.h"
#include "engine/data/text.h"
#include "sql/expr/expression.h"

namespace weir::expr_test {

inline constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();

// A column of test values, given as texts that the type's parser reads; nullopt is NULL.
struct Values {
  DataType type;
  std::vector<std::optional<std::string>> texts;
};

using Texts = std::vector<std::optional<std::string>>;

inline DataType TypeOf(const std::string& name) {
  if (name == "interval") return {TypeKind::kInterval};
  const auto type = ParseType(name);
  EXPECT_TRUE(type.has_value()) << name;
  return type.value_or(StringType());
}

// Fills through the physical forms: independent of the casts under test.
inline ColumnPtr MakeTestColumn(const DataType& type, const Texts& texts) {
  auto column = std::make_shared<Column>(type);
  for (const auto& text : texts) {
    if (!text) {
      column->AppendNull();
      continue;
    }
    switch (type.kind) {
      case TypeKind::kBoolean:
        column->AppendBool(*text == "true");
        break;
      case TypeKind::kFloat:
      case TypeKind::kDouble:
        column->AppendDouble(std::stod(*text));
        break;
      case TypeKind::kDecimal: {
        const auto parsed = ParseDecimal(*text, type.precision, type.scale);
        EXPECT_TRUE(static_cast<bool>(parsed)) << *text;
        if (type.physical() == Physical::kInt64) {
          column->AppendInt(static_cast<int64_t>(parsed.value));
        } else {
          column->AppendWide(parsed.value);
        }
        break;
      }
      case TypeKind::kDate:
        column->AppendInt(ParseDate(*text).value);
        break;
      case TypeKind::kTime:
        column->AppendInt(ParseTime(*text, 6).value);
        break;
      case TypeKind::kTimestamp:
        column->AppendInt(ParseTimestamp(*text, 6).value);
        break;
      case TypeKind::kTimestampLtz:
        column->AppendInt(ParseTimestampLtz(*text, 6, "UTC").value);
        break;
      case TypeKind::kString:
      case TypeKind::kBytes:
        column->AppendText(*text);
        break;
      default:
        column->AppendInt(std::stoll(*text));
        break;
    }
  }
  return column;
}

inline std::string Show(const Column& column) {
  std::string out;
  for (size_t row = 0; row < column.size(); ++row) out += (row > 0 ? " " : "") + FormatValue(column, row);
  return out;
}

// Collects columns of one batch and evaluates expressions over them.
class Table {
 public:
  // The next column, as an expression.
  ExpressionPtr Add(const std::string& type_name, const Texts& texts) {
    const DataType type = TypeOf(type_name);
    fields_.push_back({std::string(1, static_cast<char>('a' + fields_.size())), type});
    columns_.push_back(MakeTestColumn(type, texts));
    return MakeColumn(static_cast<int>(fields_.size() - 1), type);
  }
  Batch batch() const {
    return Batch(std::make_shared<Schema>(fields_), columns_, columns_.empty() ? 1 : columns_[0]->size());
  }
  Schema schema() const { return Schema(fields_); }

  std::string Eval(const Result<ExpressionPtr>& expression) const {
    if (!expression) return "plan: " + expression.error().message;
    auto value = (*expression)->Evaluate(batch(), context);
    if (!value) return "error at " + std::to_string(value.error().row) + ": " + value.error().message;
    EXPECT_EQ((*value)->size(), batch().rows());
    EXPECT_EQ((*value)->type().ToString(), (*expression)->type().ToString());
    return Show(**value);
  }
  std::string Eval(const std::string& name, std::vector<ExpressionPtr> arguments) const {
    return Eval(MakeCall(name, std::move(arguments)));
  }

  EvalContext context;

 private:
  std::vector<Field> fields_;
  std::vector<ColumnPtr> columns_;
};

// A literal of any type: Lit("decimal(3,1)", "0.5").
inline ExpressionPtr Lit(const std::string& type_name, const std::optional<std::string>& text) {
  return MakeLiteral(MakeTestColumn(TypeOf(type_name), {text}));
}
inline ExpressionPtr Lit(int64_t value) { return MakeBigint(value); }
inline ExpressionPtr Lit(const char* value) { return MakeString(value); }

// Constant arguments: the value of one row.
inline std::string EvalOne(const std::string& name, std::vector<ExpressionPtr> arguments) {
  return Table().Eval(name, std::move(arguments));
}

inline ExpressionPtr Call(const std::string& name, std::vector<ExpressionPtr> arguments) {
  auto call = MakeCall(name, std::move(arguments));
  EXPECT_TRUE(call.has_value()) << (call ? "" : call.error().message);
  return call ? *call : MakeNull(BooleanType());
}

inline ExpressionPtr CastTo(const ExpressionPtr& input, const std::string& type) {
  auto cast = MakeCast(input, TypeOf(type));
  EXPECT_TRUE(cast.has_value()) << (cast ? "" : cast.error().message);
  return cast ? *cast : MakeNull(BooleanType());
}

}  // namespace weir::expr_test
