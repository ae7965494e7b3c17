// Indexes that are declared, and no longer declared, between two runs of a job; and tables that are changed, which is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "engine/checkpoint/manifest_file.h"
#include "jobs/embed.h"
#include "tables/table_set.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kBuckets = 5;

std::string JobText(const std::string& table, int parallelism) {
  return "name: indexes\noptions: {join: delta, parallelism: " + std::to_string(parallelism) +
         ", checkpoint: {on_rows: 7}, redo_rows: 12}\n" + R"yaml(
sources:
  p: {connector: memory, primary_key: [id], columns: {id: bigint, user_id: bigint, url: string}}
tables:
  pages: {)yaml" + table + R"yaml(}
sinks:
  o: {connector: memory}
queries:
  - INSERT INTO pages SELECT * FROM p
  - INSERT INTO o SELECT id, url FROM pages
)yaml";
}

const char* const kPlain = "columns: {id: bigint, user_id: bigint, url: string}, primary_key: [id], bucket: {num: 5}";

std::string WithIndexes(const std::string& indexes) { return std::string(kPlain) + ", indexes: " + indexes; }

// Rows as they lie in a table at the newest checkpoint: bucket, key and row, as bytes.
std::multiset<std::string> RowsOf(const std::string& state_dir, const std::string& name, bool with_key) {
  std::multiset<std::string> rows;
  const auto manifest = ReadManifest(CheckpointFolder(state_dir, ListCheckpoints(state_dir).back()) + "/manifest.json");
  EXPECT_TRUE(manifest) << manifest.error().ToString();
  if (!manifest) return rows;
  Scheduler io(1);
  TableSet tables({});
  TableOptions options;
  options.name = name;
  options.buckets = kBuckets;
  const auto table = tables.Add(options);
  const Status opened = tables.Open(state_dir, &*manifest, io, {[] {}, [] {}, [](const Error&) {}});
  EXPECT_TRUE(opened) << opened.error().ToString();
  for (int bucket = 0; opened && bucket < kBuckets; ++bucket) {
    const Status read = table->ReadRestored(bucket, [&](std::string_view group, std::string_view, std::string_view rest) {
      rows.insert((with_key ? std::to_string(bucket) + " " + std::string(group) + " " : "") + std::string(rest));
      return Status();
    });
    EXPECT_TRUE(read) << read.error().ToString();
  }
  return rows;
}

// A job whose job file changes between its lives, and what its source has said in all of them.
class ChangingJob {
 public:
  ChangingJob(std::string state_dir, uint64_t seed) : state_dir_(std::move(state_dir)), random_(seed) {}

  Status Start(const std::string& text) {
    WEIR_ASSIGN(job_, EmbeddedJob::Create(text, {.state_dir = state_dir_, .overrides = {}, .check_operators = true}));
    // A source goes on from where it was in a feed that begins anew.
    for (const auto& [values, kind] : said_) Say(values, kind);
    return job_->Start();
  }
  void Run(int rows) {
    for (int i = 0; i < rows; ++i) {
      const std::string id = std::to_string(random_() % 20);
      const std::string user = random_() % 6 == 0 ? "NULL" : std::to_string(random_() % 8);
      const RowKind kind = random_() % 4 == 0 ? RowKind::kDelete : RowKind::kInsert;
      said_.push_back({{id, user, std::string(1, static_cast<char>('x' + random_() % 3))}, kind});
      Say(said_.back().first, kind);
      if (random_() % 5 == 0) {
        ASSERT_TRUE(job_->WaitUntilIdle());
      }
    }
  }
  void CrashAndStart() {
    job_->Crash();
    const Status started = job_->Start();
    ASSERT_TRUE(started) << started.error().ToString();
  }
  void Stop() {
    ASSERT_TRUE(job_->Checkpoint());
    job_->Crash();
    job_.reset();
  }
  EmbeddedJob& job() { return *job_; }
  const std::string& state_dir() const { return state_dir_; }

 private:
  void Say(const std::vector<std::string>& values, RowKind kind) {
    MemoryFeed& feed = job_->feed("p");
    feed.Push(*MakeRow(feed.schema(), values, kind));
  }

  const std::string state_dir_;
  std::mt19937_64 random_;
  std::vector<std::pair<std::vector<std::string>, RowKind>> said_;
  std::unique_ptr<EmbeddedJob> job_;
};

#define ASSERT_STARTS(job, text)                              \
  {                                                           \
    const Status started = (job).Start(text);                 \
    ASSERT_TRUE(started) << started.error().ToString();       \
  }

int64_t RowsInFigures(ChangingJob& job, const std::string& name) {
  for (const TableFigures& table : job.job().Figures().tables) {
    if (table.name == name) return table.rows;
  }
  return -1;
}

