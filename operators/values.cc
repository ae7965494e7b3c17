#include "operators/values.h"

#include <string>

namespace weir {
namespace {

constexpr const char* kPartition = "values";

// Its position is the number of rows emitted.
class Values final : public Source {
 public:
  explicit Values(Batch values) : values_(std::move(values)) {}

  Status Open(const SourceContext& context, const Positions& restored) override {
    context_ = &context;
    mine_ = context.task == 0;
    const auto found = restored.find(kPartition);
    if (found != restored.end()) done_ = std::min(values_.rows(), static_cast<size_t>(std::stoull(found->second)));
    return {};
  }
  Result<SourceState> Poll(SourceOutput& out) override {
    if (!mine_ || done_ == values_.rows()) return SourceState::kEnded;
    const size_t count = std::min(kBatchRows, values_.rows() - done_);
    Batch batch = values_.Slice(done_, count);
    auto positions = std::make_shared<std::vector<RowPosition>>();
    for (size_t i = 0; i < count; ++i) positions->push_back({0, static_cast<int64_t>(done_ + i)});
    batch.set_positions(std::move(positions));
    done_ += count;
    context_->metrics->records_in += static_cast<int64_t>(count);
    out.Emit(std::move(batch));
    return SourceState::kRunning;
  }
  Positions CurrentPositions() const override {
    return mine_ ? Positions{{kPartition, std::to_string(done_)}} : Positions{};
  }
  std::vector<std::string> Partitions() const override {
    return mine_ ? std::vector<std::string>{kPartition} : std::vector<std::string>{};
  }
  std::string Describe(const RowPosition& position) const override {
    return "values/" + std::to_string(position.offset + 1);
  }

 private:
  Batch values_;
  const SourceContext* context_ = nullptr;
  bool mine_ = false;
  size_t done_ = 0;
};

}  // namespace

Result<std::unique_ptr<Source>> MakeValuesSource(Batch values) {
  return std::unique_ptr<Source>(std::make_unique<Values>(std::move(values)));
}

}  // namespace weir
