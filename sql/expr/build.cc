// Leaves of expression trees (columns, literals), and the rules that walk whole trees.
#include <algorithm>
#include <set>

#include "engine/data/text.h"
#include "sql/expr/kernel.h"
#include "sql/expr/logic.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

class ColumnExpression final : public Expression {
 public:
  ColumnExpression(int index, DataType type) : Expression(type), index_(index) {}

  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext&) const override {
    return batch.columns()[static_cast<size_t>(index_)];
  }
  std::string ToString(const Schema& schema) const override {
    const size_t index = static_cast<size_t>(index_);
    if (index < schema.size() && !schema[index].name.empty()) return schema[index].name;
    return "$" + std::to_string(index_);
  }
  ExpressionPtr Remap(const std::vector<int>& mapping) const override {
    const int to = static_cast<size_t>(index_) < mapping.size() ? mapping[static_cast<size_t>(index_)] : -1;
    return to < 0 ? nullptr : MakeColumn(to, type());
  }
  int ColumnIndex() const override { return index_; }
  bool CanFail() const override { return false; }
  std::string Signature() const override { return "#" + std::to_string(index_) + ":" + type().ToString(); }

 private:
  int index_;
};

// The text as a literal of SQL: a quote is doubled.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + "'";
}

class LiteralExpression final : public Expression {
 public:
  explicit LiteralExpression(ColumnPtr value) : Expression(value->type()), value_(std::move(value)) {}

  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext&) const override {
    return batch.rows() == 1 ? value_ : Column::Repeat(*value_, 0, batch.rows());
  }
  std::string ToString(const Schema&) const override {
    if (value_->IsNull(0)) return "NULL";
    std::string text;
    AppendValueText(*value_, 0, text);
    switch (type().kind) {
      case TypeKind::kString:
        return Quoted(text);
      case TypeKind::kBoolean:
        return value_->bools()[0] ? "TRUE" : "FALSE";
      case TypeKind::kDate:
        return "DATE " + Quoted(text);
      case TypeKind::kTime:
        return "TIME " + Quoted(text);
      case TypeKind::kTimestamp:
        return "TIMESTAMP " + Quoted(text);
      case TypeKind::kTimestampLtz:
        return "TIMESTAMP_LTZ " + Quoted(text);
      case TypeKind::kInterval:
        return "INTERVAL " + Quoted(IntervalText(0, value_->ints()[0]));
      case TypeKind::kBytes:
      case TypeKind::kBitmap32:
      case TypeKind::kBitmap64:
      case TypeKind::kArray:
        return "CAST(" + Quoted(text) + " AS " + type().ToString() + ")";
      default:
        return text;
    }
  }
  ExpressionPtr Remap(const std::vector<int>&) const override { return MakeLiteral(value_); }
  ColumnPtr Literal() const override { return value_; }
  bool CanFail() const override { return false; }
  bool IsConstant() const override { return true; }
  std::string Signature() const override {
    const std::string prefix = "literal:" + type().ToString() + ":";
    if (value_->IsNull(0)) return prefix + "NULL";
    // The length in front keeps a text that looks like another expression apart from it.
    std::string text;
    AppendValueText(*value_, 0, text);
    return prefix + std::to_string(text.size()) + ":" + text;
  }

 private:
  ColumnPtr value_;
};

void CollectColumns(const Expression& expression, std::set<int>& columns) {
  if (expression.ColumnIndex() >= 0) columns.insert(expression.ColumnIndex());
  for (const ExpressionPtr& child : expression.children()) CollectColumns(*child, columns);
}

void CollectConjuncts(const ExpressionPtr& condition, std::vector<ExpressionPtr>& conjuncts) {
  if (!IsConjunction(*condition)) {
    conjuncts.push_back(condition);
    return;
  }
  for (const ExpressionPtr& child : condition->children()) CollectConjuncts(child, conjuncts);
}

}  // namespace

ExpressionPtr Expression::WithChildren(std::vector<ExpressionPtr>) const { return nullptr; }

ExpressionPtr Expression::Remap(const std::vector<int>& mapping) const {
  std::vector<ExpressionPtr> remapped;
  for (const ExpressionPtr& child : children()) {
    remapped.push_back(child->Remap(mapping));
    if (!remapped.back()) return nullptr;
  }
  return WithChildren(std::move(remapped));
}

ExpressionPtr MakeColumn(int index, DataType type) { return std::make_shared<ColumnExpression>(index, type); }

ExpressionPtr MakeLiteral(ColumnPtr one_row) {
  WEIR_CHECK_EQ(one_row->size(), size_t{1});
  return std::make_shared<LiteralExpression>(std::move(one_row));
}

ExpressionPtr MakeNull(DataType type) { return MakeLiteral(Column::Nulls(type, 1)); }

ExpressionPtr MakeBigint(int64_t value) { return MakeIntLiteral(BigintType(), value); }

ExpressionPtr MakeString(std::string_view value) {
  auto column = std::make_shared<Column>(StringType());
  column->AppendText(value);
  return MakeLiteral(std::move(column));
}

ExpressionPtr MakeBoolean(bool value) {
  auto column = std::make_shared<Column>(BooleanType());
  column->AppendBool(value);
  return MakeLiteral(std::move(column));
}

ExpressionPtr MakeIntLiteral(DataType type, int64_t value) {
  auto column = std::make_shared<Column>(type);
  column->AppendInt(value);
  return MakeLiteral(std::move(column));
}

ExpressionPtr FoldNode(const ExpressionPtr& expression) {
  if (!expression->IsConstant() || expression->Literal() || expression->UsesContext() || !expression->deterministic()) {
    return expression;
  }
  auto value = expression->Evaluate(OneRow(), EvalContext{});
  return value ? MakeLiteral(std::move(*value)) : expression;
}

ExpressionPtr FoldConstants(const ExpressionPtr& expression) {
  std::vector<ExpressionPtr> children = expression->children();
  bool changed = false;
  for (ExpressionPtr& child : children) {
    ExpressionPtr folded = FoldConstants(child);
    changed = changed || folded != child;
    child = std::move(folded);
  }
  if (!changed) return FoldNode(expression);
  ExpressionPtr rebuilt = expression->WithChildren(std::move(children));
  return FoldNode(rebuilt ? rebuilt : expression);
}

std::vector<ExpressionPtr> SplitAnd(const ExpressionPtr& condition) {
  std::vector<ExpressionPtr> conjuncts;
  CollectConjuncts(condition, conjuncts);
  return conjuncts;
}

ExpressionPtr JoinAnd(const std::vector<ExpressionPtr>& conjuncts) {
  if (conjuncts.empty()) return MakeBoolean(true);
  ExpressionPtr condition = conjuncts.front();
  for (size_t i = 1; i < conjuncts.size(); ++i) condition = MakeJunction(true, condition, conjuncts[i]);
  return condition;
}

std::vector<int> ColumnsOf(const ExpressionPtr& expression) {
  std::set<int> columns;
  CollectColumns(*expression, columns);
  return {columns.begin(), columns.end()};
}

}  // namespace weir
