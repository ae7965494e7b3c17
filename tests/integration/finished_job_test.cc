// What a crash leaves behind after a job's last checkpoint: the next start, which has nothing to do, drops it.
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/base/file.h"
#include "jobs/embed.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

TEST(FinishedJob, StateOfEarlierCheckpointsGoesWithTheNextStart) {
  const testing::TemporaryFolder folder;
  const std::string job = R"yaml(
name: finished
options: {parallelism: 1, join: regular, state: rocksdb, checkpoint: {on_rows: 100}}
sources:
  a: {connector: generator, kind: orders, rows: 300, users: 20, seed: 1, primary_key: [order_id]}
  b: {connector: generator, kind: visits, rows: 300, users: 20, seed: 1, primary_key: [visit_id]}
sinks: {o: {connector: blackhole}}
queries:
  - INSERT INTO o SELECT a.order_id, b.visit_id FROM a JOIN b ON a.user_id = b.user_id
)yaml";
  const auto run = [&] {
    auto created = EmbeddedJob::Create(job, {.state_dir = folder / "state", .overrides = {}, .check_operators = true});
    ASSERT_TRUE(created) << created.error().ToString();
    ASSERT_TRUE((*created)->Start());
    ASSERT_TRUE((*created)->Finish());
  };
  ASSERT_NO_FATAL_FAILURE(run());
  const std::string left = folder / "state/state/join-1.left";
  ASSERT_TRUE(std::filesystem::exists(left + "/base"));
  // As a process that was killed between the last manifest and the removal of what it made superfluous.
  ASSERT_TRUE(MakeFolder(left + "/chk-0"));
  ASSERT_NO_FATAL_FAILURE(run());
  EXPECT_FALSE(std::filesystem::exists(left + "/chk-0"));
  EXPECT_TRUE(std::filesystem::exists(left + "/base"));
}

}  // namespace
}  // namespace weir
