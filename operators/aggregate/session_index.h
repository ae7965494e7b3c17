// The open sessions of each key: records that are no state, made anew by a restore.
//
// A record is u32 sessions, u32 room, the key, and the references of the sessions' groups.  One thread.
#pragma once

#include <vector>

#include "engine/state/key_index.h"
#include "engine/state/keyed_state.h"

namespace weir {

class SessionIndex {
 public:
  // `part`: of the state, not saved.
  SessionIndex(KeyedState* state, uint8_t part)
      : state_(state), part_(part), index_(&state->arena(), kKeyOffset, KeyIndex::KeySize::kInCount) {}

  // The groups of the key's sessions, in `sessions`.
  void Find(uint64_t hash, std::string_view key, std::vector<Ref>& sessions) const;
  void Add(uint64_t hash, std::string_view key, Ref session);
  // Nothing when it is not there.
  void Remove(uint64_t hash, std::string_view key, Ref session);
  void Replace(uint64_t hash, std::string_view key, Ref from, Ref to);
  int64_t bytes() const { return index_.bytes(); }

 private:
  static constexpr size_t kKeyOffset = 2 * sizeof(uint32_t);

  struct View {
    uint32_t* count;
    uint32_t room;
    char* sessions;
  };
  View At(Ref ref) const;

  KeyedState* state_;
  uint8_t part_;
  KeyIndex index_;
};

}  // namespace weir
