#include "tables/epoch_changes.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "engine/data/row_codec.h"
#include "tables/base/table_base.h"
#include "tables/table.h"
#include "tables/table_set.h"

namespace weir {
namespace {

constexpr size_t kNumberRoom = 10;          // bytes of a varint, at most
constexpr int64_t kMostBytes = 16 << 20;    // of a run: a barrier may come at any time and has to write as much
// While it is not known how long the epoch is, the rest is kept below this part of it.
constexpr int64_t kPartOfUnknown = 8;

void PutBytes(std::string& out, std::string_view bytes) {
  char number[kNumberRoom];
  out.append(number, static_cast<size_t>(PutVarint(number, bytes.size()) - number));
  out.append(bytes);
}

std::string_view GetBytes(const char*& at) {
  uint64_t size = 0;
  at = GetVarint(at, size);
  const std::string_view bytes(at, size);
  at += size;
  return bytes;
}

Status AddChanges(Fold& fold, int bucket, std::string& bytes) {
  bytes.append(kRowSlack + kNumberRoom, '\0');
  const char* at = bytes.data();
  const char* const end = at + bytes.size() - kRowSlack - kNumberRoom;
  while (at < end) {
    LogEntry entry;
    entry.remove = *at++ != 0;
    entry.group = GetBytes(at);
    entry.unique = GetBytes(at);
    entry.rest = GetBytes(at);
    WEIR_TRY(fold.Add(bucket, entry));
  }
  bytes = {};
  return {};
}

}  // namespace

// The runs of one epoch; shared with the I/O pool.
struct EpochChanges::Runs {
  Runs(TableBase& table_base, bool first) : base(table_base), first_epoch(first) {}

  TableBase& base;
  // Else the base may only be about to hold the rows that a removal is about.
  const bool first_epoch;
  std::atomic<bool> busy{false};  // a run is waiting or being written

  std::mutex mutex;  // held while a run is written; guards what follows
  Changes waiting;
  std::vector<std::unique_ptr<Fold>> closed;
  Status status;

  // With the lock held.
  Result<std::unique_ptr<Fold>> Write(Changes changes) {
    auto run = std::make_unique<Fold>(base, first_epoch && closed.empty());
    for (auto& [bucket, bytes] : changes) WEIR_TRY(AddChanges(*run, bucket, bytes));
    return run;
  }
  // With the lock held.  The run may have been written already: whoever comes first does it.
  Status WriteWaiting() {
    if (waiting.empty()) return {};
    WEIR_ASSIGN(std::unique_ptr<Fold> run, Write(std::exchange(waiting, {})));
    WEIR_TRY(run->Close());
    closed.push_back(std::move(run));
    return {};
  }
  void WriteInBackground() {
    const std::lock_guard lock(mutex);
    if (status) status = WriteWaiting();
    busy.store(false, std::memory_order_release);
  }
  Status WriteAll(Table& table, Changes rest) {
    const std::lock_guard lock(mutex);
    WEIR_TRY(status);
    WEIR_TRY(WriteWaiting());
    WEIR_ASSIGN(const std::unique_ptr<Fold> last, Write(std::move(rest)));
    return table.Ingest(*last, closed);
  }
};

EpochChanges::EpochChanges(Table* table, const std::vector<int>& buckets, int64_t least_bytes)
    : table_(table),
      least_bytes_(least_bytes),
      buckets_(buckets),
      changes_(static_cast<size_t>(buckets.empty() ? 0 : buckets.back() + 1)),
      runs_(std::make_shared<Runs>(table->base(), /*first=*/true)) {
  SetGoal();
}

void EpochChanges::Keep(int bucket, const LogEntry& entry) {
  std::string& out = changes_[static_cast<size_t>(bucket)];
  const size_t before = out.size();
  out += entry.remove ? '\1' : '\0';
  PutBytes(out, entry.group);
  PutBytes(out, entry.unique);
  PutBytes(out, entry.rest);
  bytes_ += static_cast<int64_t>(out.size() - before);
  if (bytes_ >= goal_ && !runs_->busy.load(std::memory_order_acquire)) StartRun();
}

void EpochChanges::SetGoal() {
  const int64_t ahead = expected_ - in_runs_;
  const int64_t goal = ahead > 0 ? ahead / 2 : in_runs_ / kPartOfUnknown;
  goal_ = std::max(least_bytes_, std::min(goal, kMostBytes));
}

EpochChanges::Changes EpochChanges::TakeChanges() {
  Changes taken;
  for (const int bucket : buckets_) {
    std::string& changes = changes_[static_cast<size_t>(bucket)];
    if (!changes.empty()) taken.emplace_back(bucket, std::exchange(changes, {}));
  }
  in_runs_ += std::exchange(bytes_, 0);
  return taken;
}

void EpochChanges::StartRun() {
  {
    const std::lock_guard lock(runs_->mutex);
    runs_->waiting = TakeChanges();
  }
  SetGoal();
  runs_->busy.store(true, std::memory_order_release);
  table_->set().PostRead([runs = runs_] { runs->WriteInBackground(); });
}

std::function<Status()> EpochChanges::TakeEpoch() {
  auto rest = std::make_shared<Changes>(TakeChanges());
  expected_ = std::exchange(in_runs_, 0);
  SetGoal();
  if (expected_ == 0) return nullptr;
  const auto runs = std::exchange(runs_, std::make_shared<Runs>(table_->base(), /*first=*/false));
  return [table = table_, runs, rest] {
    return table->set().WhileOpen([&] { return runs->WriteAll(*table, std::move(*rest)); });
  };
}

}  // namespace weir
