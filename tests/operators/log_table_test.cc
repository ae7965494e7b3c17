// A log table against a plain list of its rows: writes in several tasks, checkpoints, crashes and restores at another
// parallelism, and rows that grow older than the table's time to live.  A failure names its seed.
#include "operators/log_table.h"

#include <algorithm>
#include <filesystem>

#include "engine/data/row_codec.h"
#include "tables/log/segment_file.h"
#include "tests/operators/join_model.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using testing::CapturingOutput;
using testing::MakeSchema;
using testing::ManifestWriter;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;

const SchemaPtr kRow = MakeSchema({{"k", BigintType()}, {"v", StringType()}});
constexpr int kBuckets = 4;

class LogTableModel {
 public:
  LogTableModel(std::string folder, std::vector<int> bucket_columns, Micros ttl = 0)
      : folder_(std::move(folder)), bucket_columns_(std::move(bucket_columns)), ttl_(ttl), io_(1) {
    Start(1);
  }
  ~LogTableModel() {
    tasks_.clear();
    tables_->Close();
    io_.Shutdown();
  }

  void Feed(const std::string& text) {
    const Batch batch = ParseBatch(kRow, text);
    std::vector<uint16_t> buckets(batch.rows(), static_cast<uint16_t>(turn_++ % kBuckets));
    if (!bucket_columns_.empty()) BucketRows(batch, bucket_columns_, kBuckets, buckets);
    for (size_t task = 0; task < tasks_.size(); ++task) {
      Selection mine;
      for (uint32_t i = 0; i < batch.rows(); ++i) {
        if (TaskOfBucket(buckets[i], static_cast<int>(tasks_.size())) == static_cast<int>(task)) mine.push_back(i);
      }
      if (mine.empty()) continue;
      CapturingOutput out;
      const Batch part = batch.Gather(mine);
      ASSERT_TRUE(tasks_[task].table->Process(0, part, out));
      EXPECT_EQ(out.Text(), part.ToString());  // readers get the rows as they are
    }
    AddLines(batch, rows_);
    EXPECT_EQ(tables_->Figures().front().rows, static_cast<int64_t>(rows_.size()));
  }

  // Keeps this and the one before it, as `retain: 2` does.
  void Checkpoint() {
    Point point;
    point.manifest.epoch = ++epoch_;
    CapturingOutput out;
    for (const Task& task : tasks_) {
      MemorySnapshotWriter state;
      ManifestWriter writer(point.manifest, state);
      ASSERT_TRUE(task.table->OnBarrier(out));
      ASSERT_TRUE(task.table->Snapshot(writer));
      const Status finished = writer.Finish();
      ASSERT_TRUE(finished) << finished.error().ToString();
      EXPECT_EQ(state.content, "");
    }
    point.rows = rows_;
    points_.push_back(std::move(point));
    if (points_.size() > 2) points_.erase(points_.begin());
    ASSERT_TRUE(tables_->OnComplete(points_.back().manifest, points_.front().manifest.epoch));
  }

  // Back to the newest checkpoint, or to the one before it.
  void CrashAndRestore(int parallelism, bool newest = true) {
    if (!newest && points_.size() > 1) points_.pop_back();
    rows_ = points_.back().rows;
    Start(parallelism);
  }

