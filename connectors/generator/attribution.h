// The laws of orders, visits and behaviour: row i as a function of seed and i.  Immutable, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "connectors/generator/draws.h"
#include "connectors/generator/options.h"

namespace weir {

inline constexpr int64_t kDayMs = 86'400'000;

inline constexpr std::array<std::string_view, 8> kChannels = {"search",    "email",   "social", "direct",
                                                              "affiliate", "display", "video",  "referral"};

// What the kinds have in common: the time of a row and the user.
class AttributionLaw {
 public:
  AttributionLaw(const GeneratorOptions& options, uint64_t stream)
      : draws_(options.seed * 1'000'003 + stream),
        shifts_(options.seed * 1'000'003 + stream + 1000),
        users_(static_cast<uint64_t>(options.users)),
        rows_(options.rows),
        span_ms_(options.days * kDayMs),
        late_ms_(static_cast<uint64_t>(options.out_of_orderness / 1000)),
        small_(options.rows < INT64_MAX / (options.days * kDayMs)) {}

  // Milliseconds since the start of the first day.
  int64_t AtMs(int64_t row) const {
    const int64_t at = small_ ? row * span_ms_ / rows_ : Wide(row);
    if (late_ms_ == 0) return at;
    const int64_t shifted = at - static_cast<int64_t>(shifts_.Below(static_cast<uint64_t>(row), late_ms_ + 1));
    return shifted < 0 ? 0 : shifted;
  }

 protected:
  RandomDraws draws_;
  RandomDraws shifts_;
  uint64_t users_;

 private:
  int64_t Wide(int64_t row) const { return static_cast<int64_t>(static_cast<__int128>(row) * span_ms_ / rows_); }

  int64_t rows_;
  int64_t span_ms_;
  uint64_t late_ms_;
  bool small_;  // row * span fits 64 bits, whose division is five times as fast
};

class OrderLaw : public AttributionLaw {
 public:
  explicit OrderLaw(const GeneratorOptions& options) : AttributionLaw(options, 1) {}
  int64_t Cents(int64_t row) const {
    return 100 + static_cast<int64_t>(draws_.Below(2 * static_cast<uint64_t>(row), 99'900));
  }
  int64_t User(int64_t row) const {
    return static_cast<int64_t>(draws_.Below(2 * static_cast<uint64_t>(row) + 1, users_));
  }
};

class VisitLaw : public AttributionLaw {
 public:
  explicit VisitLaw(const GeneratorOptions& options) : AttributionLaw(options, 2) {}
  int64_t User(int64_t row) const { return static_cast<int64_t>(draws_.Below(3 * static_cast<uint64_t>(row), users_)); }
  size_t Channel(int64_t row) const { return draws_.Below(3 * static_cast<uint64_t>(row) + 1, kChannels.size()); }
  uint64_t Page(int64_t row) const { return draws_.Below(3 * static_cast<uint64_t>(row) + 2, 100'000); }
};

}  // namespace weir
