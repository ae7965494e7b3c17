#include <map>

#include "connectors/memory/memory.h"

namespace weir {
namespace {

class MemorySink final : public Operator {
 public:
  explicit MemorySink(std::shared_ptr<MemoryResult> result) : result_(std::move(result)) {}

  Result<Progress> Process(int, const Batch& batch, Output&) override {
    result_->Append(batch, epoch_);
    return Progress::kDone;
  }
  // Epoch numbers may have gaps, so rows are filed under the lowest number that their epoch can have: above every
  // checkpoint that does not hold them and at most that of the first that does.
  Status Snapshot(SnapshotWriter& writer) override {
    epoch_ = writer.epoch() + 1;
    return {};
  }
  Status Restore(const SnapshotReader& reader) override {
    epoch_ = reader.epoch() + 1;
    result_->DropAfter(reader.epoch());
    return {};
  }

 private:
  const std::shared_ptr<MemoryResult> result_;
  Epoch epoch_ = 1;  // rows before the first checkpoint: checkpoint 0 does not hold them
};

std::string RowText(const Batch& batch, size_t row) {
  std::string text;
  for (const ColumnPtr& column : batch.columns()) {
    if (!text.empty()) text += ' ';
    text += FormatValue(*column, row);
  }
  return text;
}

}  // namespace

void MemoryResult::Append(Batch batch) { Append(std::move(batch), 0); }

void MemoryResult::Append(Batch batch, Epoch epoch) {
  std::lock_guard lock(mutex_);
  batches_.emplace_back(epoch, std::move(batch));
}

std::vector<Batch> MemoryResult::Batches() const {
  std::lock_guard lock(mutex_);
  std::vector<Batch> out;
  out.reserve(batches_.size());
  for (const auto& [epoch, batch] : batches_) out.push_back(batch);
  return out;
}

Result<std::vector<std::string>> MemoryResult::Collapsed() const {
  std::map<std::string, int64_t> count;
  for (const Batch& batch : Batches()) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      std::string text = RowText(batch, row);
      if (IsAdd(batch.kind(row))) {
        ++count[std::move(text)];
        continue;
      }
      const auto at = count.find(text);
      if (at == count.end()) {
        return DataError("a row that is not there is retracted: " + std::string(ToString(batch.kind(row))) + " " +
                         text);
      }
      if (--at->second == 0) count.erase(at);
    }
  }
  std::vector<std::string> out;
  for (const auto& [text, times] : count) out.insert(out.end(), static_cast<size_t>(times), text);
  return out;
}

void MemoryResult::DropAfter(Epoch epoch) {
  std::lock_guard lock(mutex_);
  std::erase_if(batches_, [epoch](const auto& entry) { return entry.first > epoch; });
}

Result<std::unique_ptr<Operator>> MakeMemorySink(std::shared_ptr<MemoryResult> result) {
  return std::make_unique<MemorySink>(std::move(result));
}

}  // namespace weir
