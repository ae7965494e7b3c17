// Brings the changes of one key, which arrive from several tasks in any order, to an upsert stream that is right at
// every barrier ("Order across an exchange").
//
// Input: a full changelog in which at each barrier at most one row of a key is left.  Output: +I or +U with the row
// that the key has now, or -D.  Per key and epoch it keeps the rows added and not yet retracted; a retraction removes
// the equal row from there, else the row from before the epoch.  It emits at once: the last row left; if none is left,
// a delete. OnBarrier forgets everything: nothing of this is state.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/operator.h"

namespace weir {

struct KeyOrderOptions {
  SchemaPtr schema;  // of input and output
  std::vector<int> key;
};

Result<std::unique_ptr<Operator>> MakeKeyOrder(const KeyOrderOptions& options);

}  // namespace weir
