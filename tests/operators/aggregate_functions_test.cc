// Statistics, booleans, bits, lists, bitmaps and sketches: single answers, and whole inputs with retractions, snapshots
// and other parallelism against a recomputation.
#include <cmath>
#include <random>
#include <set>

#include "engine/data/array_codec.h"
#include "engine/data/bitmap.h"
#include "engine/data/hash.h"
#include "operators/aggregate/aggregate.h"
#include "tests/operators/aggregate_task.h"

namespace weir {
namespace {

using F = AggregateFunction;
using testing::AggregateOver;
using Task = testing::AggregateTask;
using testing::CapturingOutput;
using testing::kAggregateInput;
using testing::Collapsed;
using testing::Feed;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;

AggregateCall Call(AggregateFunction function, int argument, DataType type, std::vector<AggregateOrder> order = {},
                   bool distinct = false, int filter = -1) {
  AggregateCall call{function, argument, distinct, filter, type, "c"};
  call.order = std::move(order);
  call.separator = ",";
  return call;
}

// The one result after the rows, of a global aggregate with one double.
double ResultOf(F function, int argument, bool retracts, const std::string& rows) {
  Task task(AggregateOver({}, {Call(function, argument, DoubleType())}, retracts));
  CapturingOutput out;
  EXPECT_TRUE(task.op->Process(0, ParseBatch(kAggregateInput, rows), out));
  const Column& column = out.batches.back().column(0);
  return column.IsNull(0) ? -1 : column.doubles()[0];
}

// Expected values: PostgreSQL 15.
TEST(AggregateFunctions, Variances) {
  const std::string rows = "+I 1 2 2 a true 0.02\n+I 1 4 4 a true 0.04\n+I 1 4 4 a true 0.04\n+I 1 5 5 a true 0.05\n";
  for (const int column : {1, 2}) {
    EXPECT_NEAR(ResultOf(F::kVarPop, column, true, rows), 1.1875, 1e-12);
    EXPECT_NEAR(ResultOf(F::kVarSamp, column, true, rows), 1.5833333333333333, 1e-12);
    EXPECT_NEAR(ResultOf(F::kStddevPop, column, true, rows), 1.0897247358851685, 1e-12);
    EXPECT_NEAR(ResultOf(F::kStddevSamp, column, true, rows), 1.2583057392117916, 1e-12);
  }
  EXPECT_NEAR(ResultOf(F::kStddevSamp, 5, true, rows), 0.012583057392117916, 1e-12);
  EXPECT_EQ(ResultOf(F::kVarSamp, 1, true, "+I 1 2 2 a true 1\n"), -1);
  EXPECT_EQ(ResultOf(F::kVarPop, 1, true, "+I 1 2 2 a true 1\n"), 0);
  EXPECT_EQ(ResultOf(F::kVarPop, 1, true, "+I 1 NULL NULL a true 1\n"), -1);
  EXPECT_TRUE(std::isnan(ResultOf(F::kVarPop, 2, true, "+I 1 1 NaN a true 1\n+I 1 1 1 a true 1\n")));
  EXPECT_TRUE(std::isnan(ResultOf(F::kVarPop, 2, true, "+I 1 1 inf a true 1\n")));
}

TEST(AggregateFunctions, ASmallVarianceBesideALargeMean) {
  const std::string rows =
      "+I 1 9000000000000000001 1000000001 a true 1\n+I 1 9000000000000000002 1000000002 a true 1\n"
      "+I 1 9000000000000000003 1000000003 a true 1\n";
  EXPECT_NEAR(ResultOf(F::kVarSamp, 1, false, rows), 1, 1e-12);
  EXPECT_NEAR(ResultOf(F::kVarSamp, 2, false, rows), 1, 1e-12);
}

TEST(AggregateFunctions, AVarianceAfterALargeValueHasGone) {
  const std::string rows =
      "+I 1 1 1e20 a true 1\n+I 1 1 1 a true 1\n+I 1 1 2 a true 1\n-D 1 1 1e20 a true 1\n+I 1 1 3 a true 1\n";
  EXPECT_NEAR(ResultOf(F::kVarSamp, 2, true, rows), 1, 1e-9);
}

TEST(AggregateFunctions, FirstAndLastAreInTheOrderOfArrival) {
  for (const bool retracts : {false, true}) {
    Task task(AggregateOver({0},
                      {Call(F::kFirstValue, 1, BigintType()), Call(F::kLastValue, 1, BigintType()),
                       Call(F::kFirstValue, 3, StringType()), Call(F::kLastValue, 3, StringType())},
                      retracts));
    EXPECT_EQ(task.Feed("+I 1 NULL 0 b true 1\n+I 1 7 0 NULL true 1\n+I 1 9 0 a true 1\n"), "+I 1 7 9 'b' 'a'\n");
    EXPECT_EQ(task.Feed("+I 1 8 0 NULL true 1\n"), "-U 1 7 9 'b' 'a'\n+U 1 7 8 'b' 'a'\n");
    if (!retracts) continue;
    EXPECT_EQ(task.Feed("-D 1 7 0 NULL true 1\n-D 1 8 0 NULL true 1\n"), "-U 1 7 8 'b' 'a'\n+U 1 9 9 'b' 'a'\n");
    EXPECT_EQ(task.Feed("-D 1 NULL 0 b true 1\n-D 1 9 0 a true 1\n"), "-D 1 9 9 'b' 'a'\n");
    EXPECT_EQ(task.op->StateSizes()[1].rows, 0);
  }
}

TEST(AggregateFunctions, ListsHaveAnOrder) {
  Task task(AggregateOver({0},
                    {Call(F::kStringAgg, 3, StringType()), Call(F::kStringAgg, 3, StringType(), {{1, true, true}}),
                     Call(F::kStringAgg, 3, StringType(), {}, true),
                     Call(F::kArrayAgg, 1, ArrayType(BigintType()), {{1, false, false}}),
                     Call(F::kArrayAgg, 1, ArrayType(BigintType()), {{1, true, true}}, true)},
                    true));
  EXPECT_EQ(task.Feed("+I 1 5 0 b true 1\n+I 1 NULL 0 a true 1\n+I 1 7 0 b true 1\n+I 1 5 0 NULL true 1\n"),
            "+I 1 'b,a,b' 'a,b,b' 'a,b' [5,5,7,null] [null,7,5]\n");
  EXPECT_EQ(task.Feed("-D 1 NULL 0 a true 1\n"),
            "-U 1 'b,a,b' 'a,b,b' 'a,b' [5,5,7,null] [null,7,5]\n+U 1 'b,b' 'b,b' 'b' [5,5,7] [7,5]\n");
  EXPECT_EQ(task.Feed("-D 1 5 0 b true 1\n-D 1 7 0 b true 1\n"),
            "-U 1 'b,b' 'b,b' 'b' [5,5,7] [7,5]\n+U 1 NULL NULL NULL [5] [5]\n");
  EXPECT_EQ(task.Feed("-D 1 9 0 b true 1\n"), "-D 1 NULL NULL NULL [5] [5]\n");
  EXPECT_GT(task.context.metrics.ignored_deletes, 0);
  for (const StateSize& size : task.op->StateSizes()) EXPECT_EQ(size.rows, 0);
}

TEST(AggregateFunctions, BitmapsOfBitmaps) {
  const SchemaPtr input = MakeSchema({{"b", DataType{TypeKind::kBitmap32}}});
  AggregateOptions options;
  options.input = input;
  options.input_retracts = false;
  for (const F function : {F::kBitmapAndCardinality, F::kBitmapOrCardinality, F::kBitmapXorCardinality}) {
    options.calls.push_back(Call(function, 0, BigintType()));
  }
  options.schema = MakeSchema({{"a", BigintType()}, {"o", BigintType()}, {"x", BigintType()}});
  Task task(options);
  const auto feed = [&](std::vector<std::vector<uint64_t>> sets) {
    BatchBuilder builder(input);
    for (const auto& ids : sets) {
      Bitmap bitmap(TypeKind::kBitmap32);
      for (const uint64_t id : ids) bitmap.Add(id);
      std::string bytes;
      bitmap.Serialise(bytes);
      builder.column(0).AppendText(bytes);
      builder.FinishRow(RowKind::kInsert);
    }
    CapturingOutput out;
    EXPECT_TRUE(task.op->Process(0, builder.Build(), out));
    return out.Text();
  };
  EXPECT_EQ(feed({{1, 2, 3}, {2, 3, 4}}), "+I 2 4 2\n");
  EXPECT_EQ(feed({{3, 70000}}), "-U 2 4 2\n+U 1 5 4\n");
  EXPECT_EQ(feed({{}}), "-U 1 5 4\n+U 0 5 4\n");
}

TEST(AggregateFunctions, ApproximateCounts) {
  Task task(AggregateOver({}, {Call(F::kApproxCountDistinct, 1, BigintType())}, false));
  EXPECT_EQ(task.Feed("+I 1 NULL 0 a true 1\n"), "+I 0\n");
  int64_t fed = 0;
  for (const int64_t total : {100, 1000, 50000}) {
    int64_t estimate = 0;
    while (fed < total) {
      BatchBuilder builder(kAggregateInput);
      for (int i = 0; i < 1000 && fed < total; ++i, ++fed) {
        for (size_t c = 0; c < kAggregateInput->size(); ++c) {
          c == 1 ? builder.column(c).AppendInt(fed * 7919) : builder.column(c).AppendNull();
        }
        builder.FinishRow(RowKind::kInsert);
      }
      CapturingOutput out;
      ASSERT_TRUE(task.op->Process(0, builder.Build(), out));
      if (!out.batches.empty()) estimate = out.batches.back().column(0).ints().back();
    }
    EXPECT_NEAR(static_cast<double>(estimate), static_cast<double>(total), 0.06 * static_cast<double>(total));
  }
}

// --- against a recomputation
// ---------------------------------------------------------------------------------------------

struct ModelRow {
  std::string g, v, t, f;
  std::string Line(const char* kind) const {
    return std::string(kind) + " " + g + " " + v + " 0 " + t + " " + f + " 1\n";
  }
};

std::vector<AggregateCall> AllCalls() {
  const DataType bitmap{TypeKind::kBitmap64};
  return {Call(F::kStringAgg, 3, StringType(), {{1, true, false}}),
          Call(F::kStringAgg, 3, StringType(), {}, true, 4),
          Call(F::kArrayAgg, 1, ArrayType(BigintType()), {{1, false, true}}),
          Call(F::kBoolAnd, 4, BooleanType()),
          Call(F::kBoolOr, 4, BooleanType()),
          Call(F::kBitAnd, 1, BigintType()),
          Call(F::kBitOr, 1, BigintType(), {}, false, 4),
          Call(F::kBitXor, 1, BigintType()),
          Call(F::kVarSamp, 1, DoubleType()),
          Call(F::kVarPop, 1, DoubleType(), {}, true),
          Call(F::kBitmapBuild, 1, bitmap),
          Call(F::kBitmapBuildCardinality, 1, BigintType(), {}, false, 4),
          Call(F::kBitmapCountDistinct, 1, BigintType())};
}

// The values of one group, as the model has them.
struct Members {
  std::vector<std::pair<std::optional<int64_t>, std::string>> texts;  // with v, of rows that have a text
  std::set<std::string> filtered_texts;
  std::vector<int64_t> values;
  std::vector<int64_t> filtered;
  int nulls = 0;
  int trues = 0;
  int falses = 0;
};

void AppendDoubleOrNull(std::optional<double> value, Column& out) {
  value ? out.AppendDouble(*value) : out.AppendNull();
}

std::optional<double> Variance(const std::vector<int64_t>& values, bool sample) {
  if (values.size() <= (sample ? 1 : 0)) return std::nullopt;
  int64_t sum = 0;
  int64_t squares = 0;
  for (const int64_t value : values) sum += value, squares += value * value;
  const auto n = static_cast<int64_t>(values.size());
  return static_cast<double>(static_cast<long double>(n * squares - sum * sum) / n / (sample ? n - 1 : n));
}

std::string Joined(std::vector<std::pair<std::optional<int64_t>, std::string>> texts) {
  // By v descending with NULLs last, then by the text.
  std::sort(texts.begin(), texts.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first && (!b.first || *a.first > *b.first);
    return a.second < b.second;
  });
  std::string joined;
  for (const auto& [v, text] : texts) joined += (joined.empty() ? "" : ",") + text;
  return joined;
}

template <class Fold>
void AppendFolded(const std::vector<int64_t>& values, Column& out, Fold fold) {
  if (values.empty()) return out.AppendNull();
  int64_t result = values[0];
  for (size_t i = 1; i < values.size(); ++i) result = fold(result, values[i]);
  out.AppendInt(result);
}

void AppendMembers(const std::string& g, const Members& m, BatchBuilder& builder) {
  const auto text_or_null = [](const std::string& text, bool there, Column& out) {
    there ? out.AppendText(text) : out.AppendNull();
  };
  testing::AppendCell(builder.column(0), g);
  text_or_null(Joined(m.texts), !m.texts.empty(), builder.column(1));
  std::string distinct;
  for (const std::string& text : m.filtered_texts) distinct += (distinct.empty() ? "" : ",") + text;
  text_or_null(distinct, !m.filtered_texts.empty(), builder.column(2));
  Column elements(BigintType());
  for (int i = 0; i < m.nulls; ++i) elements.AppendNull();
  std::vector<int64_t> sorted = m.values;
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t value : sorted) elements.AppendInt(value);
  std::string array;
  AppendArray(elements, 0, elements.size(), array);
  builder.column(3).AppendText(array);
  const bool booleans = m.trues + m.falses > 0;
  booleans ? builder.column(4).AppendBool(m.falses == 0) : builder.column(4).AppendNull();
  booleans ? builder.column(5).AppendBool(m.trues > 0) : builder.column(5).AppendNull();
  AppendFolded(m.values, builder.column(6), [](int64_t a, int64_t b) { return a & b; });
  AppendFolded(m.filtered, builder.column(7), [](int64_t a, int64_t b) { return a | b; });
  AppendFolded(m.values, builder.column(8), [](int64_t a, int64_t b) { return a ^ b; });
  AppendDoubleOrNull(Variance(m.values, true), builder.column(9));
  const std::set<int64_t> unique(m.values.begin(), m.values.end());
  AppendDoubleOrNull(Variance({unique.begin(), unique.end()}, false), builder.column(10));
  Bitmap bitmap(TypeKind::kBitmap64);
  for (const int64_t value : unique) bitmap.Add(BitmapId(TypeKind::kBitmap64, value));
  std::string bytes;
  bitmap.Serialise(bytes);
  text_or_null(bytes, !unique.empty(), builder.column(11));
  const std::set<int64_t> filtered(m.filtered.begin(), m.filtered.end());
  filtered.empty() ? builder.column(12).AppendNull() : builder.column(12).AppendInt(static_cast<int64_t>(filtered.size()));
  builder.column(13).AppendInt(static_cast<int64_t>(unique.size()));
  builder.FinishRow(RowKind::kInsert);
}

