// An operator that hands on the rows that it drops because they are late.
//
// They are a second output of the operator: they leave the task over the edges that name it (EdgeSpec::late_of), past
// the operators behind it in the chain, and before the next watermark or barrier does.
#pragma once

#include "engine/data/batch.h"

namespace weir {

class LateRowsOperator {
 public:
  virtual ~LateRowsOperator() = default;
  // The late rows of the batch that was processed last, as +I, in their order; each is given once.  Called after every
  // Process, by the same thread.
  virtual Batch TakeLateRows() = 0;
};

}  // namespace weir
