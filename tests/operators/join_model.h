// A model of joins for tests: random changes of two inputs, the join of what they leave by nested loops, and a harness
// that feeds the same changes to the operator in several tasks, with its rows in memory, in tables or in state tables,
// takes checkpoints, crashes and restores.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <random>

#include "engine/base/file.h"
#include "engine/data/bucket.h"
#include "engine/data/hash.h"
#include "operators/join/join.h"
#include "tables/table_set.h"
#include "tests/operators/fake_expression.h"
#include "tests/operators/fakes.h"

namespace weir::testing {

// left: key, id, value; right: key, id, value.
inline const SchemaPtr kSide = MakeSchema({{"k", BigintType()}, {"id", BigintType()}, {"v", StringType()}});

inline JoinOptions Options(JoinType type, ChangelogMode mode, bool unique, ExpressionPtr condition = nullptr) {
  JoinOptions options;
  options.type = type;
  options.left = {kSide, {0}, unique ? std::vector<int>{1} : std::vector<int>{}, mode};
  options.right = options.left;
  options.condition = std::move(condition);
  std::vector<Field> fields = kSide->fields();
  if (type != JoinType::kSemi && type != JoinType::kAnti) {
    fields.insert(fields.end(), kSide->fields().begin(), kSide->fields().end());
  }
  options.schema = MakeSchema(fields);
  return options;
}

inline ExpressionPtr ValuesDiffer() { return TextsDiffer(2, 5); }

struct Task {
  explicit Task(const JoinOptions& options, int task = 0, int parallelism = 1, const Clock* clock = nullptr,
                std::function<void()> wake = nullptr)
      : context(task, parallelism, clock) {
    context.context.wake = std::move(wake);
    auto made = MakeJoin(options);
    EXPECT_TRUE(made) << made.error().ToString();
    join = std::move(*made);
    const Status opened = join->Open(context.context);
    EXPECT_TRUE(opened) << opened.error().ToString();
  }
  std::string Left(const std::string& text) { return weir::testing::Run(*join, kSide, text, 0); }
  std::string Right(const std::string& text) { return weir::testing::Run(*join, kSide, text, 1); }

  TaskContext context;
  std::unique_ptr<Operator> join;
};

struct ModelRow {
  std::optional<int64_t> key;
  int64_t id = 0;
  std::string value;
  bool operator==(const ModelRow&) const = default;
};

inline std::string Picture(const ModelRow& row) {
  return (row.key ? std::to_string(*row.key) : "NULL") + " " + std::to_string(row.id) + " '" + row.value + "'";
}

// The join by nested loops.
inline std::map<std::string, int> Recompute(const std::vector<ModelRow>& left, const std::vector<ModelRow>& right,
                                     JoinType type, bool condition) {
  std::map<std::string, int> result;
  const auto add = [&](const std::string& row) { ++result[row]; };
  const auto matches = [&](const ModelRow& a, const ModelRow& b) {
    return a.key && b.key && *a.key == *b.key && (!condition || a.value != b.value);
  };
  const std::string nulls = "NULL NULL NULL";
  std::vector<bool> right_matched(right.size(), false);
  for (const ModelRow& a : left) {
    bool matched = false;
    for (size_t i = 0; i < right.size(); ++i) {
      if (!matches(a, right[i])) continue;
      matched = right_matched[i] = true;
      if (type != JoinType::kSemi && type != JoinType::kAnti) add(Picture(a) + " " + Picture(right[i]));
    }
    if (matched ? type == JoinType::kSemi : type == JoinType::kAnti) add(Picture(a));
    if (!matched && (type == JoinType::kLeft || type == JoinType::kFull)) add(Picture(a) + " " + nulls);
  }
  for (size_t i = 0; i < right.size(); ++i) {
    if (right_matched[i] || (type != JoinType::kRight && type != JoinType::kFull)) continue;
    add(nulls + " " + Picture(right[i]));
  }
  return result;
}

enum class Input { kAppend, kMultiset, kUniqueFull, kUpsert };

// Makes random changes and keeps the rows that they leave.
class RandomSide {
 public:
  RandomSide(Input input, std::mt19937_64& random) : input_(input), random_(random) {}

