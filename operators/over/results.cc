#include "operators/over/results.h"

#include <algorithm>

namespace weir {
namespace {

using BoundKind = FrameBound::Kind;

// Stands for NULL among the values of a sort column: farther than any distance.
constexpr Int128 kFar = Int128{1} << 126;

bool HasFrame(OverFunction function) {
  return function == OverFunction::kFirstValue || function == OverFunction::kLastValue ||
         function == OverFunction::kNthValue || function >= OverFunction::kCountStar;
}

}  // namespace

OverResults::OverResults(const OverOptions& options)
    : schema_(options.input), calls_(options.calls), sort_(options.sort), read_(options.input->size(), false) {
  for (const OverCall& call : calls_) {
    for (const int column : {call.argument, call.filter, call.default_value}) {
      if (column >= 0) read_[static_cast<size_t>(column)] = true;
    }
    if (!HasFrame(call.function)) continue;
    const bool known = std::any_of(bounds_.begin(), bounds_.end(), [&](const Bounds& b) { return b.frame == call.frame; });
    if (!known) bounds_.push_back({call.frame, {}, {}});
    const bool distance = !call.frame.rows && (call.frame.start.kind == BoundKind::kPreceding ||
                                               call.frame.start.kind == BoundKind::kFollowing ||
                                               call.frame.end.kind == BoundKind::kPreceding ||
                                               call.frame.end.kind == BoundKind::kFollowing);
    distances_ = distances_ || distance;
  }
  if (distances_) read_[static_cast<size_t>(sort_[0].column)] = true;
}

Status OverResults::Append(const OrderedRows& rows, const OrderedRefs& order, RowRange needed, RowRange region,
                           std::vector<std::shared_ptr<Column>>& out) {
  if (region.from >= region.to) return {};
  Decode(rows, order, needed);
  region_ = {region.from - needed.from, region.to - needed.from};
  base_ = needed.from;
  FindPeers(rows);
  for (Bounds& bounds : bounds_) FindBounds(bounds);
  for (size_t i = 0; i < calls_.size(); ++i) WEIR_TRY(AppendCall(calls_[i], *out[i]));
  return {};
}

void OverResults::Decode(const OrderedRows& rows, const OrderedRefs& order, RowRange needed) {
  refs_.clear();
  order.Copy(needed.from, needed.to, refs_);
  columns_.assign(schema_->size(), nullptr);
  std::vector<Column*> targets(schema_->size(), nullptr);
  bool any = false;
  for (size_t i = 0; i < read_.size(); ++i) {
    if (!read_[i]) continue;
    columns_[i] = std::make_shared<Column>((*schema_)[i].type);
    targets[i] = columns_[i].get();
    any = true;
  }
  if (!any) return;
  payloads_.clear();
  for (const Ref ref : refs_) payloads_.push_back(rows.record(ref).payload());
  rows.row_codec().Decode(payloads_, targets);
}

void OverResults::FindPeers(const OrderedRows& rows) {
  const auto count = static_cast<uint32_t>(refs_.size());
  group_from_.resize(count);
  group_to_.resize(count);
  uint32_t from = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0 && rows.SortBytes(refs_[i]) != rows.SortBytes(refs_[i - 1])) from = i;
    group_from_[i] = from;
  }
  for (uint32_t i = count; i-- > 0;) {
    const bool last = i + 1 == count || group_from_[i + 1] != group_from_[i];
    group_to_[i] = last ? i + 1 : group_to_[i + 1];
  }
  if (!distances_) return;
  const Column& sorted = ColumnAt(sort_[0].column);
  values_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (sorted.IsNull(i)) {
      values_[i] = sort_[0].nulls_first ? -kFar : kFar;
    } else {
      const Int128 value = sorted.physical() == Physical::kInt128 ? sorted.wides()[i] : Int128{sorted.ints()[i]};
      values_[i] = sort_[0].descending ? -value : value;
    }
  }
}

// Where a frame begins (`end`: ends) for a row; `last`: for the row before it, from which the search goes on.
uint32_t OverResults::BoundOf(const Frame& frame, const FrameBound& bound, bool end, size_t row, uint32_t last) const {
  const auto count = static_cast<int64_t>(refs_.size());
  const auto at = static_cast<int64_t>(row);
  const auto clamp = [&](int64_t position) { return static_cast<uint32_t>(std::clamp<int64_t>(position, 0, count)); };
  const int64_t offset = std::min(bound.offset, count);
  switch (bound.kind) {
    case BoundKind::kUnboundedPreceding:
      return 0;
    case BoundKind::kUnboundedFollowing:
      return static_cast<uint32_t>(count);
    case BoundKind::kCurrentRow:
      if (frame.rows) return clamp(at + (end ? 1 : 0));
      return end ? group_to_[row] : group_from_[row];
    case BoundKind::kPreceding:
      if (frame.rows) return clamp(at - offset + (end ? 1 : 0));
      break;
    case BoundKind::kFollowing:
      if (frame.rows) return clamp(at + offset + (end ? 1 : 0));
      break;
  }
  Int128 target = values_[row];
  const bool null = target == kFar || target == -kFar;
  if (!null) target += bound.kind == BoundKind::kPreceding ? -Int128{bound.offset} : Int128{bound.offset};
  while (last < values_.size() && (values_[last] < target || (end && values_[last] == target))) ++last;
  return last;
}

