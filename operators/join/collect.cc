#include <algorithm>

#include "operators/join/join_operator.h"

namespace weir {

// --- 2. Collect

Status Join::Collect() {
  candidates_.clear();
  old_rows_.clear();
  ready_ = 0;
  cost_ = 0;
  while (true) {
    if (ready_ == changes_.size()) WEIR_TRY(ResolveWindow());
    if (ready_ == changes_.size()) return {};
    const size_t first = ready_;
    bool full = false;
    for (; ready_ < changes_.size() && ready_ - first < kJoinWindow; ++ready_) {
      JoinChange& change = changes_[ready_];
      // A candidate gives two rows when it becomes an update; the change itself gives its NULL-extended rows.
      const size_t each = change.has_old() || other().preserved ? 2 : 1;
      const size_t base = own().emits_unmatched || semi_ ? 2 : 0;
      const size_t left = change.wanted - change.taken;
      size_t room = cost_ + base < kBatchRows ? (kBatchRows - cost_ - base) / each : 0;
      full = left > room;
      if (full && !(change.others.is_long() && room > 0)) break;
      change.first = static_cast<uint32_t>(candidates_.size());
      change.count = static_cast<uint32_t>(std::min(left, room));
      change.old_number = static_cast<uint32_t>(old_rows_.size());
      if (change.has_old()) old_rows_.push_back(change.old_ref);
      cost_ += base + each * change.count;
      candidates_.resize(candidates_.size() + change.count);
      if (full) {
        ++ready_;
        break;
      }
      if (cost_ >= kBatchRows) {
        full = true;
        ++ready_;
        break;
      }
    }
    WalkShort(first, ready_);
    if (full) return {};
  }
}

// Fills in the candidates of the changes [first, last): short lists side by side, so that cache misses overlap.
void Join::WalkShort(size_t first, size_t last) {
  struct Walk {
    Ref ref;
    uint32_t to;
    uint32_t end;
  };
  Walk walks[kJoinWindow];
  size_t active = 0;
  for (size_t i = first; i < last; ++i) {
    JoinChange& change = changes_[i];
    if (change.count == 0) continue;
    if (change.others.is_long()) {
      const std::vector<Ref>& rows = other().lists().Long(change.others);
      std::copy_n(rows.begin() + change.taken, change.count, candidates_.begin() + change.first);
    } else {
      walks[active++] = {change.others.head, change.first, change.first + change.count};
    }
    change.taken += change.count;
  }
  while (active > 0) {
    size_t kept = 0;
    for (size_t i = 0; i < active; ++i) {
      Walk walk = walks[i];
      candidates_[walk.to++] = walk.ref;
      if (walk.to == walk.end) continue;
      walk.ref = state_.At(walk.ref)->next;
      __builtin_prefetch(state_.At(walk.ref));
      walks[kept++] = walk;
    }
    active = kept;
  }
}

}  // namespace weir
