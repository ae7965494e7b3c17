#include "jobs/wire/values_source.h"

namespace weir {
namespace {

constexpr const char* kPartition = "values";

class ValuesSource final : public Source {
 public:
  explicit ValuesSource(Batch rows) : rows_(std::move(rows)) {}

  Status Open(const SourceContext& context, const Positions& restored) override {
    metrics_ = context.metrics;
    mine_ = context.task == 0;
    const auto position = restored.find(kPartition);
    emitted_ = !mine_ || (position != restored.end() && position->second == "1");
    return {};
  }

  Result<SourceState> Poll(SourceOutput& out) override {
    if (!emitted_) {
      emitted_ = true;
      if (metrics_) metrics_->records_in += static_cast<int64_t>(rows_.rows());
      Emit(out);
    }
    return SourceState::kEnded;
  }

  Positions CurrentPositions() const override {
    if (!mine_) return {};
    return {{kPartition, emitted_ ? "1" : "0"}};
  }
  std::vector<std::string> Partitions() const override {
    if (!mine_) return {};
    return {kPartition};
  }
  std::string Describe(const RowPosition& position) const override {
    return "VALUES row " + std::to_string(position.offset);
  }

 private:
  void Emit(SourceOutput& out) {
    auto positions = std::make_shared<std::vector<RowPosition>>();
    for (size_t row = 0; row < rows_.rows(); ++row) positions->push_back({0, static_cast<int64_t>(row) + 1});
    Batch batch = rows_;
    batch.set_positions(std::move(positions));
    out.Emit(std::move(batch));
  }

  Batch rows_;
  SourceMetrics* metrics_ = nullptr;
  bool mine_ = true;
  bool emitted_ = false;
};

}  // namespace

std::unique_ptr<Source> MakeValuesSource(Batch rows) { return std::make_unique<ValuesSource>(std::move(rows)); }

}  // namespace weir
