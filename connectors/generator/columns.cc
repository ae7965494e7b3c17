#include "connectors/generator/columns.h"

#include <charconv>

#include "connectors/generator/attribution.h"
#include "engine/data/text.h"

namespace weir {
namespace {

// Texts of which a kind has few: written once, every batch refers to the same bytes.
class Words {
 public:
  void Add(std::string_view word) {
    refs_.push_back({static_cast<uint32_t>(arena_->size()), static_cast<uint32_t>(word.size())});
    arena_->insert(arena_->end(), word.begin(), word.end());
  }
  TextRef operator[](size_t i) const { return refs_[i]; }
  const std::shared_ptr<Arena>& arena() const { return arena_; }

 private:
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  std::vector<TextRef> refs_;
};

Words Days(int days) {
  Words out;
  for (int day = 0; day < days; ++day) {
    std::string text;
    AppendDate(kGeneratorStartMs / kDayMs + day, text);
    out.Add(text);
  }
  return out;
}

template <class Value>
ColumnPtr Ints(DataType type, std::span<const int64_t> rows, Value value) {
  auto column = std::make_shared<Column>(type);
  column->Resize(rows.size());
  int64_t* to = column->mutable_ints();
  for (size_t i = 0; i < rows.size(); ++i) to[i] = value(rows[i]);
  return column;
}

template <class Value>
ColumnPtr WordColumn(const Words& words, std::span<const int64_t> rows, Value value) {
  auto column = std::make_shared<Column>(StringType());
  column->ShareArena(words.arena());
  column->Resize(rows.size());
  TextRef* to = column->mutable_texts();
  for (size_t i = 0; i < rows.size(); ++i) to[i] = words[value(rows[i])];
  return column;
}

template <class Law>
ColumnPtr TimeColumn(const Law& law, std::span<const int64_t> rows) {
  return Ints(TimestampType(3), rows, [&](int64_t row) { return (kGeneratorStartMs + law.AtMs(row)) * 1000; });
}

template <class Law>
ColumnPtr DayColumn(const Law& law, const Words& days, std::span<const int64_t> rows) {
  return WordColumn(days, rows, [&](int64_t row) { return static_cast<size_t>(law.AtMs(row) / kDayMs); });
}

class OrderColumns final : public GeneratedColumns {
 public:
  explicit OrderColumns(const GeneratorOptions& options) : law_(options), days_(Days(options.days)) {}
  ColumnPtr Make(int column, std::span<const int64_t> rows) const override {
    switch (column) {
      case 0:
        return Ints(BigintType(), rows, [](int64_t row) { return row + 1; });
      case 1:
        return Ints(BigintType(), rows, [this](int64_t row) { return law_.User(row); });
      case 2:
        return Ints(DecimalType(12, 2), rows, [this](int64_t row) { return law_.Cents(row); });
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
  explicit VisitColumns(const GeneratorOptions& options) : law_(options), days_(Days(options.days)) {
    for (const std::string_view channel : kChannels) channels_.Add(channel);
  }
  ColumnPtr Make(int column, std::span<const int64_t> rows) const override {
    switch (column) {
      case 0:
        return Ints(BigintType(), rows, [](int64_t row) { return row + 1; });
      case 1:
        return Ints(BigintType(), rows, [this](int64_t row) { return law_.User(row); });
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
    auto column = std::make_shared<Column>(StringType());
    column->Resize(rows.size());
    Arena& arena = column->mutable_arena();
    arena.resize(rows.size() * kLongest);
    TextRef* refs = column->mutable_texts();
    char* at = arena.data();
    for (size_t i = 0; i < rows.size(); ++i) {
      std::memcpy(at, kPrefix.data(), kPrefix.size());
      char* const end = std::to_chars(at + kPrefix.size(), at + kLongest, law_.Page(rows[i])).ptr;
      refs[i] = {static_cast<uint32_t>(at - arena.data()), static_cast<uint32_t>(end - at)};
      at = end;
    }
    arena.resize(static_cast<size_t>(at - arena.data()));
    return column;
  }

  const VisitLaw law_;
  const Words days_;
  Words channels_;
};

}  // namespace

std::optional<Schema> GeneratorSchema(const std::string& kind) {
  if (kind == "orders") {
    return Schema({{"order_id", BigintType(), false},
                   {"user_id", BigintType(), false},
                   {"amount", DecimalType(12, 2), false},
                   {"ts", TimestampType(3), false},
                   {"ds", StringType(), false}});
  }
  if (kind == "visits") {
    return Schema({{"visit_id", BigintType(), false},
                   {"user_id", BigintType(), false},
                   {"channel", StringType(), false},
                   {"page", StringType(), false},
                   {"ts", TimestampType(3), false},
                   {"ds", StringType(), false}});
  }
  return std::nullopt;
}

Result<std::unique_ptr<GeneratedColumns>> MakeGeneratedColumns(const GeneratorOptions& options) {
  if (options.rows < 0) return ConfigError("rows must not be negative", options.name);
  if (options.users < 1) return ConfigError("users must be at least 1", options.name);
  if (options.days < 1 || options.days > 36'500) return ConfigError("days must be between 1 and 36500", options.name);
  if (options.out_of_orderness < 0) return ConfigError("out_of_orderness must not be negative", options.name);
  if (options.partitions < 1) return ConfigError("partitions must be at least 1", options.name);
  if (options.rate && *options.rate < 1) return ConfigError("rate must be at least 1 row a second", options.name);
  if (options.kind == "orders") return std::make_unique<OrderColumns>(options);
  if (options.kind == "visits") return std::make_unique<VisitColumns>(options);
  if (options.kind == "behaviour" || options.kind == "nexmark") {
    return ConfigError("kind " + options.kind + " is not available yet; there are orders and visits", options.name);
  }
  return ConfigError("there is no kind '" + options.kind + "'; there are orders and visits", options.name);
}

}  // namespace weir
