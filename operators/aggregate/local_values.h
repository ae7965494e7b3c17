// The distinct values of one argument column, by group, as a local aggregate has seen them: each with how often it has
// come less how often it has gone, by FILTER.  Without retractions it has come once or not.
//
// Where most values are seen once, looking for equal ones does not pay: after a sample the values are listed as they
// come for a while, and what reads them adds them up.  One thread.
#pragma once

#include <string>
#include <vector>

#include "engine/data/row_codec.h"
#include "operators/aggregate/accumulator.h"

namespace weir {

class LocalValues {
 public:
  LocalValues(int argument, DataType type, bool retracts)
      : argument_(argument), retracts_(retracts), codec_({type}, RowCodec::Form::kKey) {}

  int argument() const { return argument_; }
  // At most 32 different ones (sql/plan/two_phase.cc).
  void AddFilter(int filter);

  // There are `groups` groups, from 0.
  void Grow(size_t groups) { lists_.resize(groups); }
  // Takes the values of a batch, of rows whose sign is not 0.  group_of[i]: of row i.  `look`: for equal ones.
  void Update(const Batch& batch, std::span<const int8_t> signs, std::span<const uint32_t> group_of, bool look);
  size_t values() const { return entries_.size(); }
  size_t taken() const { return taken_; }  // values of rows, since Clear
  size_t bytes() const { return bytes_.size(); }
  bool HasValues(size_t group) const { return lists_[group].first != kNone; }
  // Appends the part of a partial result that is the argument's (partial.h).
  void AppendTo(size_t group, std::string& out) const;
  void Clear();

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Entry {
    uint64_t hash;
    uint64_t head;  // the first bytes of the value
    uint32_t group;
    uint32_t next;  // of the group
    uint32_t at;    // of the value, in bytes_
    uint32_t size;
    uint32_t mask;  // of the filters that have passed it
  };

  // The entries of a group, in the order of their values: what has come may go behind it.
  struct List {
    uint32_t first = kNone;
    uint32_t last = kNone;
  };

  static uint64_t HeadOf(std::string_view value);
  void MakeMasks(const Batch& batch);
  uint32_t FindOrAdd(uint64_t hash, uint32_t group, std::string_view value);
  uint32_t Add(uint64_t hash, uint32_t group, std::string_view value);
  void GrowSlots();
  bool Looks(size_t rows);

  int argument_;
  bool retracts_;
  RowCodec codec_;
  std::vector<int> filters_;
  std::vector<Entry> entries_;
  std::vector<int32_t> counts_;  // with retractions: entries x filters
  std::string bytes_;
  std::vector<List> lists_;      // by group
  size_t taken_ = 0;
  std::vector<uint32_t> slots_;  // an entry's number and one; 0: free
  EncodedRows encoded_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> masks_;  // by row: bit k is set where filter k passes it

  int64_t sampled_ = 0;  // values that were looked for
  int64_t found_ = 0;    // of those, there already
  int64_t unlooked_ = 0;  // rows that are still to be listed without being looked for
};

}  // namespace weir
