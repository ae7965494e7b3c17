// A primary-key table against a plain map: random writes in several tasks, checkpoints, folds, rows that leave memory,
// crashes and restores at another parallelism.  A failure names its seed.
#include "operators/table.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "engine/data/bucket.h"
#include "engine/data/row_codec.h"
#include "operators/table_index.h"
#include "tests/operators/join_model.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using testing::CapturingOutput;
using testing::Collapsed;
using testing::MakeSchema;
using testing::ManifestWriter;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;
using testing::Waker;

const SchemaPtr kRow = MakeSchema({{"a", BigintType()}, {"b", StringType()}, {"v", BigintType()}, {"w", StringType()}});

using Key = std::pair<int64_t, std::string>;
using Rows = std::map<Key, std::pair<int64_t, std::string>>;

class TableModel {
 public:
  TableModel(std::string folder, int64_t memory, uint64_t seed)
      : folder_(std::move(folder)), memory_(memory), random_(seed), io_(2) {
    Start(1);
  }
  ~TableModel() {
    tasks_.clear();
    tables_->Close();
    io_.Shutdown();
  }

  void Step(int changes) {
    const Batch batch = ParseBatch(kRow, Changes(changes));
    std::vector<uint16_t> buckets;
    BucketRows(batch, std::vector<int>{0}, kBuckets, buckets);
    for (size_t task = 0; task < tasks_.size(); ++task) {
      Selection mine;
      for (uint32_t i = 0; i < batch.rows(); ++i) {
        if (TaskOfBucket(buckets[i], static_cast<int>(tasks_.size())) == static_cast<int>(task)) mine.push_back(i);
      }
      if (!mine.empty()) Feed(*tasks_[task].table, batch.Gather(mine));
    }
    ASSERT_EQ(changelog_.rows(), Expected());
    if (wants_checkpoint_.exchange(false) || random_() % 6 == 0) Checkpoint();
    if (::testing::Test::HasFatalFailure()) return;
    if (random_() % 10 == 0) CrashAndRestore();
  }

  int64_t folds() const { return folds_ + tables_->Figures().front().folds; }

 private:
  static constexpr int kBuckets = 4;
  static constexpr int kIndexBuckets = 3;
  static inline const std::vector<int> kIndexKey = {2, 0, 1};
  struct TableTask {
    std::unique_ptr<TaskContext> context;
    std::unique_ptr<Operator> table;
  };
  struct Point {
    Manifest manifest;
    Rows rows;
    Collapsed changelog;
  };

