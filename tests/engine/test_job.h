// A small job for the runtime's tests: numbers come in, are counted per key in keyed state, and go to a shared list.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/data/hash.h"
#include "engine/runtime/job.h"
#include "tests/temporary_folder.h"

namespace weir::testing {

inline SchemaPtr NumberSchema() {
  static const SchemaPtr schema =
      std::make_shared<const Schema>(std::vector<Field>{{"key", BigintType()}, {"value", BigintType()}});
  return schema;
}

// `rows` numbers per partition: row i of partition p has key (i * partitions + p) % keys and value 1.
struct NumberOptions {
  int partitions = 2;
  int64_t rows = 1000;
  int64_t keys = 10;
  size_t batch = 16;
  std::shared_ptr<std::atomic<int64_t>> allowed;  // rows per partition that may be read so far; null = all
};

class NumberSource final : public Source {
 public:
  explicit NumberSource(NumberOptions options) : options_(std::move(options)) {}
  Status Open(const SourceContext& context, const Positions& restored) override {
    context_ = &context;
    for (int p = context.task; p < options_.partitions; p += context.parallelism) {
      const std::string name = std::to_string(p);
      const auto found = restored.find(name);
      partitions_.push_back({p, found == restored.end() ? 0 : std::stoll(found->second)});
    }
    return {};
  }
  Result<SourceState> Poll(SourceOutput& out) override {
    bool waiting = false;
    for (size_t turn = 0; turn < partitions_.size(); ++turn) {
      const size_t index = (next_ + turn) % partitions_.size();
      auto& [partition, at] = partitions_[index];
      const int64_t end = options_.allowed ? std::min(options_.rows, options_.allowed->load()) : options_.rows;
      if (at >= end) {
        waiting |= at < options_.rows;
        continue;
      }
      BatchBuilder rows(NumberSchema());
      auto positions = std::make_shared<std::vector<RowPosition>>();
      for (size_t i = 0; i < options_.batch && at < end; ++i, ++at) {
        rows.column(0).AppendInt((at * options_.partitions + partition) % options_.keys);
        rows.column(1).AppendInt(1);
        rows.FinishRow(RowKind::kInsert);
        positions->push_back({static_cast<uint32_t>(index), at});
      }
      context_->metrics->records_in += static_cast<int64_t>(rows.rows());
      Batch batch = rows.Build();
      batch.set_positions(std::move(positions));
      out.Emit(std::move(batch));
      next_ = index + 1;
      return SourceState::kRunning;
    }
    return waiting ? SourceState::kWaiting : SourceState::kEnded;
  }
  Positions CurrentPositions() const override {
    Positions positions;
    for (const auto& [partition, at] : partitions_) positions[std::to_string(partition)] = std::to_string(at);
    return positions;
  }
  std::vector<std::string> Partitions() const override {
    std::vector<std::string> names;
    for (const auto& [partition, at] : partitions_) names.push_back(std::to_string(partition));
    return names;
  }
  std::string Describe(const RowPosition& position) const override {
    return "numbers/" + std::to_string(position.partition) + "/" + std::to_string(position.offset);
  }

