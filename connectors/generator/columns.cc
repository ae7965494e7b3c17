#include "connectors/generator/columns.h"

#include <charconv>

#include "connectors/generator/attribution.h"
#include "connectors/generator/time_columns.h"

namespace weir {
namespace {

class OrderColumns final : public GeneratedColumns {
 public:
  explicit OrderColumns(const GeneratorOptions& options) : law_(options), days_(DayWords(options.days)) {}
  ColumnPtr Make(int column, std::span<const int64_t> rows) const override {
    switch (column) {
      case 0:
        return IntColumn(BigintType(), rows, [](int64_t row) { return row + 1; });
      case 1:
        return IntColumn(BigintType(), rows, [this](int64_t row) { return law_.User(row); });
      case 2:
        return IntColumn(DecimalType(12, 2), rows, [this](int64_t row) { return law_.Cents(row); });
      case 3:
        return TimeColumn(law_, rows);
      default:
        return DayColumn(law_, days_, rows);
    }
  }

 private:
  const OrderLaw law_;
  const Words days_;
};

class VisitColumns final : public GeneratedColumns {
 public:
  explicit VisitColumns(const GeneratorOptions& options) : law_(options), days_(DayWords(options.days)) {
    for (const std::string_view channel : kChannels) channels_.Add(channel);
  }
  ColumnPtr Make(int column, std::span<const int64_t> rows) const override {
    switch (column) {
      case 0:
        return IntColumn(BigintType(), rows, [](int64_t row) { return row + 1; });
      case 1:
        return IntColumn(BigintType(), rows, [this](int64_t row) { return law_.User(row); });
      case 2:
        return WordColumn(channels_, rows, [this](int64_t row) { return law_.Channel(row); });
      case 3:
        return Pages(rows);
      case 4:
        return TimeColumn(law_, rows);
      default:
        return DayColumn(law_, days_, rows);
    }
  }

 private:
  ColumnPtr Pages(std::span<const int64_t> rows) const {
    constexpr std::string_view kPrefix = "/item/";
    constexpr size_t kLongest = kPrefix.size() + 20;
    return WrittenColumn(rows, rows.size() * kLongest, [&](int64_t row, char* to) {
      std::memcpy(to, kPrefix.data(), kPrefix.size());
      return std::to_chars(to + kPrefix.size(), to + kLongest, law_.Page(row)).ptr;
    });
  }

  const VisitLaw law_;
  const Words days_;
  Words channels_;
};

}  // namespace

Result<std::unique_ptr<GeneratedColumns>> MakeGeneratedColumns(const GeneratorOptions& options) {
  WEIR_TRY(CheckGeneratorOptions(options));
  if (options.kind == "orders") return std::make_unique<OrderColumns>(options);
  if (options.kind == "visits") return std::make_unique<VisitColumns>(options);
  if (options.kind == "behaviour") return MakeBehaviourColumns(options);
  return ConfigError("there is no kind '" + options.kind + "'; there are orders, visits, behaviour and nexmark",
                     options.name);
}

}  // namespace weir