  std::string Changes(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const Key key{static_cast<int64_t>(random_() % 40) - 20, std::string(1 + random_() % 2, 'x')};
      const std::pair<int64_t, std::string> value{static_cast<int64_t>(random_() % 1000), std::string(random_() % 30 + 1, 'w')};
      const std::string cells = std::to_string(key.first) + " " + key.second + " ";
      if (random_() % 4 == 0) {
        text += "-D " + cells + "NULL NULL\n";
        rows_.erase(key);
      } else {
        text += (random_() % 2 == 0 ? "+I " : "+U ") + cells + std::to_string(value.first) + " " + value.second + "\n";
        rows_[key] = value;
      }
    }
    return text;
  }

  std::map<std::string, int> Expected() const {
    std::map<std::string, int> expected;
    for (const auto& [key, value] : rows_) {
      expected[std::to_string(key.first) + " '" + key.second + "' " + std::to_string(value.first) + " '" + value.second + "'"] = 1;
    }
    return expected;
  }

  void Start(int parallelism) {
    tasks_.clear();
    if (tables_) {
      tables_->Close();
      folds_ = folds();
    }
    tables_ = std::make_shared<TableSet>(TableSetOptions{memory_, int64_t{1} << 30, 60});
    const auto table = tables_->Add({"t", kBuckets, weir::TableOptions::Kind::kLogged});
    std::shared_ptr<weir::Table> index;
    if (point_) index = tables_->Add(IndexOf(table));
    const Status opened = tables_->Open(folder_, point_ ? &point_->manifest : nullptr, io_,
                                        {[this] { wants_checkpoint_ = true; }, [] {},
                                         [](const Error& error) { ADD_FAILURE() << error.ToString(); }});
    ASSERT_TRUE(opened) << opened.error().ToString();
    if (index) CheckIndex(*index);
    for (int i = 0; i < parallelism; ++i) {
      TableTask& task = tasks_.emplace_back();
      task.context = std::make_unique<TaskContext>(i, parallelism);
      task.context->context.wake = [this] { waker_.Wake(); };
      auto made = MakeTableOperator({kRow, {0, 1}, {0}, table, true});
      ASSERT_TRUE(made);
      task.table = std::move(*made);
      ASSERT_TRUE(task.table->Open(task.context->context));
      const Status restored = point_ ? task.table->Restore(MemorySnapshot()) : Status{};
      ASSERT_TRUE(restored) << restored.error().ToString();
    }
  }

  // By v; no checkpoint holds it, so every restart makes it from the rows of the table.
  static TableOptions IndexOf(const std::shared_ptr<weir::Table>& table) {
    TableOptions options;
    options.name = "t[v]";
    options.buckets = kIndexBuckets;
    options.fill = [index = TableIndexOptions{table, kRow, kIndexKey, {2}, kIndexBuckets}](TableFill& rows) {
      return FillIndex(index, rows);
    };
    return options;
  }

  void CheckIndex(const weir::Table& index) {
    std::multiset<std::string> rows;
    for (int bucket = 0; bucket < kIndexBuckets; ++bucket) {
      const Status read = index.ReadRestored(bucket, [&](std::string_view group, std::string_view, std::string_view row) {
        rows.insert(std::to_string(bucket) + " " + std::string(group) + " " + std::string(row));
        return Status();
      });
      ASSERT_TRUE(read) << read.error().ToString();
    }
    std::string text;
    for (const auto& [key, value] : rows_) {
      text += fmt::format("+I {} {} {} {}\n", key.first, key.second, value.first, value.second);
    }
    const Batch batch = ParseBatch(kRow, text);
    std::vector<uint16_t> buckets;
    BucketRows(batch, std::vector<int>{2}, kIndexBuckets, buckets);
    EncodedRows keys;
    EncodedRows whole;
    RowCodec({BigintType(), BigintType(), StringType()}, RowCodec::Form::kKey).Encode(batch, kIndexKey, keys);
    RowCodec({BigintType(), StringType(), BigintType(), StringType()}, RowCodec::Form::kExact)
        .Encode(batch, std::vector<int>{0, 1, 2, 3}, whole);
    std::multiset<std::string> expected;
    for (size_t i = 0; i < batch.rows(); ++i) {
      expected.insert(std::to_string(buckets[i]) + " " + std::string(keys.row(i)) + " " + std::string(whole.row(i)));
    }
    ASSERT_EQ(rows, expected);
    EXPECT_EQ(index.Figures().rows, static_cast<int64_t>(rows_.size()));
  }

  void Feed(Operator& table, const Batch& batch) {
    CapturingOutput out;
    while (true) {
      const int wakes = waker_.wakes();
      const Result<Progress> progress = table.Process(0, batch, out);
      ASSERT_TRUE(progress) << progress.error().ToString();
      changelog_.Apply(out.batches);
      out.Clear();
      if (*progress == Progress::kDone) return;
      ASSERT_EQ(*progress, Progress::kBlocked);
      waker_.WaitFor(wakes);
    }
  }

  void Checkpoint() {
    auto point = std::make_unique<Point>();
    point->manifest.counters = base_counters_;
    point->manifest.epoch = ++epoch_;
    CapturingOutput out;
    for (const TableTask& task : tasks_) {
      MemorySnapshotWriter state;
      ManifestWriter writer(point->manifest, state);
      ASSERT_TRUE(task.table->OnBarrier(out));
      ASSERT_TRUE(task.table->Snapshot(writer));
      const Status finished = writer.Finish();
      ASSERT_TRUE(finished) << finished.error().ToString();
      EXPECT_EQ(state.content, "");  // a table has no state in a checkpoint
    }
    point->rows = rows_;
    point->changelog = changelog_;
    EXPECT_EQ(point->manifest.counters.at("table.t.rows"), static_cast<int64_t>(rows_.size()));
    ASSERT_TRUE(tables_->Prepare(epoch_));
    const Status complete = tables_->OnComplete(point->manifest, point_ ? point_->manifest.epoch : epoch_);
    ASSERT_TRUE(complete) << complete.error().ToString();
    point_ = std::move(point);
  }

  void CrashAndRestore() {
    if (!point_) Checkpoint();
    if (::testing::Test::HasFatalFailure()) return;
    rows_ = point_->rows;
    changelog_ = point_->changelog;
    base_counters_ = point_->manifest.counters;
    epoch_ += random_() % 3;
    Start(std::array<int, 3>{1, 2, 3}[random_() % 3]);
  }

  const std::string folder_;
  const int64_t memory_;
  std::mt19937_64 random_;
  Scheduler io_;
  Waker waker_;
  std::atomic<bool> wants_checkpoint_{false};
  std::shared_ptr<TableSet> tables_;
  std::vector<TableTask> tasks_;
  Rows rows_;
  Collapsed changelog_;
  Epoch epoch_ = 0;
  std::unique_ptr<Point> point_;
  std::map<std::string, int64_t> base_counters_;
  int64_t folds_ = 0;
};

TEST(Table, IsThePlainMapOfItsWrites) {
  const testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
  int64_t folds = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TableModel model(folder / std::to_string(seed), std::array<int64_t, 3>{6 << 10, 16 << 10, 1 << 30}[seed % 3], seed);
    for (int step = 0; step < 60; ++step) {
      model.Step(std::array<int, 3>{1, 5, 50}[seed / 3 % 3]);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
    folds += model.folds();
  }
  EXPECT_GT(folds, 0);  // else the base has not been tested
}

TEST(Table, AWriteOfTheSameRowChangesNothingAndADeleteOfNoRowIsCounted) {
  TableSet tables({});
  const auto table = tables.Add({"t", 1, weir::TableOptions::Kind::kLogged});
  TaskContext context;
  auto made = MakeTableOperator({kRow, {0, 1}, {0}, table, true});
  ASSERT_TRUE(made);
  ASSERT_TRUE((*made)->Open(context.context));
  EXPECT_EQ(testing::Run(**made, kRow, "+I 1 x 5 a\n+I 1 x 5 a\n-D 2 y NULL NULL\n"), "+I 1 'x' 5 'a'\n");
  EXPECT_EQ(context.metrics.ignored_deletes, 1);
  EXPECT_EQ(testing::Run(**made, kRow, "-U 1 x 5 a\n"), "");  // its +U has not come
  EXPECT_EQ(testing::Run(**made, kRow, "-U 1 x 5 a\n+U 1 x 6 b\n-D 1 x NULL NULL\n"),
            "-U 1 'x' 5 'a'\n+U 1 'x' 6 'b'\n-D 1 'x' 6 'b'\n");
  // An update that moves a row to another key deletes it under the old one.
  EXPECT_EQ(testing::Run(**made, kRow, "+I 1 x 7 c\n-U 1 x 7 c\n+U 2 x 7 c\n"),
            "+I 1 'x' 7 'c'\n-D 1 'x' 7 'c'\n+I 2 'x' 7 'c'\n");
}

}  // namespace
}  // namespace weir
