#include "operators/aggregate/session_index.h"

#include "operators/aggregate/accumulator.h"

namespace weir {

SessionIndex::View SessionIndex::At(Ref ref) const {
  Record* record = state_->At(ref);
  char* payload = record->payload();
  return {reinterpret_cast<uint32_t*>(payload), LoadAt<uint32_t>(payload + sizeof(uint32_t)),
          payload + kKeyOffset + record->count};
}

void SessionIndex::Find(uint64_t hash, std::string_view key, std::vector<Ref>& sessions) const {
  sessions.clear();
  const Ref ref = index_.Find(hash, key);
  if (ref == 0) return;
  const View view = At(ref);
  for (uint32_t i = 0; i < *view.count; ++i) sessions.push_back(LoadAt<Ref>(view.sessions + i * sizeof(Ref)));
}

void SessionIndex::Add(uint64_t hash, std::string_view key, Ref session) {
  Ref ref = index_.Find(hash, key);
  const uint32_t count = ref == 0 ? 0 : *At(ref).count;
  if (ref == 0 || count == At(ref).room) {
    const uint32_t room = count == 0 ? 1 : 2 * count;
    const Ref grown = state_->Allocate(part_, kKeyOffset + key.size() + room * sizeof(Ref));
    Record* record = state_->At(grown);
    record->next = 0;
    record->count = static_cast<uint32_t>(key.size());
    StoreAt<uint32_t>(record->payload(), count);
    StoreAt<uint32_t>(record->payload() + sizeof(uint32_t), room);
    std::memcpy(record->payload() + kKeyOffset, key.data(), key.size());
    if (ref == 0) {
      index_.Insert(hash, grown);
    } else {
      std::memcpy(At(grown).sessions, At(ref).sessions, count * sizeof(Ref));
      index_.Replace(hash, ref, grown);
      state_->Free(ref);
    }
    ref = grown;
  }
  const View view = At(ref);
  StoreAt(view.sessions + count * sizeof(Ref), session);
  *view.count = count + 1;
}

void SessionIndex::Remove(uint64_t hash, std::string_view key, Ref session) {
  const Ref ref = index_.Find(hash, key);
  if (ref == 0) return;
  const View view = At(ref);
  for (uint32_t i = 0; i < *view.count; ++i) {
    if (LoadAt<Ref>(view.sessions + i * sizeof(Ref)) != session) continue;
    --*view.count;
    StoreAt(view.sessions + i * sizeof(Ref), LoadAt<Ref>(view.sessions + *view.count * sizeof(Ref)));
    break;
  }
  if (*view.count > 0) return;
  index_.Erase(hash, ref);
  state_->Free(ref);
}

void SessionIndex::Replace(uint64_t hash, std::string_view key, Ref from, Ref to) {
  const Ref ref = index_.Find(hash, key);
  if (ref == 0) return;
  const View view = At(ref);
  for (uint32_t i = 0; i < *view.count; ++i) {
    if (LoadAt<Ref>(view.sessions + i * sizeof(Ref)) == from) StoreAt(view.sessions + i * sizeof(Ref), to);
  }
}

}  // namespace weir
