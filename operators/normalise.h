// Turns an upsert stream into a full changelog: keeps the last row of each key and puts it before every change.
//
// Row kinds, input: +I and +U replace the row of their key, -D removes it (its key columns suffice); the -U of an
// update whose +U has the same key is not needed and dropped, any other -U is a -D.  Output: +I for a new key, -U/+U
// for a changed row, -D with the row that was kept, nothing for an equal row.  A -D of an absent key is ignored and
// counted.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/state/keyed_state.h"

namespace weir {

struct NormaliseOptions {
  SchemaPtr schema;  // of input and output
  std::vector<int> key;
  StateOptions state;
};

Result<std::unique_ptr<Operator>> MakeNormalise(const NormaliseOptions& options);

}  // namespace weir
