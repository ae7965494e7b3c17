#include "sql/expr/zone.h"

#include <algorithm>

#include "engine/data/text.h"

namespace weir {
namespace {

constexpr Micros kQuarter = Micros{900} * 1000000;
constexpr Micros kDay = Micros{86400} * 1000000;

}  // namespace

ZoneConverter::ZoneConverter(std::string_view zone)
    : zone_(zone), utc_(zone == "UTC" || zone == "Etc/UTC" || !IsKnownZone(zone)) {}

Micros ZoneConverter::OffsetAt(Micros instant) {
  if (utc_) return 0;
  if (cached_ && instant >= from_ && instant < to_) return offset_;
  const Micros from = (instant >= 0 ? instant : instant - (kQuarter - 1)) / kQuarter * kQuarter;
  offset_ = ZoneOffset(zone_, instant).value_or(0);
  // Some offsets of the nineteenth century change within a quarter of an hour: then nothing is kept.
  cached_ =
      ZoneOffset(zone_, from).value_or(0) == offset_ && ZoneOffset(zone_, from + kQuarter - 1).value_or(0) == offset_;
  from_ = from;
  to_ = from + kQuarter;
  return offset_;
}

Micros ZoneConverter::ToInstant(Micros local) {
  if (utc_) return local;
  // The offsets that can apply are those a day before and a day after.
  const Micros guess = local - OffsetAt(local);
  if (OffsetAt(guess - kQuarter * 12) == OffsetAt(guess + kQuarter * 12)) return local - OffsetAt(guess);
  const Micros before = OffsetAt(local - kDay);
  const Micros after = OffsetAt(local + kDay);
  const bool before_valid = OffsetAt(local - before) == before;
  const bool after_valid = OffsetAt(local - after) == after;
  if (before_valid != after_valid) return local - (before_valid ? before : after);
  return local - std::min(before, after);
}

}  // namespace weir
