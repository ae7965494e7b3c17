// The changes of an epoch of a state table, of the buckets of one task, on their way into the table's base.
//
//   1. Keep collects them, bucket by bucket, as bytes.
//   2. When enough have come together they are written as a sorted run on the I/O pool, while the epoch goes on.  Of one
//      task one run is written at a time.  Runs lie beside the base, where no link of an older checkpoint finds them.
//   3. At the barrier only the rest is left: it becomes the last run, and all of them go into the base in one call.
//
// How much is enough: half of what the epoch still brings, if it is like the one before, within bounds.  So the rest is
// small, a key that changes all the time is written a few times an epoch, and few files come into the base.
//
// One thread, the task's, but for what TakeEpoch returns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "tables/log/log_entry.h"

namespace weir {

class Table;

class EpochChanges {
 public:
  // `buckets` in rising order; no run but the last is smaller than `least_bytes`.
  EpochChanges(Table* table, const std::vector<int>& buckets, int64_t least_bytes);

  void Keep(int bucket, const LogEntry& entry);
  // At a barrier: what brings the epoch's changes into the base, on the I/O pool; null when there are none.
  std::function<Status()> TakeEpoch();

 private:
  // Of each bucket, in rising order.
  using Changes = std::vector<std::pair<int, std::string>>;
  struct Runs;

  Changes TakeChanges();
  void StartRun();
  void SetGoal();

  Table* const table_;
  const int64_t least_bytes_;
  std::vector<int> buckets_;
  std::vector<std::string> changes_;  // by bucket
  int64_t bytes_ = 0;     // in changes_
  int64_t goal_ = 0;      // when a run is started
  int64_t in_runs_ = 0;   // bytes of this epoch
  int64_t expected_ = 0;  // bytes of the last epoch
  std::shared_ptr<Runs> runs_;
};

}  // namespace weir
