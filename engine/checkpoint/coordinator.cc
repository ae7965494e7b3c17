#include "engine/checkpoint/coordinator.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <xxhash.h>

#include <algorithm>

#include "engine/base/file.h"
#include "engine/checkpoint/manifest_file.h"

namespace weir {
namespace {

double Milliseconds(Micros micros) { return static_cast<double>(micros) / 1000.0; }

// A state file that keeps the checksum and the size of what goes through it.
class ChecksummedFile final : public SnapshotWriter::File {
 public:
  explicit ChecksummedFile(WritableFile file) : file_(std::move(file)), state_(XXH3_createState()) {
    XXH3_64bits_reset(state_);
  }
  ~ChecksummedFile() override { XXH3_freeState(state_); }
  Status Append(std::string_view bytes) override {
    XXH3_64bits_update(state_, bytes.data(), bytes.size());
    bytes_ += static_cast<int64_t>(bytes.size());
    return file_.Append(bytes);
  }
  Status Sync() { return file_.Sync(); }
  int64_t bytes() const { return bytes_; }
  uint64_t checksum() const { return XXH3_64bits_digest(state_); }

 private:
  WritableFile file_;
  XXH3_state_t* state_;
  int64_t bytes_ = 0;
};

}  // namespace

Coordinator::Coordinator(StateDir* dir, Scheduler& io, const Clock& clock, int retain, Hooks hooks)
    : dir_(dir), io_(io), clock_(clock), retain_(retain), hooks_(std::move(hooks)) {}

std::string Coordinator::Folder(Epoch epoch) const { return CheckpointFolder(dir_->path(), epoch); }

std::map<std::string, int64_t> Coordinator::Sum(const std::map<std::string, int64_t>& a,
                                                const std::map<std::string, int64_t>& b) {
  std::map<std::string, int64_t> sum = a;
  for (const auto& [name, value] : b) sum[name] += value;
  return sum;
}

void Coordinator::AddTask(const TaskSnapshot& snapshot, InFlight& flight) const {
  Manifest& manifest = flight.manifest;
  manifest.counters = Sum(manifest.counters, snapshot.counters);
  for (const OperatorSnapshot& op : snapshot.operators) {
    manifest.counters = Sum(manifest.counters, op.counters);
    for (const TablePositionRef& ref : op.tables) {
      auto& buckets = manifest.tables[ref.table];
      buckets.resize(std::max(buckets.size(), static_cast<size_t>(ref.bucket) + 1));
      buckets[static_cast<size_t>(ref.bucket)] = ref.end;
    }
  }
  if (snapshot.source.empty()) return;
  manifest.sources[snapshot.source].insert(snapshot.positions.begin(), snapshot.positions.end());
  auto& watermarks = manifest.watermarks[snapshot.source];
  watermarks.insert(snapshot.watermarks.begin(), snapshot.watermarks.end());
  auto& idle = manifest.idle[snapshot.source];
  idle.insert(idle.end(), snapshot.idle.begin(), snapshot.idle.end());
}

Status Coordinator::WriteInitial(const std::vector<TaskSnapshot>& tasks) {
  if (dir_ == nullptr) return {};
  InFlight flight{Purpose::kPeriodic, {}, {}, 0, 0, 0, {}, {}};
  flight.manifest.uuid = dir_->uuid();
  for (const TaskSnapshot& task : tasks) AddTask(task, flight);
  WEIR_TRY(MakeFolder(Folder(0)));
  WEIR_TRY(WriteFileDurably(Folder(0) + "/manifest.json", EncodeManifest(flight.manifest)));
  WEIR_TRY(SyncFolder(dir_->path() + "/checkpoints"));
  return WriteFileDurably(Folder(0) + "/complete.json", EncodeFigures(flight.figures));
}

void Coordinator::Trigger(Purpose purpose) {
  const std::lock_guard lock(mutex_);
  if (aborted_ || closed_) return;
  if (flight_) {
    if (!queued_ || purpose != Purpose::kPeriodic) queued_ = purpose;
    return;
  }
  Begin(purpose);
}

void Coordinator::Begin(Purpose purpose) {
  Epoch epoch = ++last_epoch_;
  if (dir_ != nullptr) {
    const auto next = dir_->NextEpoch();
    if (!next) return hooks_.fail(next.error());
    epoch = *next;
  }
  ++begun_;
  flight_ = std::make_shared<InFlight>();
  flight_->purpose = purpose;
  flight_->manifest.epoch = epoch;
  flight_->manifest.finished = purpose == Purpose::kFinished;
  if (dir_ != nullptr) flight_->manifest.uuid = dir_->uuid();
  flight_->manifest.counters = base_counters_;
  flight_->figures.id = epoch;
  flight_->figures.trigger_time = clock_.Now();
  flight_->triggered = clock_.Monotonic();
  if (dir_ != nullptr) {
    if (const Status made = MakeFolder(Folder(epoch)); !made) return hooks_.fail(made.error());
  }
  hooks_.request_barriers(epoch, purpose);
}

void Coordinator::Acknowledge(Epoch epoch, TaskSnapshot snapshot) {
  const std::lock_guard lock(mutex_);
  if (aborted_ || !flight_) return;
  InFlight& flight = *flight_;
  WEIR_CHECK_EQ(flight.manifest.epoch, epoch);
  CheckpointFigures& figures = flight.figures;
  figures.start_delay_ms =
      std::max(figures.start_delay_ms, Milliseconds(snapshot.barrier_time - flight.triggered));
  figures.alignment_ms = std::max(figures.alignment_ms, Milliseconds(snapshot.alignment));
  figures.sync_ms = std::max(figures.sync_ms, Milliseconds(snapshot.sync));
  AddTask(snapshot, flight);
  if (snapshot.source_task != nullptr) flight.sources.emplace_back(snapshot.source_task, snapshot.positions);
  const Micros now = clock_.Monotonic();
  for (OperatorSnapshot& op : snapshot.operators) {
    if (op.state.empty() && !op.write && op.finish.empty()) {
      if (!op.commit_data.empty()) {
        flight.manifest.states.push_back({op.operator_id, op.task, op.parallelism, "", 0, 0, op.commit_data});
      }
      flight.operators.push_back(std::move(op));
      continue;
    }
    // Work without state is done side by side: sixteen logs are synced in the time of a few.
    for (auto& work : op.finish) {
      ++flight.writing;
      io_.Post([this, flight = flight_, work = std::move(work), now] { FinishWork(flight, work, now); });
    }
    op.finish.clear();
    ++flight.writing;
    auto shared = std::make_shared<OperatorSnapshot>(std::move(op));
    io_.Post([this, flight = flight_, shared, now] { Write(flight, std::move(*shared), now); });
  }
  ++flight.acknowledged;
  FinishIfReady(flight_);
}

void Coordinator::Write(std::shared_ptr<InFlight> flight, OperatorSnapshot snapshot, Micros from) {
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return;
  }
  auto state = WriteState(flight->manifest.epoch, snapshot);
  if (!state) return hooks_.fail(state.error());
  const std::lock_guard lock(mutex_);
  flight->figures.async_ms = std::max(flight->figures.async_ms, Milliseconds(clock_.Monotonic() - from));
  flight->figures.operator_state_bytes += state->bytes;
  if (!state->file.empty() || !state->commit_data.empty()) flight->manifest.states.push_back(std::move(*state));
  snapshot.write = nullptr;  // drops the view that it holds
  flight->operators.push_back(std::move(snapshot));
  --flight->writing;
  FinishIfReady(flight);
}

