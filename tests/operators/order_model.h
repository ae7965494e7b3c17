// Rows with random changes for the tests of operators over ordered rows, and the operator's tasks that take them.
//
// A row is a partition p, values a and t to sort by, and an id.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <random>

#include "engine/data/hash.h"
#include "sql/plan/over.h"
#include "tests/operators/fakes.h"

namespace weir::testing {

inline const SchemaPtr kOrderedInput =
    MakeSchema({{"p", BigintType()}, {"a", BigintType()}, {"t", StringType()}, {"id", BigintType()}});

struct OrderedRow {
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
int CompareCells(const std::optional<T>& x, const std::optional<T>& y, const SortColumn& sort) {
  if (!x || !y) return x.has_value() == y.has_value() ? 0 : (x.has_value() != sort.nulls_first ? -1 : 1);
  const int order = *x < *y ? -1 : *y < *x ? 1 : 0;
  return sort.descending ? -order : order;
}

inline int CompareRows(const OrderedRow& x, const OrderedRow& y, const std::vector<SortColumn>& sort) {
  for (const SortColumn& column : sort) {
    const int order = column.column == 1   ? CompareCells(x.a, y.a, column)
                      : column.column == 2 ? CompareCells(x.t, y.t, column)
                                           : CompareCells(std::optional(x.id), std::optional(y.id), column);
    if (order != 0) return order;
  }
  return 0;
}

// The rows by partition, each in order; of equal ones the earlier first.
inline std::map<std::string, std::vector<OrderedRow>> Partitions(const std::vector<OrderedRow>& rows,
                                                                 const std::vector<SortColumn>& sort) {
  std::map<std::string, std::vector<OrderedRow>> partitions;
  for (const OrderedRow& row : rows) partitions[OrderedRow::Cell(row.p)].push_back(row);
  for (auto& [key, members] : partitions) {
    std::stable_sort(members.begin(), members.end(),
                     [&](const OrderedRow& x, const OrderedRow& y) { return CompareRows(x, y, sort) < 0; });
  }
  return partitions;
}

// Random changes in batches of a size, with snapshots that are restored at another parallelism.
class OrderedRun {
 public:
  using Make = std::function<Result<std::unique_ptr<Operator>>()>;
  using Recompute = std::function<std::map<std::string, int>(const std::vector<OrderedRow>&)>;

  OrderedRun(uint64_t seed, size_t batch, bool retracts, Make make, Recompute recompute)
      : random_(seed), batch_(batch), retracts_(retracts), make_(std::move(make)), recompute_(std::move(recompute)) {}

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
      ASSERT_EQ(result_.rows(), recompute_(rows_));
    }
    ASSERT_EQ(result_.rows(), recompute_(rows_));
  }

 private:
  struct Task {
    Task(const Make& make, int task, int parallelism) : context(task, parallelism) {
      auto made = make();
      EXPECT_TRUE(made);
      op = std::move(*made);
      EXPECT_TRUE(op->Open(context.context));
    }
    TaskContext context;
    std::unique_ptr<Operator> op;
  };

  OrderedRow NewRow() {
    OrderedRow row;
    if (random_() % 8 != 0) row.p = static_cast<int64_t>(random_() % 5);
    if (random_() % 8 != 0) {
      row.a = static_cast<int64_t>(random_() % 9) - 4 + (random_() % 30 == 0 ? (int64_t{1} << 40) : 0);
    }
    if (random_() % 8 != 0) row.t = std::string(random_() % 3, 'b') + static_cast<char>('a' + random_() % 3);
    row.id = next_id_++;
    return row;
  }

  std::string Change() {
    const uint64_t what = retracts_ && !rows_.empty() ? random_() % 4 : 0;
    if (what < 2) {
      rows_.push_back(NewRow());
      return rows_.back().Line("+I");
    }
    const size_t at = random_() % rows_.size();
    const OrderedRow old = rows_[at];
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(at));
    if (what == 2) return old.Line("-D");
    OrderedRow row = NewRow();
    row.id = old.id;
    rows_.push_back(row);
    return old.Line("-U") + row.Line("+U");
  }

  void Start(int parallelism, const SnapshotReader* from) {
    tasks_.clear();
    for (int i = 0; i < parallelism; ++i) {
      tasks_.push_back(std::make_unique<Task>(make_, i, parallelism));
      if (from != nullptr) {
        ASSERT_TRUE(tasks_.back()->op->Restore(*from));
      }
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
    const Batch batch = ParseBatch(kOrderedInput, text);
    std::vector<uint64_t> hashes;
    const int partition = 0;
    HashRows(batch, {&partition, 1}, hashes);
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
  const bool retracts_;
  const Make make_;
  const Recompute recompute_;
  std::vector<OrderedRow> rows_;
  int64_t next_id_ = 1;
  std::vector<std::unique_ptr<Task>> tasks_;
  Collapsed result_;
};

}  // namespace weir::testing
