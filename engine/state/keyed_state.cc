#include "engine/state/keyed_state.h"

#include <algorithm>

#include "engine/base/quantity.h"
#include "engine/data/hash.h"

namespace weir {
KeyedState::KeyedState(std::string kind, std::vector<Part> parts, bool counted, StateOptions options)
    : kind_(std::move(kind)), parts_(std::move(parts)), counted_(counted), options_(std::move(options)) {
  WEIR_CHECK_LE(parts_.size(), kMaxParts);
}

Status KeyedState::Open(const OperatorContext& context) {
  name_ = context.operator_id;
  task_ = context.task;
  parallelism_ = context.parallelism;
  clock_ = context.clock;
  return {};
}

Status KeyedState::BeginBatch(int64_t other_bytes, int64_t batch_bytes) {
  arena_.Thaw();
  if (!arena_.frozen()) count_log_ = nullptr;
  if (has_ttl() && clock_ != nullptr) {
    now_tick_ = static_cast<uint16_t>(clock_->Now() / std::max<Micros>(1, options_.ttl / kTicksToLive));
  }
  counters_[0].bytes.store(other_bytes, std::memory_order_relaxed);
  const int64_t bytes = arena_.live_bytes() + other_bytes;
  if (options_.max_bytes > 0 && bytes > options_.max_bytes) {
    return StateError("the state of operator " + name_ + " (task " + std::to_string(task_) + ") is " +
                      FormatSize(bytes) + ", more than its limit of " + FormatSize(options_.max_bytes) +
                      ": raise the limit, set a time to live, or use tables");
  }
  if (arena_.RoomLeft() < 2 * batch_bytes + (int64_t{64} << 20)) {
    return StateError("the state of operator " + name_ + " (task " + std::to_string(task_) + ") has reached " +
                      FormatSize(RecordArena::kMaxBytes) +
                      ", the most that the memory backend holds in one task: " + "raise the parallelism");
  }
  return {};
}

Ref KeyedState::Writable(Ref ref) {
  if (!arena_.InView(ref)) return ref;
  const Record* from = arena_.At(ref);
  const Ref copy = Allocate(from->part, from->size);
  Record* to = arena_.At(copy);
  to->next = from->next;
  to->count = from->count;
  to->flags = from->flags;
  to->tick = from->tick;
  std::copy_n(from->payload(), from->size, to->payload());
  Free(ref);
  return copy;
}

void KeyedState::SetCount(Ref ref, uint32_t count) {
  Record* record = arena_.At(ref);
  if (record->count == count) return;
  if (arena_.InView(ref) && count_log_ != nullptr) {
    const std::lock_guard lock(count_log_->mutex);
    count_log_->entries.emplace_back(ref, record->count);
  }
  // The writer of a snapshot may read it at the same time; the log entry, made before, is what counts for it.
  std::atomic_ref<uint32_t>(record->count).store(count, std::memory_order_relaxed);
}

void KeyedState::Snapshot(SnapshotWriter& writer) {
  arena_.Thaw();
  std::shared_ptr<ArenaView> view = arena_.Freeze();
  if (counted_) count_log_ = std::make_shared<CountLog>();
  std::vector<bool> saved(1, false);
  for (const Part& part : parts_) saved.push_back(part.saved);
  SnapshotHeader header{kind_, task_, parallelism_};
  // The view is finished when the function has run or was dropped unrun.
  struct Finisher {
    explicit Finisher(std::shared_ptr<ArenaView> of) : view(std::move(of)) {}
    Finisher(const Finisher&) = delete;
    ~Finisher() { view->Finish(); }
    std::shared_ptr<ArenaView> view;
  };
  auto finisher = std::make_shared<Finisher>(std::move(view));
  writer.WriteLater(
      [finisher, log = count_log_, saved = std::move(saved), header = std::move(header)](SnapshotWriter::File& file) {
        Status status = Write(*finisher->view, log.get(), saved, header, file);
        finisher->view->Finish();
        return status;
      });
}

Status KeyedState::Write(const ArenaView& view, CountLog* log, const std::vector<bool>& saved,
                         const SnapshotHeader& header, SnapshotWriter::File& file) {
  const bool counted = log != nullptr;
  SnapshotFileWriter out(file, counted);
  WEIR_TRY(out.Begin(header));
  Status status;
  view.ForEach([&](Ref, const Record& record) {
    if (!saved[record.part] || !status) return;
    uint32_t count = 0;
    if (counted) count = std::atomic_ref(const_cast<uint32_t&>(record.count)).load(std::memory_order_relaxed);
    status = out.Add(record.part, count, record.bytes());
  });
  WEIR_TRY(status);
  if (counted) {
    std::vector<std::pair<Ref, uint32_t>> entries;
    {
      const std::lock_guard lock(log->mutex);
      entries.swap(log->entries);
    }
    // The first change of a record has its count at the barrier.
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    size_t next = 0;
    uint64_t number = 0;
    if (!entries.empty()) {
      view.ForEach([&](Ref ref, const Record& record) {
        if (!saved[record.part] || !status) return;
        while (next < entries.size() && entries[next].first < ref) ++next;
        if (next < entries.size() && entries[next].first == ref) {
          status = out.AddCorrection(number, entries[next].second);
        }
        ++number;
      });
    }
    WEIR_TRY(status);
  }
  return out.End();
}

Status KeyedState::Restore(
    const SnapshotReader& reader,
    const std::function<Status(const SnapshotReader::Part&, const SnapshotRecord&, bool filter)>& take) {
  // The key groups of task t of p are those with TaskOf(group, p) == t: the range [first, end).
  const auto first = [](int task, int parallelism) { return (task * kKeyGroups + parallelism - 1) / parallelism; };
  const int from = first(task_, parallelism_);
  const int end = first(task_ + 1, parallelism_);
  for (const SnapshotReader::Part& part : reader.parts()) {
    if (part.path.empty()) continue;
    const int part_from = first(part.task, part.parallelism);
    const int part_end = first(part.task + 1, part.parallelism);
    if (part_end <= from || end <= part_from) continue;
    WEIR_ASSIGN(const std::string content, reader.Read(part));
    SnapshotFileReader file(content, part.path, counted_);
    WEIR_ASSIGN(const SnapshotHeader header, file.ReadHeader());
    if (header.kind != kind_) {
      return StateError("the state file was written by operator kind \"" + header.kind + "\", not \"" + kind_ + "\"",
                        part.path);
    }
    const bool filter = part_from < from || end < part_end;
    WEIR_TRY(file.ForEach([&](const SnapshotRecord& record) {
      if (record.part == 0 || record.part > parts_.size()) {
        return Status(StateError("the state file is damaged (unknown part)", part.path));
      }
      return take(part, record, filter);
    }));
    if (after_file) WEIR_TRY(after_file(part));
  }
  return {};
}

std::vector<StateSize> KeyedState::Sizes() const {
  std::vector<StateSize> sizes;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Counter& counter = counters_[i + 1];
    sizes.push_back(
        {parts_[i].name, counter.rows.load(std::memory_order_relaxed), counter.bytes.load(std::memory_order_relaxed)});
  }
  sizes.push_back({"index", 0, counters_[0].bytes.load(std::memory_order_relaxed)});
  return sizes;
}

}  // namespace weir
