// Aggregates over frames.

#include <algorithm>
#include <cmath>
#include <limits>

#include "operators/over/results.h"
#include "sql/expr/decimal.h"
#include "sql/plan/order_text.h"

namespace weir {
namespace {

using Unsigned128 = unsigned __int128;

// No sum of a decimal(38) that fits is farther from zero; running sums of doubles are exact enough to tell.
constexpr long double kSumLimit = 1.5e38L;

Error OutOfRange(const OverCall& call) {
  return DataError(std::string(OverFunctionName(call.function)) + " is out of the range of " + call.type.ToString());
}

bool Fits(const DataType& type, Int128 value) {
  if (type.kind == TypeKind::kDecimal) return FitsPrecision(value, type.precision);
  return value >= std::numeric_limits<int64_t>::min() && value <= std::numeric_limits<int64_t>::max();
}

void AppendNumber(Int128 value, Column& out) {
  if (out.physical() == Physical::kInt64) {
    out.AppendInt(static_cast<int64_t>(value));
  } else {
    out.AppendWide(value);
  }
}

// A sum of doubles: finite values with what rounding cut off (Neumaier), the others counted.
class DoubleSum {
 public:
  void Add(double value) {
    if (std::isnan(value)) {
      ++nans_;
    } else if (std::isinf(value)) {
      ++(value > 0 ? positive_ : negative_);
    } else {
      const double sum = sum_ + value;
      rest_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
      sum_ = sum;
    }
    ++count_;
  }
  int64_t count() const { return count_; }
  double Sum() const {
    if (nans_ > 0 || (positive_ > 0 && negative_ > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (positive_ > 0 || negative_ > 0) return (positive_ > 0 ? 1 : -1) * std::numeric_limits<double>::infinity();
    return std::isinf(sum_) ? sum_ : sum_ + rest_;
  }

 private:
  double sum_ = 0;
  double rest_ = 0;
  int64_t count_ = 0;
  int64_t nans_ = 0;
  int64_t positive_ = 0;
  int64_t negative_ = 0;
};

}  // namespace

void OverResults::FindValid(const OverCall& call) {
  valid_.assign(refs_.size(), 1);
  if (call.filter >= 0) {
    const Column& filter = ColumnAt(call.filter);
    for (size_t i = 0; i < valid_.size(); ++i) valid_[i] = filter.bools()[i] != 0 && !filter.IsNull(i);
  }
  if (call.argument >= 0 && ColumnAt(call.argument).has_nulls()) {
    const auto nulls = ColumnAt(call.argument).nulls();
    for (size_t i = 0; i < valid_.size(); ++i) valid_[i] = valid_[i] && !nulls[i];
  }
  counts_.resize(valid_.size() + 1);
  counts_[0] = 0;
  for (size_t i = 0; i < valid_.size(); ++i) counts_[i + 1] = counts_[i] + valid_[i];
}

void OverResults::AppendCounts(const OverCall& call, Column& out) {
  FindValid(call);
  const Bounds& bounds = BoundsOf(call);
  for (size_t i = 0; i < bounds.from.size(); ++i) out.AppendInt(counts_[bounds.to[i]] - counts_[bounds.from[i]]);
}

// Running sums wrap around, and so do their differences: right whenever the sum of the frame itself fits.
Status OverResults::AppendExact(const OverCall& call, Column& out) {
  FindValid(call);
  const Bounds& bounds = BoundsOf(call);
  const Column& values = ColumnAt(call.argument);
  const bool wide = values.physical() == Physical::kInt128;
  std::vector<Unsigned128> sums(valid_.size() + 1, 0);
  std::vector<long double> about(wide ? valid_.size() + 1 : 0, 0);
  for (size_t i = 0; i < valid_.size(); ++i) {
    const Int128 value = valid_[i] == 0 ? Int128{0} : wide ? values.wides()[i] : Int128{values.ints()[i]};
    sums[i + 1] = sums[i] + static_cast<Unsigned128>(value);
    if (wide) about[i + 1] = about[i] + static_cast<long double>(value);
  }
  const int scale = values.type().kind == TypeKind::kDecimal ? values.type().scale : 0;
  const int result_scale = call.type.kind == TypeKind::kDecimal ? call.type.scale : 0;
  for (size_t i = 0; i < bounds.from.size(); ++i) {
    const uint32_t from = bounds.from[i];
    const uint32_t to = bounds.to[i];
    const int64_t count = counts_[to] - counts_[from];
    if (count == 0) {
      out.AppendNull();
      continue;
    }
    if (wide && std::abs(about[to] - about[from]) > kSumLimit) return OutOfRange(call);
    Int128 result = static_cast<Int128>(sums[to] - sums[from]);
    if (call.function == OverFunction::kAvg && !DivideDecimal(result, count, result_scale - scale, result)) {
      return OutOfRange(call);
    }
    if (!Fits(call.type, result)) return OutOfRange(call);
    AppendNumber(result, out);
  }
  return {};
}

Status OverResults::AppendDoubles(const OverCall& call, Column& out) {
  FindValid(call);
  const Bounds& bounds = BoundsOf(call);
  const auto values = ColumnAt(call.argument).doubles();
  DoubleSum sum;
  uint32_t summed_from = 0;
  uint32_t summed_to = 0;
  for (size_t i = 0; i < bounds.from.size(); ++i) {
    // What has been added cannot be taken away exactly: a frame that has lost a row is added anew.
    if (bounds.from[i] != summed_from) {
      sum = DoubleSum();
      summed_from = summed_to = bounds.from[i];
    }
    for (; summed_to < bounds.to[i]; ++summed_to) {
      if (valid_[summed_to] != 0) sum.Add(values[summed_to]);
    }
    if (sum.count() == 0) {
      out.AppendNull();
    } else {
      out.AppendDouble(call.function == OverFunction::kAvg ? sum.Sum() / static_cast<double>(sum.count()) : sum.Sum());
    }
  }
  return {};
}

void OverResults::AppendExtremes(const OverCall& call, Column& out) {
  FindValid(call);
  const Bounds& bounds = BoundsOf(call);
  const Column& values = ColumnAt(call.argument);
  // The largest value is the smallest in descending order.
  SortKeyCodec codec({{values.physical(), call.function == OverFunction::kMax, false}});
  EncodedRows keys;
  const std::vector<Field> fields = {{"value", values.type(), true}};
  const int column = 0;
  codec.Encode(Batch(std::make_shared<const Schema>(fields), {columns_[static_cast<size_t>(call.argument)]}, refs_.size()),
               {&column, 1}, keys);
  std::vector<uint32_t> candidates;  // from `first` on: rows whose keys rise
  size_t first = 0;
  uint32_t next = 0;
  for (size_t i = 0; i < bounds.from.size(); ++i) {
    for (; next < bounds.to[i]; ++next) {
      if (valid_[next] == 0) continue;
      while (candidates.size() > first && keys.row(next) < keys.row(candidates.back())) candidates.pop_back();
      candidates.push_back(next);
    }
    while (first < candidates.size() && candidates[first] < bounds.from[i]) ++first;
    if (first == candidates.size()) {
      out.AppendNull();
    } else {
      out.AppendFrom(values, candidates[first]);
    }
  }
}

}  // namespace weir
