// CASE, COALESCE, NULLIF, GREATEST and LEAST.
//
// CASE and COALESCE record for every row which part gives its value, and where in that part's column it stands:
//  1. When no part can fail, every part is evaluated on the whole batch and the position is the row itself.
//  2. Otherwise a part is evaluated on the rows that the parts before it have left, gathered; a row error is mapped
//  back.
#include <algorithm>
#include <numeric>

#include "sql/expr/comparison.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

// Collects which value a row takes and builds the column.
class Blender {
 public:
  Blender(DataType type, size_t rows) : type_(type), choice_(rows, 0), position_(rows, 0) {}

  // The part for the next rows; returns its number.
  uint32_t AddPart(Operand part) {
    parts_.push_back(std::move(part));
    return static_cast<uint32_t>(parts_.size() - 1);
  }
  void Choose(size_t row, uint32_t part, size_t position) {
    choice_[row] = part;
    position_[row] = parts_[part].constant ? 0 : static_cast<uint32_t>(position);
  }

  RowResult<ColumnPtr> Build() const {
    auto out = std::make_shared<Column>(type_);
    out->Resize(choice_.size());
    const bool has_nulls =
        std::any_of(parts_.begin(), parts_.end(), [](const Operand& p) { return p.column->has_nulls(); });
    if (has_nulls) {
      uint8_t* nulls = out->mutable_nulls();
      for (size_t row = 0; row < choice_.size(); ++row) {
        nulls[row] = parts_[choice_[row]].column->IsNull(position_[row]);
      }
      out->TrimNulls();
    }
    switch (type_.physical()) {
      case Physical::kBool:
        Copy<uint8_t>(*out);
        break;
      case Physical::kInt64:
        Copy<int64_t>(*out);
        break;
      case Physical::kDouble:
        Copy<double>(*out);
        break;
      case Physical::kInt128:
        Copy<Int128>(*out);
        break;
      case Physical::kText:
        return CopyTexts(std::move(out));
    }
    return ColumnPtr(std::move(out));
  }

 private:
  template <class T>
  void Copy(Column& out) const {
    std::vector<const T*> sources;
    for (const Operand& part : parts_) sources.push_back(DataOf<T>(*part.column));
    T* values = MutableDataOf<T>(out);
    for (size_t row = 0; row < choice_.size(); ++row) values[row] = sources[choice_[row]][position_[row]];
  }

  RowResult<ColumnPtr> CopyTexts(std::shared_ptr<Column> out) const {
    TextOutput texts(*out);
    for (size_t row = 0; row < choice_.size(); ++row) {
      if (!texts.Set(row, parts_[choice_[row]].column->text(position_[row]))) return FailRow(row, "text too large");
    }
    return ColumnPtr(std::move(out));
  }

  DataType type_;
  std::vector<Operand> parts_;
  std::vector<uint32_t> choice_;
  std::vector<uint32_t> position_;
};

// A part with the columns it reads, which are gathered for it.
struct Part {
  ExpressionPtr expression;
  std::vector<int> columns;
};

RowResult<Operand> EvaluateOn(const Part& part, const Batch& batch, const EvalContext& context, const Selection& rows) {
  if (rows.size() == batch.rows()) return EvaluateOperand(*part.expression, batch, context);
  auto value = EvaluateOperand(*part.expression, GatherColumns(batch, part.columns, rows), context);
  if (!value) value.error().row = rows[value.error().row < rows.size() ? value.error().row : 0];
  return value;
}

bool IsTrue(const Operand& condition, size_t row) {
  const size_t at = condition.constant ? 0 : row;
  return condition.column->bools()[at] != 0 && !condition.column->IsNull(at);
}

// What CASE and COALESCE have in common: parts that are evaluated in order.
class PartsExpression : public Expression {
 public:
  PartsExpression(std::string name, DataType type, std::vector<ExpressionPtr> parts)
      : Expression(type), name_(std::move(name)) {
    for (ExpressionPtr& part : parts) {
      can_fail_ = can_fail_ || part->CanFail();
      deterministic_ = deterministic_ && part->deterministic();
      constant_ = constant_ && part->IsConstant();
      uses_context_ = uses_context_ || part->UsesContext();
      std::vector<int> columns = ColumnsOf(part);
      parts_.push_back({std::move(part), std::move(columns)});
    }
  }

  std::vector<ExpressionPtr> children() const override {
    std::vector<ExpressionPtr> out;
    for (const Part& part : parts_) out.push_back(part.expression);
    return out;
  }
  bool deterministic() const override { return deterministic_; }
  bool CanFail() const override { return can_fail_; }
  bool IsConstant() const override { return constant_; }
  bool UsesContext() const override { return uses_context_; }
  std::string Signature() const override {
    std::string out = name_ + ":" + type().ToString() + "(";
    for (const Part& part : parts_) out += part.expression->Signature() + ",";
    return out + ")";
  }

