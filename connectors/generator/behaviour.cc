#include "connectors/generator/behaviour.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "connectors/generator/columns.h"
#include "connectors/generator/time_columns.h"

namespace weir {
namespace {

class BehaviourColumns final : public GeneratedColumns {
 public:
  explicit BehaviourColumns(const GeneratorOptions& options) : law_(options), days_(DayWords(options.days)) {
    for (const std::string_view behaviour : kBehaviours) behaviours_.Add(behaviour);
    for (size_t page = 0; page < BehaviourLaw::kPages; ++page) pages_.Add(BehaviourPage(page));
  }

  ColumnPtr Make(int column, std::span<const int64_t> rows) const override {
    switch (column) {
      case 0:
        return IntColumn(BigintType(), rows, [](int64_t row) { return row + 1; });
      case 1:
        return WrittenColumn(rows, rows.size() * kLongestUser,
                             [this](int64_t row, char* to) { return WriteUser(law_.User(row), to); });
      case 2:
        return IntColumn(BigintType(), rows, [this](int64_t row) { return law_.Item(row); });
      case 3:
        return IntColumn(BigintType(), rows, [this](int64_t row) { return law_.Store(row); });
      case 4:
        return WordColumn(behaviours_, rows, [this](int64_t row) { return law_.Behaviour(row); });
      case 5:
        return WordColumn(pages_, rows, [this](int64_t row) { return law_.Page(row); });
      case 6:
        return IntColumn(DecimalType(12, 2), rows, [this](int64_t row) { return law_.Cents(row); });
      case 7:
        return TimeColumn(law_, rows);
      default:
        return DayColumn(law_, days_, rows);
    }
  }

 private:
  const BehaviourLaw law_;
  const Words days_;
  Words behaviours_;
  Words pages_;
};

}  // namespace

char* WriteUser(uint64_t user, char* to) {
  constexpr size_t kDigits = 10;
  char digits[20];
  char* const end = std::to_chars(digits, digits + sizeof digits, user).ptr;
  const size_t size = static_cast<size_t>(end - digits);
  *to++ = 'u';
  *to++ = '-';
  if (size < kDigits) to = std::fill_n(to, kDigits - size, '0');
  return std::copy(digits, end, to);
}

std::string BehaviourPage(size_t page) { return "/shop/" + std::to_string(page); }

Result<std::unique_ptr<GeneratedColumns>> MakeBehaviourColumns(const GeneratorOptions& options) {
  return std::make_unique<BehaviourColumns>(options);
}

}  // namespace weir
