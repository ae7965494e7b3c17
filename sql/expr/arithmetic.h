// + - * / % : numbers here, dates and intervals in time_arithmetic.cc.
#pragma once

#include "sql/expr/kernel.h"

namespace weir {

enum class Arithmetic { kAdd, kSubtract, kMultiply, kDivide, kModulo };

bool IsTimeType(const DataType& type);  // date, time, timestamps, interval
Result<ExpressionPtr> BindTimeArithmetic(const std::string& name, std::vector<ExpressionPtr> arguments);
Result<ExpressionPtr> MakeArithmetic(const std::string& name, ExpressionPtr left, ExpressionPtr right);

}  // namespace weir
