// The state of one aggregate call whose size is not fixed, beside the groups' records: lists of values (value_list.h),
// bitmaps and sketches (object_state.h).
//
// It has a part of the keyed state of its own.  A group's record has, for each such call, a u32 that names the group's
// values in memory (0: none yet; not kept over a restore) and, once for all calls, the u64 id by which records of the
// part name their group: every payload begins with a u64 of the state's own and that id.  One thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/state/keyed_state.h"
#include "operators/aggregate/accumulator.h"

namespace weir {

class CallState {
 public:
  static constexpr size_t kIdAt = sizeof(uint64_t);             // in a record's payload
  static constexpr size_t kRestAt = kIdAt + sizeof(uint64_t);  // what is the state's own

  virtual ~CallState() = default;

  // Places in a group's payload: of the u32, and of the group's id.
  void SetOffsets(size_t name_offset, size_t id_offset) {
    name_offset_ = name_offset;
    id_offset_ = id_offset;
  }

  // Before anything of a batch changes.
  virtual void BeginBatch() {}
  // Adds and takes back the values of a batch.  Returns rows that retract a value which is not there.
  virtual Result<int64_t> Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups) = 0;
  // One distinct value of row `row` has come (1) or gone (-1): for calls that a value set feeds.
  virtual void UpdateOne(char* group, const Column& column, size_t row, int sign);
  // Appends the result for the group with this payload.
  virtual Status Append(const char* group, Column& out) = 0;
  // Adds the values of `from` to those of `to`: windows that become one.  `from` keeps none.
  virtual Status MoveValues(char* to, char* from) = 0;
  // The group goes, with all its values.
  virtual void Forget(const char* group) = 0;

  // Makes the part's records say what the state is.
  virtual void BeforeSnapshot() = 0;
  // The part's records in one file of a snapshot, each with the payload of its group.
  using Restored = std::vector<std::pair<char*, std::string_view>>;
  virtual Status Restore(Restored& records) = 0;

  // In memory, beside the records.
  virtual int64_t bytes() const = 0;

  static uint64_t GroupId(std::string_view payload) { return LoadAt<uint64_t>(payload.data() + kIdAt); }

 protected:
  uint32_t NameOf(const char* group) const { return LoadAt<uint32_t>(group + name_offset_); }
  void SetName(char* group, uint32_t name) const { StoreAt(group + name_offset_, name); }
  std::string_view IdOf(const char* group) const { return {group + id_offset_, sizeof(uint64_t)}; }

 private:
  size_t name_offset_ = 0;
  size_t id_offset_ = 0;
};

// The state of a call whose accumulator has the form kState.
std::unique_ptr<CallState> MakeCallState(const AggregateCall& call, const Schema& input, uint8_t part,
                                         KeyedState* state);

}  // namespace weir
