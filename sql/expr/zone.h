// Conversions between instants and local times of one time zone, cheap for rows that lie close together in time.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/clock.h"

namespace weir {

// Keeps the offset of the last quarter of an hour.  Lives on the stack of one kernel call; one thread.
class ZoneConverter {
 public:
  // REQUIRES: IsKnownZone(zone), else UTC is used.
  explicit ZoneConverter(std::string_view zone);

  Micros ToLocal(Micros instant) { return instant + OffsetAt(instant); }
  // A local time that summer time skips or repeats counts as standard time, as in PostgreSQL.
  Micros ToInstant(Micros local);

 private:
  Micros OffsetAt(Micros instant);

  std::string zone_;
  bool utc_;
  bool cached_ = false;
  Micros from_ = 0;  // the cached offset holds in [from_, to_)
  Micros to_ = 0;
  Micros offset_ = 0;
};

}  // namespace weir
