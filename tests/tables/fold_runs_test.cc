// A fold that comes in runs: written beside the base and ingested together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tables/base/table_base.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FoldRuns : public ::testing::Test {
 protected:
  FoldRuns() { Reopen(); }

  void Reopen() {
    base_.reset();
    auto opened = TableBase::Open(folder_ / "base", {});
    ASSERT_TRUE(opened) << opened.error().ToString();
    base_ = std::move(*opened);
  }
  std::unique_ptr<Fold> Run(const std::vector<LogEntry>& changes, bool first) {
    auto run = std::make_unique<Fold>(*base_, first);
    for (const LogEntry& change : changes) EXPECT_TRUE(run->Add(7, change));
    return run;
  }
  void Close(const std::vector<LogEntry>& changes) {
    runs_.push_back(Run(changes, runs_.empty()));
    EXPECT_TRUE(runs_.back()->Close());
  }
  void Finish(const std::vector<LogEntry>& changes) {
    const auto last = Run(changes, runs_.empty());
    const Status finished = last->Finish("marker", runs_);
    EXPECT_TRUE(finished) << finished.error().ToString();
    runs_.clear();
  }
  // "unique=rest" of each row of group "g".
  std::vector<std::string> Rows() {
    std::vector<std::string> rows;
    const std::vector<GroupKey> groups = {{7, "g"}};
    EXPECT_TRUE(base_->Scan(groups, [&](size_t, std::string_view unique, std::string_view rest) {
      rows.push_back(std::string(unique) + "=" + std::string(rest));
    }));
    return rows;
  }
  size_t FilesBeside() const {
    const std::filesystem::path folding = std::filesystem::path(folder_ / "base") / "folding";
    if (!std::filesystem::exists(folding)) return 0;
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folding), {}));
  }

  const testing::TemporaryFolder folder_{testing::TemporaryFolder::Place::kMemory};
  std::unique_ptr<TableBase> base_;
  std::vector<std::unique_ptr<Fold>> runs_;
};

TEST_F(FoldRuns, LaterRunsAreNewer) {
  Close({{false, "g", "1", "old"}, {false, "g", "2", "stays"}, {false, "g", "3", "goes"}});
  Close({{false, "g", "1", "newer"}, {true, "g", "3", ""}, {false, "g", "4", "goes"}});
  EXPECT_TRUE(base_->empty());
  EXPECT_THAT(Rows(), IsEmpty());  // not before the end
  Finish({{false, "g", "1", "newest"}, {true, "g", "4", ""}});
  EXPECT_THAT(Rows(), ElementsAre("1=newest", "2=stays"));
  EXPECT_EQ(base_->Marker().value(), "marker");
  EXPECT_EQ(FilesBeside(), 0U);
  Reopen();
  EXPECT_THAT(Rows(), ElementsAre("1=newest", "2=stays"));
}

TEST_F(FoldRuns, RunsOverAFold) {
  Finish({{false, "g", "1", "a"}, {false, "g", "2", "b"}, {false, "g", "3", "c"}});
  Close({{true, "g", "1", ""}, {false, "g", "2", "B"}});
  EXPECT_THAT(Rows(), ElementsAre("1=a", "2=b", "3=c"));
  Close({{false, "g", "1", "A"}, {true, "g", "2", ""}});
  Finish({{true, "g", "3", ""}});
  EXPECT_THAT(Rows(), ElementsAre("1=A"));
  Reopen();
  EXPECT_THAT(Rows(), ElementsAre("1=A"));
}

TEST_F(FoldRuns, ACopyHasNothingOfRunsThatAreNotIngested) {
  Finish({{false, "g", "1", "a"}});
  Close({{false, "g", "1", "later"}, {false, "g", "2", "later"}});
  ASSERT_TRUE(base_->LinkInto(folder_ / "copy"));
  Finish({});
  EXPECT_THAT(Rows(), ElementsAre("1=later", "2=later"));
  base_.reset();
  ASSERT_TRUE(TableBase::RestoreFrom(folder_ / "copy", folder_ / "base"));
  Reopen();
  EXPECT_THAT(Rows(), ElementsAre("1=a"));
}

TEST_F(FoldRuns, AbandonedRunsLeaveNothing) {
  Close({{false, "g", "1", "a"}});
  EXPECT_EQ(FilesBeside(), 1U);
  runs_.clear();
  EXPECT_EQ(FilesBeside(), 0U);
  Close({{false, "g", "1", "b"}});
  EXPECT_FALSE(runs_[0]->Add(7, {false, "g", "2", "closed"}));
  EXPECT_FALSE(runs_[0]->Finish("marker"));
  Close({});
  Finish({});
  EXPECT_THAT(Rows(), ElementsAre("1=b"));
}

}  // namespace
}  // namespace weir
