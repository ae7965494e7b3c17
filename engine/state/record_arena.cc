#include "engine/state/record_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace weir {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kThawStep = 16384;  // records given back in one call: well below a millisecond

}  // namespace

void ArenaStorage::Free::operator()(char* chunk) const { std::free(chunk); }

char* ArenaStorage::Add(size_t bytes) {
  // Random reads over hundreds of megabytes miss the TLB on small pages more than they miss the cache.  The slack is on a
  // page of its own that is touched only by a reader that runs over the end.
  const size_t rounded = (bytes + RecordArena::kSlack + kHugePage - 1) / kHugePage * kHugePage;
  auto* chunk = static_cast<char*>(std::aligned_alloc(kHugePage, rounded));
  WEIR_CHECK(chunk != nullptr);
  if (!blocks_.empty()) madvise(chunk, bytes, MADV_HUGEPAGE);  // small state stays small: not for the first chunk
  blocks_.emplace_back(chunk);
  return chunk;
}

RecordArena::RecordArena() : storage_(std::make_shared<ArenaStorage>()), free_(kClasses, 0) {}

size_t RecordArena::Units(size_t payload) {
  const size_t units = (sizeof(Record) + payload + kUnit - 1) / kUnit;
  if (units <= kExactUnits) return units;
  // Eight classes between two powers of two.
  const size_t step = std::bit_floor(units) / 8;
  return (units + step - 1) / step * step;
}

size_t RecordArena::ClassOf(size_t units) {
  if (units <= kExactUnits) return units;
  const auto log = static_cast<size_t>(std::bit_width(units) - 1);
  return kExactUnits + 1 + (log - 7) * 8 + (units >> (log - 3)) - 8;
}

void RecordArena::AddChunk(size_t ranges) {
  char* memory = storage_->Add(ranges * kChunkUnits * kUnit);
  WEIR_CHECK_LE(static_cast<int64_t>((chunks_.size() + ranges) * kChunkUnits * kUnit), kMaxBytes);
  for (size_t i = 0; i < ranges; ++i) {
    chunks_.push_back(memory + i * kChunkUnits * kUnit);
    used_.push_back(0);
  }
}

Ref RecordArena::Bump(size_t units) {
  if (chunks_.empty()) {
    AddChunk(1);
    used_.back() = 1;  // reference 0 means none
  }
  if (units > kChunkUnits) {
    // One piece of memory under several ranges of references; an ordinary chunk follows.
    const size_t at = chunks_.size();
    AddChunk((units + kChunkUnits - 1) / kChunkUnits);
    used_[at] = static_cast<uint32_t>(units);
    AddChunk(1);
    return static_cast<Ref>(at << kChunkShift);
  }
  if (used_.back() + units > kChunkUnits) AddChunk(1);
  const size_t at = used_.back();
  used_.back() += static_cast<uint32_t>(units);
  return static_cast<Ref>(((chunks_.size() - 1) << kChunkShift) + at);
}

Ref RecordArena::Allocate(uint8_t part, size_t size) {
  const size_t units = Units(size);
  live_bytes_ += static_cast<int64_t>(units * kUnit);
  Ref& head = free_[ClassOf(units)];
  Ref ref = 0;
  if (head != 0 && view_ == nullptr) {
    ref = head;
    head = At(ref)->next;
  } else {
    ref = Bump(units);
  }
  Record* record = At(ref);
  *record = Record{};
  record->size = static_cast<uint32_t>(size);
  record->part = part;
  return ref;
}

void RecordArena::Free(Ref ref) {
  live_bytes_ -= static_cast<int64_t>(Units(At(ref)->size) * kUnit);
  if (view_ != nullptr || !waiting_.empty()) {
    waiting_.push_back(ref);
  } else {
    Release(ref);
  }
}

void RecordArena::Release(Ref ref) {
  Record* record = At(ref);
  WEIR_CHECK(record->part != 0);
  record->part = 0;
  Ref& head = free_[ClassOf(Units(record->size))];
  record->next = head;
  head = ref;
}

std::shared_ptr<ArenaView> RecordArena::Freeze() {
  WEIR_CHECK(view_ == nullptr);
  for (const Ref ref : waiting_) Release(ref);
  waiting_.clear();
  auto view = std::make_shared<ArenaView>();
  view->storage_ = storage_;
  view->chunks_ = chunks_;
  view->used_ = used_;
  view_ = view;
  view_end_ = chunks_.empty() ? 0 : static_cast<Ref>(((chunks_.size() - 1) << kChunkShift) + used_.back());
  return view;
}

void RecordArena::Thaw() {
  if (view_ != nullptr) {
    // The last reference besides ours is the writer's: it may also have gone away without writing.
    if (!view_->finished()) return;
    view_ = nullptr;
    view_end_ = 0;
  }
  for (size_t i = 0; i < kThawStep && !waiting_.empty(); ++i) {
    Release(waiting_.back());
    waiting_.pop_back();
  }
}

}  // namespace weir
