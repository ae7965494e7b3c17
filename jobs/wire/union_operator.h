// UNION ALL in the running job: rows of every input go on as they came.
#pragma once

#include <memory>

#include "engine/runtime/operator.h"

namespace weir {

// `schema` renames the columns of the inputs, whose types agree.
std::unique_ptr<Operator> MakeUnion(SchemaPtr schema);

}  // namespace weir
