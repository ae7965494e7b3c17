// Kernels: what computes one function over whole columns, and the loops that most of them are made of.
//
// A kernel gets its arguments evaluated, each a column or one value that stands for every row, and returns a column of
// input.rows rows.  Strict kernels (NULL in, NULL out) start with StrictResult; values at NULL rows are zero or empty.
// Kernels are immutable and shared between tasks: scratch lives on the stack of the call.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sql/expr/expression.h"

namespace weir {

// An evaluated argument: a column of input.rows rows, or with `constant` one row for all.
struct Operand {
  ColumnPtr column;
  bool constant = false;

  bool IsNull(size_t row) const { return column->IsNull(constant ? 0 : row); }
};

struct KernelInput {
  std::span<const Operand> arguments;
  size_t rows = 0;  // at least 1
  const EvalContext& context;
};

// Called with at least one argument that is not constant, unless rows is 1 or there are no arguments.
using Kernel = std::function<RowResult<ColumnPtr>(const KernelInput&)>;

inline tl::unexpected<RowError> FailRow(size_t row, std::string message) {
  return tl::unexpected<RowError>(RowError{row, std::move(message)});
}

// --- access by value type: uint8_t (boolean), int64_t, double, Int128, std::string_view -----------------------------
template <class T>
const T* DataOf(const Column& column) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return column.bools().data();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return column.ints().data();
  } else if constexpr (std::is_same_v<T, double>) {
    return column.doubles().data();
  } else {
    static_assert(std::is_same_v<T, Int128>);
    return column.wides().data();
  }
}

template <class T>
T* MutableDataOf(Column& column) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return column.mutable_bools();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return column.mutable_ints();
  } else if constexpr (std::is_same_v<T, double>) {
    return column.mutable_doubles();
  } else {
    static_assert(std::is_same_v<T, Int128>);
    return column.mutable_wides();
  }
}

// The value of any row of an operand, constant or not, without a branch.
template <class T>
class Reader {
 public:
  explicit Reader(const Operand& operand)
      : data_(DataOf<T>(*operand.column)), mask_(operand.constant ? 0 : ~size_t{0}) {}
  T operator[](size_t row) const { return data_[row & mask_]; }

 private:
  const T* data_;
  size_t mask_;
};

template <>
class Reader<std::string_view> {
 public:
  explicit Reader(const Operand& operand)
      : arena_(operand.column->arena_data()),
        texts_(operand.column->texts().data()),
        mask_(operand.constant ? 0 : ~size_t{0}) {}
  std::string_view operator[](size_t row) const {
    const TextRef ref = texts_[row & mask_];
    return {arena_ + ref.offset, ref.size};
  }

 private:
  const char* arena_;
  const TextRef* texts_;
  size_t mask_;
};

// Integers and decimals of either width, as Int128.
class WideReader {
 public:
  explicit WideReader(const Operand& operand)
      : ints_(operand.column->physical() == Physical::kInt64 ? operand.column->ints().data() : nullptr),
        wides_(operand.column->physical() == Physical::kInt128 ? operand.column->wides().data() : nullptr),
        mask_(operand.constant ? 0 : ~size_t{0}) {}
  Int128 operator[](size_t row) const { return ints_ ? Int128{ints_[row & mask_]} : wides_[row & mask_]; }

 private:
  const int64_t* ints_;
  const Int128* wides_;
  size_t mask_;
};

// Writes an Int128 that fits into an integer or decimal column of either width.
class WideWriter {
 public:
  explicit WideWriter(Column& column)
      : ints_(column.physical() == Physical::kInt64 ? column.mutable_ints() : nullptr),
        wides_(column.physical() == Physical::kInt128 ? column.mutable_wides() : nullptr) {}
  void Set(size_t row, Int128 value) const {
    if (ints_) {
      ints_[row] = static_cast<int64_t>(value);
    } else {
      wides_[row] = value;
    }
  }

 private:
  int64_t* ints_;
  Int128* wides_;
};

// --- strict kernels
// ---------------------------------------------------------------------------------------------------- A column of
// input.rows rows, its values not yet written, NULL where any argument is NULL.
std::shared_ptr<Column> StrictResult(const KernelInput& input, const DataType& type);
// Zeroes the values at NULL rows after a loop that wrote every row.
void ClearNullRows(Column& column);

// Set by a row function that cannot give a value.
struct Failure {
  bool failed = false;
  std::string message;

  void Set(std::string text) {
    failed = true;
    message = std::move(text);
  }
};

namespace internal {

template <class Out, class... In, class F, size_t... I>
RowResult<ColumnPtr> MapIndexed(const KernelInput& input, const DataType& type, F& function,
                                std::index_sequence<I...>) {
  auto out = StrictResult(input, type);
  const std::tuple<Reader<In>...> readers{Reader<In>(input.arguments[I])...};
  Out* values = MutableDataOf<Out>(*out);
  const uint8_t* nulls = out->has_nulls() ? out->nulls().data() : nullptr;
  Failure failure;
  for (size_t row = 0; row < input.rows; ++row) {
    if (nulls && nulls[row]) {
      values[row] = Out{};
      continue;
    }
    if constexpr (std::is_invocable_v<F&, In..., Failure&>) {
      values[row] = function(std::get<I>(readers)[row]..., failure);
      if (failure.failed) return FailRow(row, std::move(failure.message));
    } else {
      values[row] = function(std::get<I>(readers)[row]...);
    }
  }
  return ColumnPtr(std::move(out));
}

}  // namespace internal

