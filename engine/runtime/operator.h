// What an operator is to the runtime.
//
// An operator belongs to one task and is called by one thread at a time, never concurrently.  The runtime aligns
// barriers, keeps watermarks, times the phases of a checkpoint, counts rows, and forwards control messages; an operator
// only transforms rows and says what its state is.  A sink is an operator that emits nothing.
//
// Call order:  Open, Restore?, (Process | OnWatermark | OnTimer | Snapshot | OnCommit)*, OnEnd, Snapshot, OnCommit, Close.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/checkpoint/log_position.h"
#include "engine/data/batch.h"

namespace weir {

using Epoch = uint64_t;

// Counters of one operator in one task; written by its task, read by anyone.
struct OperatorMetrics {
  std::atomic<int64_t> records_in{0};
  std::atomic<int64_t> records_out{0};
  std::atomic<int64_t> late_rows{0};
  std::atomic<int64_t> null_event_time{0};
  std::atomic<int64_t> ignored_deletes{0};
  std::atomic<int64_t> bad_records{0};  // rows skipped after the source because of its on_error
};

// Rows and bytes of one part of an operator's state ("left", "right", "groups").
struct StateSize {
  std::string part;
  int64_t rows = 0;
  int64_t bytes = 0;
};

// Where an operator's results go.  Emit never fails and never blocks; an operator that can produce many rows from one
// batch asks HasRoom between bounded amounts and returns kMore when there is none.
class Output {
 public:
  virtual ~Output() = default;
  virtual void Emit(Batch batch) = 0;
  virtual bool HasRoom() const = 0;
};

enum class Progress {
  kDone,     // the batch was taken whole
  kMore,     // call Process again with the same batch when the output has room
  kBlocked,  // call again with the same batch after context.wake() was called (a full client queue)
};

// What an operator may use of its surroundings; outlives the operator.
struct OperatorContext {
  std::string operator_id;   // stable over restarts of the same job
  int task = 0;              // 0 .. parallelism - 1
  int parallelism = 1;
  const Clock* clock = nullptr;
  OperatorMetrics* metrics = nullptr;
  // Schedules the task again; callable from any thread, also after the task has ended.
  std::function<void()> wake;
  // Whether rows of this operator's input that fail may be skipped: the source's on_error, while RowPositions are
  // there.  Returns ok when the row was skipped and counted, else the error that ends the job.  Null: always an error.
  std::function<Status(const RowPosition&, const Error&)> on_row_error;
};

// Collects the state of an operator for one checkpoint.  Put is for small state that is ready at once (bounded by the
// caller to a few MiB); WriteLater is for large state: the function runs on the I/O pool after Snapshot has returned,
// on a view that the operator keeps stable until then.  One operator may use either, once.
class SnapshotWriter {
 public:
  // Appends to the operator's state file; the function's caller fsyncs.
  class File {
   public:
    virtual ~File() = default;
    virtual Status Append(std::string_view bytes) = 0;
  };
  virtual ~SnapshotWriter() = default;
  virtual Epoch epoch() const = 0;
  virtual void Put(std::string bytes) = 0;
  virtual void WriteLater(std::function<Status(File&)> write) = 0;
  // Work without state that has to be done before the manifest is durable: fsync of a part, flush of a producer.
  virtual void FinishLater(std::function<Status()> work) = 0;
  // Data that OnCommit and a restore need: names of files to rename, a transaction's id.  Goes into the manifest.
  virtual void PutCommitData(std::string bytes) = 0;
  // Where the log of a table's bucket ends: all of the table that goes into the manifest.
  virtual void PutTablePosition(const std::string& table, int bucket, const LogPosition& end) {
    (void)table, (void)bucket, (void)end;
  }
  // Adds to a counter of the checkpoint; counted since the job's first start, over restarts.
  virtual void PutCounter(const std::string& name, int64_t since_start) { (void)name, (void)since_start; }
};

// The state files that tasks of this operator wrote at the restored checkpoint: all of them, at any parallelism.
class SnapshotReader {
 public:
  struct Part {
    int task = 0;
    int parallelism = 1;      // at the time of writing
    std::string path;         // of the state file; empty when the task had none
    std::string commit_data;
  };
  virtual ~SnapshotReader() = default;
  virtual Epoch epoch() const = 0;
  virtual const std::vector<Part>& parts() const = 0;
  // Where the logs of all tables ended.
  virtual const TablePositions& tables() const {
    static const TablePositions kNone;
    return kNone;
  }
  // The whole content of a part's file, its checksum verified.
  virtual Result<std::string> Read(const Part& part) const = 0;
};

class Operator {
 public:
  virtual ~Operator() = default;

  virtual Status Open(const OperatorContext& context) {
    context_ = &context;
    return {};
  }
  virtual Result<Progress> Process(int input, const Batch& batch, Output& out) = 0;
  // The minimum watermark of all inputs has risen to `watermark` (microseconds).  The runtime forwards it afterwards.
  virtual Status OnWatermark(Micros watermark, Output& out) {
    (void)watermark, (void)out;
    return {};
  }
  // All inputs have ended; the last results.  The final barrier follows.  kMore as in Process.
  virtual Result<Progress> OnEnd(Output& out) {
    (void)out;
    return Progress::kDone;
  }
  // Called with all inputs aligned and everything before the barrier processed.
  virtual Status Snapshot(SnapshotWriter& writer) {
    (void)writer;
    return {};
  }
  virtual Status Restore(const SnapshotReader& reader) {
    (void)reader;
    return {};
  }
  // A barrier has passed: the epoch's results are complete.  Before Snapshot; for operators that hold rows of the
  // running epoch only (the order of changes across an exchange, see operators/key_order).
  virtual Status OnBarrier(Output& out) {
    (void)out;
    return {};
  }
  // Checkpoint `epoch` is durable (its manifest is on disk).  Called on an I/O thread while Process may run; a sink
  // that publishes (renames, commits) does it here.  Called again after a restore of a prepared checkpoint: idempotent.
  virtual Status OnCommit(Epoch epoch, const std::string& commit_data) {
    (void)epoch, (void)commit_data;
    return {};
  }
  virtual std::vector<StateSize> StateSizes() const { return {}; }
  virtual void Close() {}

 protected:
  const OperatorContext& context() const { return *context_; }

 private:
  const OperatorContext* context_ = nullptr;
};

}  // namespace weir
