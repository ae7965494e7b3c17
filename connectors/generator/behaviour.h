// The law of user behaviour in a shop: what a user does with an item of a store, on which page, when.
//
// Of 100 rows 70 are views, 15 clicks, 8 cart, 4 favourite and 3 buy.  Users are uniform; items (10,000), stores (100)
// and pages (100) are skewed: the square of a uniform number, so that a tenth of the pages has a third of the rows. The
// amount is the price of the item in that store at that moment.  Immutable, any thread.
#pragma once

#include "connectors/generator/attribution.h"

namespace weir {

inline constexpr std::array<std::string_view, 5> kBehaviours = {"view", "click", "cart", "favourite", "buy"};

class BehaviourLaw : public AttributionLaw {
 public:
  static constexpr uint64_t kItems = 10'000;
  static constexpr uint64_t kStores = 100;
  static constexpr uint64_t kPages = 100;

  explicit BehaviourLaw(const GeneratorOptions& options) : AttributionLaw(options, 4) {}
  uint64_t User(int64_t row) const { return draws_.Below(First(row), users_); }
  int64_t Item(int64_t row) const { return 1 + static_cast<int64_t>(Skewed(First(row) + 1, kItems)); }
  int64_t Store(int64_t row) const { return 1 + static_cast<int64_t>(Skewed(First(row) + 2, kStores)); }
  size_t Page(int64_t row) const { return Skewed(First(row) + 3, kPages); }
  size_t Behaviour(int64_t row) const {
    const uint64_t percent = draws_.Below(First(row) + 4, 100);
    if (percent < 70) return 0;
    if (percent < 85) return 1;
    if (percent < 93) return 2;
    return percent < 97 ? 3 : 4;
  }
  int64_t Cents(int64_t row) const { return 100 + static_cast<int64_t>(draws_.Below(First(row) + 5, 99'900)); }

 private:
  static uint64_t First(int64_t row) { return 6 * static_cast<uint64_t>(row); }
  uint64_t Skewed(uint64_t draw, uint64_t bound) const {
    const uint64_t uniform = draws_.Below(draw, uint64_t{1} << 24);
    return (uniform * uniform >> 24) * bound >> 24;
  }
};

// The texts of users and pages; a user's has at most kLongestUser bytes.
inline constexpr size_t kLongestUser = 26;
char* WriteUser(uint64_t user, char* to);  // u-0000012345
std::string BehaviourPage(size_t page);    // /shop/17

}  // namespace weir
