// What a source is to the runtime: the head of a chain in one task, owner of some partitions.
//
// Called by one thread at a time.  Positions are opaque text per partition, ordered by the source alone; a position is
// where reading goes on, so everything before it has been emitted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/operator.h"

namespace weir {

using Positions = std::map<std::string, std::string>;  // partition -> position

struct SourceMetrics {
  std::atomic<int64_t> records_in{0};
  std::atomic<int64_t> input_bytes{0};
  std::atomic<int64_t> bad_records{0};
  std::atomic<int64_t> tombstones{0};
  std::atomic<int64_t> lag{0};  // records behind the end, as far as known
};

struct SourceContext {
  std::string source_name;
  int task = 0;
  int parallelism = 1;
  const Clock* clock = nullptr;
  SourceMetrics* metrics = nullptr;
  std::function<void()> wake;  // callable from any thread, also after the task has ended
};

// One poll's rows: a batch of at most kBatchRows rows with positions set, rows of one partition in its order.
// For watermarks the runtime reads the event-time column of the batch by partition.
class SourceOutput {
 public:
  virtual ~SourceOutput() = default;
  virtual void Emit(Batch batch) = 0;
  // The partition (index in Partitions()) will be silent: its watermark does not hold the others back.
  virtual void MarkIdle(size_t partition) = 0;
  // The partition has had its last row, also of this poll: its watermark is behind every time.
  virtual void MarkEnded(size_t partition) = 0;
};

enum class SourceState {
  kRunning,  // there may be more now: poll again
  kWaiting,  // nothing now: wake() will be called, or poll again after 200 ms
  kEnded,    // all partitions of this task have reached their end
};

class Source {
 public:
  virtual ~Source() = default;
  // Resolves start and end offsets.  `restored` has the positions of all partitions of the restored checkpoint, of
  // every task; partitions that are not in it start where the options say.  May block for a while (connect_timeout).
  virtual Status Open(const SourceContext& context, const Positions& restored) = 0;
  // Emits at most one batch.
  virtual Result<SourceState> Poll(SourceOutput& out) = 0;
  // Of the partitions of this task, after the last emitted row; also start positions before the first.
  virtual Positions CurrentPositions() const = 0;
  // The partitions of this task, in the order of RowPosition::partition; grows only.
  virtual std::vector<std::string> Partitions() const = 0;
  // "topic/partition/offset" or "file:line" of a row, for messages.
  virtual std::string Describe(const RowPosition& position) const = 0;
  // The checkpoint with these positions is complete (commit group offsets).  On an I/O thread.
  virtual Status OnCommit(Epoch epoch, const Positions& positions) {
    (void)epoch, (void)positions;
    return {};
  }
  virtual void Close() {}
};

}  // namespace weir