void Coordinator::FinishWork(const std::shared_ptr<InFlight>& flight, const std::function<Status()>& work, Micros from) {
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return;
  }
  if (const Status done = work(); !done) return hooks_.fail(done.error());
  const std::lock_guard lock(mutex_);
  flight->figures.async_ms = std::max(flight->figures.async_ms, Milliseconds(clock_.Monotonic() - from));
  --flight->writing;
  FinishIfReady(flight);
}

Result<OperatorStateRef> Coordinator::WriteState(Epoch epoch, const OperatorSnapshot& snapshot) const {
  OperatorStateRef ref{snapshot.operator_id, snapshot.task, snapshot.parallelism, "", 0, 0, snapshot.commit_data};
  if (dir_ == nullptr || (snapshot.state.empty() && !snapshot.write)) return ref;
  ref.file = fmt::format("{}-{}.state", snapshot.operator_id, snapshot.task);
  std::replace(ref.file.begin(), ref.file.end(), '/', '_');
  WEIR_ASSIGN(WritableFile created, WritableFile::Create(Folder(epoch) + "/" + ref.file));
  ChecksummedFile file(std::move(created));
  WEIR_TRY(file.Append(snapshot.state));
  if (snapshot.write) WEIR_TRY(snapshot.write(file));
  WEIR_TRY(file.Sync());
  ref.bytes = file.bytes();
  ref.checksum = file.checksum();
  return ref;
}

