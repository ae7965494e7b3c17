// The changes of a state table: written in runs while an epoch goes on, and never part of an older checkpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tables/table_set.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Writer final : public SnapshotWriter {
 public:
  explicit Writer(Epoch epoch) : epoch_(epoch) {}
  Epoch epoch() const override { return epoch_; }
  void Put(std::string) override {}
  void WriteLater(std::function<Status(File&)>) override {}
  void FinishLater(std::function<Status()> work) override { work_.push_back(std::move(work)); }
  void PutCommitData(std::string) override {}
  void PutTablePosition(const std::string&, int, const LogPosition&) override {}
  void PutCounter(const std::string&, int64_t) override {}
  bool has_work() const { return !work_.empty(); }
  Status Finish() {
    for (const auto& work : work_) WEIR_TRY(work());
    return {};
  }

 private:
  const Epoch epoch_;
  std::vector<std::function<Status()>> work_;
};

// One task that owns both buckets of a table; every change is a run.
class EpochChangesTest : public ::testing::Test {
 protected:
  EpochChangesTest() : io_(1) { Open(nullptr); }
  ~EpochChangesTest() override { tables_->Close(); }

  void Open(const Manifest* restored) {
    if (tables_) tables_->Close();
    tables_ = std::make_unique<TableSet>(TableSetOptions{.run_bytes = 1});
    table_ = tables_->Add({"state", 2, TableOptions::Kind::kState});
    ASSERT_TRUE(tables_->Open(folder_ / "dir", restored, io_, {[] {}, [] {}, [](const Error&) {}}));
    ASSERT_TRUE(table_->OpenBuckets({0, 1}));
  }
  void WaitForRuns() {
    std::promise<void> reached;
    io_.Post([&] { reached.set_value(); });
    reached.get_future().wait();
  }
  void Put(const std::string& unique, const std::string& rest) {
    EXPECT_TRUE(table_->Append(1, {false, "g", unique, rest}));
    WaitForRuns();
  }
  void Remove(const std::string& unique) {
    EXPECT_TRUE(table_->Append(1, {true, "g", unique, {}}));
    WaitForRuns();
  }
  std::unique_ptr<Writer> Barrier(Epoch epoch) {
    auto writer = std::make_unique<Writer>(epoch);
    EXPECT_TRUE(table_->Snapshot({0, 1}, 1, *writer));
    return writer;
  }
  void Complete(Writer& writer) {
    const Status finished = writer.Finish();
    EXPECT_TRUE(finished) << finished.error().ToString();
    EXPECT_TRUE(tables_->Prepare(writer.epoch()));
  }
  std::vector<std::string> Rows() {
    std::vector<std::string> rows;
    const std::vector<GroupKey> groups = {{1, "g"}};
    EXPECT_TRUE(table_->base().Scan(groups, [&](size_t, std::string_view unique, std::string_view rest) {
      rows.push_back(std::string(unique) + "=" + std::string(rest));
    }));
    return rows;
  }

  const testing::TemporaryFolder folder_{testing::TemporaryFolder::Place::kMemory};
  Scheduler io_;
  std::unique_ptr<TableSet> tables_;
  std::shared_ptr<Table> table_;
};

TEST_F(EpochChangesTest, RunsComeIntoTheBaseAtTheCheckpoint) {
  Put("1", "a");
  Put("2", "b");
  Put("1", "A");
  EXPECT_THAT(Rows(), IsEmpty());
  Complete(*Barrier(1));
  EXPECT_THAT(Rows(), ElementsAre("1=A", "2=b"));
  const auto nothing = Barrier(2);
  EXPECT_FALSE(nothing->has_work());
  Complete(*nothing);
  Remove("1");
  Put("3", "c");
  Complete(*Barrier(3));
  EXPECT_THAT(Rows(), ElementsAre("2=b", "3=c"));
}

// The first run of an epoch may be written before the base has what the epoch before it brings.
TEST_F(EpochChangesTest, ARemovalIsKeptWhileItsRowIsOnItsWayIntoTheBase) {
  Put("1", "a");
  Put("2", "b");
  const auto first = Barrier(1);
  Remove("1");
  Complete(*first);
  EXPECT_THAT(Rows(), ElementsAre("1=a", "2=b"));
  Complete(*Barrier(2));
  EXPECT_THAT(Rows(), ElementsAre("2=b"));
}

TEST_F(EpochChangesTest, ARestoreGoesBackToTheCheckpointsRows) {
  Put("1", "a");
  const auto first = Barrier(1);
  Put("1", "of the next epoch");
  Put("2", "of the next epoch");
  Complete(*first);
  const auto unfinished = Barrier(2);
  ASSERT_TRUE(unfinished->Finish());
  EXPECT_THAT(Rows(), ElementsAre("1=of the next epoch", "2=of the next epoch"));
  Manifest manifest;
  manifest.epoch = 1;
  Open(&manifest);
  EXPECT_THAT(Rows(), ElementsAre("1=a"));
  Put("3", "c");
  Complete(*Barrier(3));
  EXPECT_THAT(Rows(), ElementsAre("1=a", "3=c"));
}

TEST_F(EpochChangesTest, WorkThatComesAfterTheEndChangesNothing) {
  Put("1", "a");
  const auto late = Barrier(1);
  tables_->Close();
  EXPECT_FALSE(late->Finish());
}

}  // namespace
}  // namespace weir
