// The table of operators and functions: one rule a name.  Each file of functions exports its rules, and registry.cc
// joins them; adding a function is one line in its file's table and one kernel.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/expr/expression.h"

namespace weir {

inline constexpr int kAnyNumber = 1 << 20;

// Chooses the kernel for the arguments' types; `name` as in MakeCall.  NoSuchFunction() when the types do not fit.
using BindFunction = Result<ExpressionPtr> (*)(const std::string& name, std::vector<ExpressionPtr> arguments);

struct FunctionRule {
  std::string_view name;
  int min_arguments;
  int max_arguments;
  BindFunction bind;
};

// "function foo(bigint, string) does not exist"
Error NoSuchFunction(const std::string& name, const std::vector<ExpressionPtr>& arguments);
// "operator does not exist: boolean + bigint"
Error NoSuchOperator(const std::string& name, const std::vector<ExpressionPtr>& arguments);

// One letter an argument, for Accept: what a parameter takes, and what it is converted to.
//   s string  i int  l bigint  d double  b boolean  n any number, as it is  t timestamp, as it is (a date becomes one)
//   x a date, time or timestamp, as it is  D date  * anything, as it is
// A trailing "..." repeats the last letter.
Result<std::vector<ExpressionPtr>> Accept(const std::string& name, std::string_view parameters,
                                          std::vector<ExpressionPtr> arguments);

std::span<const FunctionRule> ArithmeticRules();
std::span<const FunctionRule> ComparisonRules();
std::span<const FunctionRule> LogicRules();
std::span<const FunctionRule> ConditionalRules();
std::span<const FunctionRule> TextRules();
std::span<const FunctionRule> TextSliceRules();
std::span<const FunctionRule> PatternRules();
std::span<const FunctionRule> RegexpRules();
std::span<const FunctionRule> MathRules();
std::span<const FunctionRule> TimeRules();
std::span<const FunctionRule> TimeFormatRules();
std::span<const FunctionRule> ArrayRules();

}  // namespace weir
