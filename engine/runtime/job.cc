#include "engine/runtime/job.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "engine/base/file.h"
#include "engine/checkpoint/coordinator.h"
#include "engine/checkpoint/manifest_file.h"
#include "engine/checkpoint/restored_state.h"
#include "engine/runtime/checkers.h"
#include "engine/runtime/figures.h"
#include "engine/runtime/task.h"

namespace weir {
namespace {

constexpr int kIoThreads = 4;
constexpr std::chrono::milliseconds kTick{10};
constexpr int kTicksPerPoll = 20;  // waiting sources are polled again every 200 ms

class JobImpl final : public Job, public TaskHost {
 public:
  JobImpl(JobGraph graph, JobOptions options)
      : graph_(std::move(graph)),
        options_(std::move(options)),
        clock_(options_.clock != nullptr ? *options_.clock : static_cast<const Clock&>(system_clock_)) {}
  ~JobImpl() override {
    if (!shut_down_) Abort();
  }

  Status Init();
  Status Start() override;
  Result<JobEnd> Wait() override;
  void Stop() override;
  void Abort() override;
  Result<CheckpointFigures> Checkpoint() override;
  Status WaitUntilIdle() override;
  JobFigures Figures() const override;

  // TaskHost
  void Acknowledge(Epoch epoch, TaskSnapshot snapshot) override {
    coordinator_->Acknowledge(epoch, std::move(snapshot));
  }
  void TaskEnded() override;
  void Fail(Error error) override;
  bool stopping() const override { return stopping_.load(std::memory_order_relaxed); }
  void CountSourceRows(int64_t rows) override;
  bool sources_rest() const override { return graph_.store && graph_.store->full(); }
  void FirstOutput() override {
    Micros none = 0;
    first_output_.compare_exchange_strong(none, clock_.Now());
  }

 private:
  int Threads() const;
  Status OpenStore();
  void Wake(bool sources);  // and tasks whose timer has come
  void StoreWantsCheckpoint();
  void NoteTasksRun();
  void StoreHasRoom();
  bool SourcesRest() const;
  Status BuildTasks();
  Status BuildStage(size_t index);
  void Connect(size_t from, size_t to, int input, const EdgeSpec& edge);
  Status OpenSources();
  bool RestoredIsComplete() const;
  Status CompleteRestored();
  Status RestoreOperators();
  void RequestBarriers(Epoch epoch, Coordinator::Purpose purpose);
  void CheckpointCompleted(Coordinator::Purpose purpose);
  void Tick();
  void End(JobEnd end);
  void ShutDown();

  const JobGraph graph_;
  const JobOptions options_;
  const SystemClock system_clock_;
  const Clock& clock_;
  std::unique_ptr<StateDir> dir_;
  std::optional<Manifest> restored_;

  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Scheduler> io_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::vector<std::unique_ptr<Task>>> tasks_;  // by stage
  size_t task_count_ = 0;
  std::jthread ticker_;
  Micros next_checkpoint_ = 0;  // monotonic; the ticker's after Start

