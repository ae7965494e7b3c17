#include "operators/aggregate/encoded_order.h"

#include "engine/data/row_codec.h"
#include "operators/aggregate/accumulator.h"

namespace weir {
namespace {

bool IsNullAt(const char* row, size_t field) { return (row[field / 8] >> (field % 8) & 1) != 0; }

template <class T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int64_t TakeInt(const char*& at) {
  uint64_t value = 0;
  at = GetVarint(at, value);
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

std::string_view TakeText(const char*& at) {
  uint64_t size = 0;
  at = GetVarint(at, size);
  const std::string_view text(at, size);
  at += size;
  return text;
}

template <class T>
T TakeFixed(const char*& at) {
  const T value = LoadAt<T>(at);
  at += sizeof value;
  return value;
}

// Compares one field that both rows have, and moves both behind it.
int CompareField(Physical physical, const char*& a, const char*& b) {
  switch (physical) {
    case Physical::kBool: {
      const int x = *a++;
      return x - *b++;
    }
    case Physical::kInt64: {
      const int64_t x = TakeInt(a);
      return Order(x, TakeInt(b));
    }
    case Physical::kDouble: {
      const auto x = TakeFixed<double>(a);
      const auto y = TakeFixed<double>(b);
      return DoubleLess(x, y) ? -1 : DoubleLess(y, x);
    }
    case Physical::kInt128: {
      const auto x = TakeFixed<Int128>(a);
      return Order(x, TakeFixed<Int128>(b));
    }
    case Physical::kText: {
      const std::string_view x = TakeText(a);
      return x.compare(TakeText(b));
    }
  }
  return 0;
}


}  // namespace

int EncodedOrder::Compare(const char* a, const char* b) const {
  const size_t null_bytes = (fields_.size() + 7) / 8;
  const char* at_a = a + null_bytes;
  const char* at_b = b + null_bytes;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const OrderField& field = fields_[i];
    const bool null_a = IsNullAt(a, i);
    const bool null_b = IsNullAt(b, i);
    if (null_a != null_b) return null_a == field.nulls_first ? -1 : 1;
    if (null_a) continue;
    const int order = CompareField(field.type.physical(), at_a, at_b);
    if (order != 0) return field.descending ? -order : order;
  }
  return 0;
}

}  // namespace weir
