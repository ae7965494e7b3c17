// A task: one parallel instance of a chain of operators, run to completion per batch.
//
// How a step works:
//   1. A stack holds (operator, batch) pairs still to be processed; the top one is processed and what it emits goes on
//      top of it, so rows leave the chain in order and never more than a few batches are in flight.
//   2. With an empty stack, a control in progress (watermark, barrier, end) visits the next operator; what that one
//      emits is processed before the control moves on.
//   3. With neither, the next message of an input, or the next poll of the source, is taken.
//   4. Before each step the outgoing channels must have room; else the task sleeps until one has.
// Barriers are aligned: an input whose barrier has arrived is not read until all have.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/snapshot.h"
#include "engine/runtime/exchange.h"
#include "engine/runtime/late_rows.h"
#include "engine/runtime/scheduler.h"
#include "engine/runtime/timed_operator.h"
#include "engine/runtime/watermarks.h"

namespace weir {

// What a task tells the job.  Thread-safe.
class TaskHost {
 public:
  virtual ~TaskHost() = default;
  virtual void Acknowledge(Epoch epoch, TaskSnapshot snapshot) = 0;
  virtual void TaskEnded() = 0;  // its last rows are out; it goes on taking barriers
  virtual void Fail(Error error) = 0;
  virtual bool stopping() const = 0;  // tasks leave their loop
  virtual void CountSourceRows(int64_t rows) = 0;
  virtual bool sources_rest() const = 0;  // memory is above its bound: read nothing until woken
  virtual void FirstOutput() = 0;  // a sink has taken its first row
};

// Wakes a task that has started, also after it is gone.  Before that a wake does nothing: a source wakes its task as soon
// as messages arrive, which is while others are still being opened and before the job knows where all of them start.
class WakeHandle {
 public:
  explicit WakeHandle(Runnable* target) : target_(target) {}
  void Start() {
    const std::lock_guard lock(mutex_);
    started_ = true;
  }
  void Wake() {
    const std::lock_guard lock(mutex_);
    if (started_ && target_ != nullptr) target_->Wake();
  }
  void Detach() {
    const std::lock_guard lock(mutex_);
    target_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Runnable* target_;
  bool started_ = false;
};

struct ChainOperator {
  OperatorSpec spec;
  std::unique_ptr<Operator> instance;
  std::unique_ptr<OperatorMetrics> metrics = std::make_unique<OperatorMetrics>();
  std::unique_ptr<OperatorContext> context = std::make_unique<OperatorContext>();
  TimedOperator* timed = nullptr;    // the instance, if it is one
  LateRowsOperator* late = nullptr;  // the same
  std::vector<StateSize> state_sizes;  // as of the last barrier or end; guarded by the task
};

class Task final : public Runnable {
 public:
  Task(std::string name, int index, int parallelism, Scheduler& scheduler, TaskHost& host, const Clock& clock);
  ~Task() override;

  // --- set-up, before the first Wake -----------------------------------------------------------------------------
  // An input channel of logical input `input` of the chain's first operator.
  void AddInput(int input, std::shared_ptr<Channel> channel);
  Router& router() { return router_; }
  Status AddOperator(const OperatorSpec& spec);
  Status AddSource(const SourceSpec& spec);
  Status OpenSource(const Positions& restored, const std::map<std::string, Micros>& watermarks,
                    const std::vector<std::string>& idle);
  Status Restore(const std::function<std::unique_ptr<SnapshotReader>(const std::string& operator_id)>& reader);

  // Runs from now on; every task of the job is set up.
  void Start();

  // --- any thread --------------------------------------------------------------------------------------------------
  // A source task takes the barrier of `epoch` between two polls; with `last`, it polls no more afterwards.
  void RequestBarrier(Epoch epoch, bool last);
  bool has_source() const { return source_ != nullptr; }
  // The source has left rows where they are because the store is full.  Any thread.
  bool rests() const { return rests_.load(std::memory_order_relaxed); }
  // An operator wants to be called at that time.  Any thread.
  bool WantsTimer(Micros now) const { return next_timer_.load(std::memory_order_relaxed) <= now; }
  const std::string& source_name() const { return source_spec_.name; }
  const SourceMetrics& source_metrics() const { return source_metrics_; }
  const std::vector<ChainOperator>& operators() const { return chain_; }
  Source& source() { return *source_; }
  std::vector<StateSize> StateSizesOf(size_t op) const;
  // Positions and counters before the first row: checkpoint 0.
  TaskSnapshot InitialSnapshot();
  void Close();

 private:
  struct Input {
    int logical;
    std::shared_ptr<Channel> channel;
    bool blocked = false;  // its barrier has arrived
    bool ended = false;
  };
  struct Work {
    size_t op;
    int input;
    Batch batch;
  };
  struct Control {
    enum class Kind { kWatermark, kIdle, kBarrier, kEnd };
    Kind kind;
    size_t op = 0;
    Micros watermark = kMinMicros;
    Epoch epoch = 0;
  };
  class Collector;
  class SourceRows;

  bool RunSome() override;
  Result<bool> Step();            // false: nothing to do until woken
  Result<bool> ProcessTop();
  // task_timers.cc.  False: no operator's time has come.
  Result<bool> FireTimer();
  Status AdvanceControl();
  Status FinishControl();
  void EndPartitions();
  Result<bool> StepSource();
  Result<bool> StepInputs();
  void Take(size_t input, Message message);
  void BeginBarrier(Epoch epoch);
  void BeginWatermark(WatermarkState state);
  void BeginEnd();
  void TakeSourceBatch(Batch batch);
  bool NextSourceRow();
  bool SourceWatermarkDue();
  void PushOutputs(size_t op);
  void SetBlocked(bool blocked);
  Status SnapshotOperator(ChainOperator& op);
  void AddSourceState(TaskSnapshot& snapshot) const;
  std::map<std::string, int64_t> Counters() const;
  Status OnRowError(const RowPosition& position, const Error& error, OperatorMetrics& metrics);

  Scheduler& scheduler_;
  const std::string name_;
  const int index_;
  const int parallelism_;
  TaskHost& host_;
  const Clock& clock_;
  std::shared_ptr<WakeHandle> handle_;

  std::vector<Input> inputs_;
  std::vector<ChainOperator> chain_;
  Router router_;
  std::vector<Work> stack_;
  std::vector<Batch> collected_;
  std::optional<Control> control_;
  bool blocked_on_operator_ = false;  // then the task counts as active: what it waits for will wake it

  WatermarkMerger merger_{0};
  WatermarkState sent_watermark_;
  std::atomic<Micros> next_timer_{kMaxMicros};
  bool has_timers_ = false;
  size_t next_input_ = 0;
  size_t barriers_ = 0;
  TaskSnapshot snapshot_;
  bool ended_ = false;

  SourceSpec source_spec_;
  SourceMetrics source_metrics_;
  SourceContext source_context_;
  std::unique_ptr<Source> source_;
  std::optional<WatermarkGenerator> generator_;
  std::atomic<Epoch> requested_epoch_{0};
  std::atomic<bool> last_barrier_{false};
  Epoch taken_epoch_ = 0;
  bool source_ended_ = false;
  std::atomic<bool> rests_{false};  // the source waits for room in the store
  bool source_stopped_ = false;
  Batch row_batch_;         // emit: every_row: the batch whose rows are delivered one by one
  size_t next_row_ = 0;
  std::vector<size_t> ended_partitions_;  // that the last poll has marked
  bool watermark_pending_ = false;
  Micros last_watermark_at_ = kMinMicros;
  mutable std::mutex sizes_mutex_;
};

}  // namespace weir