 private:
  const NumberOptions options_;
  const SourceContext* context_ = nullptr;
  std::vector<std::pair<int, int64_t>> partitions_;
  size_t next_ = 0;
};

// Counts values per key and emits every new count: +I, then -U/+U.
class CountOperator final : public Operator {
 public:
  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    BatchBuilder result(NumberSchema());
    for (size_t row = 0; row < batch.rows(); ++row) {
      const int64_t key = batch.column(0).ints()[row];
      int64_t& count = counts_[key];
      if (count > 0) Add(result, key, count, RowKind::kUpdateBefore);
      count += batch.column(1).ints()[row];
      Add(result, key, count, count == 1 ? RowKind::kInsert : RowKind::kUpdateAfter);
    }
    out.Emit(result.Build());
    return Progress::kDone;
  }
  Status Snapshot(SnapshotWriter& writer) override {
    auto copy = std::make_shared<std::map<int64_t, int64_t>>(counts_);
    writer.WriteLater([copy](SnapshotWriter::File& file) -> Status {
      for (const auto& [key, count] : *copy) {
        WEIR_TRY(file.Append(std::to_string(key) + " " + std::to_string(count) + "\n"));
      }
      return {};
    });
    return {};
  }
  Status Restore(const SnapshotReader& reader) override {
    for (const auto& part : reader.parts()) {
      WEIR_ASSIGN(const std::string text, reader.Read(part));
      std::istringstream in(text);
      for (int64_t key = 0, count = 0; in >> key >> count;) {
        BatchBuilder one(NumberSchema());
        Add(one, key, count, RowKind::kInsert);
        std::vector<uint64_t> hashes;
        const int columns[] = {0};
        HashRows(one.Build(), columns, hashes);
        if (TaskOf(KeyGroupOf(hashes[0]), context().parallelism) == context().task) counts_[key] = count;
      }
    }
    return {};
  }
  std::vector<StateSize> StateSizes() const override {
    return {{"counts", static_cast<int64_t>(counts_.size()), static_cast<int64_t>(counts_.size() * 16)}};
  }

 private:
  static void Add(BatchBuilder& rows, int64_t key, int64_t count, RowKind kind) {
    rows.column(0).AppendInt(key);
    rows.column(1).AppendInt(count);
    rows.FinishRow(kind);
  }
  std::map<int64_t, int64_t> counts_;
};

// What sinks of all tasks and attempts have published: rows become visible when their epoch commits.
struct Published {
  std::mutex mutex;
  std::map<int64_t, int64_t> counts;
  std::vector<Epoch> epochs;
};

class PublishingSink final : public Operator {
 public:
  explicit PublishingSink(std::shared_ptr<Published> published) : published_(std::move(published)) {}
  Result<Progress> Process(int, const Batch& batch, Output&) override {
    for (size_t row = 0; row < batch.rows(); ++row) {
      open_.emplace_back(batch.kind(row), batch.column(0).ints()[row], batch.column(1).ints()[row]);
    }
    return Progress::kDone;
  }
  Status Snapshot(SnapshotWriter& writer) override {
    const std::lock_guard lock(mutex_);
    closed_[writer.epoch()] = std::move(open_);
    open_.clear();
    return {};
  }
  Status OnCommit(Epoch epoch, const std::string&) override {
    const std::lock_guard lock(mutex_);
    const std::lock_guard published_lock(published_->mutex);
    published_->epochs.push_back(epoch);
    for (const auto& [kind, key, count] : closed_[epoch]) {
      if (IsAdd(kind)) published_->counts[key] = count;
    }
    closed_.erase(epoch);
    return {};
  }

 private:
  const std::shared_ptr<Published> published_;
  std::mutex mutex_;
  std::vector<std::tuple<RowKind, int64_t, int64_t>> open_;
  std::map<Epoch, std::vector<std::tuple<RowKind, int64_t, int64_t>>> closed_;
};

inline JobGraph CountGraph(const NumberOptions& numbers, int source_tasks, int count_tasks,
                           std::shared_ptr<Published> published) {
  JobGraph graph;
  StageSpec source;
  source.name = "numbers";
  source.parallelism = source_tasks;
  source.source = SourceSpec{"numbers",
                             [numbers](int, int) -> Result<std::unique_ptr<Source>> {
                               return std::unique_ptr<Source>(std::make_unique<NumberSource>(numbers));
                             },
                             std::nullopt, false};
  StageSpec count;
  count.name = "count";
  count.parallelism = count_tasks;
  count.inputs = {{0, count_tasks == 1 ? Exchange::kGather : Exchange::kHash, {0}}};
  count.chain.push_back({"count-1", "aggregate", "count", [](int, int) -> Result<std::unique_ptr<Operator>> {
                           return std::unique_ptr<Operator>(std::make_unique<CountOperator>());
                         }});
  count.chain.push_back({"sink-1", "sink", "out", [published](int, int) -> Result<std::unique_ptr<Operator>> {
                           return std::unique_ptr<Operator>(std::make_unique<PublishingSink>(published));
                         }});
  graph.stages = {source, count};
  return graph;
}

}  // namespace weir::testing
