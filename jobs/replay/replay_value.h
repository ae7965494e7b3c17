// A value of a replay row, appended to a column by the column's type.
#pragma once

#include "engine/base/result.h"
#include "engine/data/column.h"
#include "jobs/replay/replay_json.h"

namespace weir {

// Timestamps are epoch milliseconds or ISO text, decimals numbers or text, bytes and bitmaps base64, whatever `typing`
// the source declares.  The error is a plain sentence: "'abc' is not a bigint".
Status AppendReplayValue(const ReplayJson& value, Column& column);

}  // namespace weir
