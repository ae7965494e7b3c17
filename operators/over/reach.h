// How far window functions look: which rows of a partition a result needs, and which results a changed row touches.
//
// Private to the folder.  Positions are numbers of rows in the partition, from 0.
#pragma once

#include <vector>

#include "operators/ordered_rows.h"
#include "operators/over/over.h"

namespace weir {

struct RowRange {
  size_t from = 0;
  size_t to = 0;  // exclusive
};

class Reach {
 public:
  explicit Reach(const OverOptions& options);

  // The rows that the results of the rows in `region` depend on.
  RowRange Needed(const OrderedRows& rows, const OrderedRefs& order, RowRange region) const;
  // The rows whose results depend on rows with sort keys (without their ends) from `least` to `greatest`, which are
  // there or not.
  RowRange Touched(const OrderedRows& rows, const OrderedRefs& order, std::string_view least,
                   std::string_view greatest) const;

  // The first row that a row at `value` of the first sort column, or one behind it, needs.  REQUIRES: !all_back().
  size_t FirstNeeded(const OrderedRows& rows, const OrderedRefs& order, size_t position, int64_t value) const;
  bool all_back() const { return all_back_; }
  bool all_ahead() const { return all_ahead_; }
  bool looks_ahead() const { return all_ahead_ || rows_ahead_ > 0 || range_ahead_ > 0; }

 private:
  void Add(const OverCall& call);
  void AddFrame(const Frame& frame);
  // The place of the first row with a value at least (`after`: greater than) `distance` rows' values away from that of
  // the key; the end of the key's own peers where it has none.
  size_t Bound(const OrderedRows& rows, const OrderedRefs& order, std::string_view key, int64_t distance,
               bool after) const;

  SortField field_;
  bool whole_numbers_ = false;  // the sort column is one of physical form int64
  int64_t rows_back_ = 0;
  int64_t rows_ahead_ = 0;
  int64_t range_back_ = 0;
  int64_t range_ahead_ = 0;
  bool all_back_ = false;
  bool all_ahead_ = false;
};

}  // namespace weir