void Coordinator::FinishIfReady(const std::shared_ptr<InFlight>& flight) {
  if (flight->acknowledged < tasks_ || flight->writing > 0 || aborted_) return;
  io_.Post([this, flight] { Finish(flight); });
}

Status Coordinator::Publish(InFlight& flight) {
  CheckpointFigures& figures = flight.figures;
  const Epoch epoch = flight.manifest.epoch;
  std::sort(flight.manifest.states.begin(), flight.manifest.states.end(), [](const auto& a, const auto& b) {
    return std::tie(a.operator_id, a.task) < std::tie(b.operator_id, b.task);
  });
  figures.incremental_bytes = figures.operator_state_bytes;
  if (store_ != nullptr) {
    WEIR_ASSIGN(const Store::StateBytes kept, store_->Prepare(epoch));
    figures.operator_state_bytes += kept.full;
    figures.incremental_bytes += kept.incremental;
  }
  const std::string text = EncodeManifest(flight.manifest);
  figures.manifest_bytes = static_cast<int64_t>(text.size());
  figures.full_bytes = figures.manifest_bytes + figures.operator_state_bytes;
  figures.incremental_bytes += figures.manifest_bytes;
  if (dir_ != nullptr) {
    WEIR_TRY(WriteFileDurably(Folder(epoch) + "/manifest.json", text));
    WEIR_TRY(SyncFolder(dir_->path() + "/checkpoints"));
  }
  figures.end_to_end_ms = Milliseconds(clock_.Monotonic() - flight.triggered);
  for (const OperatorSnapshot& op : flight.operators) WEIR_TRY(op.target->OnCommit(epoch, op.commit_data));
  for (const auto& [source, positions] : flight.sources) WEIR_TRY(source->OnCommit(epoch, positions));
  if (dir_ == nullptr) return {};
  WEIR_TRY(WriteFileDurably(Folder(epoch) + "/complete.json", EncodeFigures(figures)));
  WEIR_ASSIGN(const Epoch oldest, dir_->DropOld(epoch, retain_));
  return store_ == nullptr ? Status{} : store_->OnComplete(flight.manifest, oldest);
}

void Coordinator::Finish(const std::shared_ptr<InFlight>& flight) {
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return;
  }
  if (const Status published = Publish(*flight); !published) return hooks_.fail(published.error());
  spdlog::debug("checkpoint {} complete: {} bytes in {:.1f} ms", flight->figures.id, flight->figures.full_bytes,
                flight->figures.end_to_end_ms);
  {
    const std::lock_guard lock(mutex_);
    figures_.push_back(flight->figures);
    ended_ = begun_;
    flight_.reset();
    closed_ = flight->purpose != Purpose::kPeriodic;
    if (queued_ && !aborted_ && !closed_) {
      const Purpose next = *queued_;
      queued_.reset();
      Begin(next);
    }
    changed_.notify_all();
  }
  hooks_.completed(flight->purpose);
}

Result<CheckpointFigures> Coordinator::TakeNow() {
  std::unique_lock lock(mutex_);
  const uint64_t wanted = begun_ + 1;
  if (flight_) {
    if (!queued_) queued_ = Purpose::kPeriodic;
  } else if (!aborted_ && !closed_) {
    Begin(Purpose::kPeriodic);
  }
  changed_.wait(lock, [&] { return aborted_ || closed_ || ended_ >= wanted; });
  if (ended_ < wanted) return StateError("the job ended before the checkpoint was complete");
  return figures_.back();
}

void Coordinator::Abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  changed_.notify_all();
}

std::vector<CheckpointFigures> Coordinator::Figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

bool Coordinator::in_flight() const {
  const std::lock_guard lock(mutex_);
  return flight_ != nullptr;
}

}  // namespace weir