  std::string Changes(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += Change();
    return text;
  }
  const std::vector<ModelRow>& rows() const { return rows_; }
  void SetRows(std::vector<ModelRow> rows) { rows_ = std::move(rows); }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  ModelRow NewRow() {
    ModelRow row;
    if (Below(12) != 0) row.key = Below(4);
    const bool unique = input_ == Input::kUniqueFull || input_ == Input::kUpsert;
    row.id = unique ? Below(10) : Below(3);
    row.value = std::string(1, static_cast<char>('a' + Below(3)));
    return row;
  }
  static std::string Line(const char* kind, const ModelRow& row) {
    return std::string(kind) + " " + (row.key ? std::to_string(*row.key) : "NULL") + " " + std::to_string(row.id) +
           " " + row.value + "\n";
  }
  // Unique is (key, id): an input whose unique key contains the join key.
  size_t FindUnique(const ModelRow& row) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].key == row.key && rows_[i].id == row.id) return i;
    }
    return rows_.size();
  }
  void Erase(size_t i) { rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i)); }

  std::string Change() {
    const ModelRow fresh = NewRow();
    const bool shrink = rows_.size() > 25;
    const int what = shrink ? 1 + Below(2) : Below(4);
    if (input_ == Input::kAppend) {
      if (shrink) return "";
      rows_.push_back(fresh);
      return Line("+I", fresh);
    }
    const bool unique = input_ != Input::kMultiset;
    if (Below(20) == 0) {  // a retraction of a row that is not there
      const ModelRow absent{0, 99, "q"};
      return Line("-D", absent);
    }
    if (what == 1 && !rows_.empty()) {
      const size_t i = static_cast<size_t>(Below(static_cast<int>(rows_.size())));
      ModelRow gone = rows_[i];
      Erase(i);
      if (unique && Below(2) == 0) gone.value = "?";  // key columns only
      return Line("-D", gone);
    }
    if (what == 2 && !rows_.empty() && input_ != Input::kUpsert) {
      const size_t i = static_cast<size_t>(Below(static_cast<int>(rows_.size())));
      const ModelRow old = rows_[i];
      ModelRow now = fresh;
      if (Below(3) != 0) now.key = old.key;
      if (unique) {
        now.id = old.id;
        if (now.key != old.key && FindUnique(now) < rows_.size()) now.key = old.key;
      }
      rows_[i] = now;
      return Line("-U", old) + Line("+U", now);
    }
    if (unique) {
      const size_t i = FindUnique(fresh);
      if (i < rows_.size()) {
        rows_[i] = fresh;
        return Line(Below(2) == 0 ? "+I" : "+U", fresh);
      }
    }
    rows_.push_back(fresh);
    return Line("+I", fresh);
  }

  Input input_;
  std::mt19937_64& random_;
  std::vector<ModelRow> rows_;
};

enum class Storage { kMemory, kTables, kStateTables };

// What wakes a task that waits for a table.
class Waker {
 public:
  void Wake() {
    const std::lock_guard lock(mutex_);
    ++wakes_;
    changed_.notify_all();
  }
  int wakes() {
    const std::lock_guard lock(mutex_);
    return wakes_;
  }
  void WaitFor(int above) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return wakes_ > above; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int wakes_ = 0;
};

// Collects what the tasks say at a barrier, as the coordinator does.
class ManifestWriter final : public SnapshotWriter {
 public:
  ManifestWriter(Manifest& manifest, MemorySnapshotWriter& state) : manifest_(manifest), state_(state) {}
  Epoch epoch() const override { return manifest_.epoch; }
  void Put(std::string bytes) override { state_.Put(std::move(bytes)); }
  void WriteLater(std::function<Status(File&)> write) override { state_.WriteLater(std::move(write)); }
  void FinishLater(std::function<Status()> work) override { work_.push_back(std::move(work)); }
  void PutCommitData(std::string) override {}
  void PutTablePosition(const std::string& table, int bucket, const LogPosition& end) override {
    auto& ends = manifest_.tables[table];
    ends.resize(std::max(ends.size(), static_cast<size_t>(bucket) + 1));
    ends[static_cast<size_t>(bucket)] = end;
  }
  void PutCounter(const std::string& name, int64_t value) override { manifest_.counters[name] += value; }
  Status Finish() {
    for (const auto& work : work_) WEIR_TRY(work());
    return state_.Finish();
  }

 private:
  Manifest& manifest_;
  MemorySnapshotWriter& state_;
  std::vector<std::function<Status()>> work_;
};