  std::atomic<bool> built_{false};  // what Figures reads stays as it is from here on
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> ended_tasks_{0};
  std::atomic<int64_t> source_rows_{0};
  std::atomic<Micros> first_output_{0};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<JobEnd> end_;
  std::optional<Error> error_;
  int64_t times_of_room_ = 0;  // the store said so
  bool tasks_run_ = false;
  bool store_wants_checkpoint_ = false;  // before they did
  bool started_ = false;
  bool shut_down_ = false;
};

int JobImpl::Threads() const {
  if (options_.threads > 0) return options_.threads;
  int largest = 1;
  for (const StageSpec& stage : graph_.stages) largest = std::max(largest, stage.parallelism);
  return std::clamp(largest, 1, std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

Status JobImpl::Init() {
  if (!options_.state_dir.empty()) {
    WEIR_ASSIGN(dir_, StateDir::Open(options_.state_dir));
    WEIR_ASSIGN(restored_, dir_->Newest(options_.force));
  }
  return {};
}

Status JobImpl::Start() {
  if (dir_) WEIR_TRY(dir_->DropUnfinished(restored_ ? std::optional(restored_->epoch) : std::nullopt));
  const bool finished = restored_ && restored_->finished;
  if (finished && RestoredIsComplete()) {
    built_ = true;
    end_ = JobEnd::kAlreadyFinished;
    WEIR_ASSIGN(const Epoch oldest, dir_->DropOld(restored_->epoch, options_.retain));
    return graph_.store ? graph_.store->Tidy(dir_->path(), oldest) : Status{};
  }
  scheduler_ = std::make_unique<Scheduler>(Threads());
  io_ = std::make_unique<Scheduler>(kIoThreads);
  coordinator_ = std::make_unique<Coordinator>(
      dir_.get(), *io_, clock_, options_.retain,
      Coordinator::Hooks{
          [this](Epoch epoch, Coordinator::Purpose purpose) { RequestBarriers(epoch, purpose); },
          [this](Coordinator::Purpose purpose) { CheckpointCompleted(purpose); },
          [this](Error error) { Fail(std::move(error)); }});
  if (restored_) coordinator_->SetBaseCounters(restored_->counters);
  WEIR_TRY(OpenStore());
  WEIR_TRY(BuildTasks());
  coordinator_->SetTasks(task_count_);
  WEIR_TRY(RestoreOperators());
  built_ = true;
  if (restored_) {
    WEIR_TRY(CompleteRestored());
    if (finished) {
      end_ = JobEnd::kAlreadyFinished;
      return {};
    }
  }
  WEIR_TRY(OpenSources());
  if (!restored_) {
    std::vector<TaskSnapshot> initial;
    for (const auto& stage : tasks_) {
      for (const auto& task : stage) initial.push_back(task->InitialSnapshot());
    }
    WEIR_TRY(coordinator_->WriteInitial(initial));
  }
  started_ = true;
  next_checkpoint_ = clock_.Monotonic() + options_.checkpoint_interval.value_or(0);
  for (const auto& stage : tasks_) {
    for (const auto& task : stage) task->Start();
  }
  NoteTasksRun();
  ticker_ = std::jthread([this] { Tick(); });
  return {};
}

bool JobImpl::RestoredIsComplete() const {
  return std::filesystem::exists(CheckpointFolder(dir_->path(), restored_->epoch) + "/complete.json");
}

// A checkpoint that was prepared when the process died is published by the operators' Restore; then it is complete.
Status JobImpl::CompleteRestored() {
  if (!RestoredIsComplete()) {
    CheckpointFigures figures;
    figures.id = restored_->epoch;
    for (const auto& state : restored_->states) figures.operator_state_bytes += state.bytes;
    WEIR_TRY(WriteFileDurably(CheckpointFolder(dir_->path(), restored_->epoch) + "/complete.json",
                              EncodeFigures(figures)));
  }
  WEIR_ASSIGN(const Epoch oldest, dir_->DropOld(restored_->epoch, options_.retain));
  return graph_.store ? graph_.store->OnComplete(*restored_, oldest) : Status{};
}

Status JobImpl::OpenStore() {
  if (!graph_.store) return {};
  coordinator_->SetStore(graph_.store.get());
  return graph_.store->Open(options_.state_dir, restored_ ? &*restored_ : nullptr, *io_,
                            {[this] { StoreWantsCheckpoint(); },
                             [this] { StoreHasRoom(); }, [this](Error error) { Fail(std::move(error)); }});
}

void JobImpl::Wake(bool sources) {
  for (const auto& stage : tasks_) {
    for (const auto& task : stage) {
      if ((sources && task->has_source()) || task->WantsTimer(clock_.Monotonic())) task->Wake();
    }
  }
}

// Restored rows may fill the store: what it asks for before the tasks run is put off until they do, since a barrier would
// make them run before their sources are at their positions.
void JobImpl::StoreWantsCheckpoint() {
  {
    const std::lock_guard lock(mutex_);
    if (!tasks_run_) {
      store_wants_checkpoint_ = true;
      return;
    }
  }
  coordinator_->Trigger(Coordinator::Purpose::kPeriodic);
}

void JobImpl::NoteTasksRun() {
  bool wanted = false;
  {
    const std::lock_guard lock(mutex_);
    tasks_run_ = true;
    wanted = store_wants_checkpoint_;
  }
  if (wanted) coordinator_->Trigger(Coordinator::Purpose::kPeriodic);
  Wake(true);  // one may have found the store full, and room was made before it could be told
}

void JobImpl::StoreHasRoom() {
  {
    const std::lock_guard lock(mutex_);
    if (!tasks_run_) return;
  }
  Wake(true);
  const std::lock_guard lock(mutex_);
  ++times_of_room_;
  changed_.notify_all();
}

Status JobImpl::BuildTasks() {
  for (size_t i = 0; i < graph_.stages.size(); ++i) WEIR_TRY(BuildStage(i));
  for (size_t to = 0; to < graph_.stages.size(); ++to) {
    const auto& inputs = graph_.stages[to].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Connect(static_cast<size_t>(inputs[i].from_stage), to, static_cast<int>(i), inputs[i]);
    }
  }
  return {};
}

Status JobImpl::BuildStage(size_t index) {
  const StageSpec& stage = graph_.stages[index];
  auto& tasks = tasks_.emplace_back();
  for (int i = 0; i < stage.parallelism; ++i) {
    auto task = std::make_unique<Task>(stage.name, i, stage.parallelism, *scheduler_, *this, clock_);
    if (stage.source) WEIR_TRY(task->AddSource(*stage.source));
    for (const OperatorSpec& op : stage.chain) {
      WEIR_TRY(task->AddOperator(options_.check_operators ? Checked(op) : op));
    }
    tasks.push_back(std::move(task));
    ++task_count_;
  }
  return {};
}

void JobImpl::Connect(size_t from, size_t to, int input, const EdgeSpec& edge) {
  const size_t receivers = tasks_[to].size();
  for (size_t sender = 0; sender < tasks_[from].size(); ++sender) {
    Task* producer = tasks_[from][sender].get();
    std::vector<std::shared_ptr<Channel>> targets;
    const auto connect = [&](size_t receiver) {
      Task* consumer = tasks_[to][receiver].get();
      auto channel = std::make_shared<Channel>(options_.channel_rows, options_.channel_bytes);
      channel->Connect([producer] { producer->Wake(); }, [consumer] { consumer->Wake(); });
      consumer->AddInput(input, channel);
      targets.push_back(std::move(channel));
    };
    switch (edge.exchange) {
      case Exchange::kForward:
        WEIR_CHECK_EQ(tasks_[from].size(), receivers);
        connect(sender);
        break;
      case Exchange::kGather: connect(0); break;
      case Exchange::kHash:
      case Exchange::kBucket:
        for (size_t receiver = 0; receiver < receivers; ++receiver) connect(receiver);
        break;
    }
    producer->router().AddEdge(edge, std::move(targets));
  }
}

Status JobImpl::RestoreOperators() {
  if (!restored_) return {};
  const auto reader = [this](const std::string& id) -> std::unique_ptr<SnapshotReader> {
    return std::make_unique<RestoredState>(*restored_, options_.state_dir, id);
  };
  // Tasks restore side by side: reading back a large state is the longest part of a restart.
  std::vector<std::optional<Error>> errors(task_count_);
  std::vector<Task*> all;
  for (const auto& stage : tasks_) {
    for (const auto& task : stage) all.push_back(task.get());
  }
  std::atomic<size_t> next{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < Threads(); ++i) {
      threads.emplace_back([&] {
        for (size_t t = next++; t < all.size(); t = next++) {
          if (const Status status = all[t]->Restore(reader); !status) errors[t] = status.error();
        }
      });
    }
  }
  for (const auto& error : errors) {
    if (error) return *error;
  }
  return {};
}

Status JobImpl::OpenSources() {
  static const Positions kNone;
  for (const auto& stage : tasks_) {
    for (const auto& task : stage) {
      if (!task->has_source()) continue;
      const std::string& name = task->source_name();
      if (!restored_) {
        WEIR_TRY(task->OpenSource(kNone, {}, {}));
        continue;
      }
      const auto positions = restored_->sources.find(name);
      const auto marks = restored_->watermarks.find(name);
      const auto idle = restored_->idle.find(name);
      WEIR_TRY(task->OpenSource(positions == restored_->sources.end() ? kNone : positions->second,
                                marks == restored_->watermarks.end() ? std::map<std::string, Micros>() : marks->second,
                                idle == restored_->idle.end() ? std::vector<std::string>() : idle->second));
    }
  }
  return {};
}

void JobImpl::RequestBarriers(Epoch epoch, Coordinator::Purpose purpose) {
  for (const auto& stage : tasks_) {
    for (const auto& task : stage) {
      if (task->has_source()) task->RequestBarrier(epoch, purpose != Coordinator::Purpose::kPeriodic);
    }
  }
}

void JobImpl::CheckpointCompleted(Coordinator::Purpose purpose) {
  if (purpose == Coordinator::Purpose::kStop) End(JobEnd::kStopped);
  if (purpose == Coordinator::Purpose::kFinished) End(JobEnd::kFinished);
}

void JobImpl::TaskEnded() {
  if (ended_tasks_.fetch_add(1) + 1 == task_count_) coordinator_->Trigger(Coordinator::Purpose::kFinished);
}

void JobImpl::CountSourceRows(int64_t rows) {
  const int64_t before = source_rows_.fetch_add(rows, std::memory_order_relaxed);
  if (options_.checkpoint_rows <= 0) return;
  if (before / options_.checkpoint_rows != (before + rows) / options_.checkpoint_rows) {
    coordinator_->Trigger(Coordinator::Purpose::kPeriodic);
  }
}

void JobImpl::Tick() {
  for (int tick = 1; !stopping(); ++tick) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kTick, [this] { return end_.has_value() || stopping(); });
      if (end_) return;
    }
    if (options_.checkpoint_interval && clock_.Monotonic() >= next_checkpoint_) {
      next_checkpoint_ = std::max(next_checkpoint_ + *options_.checkpoint_interval, clock_.Monotonic());
      coordinator_->Trigger(Coordinator::Purpose::kPeriodic);
    }
    Wake(tick % kTicksPerPoll == 0);
  }
}

