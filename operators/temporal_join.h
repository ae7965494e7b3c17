// The temporal join: every row of the left input with the version of the right input that was valid at the row's time,
// which is the newest of its key at or before that time.
//
//   FROM orders o JOIN LATERAL (SELECT * FROM rates r WHERE r.currency = o.currency AND r.ts <= o.ts
//                               ORDER BY r.ts DESC LIMIT 1) r ON true
//
// Both inputs have event time.  A left row waits until the watermark (the smaller of both inputs') has passed its time:
// then no version at or before it can come any more, and its answer is final.  Of the versions of a key those are kept
// that lie above the watermark, and the newest one below it: the state does not grow with time, but with keys.
//
// Row kinds: left +I only; right all, a version that is retracted is found again by equality.  The output appends.  Of
// versions with one time the one that came last is valid.  Left rows behind the watermark are dropped and counted
// (late_rows); without a time or with a NULL key nothing matches them.  Errors: kState from the state's cap.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/operator.h"
#include "engine/state/keyed_state.h"

namespace weir {

struct TemporalInput {
  SchemaPtr schema;
  std::vector<int> keys;  // pairwise of one type with the other input's
  int time = -1;          // a timestamp, in microseconds as all are
};

struct TemporalJoinOptions {
  TemporalInput left;   // input 0
  TemporalInput right;  // input 1
  bool before = false;  // only versions before the row's time, not at it
  bool keep = false;    // rows without a version stay, with NULL (LEFT JOIN)
  SchemaPtr schema;     // of the output: left columns, then right columns
  StateOptions state;
};

Result<std::unique_ptr<Operator>> MakeTemporalJoin(const TemporalJoinOptions& options);

}  // namespace weir