class JoinModel {
 public:
  struct Setting {
    JoinType type = JoinType::kInner;
    Input left = Input::kAppend;
    Input right = Input::kAppend;
    bool condition = false;
    Storage storage = Storage::kMemory;
    int64_t memory = int64_t{1} << 30;  // of the tables
    std::string folder;                 // of the state dir, for tables
    uint64_t seed = 1;
  };

  explicit JoinModel(const Setting& setting)
      : setting_(setting), random_(setting.seed), sides_{{setting.left, random_}, {setting.right, random_}}, io_(2) {
    options_ = Options(setting.type, ChangelogMode::kFull, false, setting.condition ? ValuesDiffer() : nullptr);
    SetInput(options_.left, setting.left);
    SetInput(options_.right, setting.right);
    Start(1);
  }
  ~JoinModel() {
    if (pending_) finished_.wait();
    tasks_.clear();
    if (tables_) tables_->Close();
    io_.Shutdown();
  }

  int64_t folds() const {
    int64_t folds = folds_before_;
    for (const TableFigures& table : tables_ ? tables_->Figures() : std::vector<TableFigures>()) folds += table.folds;
    return folds;
  }

  void Step(int changes) {
    const int side = static_cast<int>(random_() % 2);
    const Batch batch = ParseBatch(kSide, sides_[side].Changes(changes));
    if (batch.rows() == 0) return;
    for (size_t task = 0; task < tasks_.size(); ++task) {
      const Batch mine = Mine(batch, side, static_cast<int>(task));
      if (mine.rows() > 0) FeedTask(task, side, mine);
    }
    const auto expected = Recompute(sides_[0].rows(), sides_[1].rows(), setting_.type, setting_.condition);
    ASSERT_EQ(sink_.rows(), expected) << "after " << batch.ToString();
    if (pending_ && random_() % 2 == 0) CompleteCheckpoint();
    if (!pending_ && (wants_checkpoint_.exchange(false) || random_() % 8 == 0)) BeginCheckpoint();
    if (::testing::Test::HasFatalFailure()) return;
    if (random_() % 12 == 0) CrashAndRestore(std::array<int, 3>{1, 2, 4}[random_() % 3]);
  }

 private:
  static constexpr int64_t kRunBytes = 200;  // of a state table: most epochs have several runs

  // What is true at a checkpoint; a crash goes back to it.
  struct Point {
    Manifest manifest;
    MemorySnapshot state;
    std::vector<ModelRow> rows[2];
    Collapsed sink;
  };

  static void SetInput(JoinInput& input, Input kind) {
    input.mode = kind == Input::kAppend   ? ChangelogMode::kAppend
                 : kind == Input::kUpsert ? ChangelogMode::kUpsert
                                          : ChangelogMode::kFull;
    if (kind == Input::kUniqueFull || kind == Input::kUpsert) input.unique = {0, 1};
  }

  void Start(int parallelism) {
    tasks_.clear();
    if (tables_) tables_->Close();
    folds_before_ = folds();
    if (setting_.storage != Storage::kMemory) {
      tables_ = std::make_shared<TableSet>(TableSetOptions{setting_.memory, int64_t{1} << 30, 40, kRunBytes});
      const bool logged = setting_.storage == Storage::kTables;
      const auto kind = logged ? weir::TableOptions::Kind::kLogged : weir::TableOptions::Kind::kState;
      const int buckets = logged ? 8 : kKeyGroups;
      options_.tables = JoinTables{tables_->Add({"left", buckets, kind}), tables_->Add({"right", buckets, kind}), {0}, {0}};
      const Status opened =
          tables_->Open(setting_.folder, point_ ? &point_->manifest : nullptr, io_,
                        {[this] { wants_checkpoint_ = true; }, [] {},
                         [](const Error& error) { ADD_FAILURE() << error.ToString(); }});
      ASSERT_TRUE(opened) << opened.error().ToString();
    }
    for (int task = 0; task < parallelism; ++task) {
      tasks_.push_back(std::make_unique<Task>(options_, task, parallelism, nullptr, [this] { waker_.Wake(); }));
    }
    if (!point_) return;
    for (const auto& task : tasks_) {
      const Status status = task->join->Restore(point_->state);
      ASSERT_TRUE(status) << status.error().ToString();
    }
  }