 protected:
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::string name_;
  std::vector<Part> parts_;
  bool can_fail_ = false;
  bool deterministic_ = true;
  bool constant_ = true;
  bool uses_context_ = false;
};

// condition, value, condition, value, ..., else
class CaseExpression final : public PartsExpression {
 public:
  CaseExpression(DataType type, std::vector<ExpressionPtr> parts) : PartsExpression("CASE", type, std::move(parts)) {}

  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext& context) const override {
    if (batch.rows() == 0) return ColumnPtr(std::make_shared<Column>(type()));
    return CanFail() ? EvaluateInTurn(batch, context) : EvaluateAll(batch, context);
  }
  std::string ToString(const Schema& schema) const override {
    std::string out = "CASE";
    for (size_t i = 0; i + 1 < parts().size(); i += 2) {
      out +=
          " WHEN " + parts()[i].expression->ToString(schema) + " THEN " + parts()[i + 1].expression->ToString(schema);
    }
    return out + " ELSE " + parts().back().expression->ToString(schema) + " END";
  }
  ExpressionPtr WithChildren(std::vector<ExpressionPtr> children) const override {
    return std::make_shared<CaseExpression>(type(), std::move(children));
  }

 private:
  RowResult<ColumnPtr> EvaluateAll(const Batch& batch, const EvalContext& context) const {
    Blender blender(type(), batch.rows());
    std::vector<Operand> conditions;
    for (size_t i = 0; i < parts().size(); ++i) {
      auto operand = EvaluateOperand(*parts()[i].expression, batch, context);
      if (!operand) return tl::unexpected(std::move(operand.error()));
      const bool is_condition = i % 2 == 0 && i + 1 < parts().size();
      if (is_condition) {
        conditions.push_back(std::move(*operand));
      } else {
        blender.AddPart(std::move(*operand));
      }
    }
    for (size_t row = 0; row < batch.rows(); ++row) {
      uint32_t branch = 0;
      while (branch < conditions.size() && !IsTrue(conditions[branch], row)) ++branch;
      blender.Choose(row, branch, row);
    }
    return blender.Build();
  }

  RowResult<ColumnPtr> EvaluateInTurn(const Batch& batch, const EvalContext& context) const {
    Blender blender(type(), batch.rows());
    Selection open(batch.rows());
    std::iota(open.begin(), open.end(), 0u);
    for (size_t i = 0; i < parts().size() && !open.empty(); i += 2) {
      Selection taken = open;
      if (i + 1 < parts().size()) {
        auto condition = EvaluateOn(parts()[i], batch, context, open);
        if (!condition) return tl::unexpected(std::move(condition.error()));
        Selection rest;
        taken.clear();
        for (size_t k = 0; k < open.size(); ++k) (IsTrue(*condition, k) ? taken : rest).push_back(open[k]);
        open = std::move(rest);
      } else {
        open.clear();
      }
      if (taken.empty()) continue;
      auto value = EvaluateOn(parts()[std::min(i + 1, parts().size() - 1)], batch, context, taken);
      if (!value) return tl::unexpected(std::move(value.error()));
      const uint32_t part = blender.AddPart(std::move(*value));
      for (size_t k = 0; k < taken.size(); ++k) blender.Choose(taken[k], part, k);
    }
    return blender.Build();
  }
};

class CoalesceExpression final : public PartsExpression {
 public:
  CoalesceExpression(DataType type, std::vector<ExpressionPtr> parts)
      : PartsExpression("COALESCE", type, std::move(parts)) {}

  RowResult<ColumnPtr> Evaluate(const Batch& batch, const EvalContext& context) const override {
    if (batch.rows() == 0) return ColumnPtr(std::make_shared<Column>(type()));
    Blender blender(type(), batch.rows());
    Selection open(batch.rows());
    std::iota(open.begin(), open.end(), 0u);
    for (size_t i = 0; i < parts().size() && !open.empty(); ++i) {
      auto value = EvaluateOn(parts()[i], batch, context, open);
      if (!value) return tl::unexpected(std::move(value.error()));
      if (i == 0 && !value->constant && !value->column->has_nulls()) return value->column;
      const uint32_t part = blender.AddPart(*value);
      Selection rest;
      for (size_t k = 0; k < open.size(); ++k) {
        blender.Choose(open[k], part, k);
        if (value->IsNull(k)) rest.push_back(open[k]);
      }
      open = std::move(rest);
    }
    return blender.Build();
  }
  std::string ToString(const Schema& schema) const override {
    std::vector<std::string> texts;
    for (const Part& part : parts()) texts.push_back(part.expression->ToString(schema));
    return CallText("COALESCE", type(), texts);
  }
  ExpressionPtr WithChildren(std::vector<ExpressionPtr> children) const override {
    return std::make_shared<CoalesceExpression>(type(), std::move(children));
  }
};

