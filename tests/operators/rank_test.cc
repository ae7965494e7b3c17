#include "operators/rank/rank.h"

#include <optional>
#include <random>

#include "engine/data/hash.h"
#include "tests/operators/fakes.h"

namespace weir {
namespace {

// Builds with a sanitizer are many times slower: they look at fewer random inputs.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kSeeds = 2;
#else
constexpr uint64_t kSeeds = 6;
#endif

using testing::CapturingOutput;
using testing::Collapsed;
using testing::Feed;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;

// Partition p, values a and t to sort by, id.
const SchemaPtr kInput = MakeSchema({{"p", BigintType()}, {"a", BigintType()}, {"t", StringType()}, {"id", BigintType()}});

RankOptions Options(std::vector<SortColumn> sort, RankBounds bounds, bool retracts) {
  RankOptions options;
  options.input = kInput;
  std::vector<Field> fields = kInput->fields();
  if (bounds.output) fields.push_back({"rn", BigintType(), false});
  options.schema = MakeSchema(fields);
  options.partition = {0};
  options.sort = std::move(sort);
  options.bounds = std::move(bounds);
  options.input_retracts = retracts;
  return options;
}

RankBounds Bounds(OverFunction function, int64_t from, int64_t to, bool output, bool latest_first = false) {
  return {function, from, to, output, "rn", latest_first};
}

struct Task {
  explicit Task(const RankOptions& options, int task = 0, int parallelism = 1) : context(task, parallelism) {
    auto made = MakeRank(options);
    EXPECT_TRUE(made);
    op = std::move(*made);
    EXPECT_TRUE(op->Open(context.context));
  }
  std::string Feed(const std::string& text) { return testing::Run(*op, kInput, text); }

