#include "sql/plan/aggregate_functions.h"

#include <algorithm>
#include <set>

namespace weir {
namespace {

using F = AggregateFunction;

struct NamedFunction {
  const char* name;
  AggregateFunction function;
};

// The first name of a function is the one that is printed.
constexpr NamedFunction kFunctions[] = {
    {"count", F::kCount},
    {"sum", F::kSum},
    {"min", F::kMin},
    {"max", F::kMax},
    {"avg", F::kAvg},
    {"stddev_samp", F::kStddevSamp},
    {"stddev", F::kStddevSamp},
    {"stddev_pop", F::kStddevPop},
    {"var_samp", F::kVarSamp},
    {"variance", F::kVarSamp},
    {"var_pop", F::kVarPop},
    {"bool_and", F::kBoolAnd},
    {"every", F::kBoolAnd},
    {"bool_or", F::kBoolOr},
    {"bit_and", F::kBitAnd},
    {"bit_or", F::kBitOr},
    {"bit_xor", F::kBitXor},
    {"first_value", F::kFirstValue},
    {"any_value", F::kFirstValue},
    {"last_value", F::kLastValue},
    {"string_agg", F::kStringAgg},
    {"listagg", F::kStringAgg},
    {"array_agg", F::kArrayAgg},
    {"approx_count_distinct", F::kApproxCountDistinct},
    {"bitmap_build_agg", F::kBitmapBuild},
    {"rb_build_agg", F::kBitmapBuild},
    {"bitmap_build_cardinality_agg", F::kBitmapBuildCardinality},
    {"bitmap_count_distinct", F::kBitmapCountDistinct},
    {"bitmap_and_agg", F::kBitmapAnd},
    {"rb_and_agg", F::kBitmapAnd},
    {"bitmap_and_cardinality_agg", F::kBitmapAndCardinality},
    {"bitmap_or_agg", F::kBitmapOr},
    {"rb_or_agg", F::kBitmapOr},
    {"bitmap_or_cardinality_agg", F::kBitmapOrCardinality},
    {"bitmap_xor_agg", F::kBitmapXor},
    {"rb_xor_agg", F::kBitmapXor},
    {"bitmap_xor_cardinality_agg", F::kBitmapXorCardinality},
};

// The digits behind the point of an average of integers; of a decimal at least as many.
constexpr int kAverageScale = 16;

std::optional<DataType> SumType(const DataType& argument) {
  if (argument.physical() == Physical::kDouble) return DoubleType();
  if (argument.kind == TypeKind::kDecimal) return DecimalType(38, argument.scale);
  if (argument.kind == TypeKind::kBigint) return DecimalType(38, 0);
  if (argument.IsInteger()) return BigintType();
  return std::nullopt;
}

bool IsBitmap(const DataType& type) { return type.kind == TypeKind::kBitmap32 || type.kind == TypeKind::kBitmap64; }

bool IsOneOf(AggregateFunction function, std::initializer_list<AggregateFunction> functions) {
  return std::find(functions.begin(), functions.end(), function) != functions.end();
}

}  // namespace

bool IsAggregateName(const std::string& lower_name) {
  static const std::set<std::string> others = {
      "json_agg",      "jsonb_agg",    "xmlagg",          "json_object_agg", "jsonb_object_agg", "corr",
      "regr_count",    "covar_pop",    "covar_samp",      "mode",            "percentile_cont",  "percentile_disc",
      "range_agg"};
  return FindAggregate(lower_name).has_value() || others.count(lower_name) > 0;
}

std::optional<AggregateFunction> FindAggregate(const std::string& lower_name) {
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const NamedFunction& named) { return named.name == lower_name; });
  return found == std::end(kFunctions) ? std::nullopt : std::optional(found->function);
}

std::string AggregateNames() {
  std::string names;
  for (const NamedFunction& named : kFunctions) names += (names.empty() ? "" : ", ") + std::string(named.name);
  return names;
}

const char* AggregateName(AggregateFunction function) {
  if (function == F::kCountStar) return "count";
  return std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const NamedFunction& named) {
           return named.function == function;
         })->name;
}

