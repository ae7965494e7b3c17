// Filter, project, normalise, key order and values: text in, text out, and their models.
#include <random>

#include "engine/data/hash.h"
#include "operators/filter.h"
#include "operators/key_order.h"
#include "operators/normalise.h"
#include "operators/project.h"
#include "tests/operators/fake_expression.h"
#include "tests/operators/fakes.h"

namespace weir {
namespace {

using testing::CapturingOutput;
using testing::Collapsed;
using testing::ColumnReference;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::ParseBatch;
using testing::RowFunction;
using testing::TaskContext;

const SchemaPtr kRow = MakeSchema({{"k", BigintType()}, {"v", StringType()}});

// v = 'x'; 'bad' fails.
ExpressionPtr IsX() {
  return std::make_shared<RowFunction>(
      BooleanType(), std::vector<ExpressionPtr>{std::make_shared<ColumnReference>(1, StringType())},
      [](const std::vector<ColumnPtr>& arguments, size_t row, Column& out) -> std::string {
        if (arguments[0]->text(row) == "bad") return "bad row";
        arguments[0]->IsNull(row) ? out.AppendNull() : out.AppendBool(arguments[0]->text(row) == "x");
        return {};
      });
}

std::unique_ptr<Operator> Opened(Result<std::unique_ptr<Operator>> made, TaskContext& task) {
  EXPECT_TRUE(made);
  EXPECT_TRUE((*made)->Open(task.context));
  return std::move(*made);
}

Batch WithPositions(Batch batch) {
  auto positions = std::make_shared<std::vector<RowPosition>>();
  for (size_t i = 0; i < batch.rows(); ++i) positions->push_back({0, static_cast<int64_t>(i)});
  batch.set_positions(positions);
  return batch;
}

TEST(Filter, HalvesOfUpdatesBecomeDeleteAndInsert) {
  TaskContext task;
  const auto filter = Opened(MakeFilter({IsX(), "UTC"}), task);
  EXPECT_EQ(testing::Run(*filter, kRow, "+I 1 x\n+I 2 y\n+I 3 NULL\n"), "+I 1 'x'\n");
  EXPECT_EQ(testing::Run(*filter, kRow, "-U 1 x\n+U 1 y\n-U 2 y\n+U 2 x\n-U 3 x\n+U 3 x\n"),
            "-D 1 'x'\n+I 2 'x'\n-U 3 'x'\n+U 3 'x'\n");
  EXPECT_EQ(testing::Run(*filter, kRow, "+U 1 x\n+U 1 y\n"), "+U 1 'x'\n");
}

TEST(Filter, PassesAWholeBatchUncopied) {
  TaskContext task;
  const auto filter = Opened(MakeFilter({IsX(), "UTC"}), task);
  const Batch batch = ParseBatch(kRow, "+I 1 x\n+I 2 x\n");
  CapturingOutput out;
  ASSERT_TRUE(filter->Process(0, batch, out));
  EXPECT_EQ(out.batches[0].columns()[0], batch.columns()[0]);
}

TEST(Filter, SkipsFailedRowsWhereTheSourceAllowsIt) {
  TaskContext task;
  std::vector<int64_t> skipped;
  task.context.on_row_error = [&](const RowPosition& position, const Error&) -> Status {
    skipped.push_back(position.offset);
    return {};
  };
  const auto filter = Opened(MakeFilter({IsX(), "UTC"}), task);
  CapturingOutput out;
  ASSERT_TRUE(filter->Process(0, WithPositions(ParseBatch(kRow, "+I 1 bad\n-U 2 x\n+U 2 bad\n+I 3 x\n")), out));
  EXPECT_EQ(out.Text(), "+I 3 'x'\n");
  EXPECT_EQ(skipped, (std::vector<int64_t>{0, 1, 2}));
  const auto failed = filter->Process(0, ParseBatch(kRow, "+I 1 bad\n"), out);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "bad row");
}

TEST(Project, SharesColumnsAndKeepsKinds) {
  TaskContext task;
  const auto project = Opened(MakeProject({MakeSchema({{"v", StringType()}, {"x", BooleanType()}}),
                                           {std::make_shared<ColumnReference>(1, StringType()), IsX()},
                                           "UTC"}),
                              task);
  const Batch batch = ParseBatch(kRow, "-D 1 x\n+I 2 y\n");
  CapturingOutput out;
  ASSERT_TRUE(project->Process(0, batch, out));
  EXPECT_EQ(out.Text(), "-D 'x' true\n+I 'y' false\n");
  EXPECT_EQ(out.batches[0].columns()[0], batch.columns()[1]);
}

TEST(Normalise, MakesAFullChangelog) {
  TaskContext task;
  const auto normalise = Opened(MakeNormalise({kRow, {0}, {}}), task);
  EXPECT_EQ(testing::Run(*normalise, kRow, "+I 1 a\n+I 1 b\n+U 2 c\n+I 1 b\n"),
            "+I 1 'a'\n-U 1 'a'\n+U 1 'b'\n+I 2 'c'\n");
  EXPECT_EQ(testing::Run(*normalise, kRow, "-D 1 NULL\n-D 1 NULL\n-U 2 c\n+U 2 d\n"), "-D 1 'b'\n-U 2 'c'\n+U 2 'd'\n");
  EXPECT_EQ(task.metrics.ignored_deletes, 1);
}

TEST(Normalise, RandomUpsertsWithRestores) {
  std::mt19937_64 random(7);
  std::map<int64_t, std::string> model;
  Collapsed sink;
  int parallelism = 1;
  std::vector<std::unique_ptr<TaskContext>> contexts;
  std::vector<std::unique_ptr<Operator>> tasks;
  const auto start = [&] {
    tasks.clear();
    contexts.clear();
    for (int task = 0; task < parallelism; ++task) {
      contexts.push_back(std::make_unique<TaskContext>(task, parallelism));
      tasks.push_back(Opened(MakeNormalise({kRow, {0}, {}}), *contexts.back()));
    }
  };
  start();
  for (int step = 0; step < 400; ++step) {
    std::string text;
    for (int i = 0; i < 20; ++i) {
      const auto key = static_cast<int64_t>(random() % 50);
      if (random() % 3 == 0) {
        model.erase(key);
        text += "-D " + std::to_string(key) + " NULL\n";
      } else {
        model[key] = std::string(random() % 5, 'v');
        if (model[key].empty()) model[key] = "w";
        text += "+U " + std::to_string(key) + " " + model[key] + "\n";
      }
    }
    const Batch batch = ParseBatch(kRow, text);
    std::vector<uint64_t> hashes;
    HashRows(batch, std::vector<int>{0}, hashes);
    for (int task = 0; task < parallelism; ++task) {
      Selection mine;
      for (uint32_t i = 0; i < batch.rows(); ++i) {
        if (TaskOf(KeyGroupOf(hashes[i]), parallelism) == task) mine.push_back(i);
      }
      if (!mine.empty()) testing::Feed(*tasks[static_cast<size_t>(task)], 0, batch.Gather(mine), sink);
    }
    std::map<std::string, int> expected;
    for (const auto& [key, value] : model) expected[std::to_string(key) + " '" + value + "'"] = 1;
    ASSERT_EQ(sink.rows(), expected);
    if (step % 25 != 0) continue;
    MemorySnapshot snapshot;
    for (int task = 0; task < parallelism; ++task) {
      MemorySnapshotWriter writer;
      ASSERT_TRUE(tasks[static_cast<size_t>(task)]->Snapshot(writer));
      ASSERT_TRUE(writer.Finish());
      snapshot.Add(task, parallelism, writer.content);
    }
    parallelism = std::array<int, 3>{1, 2, 4}[random() % 3];
    start();
    for (const auto& task : tasks) ASSERT_TRUE(task->Restore(snapshot));
  }
}

// Tasks each retract what they added, in their own order; the consumer sees any interleaving.  Rows name their task:
// the columns that the tasks are split by are part of the row.
TEST(KeyOrder, IsRightAtEveryBarrierWhateverTheInterleaving) {
  std::mt19937_64 random(3);
  const SchemaPtr schema = MakeSchema({{"k", BigintType()}, {"task", BigintType()}, {"v", BigintType()}});
  for (int run = 0; run < 300; ++run) {
    TaskContext context;
    const auto order = Opened(MakeKeyOrder({schema, {0}}), context);
    std::map<std::string, std::string> upserted;  // what the sink holds
    std::optional<std::string> current;           // the key's row in the order of the input
    size_t current_task = 0;
    for (int epoch = 0; epoch < 4; ++epoch) {
      std::vector<std::vector<std::string>> queues(3);
      for (int change = 0; change < 6; ++change) {
        if (current) queues[current_task].push_back("-D " + *current);
        current.reset();
        if (random() % 4 == 0) continue;
        current_task = random() % queues.size();
        current = "7 " + std::to_string(current_task) + " " + std::to_string(random() % 3);
        queues[current_task].push_back("+I " + *current);
      }
      std::vector<size_t> at(queues.size(), 0);
      std::string text;
      const auto feed = [&] {
        CapturingOutput out;
        ASSERT_TRUE(order->Process(0, ParseBatch(schema, text), out));
        std::istringstream lines(out.Text());
        for (std::string line; std::getline(lines, line);) {
          if (line[0] == '+') {
            upserted["7"] = line.substr(3);
          } else {
            EXPECT_EQ(line.substr(0, 2), "-D");
            upserted.erase("7");
          }
        }
        text.clear();
      };
      for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < queues.size(); ++i) more |= at[i] < queues[i].size();
        const size_t pick = random() % queues.size();
        if (at[pick] < queues[pick].size()) text += queues[pick][at[pick]++] + "\n";
        if (!text.empty() && random() % 2 == 0) feed();
      }
      if (!text.empty()) feed();
      CapturingOutput out;
      ASSERT_TRUE(order->OnBarrier(out));
      EXPECT_EQ(upserted.count("7") > 0 ? upserted["7"] : "", current.value_or("")) << "run " << run;
    }
  }
}

}  // namespace
}  // namespace weir
