// Window functions whose results wait for the watermark.  Private to the folder; see over.h.
#pragma once

#include "operators/over/over.h"

namespace weir {

Result<std::unique_ptr<Operator>> MakeOverInTime(const OverOptions& options);

}  // namespace weir
