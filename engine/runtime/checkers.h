// Wraps an operator in checks of what flows through it: schemas, row-kind pairs, watermarks, epochs.  A violation is a
// bug of weir and stops the process.  Tests always run wrapped.
#pragma once

#include "engine/runtime/graph.h"

namespace weir {

// The same operator with checks around it.
OperatorSpec Checked(const OperatorSpec& spec);

// Stops the process when columns and schema disagree in number, type or length, or a text lies outside its arena.
void CheckBatch(const Batch& batch, const std::string& where);

}  // namespace weir
