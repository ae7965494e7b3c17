// What an embedding program looks like: the attribution join with rows from the program, a clock that the test owns, a
// checkpoint, a crash and a restore.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobs/embed.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::ElementsAre;

TEST(Embedding, AttributionSurvivesACrash) {
  const testing::TemporaryFolder folder;
  ManualClock clock;
  auto created =
      EmbeddedJob::Create(R"yaml(
name: attribution
options: {parallelism: 2}
sources:
  orders: {connector: memory, columns: {order_id: bigint, user_id: bigint, amount: "decimal(12,2)"}}
  visits: {connector: memory, columns: {visit_id: bigint, user_id: bigint, channel: string}}
sinks:
  attributed: {connector: memory}
queries:
  - INSERT INTO attributed
    SELECT o.order_id, o.amount, v.channel FROM orders o JOIN visits v ON o.user_id = v.user_id
)yaml",
                          {.state_dir = folder.path(), .clock = &clock, .overrides = {}, .check_operators = true});
  ASSERT_TRUE(created) << created.error().ToString();
  EmbeddedJob& job = **created;
  MemoryFeed& orders = job.feed("orders");
  MemoryFeed& visits = job.feed("visits");
  ASSERT_TRUE(job.Start());

  orders.Push(*MakeRow(orders.schema(), {"1", "7", "3.50"}));
  ASSERT_TRUE(job.Checkpoint());
  visits.Push(*MakeRow(visits.schema(), {"100", "7", "search"}));
  ASSERT_TRUE(job.WaitUntilIdle());
  EXPECT_THAT(*job.result("attributed").Collapsed(), ElementsAre("1 3.50 'search'"));

  job.Crash();  // the visit and its result are lost; the order is in the checkpoint
  ASSERT_TRUE(job.Start());
  orders.Push(*MakeRow(orders.schema(), {"2", "7", "4.00"}));
  ASSERT_TRUE(job.Finish());
  EXPECT_THAT(*job.result("attributed").Collapsed(), ElementsAre("1 3.50 'search'", "2 4.00 'search'"));
}

TEST(Embedding, ACrashBeforeTheFirstCheckpointLeavesNothing) {
  const testing::TemporaryFolder folder;
  auto created = EmbeddedJob::Create(R"yaml(
name: copy
options: {parallelism: 1}
sources: {a: {connector: memory, columns: {id: bigint}}}
sinks: {o: {connector: memory}}
queries: [INSERT INTO o SELECT id FROM a]
)yaml",
                                     {.state_dir = folder.path(), .overrides = {}, .check_operators = true});
  ASSERT_TRUE(created) << created.error().ToString();
  EmbeddedJob& job = **created;
  ASSERT_TRUE(job.Start());
  job.feed("a").Push(*MakeRow(job.feed("a").schema(), {"1"}));
  ASSERT_TRUE(job.WaitUntilIdle());
  job.Crash();
  ASSERT_TRUE(job.Start());
  ASSERT_TRUE(job.Finish());
  EXPECT_THAT(*job.result("o").Collapsed(), ElementsAre("1"));
}

}  // namespace
}  // namespace weir
