// The values of one aggregate call whose result depends on their order, by group: STRING_AGG, ARRAY_AGG, and FIRST_VALUE
// and LAST_VALUE of an input with retractions.
//
// A value's record: u64 number of arrival, u64 id of its group, the row {columns of the call's ORDER BY, value}.  Records
// are found by group and row, equal ones are chained through Record::next, newest first, and a retraction takes the
// newest.  Each group has an array of its records in the order of the result; a retracted record stays in the array (Record::count = 1) until the array is tidied.  The order is that of
// ORDER BY and then of the value, or without ORDER BY of arrival; with DISTINCT that of the value, as in PostgreSQL.
// Arrays are not in snapshots.  One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/data/row_codec.h"
#include "engine/state/key_index.h"
#include "engine/state/keyed_state.h"
#include "operators/aggregate/call_state.h"
#include "operators/aggregate/encoded_order.h"

namespace weir {

class ValueList final : public CallState {
 public:
  ValueList(const AggregateCall& call, const Schema& input, uint8_t part, KeyedState* state);
  ValueList(const ValueList&) = delete;

  Result<int64_t> Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups) override;
  Status Append(const char* group, Column& out) override;
  Status MoveValues(char* to, char* from) override;
  void Forget(const char* group) override;
  void BeforeSnapshot() override;
  Status Restore(Restored& records) override;
  int64_t bytes() const override { return index_.bytes() + array_bytes_; }

 private:
  struct Array {
    std::vector<Ref> refs;
    size_t sorted = 0;  // so many at the front are in order
    size_t dead = 0;
    bool moved = false;  // values of another group have come: numbers are out of order, too
  };

  bool InOrderOfArrival() const { return order_fields_ == 0 && !call_.distinct; }
  bool Before(Ref a, Ref b) const;
  const char* RowOf(Ref ref) const { return state_->At(ref)->payload() + kRestAt; }
  Array& ArrayOf(char* group);
  void Add(char* group, std::string_view key, uint64_t number);
  bool Remove(char* group, std::string_view key);
  void Sort(Array& array);
  void Tidy(Array& array);
  Ref End(Array& array, bool first);
  Status AppendText(const Array& array, Column& out);
  Status AppendArrayValue(const Array& array, Column& out);
  void Decode(const std::vector<Ref>& refs, Column& values) const;

  AggregateCall call_;
  DataType type_;  // of the values
  std::vector<int> columns_;
  size_t order_fields_ = 0;
  uint8_t part_;
  KeyedState* state_;
  RowCodec codec_;
  EncodedOrder order_;
  KeyIndex index_;
  std::vector<Array> arrays_;  // from 1 in groups' records
  std::vector<uint32_t> unused_;
  int64_t array_bytes_ = 0;
  uint64_t next_number_ = 1;
  EncodedRows encoded_;
  std::string key_;
};

}  // namespace weir