  // What the logs hold up to the newest checkpoint, from the rows that are still there on.
  std::vector<std::string> Logged() const {
    std::vector<std::string> lines;
    for (int bucket = 0; bucket < kBuckets; ++bucket) {
      const std::string log = folder_ + "/tables/t/" + std::to_string(bucket) + "/log";
      const LogPosition end = points_.back().manifest.tables.at("t")[static_cast<size_t>(bucket)];
      if (end.offset == 0) continue;
      LogPosition from;
      for (; !std::filesystem::exists(SegmentPath(log, from.segment)); ++from.segment) {
      }
      const Result<SegmentStart> start = ReadSegmentStart(log, from.segment);
      EXPECT_TRUE(start) << start.error().ToString();
      from.offset = start->offset;
      BatchBuilder builder(kRow);
      const RowCodec codec({BigintType(), StringType()}, RowCodec::Form::kExact);
      const Status read = ReadLog(log, from, end, [&](const LogEntry& entry) -> Status {
        EXPECT_EQ(entry.group.size(), 8u);
        std::string row(entry.rest);
        row.append(kRowSlack, '\0');
        std::vector<const char*> at{row.data()};
        std::vector<Column*> columns{&builder.column(0), &builder.column(1)};
        codec.Decode(at, columns);
        builder.FinishRow(RowKind::kInsert);
        return {};
      });
      EXPECT_TRUE(read) << read.error().ToString();
      AddLines(builder.Build(), lines);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  std::vector<std::string> Rows() const {
    std::vector<std::string> rows = rows_;
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  TableFigures Figures() const { return tables_->Figures().front(); }
  // The first rows of the model have gone from the table.
  void Forget(size_t count) { rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(count)); }

  ManualClock clock{1'000'000'000};

 private:
  struct Task {
    std::unique_ptr<TaskContext> context;
    std::unique_ptr<Operator> table;
  };
  struct Point {
    Manifest manifest;
    std::vector<std::string> rows;
  };

  static void AddLines(const Batch& batch, std::vector<std::string>& lines) {
    std::istringstream text(batch.ToString());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  }

  void Start(int parallelism) {
    tasks_.clear();
    if (tables_) tables_->Close();
    tables_ = std::make_shared<TableSet>(TableSetOptions{});
    const auto table = tables_->Add({"t", kBuckets, weir::TableOptions::Kind::kLog, ttl_});
    const Status opened = tables_->Open(folder_, points_.empty() ? nullptr : &points_.back().manifest, io_,
                                        {[] {}, [] {}, [](const Error& error) { ADD_FAILURE() << error.ToString(); }});
    ASSERT_TRUE(opened) << opened.error().ToString();
    for (int i = 0; i < parallelism; ++i) {
      Task& task = tasks_.emplace_back();
      task.context = std::make_unique<TaskContext>(i, parallelism, &clock);
      auto made = MakeLogTableOperator({kRow, bucket_columns_, table, true});
      ASSERT_TRUE(made);
      task.table = std::move(*made);
      const Status ready = task.table->Open(task.context->context);
      ASSERT_TRUE(ready) << ready.error().ToString();
      if (!points_.empty()) {
        ASSERT_TRUE(task.table->Restore(MemorySnapshot()));
      }
    }
  }

  const std::string folder_;
  const std::vector<int> bucket_columns_;
  const Micros ttl_;
  Scheduler io_;
  std::shared_ptr<TableSet> tables_;
  std::vector<Task> tasks_;
  std::vector<std::string> rows_;
  std::vector<Point> points_;
  Epoch epoch_ = 0;
  size_t turn_ = 0;
};

TEST(LogTable, HoldsEveryRowOnceWhateverCrashes) {
  const testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    LogTableModel model(folder / std::to_string(seed), seed % 2 == 0 ? std::vector<int>{0} : std::vector<int>{});
    model.Checkpoint();
    for (int step = 0; step < 40; ++step) {
      std::string text;
      const uint64_t count = 1 + random() % 20;
      for (uint64_t i = 0; i < count; ++i) {
        text += "+I " + (random() % 9 == 0 ? "NULL" : std::to_string(random() % 5)) + " " + std::string(1 + random() % 3, 'v') + "\n";
      }
      model.Feed(text);
      if (random() % 4 == 0) {
        model.Checkpoint();
        ASSERT_EQ(model.Logged(), model.Rows());
      }
      if (random() % 6 == 0) model.CrashAndRestore(std::array<int, 3>{1, 2, 4}[random() % 3], random() % 3 != 0);
      ASSERT_EQ(model.Figures().rows, static_cast<int64_t>(model.Rows().size()));
      if (HasFailure()) return;
    }
    EXPECT_EQ(model.Figures().kv_bytes, 0);
  }
}

TEST(LogTable, RowsGoByWholeSegmentsWhenAllOfThemAreOlderThanTheTimeToLive) {
  const testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
  LogTableModel model(folder / "state", {0}, /*ttl=*/400);
  model.Feed("+I 1 a\n+I 1 b\n");
  model.Checkpoint();
  model.clock.Advance(101);  // the segment is a quarter of the time old: the barrier ends it
  model.Checkpoint();
  model.Feed("+I 1 c\n");
  model.Checkpoint();
  model.clock.Advance(400);  // the second segment began exactly that long ago
  model.Checkpoint();
  EXPECT_EQ(model.Figures().rows, 3);
  model.clock.Advance(1);
  model.Checkpoint();
  model.Forget(2);
  EXPECT_EQ(model.Figures().rows, 1);
  EXPECT_EQ(model.Logged(), (std::vector<std::string>{"+I 1 'c'"}));
  // A restart counts what is there.
  model.Checkpoint();
  model.CrashAndRestore(2);
  EXPECT_EQ(model.Figures().rows, 1);
  // The segment that is written stays, however old.
  model.clock.Advance(10'000);
  model.Checkpoint();
  model.Checkpoint();
  EXPECT_EQ(model.Logged(), model.Rows());
}

TEST(LogTable, ASegmentThatAKeptCheckpointEndsInStays) {
  const testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
  LogTableModel model(folder / "state", {0}, /*ttl=*/4);
  model.Feed("+I 1 a\n");
  model.clock.Advance(100);
  model.Checkpoint();  // ends in the first segment
  model.Feed("+I 1 b\n");
  model.clock.Advance(100);
  model.Checkpoint();
  model.Checkpoint();  // only now is the first one let go
  EXPECT_EQ(model.Figures().rows, 2);
  model.CrashAndRestore(1, /*newest=*/false);
  EXPECT_EQ(model.Logged(), model.Rows());
  EXPECT_EQ(model.Figures().rows, 2);
  model.Checkpoint();
  model.Checkpoint();
  model.Forget(1);
  EXPECT_EQ(model.Logged(), (std::vector<std::string>{"+I 1 'b'"}));
}

TEST(LogTable, AJobWithoutAStateDirPassesRowsOn) {
  TableSet tables({});
  const auto table = tables.Add({"t", 2, weir::TableOptions::Kind::kLog, 5});
  ManualClock clock;
  TaskContext context(0, 1, &clock);
  auto made = MakeLogTableOperator({kRow, {}, table, true});
  ASSERT_TRUE(made);
  ASSERT_TRUE((*made)->Open(context.context));
  EXPECT_EQ(testing::Run(**made, kRow, "+I 1 a\n+I NULL NULL\n"), "+I 1 'a'\n+I NULL NULL\n");
  CapturingOutput out;
  EXPECT_TRUE((*made)->OnBarrier(out));
}

}  // namespace
}  // namespace weir