void OverResults::FindBounds(Bounds& bounds) const {
  const size_t count = region_.to - region_.from;
  bounds.from.resize(count);
  bounds.to.resize(count);
  uint32_t from = 0;
  uint32_t to = 0;
  for (size_t i = 0; i < count; ++i) {
    from = BoundOf(bounds.frame, bounds.frame.start, false, region_.from + i, from);
    to = BoundOf(bounds.frame, bounds.frame.end, true, region_.from + i, to);
    bounds.from[i] = from;
    bounds.to[i] = std::max(from, to);
  }
}

const OverResults::Bounds& OverResults::BoundsOf(const OverCall& call) const {
  size_t i = 0;
  while (!(bounds_[i].frame == call.frame)) ++i;
  return bounds_[i];
}

Status OverResults::AppendCall(const OverCall& call, Column& out) {
  switch (call.function) {
    case OverFunction::kRowNumber:
    case OverFunction::kRank:
    case OverFunction::kDenseRank:
      AppendNumbers(call, out);
      return {};
    case OverFunction::kLag:
    case OverFunction::kLead:
      AppendNeighbours(call, out);
      return {};
    case OverFunction::kFirstValue:
    case OverFunction::kLastValue:
    case OverFunction::kNthValue:
      AppendPicked(call, out);
      return {};
    case OverFunction::kCountStar:
    case OverFunction::kCount:
      AppendCounts(call, out);
      return {};
    case OverFunction::kMin:
    case OverFunction::kMax:
      AppendExtremes(call, out);
      return {};
    case OverFunction::kSum:
    case OverFunction::kAvg:
      break;
  }
  return ColumnAt(call.argument).physical() == Physical::kDouble ? AppendDoubles(call, out) : AppendExact(call, out);
}

void OverResults::AppendNumbers(const OverCall& call, Column& out) const {
  int64_t groups = 0;
  if (call.function == OverFunction::kDenseRank) {
    for (size_t i = 0; i < region_.from; ++i) groups += group_from_[i] == i ? 1 : 0;
    if (group_from_[region_.from] == region_.from) ++groups;
  }
  for (size_t i = region_.from; i < region_.to; ++i) {
    int64_t number = static_cast<int64_t>(base_ + i) + 1;
    if (call.function == OverFunction::kRank) number = static_cast<int64_t>(base_ + group_from_[i]) + 1;
    if (call.function == OverFunction::kDenseRank) {
      if (i > region_.from && group_from_[i] == i) ++groups;
      number = groups;
    }
    out.AppendInt(number);
  }
}

void OverResults::AppendNeighbours(const OverCall& call, Column& out) const {
  const Column& values = ColumnAt(call.argument);
  const auto count = static_cast<int64_t>(refs_.size());
  // An offset beyond all rows is one beyond these, without an overflow.
  int64_t offset = std::clamp(call.offset, -count - 1, count + 1);
  if (call.function == OverFunction::kLag) offset = -offset;
  for (size_t i = region_.from; i < region_.to; ++i) {
    const int64_t at = static_cast<int64_t>(i) + offset;
    if (at >= 0 && at < count) {
      out.AppendFrom(values, static_cast<size_t>(at));
    } else if (call.default_value >= 0) {
      out.AppendFrom(ColumnAt(call.default_value), i);
    } else {
      out.AppendNull();
    }
  }
}

void OverResults::AppendPicked(const OverCall& call, Column& out) const {
  const Bounds& bounds = BoundsOf(call);
  const Column& values = ColumnAt(call.argument);
  for (size_t i = 0; i < bounds.from.size(); ++i) {
    const int64_t size = int64_t{bounds.to[i]} - int64_t{bounds.from[i]};
    int64_t pick = 0;
    if (call.function == OverFunction::kLastValue) pick = size - 1;
    if (call.function == OverFunction::kNthValue) pick = call.offset - 1;
    if (pick < 0 || pick >= size) {
      out.AppendNull();
    } else {
      out.AppendFrom(values, bounds.from[i] + static_cast<size_t>(pick));
    }
  }
}

}  // namespace weir
