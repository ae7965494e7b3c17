// What the tests of operators put around them: an output that keeps batches, snapshots in memory, batches as text, and
// the multiset that a changelog collapses to.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/data/text.h"
#include "engine/runtime/operator.h"

namespace weir::testing {

class CapturingOutput final : public Output {
 public:
  void Emit(Batch batch) override {
    EXPECT_GT(batch.rows(), 0u);
    EXPECT_LE(batch.rows(), kBatchRows);
    CheckPairs(batch);
    batches.push_back(std::move(batch));
    if (room > 0) --room;
  }
  bool HasRoom() const override { return room > 0; }

  std::string Text() const {
    std::string text;
    for (const Batch& batch : batches) text += batch.ToString();
    return text;
  }
  void Clear() { batches.clear(); }

  int room = 1 << 30;
  std::vector<Batch> batches;

 private:
  static void CheckPairs(const Batch& batch) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (batch.kind(row) == RowKind::kUpdateBefore) {
        EXPECT_TRUE(batch.IsUpdatePair(row)) << batch.ToString();
      }
    }
  }
};

// Snapshots of all tasks of an operator, in memory.
class MemorySnapshot final : public SnapshotReader {
 public:
  Epoch epoch() const override { return 1; }
  const std::vector<Part>& parts() const override { return parts_; }
  Result<std::string> Read(const Part& part) const override { return contents_.at(part.path); }

  void Add(int task, int parallelism, std::string content) {
    const std::string path = content.empty() ? "" : "task-" + std::to_string(task);
    parts_.push_back({task, parallelism, path, ""});
    contents_[path] = std::move(content);
  }
  size_t bytes() const {
    size_t bytes = 0;
    for (const auto& [path, content] : contents_) bytes += content.size();
    return bytes;
  }
  std::map<std::string, std::string>& contents() { return contents_; }

 private:
  std::vector<Part> parts_;
  std::map<std::string, std::string> contents_;
};

class MemorySnapshotWriter final : public SnapshotWriter {
 public:
  Epoch epoch() const override { return 1; }
  void Put(std::string bytes) override { content += bytes; }
  void WriteLater(std::function<Status(File&)> write) override { write_ = std::move(write); }
  void FinishLater(std::function<Status()> work) override { finish_ = std::move(work); }
  void PutCommitData(std::string bytes) override { commit_data = std::move(bytes); }

  // Runs the deferred work; on another thread if the caller says so.
  Status Finish() {
    if (write_) {
      StringFile file(content);
      WEIR_TRY(write_(file));
      write_ = nullptr;
    }
    return finish_ ? finish_() : Status{};
  }

  std::string content;
  std::string commit_data;

 private:
  class StringFile final : public File {
   public:
    explicit StringFile(std::string& content) : content_(content) {}
    Status Append(std::string_view bytes) override {
      content_ += bytes;
      return {};
    }

   private:
    std::string& content_;
  };
  std::function<Status(File&)> write_;
  std::function<Status()> finish_;
};

// One task's context with what it points to.
struct TaskContext {
  explicit TaskContext(int task = 0, int parallelism = 1, const Clock* clock = nullptr) {
    context.operator_id = "under-test";
    context.task = task;
    context.parallelism = parallelism;
    context.clock = clock;
    context.metrics = &metrics;
  }
  OperatorMetrics metrics;
  OperatorContext context;
};

inline SchemaPtr MakeSchema(std::vector<Field> fields) { return std::make_shared<const Schema>(std::move(fields)); }

inline void AppendCell(Column& column, const std::string& word) {
  if (word == "NULL") return column.AppendNull();
  switch (column.physical()) {
    case Physical::kBool:
      return column.AppendBool(word == "true");
    case Physical::kInt64: {
      if (column.type().kind == TypeKind::kDecimal) {
        return column.AppendInt(static_cast<int64_t>(ParseDecimal(word, 18, column.type().scale).value));
      }
      return column.AppendInt(std::stoll(word));
    }
    case Physical::kDouble:
      return column.AppendDouble(std::stod(word));
    case Physical::kInt128:
      return column.AppendWide(ParseDecimal(word, 38, column.type().scale).value);
    case Physical::kText:
      return column.AppendText(word);
  }
}

// A batch from a picture: one row a line, "+I 1 x NULL"; words without blanks.
inline Batch ParseBatch(const SchemaPtr& schema, const std::string& text) {
  BatchBuilder builder(schema);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) continue;
    const auto kind = ParseRowKind(word);
    EXPECT_TRUE(kind) << line;
    for (size_t i = 0; i < schema->size(); ++i) {
      EXPECT_TRUE(words >> word) << line;
      AppendCell(builder.column(i), word);
    }
    builder.FinishRow(*kind);
  }
  return builder.Build();
}

// The rows that a changelog leaves, with their number.  A retraction of a row that is not there is a failure.
class Collapsed {
 public:
  void Apply(const Batch& batch) {
    std::istringstream lines(batch.ToString());
    for (std::string line; std::getline(lines, line);) {
      const std::string row = line.substr(3);
      if (line[0] == '+') {
        ++rows_[row];
        continue;
      }
      auto found = rows_.find(row);
      if (found == rows_.end()) {
        ADD_FAILURE() << "retraction of a row that is not there: " << line;
        continue;
      }
      if (--found->second == 0) rows_.erase(found);
    }
  }
  void Apply(const std::vector<Batch>& batches) {
    for (const Batch& batch : batches) Apply(batch);
  }
  const std::map<std::string, int>& rows() const { return rows_; }
  std::string ToString() const {
    std::string text;
    for (const auto& [row, count] : rows_) text += row + " x" + std::to_string(count) + "\n";
    return text;
  }

 private:
  std::map<std::string, int> rows_;
};

// Feeds a batch; a full output is emptied into `sink` and the operator resumed.
inline void Feed(Operator& op, int input, const Batch& batch, Collapsed& sink, int room = 1 << 30) {
  CapturingOutput out;
  while (true) {
    out.room = room;
    const Result<Progress> progress = op.Process(input, batch, out);
    ASSERT_TRUE(progress) << progress.error().ToString();
    sink.Apply(out.batches);
    out.Clear();
    if (*progress == Progress::kDone) return;
    ASSERT_EQ(*progress, Progress::kMore);
  }
}

// Feeds a text picture and gives back the picture of the output.
inline std::string Run(Operator& op, const SchemaPtr& schema, const std::string& text, int input = 0) {
  CapturingOutput out;
  const Result<Progress> progress = op.Process(input, ParseBatch(schema, text), out);
  EXPECT_TRUE(progress && *progress == Progress::kDone) << (progress ? "" : progress.error().ToString());
  return out.Text();
}

// One task's operator, opened, with one input.
struct OperatorUnderTest {
  OperatorUnderTest(Result<std::unique_ptr<Operator>> made, SchemaPtr schema, int task = 0, int parallelism = 1)
      : context(task, parallelism), input(std::move(schema)) {
    EXPECT_TRUE(made);
    op = std::move(*made);
    EXPECT_TRUE(op->Open(context.context));
  }
  std::string Feed(const std::string& text) { return Run(*op, input, text); }
  std::string Watermark(Micros watermark) {
    CapturingOutput out;
    EXPECT_TRUE(op->OnWatermark(watermark, out));
    return out.Text();
  }

  TaskContext context;
  std::unique_ptr<Operator> op;
  SchemaPtr input;
};

}  // namespace weir::testing
