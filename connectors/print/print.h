// The print connector: rows to stdout, a line each: "+I {json}".  Lines of one batch are written with one call.
#pragma once

#include <memory>
#include <string>

#include "engine/runtime/operator.h"

namespace weir {

struct PrintSinkOptions {
  std::string name;  // printed before each row when not empty
  SchemaPtr schema;
};

Result<std::unique_ptr<Operator>> MakePrintSink(const PrintSinkOptions& options);

}  // namespace weir
