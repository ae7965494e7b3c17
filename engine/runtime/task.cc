#include "engine/runtime/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/runtime/task_collector.h"

namespace weir {
namespace {

constexpr int kStepsPerRun = 32;
constexpr Micros kWatermarkInterval = 200'000;

// A row that an operator refuses: the user has to learn which expression of which query that was.
template <class T>
Result<T> Named(const OperatorSpec& spec, Result<T> result) {
  if (result || result.error().code != ErrorCode::kData || spec.described.empty()) return result;
  return DataError(fmt::format("{} (in {})", result.error().message, spec.described), result.error().where);
}

}  // namespace

class Task::SourceRows final : public SourceOutput {
 public:
  explicit SourceRows(Task& task) : task_(task) {}
  void Emit(Batch batch) override { task_.TakeSourceBatch(std::move(batch)); }
  void MarkIdle(size_t partition) override {
    if (!task_.generator_) return;
    task_.generator_->SetPartitionCount(task_.source_->Partitions().size(), task_.clock_.Monotonic());
    task_.generator_->MarkIdle(partition);
    task_.watermark_pending_ = true;
  }
  void MarkEnded(size_t partition) override { task_.ended_partitions_.push_back(partition); }

 private:
  Task& task_;
};

Task::Task(std::string name, int index, int parallelism, Scheduler& scheduler, TaskHost& host, const Clock& clock)
    : Runnable(scheduler),
      scheduler_(scheduler),
      name_(std::move(name)),
      index_(index),
      parallelism_(parallelism),
      host_(host),
      clock_(clock),
      handle_(std::make_shared<WakeHandle>(this)) {}

Task::~Task() { handle_->Detach(); }

void Task::AddInput(int input, std::shared_ptr<Channel> channel) {
  inputs_.push_back({input, std::move(channel)});
  merger_ = WatermarkMerger(inputs_.size());
}

Status Task::AddOperator(const OperatorSpec& spec) {
  ChainOperator op;
  op.spec = spec;
  WEIR_ASSIGN(op.instance, spec.make(index_, parallelism_));
  OperatorContext& context = *op.context;
  context.operator_id = spec.id;
  context.task = index_;
  context.parallelism = parallelism_;
  context.clock = &clock_;
  context.metrics = op.metrics.get();
  context.wake = [handle = handle_] { handle->Wake(); };
  if (source_) {
    context.on_row_error = [this, metrics = op.metrics.get()](const RowPosition& position, const Error& error) {
      return OnRowError(position, error, *metrics);
    };
  }
  WEIR_TRY(op.instance->Open(context));
  op.timed = dynamic_cast<TimedOperator*>(op.instance.get());
  op.late = dynamic_cast<LateRowsOperator*>(op.instance.get());
  has_timers_ = has_timers_ || op.timed != nullptr;
  chain_.push_back(std::move(op));
  return {};
}

Status Task::OnRowError(const RowPosition& position, const Error& error, OperatorMetrics& metrics) {
  if (source_spec_.skip_bad_rows) {
    metrics.bad_records.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  return Error{error.code, error.message, source_->Describe(position)};
}

Status Task::AddSource(const SourceSpec& spec) {
  source_spec_ = spec;
  WEIR_ASSIGN(source_, spec.make(index_, parallelism_));
  source_context_ = {spec.name, index_, parallelism_, &clock_, &source_metrics_,
                     [handle = handle_] { handle->Wake(); }};
  if (spec.event_time) generator_.emplace(*spec.event_time);
  return {};
}

Status Task::OpenSource(const Positions& restored, const std::map<std::string, Micros>& watermarks,
                        const std::vector<std::string>& idle) {
  WEIR_TRY(source_->Open(source_context_, restored));
  if (!generator_) return {};
  const std::vector<std::string> partitions = source_->Partitions();
  generator_->SetPartitionCount(partitions.size(), clock_.Monotonic());
  for (size_t i = 0; i < partitions.size(); ++i) {
    const auto found = watermarks.find(partitions[i]);
    const bool is_idle = std::find(idle.begin(), idle.end(), partitions[i]) != idle.end();
    if (found != watermarks.end() || is_idle) {
      generator_->Restore(i, found != watermarks.end() ? found->second : kMinMicros, is_idle);
      watermark_pending_ = true;
    }
  }
  if (partitions.empty()) watermark_pending_ = true;
  return {};
}

Status Task::Restore(const std::function<std::unique_ptr<SnapshotReader>(const std::string&)>& reader) {
  for (ChainOperator& op : chain_) {
    const auto parts = reader(op.spec.id);
    if (parts) WEIR_TRY(op.instance->Restore(*parts));
  }
  return {};
}

void Task::Start() {
  handle_->Start();
  Wake();
}

void Task::RequestBarrier(Epoch epoch, bool last) {
  if (last) last_barrier_.store(true, std::memory_order_release);
  requested_epoch_.store(epoch, std::memory_order_release);
  Wake();
}

std::vector<StateSize> Task::StateSizesOf(size_t op) const {
  const std::lock_guard lock(sizes_mutex_);
  return chain_[op].state_sizes;
}

void Task::Close() {
  for (ChainOperator& op : chain_) op.instance->Close();
  if (source_) source_->Close();
}

bool Task::RunSome() {
  for (int step = 0; step < kStepsPerRun; ++step) {
    if (host_.stopping()) return false;
    const Result<bool> more = Step();
    if (!more) {
      host_.Fail(more.error());
      return false;
    }
    if (!*more) return false;
  }
  return true;
}

Result<bool> Task::Step() {
  if (!router_.HasRoomOrWait()) return false;
  if (!stack_.empty()) return ProcessTop();
  if (control_) {
    WEIR_TRY(AdvanceControl());
    return true;
  }
  if (has_timers_) {
    WEIR_ASSIGN(const bool fired, FireTimer());
    if (fired) return true;
  }
  WEIR_ASSIGN(const bool more, source_ ? StepSource() : StepInputs());
  if (!more) router_.Flush();
  return more;
}

Result<bool> Task::ProcessTop() {
  Work& work = stack_.back();
  if (work.op == chain_.size()) {
    router_.Send(work.batch);
    stack_.pop_back();
    return true;
  }
  ChainOperator& op = chain_[work.op];
  const size_t index = work.op;
  if (!blocked_on_operator_) {
    if (op.metrics->records_in.load(std::memory_order_relaxed) == 0 && op.spec.kind == "sink") host_.FirstOutput();
  }
  Collector out(collected_, *op.metrics);
  WEIR_ASSIGN(const Progress progress, Named(op.spec, op.instance->Process(work.input, work.batch, out)));
  SetBlocked(progress == Progress::kBlocked);
  if (op.late != nullptr) router_.SendLate(op.spec.id, op.late->TakeLateRows());
  if (progress == Progress::kDone) {
    op.metrics->records_in.fetch_add(static_cast<int64_t>(work.batch.rows()), std::memory_order_relaxed);
    stack_.pop_back();
  }
  const bool emitted = !collected_.empty();
  PushOutputs(index + 1);
  return progress != Progress::kBlocked || emitted;
}

void Task::SetBlocked(bool blocked) {
  if (blocked == blocked_on_operator_) return;
  blocked_on_operator_ = blocked;
  if (blocked) {
    scheduler_.activity().Add();
  } else {
    scheduler_.activity().Remove();
  }
}

void Task::PushOutputs(size_t op) {
  for (auto batch = collected_.rbegin(); batch != collected_.rend(); ++batch) {
    stack_.push_back({op, 0, std::move(*batch)});
  }
  collected_.clear();
}

// --- controls ----------------------------------------------------------------------------------------------------------

Status Task::AdvanceControl() {
  if (control_->op == chain_.size()) return FinishControl();
  const size_t index = control_->op;
  ChainOperator& op = chain_[index];
  Collector out(collected_, *op.metrics);
  bool done = true;
  switch (control_->kind) {
    case Control::Kind::kWatermark:
      WEIR_TRY(Named(op.spec, op.instance->OnWatermark(control_->watermark, out)));
      break;
    case Control::Kind::kIdle: break;
    case Control::Kind::kBarrier: {
      const Micros from = clock_.Monotonic();
      WEIR_TRY(Named(op.spec, op.instance->OnBarrier(out)));
      WEIR_TRY(SnapshotOperator(op));
      snapshot_.sync += clock_.Monotonic() - from;
      break;
    }
    case Control::Kind::kEnd: {
      WEIR_ASSIGN(const Progress progress, Named(op.spec, op.instance->OnEnd(out)));
      done = progress == Progress::kDone;
      break;
    }
  }
  if (done) ++control_->op;
  PushOutputs(index + 1);
  return {};
}

Status Task::SnapshotOperator(ChainOperator& op) {
  OperatorSnapshot snapshot;
  snapshot.operator_id = op.spec.id;
  snapshot.task = index_;
  snapshot.parallelism = parallelism_;
  snapshot.target = op.instance.get();
  SnapshotCollector writer(control_->epoch, snapshot);
  WEIR_TRY(op.instance->Snapshot(writer));
  snapshot_.operators.push_back(std::move(snapshot));
  auto sizes = op.instance->StateSizes();
  const std::lock_guard lock(sizes_mutex_);
  op.state_sizes = std::move(sizes);
  return {};
}

Status Task::FinishControl() {
  const Control control = *control_;
  control_.reset();
  Message message;
  switch (control.kind) {
    case Control::Kind::kWatermark:
      message.kind = Message::Kind::kWatermark;
      message.watermark = control.watermark;
      router_.Broadcast(message);
      return {};
    case Control::Kind::kIdle:
      message.kind = Message::Kind::kIdle;
      router_.Broadcast(message);
      return {};
    case Control::Kind::kBarrier:
      message.kind = Message::Kind::kBarrier;
      message.epoch = control.epoch;
      router_.Broadcast(message);
      for (Input& input : inputs_) input.blocked = false;
      barriers_ = 0;
      AddSourceState(snapshot_);
      snapshot_.counters = Counters();
      host_.Acknowledge(control.epoch, std::move(snapshot_));
      snapshot_ = {};
      return {};
    case Control::Kind::kEnd:
      message.kind = Message::Kind::kEnd;
      router_.Broadcast(message);
      ended_ = true;
      host_.TaskEnded();
      return {};
  }
  return {};
}

void Task::BeginBarrier(Epoch epoch) {
  snapshot_.alignment = inputs_.empty() ? 0 : clock_.Monotonic() - snapshot_.barrier_time;
  if (inputs_.empty()) snapshot_.barrier_time = clock_.Monotonic();
  control_ = Control{Control::Kind::kBarrier, 0, kMinMicros, epoch};
}

void Task::BeginWatermark(WatermarkState state) {
  if (state == sent_watermark_ || (!state.idle && state.time == kMinMicros)) return;
  // A watermark never goes back: an input that returns from idleness with an older time is held at the newest sent.
  if (!state.idle && state.time < sent_watermark_.time) state.time = sent_watermark_.time;
  if (state.idle) state.time = sent_watermark_.time;
  if (state == sent_watermark_) return;
  sent_watermark_ = state;
  control_ = Control{state.idle ? Control::Kind::kIdle : Control::Kind::kWatermark, 0, state.time, 0};
}

void Task::BeginEnd() { control_ = Control{Control::Kind::kEnd, 0, kMinMicros, 0}; }

void Task::AddSourceState(TaskSnapshot& snapshot) const {
  if (!source_) return;
  snapshot.source = source_spec_.name;
  snapshot.source_task = source_.get();
  snapshot.positions = source_->CurrentPositions();
  if (!generator_) return;
  const std::vector<std::string> partitions = source_->Partitions();
  for (size_t i = 0; i < std::min(partitions.size(), generator_->size()); ++i) {
    if (generator_->largest(i) != kMinMicros) snapshot.watermarks[partitions[i]] = generator_->largest(i);
    if (generator_->idle(i)) snapshot.idle.push_back(partitions[i]);
  }
}

std::map<std::string, int64_t> Task::Counters() const {
  std::map<std::string, int64_t> counters;
  if (source_) {
    const std::string prefix = "source." + source_spec_.name + ".";
    counters[prefix + "records_in"] = source_metrics_.records_in;
    counters[prefix + "input_bytes"] = source_metrics_.input_bytes;
    counters[prefix + "bad_records"] = source_metrics_.bad_records;
    counters[prefix + "tombstones"] = source_metrics_.tombstones;
  }
  for (const ChainOperator& op : chain_) {
    const std::string prefix = "operator." + op.spec.id + ".";
    counters[prefix + "records_in"] = op.metrics->records_in;
    counters[prefix + "records_out"] = op.metrics->records_out;
    counters["late_rows"] += op.metrics->late_rows;
    counters["null_event_time"] += op.metrics->null_event_time;
    counters["ignored_deletes"] += op.metrics->ignored_deletes;
    if (source_) counters["source." + source_spec_.name + ".bad_records"] += op.metrics->bad_records;
    if (op.spec.kind == "sink") counters["records_out"] += op.metrics->records_in;
  }
  return counters;
}

TaskSnapshot Task::InitialSnapshot() {
  TaskSnapshot snapshot;
  AddSourceState(snapshot);
  return snapshot;
}

// --- sources -----------------------------------------------------------------------------------------------------------

void Task::TakeSourceBatch(Batch batch) {
  if (batch.rows() == 0) return;
  host_.CountSourceRows(static_cast<int64_t>(batch.rows()));
  if (!generator_) {
    stack_.push_back({0, 0, std::move(batch)});
    return;
  }
  const Micros now = clock_.Monotonic();
  generator_->SetPartitionCount(source_->Partitions().size(), now);
  if (source_spec_.event_time->every_row) {
    row_batch_ = std::move(batch);
    next_row_ = 0;
    NextSourceRow();
    return;
  }
  generator_->Observe(batch, now);
  watermark_pending_ = true;
  stack_.push_back({0, 0, std::move(batch)});
}

// Delivers the next row (or update pair) of a batch whose source makes a watermark after every row.
bool Task::NextSourceRow() {
  if (next_row_ >= row_batch_.rows()) return false;
  const size_t count = row_batch_.IsUpdatePair(next_row_) ? 2 : 1;
  Batch row = row_batch_.Slice(next_row_, count);
  next_row_ += count;
  generator_->Observe(row, clock_.Monotonic());
  watermark_pending_ = true;
  stack_.push_back({0, 0, std::move(row)});
  return true;
}

bool Task::SourceWatermarkDue() {
  if (!generator_ || !watermark_pending_) return false;
  const Micros now = clock_.Monotonic();
  if (!source_spec_.event_time->every_row && !source_ended_ && last_watermark_at_ != kMinMicros &&
      now - last_watermark_at_ < kWatermarkInterval && now != last_watermark_at_) {
    return false;
  }
  last_watermark_at_ = now;
  watermark_pending_ = false;
  return true;
}

// The marks of a poll count when its rows have been delivered.
void Task::EndPartitions() {
  if (ended_partitions_.empty() || next_row_ < row_batch_.rows()) return;
  if (generator_) {
    generator_->SetPartitionCount(source_->Partitions().size(), clock_.Monotonic());
    for (const size_t partition : ended_partitions_) generator_->MarkEnded(partition);
    watermark_pending_ = true;
  }
  ended_partitions_.clear();
}

Result<bool> Task::StepSource() {
  EndPartitions();
  if (SourceWatermarkDue()) {
    BeginWatermark(generator_->Current());
    if (control_) return true;
  }
  if (generator_ && next_row_ < row_batch_.rows()) return NextSourceRow();
  const Epoch requested = requested_epoch_.load(std::memory_order_acquire);
  if (requested > taken_epoch_) {
    taken_epoch_ = requested;
    source_stopped_ = last_barrier_.load(std::memory_order_acquire);
    BeginBarrier(requested);
    return true;
  }
  if (ended_ || source_stopped_) return false;
  if (source_ended_) {
    if (sent_watermark_ != WatermarkState{kMaxMicros, false}) {
      BeginWatermark({kMaxMicros, false});
      return true;
    }
    BeginEnd();
    return true;
  }
  const bool rests = host_.sources_rest();
  rests_.store(rests, std::memory_order_relaxed);
  if (rests) return false;
  SourceRows out(*this);
  WEIR_ASSIGN(const SourceState state, source_->Poll(out));
  if (state == SourceState::kEnded) source_ended_ = true;
  if (state != SourceState::kWaiting || !stack_.empty()) return true;
  if (generator_) {
    generator_->SetPartitionCount(source_->Partitions().size(), clock_.Monotonic());
    generator_->CheckIdle(clock_.Monotonic());
    BeginWatermark(generator_->Current());
  }
  return control_.has_value();
}

// --- inputs ------------------------------------------------------------------------------------------------------------

Result<bool> Task::StepInputs() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const size_t at = (next_input_ + i) % inputs_.size();
    if (inputs_[at].blocked) continue;
    auto message = inputs_[at].channel->Receive();
    if (!message) continue;
    next_input_ = at + 1;
    Take(at, std::move(*message));
    return true;
  }
  return false;
}

void Task::Take(size_t at, Message message) {
  Input& input = inputs_[at];
  switch (message.kind) {
    case Message::Kind::kBatch:
      stack_.push_back({0, input.logical, std::move(message.batch)});
      return;
    case Message::Kind::kWatermark:
    case Message::Kind::kIdle:
      merger_.Set(at, {message.watermark, message.kind == Message::Kind::kIdle});
      BeginWatermark(merger_.Current());
      return;
    case Message::Kind::kBarrier:
      if (barriers_ == 0) {
        snapshot_.barrier_time = clock_.Monotonic();
        taken_epoch_ = message.epoch;
      }
      WEIR_CHECK_EQ(taken_epoch_, message.epoch);
      input.blocked = true;
      if (++barriers_ == inputs_.size()) BeginBarrier(message.epoch);
      return;
    case Message::Kind::kEnd:
      input.ended = true;
      merger_.End(at);
      if (std::all_of(inputs_.begin(), inputs_.end(), [](const Input& i) { return i.ended; })) {
        BeginEnd();
      } else {
        BeginWatermark(merger_.Current());
      }
      return;
  }
}

}  // namespace weir