  TaskContext context;
  std::unique_ptr<Operator> op;
};

using F = OverFunction;

TEST(Rank, NumbersShiftAsPairs) {
  Task task(Options({{1, true, true}}, Bounds(F::kRowNumber, 1, 2, true), true));
  EXPECT_EQ(task.Feed("+I 1 5 x 1\n+I 1 7 x 2\n"), "+I 1 7 'x' 2 1\n+I 1 5 'x' 1 2\n");
  EXPECT_EQ(task.Feed("+I 1 6 x 3\n"), "-U 1 5 'x' 1 2\n+U 1 6 'x' 3 2\n");
  EXPECT_EQ(task.Feed("+I 1 1 x 4\n"), "");
  EXPECT_EQ(task.Feed("-D 1 7 x 2\n"), "-U 1 7 'x' 2 1\n+U 1 6 'x' 3 1\n-U 1 6 'x' 3 2\n+U 1 5 'x' 1 2\n");
  EXPECT_EQ(task.Feed("-D 1 6 x 3\n-D 1 5 x 1\n"), "-D 1 5 'x' 1 2\n-U 1 6 'x' 3 1\n+U 1 1 'x' 4 1\n");
  EXPECT_EQ(task.Feed("-D 9 1 x 4\n"), "");
  EXPECT_EQ(task.context.metrics.ignored_deletes, 1);
}

TEST(Rank, WithoutNumbersOnlyRowsThatEnterAndLeaveAreSeen) {
  Task task(Options({{1, false, false}}, Bounds(F::kRowNumber, 1, 2, false), true));
  EXPECT_EQ(task.Feed("+I 1 5 x 1\n+I 1 7 x 2\n+I 1 NULL x 3\n"), "+I 1 5 'x' 1\n+I 1 7 'x' 2\n");
  EXPECT_EQ(task.Feed("+I 1 1 x 4\n"), "-D 1 7 'x' 2\n+I 1 1 'x' 4\n");
  EXPECT_EQ(task.Feed("-U 1 1 x 4\n+U 1 2 x 4\n"), "-D 1 1 'x' 4\n+I 1 2 'x' 4\n");
  EXPECT_EQ(task.Feed("-U 1 2 x 4\n+U 1 2 x 4\n"), "");
}

TEST(Rank, TheLaterArrivalWinsWhereTheLastIsKept) {
  for (const bool retracts : {false, true}) {
    Task last(Options({{1, true, true}}, Bounds(F::kRowNumber, 1, 1, false, true), retracts));
    EXPECT_EQ(last.Feed("+I 1 5 x 1\n"), "+I 1 5 'x' 1\n");
    EXPECT_EQ(last.Feed("+I 1 5 x 2\n"), "-U 1 5 'x' 1\n+U 1 5 'x' 2\n");
    EXPECT_EQ(last.Feed("+I 1 4 x 3\n+I 1 5 x 4\n+I 1 5 x 5\n"), "-U 1 5 'x' 2\n+U 1 5 'x' 5\n");
  }
  Task first(Options({{1, false, false}}, Bounds(F::kRowNumber, 1, 1, false), false));
  EXPECT_EQ(first.Feed("+I 1 5 x 1\n"), "+I 1 5 'x' 1\n");
  EXPECT_EQ(first.Feed("+I 1 5 x 2\n"), "");
  EXPECT_EQ(first.Feed("+I 1 4 x 3\n"), "-U 1 5 'x' 1\n+U 1 4 'x' 3\n");
}

TEST(Rank, RanksKeepAllPeers) {
  for (const bool retracts : {false, true}) {
    Task rank(Options({{1, false, false}}, Bounds(F::kRank, 1, 2, true), retracts));
    EXPECT_EQ(rank.Feed("+I 1 5 x 1\n+I 1 6 x 2\n"), "+I 1 5 'x' 1 1\n+I 1 6 'x' 2 2\n");
    EXPECT_EQ(rank.Feed("+I 1 5 x 3\n"), "-D 1 6 'x' 2 2\n+I 1 5 'x' 3 1\n");
    Task dense(Options({{1, false, false}}, Bounds(F::kDenseRank, 2, 2, true), retracts));
    EXPECT_EQ(dense.Feed("+I 1 5 x 1\n+I 1 6 x 2\n+I 1 7 x 3\n"), "+I 1 6 'x' 2 2\n");
    EXPECT_EQ(dense.Feed("+I 1 5 x 4\n+I 1 6 x 5\n"), "+I 1 6 'x' 5 2\n");
    EXPECT_EQ(dense.Feed("+I 1 4 x 6\n").size(), std::string("-D 1 6 'x' 2 2\n").size() * 4);
  }
}

TEST(Rank, LimitIsAPartitionOfAllRows) {
  RankOptions options = Options({}, Bounds(F::kRowNumber, 2, 3, false), false);
  options.partition = {};
  Task task(options);
  EXPECT_EQ(task.Feed("+I 1 5 x 1\n+I 2 6 x 2\n"), "+I 2 6 'x' 2\n");
  EXPECT_EQ(task.Feed("+I 1 5 x 3\n+I 1 6 x 4\n"), "+I 1 5 'x' 3\n");
  EXPECT_EQ(task.Feed("+I 1 5 x 5\n"), "");
  RankOptions none = Options({}, Bounds(F::kRowNumber, 1, 0, false), false);
  EXPECT_EQ(Task(none).Feed("+I 1 5 x 1\n"), "");
}

// --- against a recomputation

struct Row {
  std::optional<int64_t> p, a;
  std::optional<std::string> t;
  int64_t id = 0;

