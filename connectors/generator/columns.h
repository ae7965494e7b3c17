// Fills columns of a generated kind for given row numbers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "connectors/generator/options.h"
#include "engine/data/batch.h"

namespace weir {

// For kinds whose rows do not depend on one another (nexmark has a source of its own).  Immutable; one a source task.
class GeneratedColumns {
 public:
  virtual ~GeneratedColumns() = default;
  // Column `column` of the kind's schema for the rows of these numbers.
  virtual ColumnPtr Make(int column, std::span<const int64_t> rows) const = 0;
};

// The columns that the source produces.  REQUIRES: a known kind
Result<SchemaPtr> ReadSchema(const GeneratorOptions& options);
Status CheckGeneratorOptions(const GeneratorOptions& options);
Result<std::unique_ptr<GeneratedColumns>> MakeBehaviourColumns(const GeneratorOptions& options);
// The error says what is wrong with the options: an unknown kind, a negative number.
Result<std::unique_ptr<GeneratedColumns>> MakeGeneratedColumns(const GeneratorOptions& options);

}  // namespace weir
