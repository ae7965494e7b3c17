// What `weir generate --kafka` sends: a job without checkpoints, so the source has no position to go back to.
#include "connectors/generator/lines.h"

namespace weir {
namespace {

class LineSource final : public Source {
 public:
  explicit LineSource(std::unique_ptr<GeneratedLines> lines)
      : lines_(std::move(lines)), schema_(std::make_shared<const Schema>(Schema({{"line", StringType(), false}}))) {}

  Status Open(const SourceContext& context, const Positions&) override {
    mine_ = context.task == 0;
    return {};
  }

  Result<SourceState> Poll(SourceOutput& out) override {
    if (!mine_) return SourceState::kEnded;
    BatchBuilder builder(schema_);
    bool more = true;
    while (builder.rows() < kBatchRows) {
      line_.clear();
      more = lines_->Append(line_);
      if (!more) break;
      builder.column(0).AppendText(line_);
      builder.FinishRow(RowKind::kInsert);
    }
    const size_t rows = builder.rows();
    if (rows > 0) {
      Batch batch = builder.Build();
      auto positions = std::make_shared<std::vector<RowPosition>>(rows, RowPosition{0, made_});
      for (RowPosition& position : *positions) position.offset = made_++;
      batch.set_positions(std::move(positions));
      out.Emit(std::move(batch));
    }
    return more ? SourceState::kRunning : SourceState::kEnded;
  }

  Positions CurrentPositions() const override { return {{"0", std::to_string(made_)}}; }
  std::vector<std::string> Partitions() const override { return {"0"}; }
  std::string Describe(const RowPosition& position) const override { return "line " + std::to_string(position.offset); }

 private:
  const std::unique_ptr<GeneratedLines> lines_;
  const SchemaPtr schema_;
  bool mine_ = false;
  int64_t made_ = 0;
  std::string line_;
};

}  // namespace

Result<std::unique_ptr<Source>> MakeLineSource(const GeneratorOptions& options) {
  WEIR_ASSIGN(std::unique_ptr<GeneratedLines> lines, MakeGeneratedLines(options));
  return std::make_unique<LineSource>(std::move(lines));
}

}  // namespace weir
