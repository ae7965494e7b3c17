// The distinct values of one argument column, by group, with how often each is there: what DISTINCT needs, and MIN and
// MAX of an input with retractions.
//
// A value's record: u32 counts, one a FILTER; u64 id of its group; the value in canonical encoding.  All groups' values
// are in one index.  An `ordered` set also links the values of a group (Record::next and, for the way back,
// Record::count) from the group's record, and keeps a sorted index in memory for large groups once an extreme of theirs
// has been retracted; links and index are not in snapshots.
// Calls with the same argument share a set.  One thread.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "engine/data/row_codec.h"
#include "engine/state/key_index.h"
#include "engine/state/keyed_state.h"
#include "operators/aggregate/accumulator.h"
#include "operators/aggregate/call_state.h"

namespace weir {

class ValueSet {
 public:
  // The values of a group, in the group's record at list_offset.
  struct List {
    Ref head = 0;
    uint32_t values = 0;
  };

  ValueSet(int argument, DataType type, uint8_t part, bool retracts, KeyedState* state);
  ValueSet(const ValueSet&) = delete;

  int argument() const { return argument_; }
  uint8_t part() const { return part_; }
  bool ordered() const { return ordered_; }
  size_t Size() const { return ordered_ ? sizeof(List) : 0; }

  // --- while the operator is built
  // ------------------------------------------------------------------------------------ The counter for a FILTER
  // column (-1: none), added on first use.
  int CounterFor(int filter);
  void MakeOrdered() { ordered_ = true; }
  void SetListOffset(size_t offset) { list_offset_ = offset; }
  void ClearList(char* group) const { StoreAt(group + list_offset_, List{}); }
  void SetIdOffset(size_t offset) { id_offset_ = offset; }
  // `state`: of an accumulator whose values lie in one, else null.
  void Listen(const Accumulator* accumulator, CallState* state) {
    listeners_.push_back(accumulator);
    listener_states_.push_back(state);
  }
  void Finish();  // after the last counter

  // Adds and takes back the values of a batch and tells the listening accumulators about values that come or go.
  // Returns rows that retract a value which is not there.
  Result<int64_t> Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups);
  // The same of partial results (partial.h), for groups[i] where signs[i] is not 0.  partials[i] stands at the number of
  // the argument's values, and behind the last of them afterwards.
  Result<int64_t> MergePartials(std::span<const char*> partials, std::span<const int8_t> signs,
                                std::span<char* const> groups);
  // The record of the smallest or largest value with a count, or 0.
  Ref Extreme(char* group, int counter, bool min);
  // Recomputes the extremes that lost their value in Update calls since.
  void Settle();

  // The column value of a record, from its payload.
  void Append(std::span<const Ref> values, Column& out) const;

  // A record of a snapshot, for the group with this payload.
  void Restore(char* group, std::string_view payload);
  static uint64_t GroupId(std::string_view payload, size_t counters);
  size_t counters() const { return filters_.size(); }
  // The group goes: its sorted index with it.
  void Forget(uint64_t group_id);
  void FreeGarbage();

  // --- groups of windows; only of ordered sets
  // The group goes: its values with it.
  void DropGroup(const char* group);
  // The values of `from` become values of `to`, which tells the accumulators of `to`; `from` has none afterwards.
  Status MoveValues(char* to, char* from);

  int64_t index_bytes() const { return index_->bytes(); }

 private:
  struct Less {
    const ValueSet* set;
    bool operator()(Ref a, Ref b) const { return set->Compare(a, b) < 0; }
  };
  using Sorted = std::set<Ref, Less>;

  const char* ValueOf(Ref ref) const { return state_->At(ref)->payload() + counts_size_ + sizeof(uint64_t); }
  int Compare(Ref a, Ref b) const;
  List LoadList(const char* group) const { return LoadAt<List>(group + list_offset_); }
  uint64_t HashOf(std::string_view key) const { return MixHash(HashBytes(key)); }
  // A value of row `row` comes or goes: change(k) says how often for the counter k.  Returns 1 where it goes and is not
  // there, else 0.
  template <class Change>
  Result<int64_t> Take(char* group, uint64_t hash, std::string_view key, const Column& column, size_t row,
                       Change change);
  Ref Add(char* group, uint64_t hash, std::string_view key);
  void Remove(char* group, uint64_t hash, Ref ref);
  Ref Writable(char* group, uint64_t hash, Ref ref);
  void Link(char* group, Ref ref);
  void Unlink(char* group, Ref ref);
  Status Appeared(char* group, Ref ref, int counter, const Column& column, size_t row);
  Status Vanished(char* group, Ref ref, int counter, const Column& column, size_t row);
  Status Tell(size_t listener, char* group, const Column& column, size_t row, int sign) const;
  Sorted* SortedOf(const char* group, int counter);

  int argument_;
  DataType type_;
  uint8_t part_;
  KeyedState* state_;
  bool ordered_ = false;
  size_t list_offset_ = 0;
  size_t id_offset_ = 0;
  std::vector<int> filters_;
  size_t counts_size_ = 0;
  std::vector<const Accumulator*> listeners_;
  std::vector<CallState*> listener_states_;  // parallel
  RowCodec codec_;
  bool retracts_ = true;
  std::unique_ptr<KeyIndex> index_;  // made by Finish: the key's place depends on the number of counters
  EncodedRows encoded_;
  std::string keys_;  // group ids and values of the batch, as the index has them
  std::vector<std::pair<char*, const Accumulator*>> unsettled_;
  std::vector<Ref> garbage_;
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<Sorted>>> sorted_;  // by group, then counter
};

}  // namespace weir
