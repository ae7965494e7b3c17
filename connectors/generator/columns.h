// Fills columns of a generated kind for given row numbers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "connectors/generator/options.h"
#include "engine/data/batch.h"

namespace weir {

// Immutable; one a source task.
class GeneratedColumns {
 public:
  virtual ~GeneratedColumns() = default;
  // Column `column` of the kind's schema for the rows of these numbers.
  virtual ColumnPtr Make(int column, std::span<const int64_t> rows) const = 0;
};

// The error says what is wrong with the options: an unknown kind, no rows, a negative number.
Result<std::unique_ptr<GeneratedColumns>> MakeGeneratedColumns(const GeneratorOptions& options);

}  // namespace weir