void JobImpl::End(JobEnd end) {
  {
    const std::lock_guard lock(mutex_);
    if (!end_) end_ = end;
    stopping_ = true;
    changed_.notify_all();
  }
  scheduler_->activity().Poke();
}

void JobImpl::Fail(Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (!error_ && !end_) error_ = std::move(error);
    stopping_ = true;
    changed_.notify_all();
  }
  scheduler_->activity().Poke();
}

Result<JobEnd> JobImpl::Wait() {
  std::optional<Error> error;
  JobEnd end = JobEnd::kFinished;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return end_ || error_ || shut_down_; });
    if (end_) end = *end_;
    error = end_ ? std::nullopt : error_;
    if (!end_ && !error_) error = StateError("the job was aborted");
  }
  ShutDown();
  if (error) return *error;
  return end;
}

void JobImpl::ShutDown() {
  {
    const std::lock_guard lock(mutex_);
    if (shut_down_) return;
    shut_down_ = true;
    stopping_ = true;
    changed_.notify_all();
  }
  if (coordinator_) coordinator_->Abort();
  if (ticker_.joinable()) ticker_.join();
  if (scheduler_) {
    scheduler_->activity().Poke();
    scheduler_->Shutdown();
  }
  if (graph_.store) graph_.store->Close();
  if (io_) io_->Shutdown();
  for (const auto& stage : tasks_) {
    for (const auto& task : stage) task->Close();
  }
}

