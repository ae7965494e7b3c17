// One key with most of the rows: its rows are one group, which a delta join folds, drops and reads back whole, and one
// change of it matches all of them, part by part, beside barriers and the other keys.
#include <gtest/gtest.h>

#include <filesystem>

#include "jobs/embed.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

constexpr int64_t kHotVisits = 20000;
constexpr int64_t kUsers = 500;

const char* const kJob = R"yaml(
name: skew
options: {parallelism: 2, join: delta, memory: 4MiB, redo_rows: 3000, checkpoint: {on_rows: 2000}}
sources:
  orders: {connector: memory, columns: {id: bigint, user_id: bigint}, primary_key: [id]}
  visits: {connector: memory, columns: {id: bigint, user_id: bigint}, primary_key: [id]}
sinks:
  counts: {connector: memory}
queries:
  - INSERT INTO counts SELECT o.user_id, count(*) AS pairs FROM orders o JOIN visits v ON o.user_id = v.user_id
    GROUP BY o.user_id
)yaml";

// Rows first, first + 1, ... of user of(id).
template <class UserOf>
void Push(MemoryFeed& feed, int64_t first, int64_t rows, UserOf user_of) {
  BatchBuilder batch(std::make_shared<Schema>(feed.schema()));
  for (int64_t id = first; id < first + rows; ++id) {
    batch.column(0).AppendInt(id);
    batch.column(1).AppendInt(user_of(id));
    batch.FinishRow(RowKind::kInsert);
  }
  feed.Push(batch.Build());
}

TEST(Skew, AHotKeyBesideOthers) {
  const testing::TemporaryFolder folder;
  auto created = EmbeddedJob::Create(kJob, {.state_dir = folder.path(), .overrides = {}, .check_operators = true});
  ASSERT_TRUE(created) << created.error().ToString();
  EmbeddedJob& job = **created;
  ASSERT_TRUE(job.Start());
  const auto anyone = [](int64_t id) { return 1 + id % kUsers; };
  const auto hot = [](int64_t) { return 0; };
  MemoryFeed& orders = job.feed("orders");
  MemoryFeed& visits = job.feed("visits");
  Push(orders, 0, 1, hot);
  for (int64_t done = 0; done < kHotVisits; done += 1000) {
    Push(visits, done, 1000, hot);
    Push(visits, 100000 + done, kUsers, anyone);
    Push(orders, 100000 + done, kUsers, anyone);
  }
  ASSERT_TRUE(job.WaitUntilIdle());
  ASSERT_TRUE(job.Checkpoint());
  job.Crash();
  ASSERT_TRUE(job.Start());
  Push(orders, 1, 2, hot);  // each matches all that the base has
  ASSERT_TRUE(job.Finish());

  const int64_t rounds = kHotVisits / 1000;  // of each user's orders, and of its visits
  std::vector<std::string> expected = {"0 " + std::to_string(3 * kHotVisits)};
  for (int64_t user = 1; user <= kUsers; ++user) {
    expected.push_back(std::to_string(user) + " " + std::to_string(rounds * rounds));
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(*job.result("counts").Collapsed(), expected);
}

}  // namespace
}  // namespace weir