// out[row] = function(in[row]...), or function(in[row]..., Failure&) for one that can fail.
template <class Out, class... In, class F>
RowResult<ColumnPtr> MapRows(const KernelInput& input, const DataType& type, F&& function) {
  return internal::MapIndexed<Out, In...>(input, type, function, std::index_sequence_for<In...>());
}

// Largest total of the texts of one result column; beyond it the row fails instead of exhausting memory.
inline constexpr size_t kMaxTextBytes = size_t{1} << 30;

// Fills a text column of fixed length row by row.
class TextOutput {
 public:
  explicit TextOutput(Column& column) : column_(column), arena_(column.mutable_arena()) {}
  bool Set(size_t row, std::string_view value) {
    const size_t at = arena_.size();
    if (at + value.size() > kMaxTextBytes) return false;
    arena_.resize(at + value.size());
    if (!value.empty()) std::memcpy(arena_.data() + at, value.data(), value.size());
    column_.mutable_texts()[row] = {static_cast<uint32_t>(at), static_cast<uint32_t>(value.size())};
    return true;
  }

 private:
  Column& column_;
  Arena& arena_;
};

namespace internal {

template <class... In, class F, size_t... I>
RowResult<ColumnPtr> MapTextIndexed(const KernelInput& input, const DataType& type, F& function,
                                    std::index_sequence<I...>) {
  auto out = StrictResult(input, type);
  const std::tuple<Reader<In>...> readers{Reader<In>(input.arguments[I])...};
  TextOutput texts(*out);
  const uint8_t* nulls = out->has_nulls() ? out->nulls().data() : nullptr;
  Failure failure;
  std::string scratch;
  for (size_t row = 0; row < input.rows; ++row) {
    scratch.clear();
    if (!(nulls && nulls[row])) {
      if constexpr (std::is_invocable_v<F&, In..., std::string&, Failure&>) {
        function(std::get<I>(readers)[row]..., scratch, failure);
        if (failure.failed) return FailRow(row, std::move(failure.message));
      } else {
        function(std::get<I>(readers)[row]..., scratch);
      }
    }
    if (!texts.Set(row, scratch)) return FailRow(row, "text too large");
  }
  return ColumnPtr(std::move(out));
}

template <class... In, class F, size_t... I>
RowResult<ColumnPtr> MapSliceIndexed(const KernelInput& input, F& function, std::index_sequence<I...>) {
  auto out = StrictResult(input, StringType());
  const std::tuple<Reader<In>...> readers{Reader<In>(input.arguments[I])...};
  const Operand& source = input.arguments[0];
  if (source.column->arena()) out->ShareArena(source.column->arena());
  const char* base = source.column->arena_data();
  TextRef* texts = out->mutable_texts();
  const uint8_t* nulls = out->has_nulls() ? out->nulls().data() : nullptr;
  Failure failure;
  for (size_t row = 0; row < input.rows; ++row) {
    texts[row] = {0, 0};
    if (nulls && nulls[row]) continue;
    std::string_view slice;
    if constexpr (std::is_invocable_v<F&, In..., Failure&>) {
      slice = function(std::get<I>(readers)[row]..., failure);
      if (failure.failed) return FailRow(row, std::move(failure.message));
    } else {
      slice = function(std::get<I>(readers)[row]...);
    }
    if (!slice.empty()) texts[row] = {static_cast<uint32_t>(slice.data() - base), static_cast<uint32_t>(slice.size())};
  }
  return ColumnPtr(std::move(out));
}

}  // namespace internal

// function(in[row]..., std::string& out[, Failure&]) appends the text of the row to `out`, which is empty.
template <class... In, class F>
RowResult<ColumnPtr> MapText(const KernelInput& input, const DataType& type, F&& function) {
  return internal::MapTextIndexed<In...>(input, type, function, std::index_sequence_for<In...>());
}

// function(in[row]...[, Failure&]) returns a part of the first argument, a text: no byte is copied.
template <class... In, class F>
RowResult<ColumnPtr> MapSlice(const KernelInput& input, F&& function) {
  return internal::MapSliceIndexed<In...>(input, function, std::index_sequence_for<In...>());
}

// --- nodes
// ---------------------------------------------------------------------------------------------------------------
struct CallSpec {
  std::string name;  // as in SQL: "+", "upper"
  DataType type;
  std::vector<ExpressionPtr> arguments;
  Kernel kernel;
  bool can_fail = false;      // by itself, beyond its arguments
  bool uses_context = false;  // reads the time zone or the time
  bool deterministic = true;
  bool per_row = false;  // drawn anew for each row (random)
};

// A call whose arguments are all evaluated first.
ExpressionPtr MakeKernelCall(CallSpec spec);

// The arguments' values on a batch that has rows.
RowResult<Operand> EvaluateOperand(const Expression& expression, const Batch& batch, const EvalContext& context);
// A batch of one row without columns: what constants are evaluated on.
const Batch& OneRow();
// The rows of `selection`, of the given columns only; the others must not be read.
Batch GatherColumns(const Batch& batch, const std::vector<int>& columns, std::span<const uint32_t> selection);

// SQL text of a call from the texts of its arguments: (a + b), (a IS NULL), upper(a).
std::string CallText(const std::string& name, const DataType& type, const std::vector<std::string>& arguments);

}  // namespace weir
