#include "operators/aggregate/accumulator.h"

#include <cmath>
#include <limits>

#include "operators/aggregate/bits.h"
#include "operators/aggregate/variance.h"

namespace weir {
namespace {

// Places within an accumulator's bytes.
constexpr size_t kExactCount = sizeof(Int128);
constexpr size_t kFinite = 8;
constexpr size_t kNan = 16;
constexpr size_t kPositive = 24;
constexpr size_t kNegative = 32;
constexpr size_t kCompensation = 40;
constexpr size_t kExtremeValue = 8;

Int128 PowerOfTen(int digits) {
  Int128 value = 1;
  for (int i = 0; i < digits; ++i) value *= 10;
  return value;
}

void AddTo(char* at, int64_t by) { StoreAt<int64_t>(at, LoadAt<int64_t>(at) + by); }

bool AddExact(char* at, Int128 value, int sign) {
  Int128 sum = LoadAt<Int128>(at);
  const bool overflow = sign > 0 ? __builtin_add_overflow(sum, value, &sum) : __builtin_sub_overflow(sum, value, &sum);
  StoreAt(at, sum);
  AddTo(at + kExactCount, sign);
  return !overflow;
}

// False when finite values add up to an infinity.
bool AddDouble(char* at, double value, int sign) {
  if (std::isnan(value)) {
    AddTo(at + kNan, sign);
  } else if (std::isinf(value)) {
    AddTo(at + (value > 0 ? kPositive : kNegative), sign);
  } else {
    AddTo(at + kFinite, sign);
    const auto before = LoadAt<double>(at);
    const double change = sign * value;
    const double sum = before + change;
    // Neumaier's compensated sum: what rounding cuts off is kept aside, so that a large value that comes and goes leaves
    // the small ones.  Without values left the sum is nothing, not what rounding has left of it.
    const double lost = std::abs(before) >= std::abs(change) ? (before - sum) + change : (change - sum) + before;
    const bool empty = LoadAt<int64_t>(at + kFinite) == 0;
    StoreAt(at, empty ? 0.0 : sum);
    StoreAt(at + kCompensation, empty ? 0.0 : LoadAt<double>(at + kCompensation) + lost);
    return !std::isinf(sum);
  }
  return true;
}

// The sums are added like one more value, and what both had lost is added up.
bool MergeDouble(char* at, const char* from) {
  const double lost = LoadAt<double>(from + kCompensation);
  const auto finite = LoadAt<int64_t>(from + kFinite);
  bool good = true;
  if (finite > 0) {
    good = AddDouble(at, LoadAt<double>(from), 1);
    StoreAt(at + kCompensation, LoadAt<double>(at + kCompensation) + lost);
    AddTo(at + kFinite, finite - 1);
  }
  for (const size_t count : {kNan, kPositive, kNegative}) AddTo(at + count, LoadAt<int64_t>(from + count));
  return good;
}

template <class T, class Less>
void TakeExtreme(char* at, T value, const Accumulator& accumulator, Less less) {
  if (LoadAt<int64_t>(at) != 0 && !accumulator.Replaces(value, LoadAt<T>(at + kExtremeValue), less)) return;
  StoreAt<int64_t>(at, 1);
  StoreAt(at + kExtremeValue, value);
}

Int128 ExactAt(const Column& column, size_t row) {
  return column.physical() == Physical::kInt64 ? Int128{column.ints()[row]} : column.wides()[row];
}

bool IsFloating(const DataType& type) { return type.physical() == Physical::kDouble; }

std::pair<Int128, Int128> IntegerRange(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyint:
      return {INT8_MIN, INT8_MAX};
    case TypeKind::kSmallint:
      return {INT16_MIN, INT16_MAX};
    case TypeKind::kInt:
      return {INT32_MIN, INT32_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

}  // namespace

Accumulator Accumulator::Make(const AggregateCall& call, const Schema& input, bool retracts) {
  Accumulator made;
  made.call = call;
  made.argument = call.argument < 0 ? BigintType() : input[static_cast<size_t>(call.argument)].type;
  const Physical physical = made.argument.physical();
  switch (call.function) {
    case AggregateFunction::kCountStar:
      made.form = call.filter < 0 ? Form::kRows : Form::kCount;
      made.call.argument = -1;
      made.call.distinct = false;
      break;
    case AggregateFunction::kCount:
      made.form = call.argument < 0 && call.filter < 0 ? Form::kRows : Form::kCount;
      break;
    case AggregateFunction::kSum:
    case AggregateFunction::kAvg:
      made.form = physical == Physical::kDouble ? Form::kSumDouble : Form::kSumExact;
      break;
    case AggregateFunction::kStddevSamp:
    case AggregateFunction::kStddevPop:
    case AggregateFunction::kVarSamp:
    case AggregateFunction::kVarPop:
      made.form = physical == Physical::kDouble ? Form::kVarianceDouble : Form::kVarianceExact;
      break;
    case AggregateFunction::kBoolAnd:
    case AggregateFunction::kBoolOr:
      made.form = Form::kBools;
      break;
    case AggregateFunction::kBitAnd:
    case AggregateFunction::kBitOr:
    case AggregateFunction::kBitXor:
      made.form = retracts && call.function != AggregateFunction::kBitXor ? Form::kBitCounts : Form::kBits;
      break;
    case AggregateFunction::kStringAgg:
    case AggregateFunction::kArrayAgg:
    case AggregateFunction::kApproxCountDistinct:
    case AggregateFunction::kBitmapAnd:
    case AggregateFunction::kBitmapAndCardinality:
    case AggregateFunction::kBitmapOr:
    case AggregateFunction::kBitmapOrCardinality:
    case AggregateFunction::kBitmapXor:
    case AggregateFunction::kBitmapXorCardinality:
      made.form = Form::kState;
      break;
    case AggregateFunction::kBitmapBuild:
      // The values of an input with retractions are counted in a set, which tells the bitmap of those that come and go.
      made.call.distinct = retracts;
      made.form = Form::kState;
      break;
    case AggregateFunction::kBitmapBuildCardinality:
    case AggregateFunction::kBitmapCountDistinct:
      made.call.distinct = retracts;
      made.form = retracts ? Form::kCount : Form::kState;
      break;
    case AggregateFunction::kFirstValue:
    case AggregateFunction::kLastValue:
      made.call.distinct = false;
      made.form = retracts ? Form::kState : physical == Physical::kText ? Form::kExtremeText : Form::kExtreme;
      break;
    case AggregateFunction::kMin:
    case AggregateFunction::kMax:
      made.call.distinct = false;
      made.form = retracts ? Form::kExtremeSet : physical == Physical::kText ? Form::kExtremeText : Form::kExtreme;
      break;
  }
  return made;
}

size_t Accumulator::Size() const {
  switch (form) {
    case Form::kRows:
      return 0;
    case Form::kCount:
      return 8;
    case Form::kSumExact:
      return 24;
    case Form::kSumDouble:
      return 48;
    case Form::kVarianceExact:
      return kExactVarianceSize;
    case Form::kVarianceDouble:
      return kDoubleVarianceSize;
    case Form::kBools:
      return 16;
    case Form::kBits:
      return kBitsSize;
    case Form::kBitCounts:
      return kBitCountsSize;
    case Form::kExtreme:
      return 24;
    case Form::kExtremeText:
    case Form::kExtremeSet:
    case Form::kState:
      return 8;
  }
  return 0;
}

Error Accumulator::OutOfRange() const {
  return DataError("the result of " + call.name + " is out of the range of " + call.type.ToString());
}

Status Accumulator::UpdateOne(char* group, const Column* column, size_t row, int sign) const {
  char* at = group + offset;
  bool good = true;
  switch (form) {
    case Form::kCount:
      AddTo(at, sign);
      break;
    case Form::kSumExact:
      good = AddExact(at, ExactAt(*column, row), sign);
      break;
    case Form::kSumDouble:
      good = AddDouble(at, column->doubles()[row], sign);
      break;
    case Form::kVarianceExact:
      good = AddExactVariance(at, ExactAt(*column, row), sign);
      break;
    case Form::kVarianceDouble:
      good = AddDoubleVariance(at, column->doubles()[row], sign);
      break;
    case Form::kBits:
      AddBits(at, column->ints()[row], sign, call.function);
      break;
    default:
      break;
  }
  return good ? Status{} : Status(OutOfRange());
}

Status Accumulator::Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups) const {
  const Column* filter = FilterColumn(batch, call);
  const Column* column = call.argument < 0 ? nullptr : &batch.column(static_cast<size_t>(call.argument));
  const bool plain = filter == nullptr && (column == nullptr || !column->has_nulls());
  bool good = true;
  const auto each = [&](auto take) {
    for (size_t row = 0; row < signs.size(); ++row) {
      if (signs[row] == 0) continue;
      if (!plain && (!FilterPasses(filter, row) || (column != nullptr && column->IsNull(row)))) continue;
      take(groups[row] + offset, row);
    }
  };
  switch (form) {
    case Form::kCount:
      each([&](char* at, size_t row) { AddTo(at, signs[row]); });
      break;
    case Form::kSumExact:
      if (column->physical() == Physical::kInt64) {
        each([&, values = column->ints()](char* at, size_t row) { good &= AddExact(at, values[row], signs[row]); });
      } else {
        each([&, values = column->wides()](char* at, size_t row) { good &= AddExact(at, values[row], signs[row]); });
      }
      break;
    case Form::kSumDouble:
      each([&, values = column->doubles()](char* at, size_t row) { good &= AddDouble(at, values[row], signs[row]); });
      break;
    case Form::kVarianceExact:
      each([&](char* at, size_t row) { good &= AddExactVariance(at, ExactAt(*column, row), signs[row]); });
      break;
    case Form::kVarianceDouble:
      each([&, values = column->doubles()](char* at, size_t row) {
        good &= AddDoubleVariance(at, values[row], signs[row]);
      });
      break;
    case Form::kBools:
      each([&, values = column->bools()](char* at, size_t row) { AddTo(values[row] ? at : at + 8, signs[row]); });
      break;
    case Form::kBits:
      each([&, values = column->ints()](char* at, size_t row) { AddBits(at, values[row], signs[row], call.function); });
      break;
    case Form::kBitCounts:
      each([&, values = column->ints()](char* at, size_t row) { AddBitCounts(at, values[row], signs[row]); });
      break;
    case Form::kExtreme:
      each([&](char* at, size_t row) {
        switch (column->physical()) {
          case Physical::kDouble:
            return TakeExtreme(at, column->doubles()[row], *this, DoubleLess);
          case Physical::kInt128:
            return TakeExtreme(at, column->wides()[row], *this, std::less<Int128>());
          case Physical::kBool:
            return TakeExtreme(at, int64_t{column->bools()[row]}, *this, std::less<int64_t>());
          default:
            return TakeExtreme(at, column->ints()[row], *this, std::less<int64_t>());
        }
      });
      break;
    default:
      break;
  }
  return good ? Status{} : Status(OutOfRange());
}

Status Accumulator::MergeAt(char* at, const char* from) const {
  bool good = true;
  switch (form) {
    case Form::kCount:
      AddTo(at, LoadAt<int64_t>(from));
      break;
    case Form::kSumExact: {
      Int128 sum = LoadAt<Int128>(at);
      good = !__builtin_add_overflow(sum, LoadAt<Int128>(from), &sum);
      StoreAt(at, sum);
      AddTo(at + kExactCount, LoadAt<int64_t>(from + kExactCount));
      break;
    }
    case Form::kSumDouble:
      good = MergeDouble(at, from);
      break;
    case Form::kVarianceExact:
      good = MergeExactVariance(at, from);
      break;
    case Form::kVarianceDouble:
      good = MergeDoubleVariance(at, from);
      break;
    case Form::kBools:
      for (const size_t count : {size_t{0}, size_t{8}}) AddTo(at + count, LoadAt<int64_t>(from + count));
      break;
    case Form::kBits:
      MergeBits(at, from, call.function);
      break;
    case Form::kExtreme:
      if (LoadAt<int64_t>(from) == 0) break;
      switch (argument.physical()) {
        case Physical::kDouble:
          TakeExtreme(at, LoadAt<double>(from + kExtremeValue), *this, DoubleLess);
          break;
        case Physical::kInt128:
          TakeExtreme(at, LoadAt<Int128>(from + kExtremeValue), *this, std::less<Int128>());
          break;
        default:
          TakeExtreme(at, LoadAt<int64_t>(from + kExtremeValue), *this, std::less<int64_t>());
          break;
      }
      break;
    default:
      break;  // kRows: the number of rows is the group's
  }
  return good ? Status{} : Status(OutOfRange());
}

// The sum, or the average of `count` values: exact digits by long division, then rounded half away from zero.
Status Accumulator::AppendExact(Int128 sum, int64_t count, Column& out) const {
  if (count <= 0) {
    out.AppendNull();
    return {};
  }
  const int scale = argument.kind == TypeKind::kDecimal ? argument.scale : 0;
  const bool average = call.function == AggregateFunction::kAvg;
  if (IsFloating(call.type)) {
    const double total = static_cast<double>(sum) / std::pow(10.0, scale);
    out.AppendDouble(average ? total / static_cast<double>(count) : total);
    return {};
  }
  const int result_scale = call.type.kind == TypeKind::kDecimal ? call.type.scale : 0;
  Int128 divisor = average ? count : 1;
  for (int digits = result_scale; digits < scale; ++digits) divisor *= 10;
  const bool negative = sum < 0;
  Int128 quotient = sum / divisor;
  Int128 rest = sum % divisor;
  if (negative) rest = -rest, quotient = -quotient;
  bool good = true;
  for (int digits = scale; digits < result_scale; ++digits) {
    rest *= 10;
    good &= !__builtin_mul_overflow(quotient, Int128{10}, &quotient);
    good &= !__builtin_add_overflow(quotient, rest / divisor, &quotient);
    rest %= divisor;
  }
  if (rest >= divisor - rest && rest != 0) good &= !__builtin_add_overflow(quotient, Int128{1}, &quotient);
  if (negative) quotient = -quotient;
  if (call.type.kind == TypeKind::kDecimal) {
    const Int128 limit = PowerOfTen(call.type.precision);
    good &= quotient < limit && quotient > -limit;
  } else {
    const auto [low, high] = IntegerRange(call.type.kind);
    good &= quotient >= low && quotient <= high;
  }
  if (!good) return OutOfRange();
  if (out.physical() == Physical::kInt64) {
    out.AppendInt(static_cast<int64_t>(quotient));
  } else {
    out.AppendWide(quotient);
  }
  return {};
}

Status Accumulator::AppendDouble(const char* at, Column& out) const {
  const auto finite = LoadAt<int64_t>(at + kFinite);
  const auto nan = LoadAt<int64_t>(at + kNan);
  const auto positive = LoadAt<int64_t>(at + kPositive);
  const auto negative = LoadAt<int64_t>(at + kNegative);
  const int64_t count = finite + nan + positive + negative;
  if (count <= 0) {
    out.AppendNull();
    return {};
  }
  double sum = LoadAt<double>(at) + LoadAt<double>(at + kCompensation);
  if (nan > 0 || (positive > 0 && negative > 0)) {
    sum = std::numeric_limits<double>::quiet_NaN();
  } else if (positive > 0 || negative > 0) {
    sum = positive > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  }
  if (call.function == AggregateFunction::kAvg) sum /= static_cast<double>(count);
  if (call.type.kind == TypeKind::kFloat) {
    const auto narrow = static_cast<float>(sum);
    if (std::isinf(narrow) && !std::isinf(sum)) return OutOfRange();
    sum = narrow;
  }
  out.AppendDouble(sum);
  return {};
}

Status Accumulator::AppendVariance(const char* at, Column& out) const {
  const bool sample =
      call.function == AggregateFunction::kVarSamp || call.function == AggregateFunction::kStddevSamp;
  const bool root = call.function == AggregateFunction::kStddevSamp || call.function == AggregateFunction::kStddevPop;
  const int scale = argument.kind == TypeKind::kDecimal ? argument.scale : 0;
  const std::optional<double> variance =
      form == Form::kVarianceExact ? ExactVariance(at, scale, sample) : DoubleVariance(at, sample);
  if (!variance) {
    out.AppendNull();
    return {};
  }
  if (std::isinf(*variance)) return OutOfRange();
  out.AppendDouble(root ? std::sqrt(*variance) : *variance);
  return {};
}

Status Accumulator::AppendResults(std::span<const char* const> groups, Column& out) const {
  for (const char* group : groups) {
    const char* at = group + offset;
    switch (form) {
      case Form::kRows:
        out.AppendInt(LoadAt<int64_t>(group));
        break;
      case Form::kCount:
        if (LoadAt<int64_t>(at) == 0 && call.function == AggregateFunction::kBitmapBuildCardinality) {
          out.AppendNull();
        } else {
          out.AppendInt(LoadAt<int64_t>(at));
        }
        break;
      case Form::kSumExact:
        WEIR_TRY(AppendExact(LoadAt<Int128>(at), LoadAt<int64_t>(at + kExactCount), out));
        break;
      case Form::kSumDouble:
        WEIR_TRY(AppendDouble(at, out));
        break;
      case Form::kVarianceExact:
      case Form::kVarianceDouble:
        WEIR_TRY(AppendVariance(at, out));
        break;
      case Form::kBools: {
        const auto trues = LoadAt<int64_t>(at);
        const auto falses = LoadAt<int64_t>(at + 8);
        if (trues + falses <= 0) {
          out.AppendNull();
        } else {
          out.AppendBool(call.function == AggregateFunction::kBoolAnd ? falses == 0 : trues > 0);
        }
        break;
      }
      case Form::kBits:
      case Form::kBitCounts:
        if (LoadAt<int64_t>(at) <= 0) {
          out.AppendNull();
        } else if (form == Form::kBits) {
          out.AppendInt(LoadAt<int64_t>(at + 8));
        } else {
          out.AppendInt(BitsOf(at, call.function == AggregateFunction::kBitAnd));
        }
        break;
      case Form::kExtreme:
        if (LoadAt<int64_t>(at) == 0) {
          out.AppendNull();
        } else if (out.physical() == Physical::kDouble) {
          out.AppendDouble(LoadAt<double>(at + kExtremeValue));
        } else if (out.physical() == Physical::kInt128) {
          out.AppendWide(LoadAt<Int128>(at + kExtremeValue));
        } else if (out.physical() == Physical::kBool) {
          out.AppendBool(LoadAt<int64_t>(at + kExtremeValue) != 0);
        } else {
          out.AppendInt(LoadAt<int64_t>(at + kExtremeValue));
        }
        break;
      default:
        break;
    }
  }
  return {};
}

}  // namespace weir