TEST(AddedIndexTest, GetsTheRowsOfItsTable) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
    ChangingJob job(folder / "state", seed);
    ASSERT_STARTS(job, JobText(kPlain, 1));
    job.Run(static_cast<int>(seed) * 13);
    job.Stop();
    ASSERT_STARTS(job, JobText(WithIndexes("[[user_id], [url, user_id]]"), 1 + static_cast<int>(seed % 3)));
    EXPECT_TRUE(job.job().WaitUntilIdle());  // what the first life has not taken arrives now
    EXPECT_EQ(RowsInFigures(job, "pages[user_id]"), RowsInFigures(job, "pages"));
    if (seed % 2 == 0) job.CrashAndStart();  // before a checkpoint holds it
    job.Run(30);
    job.CrashAndStart();
    job.Run(11);
    EXPECT_TRUE(job.job().WaitUntilIdle());
    EXPECT_TRUE(job.job().Checkpoint());
    EXPECT_EQ(RowsInFigures(job, "pages[user_id]"), RowsInFigures(job, "pages"));
    job.Stop();
    const auto rows = RowsOf(job.state_dir(), "pages", false);
    EXPECT_EQ(RowsOf(job.state_dir(), "pages[user_id]", false), rows);
    EXPECT_EQ(RowsOf(job.state_dir(), "pages[url, user_id]", false), rows);

    // Every row lies where it would if the index had been there from the first row.
    ChangingJob fresh(folder / "fresh", seed);
    ASSERT_STARTS(fresh, JobText(WithIndexes("[[user_id], [url, user_id]]"), 1));
    fresh.Run(static_cast<int>(seed) * 13);
    fresh.Run(30);
    fresh.Run(11);
    EXPECT_TRUE(fresh.job().WaitUntilIdle());
    fresh.Stop();
    EXPECT_EQ(RowsOf(job.state_dir(), "pages[user_id]", true), RowsOf(fresh.state_dir(), "pages[user_id]", true));
    EXPECT_EQ(RowsOf(job.state_dir(), "pages[url, user_id]", true), RowsOf(fresh.state_dir(), "pages[url, user_id]", true));
  }
}

TEST(AddedIndexTest, IsForgottenAndMadeAnew) {
  const testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
  ChangingJob job(folder / "state", 1);
  const std::string indexed = JobText(WithIndexes("[[user_id]]"), 2);
  const std::string index_folder = folder / "state/tables/pages[user_id]";
  ASSERT_STARTS(job, indexed);
  job.Run(40);
  job.Stop();
  ASSERT_STARTS(job, JobText(kPlain, 2));
  EXPECT_TRUE(std::filesystem::exists(index_folder));  // kept checkpoints are of a time when the table had it
  for (int i = 0; i < 4; ++i) {
    job.Run(10);
    ASSERT_TRUE(job.job().WaitUntilIdle());
    ASSERT_TRUE(job.job().Checkpoint());
  }
  EXPECT_FALSE(std::filesystem::exists(index_folder));
  job.Stop();
  ASSERT_STARTS(job, indexed);
  job.Run(20);
  ASSERT_TRUE(job.job().WaitUntilIdle());
  ASSERT_TRUE(job.job().Checkpoint());
  EXPECT_EQ(RowsInFigures(job, "pages[user_id]"), RowsInFigures(job, "pages"));
  job.Stop();
  EXPECT_EQ(RowsOf(job.state_dir(), "pages[user_id]", false), RowsOf(job.state_dir(), "pages", false));
}

// Without a checkpoint in between, so that the folder of the index is still there, and is not what the table is now.
TEST(AddedIndexTest, IsNotWhatAnEarlierDeclarationLeft) {
  const testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
  ChangingJob job(folder / "state", 2);
  const std::string indexed = JobText(WithIndexes("[[user_id]]"), 1);
  ASSERT_STARTS(job, indexed);
  job.Run(40);
  job.Stop();
  ASSERT_STARTS(job, JobText(kPlain, 1));
  job.Run(5);
  ASSERT_TRUE(job.job().WaitUntilIdle());
  job.Stop();
  ASSERT_STARTS(job, indexed);
  ASSERT_TRUE(job.job().WaitUntilIdle());
  EXPECT_EQ(RowsInFigures(job, "pages[user_id]"), RowsInFigures(job, "pages"));
  job.Stop();
  EXPECT_EQ(RowsOf(job.state_dir(), "pages[user_id]", false), RowsOf(job.state_dir(), "pages", false));
}

