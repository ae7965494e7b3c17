// The temporal join against a model that knows all versions, over random orders of arrival, watermarks and restores.
#include "operators/temporal_join.h"

#include <map>
#include <random>

#include "engine/data/hash.h"
#include "tests/operators/fakes.h"

namespace weir {
namespace {

using testing::CapturingOutput;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::TaskContext;

const SchemaPtr kOrders = MakeSchema({{"k", BigintType()}, {"t", BigintType()}, {"id", BigintType()}});
const SchemaPtr kRates = MakeSchema({{"k", BigintType()}, {"t", BigintType()}, {"rate", StringType()}});

TemporalJoinOptions Options(bool keep = false, bool before = false) {
  std::vector<Field> fields = kOrders->fields();
  fields.insert(fields.end(), kRates->fields().begin(), kRates->fields().end());
  TemporalJoinOptions options;
  options.left = {kOrders, {0}, 1};
  options.right = {kRates, {0}, 1};
  options.keep = keep;
  options.before = before;
  options.schema = MakeSchema(std::move(fields));
  return options;
}

std::unique_ptr<Operator> Opened(const TemporalJoinOptions& options, TaskContext& task) {
  auto made = MakeTemporalJoin(options);
  EXPECT_TRUE(made);
  EXPECT_TRUE((*made)->Open(task.context));
  return std::move(*made);
}

std::string Watermark(Operator& join, Micros at) {
  CapturingOutput out;
  EXPECT_TRUE(join.OnWatermark(at, out));
  return out.Text();
}

TEST(TemporalJoin, ARowWaitsForTheWatermarkAndTakesTheVersionOfItsTime) {
  TaskContext task;
  const auto join = Opened(Options(), task);
  EXPECT_EQ(testing::Run(*join, kRates, "+I 1 10 a\n+I 1 20 b\n+I 2 10 x\n", 1), "");
  EXPECT_EQ(testing::Run(*join, kOrders, "+I 1 20 1\n+I 1 19 2\n+I 1 9 3\n+I 3 20 4\n", 0), "");
  EXPECT_EQ(Watermark(*join, 20), "+I 1 19 2 1 10 'a'\n");
  EXPECT_EQ(testing::Run(*join, kRates, "+I 1 20 c\n", 1), "");
  EXPECT_EQ(Watermark(*join, 21), "+I 1 20 1 1 20 'c'\n");
  EXPECT_EQ(testing::Run(*join, kOrders, "+I 1 20 5\n", 0), "");
  EXPECT_EQ(task.metrics.late_rows, 1);
}

TEST(TemporalJoin, LeftKeepsRowsWithoutAVersion) {
  TaskContext task;
  const auto join = Opened(Options(true), task);
  EXPECT_EQ(testing::Run(*join, kOrders, "+I NULL 5 1\n+I 1 NULL 2\n+I 1 5 3\n", 0),
            "+I NULL 5 1 NULL NULL NULL\n+I 1 NULL 2 NULL NULL NULL\n");
  testing::Run(*join, kRates, "+I 1 6 a\n+I NULL 1 b\n+I 1 NULL c\n", 1);
  CapturingOutput out;
  ASSERT_TRUE(join->OnEnd(out));
  EXPECT_EQ(out.Text(), "+I 1 5 3 NULL NULL NULL\n");
}

TEST(TemporalJoin, BeforeExcludesTheTimeItself) {
  TaskContext task;
  const auto join = Opened(Options(false, true), task);
  testing::Run(*join, kRates, "+I 1 10 a\n+I 1 20 b\n", 1);
  testing::Run(*join, kOrders, "+I 1 20 1\n", 0);
  EXPECT_EQ(Watermark(*join, 21), "+I 1 20 1 1 10 'a'\n");
}

TEST(TemporalJoin, AVersionCanBeTakenBackBeforeItIsUsed) {
  TaskContext task;
  const auto join = Opened(Options(), task);
  testing::Run(*join, kRates, "+I 1 10 a\n+I 1 20 b\n-D 1 20 b\n-U 1 10 a\n+U 1 10 z\n-D 1 7 q\n", 1);
  testing::Run(*join, kOrders, "+I 1 25 1\n", 0);
  EXPECT_EQ(Watermark(*join, 30), "+I 1 25 1 1 10 'z'\n");
  EXPECT_EQ(task.metrics.ignored_deletes, 1);
}

TEST(TemporalJoin, OldVersionsAreForgotten) {
  TaskContext task;
  const auto join = Opened(Options(), task);
  for (int time = 0; time < 1000; ++time) {
    testing::Run(*join, kRates, "+I 1 " + std::to_string(time) + " a\n", 1);
    testing::Run(*join, kOrders, "+I 1 " + std::to_string(time) + " 1\n", 0);
    EXPECT_NE(Watermark(*join, time + 1), "");
  }
  for (const StateSize& part : join->StateSizes()) EXPECT_LE(part.rows, 2) << part.part;
}

// Rows come out of order by less than the bound; the watermark is the largest time minus the bound.
TEST(TemporalJoin, RandomOrdersAndRestoresGiveTheBatchAnswer) {
  constexpr Micros kBound = 30;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const TemporalJoinOptions options = Options(random() % 2 == 0, random() % 2 == 0);
    struct Event {
      bool order;
      int64_t key;
      Micros time;
      std::string value;
    };
    std::vector<std::pair<Micros, Event>> events;  // by arrival
    std::map<int64_t, std::map<Micros, std::string>> versions;
    std::vector<Event> orders;
    for (int i = 0; i < 400; ++i) {
      const auto time = static_cast<Micros>(random() % 2000);
      const auto key = static_cast<int64_t>(random() % 5);
      const Event event{random() % 2 == 0, key, time, std::to_string(i)};
      if (!event.order && !versions[key].emplace(time, event.value).second) continue;
      if (event.order) orders.push_back(event);
      events.emplace_back(time + static_cast<Micros>(random() % kBound), event);
    }
    std::stable_sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::unique_ptr<TaskContext>> contexts;
    std::vector<std::unique_ptr<Operator>> tasks;
    const auto start = [&](int parallelism) {
      contexts.clear();
      tasks.clear();
      for (int task = 0; task < parallelism; ++task) {
        contexts.push_back(std::make_unique<TaskContext>(task, parallelism));
        tasks.push_back(Opened(options, *contexts.back()));
      }
    };
    start(2);
    testing::Collapsed got;
    CapturingOutput out;
    for (const auto& [arrival, event] : events) {
      const SchemaPtr& schema = event.order ? kOrders : kRates;
      const Batch batch = ParseBatch(schema, "+I " + std::to_string(event.key) + " " + std::to_string(event.time) + " " +
                                                 event.value + "\n");
      std::vector<uint64_t> hashes;
      HashRows(batch, std::vector<int>{0}, hashes);
      const int task = TaskOf(KeyGroupOf(hashes[0]), static_cast<int>(tasks.size()));
      ASSERT_TRUE(tasks[static_cast<size_t>(task)]->Process(event.order ? 0 : 1, batch, out));
      for (const auto& each : tasks) ASSERT_TRUE(each->OnWatermark(arrival - kBound, out));
      if (random() % 50 != 0) continue;
      MemorySnapshot snapshot;
      for (size_t i = 0; i < tasks.size(); ++i) {
        MemorySnapshotWriter writer;
        ASSERT_TRUE(tasks[i]->Snapshot(writer));
        ASSERT_TRUE(writer.Finish());
        snapshot.Add(static_cast<int>(i), static_cast<int>(tasks.size()), writer.content);
      }
      start(static_cast<int>(random() % 4) + 1);
      for (const auto& each : tasks) ASSERT_TRUE(each->Restore(snapshot));
    }
    for (const auto& each : tasks) ASSERT_TRUE(each->OnEnd(out));
    got.Apply(out.batches);
    std::map<std::string, int> expected;
    for (const Event& order : orders) {
      const auto& of_key = versions[order.key];
      auto version = options.before ? of_key.lower_bound(order.time) : of_key.upper_bound(order.time);
      const std::string row = std::to_string(order.key) + " " + std::to_string(order.time) + " " + order.value;
      if (version != of_key.begin()) {
        --version;
        ++expected[row + " " + std::to_string(order.key) + " " + std::to_string(version->first) + " '" +
                   version->second + "'"];
      } else if (options.keep) {
        ++expected[row + " NULL NULL NULL"];
      }
    }
    ASSERT_EQ(got.rows(), expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir
