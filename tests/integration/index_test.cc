// Jobs with declared indexes: changes that move rows within an index, crashes, restores at another parallelism.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "jobs/embed.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::UnorderedElementsAreArray;

std::string JobText(int parallelism) {
  return "name: indexes\noptions: {join: delta, parallelism: " + std::to_string(parallelism) + R"yaml(, checkpoint: {on_rows: 5}, redo_rows: 10}
sources:
  p: {connector: memory, primary_key: [id], columns: {id: bigint, user_id: bigint, url: string}}
  u: {connector: memory, primary_key: [id], columns: {id: bigint, name: string}}
tables:
  pages: {columns: {id: bigint, user_id: bigint, url: string}, primary_key: [id], indexes: [[user_id], [url, user_id]]}
  users: {columns: {id: bigint, name: string}, primary_key: [id]}
sinks:
  o: {connector: memory}
queries:
  - INSERT INTO pages SELECT * FROM p
  - INSERT INTO users SELECT * FROM u
  - INSERT INTO o SELECT u.name, p.url FROM users u JOIN pages p ON u.id = p.user_id
)yaml";
}

TEST(IndexJobTest, IndexesFollowTheTable) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
    auto job = EmbeddedJob::Create(JobText(1 + static_cast<int>(seed % 3)),
                                   {.state_dir = folder / "state", .overrides = {}, .check_operators = true});
    ASSERT_TRUE(job) << job.error().ToString();
    ASSERT_TRUE((*job)->Start());
    std::map<int64_t, std::pair<std::string, std::string>> pages;  // id -> user, url
    std::map<int64_t, std::string> users;
    for (int step = 0; step < 60; ++step) {
      const int64_t id = static_cast<int64_t>(random() % 8);
      if (random() % 3 == 0) {
        const std::string name(1, static_cast<char>('a' + random() % 3));
        MemoryFeed& feed = (*job)->feed("u");
        feed.Push(*MakeRow(feed.schema(), {std::to_string(id), name}));
        users[id] = name;
      } else {
        const std::string user = random() % 6 == 0 ? "NULL" : std::to_string(random() % 8);
        const std::string url(1, static_cast<char>('x' + random() % 3));
        const bool gone = random() % 4 == 0;
        MemoryFeed& feed = (*job)->feed("p");
        feed.Push(*MakeRow(feed.schema(), {std::to_string(id), user, url}, gone ? RowKind::kDelete : RowKind::kInsert));
        if (gone) {
          pages.erase(id);
        } else {
          pages[id] = {user, url};
        }
      }
      if (random() % 4 == 0) {
        ASSERT_TRUE((*job)->WaitUntilIdle());
      }
      if (random() % 9 == 0) {
        (*job)->Crash();
        const Status started = (*job)->Start();
        ASSERT_TRUE(started) << started.error().ToString();
      }
    }
    const Status finished = (*job)->Finish();
    ASSERT_TRUE(finished) << finished.error().ToString();
    std::vector<std::string> expected;
    for (const auto& [id, page] : pages) {
      if (page.first == "NULL") continue;
      const auto user = users.find(std::stoll(page.first));
      if (user != users.end()) expected.push_back("'" + user->second + "' '" + page.second + "'");
    }
    EXPECT_THAT(*(*job)->result("o").Collapsed(), UnorderedElementsAreArray(expected));
    std::map<std::string, int64_t> rows;
    for (const TableFigures& table : (*job)->Figures().tables) rows[table.name] = table.rows;
    EXPECT_EQ(rows["pages"], static_cast<int64_t>(pages.size()));
    EXPECT_EQ(rows["pages[url, user_id]"], rows["pages"]);
    // An inner join finds no row by NULL: its index leaves those out.
    EXPECT_EQ(rows["pages[user_id]"],
              std::count_if(pages.begin(), pages.end(), [](const auto& page) { return page.second.first != "NULL"; }));
    EXPECT_EQ(rows.size(), 4u);  // users is one with the join
  }
}

}  // namespace
}  // namespace weir