// What the job says when it is started from the state of `before` as `after`.
std::string Refusal(const std::string& before, const std::string& after) {
  const testing::TemporaryFolder folder(testing::TemporaryFolder::Place::kMemory);
  ChangingJob job(folder / "state", 1);
  const Status began = job.Start(before);
  EXPECT_TRUE(began) << began.error().ToString();
  if (!began) return {};
  job.Run(20);
  EXPECT_TRUE(job.job().WaitUntilIdle());
  job.Stop();
  const Status started = job.Start(after);
  return started ? std::string() : started.error().ToString();
}

TEST(ChangedTableTest, IsRefused) {
  const std::string before = JobText(kPlain, 1);
  const auto changed = [](const std::string& table) { return JobText(table, 1); };
  EXPECT_EQ(Refusal(before, JobText(kPlain, 3)), "");
  EXPECT_THAT(Refusal(before, changed("columns: {id: bigint, user_id: bigint, url: string}, primary_key: [id], "
                                      "bucket: {num: 4}")),
              HasSubstr("table pages differs: it had 5 buckets and has 4; give the changed job its own --state-dir"));
  EXPECT_THAT(Refusal(before, changed("columns: {id: bigint, user_id: bigint, url: string}, primary_key: [id], "
                                      "bucket: {num: 8}")),
              HasSubstr("table pages differs: it had 5 buckets and has 8"));
  EXPECT_THAT(Refusal(before, changed("columns: {id: bigint, user_id: \"decimal(20,0)\", url: string}, primary_key: [id], "
                                      "bucket: {num: 5}")),
              HasSubstr("table pages differs: column user_id was a bigint and is a decimal(20,0)"));
  EXPECT_THAT(Refusal(before, changed("columns: {user_id: bigint, id: bigint, url: string}, primary_key: [id], "
                                      "bucket: {num: 5}")),
              HasSubstr("table pages differs: its columns have another order"));
  EXPECT_THAT(Refusal(before, changed("columns: {id: bigint, user_id: bigint, url: string}, primary_key: [id, url], "
                                      "bucket: {num: 5}")),
              HasSubstr("table pages differs: its key was (id) and is (id, url)"));
  const std::string two = "columns: {id: bigint, user_id: bigint, url: string}, primary_key: [id, url], ";
  EXPECT_THAT(Refusal(changed(two + "bucket: {key: [id]}"), changed(two + "bucket: {key: [url]}")),
              HasSubstr("table pages differs: its bucket key was (id) and is (url)"));
}

// What a join has kept in one backend is not in the other.
TEST(ChangedStateTest, IsRefusedWhereAJoinKeepsSome) {
  const auto job = [](const std::string& state, const std::string& query) {
    return "name: j\noptions: {join: regular, parallelism: 1, state: " + state + ", checkpoint: {on_rows: 7}}\n" + R"yaml(
sources:
  p: {connector: memory, primary_key: [id], columns: {id: bigint, user_id: bigint, url: string}}
sinks:
  o: {connector: memory}
queries:
  - )yaml" + query + "\n";
  };
  const std::string join = "INSERT INTO o SELECT x.url FROM p x JOIN p y ON x.id = y.user_id";
  EXPECT_THAT(Refusal(job("memory", join), job("rocksdb", join)), HasSubstr("options.state was memory and is rocksdb"));
  EXPECT_THAT(Refusal(job("rocksdb", join), job("memory", join)), HasSubstr("options.state was rocksdb and is memory"));
  EXPECT_EQ(Refusal(job("rocksdb", join), job("rocksdb", join)), "");
  const std::string count = "INSERT INTO o SELECT user_id, COUNT(*) AS n FROM p GROUP BY user_id";
  EXPECT_EQ(Refusal(job("memory", count), job("rocksdb", count)), "");
}

TEST(ChangedTableTest, AnIndexThatTakesATableFromItsJoinIsRefused) {
  const std::string text = R"yaml(
name: fused
options: {join: delta, parallelism: 1, checkpoint: {on_rows: 5}}
sources:
  p: {connector: memory, primary_key: [id], columns: {id: bigint, user_id: bigint, url: string}}
tables:
  pages: {columns: {id: bigint, user_id: bigint, url: string}, primary_key: [id]INDEXES}
sinks:
  o: {connector: memory}
queries:
  - INSERT INTO pages SELECT * FROM p
  - INSERT INTO o SELECT x.url, y.user_id FROM pages x JOIN p y ON x.id = y.id
)yaml";
  const auto with = [&](const std::string& indexes) {
    std::string out = text;
    return out.replace(out.find("INDEXES"), 7, indexes);
  };
  EXPECT_THAT(Refusal(with(""), with(", indexes: [[user_id]]")),
              AllOf(HasSubstr("table pages differs"), HasSubstr("join-1"), HasSubstr("table-pages")));
}

}  // namespace
}  // namespace weir
