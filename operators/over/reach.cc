#include "operators/over/reach.h"

#include <algorithm>

namespace weir {
namespace {

using BoundKind = FrameBound::Kind;

// Behind every key that begins like the one it is appended to.
constexpr std::string_view kBehind = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF";

size_t PositionOf(const OrderedRows& rows, const OrderedRefs& order, std::string_view key) {
  return order.NumberOf(order.LowerBound(rows.arena(), key));
}

size_t PositionBehind(const OrderedRows& rows, const OrderedRefs& order, std::string_view key) {
  return PositionOf(rows, order, std::string(key).append(kBehind));
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

size_t Minus(size_t position, int64_t rows) {
  return static_cast<int64_t>(position) > rows ? position - static_cast<size_t>(rows) : 0;
}

size_t Plus(size_t position, int64_t rows, size_t limit) {
  return rows >= static_cast<int64_t>(limit) ? limit : std::min(limit, position + static_cast<size_t>(rows));
}

}  // namespace

Reach::Reach(const OverOptions& options) {
  if (!options.sort.empty()) {
    const SortColumn& first = options.sort[0];
    field_ = {(*options.input)[static_cast<size_t>(first.column)].type.physical(), first.descending,
              first.nulls_first};
    whole_numbers_ = field_.physical == Physical::kInt64;
  }
  for (const OverCall& call : options.calls) Add(call);
}

void Reach::Add(const OverCall& call) {
  switch (call.function) {
    case OverFunction::kRowNumber:
    case OverFunction::kRank:
    case OverFunction::kDenseRank:
      all_back_ = true;
      return;
    case OverFunction::kLag:
    case OverFunction::kLead: {
      const int64_t back = call.function == OverFunction::kLag ? call.offset : -call.offset;
      rows_back_ = std::max(rows_back_, back);
      rows_ahead_ = std::max(rows_ahead_, -back);
      return;
    }
    default:
      return AddFrame(call.frame);
  }
}

void Reach::AddFrame(const Frame& frame) {
  for (const FrameBound* bound : {&frame.start, &frame.end}) {
    const bool distance = !frame.rows && bound->offset != 0;
    switch (bound->kind) {
      case BoundKind::kUnboundedPreceding:
        all_back_ = true;
        break;
      case BoundKind::kUnboundedFollowing:
        all_ahead_ = true;
        break;
      case BoundKind::kCurrentRow:
        break;
      case BoundKind::kPreceding: {
        if (distance && !whole_numbers_) all_back_ = true;
        int64_t& back = frame.rows ? rows_back_ : range_back_;
        back = std::max(back, bound->offset);
        break;
      }
      case BoundKind::kFollowing: {
        if (distance && !whole_numbers_) all_ahead_ = true;
        int64_t& ahead = frame.rows ? rows_ahead_ : range_ahead_;
        ahead = std::max(ahead, bound->offset);
        break;
      }
    }
  }
}

size_t Reach::Bound(const OrderedRows& rows, const OrderedRefs& order, std::string_view key, int64_t distance,
                    bool after) const {
  std::string target;
  const std::optional<int64_t> value =
      whole_numbers_ && distance != 0 ? WholeNumberIn(field_, key) : std::optional<int64_t>();
  if (value) {
    AppendSortKey(field_, SaturatingAdd(*value, field_.descending ? -distance : distance), target);
  } else {
    target = key;
  }
  return after ? PositionBehind(rows, order, target) : PositionOf(rows, order, target);
}

RowRange Reach::Needed(const OrderedRows& rows, const OrderedRefs& order, RowRange region) const {
  if (region.from >= region.to) return region;
  RowRange needed{0, order.size()};
  if (!all_back_) {
    const std::string_view first = rows.SortBytes(order.At(order.PlaceOf(region.from)));
    needed.from = std::min(Minus(region.from, rows_back_), Bound(rows, order, first, -range_back_, false));
  }
  if (!all_ahead_) {
    const std::string_view last = rows.SortBytes(order.At(order.PlaceOf(region.to - 1)));
    needed.to =
        std::max(Plus(region.to, rows_ahead_, order.size()), Bound(rows, order, last, range_ahead_, true));
  }
  return needed;
}

RowRange Reach::Touched(const OrderedRows& rows, const OrderedRefs& order, std::string_view least,
                        std::string_view greatest) const {
  RowRange touched{0, order.size()};
  if (!all_ahead_) {
    touched.from = std::min(Minus(PositionOf(rows, order, least), rows_ahead_),
                            Bound(rows, order, least, -range_ahead_, false));
  }
  if (!all_back_) {
    touched.to = std::max(Plus(PositionBehind(rows, order, greatest), rows_back_, order.size()),
                          Bound(rows, order, greatest, range_back_, true));
  }
  return touched;
}

size_t Reach::FirstNeeded(const OrderedRows& rows, const OrderedRefs& order, size_t position, int64_t value) const {
  std::string key;
  AppendSortKey(field_, value, key);
  return std::min(Minus(position, rows_back_), Bound(rows, order, key, -range_back_, false));
}

}  // namespace weir
