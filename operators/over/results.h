// Computes window functions over some consecutive rows of one partition.
//
//   1. Decode   the columns that calls and frames read, of all rows given.
//   2. Peers    where the group of rows with equal sort values begins and ends, for each row.
//   3. Frames   of each frame among the calls, where it begins and ends for each row; both only ever grow, since rows
//               are in order.
//   4. Results  a call at a time: counts and exact sums from differences of running sums, doubles by adding in the order
//               of the rows, MIN and MAX from a queue of candidates.
//
// Private to the folder.  One thread; scratch is kept between calls.
#pragma once

#include <memory>
#include <vector>

#include "operators/ordered_rows.h"
#include "operators/over/over.h"
#include "operators/over/reach.h"

namespace weir {

class OverResults {
 public:
  explicit OverResults(const OverOptions& options);

  // Appends the results of the rows `region` of the partition to `out`, one column a call.  `needed`: the rows that
  // these depend on (Reach::Needed), which begin with the partition wherever a call counts from its first row.
  Status Append(const OrderedRows& rows, const OrderedRefs& order, RowRange needed, RowRange region,
                std::vector<std::shared_ptr<Column>>& out);

 private:
  // Of one frame: [from[i], to[i]) for row i of the region, in rows given.
  struct Bounds {
    Frame frame;
    std::vector<uint32_t> from;
    std::vector<uint32_t> to;
  };

  void Decode(const OrderedRows& rows, const OrderedRefs& order, RowRange needed);
  void FindPeers(const OrderedRows& rows);
  void FindBounds(Bounds& bounds) const;
  uint32_t BoundOf(const Frame& frame, const FrameBound& bound, bool end, size_t row, uint32_t last) const;
  Status AppendCall(const OverCall& call, Column& out);
  void AppendNumbers(const OverCall& call, Column& out) const;
  void AppendNeighbours(const OverCall& call, Column& out) const;
  void AppendPicked(const OverCall& call, Column& out) const;
  // valid_[i]: row i counts for the call: the FILTER passes and the argument is not NULL.
  void FindValid(const OverCall& call);
  void AppendCounts(const OverCall& call, Column& out);
  Status AppendExact(const OverCall& call, Column& out);
  Status AppendDoubles(const OverCall& call, Column& out);
  void AppendExtremes(const OverCall& call, Column& out);
  const Bounds& BoundsOf(const OverCall& call) const;
  const Column& ColumnAt(int column) const { return *columns_[static_cast<size_t>(column)]; }

  SchemaPtr schema_;
  std::vector<OverCall> calls_;
  std::vector<SortColumn> sort_;
  std::vector<bool> read_;  // columns of the input
  std::vector<Bounds> bounds_;
  bool distances_ = false;  // a RANGE frame has one

  // --- the rows given
  std::vector<Ref> refs_;
  std::vector<const char*> payloads_;
  std::vector<std::shared_ptr<Column>> columns_;  // null where not read
  std::vector<uint32_t> group_from_;
  std::vector<uint32_t> group_to_;
  std::vector<Int128> values_;  // of the sort column, ascending, for distances
  RowRange region_;             // in the rows given
  size_t base_ = 0;             // rows of the partition before them
  std::vector<uint8_t> valid_;
  std::vector<int64_t> counts_;
};

}  // namespace weir