  static std::string Cell(const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "NULL"; }
  std::string Line(const char* kind) const {
    return std::string(kind) + " " + Cell(p) + " " + Cell(a) + " " + t.value_or("NULL") + " " + std::to_string(id) + "\n";
  }
  std::string Picture() const {
    return Cell(p) + " " + Cell(a) + " " + (t ? "'" + *t + "'" : "NULL") + " " + std::to_string(id);
  }
};

template <class T>
int Compare(const std::optional<T>& x, const std::optional<T>& y, const SortColumn& sort) {
  if (!x || !y) return x.has_value() == y.has_value() ? 0 : (x.has_value() != sort.nulls_first ? -1 : 1);
  const int order = *x < *y ? -1 : *y < *x ? 1 : 0;
  return sort.descending ? -order : order;
}

int Compare(const Row& x, const Row& y, const std::vector<SortColumn>& sort) {
  for (const SortColumn& column : sort) {
    const int order = column.column == 1   ? Compare(x.a, y.a, column)
                      : column.column == 2 ? Compare(x.t, y.t, column)
                                           : Compare(std::optional(x.id), std::optional(y.id), column);
    if (order != 0) return order;
  }
  return 0;
}

std::map<std::string, int> Recompute(const std::vector<Row>& rows, const RankOptions& options) {
  std::map<std::string, std::vector<Row>> partitions;
  for (const Row& row : rows) partitions[Row::Cell(row.p)].push_back(row);
  std::map<std::string, int> result;
  for (auto& [key, members] : partitions) {
    std::stable_sort(members.begin(), members.end(),
                     [&](const Row& x, const Row& y) { return Compare(x, y, options.sort) < 0; });
    int64_t number = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      const bool peer = i > 0 && Compare(members[i - 1], members[i], options.sort) == 0;
      const auto position = static_cast<int64_t>(i) + 1;
      if (options.bounds.function == F::kRowNumber || (!peer && options.bounds.function == F::kRank)) number = position;
      if (!peer && options.bounds.function == F::kDenseRank) ++number;
      if (number < options.bounds.from || number > options.bounds.to) continue;
      ++result[members[i].Picture() + (options.bounds.output ? " " + std::to_string(number) : "")];
    }
  }
  return result;
}

// Random changes in batches of a size, with snapshots that are restored at another parallelism.
class RandomRun {
 public:
  RandomRun(uint64_t seed, size_t batch, RankOptions options) : random_(seed), batch_(batch), options_(std::move(options)) {}

  void Run(int changes) {
    Start(1, nullptr);
    std::string text;
    for (int i = 0; i < changes; ++i) {
      text += Change();
      if (static_cast<size_t>(i) % batch_ + 1 < batch_ && i + 1 < changes) continue;
      Send(text);
      text.clear();
      if (::testing::Test::HasFailure()) return;
      if (random_() % 8 == 0) Move();
      if (batch_ < 4096 && random_() % 4 != 0) continue;
      ASSERT_EQ(result_.rows(), Recompute(rows_, options_));
    }
    ASSERT_EQ(result_.rows(), Recompute(rows_, options_));
  }

 private:
  Row NewRow() {
    Row row;
    if (random_() % 8 != 0) row.p = static_cast<int64_t>(random_() % 5);
    if (random_() % 8 != 0) row.a = static_cast<int64_t>(random_() % 9) - 4 + (random_() % 30 == 0 ? (int64_t{1} << 40) : 0);
    if (random_() % 8 != 0) row.t = std::string(random_() % 3, 'b') + static_cast<char>('a' + random_() % 3);
    row.id = next_id_++;
    return row;
  }

  std::string Change() {
    const uint64_t what = options_.input_retracts && !rows_.empty() ? random_() % 4 : 0;
    if (what < 2) {
      rows_.push_back(NewRow());
      return rows_.back().Line("+I");
    }
    const size_t at = random_() % rows_.size();
    const Row old = rows_[at];
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(at));
    if (what == 2) return old.Line("-D");
    Row row = NewRow();
    row.id = old.id;
    rows_.push_back(row);
    return old.Line("-U") + row.Line("+U");
  }

  void Start(int parallelism, const SnapshotReader* from) {
    tasks_.clear();
    for (int i = 0; i < parallelism; ++i) {
      tasks_.push_back(std::make_unique<Task>(options_, i, parallelism));
      if (from != nullptr) ASSERT_TRUE(tasks_.back()->op->Restore(*from));
    }
  }

