#include "operators/join/join.h"

#include <random>

#include "engine/data/hash.h"
#include "tests/operators/fake_expression.h"
#include "tests/operators/fakes.h"

namespace weir {
namespace {

using testing::CapturingOutput;
using testing::Collapsed;
using testing::Feed;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;

// left: key, id, value; right: key, id, value.
const SchemaPtr kSide = MakeSchema({{"k", BigintType()}, {"id", BigintType()}, {"v", StringType()}});

JoinOptions Options(JoinType type, ChangelogMode mode, bool unique, ExpressionPtr condition = nullptr) {
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

ExpressionPtr ValuesDiffer() { return testing::TextsDiffer(2, 5); }

struct Task {
  explicit Task(const JoinOptions& options, int task = 0, int parallelism = 1, const Clock* clock = nullptr)
      : context(task, parallelism, clock) {
    auto made = MakeJoin(options);
    EXPECT_TRUE(made) << made.error().ToString();
    join = std::move(*made);
    EXPECT_TRUE(join->Open(context.context));
  }
  std::string Left(const std::string& text) { return testing::Run(*join, kSide, text, 0); }
  std::string Right(const std::string& text) { return testing::Run(*join, kSide, text, 1); }

  TaskContext context;
  std::unique_ptr<Operator> join;
};

TEST(Join, InnerAppendOnly) {
  Task task(Options(JoinType::kInner, ChangelogMode::kAppend, false));
  EXPECT_EQ(task.Left("+I 1 10 a\n+I 2 20 b\n+I NULL 30 c\n"), "");
  EXPECT_EQ(task.Right("+I 1 7 x\n+I NULL 8 y\n+I 3 9 z\n"), "+I 1 10 'a' 1 7 'x'\n");
  EXPECT_EQ(task.Left("+I 1 11 a2\n+I 3 12 a3\n"), "+I 1 11 'a2' 1 7 'x'\n+I 3 12 'a3' 3 9 'z'\n");
}

TEST(Join, LeftReplacesItsNullRow) {
  Task task(Options(JoinType::kLeft, ChangelogMode::kFull, false));
  EXPECT_EQ(task.Left("+I 1 10 a\n"), "+I 1 10 'a' NULL NULL NULL\n");
  EXPECT_EQ(task.Right("+I 1 7 x\n"), "-U 1 10 'a' NULL NULL NULL\n+U 1 10 'a' 1 7 'x'\n");
  EXPECT_EQ(task.Right("-U 1 7 x\n+U 1 7 y\n"), "-U 1 10 'a' 1 7 'x'\n+U 1 10 'a' 1 7 'y'\n");
  EXPECT_EQ(task.Right("-D 1 7 y\n"), "-U 1 10 'a' 1 7 'y'\n+U 1 10 'a' NULL NULL NULL\n");
  EXPECT_EQ(task.Right("-D 1 7 y\n"), "");
  EXPECT_EQ(task.context.metrics.ignored_deletes, 1);
}

TEST(Join, UniqueKeysReplaceAndDeleteByKey) {
  Task task(Options(JoinType::kInner, ChangelogMode::kUpsert, true));
  EXPECT_EQ(task.Right("+I 1 7 x\n"), "");
  EXPECT_EQ(task.Left("+I 1 10 a\n"), "+I 1 10 'a' 1 7 'x'\n");
  EXPECT_EQ(task.Left("+I 1 10 b\n"), "-U 1 10 'a' 1 7 'x'\n+U 1 10 'b' 1 7 'x'\n");
  EXPECT_EQ(task.Left("+U 1 10 b\n"), "");
  EXPECT_EQ(task.Left("-D 1 10 NULL\n"), "-D 1 10 'b' 1 7 'x'\n");
}

TEST(Join, SemiAndAntiFollowTheFirstAndLastMatch) {
  Task semi(Options(JoinType::kSemi, ChangelogMode::kFull, false));
  Task anti(Options(JoinType::kAnti, ChangelogMode::kFull, false));
  EXPECT_EQ(semi.Left("+I 1 10 a\n+I NULL 11 n\n"), "");
  EXPECT_EQ(anti.Left("+I 1 10 a\n+I NULL 11 n\n"), "+I 1 10 'a'\n+I NULL 11 'n'\n");
  EXPECT_EQ(semi.Right("+I 1 7 x\n+I 1 8 y\n"), "+I 1 10 'a'\n");
  EXPECT_EQ(anti.Right("+I 1 7 x\n+I 1 8 y\n"), "-D 1 10 'a'\n");
  EXPECT_EQ(semi.Right("-D 1 7 x\n"), "");
  EXPECT_EQ(semi.Right("-D 1 8 y\n"), "-D 1 10 'a'\n");
  EXPECT_EQ(anti.Right("-D 1 8 y\n-D 1 7 x\n"), "+I 1 10 'a'\n");
  EXPECT_EQ(anti.Left("-D NULL 11 n\n"), "-D NULL 11 'n'\n");
}

TEST(Join, PrunesOutputColumns) {
  JoinOptions options = Options(JoinType::kInner, ChangelogMode::kAppend, false);
  options.output_columns = std::vector<int>{5, 1};
  options.schema = MakeSchema({{"v", StringType()}, {"id", BigintType()}});
  Task task(options);
  EXPECT_EQ(task.Left("+I 1 10 a\n"), "");
  EXPECT_EQ(task.Right("+I 1 7 x\n"), "+I 'x' 10\n");
}

TEST(Join, OneRowThatMatchesManyIsResumed) {
  for (const JoinType type : {JoinType::kInner, JoinType::kFull}) {
    Task task(Options(type, ChangelogMode::kFull, false));
    Collapsed sink;
    const int rows = 20000;
    for (int from = 0; from < rows; from += 1000) {
      BatchBuilder builder(kSide);
      for (int i = from; i < from + 1000; ++i) {
        builder.column(0).AppendInt(1);
        builder.column(1).AppendInt(i);
        builder.column(2).AppendText("v");
        builder.FinishRow(RowKind::kInsert);
      }
      Feed(*task.join, 0, builder.Build(), sink);
    }
    CapturingOutput out;
    out.room = 1;
    const Batch one = ParseBatch(kSide, "+I 1 7 x\n");
    Result<Progress> progress = task.join->Process(1, one, out);
    ASSERT_TRUE(progress);
    EXPECT_EQ(*progress, Progress::kMore);
    EXPECT_EQ(out.batches.size(), 1u);
    out.room = 1 << 30;
    ASSERT_EQ(*task.join->Process(1, one, out), Progress::kDone);
    sink.Apply(out.batches);
    EXPECT_EQ(sink.rows().size(), static_cast<size_t>(rows));
    // Retractions find their row among the many.
    for (int i = 0; i < rows; i += 500) {
      Feed(*task.join, 0, ParseBatch(kSide, "-D 1 " + std::to_string(i) + " v\n"), sink);
    }
    EXPECT_EQ(sink.rows().size(), static_cast<size_t>(rows - rows / 500));
  }
}

TEST(Join, ASnapshotIsWrittenWhileTheFlowGoesOn) {
  Collapsed sink;
  std::mt19937_64 random(5);
  const auto feed = [&](Operator& join, std::mt19937_64& from, Collapsed& into, int batches) {
    for (int i = 0; i < batches; ++i) {
      std::string text;
      for (int row = 0; row < 50; ++row) {
        text += (from() % 4 == 0 ? "-D " : "+U ") + std::to_string(from() % 40) + " " + std::to_string(from() % 20) +
                " " + std::string(1, static_cast<char>('a' + from() % 3)) + "\n";
      }
      Feed(join, static_cast<int>(from() % 2), ParseBatch(kSide, text), into);
    }
  };
  // Unique by (key, id), so that an update stays with its key.
  JoinOptions keyed = Options(JoinType::kFull, ChangelogMode::kUpsert, true, ValuesDiffer());
  keyed.left.unique = keyed.right.unique = {0, 1};
  Task live(keyed);
  for (int round = 0; round < 5; ++round) {
    feed(*live.join, random, sink, 20);
    MemorySnapshotWriter writer;
    ASSERT_TRUE(live.join->Snapshot(writer));
    const Collapsed at_barrier = sink;
    const std::mt19937_64 random_at_barrier = random;
    std::thread io([&] { EXPECT_TRUE(writer.Finish()); });
    feed(*live.join, random, sink, 20);
    io.join();
    // The restored join repeats the same input from the barrier and comes to the same result.
    MemorySnapshot snapshot;
    snapshot.Add(0, 1, writer.content);
    Task restored(keyed);
    ASSERT_TRUE(restored.join->Restore(snapshot));
    Collapsed again = at_barrier;
    std::mt19937_64 same = random_at_barrier;
    feed(*restored.join, same, again, 20);
    ASSERT_EQ(again.rows(), sink.rows());
  }
}

TEST(Join, ATimeToLiveForgetsRows) {
  JoinOptions options = Options(JoinType::kInner, ChangelogMode::kAppend, false);
  options.state.ttl = 10'000'000;
  ManualClock clock(1'000'000'000);
  Task task(options, 0, 1, &clock);
  EXPECT_EQ(task.Left("+I 1 10 a\n"), "");
  clock.Advance(5'000'000);
  EXPECT_EQ(task.Right("+I 1 7 x\n"), "+I 1 10 'a' 1 7 'x'\n");
  clock.Advance(6'000'000);
  EXPECT_EQ(task.Right("+I 1 8 y\n"), "");
  EXPECT_EQ(task.Left("+I 1 11 b\n"), "+I 1 11 'b' 1 8 'y'\n+I 1 11 'b' 1 7 'x'\n");
}

// --- against a recomputation
// -------------------------------------------------------------------------------------------------

struct ModelRow {
  std::optional<int64_t> key;
  int64_t id = 0;
  std::string value;
  bool operator==(const ModelRow&) const = default;
};

std::string Picture(const ModelRow& row) {
  return (row.key ? std::to_string(*row.key) : "NULL") + " " + std::to_string(row.id) + " '" + row.value + "'";
}

// The join by nested loops.
std::map<std::string, int> Recompute(const std::vector<ModelRow>& left, const std::vector<ModelRow>& right,
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

class JoinModel {
 public:
  JoinModel(JoinType type, Input left, Input right, bool condition, uint64_t seed)
      : type_(type), condition_(condition), random_(seed), sides_{{left, random_}, {right, random_}} {
    options_ = Options(type, ChangelogMode::kFull, false, condition ? ValuesDiffer() : nullptr);
    SetInput(options_.left, left);
    SetInput(options_.right, right);
    Start(1);
  }

  void Step(int changes) {
    const int side = static_cast<int>(random_() % 2);
    const Batch batch = ParseBatch(kSide, sides_[side].Changes(changes));
    if (batch.rows() == 0) return;
    for (size_t task = 0; task < tasks_.size(); ++task) {
      const Batch mine = Mine(batch, static_cast<int>(task));
      if (mine.rows() > 0) Feed(*tasks_[task]->join, side, mine, sink_, 1 + static_cast<int>(random_() % 3));
    }
    const auto expected = Recompute(sides_[0].rows(), sides_[1].rows(), type_, condition_);
    ASSERT_EQ(sink_.rows(), expected) << "after " << batch.ToString();
    if (random_() % 8 == 0) RestoreTo(std::array<int, 3>{1, 2, 4}[random_() % 3]);
  }

 private:
  static void SetInput(JoinInput& input, Input kind) {
    input.mode = kind == Input::kAppend   ? ChangelogMode::kAppend
                 : kind == Input::kUpsert ? ChangelogMode::kUpsert
                                          : ChangelogMode::kFull;
    if (kind == Input::kUniqueFull || kind == Input::kUpsert) input.unique = {0, 1};
  }
  void Start(int parallelism) {
    tasks_.clear();
    for (int task = 0; task < parallelism; ++task)
      tasks_.push_back(std::make_unique<Task>(options_, task, parallelism));
  }
  Batch Mine(const Batch& batch, int task) const {
    std::vector<uint64_t> hashes;
    HashRows(batch, std::vector<int>{0}, hashes);
    Selection rows;
    for (uint32_t i = 0; i < batch.rows(); ++i) {
      if (TaskOf(KeyGroupOf(hashes[i]), static_cast<int>(tasks_.size())) == task) rows.push_back(i);
    }
    return batch.Gather(rows);
  }
  void RestoreTo(int parallelism) {
    MemorySnapshot snapshot;
    for (size_t task = 0; task < tasks_.size(); ++task) {
      MemorySnapshotWriter writer;
      ASSERT_TRUE(tasks_[task]->join->Snapshot(writer));
      ASSERT_TRUE(writer.Finish());
      snapshot.Add(static_cast<int>(task), static_cast<int>(tasks_.size()), writer.content);
    }
    Start(parallelism);
    for (const auto& task : tasks_) {
      const Status status = task->join->Restore(snapshot);
      ASSERT_TRUE(status) << status.error().ToString();
    }
  }

  JoinType type_;
  bool condition_;
  std::mt19937_64 random_;
  RandomSide sides_[2];
  JoinOptions options_;
  std::vector<std::unique_ptr<Task>> tasks_;
  Collapsed sink_;
};

class JoinRandom : public ::testing::TestWithParam<std::tuple<JoinType, bool>> {};

TEST_P(JoinRandom, IsTheNestedLoopOfItsInputs) {
  const auto [type, condition] = GetParam();
  const Input inputs[] = {Input::kAppend, Input::kMultiset, Input::kUniqueFull, Input::kUpsert};
  for (const Input left : inputs) {
    for (const Input right : inputs) {
      for (const int size : {1, 3, 40}) {
        const uint64_t seed =
            1 + 7 * static_cast<uint64_t>(left) + 31 * static_cast<uint64_t>(right) + 101 * static_cast<uint64_t>(size);
        SCOPED_TRACE("seed " + std::to_string(seed) + " left " + std::to_string(static_cast<int>(left)) + " right " +
                     std::to_string(static_cast<int>(right)) + " batch " + std::to_string(size));
        JoinModel model(type, left, right, condition, seed);
        for (int step = 0; step < (size == 1 ? 150 : 50); ++step) {
          model.Step(size);
          if (HasFatalFailure() || HasNonfatalFailure()) return;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, JoinRandom,
                         ::testing::Combine(::testing::Values(JoinType::kInner, JoinType::kLeft, JoinType::kRight,
                                                              JoinType::kFull, JoinType::kSemi, JoinType::kAnti),
                                            ::testing::Bool()));

}  // namespace
}  // namespace weir
