#include "tables/row_groups.h"

#include <algorithm>
#include <cstring>

#include "engine/data/bucket.h"
#include "engine/data/hash.h"
#include "tables/table_set.h"

namespace weir {
namespace {

constexpr size_t kSweepSlots = 2 << 10;         // index slots that are looked at in one go
constexpr size_t kBatchSweeps = 8;              // between two batches, at most
constexpr size_t kBarrierSweeps = 128;
constexpr int64_t kLeastRelief = 64 << 10;      // bytes that are freed between two batches, if there are
constexpr size_t kGroupsPerPart = 512;    // groups of one job on the I/O pool, at least
constexpr size_t kMaxParts = 4;
constexpr size_t kRedoSlotDistance = 24;
constexpr size_t kRedoRecordDistance = 12;

}  // namespace

// Groups to be read, and what was read of them; shared with the I/O pool.
struct RowGroups::Load {
  struct Row {
    uint32_t group = 0;  // in Part::groups
    uint32_t unique = 0;
    uint32_t rest = 0;
  };
  struct Part {
    size_t side = 0;
    std::vector<Ref> refs;
    std::vector<GroupKey> groups;
    std::vector<Row> rows;
    std::string bytes;
    Status status;
  };
  std::vector<Part> parts;
  std::atomic<size_t> left{0};
};

RowGroups::RowGroups(KeyedState* state, KeyIndex* index, uint8_t group_part, std::vector<Side> sides, bool counted)
    : state_(state), index_(index), group_part_(group_part), counted_(counted), sides_(std::move(sides)) {}

RowGroups::~RowGroups() {
  if (!sides_.empty() && reported_ != 0) sides_.front().table->set().AddUsage(-reported_);
}

Status RowGroups::Open(const OperatorContext& context) {
  wake_ = context.wake;
  // A bucket of a state table is a key group: its changes come over a hash exchange.
  const Table& table = *sides_.front().table;
  for (int bucket = 0; bucket < table.buckets(); ++bucket) {
    const int task = table.logged() ? TaskOfBucket(bucket, context.parallelism) : TaskOf(bucket, context.parallelism);
    if (task == context.task) buckets_.push_back(bucket);
  }
  for (const Side& side : sides_) {
    WEIR_TRY(side.table->OpenBuckets(buckets_));
    epoch_ = std::max(epoch_, static_cast<uint32_t>(side.table->restored() + 1));
  }
  known_bits_ = LoadedBits();
  most_filter_bytes_ = table.set().filter_bytes() / context.parallelism;
  return {};
}

std::string_view RowGroups::UniqueOf(const Side& side, Ref ref) const {
  const Record& record = *state_->At(ref);
  return {record.payload(), side.unique_size == nullptr ? record.size : side.unique_size(side.owner, record)};
}

// Where equal rows are kept apart by a number behind them, the list finds one of them; only the exact one counts.
Ref RowGroups::FindExact(const Side& side, const ListHead& list, std::string_view unique) const {
  if (side.unique_size != nullptr) return side.lists->Find(list, unique);
  if (list.is_long()) {
    for (const Ref ref : side.lists->Long(list)) {
      if (state_->At(ref)->bytes() == unique) return ref;
    }
    return 0;
  }
  for (Ref ref = list.head; ref != 0; ref = state_->At(ref)->next) {
    if (state_->At(ref)->bytes() == unique) return ref;
  }
  return 0;
}

// Sides that need no reading: their tables have no base.
uint8_t RowGroups::LoadedBits() const {
  uint8_t bits = 0;
  for (size_t side = 0; side < sides_.size(); ++side) {
    if (!sides_[side].table->has_base()) bits |= static_cast<uint8_t>(kLoaded0 << side);
  }
  return bits;
}

// Sides of a group that is not in memory of which no rows are in the base.
uint8_t RowGroups::WholeBits(std::string_view key) const {
  const bool known = known_bits_ != 0 && (left_.empty() || !left_.MayContain(HashBytes(key)));
  return static_cast<uint8_t>(whole_bits_ | (known ? known_bits_ : 0));
}

void RowGroups::NoteLeft(std::string_view key) {
  if (known_bits_ == 0) return;
  left_.Add(HashBytes(key));
  if (left_.bytes() <= most_filter_bytes_) return;
  // From here on the filters of the base's files answer, as after a restart.
  left_.Clear();
  known_bits_ = 0;
}

Ref RowGroups::FindOrAdd(uint64_t hash, std::string_view key) {
  Ref ref = index_->Find(hash, key);
  if (ref != 0) return ref;
  ref = state_->Allocate(group_part_, sizeof(RowGroup) + key.size());
  Record* record = state_->At(ref);
  record->count = static_cast<uint32_t>(key.size());
  record->flags = static_cast<uint8_t>(WholeBits(key) | kRecent);
  new (record->payload()) RowGroup();
  std::memcpy(record->payload() + sizeof(RowGroup), key.data(), key.size());
  index_->Insert(hash, ref);
  return ref;
}

void RowGroups::AddRow(size_t side, RowGroup& group, std::string_view unique, std::string_view rest, uint8_t flags) {
  const Ref ref = state_->Allocate(sides_[side].part, unique.size() + rest.size());
  Record* record = state_->At(ref);
  record->flags = flags;
  record->count = 0;
  std::copy(unique.begin(), unique.end(), record->payload());
  std::copy(rest.begin(), rest.end(), record->payload() + unique.size());
  sides_[side].lists->Insert(group.lists[side], ref);
}

// --- restore

Status RowGroups::Restore() {
  whole_bits_ = LoadedBits();
  for (size_t side = 0; side < sides_.size(); ++side) {
    for (const int bucket : buckets_) {
      WEIR_TRY(sides_[side].table->Redo(bucket, [&](std::span<const LogEntry> entries) -> Status {
        RedoEntries(side, entries);
        return {};
      }));
    }
  }
  redo_hashes_ = {};
  ReportUsage();
  return {};
}

// What a key's rows need of the index and the arena is far apart in memory: it is asked for some entries ahead.
void RowGroups::RedoEntries(size_t side, std::span<const LogEntry> entries) {
  const size_t count = entries.size();
  redo_hashes_.resize(count);
  for (size_t i = 0; i < count; ++i) redo_hashes_[i] = HashBytes(entries[i].group);
  for (size_t i = 0; i < count; ++i) {
    if (i + kRedoSlotDistance < count) index_->PrefetchSlot(redo_hashes_[i + kRedoSlotDistance]);
    if (i + kRedoRecordDistance < count) index_->PrefetchRecord(redo_hashes_[i + kRedoRecordDistance]);
    RedoEntry(side, entries[i], redo_hashes_[i]);
  }
}

void RowGroups::RedoEntry(size_t side_index, const LogEntry& entry, uint64_t hash) {
  const Side& side = sides_[side_index];
  const Ref ref = FindOrAdd(hash, entry.group);
  Record* record = state_->At(ref);
  record->flags |= kRedone | kUncounted;
  RowGroup& group = Group(ref);
  group.written = static_cast<uint32_t>(side.table->restored());
  ListHead& list = group.lists[side_index];
  const Ref known = FindExact(side, list, entry.unique);
  if (known != 0) {
    side.lists->RemoveRecord(list, known);
    state_->Free(known);
  }
  const bool whole = (record->flags & (kLoaded0 << side_index)) != 0;
  if (!entry.remove) {
    AddRow(side_index, group, entry.unique, entry.rest, 0);
  } else if (!whole) {
    AddRow(side_index, group, entry.unique, {}, kTombstone);
  }
}

// --- before a batch

Result<bool> RowGroups::Prepare(std::span<const uint64_t> hashes, const EncodedRows& keys,
                                std::span<const uint16_t> buckets) {
  if (load_) {
    if (load_->left.load(std::memory_order_acquire) > 0) return false;
    WEIR_TRY(FinishLoad());
    return true;
  }
  const uint8_t all = AllBits();
  whole_bits_ = LoadedBits();
  const bool all_whole = whole_bits_ == all || (known_bits_ == all && left_.empty());
  if (all_whole && !counted_ && !sides_.front().table->set().wants_eviction()) return true;
  for (size_t row = 0; row < hashes.size(); ++row) {
    const Ref ref = FindOrAdd(hashes[row], keys.row(row));
    Record* record = state_->At(ref);
    record->flags |= kRecent;
    const uint8_t missing = static_cast<uint8_t>(all & ~record->flags);
    if (missing == 0) NoteUncounted(ref);
    if (missing == 0 || (record->flags & kRequested) != 0) continue;
    record->flags |= kRequested;
    if (!load_) load_ = std::make_shared<Load>();
    if (load_->parts.empty()) load_->parts.resize(sides_.size());
    for (size_t side = 0; side < sides_.size(); ++side) {
      if ((missing & (kLoaded0 << side)) == 0) continue;
      load_->parts[side].refs.push_back(ref);
      load_->parts[side].groups.push_back({buckets[row], index_->KeyOf(*record)});
      ++misses_[side];
    }
  }
  if (!load_) return true;
  StartLoad();
  return false;
}

void RowGroups::NoteUncounted(Ref ref) {
  Record* record = state_->At(ref);
  if (!counted_ || (record->flags & kUncounted) == 0) return;
  record->flags &= static_cast<uint8_t>(~kUncounted);
  uncounted_.push_back(ref);
}

// Cuts what is to be read into parts that are read side by side.
void RowGroups::StartLoad() {
  std::vector<Load::Part> parts;
  for (size_t side = 0; side < load_->parts.size(); ++side) {
    Load::Part& whole = load_->parts[side];
    const size_t count = whole.refs.size();
    const size_t cuts = std::clamp<size_t>(count / kGroupsPerPart, count > 0 ? 1 : 0, kMaxParts);
    for (size_t i = 0; i < cuts; ++i) {
      const auto from = static_cast<std::ptrdiff_t>(count * i / cuts);
      const auto to = static_cast<std::ptrdiff_t>(count * (i + 1) / cuts);
      Load::Part& part = parts.emplace_back();
      part.side = side;
      part.refs.assign(whole.refs.begin() + from, whole.refs.begin() + to);
      part.groups.assign(whole.groups.begin() + from, whole.groups.begin() + to);
    }
  }
  load_->parts = std::move(parts);
  load_->left = load_->parts.size();
  for (size_t i = 0; i < load_->parts.size(); ++i) {
    const std::shared_ptr<Table> table = sides_[load_->parts[i].side].table;
    table->set().PostRead([load = load_, i, table, wake = wake_] {
      Load::Part& part = load->parts[i];
      part.status = table->base().Scan(part.groups, [&](size_t group, std::string_view unique, std::string_view rest) {
        part.rows.push_back({static_cast<uint32_t>(group), static_cast<uint32_t>(unique.size()),
                             static_cast<uint32_t>(rest.size())});
        part.bytes.append(unique);
        part.bytes.append(rest);
      });
      if (load->left.fetch_sub(1, std::memory_order_acq_rel) == 1) wake();
    });
  }
}

Status RowGroups::FinishLoad() {
  const std::shared_ptr<Load> load = std::move(load_);
  load_ = nullptr;
  for (const Load::Part& part : load->parts) {
    WEIR_TRY(part.status);
    const Side& side = sides_[part.side];
    const char* at = part.bytes.data();
    for (const Load::Row& row : part.rows) {
      const Ref ref = part.refs[row.group];
      RowGroup& group = Group(ref);
      const std::string_view unique(at, row.unique);
      const std::string_view rest(at + row.unique, row.rest);
      at += row.unique + row.rest;
      // What has changed since the fold stands for what the base says.
      const bool newer = (state_->At(ref)->flags & kRedone) != 0 && FindExact(side, group.lists[part.side], unique) != 0;
      if (!newer) AddRow(part.side, group, unique, rest, 0);
    }
  }
  for (const Load::Part& part : load->parts) {
    const Side& side = sides_[part.side];
    for (const Ref ref : part.refs) {
      Record* record = state_->At(ref);
      if ((record->flags & kRedone) != 0) {
        side.lists->RemoveIf(Group(ref).lists[part.side], [&](Ref row) {
          if ((state_->At(row)->flags & kTombstone) == 0) return false;
          state_->Free(row);
          return true;
        });
      }
      record->flags |= static_cast<uint8_t>((kLoaded0 << part.side) | kUncounted);
      record->flags &= static_cast<uint8_t>(~kRequested);
    }
  }
  for (const Load::Part& part : load->parts) {
    for (const Ref ref : part.refs) NoteUncounted(ref);
  }
  return {};
}

// --- changes

Status RowGroups::Changed(size_t side_index, int bucket, Ref group_ref, Ref removed, Ref added) {
  const Side& side = sides_[side_index];
  Record* record = state_->At(group_ref);
  RowGroup& group = Group(group_ref);
  group.written = epoch_;
  rows_[side_index] += (added != 0 ? 1 : 0) - (removed != 0 ? 1 : 0);
  LogEntry entry;
  entry.group = index_->KeyOf(*record);
  if (removed != 0) {
    entry.unique = UniqueOf(side, removed);
    entry.remove = true;
    if (added == 0 || entry.unique != UniqueOf(side, added)) WEIR_TRY(side.table->Append(bucket, entry));
  }
  if (added == 0) return {};
  entry.remove = false;
  entry.unique = UniqueOf(side, added);
  entry.rest = state_->At(added)->bytes().substr(entry.unique.size());
  return side.table->Append(bucket, entry);
}

// --- memory

Epoch RowGroups::Folded() const {
  Epoch folded = sides_.front().table->folded();
  for (const Side& side : sides_) folded = std::min(folded, side.table->folded());
  return folded;
}

void RowGroups::FreeRows(RowGroup& group) {
  for (size_t side = 0; side < sides_.size(); ++side) {
    sides_[side].lists->RemoveIf(group.lists[side], [&](Ref row) {
      state_->Free(row);
      return true;
    });
  }
}

// Looks at some groups; those that were used lately lose the mark, those without a mark go.
void RowGroups::Sweep(Epoch folded) {
  index_->Sweep(sweep_position_, kSweepSlots, [&](Ref ref) {
    Record* record = state_->At(ref);
    RowGroup& group = Group(ref);
    if (group.written > folded) return false;
    if ((record->flags & kRecent) != 0) {
      record->flags &= static_cast<uint8_t>(~kRecent);
      return false;
    }
    NoteLeft(index_->KeyOf(*record));
    FreeRows(group);
    state_->Free(ref);
    return true;
  });
  ReportUsage();
}

// A batch frees twice what it has brought, and a barrier a part of the bound: the flow never waits long for it.  Where
// that has not helped, the barrier looks at everything.
void RowGroups::Relieve(bool barrier) {
  TableSet& set = sides_.front().table->set();
  const int64_t before = reported_;
  ReportUsage();
  const int64_t enough = barrier ? set.barrier_relief() : kLeastRelief + 2 * std::max<int64_t>(0, reported_ - before);
  for (size_t side = 0; side < sides_.size(); ++side) {
    sides_[side].table->Count(rows_[side] - counted_rows_[side], lookups_[side], std::max<int64_t>(0, lookups_[side] - misses_[side]));
    counted_rows_[side] = rows_[side];
    lookups_[side] = misses_[side] = 0;
  }
  if (!set.wants_eviction()) return;
  const Epoch folded = Folded();
  if (folded == 0) return;
  // Twice around is enough until more has been folded: the first look takes a mark away, the second the group.
  if (barrier || folded != swept_for_) {
    swept_for_ = folded;
    sweeps_left_ = 1 + 2 * (2 * index_->size() + kKeyGroups) / kSweepSlots;
  }
  size_t sweeps = !barrier ? kBatchSweeps : set.pressing() ? sweeps_left_ : kBarrierSweeps;
  const int64_t until = set.pressing() ? 0 : reported_ - enough;
  while (sweeps > 0 && sweeps_left_ > 0 && reported_ > until && set.above_target()) {
    --sweeps;
    --sweeps_left_;
    Sweep(folded);
  }
}

void RowGroups::ReportUsage() {
  int64_t bytes = state_->arena().live_bytes() + index_->bytes() + left_.bytes();
  for (const Side& side : sides_) bytes += side.lists->bytes();
  sides_.front().table->set().AddUsage(bytes - reported_);
  reported_ = bytes;
}

Status RowGroups::Snapshot(SnapshotWriter& writer) {
  for (size_t side = 0; side < sides_.size(); ++side) {
    WEIR_TRY(sides_[side].table->Snapshot(buckets_, rows_[side], writer));
  }
  WEIR_CHECK_LE(writer.epoch(), UINT32_MAX - 1);
  epoch_ = static_cast<uint32_t>(writer.epoch() + 1);
  sequence_ = 0;
  return {};
}

}  // namespace weir