void JobImpl::Stop() {
  if (coordinator_) coordinator_->Trigger(Coordinator::Purpose::kStop);
}

void JobImpl::Abort() { ShutDown(); }

Result<CheckpointFigures> JobImpl::Checkpoint() {
  if (!started_) return StateError("the job has not been started, or had finished before");
  auto figures = coordinator_->TakeNow();
  if (figures) return figures;
  const std::lock_guard lock(mutex_);
  if (error_) return *error_;
  return figures;
}

Status JobImpl::WaitUntilIdle() {
  if (!started_) return {};
  std::unique_lock lock(mutex_);
  while (true) {
    const int64_t times_of_room = times_of_room_;
    lock.unlock();
    scheduler_->activity().WaitForZero([this] { return stopping(); });
    lock.lock();
    if (error_) return *error_;
    if (stopping() || !SourcesRest()) return {};
    // Nothing runs, but there are rows which the sources leave where they are until the store has room.
    changed_.wait(lock, [&] { return times_of_room_ != times_of_room || stopping(); });
  }
}

bool JobImpl::SourcesRest() const {
  for (const auto& stage : tasks_) {
    for (const auto& task : stage) {
      if (task->rests()) return true;
    }
  }
  return false;
}

JobFigures JobImpl::Figures() const {
  static const std::vector<std::vector<std::unique_ptr<Task>>> kNotBuilt;
  const bool built = built_;
  JobFigures figures = CollectFigures(graph_, built ? tasks_ : kNotBuilt,
                                      restored_ ? restored_->counters : std::map<std::string, int64_t>());
  if (!built) return figures;
  figures.first_output = first_output_;
  if (graph_.store) figures.tables = graph_.store->Figures();
  if (coordinator_) figures.checkpoints = coordinator_->Figures();
  return figures;
}

}  // namespace

Result<std::unique_ptr<Job>> Job::Create(JobGraph graph, JobOptions options) {
  auto job = std::make_unique<JobImpl>(std::move(graph), std::move(options));
  WEIR_TRY(job->Init());
  return std::unique_ptr<Job>(std::move(job));
}

}  // namespace weir
