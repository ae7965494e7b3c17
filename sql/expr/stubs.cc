#include "sql/expr/arithmetic.h"
#include "sql/expr/registry.h"
namespace weir {
std::span<const FunctionRule> ConditionalRules() { return {}; }
std::span<const FunctionRule> TextRules() { return {}; }
std::span<const FunctionRule> TextSliceRules() { return {}; }
std::span<const FunctionRule> PatternRules() { return {}; }
std::span<const FunctionRule> MathRules() { return {}; }
std::span<const FunctionRule> TimeRules() { return {}; }
std::span<const FunctionRule> TimeFormatRules() { return {}; }
std::span<const FunctionRule> ArrayRules() { return {}; }
bool IsTimeType(const DataType& type) { return type.IsTimestamp() || type.kind == TypeKind::kDate || type.kind == TypeKind::kTime || type.kind == TypeKind::kInterval; } Result<ExpressionPtr> BindTimeArithmetic(const std::string& name, std::vector<ExpressionPtr> a) { return NoSuchOperator(name, a); } }
