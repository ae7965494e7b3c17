// The groups of windows, in the order in which the windows end.
//
// Each group of a window has a WindowPart in its record, so that it is found in its window and in the index without its
// key being read.  One thread.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "engine/data/hash.h"
#include "engine/state/keyed_state.h"
#include "operators/aggregate/accumulator.h"

namespace weir {

// Of a group's record.
struct WindowPart {
  Micros start = 0;
  Micros end = 0;
  Micros listed = 0;      // the end under which it is listed; a session that has grown is listed anew when that comes
  uint64_t hash = 0;      // of the group columns
  uint64_t position = 0;  // among the groups listed there
};

// Under which an index has a group whose key begins with the window's end: in the key group of the group columns.
inline uint64_t WindowHash(uint64_t hash, Micros end) {
  const uint64_t mixed = MixHash(hash ^ MixHash(static_cast<uint64_t>(end)));
  return (hash & ~uint64_t{UINT32_MAX}) | (mixed & UINT32_MAX);
}

class OpenWindows {
 public:
  using Windows = std::map<Micros, std::vector<Ref>>;

  // The part lies at `offset` of a group's payload.
  OpenWindows(KeyedState* state, size_t offset) : state_(state), offset_(offset) {}

  WindowPart Load(const char* group) const { return LoadAt<WindowPart>(group + offset_); }
  void Store(char* group, const WindowPart& part) const { StoreAt(group + offset_, part); }
  WindowPart PartOf(Ref ref) const { return Load(state_->At(ref)->payload()); }

  // Lists the group under the end of its window.  REQUIRES: no snapshot reads the record.
  void Add(Ref ref) {
    char* group = state_->At(ref)->payload();
    WindowPart part = Load(group);
    std::vector<Ref>& groups = windows_[part.end];
    part.listed = part.end;
    part.position = groups.size();
    Store(group, part);
    groups.push_back(ref);
  }
  // The group has got another record.
  void Replace(Ref to) {
    const WindowPart part = PartOf(to);
    windows_[part.listed][part.position] = to;
  }
  // Leaves a hole: to move another group would be to write into its record, which a snapshot may be reading.
  void Remove(Ref ref) {
    const WindowPart part = PartOf(ref);
    windows_[part.listed][part.position] = 0;
  }

  // By end; 0 where a group has been removed.
  Windows& windows() { return windows_; }
  const Windows& windows() const { return windows_; }
  bool EndsBy(Micros time) const { return !windows_.empty() && windows_.begin()->first <= time; }
  // Takes out the window that ends first, with all its groups; 0 where one has been removed.
  std::pair<Micros, std::vector<Ref>> TakeFirst() {
    std::pair<Micros, std::vector<Ref>> first(windows_.begin()->first, std::move(windows_.begin()->second));
    windows_.erase(windows_.begin());
    return first;
  }
  int64_t bytes() const {
    int64_t bytes = 0;
    for (const auto& [end, groups] : windows_) bytes += static_cast<int64_t>(groups.capacity() * sizeof(Ref)) + 64;
    return bytes;
  }

 private:
  KeyedState* state_;
  size_t offset_;
  Windows windows_;
};

}  // namespace weir
