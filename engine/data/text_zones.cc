// Named time zones, on Howard Hinnant's library and the system's tzdata.
//
// A thread remembers the last zone and the last stretch of constant offset in it: nearly every lookup of a stream stays
// in that stretch.  The system's files end in 2037 and the library does not read the rule behind them, so a later
// instant is looked up in a year before that with the same calendar from March on.
#define USE_OS_TZDB 1  // as the system's library is built; the classes of the header differ without it
#include <date/tz.h>

#include <exception>

#include "engine/data/text.h"

namespace weir {
namespace {

constexpr Micros kSecond = 1'000'000;
constexpr int64_t kDaySeconds = 86'400;
constexpr int kFirstFoldedYear = 2037;
constexpr int kFoldYears[] = {2026, 2027, 2028, 2029, 2030, 2031, 2032, 2033, 2034, 2035, 2036};

bool IsUtc(std::string_view zone) { return zone == "UTC" || zone == "Etc/UTC" || zone == "Z" || zone == "GMT"; }

const date::time_zone* Locate(std::string_view zone) {
  try {
    return date::locate_zone(zone);
  } catch (const std::exception&) {
    return nullptr;
  }
}

// Whole weeks to take from a moment behind the system's tables, in seconds; 0 before.
int64_t FoldSeconds(int64_t seconds) {
  static const int64_t kLimit = FromCivil(kFirstFoldedYear, 1, 1) * kDaySeconds;
  if (seconds < kLimit) return 0;
  const int64_t march = FromCivil(ToCivil(seconds / kDaySeconds).year, 3, 1);
  for (const int year : kFoldYears) {
    const int64_t distance = march - FromCivil(year, 3, 1);
    if (distance % 7 == 0) return distance * kDaySeconds;
  }
  return 0;
}

int64_t FloorSeconds(Micros value) { return value / kSecond - (value % kSecond < 0 ? 1 : 0); }

// The zone and the stretch of constant offset that this thread used last.
struct Cache {
  std::string name;
  const date::time_zone* zone = nullptr;
  int64_t begin = 0;  // seconds since 1970 UTC, half open
  int64_t end = 0;
  int64_t offset = 0;

  bool Select(std::string_view wanted) {
    if (zone != nullptr && name == wanted) return true;
    const date::time_zone* found = Locate(wanted);
    if (found == nullptr) return false;
    zone = found;
    name = wanted;
    begin = end = 0;
    return true;
  }
  void Remember(const date::sys_info& info) {
    begin = info.begin.time_since_epoch().count();
    end = info.end.time_since_epoch().count();
    offset = info.offset.count();
  }
};

thread_local Cache cache;

}  // namespace

bool IsKnownZone(std::string_view zone) { return IsUtc(zone) || Locate(zone) != nullptr; }

std::optional<Micros> ZoneOffset(std::string_view zone, Micros instant) {
  if (IsUtc(zone)) return 0;
  if (!cache.Select(zone)) return std::nullopt;
  int64_t seconds = FloorSeconds(instant);
  seconds -= FoldSeconds(seconds);
  if (seconds < cache.begin || seconds >= cache.end) {
    try {
      cache.Remember(cache.zone->get_info(date::sys_seconds(std::chrono::seconds(seconds))));
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }
  return cache.offset * kSecond;
}

std::optional<Micros> LocalToInstant(std::string_view zone, Micros local) {
  if (IsUtc(zone)) return local;
  if (!cache.Select(zone)) return std::nullopt;
  int64_t seconds = FloorSeconds(local);
  seconds -= FoldSeconds(seconds);
  // Two days away from either end no gap or overlap is near.
  if (seconds - kDaySeconds * 2 >= cache.begin && seconds + kDaySeconds * 2 < cache.end) {
    return local - cache.offset * kSecond;
  }
  try {
    const date::local_info info = cache.zone->get_info(date::local_seconds(std::chrono::seconds(seconds)));
    // In the gap the offset before it, in the overlap the one behind it: PostgreSQL's rule, standard time in both.
    const date::sys_info& chosen = info.result == date::local_info::ambiguous ? info.second : info.first;
    cache.Remember(chosen);
    return local - chosen.offset.count() * kSecond;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace weir