  Batch Mine(const Batch& batch, int, int task) const {
    const int tasks = static_cast<int>(tasks_.size());
    std::vector<uint64_t> hashes;
    std::vector<uint16_t> buckets;
    HashRows(batch, std::vector<int>{0}, hashes);
    BucketRows(batch, std::vector<int>{0}, 8, buckets);
    Selection rows;
    for (uint32_t i = 0; i < batch.rows(); ++i) {
      const int owner = setting_.storage == Storage::kTables ? TaskOfBucket(buckets[i], tasks)
                                                             : TaskOf(KeyGroupOf(hashes[i]), tasks);
      if (owner == task) rows.push_back(i);
    }
    return batch.Gather(rows);
  }

  void FeedTask(size_t task, int side, const Batch& batch) {
    CapturingOutput out;
    while (true) {
      const int wakes = waker_.wakes();
      out.room = 1 + static_cast<int>(random_() % 3);
      const Result<Progress> progress = tasks_[task]->join->Process(side, batch, out);
      ASSERT_TRUE(progress) << progress.error().ToString();
      sink_.Apply(out.batches);
      out.Clear();
      if (*progress == Progress::kDone) return;
      if (*progress == Progress::kBlocked) waker_.WaitFor(wakes);
    }
  }

  // Snapshots; what is finished later runs on another thread while the next changes are fed.
  void BeginCheckpoint() {
    auto point = std::make_unique<Point>();
    if (point_) point->manifest.counters = base_counters_;
    point->manifest.epoch = ++epoch_;
    CapturingOutput out;
    struct Answer {
      explicit Answer(Manifest& manifest) : writer(manifest, state) {}
      MemorySnapshotWriter state;
      ManifestWriter writer;
    };
    auto answers = std::make_shared<std::vector<std::unique_ptr<Answer>>>();
    for (const auto& task : tasks_) {
      answers->push_back(std::make_unique<Answer>(point->manifest));
      ASSERT_TRUE(task->join->OnBarrier(out));
      ASSERT_TRUE(task->join->Snapshot(answers->back()->writer));
    }
    for (int side = 0; side < 2; ++side) point->rows[side] = sides_[side].rows();
    point->sink = sink_;
    pending_ = std::move(point);
    auto finished = std::make_shared<std::promise<void>>();
    finished_ = finished->get_future();
    io_.Post([answers, finished, point = pending_.get()] {
      for (size_t task = 0; task < answers->size(); ++task) {
        Answer& answer = *(*answers)[task];
        const Status status = answer.writer.Finish();
        EXPECT_TRUE(status) << status.error().ToString();
        point->state.Add(static_cast<int>(task), static_cast<int>(answers->size()), answer.state.content);
      }
      finished->set_value();
    });
  }

  void CompleteCheckpoint() {
    finished_.wait();
    std::unique_ptr<Point> point = std::move(pending_);
    if (tables_) {
      ASSERT_TRUE(tables_->Prepare(point->manifest.epoch));
      const Status complete =
          tables_->OnComplete(point->manifest, point_ ? point_->manifest.epoch : point->manifest.epoch);
      ASSERT_TRUE(complete) << complete.error().ToString();
    }
    point_ = std::move(point);
  }

  // Everything since the last checkpoint is lost.
  void CrashAndRestore(int parallelism) {
    if (pending_) finished_.wait();
    if (!point_) {
      if (!pending_) BeginCheckpoint();
      CompleteCheckpoint();
    }
    pending_ = nullptr;
    if (::testing::Test::HasFatalFailure()) return;
    for (int side = 0; side < 2; ++side) sides_[side].SetRows(point_->rows[side]);
    sink_ = point_->sink;
    base_counters_ = point_->manifest.counters;
    epoch_ += random_() % 3;  // numbers of epochs may have gaps
    Start(parallelism);
  }

  const Setting setting_;
  std::mt19937_64 random_;
  RandomSide sides_[2];
  Scheduler io_;
  Waker waker_;
  std::atomic<bool> wants_checkpoint_{false};
  JoinOptions options_;
  std::shared_ptr<TableSet> tables_;
  std::vector<std::unique_ptr<Task>> tasks_;
  Collapsed sink_;
  Epoch epoch_ = 0;
  std::unique_ptr<Point> point_;    // the newest complete checkpoint
  std::unique_ptr<Point> pending_;  // one that is being finished
  std::future<void> finished_;
  std::map<std::string, int64_t> base_counters_;
  int64_t folds_before_ = 0;
};

}  // namespace weir::testing