  void Move() {
    MemorySnapshot snapshot;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      MemorySnapshotWriter writer;
      ASSERT_TRUE(tasks_[i]->op->Snapshot(writer));
      ASSERT_TRUE(writer.Finish());
      snapshot.Add(static_cast<int>(i), static_cast<int>(tasks_.size()), writer.content);
    }
    Start(1 + static_cast<int>(random_() % 4), &snapshot);
  }

  // Each row goes to the task of its partition, as an exchange sends it.
  void Send(const std::string& text) {
    const Batch batch = ParseBatch(kInput, text);
    std::vector<uint64_t> hashes;
    HashRows(batch, options_.partition, hashes);
    for (size_t task = 0; task < tasks_.size(); ++task) {
      Selection selection;
      for (size_t row = 0; row < batch.rows(); ++row) {
        const int owner = TaskOf(KeyGroupOf(hashes[row]), static_cast<int>(tasks_.size()));
        if (owner == static_cast<int>(task)) selection.push_back(static_cast<uint32_t>(row));
      }
      if (!selection.empty()) Feed(*tasks_[task]->op, 0, batch.Gather(selection), result_);
    }
  }

  std::mt19937_64 random_;
  const size_t batch_;
  const RankOptions options_;
  std::vector<Row> rows_;
  int64_t next_id_ = 1;
  std::vector<std::unique_ptr<Task>> tasks_;
  Collapsed result_;
};

TEST(Rank, IsTheRecomputation) {
  const std::vector<SortColumn> by_all = {{1, true, false}, {2, false, true}, {3, false, false}};
  const std::vector<SortColumn> by_value = {{1, false, true}};
  const std::vector<std::pair<std::vector<SortColumn>, RankBounds>> cases = {
      {by_all, Bounds(F::kRowNumber, 1, 1, false)},  {by_all, Bounds(F::kRowNumber, 1, 1, true)},
      {by_all, Bounds(F::kRowNumber, 1, 3, true)},   {by_all, Bounds(F::kRowNumber, 1, 3, false)},
      {by_all, Bounds(F::kRowNumber, 2, 4, true)},   {by_all, Bounds(F::kRowNumber, 3, RankBounds::kAll, false)},
      {by_value, Bounds(F::kRank, 1, 3, true)},      {by_value, Bounds(F::kRank, 1, 3, false)},
      {by_value, Bounds(F::kDenseRank, 1, 2, true)}, {by_value, Bounds(F::kDenseRank, 2, 3, false)},
  };
  for (const bool retracts : {false, true}) {
    for (size_t c = 0; c < cases.size(); ++c) {
      for (const size_t batch : {1, 7, 4096}) {
        for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
          SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(c) + ", batch " +
                       std::to_string(batch) + (retracts ? ", retracts" : ", append"));
          RandomRun(seed, batch, Options(cases[c].first, cases[c].second, retracts)).Run(batch == 4096 ? 3000 : 300);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// A partition of many blocks, with rows that come and go anywhere in it.
TEST(Rank, ALargePartition) {
  RankOptions options = Options({{1, false, false}, {3, true, true}}, Bounds(F::kRowNumber, 1, 5, true), true);
  options.partition = {};
  Task task(options);
  std::mt19937_64 random(1);
  Collapsed result;
  std::vector<Row> rows;
  for (int step = 0; step < 12; ++step) {
    std::string text;
    for (int i = 0; i < 600; ++i) {
      Row row;
      row.a = static_cast<int64_t>(random() % 100'000);
      row.id = step * 600 + i;
      rows.push_back(row);
      text += row.Line("+I");
      if (random() % 3 != 0) continue;
      const size_t at = random() % rows.size();
      text += rows[at].Line("-D");
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
    }
    Feed(*task.op, 0, ParseBatch(kInput, text), result);
    ASSERT_EQ(result.rows(), Recompute(rows, options)) << "step " << step;
  }
  std::string text;
  for (const Row& row : rows) text += row.Line("-D");
  Feed(*task.op, 0, ParseBatch(kInput, text), result);
  EXPECT_TRUE(result.rows().empty());
  EXPECT_EQ(task.op->StateSizes()[0].rows, 0);
  EXPECT_EQ(task.op->StateSizes()[1].rows, 0);
}

TEST(Rank, OfAppendOnlyInputOnlyTheFirstRowsAreKept) {
  Task task(Options({{1, true, true}}, Bounds(F::kRowNumber, 1, 2, true), false));
  std::string text;
  for (int i = 0; i < 50; ++i) text += "+I 1 " + std::to_string(i) + " x " + std::to_string(i) + "\n";
  task.Feed(text);
  EXPECT_EQ(task.op->StateSizes()[0].rows, 2);
}

}  // namespace
}  // namespace weir