Result<ExpressionPtr> BindCase(const std::string&, std::vector<ExpressionPtr> arguments) {
  if (arguments.size() % 2 == 0) arguments.push_back(MakeNull({}));
  std::vector<ExpressionPtr> values;
  for (size_t i = 1; i < arguments.size(); i += 2) values.push_back(arguments[i]);
  values.push_back(arguments.back());
  WEIR_ASSIGN(const DataType type, Unify(values, "unite"));
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    if (!IsCoercible(*arguments[i], BooleanType())) {
      return PlanError("argument of CASE WHEN must be boolean, not " + TypeName(arguments[i]->type()));
    }
    WEIR_ASSIGN(arguments[i], Coerce(arguments[i], BooleanType()));
    arguments[i + 1] = values[i / 2];
  }
  arguments.back() = values.back();
  return ExpressionPtr(std::make_shared<CaseExpression>(type, std::move(arguments)));
}

Result<ExpressionPtr> BindCoalesce(const std::string&, std::vector<ExpressionPtr> arguments) {
  WEIR_ASSIGN(const DataType type, Unify(arguments, "unite"));
  if (arguments.size() == 1) return arguments[0];
  return ExpressionPtr(std::make_shared<CoalesceExpression>(type, std::move(arguments)));
}

Result<ExpressionPtr> BindNullIf(const std::string&, std::vector<ExpressionPtr> arguments) {
  WEIR_ASSIGN(ExpressionPtr equal, MakeComparison(Comparison::kEqual, arguments[0], arguments[1]));
  return BindCase("CASE", {std::move(equal), MakeNull(arguments[0]->type()), arguments[0]});
}

// The largest or smallest of the arguments that are not NULL.
template <class T>
RowResult<ColumnPtr> ExtremeRows(const KernelInput& input, const DataType& type, bool largest) {
  std::vector<Reader<T>> readers;
  for (const Operand& argument : input.arguments) readers.emplace_back(argument);
  auto out = std::make_shared<Column>(type);
  out->Reserve(input.rows);
  for (size_t row = 0; row < input.rows; ++row) {
    size_t best = readers.size();
    for (size_t i = 0; i < readers.size(); ++i) {
      if (input.arguments[i].IsNull(row)) continue;
      if (best == readers.size()) {
        best = i;
        continue;
      }
      const bool less = ValueLess(readers[i][row], readers[best][row]);
      const bool more = ValueLess(readers[best][row], readers[i][row]);
      if (largest ? more : less) best = i;
    }
    if (best == readers.size()) {
      out->AppendNull();
    } else {
      out->AppendFrom(*input.arguments[best].column, input.arguments[best].constant ? 0 : row);
    }
  }
  return ColumnPtr(std::move(out));
}

Result<ExpressionPtr> BindExtreme(const std::string& name, std::vector<ExpressionPtr> arguments) {
  WEIR_ASSIGN(const DataType type, Unify(arguments, "compare"));
  if (!IsOrderable(type)) return NoSuchFunction(name, arguments);
  const bool largest = name == "GREATEST";
  Kernel kernel = [type, largest](const KernelInput& input) -> RowResult<ColumnPtr> {
    switch (type.physical()) {
      case Physical::kBool:
        return ExtremeRows<uint8_t>(input, type, largest);
      case Physical::kInt64:
        return ExtremeRows<int64_t>(input, type, largest);
      case Physical::kDouble:
        return ExtremeRows<double>(input, type, largest);
      case Physical::kInt128:
        return ExtremeRows<Int128>(input, type, largest);
      case Physical::kText:
        break;
    }
    return ExtremeRows<std::string_view>(input, type, largest);
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel)});
}

template <BindFunction kBind>
Result<ExpressionPtr> UpperCase(const std::string& name, std::vector<ExpressionPtr> arguments) {
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return kBind(upper, std::move(arguments));
}

}  // namespace

std::span<const FunctionRule> ConditionalRules() {
  static constexpr FunctionRule kRules[] = {
      {"CASE", 2, kAnyNumber, BindCase},
      {"COALESCE", 1, kAnyNumber, BindCoalesce},
      {"NULLIF", 2, 2, BindNullIf},
      {"GREATEST", 1, kAnyNumber, BindExtreme},
      {"LEAST", 1, kAnyNumber, BindExtreme},
      {"coalesce", 1, kAnyNumber, UpperCase<BindCoalesce>},
      {"nullif", 2, 2, UpperCase<BindNullIf>},
      {"greatest", 1, kAnyNumber, UpperCase<BindExtreme>},
      {"least", 1, kAnyNumber, UpperCase<BindExtreme>},
  };
  return kRules;
}

}  // namespace weir