std::optional<DataType> AggregateResultType(AggregateFunction function, const DataType& argument) {
  switch (function) {
    case F::kCountStar:
    case F::kCount:
      return BigintType();
    case F::kMin:
    case F::kMax:
      if (IsOrderable(argument) && argument.kind != TypeKind::kBoolean && argument.kind != TypeKind::kNull)
        return argument;
      break;
    case F::kSum:
      return SumType(argument);
    case F::kAvg:
      if (argument.physical() == Physical::kDouble) return DoubleType();
      if (argument.IsNumeric()) return DecimalType(38, std::max<int>(kAverageScale, argument.scale));
      break;
    case F::kStddevSamp:
    case F::kStddevPop:
    case F::kVarSamp:
    case F::kVarPop:
      if (argument.IsNumeric()) return DoubleType();
      break;
    case F::kBoolAnd:
    case F::kBoolOr:
      if (argument.kind == TypeKind::kBoolean) return argument;
      break;
    case F::kBitAnd:
    case F::kBitOr:
    case F::kBitXor:
      if (argument.IsInteger()) return argument;
      break;
    case F::kFirstValue:
    case F::kLastValue:
      if (argument.kind != TypeKind::kNull) return argument;
      break;
    case F::kStringAgg:
      if (argument.kind == TypeKind::kString) return argument;
      break;
    case F::kArrayAgg:
      if (argument.kind != TypeKind::kNull && argument.kind != TypeKind::kArray && !IsBitmap(argument))
        return ArrayType(argument);
      break;
    case F::kApproxCountDistinct:
      return BigintType();
    case F::kBitmapBuild:
      if (argument.IsInteger())
        return DataType{argument.kind == TypeKind::kBigint ? TypeKind::kBitmap64 : TypeKind::kBitmap32};
      break;
    case F::kBitmapBuildCardinality:
    case F::kBitmapCountDistinct:
      if (argument.IsInteger()) return BigintType();
      break;
    case F::kBitmapAnd:
    case F::kBitmapOr:
    case F::kBitmapXor:
      if (IsBitmap(argument)) return argument;
      break;
    case F::kBitmapAndCardinality:
    case F::kBitmapOrCardinality:
    case F::kBitmapXorCardinality:
      if (IsBitmap(argument)) return BigintType();
      break;
  }
  return std::nullopt;
}

bool CountsNothingAsZero(AggregateFunction function) {
  return IsOneOf(function, {F::kCount, F::kCountStar, F::kApproxCountDistinct, F::kBitmapCountDistinct});
}

bool IgnoresDuplicates(AggregateFunction function) {
  return IsOneOf(function, {F::kMin, F::kMax, F::kBoolAnd, F::kBoolOr, F::kBitAnd, F::kBitOr, F::kFirstValue,
                            F::kApproxCountDistinct, F::kBitmapBuild, F::kBitmapBuildCardinality,
                            F::kBitmapCountDistinct, F::kBitmapAnd, F::kBitmapAndCardinality, F::kBitmapOr,
                            F::kBitmapOrCardinality});
}

bool TakesDistinct(AggregateFunction function) {
  return !IsOneOf(function, {F::kLastValue, F::kBitmapXor, F::kBitmapXorCardinality});
}

bool TakesOrder(AggregateFunction function) { return IsOneOf(function, {F::kStringAgg, F::kArrayAgg}); }

std::string WhyNotRetractable(AggregateFunction function) {
  const std::string name = AggregateName(function);
  if (function == F::kApproxCountDistinct) {
    return name + " forgets the values that it has counted, so a row that changes or goes could not be taken back; use "
                  "count(DISTINCT ...), or an append-only source";
  }
  if (IsOneOf(function, {F::kBitmapAnd, F::kBitmapAndCardinality, F::kBitmapOr, F::kBitmapOrCardinality})) {
    return name + " forgets which bitmaps an id came from, so a bitmap that changes or goes could not be taken back; "
                  "build it from the ids (bitmap_build_agg), or use an append-only source";
  }
  return {};
}

}  // namespace weir
