// Comparisons as SQL orders values: NaN equals NaN and is the largest double, -0.0 equals 0.0, texts compare bytewise.
#pragma once

#include <cmath>
#include <cstring>
#include <string_view>

#include "sql/expr/kernel.h"

namespace weir {

enum class Comparison { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

template <class T>
inline bool ValuesEqual(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    return (a == b) | ((a != a) & (b != b));
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
  } else {
    return a == b;
  }
}

template <class T>
inline bool ValueLess(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    return (a < b) | ((a == a) & (b != b));
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    const size_t size = a.size() < b.size() ? a.size() : b.size();
    const int order = std::memcmp(a.data(), b.data(), size);
    return order < 0 || (order == 0 && a.size() < b.size());
  } else {
    return a < b;
  }
}

Result<ExpressionPtr> MakeComparison(Comparison comparison, ExpressionPtr left, ExpressionPtr right);
// The kernel for two columns of one type (or integers and decimals of any scale).
Kernel ComparisonKernel(Comparison comparison, const DataType& left, const DataType& right);

}  // namespace weir
