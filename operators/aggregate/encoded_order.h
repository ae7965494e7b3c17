// The order of rows that RowCodec has encoded, without decoding them.
#pragma once

#include <vector>

#include "engine/data/types.h"

namespace weir {

// One column of an ORDER BY.
struct OrderField {
  DataType type;
  bool descending = false;
  bool nulls_first = false;
};

class EncodedOrder {
 public:
  EncodedOrder() = default;
  explicit EncodedOrder(std::vector<OrderField> fields) : fields_(std::move(fields)) {}

  // < 0, 0 or > 0 for two rows of these fields; NaN is the largest number.
  int Compare(const char* a, const char* b) const;

 private:
  std::vector<OrderField> fields_;
};

}  // namespace weir
