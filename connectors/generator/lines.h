// Rows of a kind as JSON lines, in the bytes of the public benchmarks' generators.
#pragma once

#include <memory>
#include <string>

#include "connectors/generator/options.h"

namespace weir {

// Used by one thread.
class GeneratedLines {
 public:
  virtual ~GeneratedLines() = default;
  // Appends the next row, without a newline; false behind the last one.
  virtual bool Append(std::string& out) = 0;
};

Result<std::unique_ptr<GeneratedLines>> MakeGeneratedLines(const GeneratorOptions& options);
Result<std::unique_ptr<GeneratedLines>> MakeNexmarkLines(const GeneratorOptions& options);
// The lines as a source of one text column and one partition, from the first row in any case.
Result<std::unique_ptr<Source>> MakeLineSource(const GeneratorOptions& options);

}  // namespace weir
