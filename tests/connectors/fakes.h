// What connector tests put in place of the runtime.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/source.h"

namespace weir {

class CollectedSource final : public SourceOutput {
 public:
  void Emit(Batch batch) override { batches.push_back(std::move(batch)); }
  void MarkIdle(size_t partition) override { idle.emplace_back(batches.size(), partition); }
  void MarkEnded(size_t partition) override { ended.emplace_back(batches.size(), partition); }
  std::string Text() const {
    std::string out;
    for (const Batch& batch : batches) out += batch.ToString();
    return out;
  }
  size_t Rows() const {
    size_t rows = 0;
    for (const Batch& batch : batches) rows += batch.rows();
    return rows;
  }

  std::vector<Batch> batches;
  std::vector<std::pair<size_t, size_t>> idle;   // batches before the mark, partition
  std::vector<std::pair<size_t, size_t>> ended;  // the same
};

class NoOutput final : public Output {
 public:
  void Emit(Batch) override {}
  bool HasRoom() const override { return true; }
};

// Keeps what an operator hands over; RunWork does what the I/O pool would.
class FakeSnapshotWriter final : public SnapshotWriter {
 public:
  explicit FakeSnapshotWriter(Epoch epoch) : epoch_(epoch) {}
  Epoch epoch() const override { return epoch_; }
  void Put(std::string bytes) override { state = std::move(bytes); }
  void WriteLater(std::function<Status(File&)>) override {}
  void FinishLater(std::function<Status()> work) override { work_.push_back(std::move(work)); }
  void PutCommitData(std::string bytes) override { commit_data = std::move(bytes); }
  Status RunWork() {
    for (const auto& work : work_) WEIR_TRY(work());
    return {};
  }

  std::string state;
  std::string commit_data;

 private:
  Epoch epoch_;
  std::vector<std::function<Status()>> work_;
};

class FakeSnapshotReader final : public SnapshotReader {
 public:
  FakeSnapshotReader(Epoch epoch, std::vector<Part> parts) : epoch_(epoch), parts_(std::move(parts)) {}
  Epoch epoch() const override { return epoch_; }
  const std::vector<Part>& parts() const override { return parts_; }
  Result<std::string> Read(const Part&) const override { return std::string(); }

 private:
  Epoch epoch_;
  std::vector<Part> parts_;
};

// Polls until the source waits, ends or fails.
inline Result<SourceState> PollAll(Source& source, SourceOutput& out) {
  while (true) {
    WEIR_ASSIGN(const SourceState state, source.Poll(out));
    if (state != SourceState::kRunning) return state;
  }
}

// Rows of integer and text columns: {"1", "x"}; NULL for the text "NULL".
inline Batch MakeBatch(const SchemaPtr& schema, const std::vector<std::pair<RowKind, std::vector<std::string>>>& rows) {
  BatchBuilder builder(schema);
  for (const auto& [kind, values] : rows) {
    for (size_t i = 0; i < values.size(); ++i) {
      Column& column = builder.column(i);
      if (values[i] == "NULL") {
        column.AppendNull();
      } else if (column.physical() == Physical::kInt64) {
        column.AppendInt(std::stoll(values[i]));
      } else {
        column.AppendText(values[i]);
      }
    }
    builder.FinishRow(kind);
  }
  return builder.Build();
}

}  // namespace weir
