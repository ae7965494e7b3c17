// Produces rows straight into columns: first the numbers of the batch's rows, then column by column.
#include <algorithm>
#include <charconv>

#include "connectors/generator/columns.h"
#include "connectors/generator/nexmark_source.h"

namespace weir {
namespace {

class GeneratorSource final : public Source {
 public:
  GeneratorSource(GeneratorOptions options, std::unique_ptr<GeneratedColumns> columns, SchemaPtr schema)
      : options_(std::move(options)), columns_(std::move(columns)), schema_(std::move(schema)) {}

  Status Open(const SourceContext& context, const Positions& restored) override;
  Result<SourceState> Poll(SourceOutput& out) override;
  Positions CurrentPositions() const override;
  std::vector<std::string> Partitions() const override;
  std::string Describe(const RowPosition& position) const override {
    return options_.name + "/" + std::to_string(parts_[position.partition].id) + "/" + std::to_string(position.offset);
  }

 private:
  struct Part {
    int id = 0;
    int64_t made = 0;         // rows so far: the position
    int64_t made_before = 0;  // at Open
    int64_t rows = 0;         // in all
  };

  // Row numbers below `end` that belong to partition `id`.
  int64_t RowsBelow(int64_t end, int id) const {
    return end <= id ? 0 : (end - id + options_.partitions - 1) / options_.partitions;
  }
  // How many rows the partition may have made by now.
  int64_t Due(const Part& part, int64_t paced_rows) const {
    return options_.rate ? std::min(part.rows, part.made_before + RowsBelow(paced_rows, part.id)) : part.rows;
  }
  void ChooseRows(std::vector<RowPosition>& positions);

  const GeneratorOptions options_;
  const std::unique_ptr<GeneratedColumns> columns_;
  const SchemaPtr schema_;
  SourceContext context_;
  Micros opened_ = 0;
  std::vector<Part> parts_;
  std::vector<int64_t> row_numbers_;
};

Status GeneratorSource::Open(const SourceContext& context, const Positions& restored) {
  context_ = context;
  opened_ = context.clock != nullptr ? context.clock->Monotonic() : 0;
  for (int id = context.task; id < options_.partitions; id += context.parallelism) {
    Part part;
    part.id = id;
    part.rows = RowsBelow(options_.rows, id);
    if (const auto at = restored.find(std::to_string(id)); at != restored.end()) {
      const std::string& text = at->second;
      const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), part.made);
      if (fault != std::errc() || end != text.data() + text.size() || part.made < 0) {
        return StateError("'" + text + "' is not a position of a generator", options_.name);
      }
    }
    part.made_before = part.made;
    parts_.push_back(part);
  }
  row_numbers_.reserve(kBatchRows);
  return {};
}

// Takes turns between the partitions, so that their times advance together.
void GeneratorSource::ChooseRows(std::vector<RowPosition>& positions) {
  row_numbers_.clear();
  int64_t paced_rows = 0;
  if (options_.rate) {
    const Micros elapsed = context_.clock->Monotonic() - opened_;
    paced_rows = static_cast<int64_t>(static_cast<Int128>(elapsed) * *options_.rate / 1'000'000);
  }
  bool any = true;
  while (any) {
    any = false;
    for (uint32_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (part.made >= Due(part, paced_rows)) continue;
      if (row_numbers_.size() == kBatchRows) return;
      any = true;
      row_numbers_.push_back(part.made * options_.partitions + part.id);
      positions.push_back({i, part.made});
      ++part.made;
    }
  }
}

Result<SourceState> GeneratorSource::Poll(SourceOutput& out) {
  auto positions = std::make_shared<std::vector<RowPosition>>();
  positions->reserve(kBatchRows);
  ChooseRows(*positions);
  if (row_numbers_.empty()) {
    const bool ended = std::all_of(parts_.begin(), parts_.end(), [](const Part& p) { return p.made >= p.rows; });
    return ended ? SourceState::kEnded : SourceState::kWaiting;
  }
  std::vector<ColumnPtr> columns;
  columns.reserve(options_.read.size());
  for (const int column : options_.read) columns.push_back(columns_->Make(column, row_numbers_));
  Batch batch(schema_, std::move(columns), row_numbers_.size());
  batch.set_positions(std::move(positions));
  if (context_.metrics != nullptr) {
    context_.metrics->records_in.fetch_add(static_cast<int64_t>(batch.rows()), std::memory_order_relaxed);
    context_.metrics->input_bytes.fetch_add(static_cast<int64_t>(batch.ByteSize()), std::memory_order_relaxed);
  }
  out.Emit(std::move(batch));
  return SourceState::kRunning;
}

Positions GeneratorSource::CurrentPositions() const {
  Positions out;
  for (const Part& part : parts_) out[std::to_string(part.id)] = std::to_string(part.made);
  return out;
}

std::vector<std::string> GeneratorSource::Partitions() const {
  std::vector<std::string> out;
  out.reserve(parts_.size());
  for (const Part& part : parts_) out.push_back(std::to_string(part.id));
  return out;
}

}  // namespace

Result<std::unique_ptr<Source>> MakeGeneratorSource(const GeneratorOptions& options) {
  if (options.kind.starts_with("nexmark.")) return MakeNexmarkSource(options);
  WEIR_ASSIGN(auto columns, MakeGeneratedColumns(options));
  WEIR_ASSIGN(SchemaPtr schema, ReadSchema(options));
  return std::make_unique<GeneratorSource>(options, std::move(columns), std::move(schema));
}

}  // namespace weir