std::map<std::string, int> Recompute(const std::vector<ModelRow>& rows, const SchemaPtr& schema) {
  std::map<std::string, Members> groups;
  for (const ModelRow& row : rows) {
    Members& m = groups[row.g];
    const bool passes = row.f == "true";
    const std::optional<int64_t> v = row.v == "NULL" ? std::nullopt : std::optional<int64_t>(std::stoll(row.v));
    if (row.t != "NULL") m.texts.emplace_back(v, row.t);
    if (row.t != "NULL" && passes) m.filtered_texts.insert(row.t);
    if (row.f != "NULL") ++(passes ? m.trues : m.falses);
    if (v) m.values.push_back(*v);
    if (v && passes) m.filtered.push_back(*v);
    if (!v) ++m.nulls;
  }
  BatchBuilder builder(schema);
  for (const auto& [g, members] : groups) AppendMembers(g, members, builder);
  Collapsed collapsed;
  if (!groups.empty()) collapsed.Apply(builder.Build());
  return collapsed.rows();
}

class AggregateFunctionsRandom : public ::testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(AggregateFunctionsRandom, AreTheRecomputationOfTheInput) {
  const auto [retracts, size] = GetParam();
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<uint64_t>(limit)); };
  const AggregateOptions options = AggregateOver({0}, AllCalls(), retracts);
  std::vector<std::unique_ptr<Task>> tasks;
  tasks.push_back(std::make_unique<Task>(options));
  std::vector<ModelRow> rows;
  Collapsed sink;
  for (int step = 0; step < 80; ++step) {
    std::string text;
    for (int i = 0; i < size; ++i) {
      if (retracts && !rows.empty() && (below(3) == 0 || rows.size() > 200)) {
        const auto at = static_cast<size_t>(below(static_cast<int>(rows.size())));
        text += rows[at].Line("-D");
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      ModelRow row;
      row.g = below(8) == 0 ? "NULL" : std::to_string(below(4));
      row.v = below(9) == 0 ? "NULL" : std::to_string(below(40) - 20);
      row.t = below(9) == 0 ? "NULL" : "t" + std::to_string(below(12));
      row.f = below(5) == 0 ? "NULL" : below(2) == 0 ? "true" : "false";
      text += row.Line("+I");
      rows.push_back(row);
    }
    const Batch batch = ParseBatch(kAggregateInput, text);
    std::vector<uint64_t> hashes;
    HashRows(batch, std::vector<int>{0}, hashes);
    for (size_t task = 0; task < tasks.size(); ++task) {
      Selection mine;
      for (uint32_t i = 0; i < batch.rows(); ++i) {
        if (TaskOf(KeyGroupOf(hashes[i]), static_cast<int>(tasks.size())) == static_cast<int>(task)) mine.push_back(i);
      }
      if (!mine.empty()) Feed(*tasks[task]->op, 0, batch.Gather(mine), sink);
    }
    ASSERT_EQ(sink.rows(), Recompute(rows, options.schema));
    if (below(8) != 0) continue;
    MemorySnapshot snapshot;
    for (size_t task = 0; task < tasks.size(); ++task) {
      MemorySnapshotWriter writer;
      ASSERT_TRUE(tasks[task]->op->Snapshot(writer));
      ASSERT_TRUE(writer.Finish());
      snapshot.Add(static_cast<int>(task), static_cast<int>(tasks.size()), writer.content);
    }
    if (below(3) == 0) continue;  // the tasks go on after their snapshot
    const int parallelism = std::array<int, 3>{1, 2, 4}[random() % 3];
    tasks.clear();
    for (int task = 0; task < parallelism; ++task) {
      tasks.push_back(std::make_unique<Task>(options, task, parallelism));
      const Status status = tasks.back()->op->Restore(snapshot);
      ASSERT_TRUE(status) << status.error().ToString();
    }
  }
  for (const auto& task : tasks) EXPECT_EQ(task->context.metrics.ignored_deletes, 0);
}

INSTANTIATE_TEST_SUITE_P(Inputs, AggregateFunctionsRandom,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(1, 7, 60)));

}  // namespace
}  // namespace weir
