// Every task walks over all events and keeps the rows of its stream and its partitions.
//
// A partition's position is "rows:event:draw": the rows made, and the place at which the task stood then.  A restored
// task begins at the first place among its partitions and leaves out the rows that a partition already has, so that
// partitions may change tasks.
#include "connectors/generator/nexmark_source.h"

#include <algorithm>
#include <charconv>

#include "connectors/generator/columns.h"
#include "connectors/generator/nexmark_columns.h"

namespace weir {
namespace {

struct NexmarkPosition {
  int64_t rows = 0;
  NexmarkPlace place;
};

std::string ToText(const NexmarkPosition& position) {
  return std::to_string(position.rows) + ":" + std::to_string(position.place.event) + ":" +
         std::to_string(position.place.draw);
}

bool TakeNumber(std::string_view& text, auto& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool TakeColon(std::string_view& text) {
  if (!text.starts_with(':')) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<NexmarkPosition> ReadPosition(std::string_view text) {
  NexmarkPosition position;
  const bool sound = TakeNumber(text, position.rows) && TakeColon(text) && TakeNumber(text, position.place.event) &&
                     TakeColon(text) && TakeNumber(text, position.place.draw) && text.empty();
  if (!sound || position.rows < 0 || position.place.event < 0) return std::nullopt;
  return position;
}

NexmarkPerson Take(const NexmarkLaw& law, NexmarkPlace& place, const NexmarkPerson*) { return law.TakePerson(place); }
NexmarkAuction Take(const NexmarkLaw& law, NexmarkPlace& place, const NexmarkAuction*) {
  return law.TakeAuction(place);
}
NexmarkBid Take(const NexmarkLaw& law, NexmarkPlace& place, const NexmarkBid*) { return law.TakeBid(place); }

template <class Row>
class NexmarkSource final : public Source {
 public:
  NexmarkSource(GeneratorOptions options, SchemaPtr schema)
      : options_(std::move(options)),
        stream_(*FindNexmarkStream(options_.kind)),
        law_(options_),
        schema_(std::move(schema)) {}

  Status Open(const SourceContext& context, const Positions& restored) override;
  Result<SourceState> Poll(SourceOutput& out) override;
  Positions CurrentPositions() const override {
    Positions out;
    for (const Part& part : parts_) out[std::to_string(part.id)] = ToText({part.made, place_});
    return out;
  }
  std::vector<std::string> Partitions() const override {
    std::vector<std::string> out;
    for (const Part& part : parts_) out.push_back(std::to_string(part.id));
    return out;
  }
  std::string Describe(const RowPosition& position) const override {
    return options_.name + "/" + std::to_string(parts_[position.partition].id) + "/" + std::to_string(position.offset);
  }

 private:
  struct Part {
    int id = 0;
    int64_t made = 0;
  };
  static constexpr uint32_t kForeign = UINT32_MAX;
  // Between two looks at the task's other work a source walks over so many events at most.
  static constexpr int64_t kEventsAPoll = 1 << 18;

  // Events before this one may have been made by now.
  int64_t Due() const {
    if (!options_.rate) return options_.rows;
    const Micros elapsed = context_.clock->Monotonic() - opened_;
    const Int128 due = opened_at_ + static_cast<Int128>(elapsed) * *options_.rate / 1'000'000;
    return due < options_.rows ? static_cast<int64_t>(due) : options_.rows;
  }
  void CollectRows(std::vector<RowPosition>& positions);

  const GeneratorOptions options_;
  const NexmarkStream stream_;
  const NexmarkLaw law_;
  const SchemaPtr schema_;
  SourceContext context_;
  Micros opened_ = 0;
  int64_t opened_at_ = 0;  // the event at Open
  NexmarkPlace place_;
  std::vector<Part> parts_;
  std::vector<uint32_t> part_of_;  // partition id to index in parts_
  std::vector<Row> rows_;
};

template <class Row>
Status NexmarkSource<Row>::Open(const SourceContext& context, const Positions& restored) {
  context_ = context;
  opened_ = context.clock != nullptr ? context.clock->Monotonic() : 0;
  part_of_.assign(static_cast<size_t>(options_.partitions), kForeign);
  std::optional<NexmarkPlace> first;
  for (int id = context.task; id < options_.partitions; id += context.parallelism) {
    NexmarkPosition position{0, law_.Start()};
    if (const auto at = restored.find(std::to_string(id)); at != restored.end()) {
      const auto read = ReadPosition(at->second);
      if (!read) return StateError("'" + at->second + "' is not a position of a Nexmark generator", options_.name);
      position = *read;
    }
    if (!first || position.place.event < first->event) first = position.place;
    part_of_[static_cast<size_t>(id)] = static_cast<uint32_t>(parts_.size());
    parts_.push_back({id, position.rows});
  }
  place_ = first.value_or(NexmarkPlace{options_.rows, 0});
  opened_at_ = place_.event;
  rows_.reserve(kBatchRows);
  return {};
}

template <class Row>
void NexmarkSource<Row>::CollectRows(std::vector<RowPosition>& positions) {
  rows_.clear();
  const int64_t end = std::min(Due(), place_.event + kEventsAPoll);
  while (place_.event < end && rows_.size() < kBatchRows) {
    if (NexmarkLaw::StreamOf(place_.event) != stream_) {
      law_.Skip(place_);
      continue;
    }
    const int64_t row = NexmarkLaw::RowOf(place_.event);
    const uint32_t index = part_of_[static_cast<size_t>(row % options_.partitions)];
    if (index == kForeign || row / options_.partitions < parts_[index].made) {
      law_.Skip(place_);
      continue;
    }
    rows_.push_back(Take(law_, place_, static_cast<const Row*>(nullptr)));
    positions.push_back({index, parts_[index].made++});
  }
}

template <class Row>
Result<SourceState> NexmarkSource<Row>::Poll(SourceOutput& out) {
  auto positions = std::make_shared<std::vector<RowPosition>>();
  positions->reserve(kBatchRows);
  const int64_t before = place_.event;
  CollectRows(*positions);
  if (rows_.empty()) {
    if (place_.event >= options_.rows) return SourceState::kEnded;
    return place_.event > before ? SourceState::kRunning : SourceState::kWaiting;
  }
  std::vector<ColumnPtr> columns;
  columns.reserve(options_.read.size());
  for (const int column : options_.read) {
    columns.push_back(MakeNexmarkColumn(law_, column, std::span<const Row>(rows_)));
  }
  Batch batch(schema_, std::move(columns), rows_.size());
  batch.set_positions(std::move(positions));
  if (context_.metrics != nullptr) {
    context_.metrics->records_in.fetch_add(static_cast<int64_t>(batch.rows()), std::memory_order_relaxed);
    context_.metrics->input_bytes.fetch_add(static_cast<int64_t>(batch.ByteSize()), std::memory_order_relaxed);
  }
  out.Emit(std::move(batch));
  return SourceState::kRunning;
}

}  // namespace

Result<std::unique_ptr<Source>> MakeNexmarkSource(const GeneratorOptions& options) {
  WEIR_TRY(CheckGeneratorOptions(options));
  const auto stream = FindNexmarkStream(options.kind);
  if (!stream) return ConfigError("there is no kind '" + options.kind + "'", options.name);
  WEIR_ASSIGN(SchemaPtr schema, ReadSchema(options));
  switch (*stream) {
    case NexmarkStream::kPerson:
      return std::make_unique<NexmarkSource<NexmarkPerson>>(options, std::move(schema));
    case NexmarkStream::kAuction:
      return std::make_unique<NexmarkSource<NexmarkAuction>>(options, std::move(schema));
    case NexmarkStream::kBid:
      break;
  }
  return std::make_unique<NexmarkSource<NexmarkBid>>(options, std::move(schema));
}

}  // namespace weir
