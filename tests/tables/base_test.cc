// The base of a table: folds, lookups, copies, and what is left after a crash or damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "tables/base/sorted_rows.h"
#include "tables/base/table_base.h"

namespace weir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Change {
  int bucket = 0;
  std::string group;
  std::string unique;
  std::string rest;
  bool remove = false;
};

Change Put(int bucket, std::string group, std::string unique, std::string rest) {
  return {bucket, std::move(group), std::move(unique), std::move(rest), false};
}
Change Remove(int bucket, std::string group, std::string unique) {
  return {bucket, std::move(group), std::move(unique), {}, true};
}

Status AddAll(Fold& fold, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    WEIR_TRY(fold.Add(change.bucket, {change.remove, change.group, change.unique, change.rest}));
  }
  return {};
}

class BaseTest : public testing::Test {
 protected:
  BaseTest() {
    root_ = std::filesystem::path(testing::TempDir()) /
            ("base_test." + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
             std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    folder_ = Path("base");
  }
  ~BaseTest() override {
    base_.reset();
    std::filesystem::remove_all(root_);
  }

  std::string Path(const std::string& name) const { return (root_ / name).string(); }

  static std::unique_ptr<TableBase> OpenAt(const std::string& folder) {
    auto opened = TableBase::Open(folder, {});
    EXPECT_TRUE(opened) << opened.error().ToString();
    return opened ? std::move(*opened) : nullptr;
  }
  void Reopen() {
    base_.reset();
    base_ = OpenAt(folder_);
  }
  void FoldIn(const std::vector<Change>& changes, const std::string& marker) {
    Fold fold(*base_);
    Status status = AddAll(fold, changes);
    if (status) status = fold.Finish(marker);
    EXPECT_TRUE(status) << status.error().ToString();
  }

  // "unique=rest" of each row of the group.
  static std::vector<std::string> Rows(TableBase& base, int bucket, std::string_view group) {
    std::vector<std::string> rows;
    const std::vector<GroupKey> groups = {{bucket, group}};
    const Status status = base.Scan(groups, [&](size_t i, std::string_view unique, std::string_view rest) {
      EXPECT_EQ(i, 0U);
      rows.push_back(std::string(unique) + "=" + std::string(rest));
    });
    EXPECT_TRUE(status) << status.error().ToString();
    return rows;
  }
  std::vector<std::string> Rows(int bucket, std::string_view group) { return Rows(*base_, bucket, group); }

  static std::vector<std::string> Bucket(TableBase& base, int bucket) {
    std::vector<std::string> rows;
    const Status status =
        base.ScanBucket(bucket, [&](std::string_view group, std::string_view unique, std::string_view rest) -> Status {
          rows.push_back(std::string(group) + "/" + std::string(unique) + "=" + std::string(rest));
          return {};
        });
    EXPECT_TRUE(status) << status.error().ToString();
    return rows;
  }

  std::vector<std::filesystem::path> SstFiles(const std::string& folder) const {
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      if (file.path().extension() == ".sst") files.push_back(file.path());
    }
    return files;
  }

  std::filesystem::path root_;
  std::string folder_;
  std::unique_ptr<TableBase> base_;
};

TEST_F(BaseTest, OpenOfNothingMakesNothing) {
  Reopen();
  EXPECT_TRUE(base_->empty());
  EXPECT_EQ(base_->Marker().value(), "");
  EXPECT_THAT(Rows(0, "a"), IsEmpty());
  EXPECT_THAT(Bucket(*base_, 0), IsEmpty());
  EXPECT_EQ(base_->bytes(), 0);
  EXPECT_EQ(base_->level0_files(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(BaseTest, FoldsOverFolds) {
  Reopen();
  FoldIn({Put(1, "g", "1", "a"), Put(1, "g", "2", "b"), Put(1, "g", "3", "c"), Put(3, "g", "1", "other bucket")},
         "one");
  EXPECT_FALSE(base_->empty());
  EXPECT_EQ(base_->Marker().value(), "one");
  EXPECT_THAT(Rows(1, "g"), ElementsAre("1=a", "2=b", "3=c"));
  FoldIn({Remove(1, "g", "1"), Put(1, "g", "2", "B"), Put(1, "h", "", "alone")}, "two");
  EXPECT_THAT(Rows(1, "g"), ElementsAre("2=B", "3=c"));
  EXPECT_THAT(Rows(1, "h"), ElementsAre("=alone"));
  FoldIn({Put(1, "g", "1", "again"), Remove(1, "g", "2"), Remove(1, "g", "3")}, "three");
  EXPECT_THAT(Rows(1, "g"), ElementsAre("1=again"));
  EXPECT_THAT(Rows(3, "g"), ElementsAre("1=other bucket"));
  Reopen();
  EXPECT_EQ(base_->Marker().value(), "three");
  EXPECT_THAT(Rows(1, "g"), ElementsAre("1=again"));
  EXPECT_THAT(Bucket(*base_, 1), ElementsAre("g/1=again", "h/=alone"));
}

TEST_F(BaseTest, TheNewestChangeOfAFoldWins) {
  Reopen();
  Fold fold(*base_);
  ASSERT_TRUE(AddAll(fold, {Put(0, "g", "1", "old"), Remove(0, "g", "2"), Remove(0, "g", "1"), Put(0, "g", "1", "new"),
                            Put(0, "g", "3", "gone"), Remove(0, "g", "3"), Put(0, "g", "2", "x")}));
  ASSERT_TRUE(fold.Finish("m"));
  EXPECT_EQ(fold.rows(), 2);  // the first fold needs no removals
  EXPECT_GT(fold.bytes(), 0);
  EXPECT_THAT(Rows(0, "g"), ElementsAre("1=new", "2=x"));
  Fold second(*base_);
  ASSERT_TRUE(AddAll(second, {Remove(0, "g", "1")}));
  ASSERT_TRUE(second.Finish("m"));
  EXPECT_EQ(second.rows(), 1);
}

// A later file is newer only by a number that RocksDB keeps outside of the file.
TEST_F(BaseTest, LaterFoldsWinAfterReopening) {
  Reopen();
  for (int i = 0; i < 10; ++i) {
    FoldIn({Put(0, "g", "1", std::to_string(i)), Put(0, "g", "9", std::to_string(i))}, std::to_string(i));
    Reopen();
    EXPECT_THAT(Rows(0, "g"), ElementsAre("1=" + std::to_string(i), "9=" + std::to_string(i)));
    EXPECT_EQ(base_->Marker().value(), std::to_string(i));
  }
}

TEST_F(BaseTest, GroupsThatArePrefixesOfOneAnother) {
  Reopen();
  const std::string long_group(300, 'a');
  FoldIn({Put(0, "a", "b", "1"), Put(0, "ab", "", "2"), Put(0, "", "ab", "3"), Put(0, "ab", "a", "4"),
          Put(0, long_group, "u", "5"), Put(0, std::string("a\0", 2), "", "6"), Put(256, "a", "", "7")},
         "m");
  EXPECT_THAT(Rows(0, "a"), ElementsAre("b=1"));
  EXPECT_THAT(Rows(0, "ab"), ElementsAre("=2", "a=4"));
  EXPECT_THAT(Rows(0, ""), ElementsAre("ab=3"));
  EXPECT_THAT(Rows(0, long_group), ElementsAre("u=5"));
  EXPECT_THAT(Rows(0, std::string(128, 'a')), IsEmpty());
  EXPECT_THAT(Rows(0, std::string("a\0", 2)), ElementsAre("=6"));
  EXPECT_THAT(Rows(1, "a"), IsEmpty());
  EXPECT_THAT(Rows(256, "a"), ElementsAre("=7"));
}

TEST_F(BaseTest, ScanAndGetOfManyWithMissesAndRepetitions) {
  Reopen();
  std::vector<Change> changes;
  for (int bucket = 0; bucket < 3; ++bucket) {
    for (int i = 0; i < 3000; i += 2) changes.push_back(Put(bucket, std::to_string(i), "u", "r" + std::to_string(i)));
  }
  FoldIn(changes, "m");
  std::vector<std::string> names;
  for (int i = 0; i < 4000; ++i) names.push_back(std::to_string(i * 7 % 3001));
  std::vector<GroupKey> groups;
  std::vector<RowKey> rows;
  for (const std::string& name : names) {
    groups.push_back({static_cast<int>(groups.size() % 4), name});
    rows.push_back({static_cast<int>(rows.size() % 4), name, rows.size() % 5 == 0 ? "v" : "u"});
  }
  std::vector<int> scanned(names.size());
  ASSERT_TRUE(base_->Scan(groups, [&](size_t i, std::string_view unique, std::string_view rest) {
    ++scanned[i];
    EXPECT_EQ(unique, "u");
    EXPECT_EQ(rest, "r" + names[i]);
  }));
  std::vector<int> got(names.size());
  ASSERT_TRUE(base_->MultiGet(rows, [&](size_t i, std::string_view rest) {
    ++got[i];
    EXPECT_EQ(rest, "r" + names[i]);
  }));
  for (size_t i = 0; i < names.size(); ++i) {
    const bool exists = i % 4 < 3 && std::stoi(names[i]) % 2 == 0 && names[i] != "3000";
    EXPECT_EQ(scanned[i], exists ? 1 : 0) << i;
    EXPECT_EQ(got[i], exists && i % 5 != 0 ? 1 : 0) << i;
  }
}

TEST_F(BaseTest, AnAbandonedFoldChangesNothingAndLeavesNoFiles) {
  Reopen();
  FoldIn({Put(0, "g", "1", "a")}, "one");
  {
    Fold fold(*base_);
    ASSERT_TRUE(AddAll(fold, {Put(0, "g", "1", "b"), Put(1, "g", "1", "b"), Put(2, "g", "1", "b")}));
    EXPECT_FALSE(SstFiles(folder_ + "/folding").empty());
  }
  EXPECT_THAT(SstFiles(folder_ + "/folding"), IsEmpty());
  EXPECT_THAT(Rows(0, "g"), ElementsAre("1=a"));
  EXPECT_EQ(base_->Marker().value(), "one");
}

// A crash before the ingestion: files of the fold lie in folding/; of a first fold, perhaps an empty database as well.
TEST_F(BaseTest, OpenRemovesWhatACrashedFoldLeft) {
  Reopen();
  FoldIn({Put(0, "g", "1", "a")}, "one");
  Fold fold(*base_);
  ASSERT_TRUE(AddAll(fold, {Put(0, "g", "1", "b"), Put(1, "g", "1", "b")}));
  std::filesystem::copy(folder_, Path("crashed"), std::filesystem::copy_options::recursive);
  ASSERT_FALSE(SstFiles(Path("crashed") + "/folding").empty());
  const auto crashed = OpenAt(Path("crashed"));
  EXPECT_THAT(Rows(*crashed, 0, "g"), ElementsAre("1=a"));
  EXPECT_EQ(crashed->Marker().value(), "one");
  EXPECT_FALSE(std::filesystem::exists(Path("crashed") + "/folding"));
}

// A crash inside an ingestion leaves files that RocksDB's MANIFEST does not name, and any part of the MANIFEST's last
// record: the base has the whole fold or nothing of it.
TEST_F(BaseTest, OpenRemovesWhatRocksDbLeftUnderATemporaryName) {
  Reopen();
  FoldIn({Put(0, "a", "1", "x")}, "one");
  base_.reset();
  const std::string left = folder_ + "/OPTIONS-000099.dbtmp";
  std::ofstream(left) << "half";
  Reopen();
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_EQ(*base_->Marker(), "one");
}

TEST_F(BaseTest, ACrashInsideAnIngestionLeavesAWholeFoldOrNone) {
  Reopen();
  FoldIn({Put(0, "g", "1", "a"), Put(7, "g", "1", "a")}, "one");
  std::string manifest;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    if (file.path().filename().string().starts_with("MANIFEST")) manifest = file.path().filename().string();
  }
  const auto before = std::filesystem::file_size(folder_ + "/" + manifest);
  FoldIn({Put(0, "g", "1", "b"), Put(7, "g", "1", "b")}, "two");
  const auto after = std::filesystem::file_size(folder_ + "/" + manifest);
  ASSERT_LT(before, after);
  for (auto size = before; size <= after; size += size + 16 < after ? 16 : 1) {
    std::filesystem::remove_all(Path("crashed"));
    std::filesystem::copy(folder_, Path("crashed"), std::filesystem::copy_options::recursive);
    std::filesystem::resize_file(Path("crashed/" + manifest), size);
    const auto crashed = OpenAt(Path("crashed"));
    ASSERT_NE(crashed, nullptr) << size;
    const std::string row = size == after ? "1=b" : "1=a";
    EXPECT_EQ(crashed->Marker().value(), size == after ? "two" : "one") << size;
    EXPECT_THAT(Rows(*crashed, 0, "g"), ElementsAre(row)) << size;
    EXPECT_THAT(Rows(*crashed, 7, "g"), ElementsAre(row)) << size;
  }
}

TEST_F(BaseTest, ADatabaseWithoutAMarkerIsEmpty) {
  rocksdb::DB* made = nullptr;
  rocksdb::Options options;
  options.create_if_missing = true;
  ASSERT_TRUE(rocksdb::DB::Open(options, folder_, &made).ok());
  delete made;
  Reopen();
  EXPECT_TRUE(base_->empty());
  EXPECT_EQ(base_->Marker().value(), "");
  FoldIn({Put(0, "g", "1", "a")}, "one");
  Reopen();
  EXPECT_THAT(Rows(0, "g"), ElementsAre("1=a"));
}

TEST_F(BaseTest, AFoldWithoutRowsSetsTheMarker) {
  Reopen();
  FoldIn({}, "nothing yet");
  EXPECT_FALSE(base_->empty());
  FoldIn({}, "still nothing");
  Reopen();
  EXPECT_EQ(base_->Marker().value(), "still nothing");
}

TEST_F(BaseTest, AFinishedFoldTakesNoMore) {
  Reopen();
  Fold fold(*base_);
  ASSERT_TRUE(fold.Finish("m"));
  const Status status = fold.Add(0, {false, "g", "1", "a"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kState);
}

TEST_F(BaseTest, CopiesGoTheirOwnWays) {
  Reopen();
  FoldIn({Put(0, "g", "1", "a"), Put(0, "g", "2", "b")}, "one");
  const auto files = base_->LinkInto(Path("copies/first"));
  ASSERT_TRUE(files) << files.error().ToString();
  int64_t sst_bytes = 0;
  for (const auto& [name, bytes] : *files) {
    EXPECT_EQ(std::filesystem::file_size(Path("copies/first/" + name)), bytes) << name;
    if (name.ends_with(".sst")) sst_bytes += bytes;
  }
  EXPECT_EQ(sst_bytes, base_->bytes());
  for (const auto& file : SstFiles(Path("copies/first"))) EXPECT_EQ(std::filesystem::hard_link_count(file), 2);

  for (int i = 0; i < 12; ++i) FoldIn({Put(0, "g", "1", "later"), Remove(0, "g", "2")}, "two");
  const auto first = OpenAt(Path("copies/first"));
  EXPECT_EQ(first->Marker().value(), "one");
  EXPECT_THAT(Rows(*first, 0, "g"), ElementsAre("1=a", "2=b"));
  EXPECT_THAT(Rows(0, "g"), ElementsAre("1=later"));
  Fold fold(*first);
  ASSERT_TRUE(AddAll(fold, {Put(0, "g", "3", "its own")}));
  ASSERT_TRUE(fold.Finish("own"));
  Reopen();
  EXPECT_THAT(Rows(0, "g"), ElementsAre("1=later"));
  EXPECT_THAT(Rows(*first, 0, "g"), ElementsAre("1=a", "2=b", "3=its own"));
}

TEST_F(BaseTest, RestoreFromACopyAndGoOn) {
  Reopen();
  FoldIn({Put(0, "g", "1", "a")}, "one");
  ASSERT_TRUE(base_->LinkInto(Path("copy")));
  FoldIn({Put(0, "g", "1", "lost")}, "two");
  base_.reset();
  for (int i = 0; i < 3; ++i) {
    const Status restored = TableBase::RestoreFrom(Path("copy"), folder_);
    ASSERT_TRUE(restored) << restored.error().ToString();
    base_ = OpenAt(folder_);
    EXPECT_EQ(base_->Marker().value(), "one");
    EXPECT_THAT(Rows(0, "g"), ElementsAre("1=a"));
    FoldIn({Put(0, "g", "1", "other"), Put(0, "g", "2", std::to_string(i))}, "three");
    EXPECT_THAT(Rows(0, "g"), ElementsAre("1=other", "2=" + std::to_string(i)));
    base_.reset();
  }
}

TEST_F(BaseTest, CopyOfAnEmptyBaseRestoresAnEmptyBase) {
  Reopen();
  const auto files = base_->LinkInto(Path("copy"));
  ASSERT_TRUE(files);
  EXPECT_THAT(*files, IsEmpty());
  FoldIn({Put(0, "g", "1", "a")}, "one");
  base_.reset();
  ASSERT_TRUE(TableBase::RestoreFrom(Path("copy"), folder_));
  Reopen();
  EXPECT_TRUE(base_->empty());
  EXPECT_FALSE(TableBase::RestoreFrom(Path("no such copy"), folder_));
}

TEST_F(BaseTest, DamageIsAnErrorNotACrash) {
  Reopen();
  std::vector<Change> changes;
  for (int i = 0; i < 20'000; ++i)
    changes.push_back(Put(0, std::to_string(i), "u", "rest " + std::to_string(i * 7919)));
  FoldIn(changes, "m");
  base_.reset();
  for (const auto& path : SstFiles(folder_)) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
    for (std::streamoff at = size / 4; at < size / 2; at += 100) file.seekp(at).put('x');
  }
  Reopen();
  ASSERT_NE(base_, nullptr);
  const Status status =
      base_->ScanBucket(0, [](std::string_view, std::string_view, std::string_view) -> Status { return {}; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kState);
  EXPECT_THAT(status.error().ToString(), testing::HasSubstr(folder_));
  std::vector<GroupKey> groups;
  for (const Change& change : changes) groups.push_back({0, change.group});
  EXPECT_FALSE(base_->Scan(groups, [](size_t, std::string_view, std::string_view) {}));
  base_.reset();

  for (const auto& path : SstFiles(folder_)) std::filesystem::remove(path);
  const auto opened = TableBase::Open(folder_, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kState);
  EXPECT_THAT(opened.error().ToString(), testing::HasSubstr(folder_));
}

// Every fold writes its number into all rows: a scan that sees two numbers saw half a fold.
TEST_F(BaseTest, ReadersBesideFoldsSeeWholeFolds) {
  Reopen();
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      const std::vector<GroupKey> groups = {{5, "last"}, {0, "first"}, {2, "absent"}};
      const std::vector<RowKey> rows = {{0, "first", "1"}};
      for (bool last = false; !last;) {
        last = done.load();
        std::set<std::string> seen;
        int count = 0;
        EXPECT_TRUE(base_->Scan(groups, [&](size_t, std::string_view, std::string_view rest) {
          seen.emplace(rest);
          ++count;
        }));
        EXPECT_LE(seen.size(), 1U);
        EXPECT_TRUE(count == 0 || count == 4) << count;
        EXPECT_TRUE(base_->MultiGet(rows, [](size_t, std::string_view) {}));
        EXPECT_GE(base_->level0_files() + base_->bytes() + base_->index_bytes(), 0);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    FoldIn({Put(0, "first", "1", number), Put(0, "first", "2", number), Put(5, "last", "1", number),
            Put(5, "last", "2", number)},
           number);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
}

// Random folds, copies, restores and reopenings against a map.
TEST_F(BaseTest, RandomAgainstAModel) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  using Model = std::map<std::pair<int, std::string>, std::map<std::string, std::string>>;
  Model model;
  Model copied;
  bool has_copy = false;
  const auto key = [&random](size_t letters, size_t length) {
    std::string text;
    for (size_t i = random() % (length + 1); i > 0; --i) text.push_back(static_cast<char>('a' + random() % letters));
    return text;
  };
  Reopen();
  for (int round = 0; round < 60; ++round) {
    std::vector<Change> changes;
    for (size_t i = random() % 200; i > 0; --i) {
      changes.push_back({static_cast<int>(random() % 4), key(2, 4), key(2, 3), key(26, 20), random() % 3 == 0});
      if (changes.back().remove) changes.back().rest.clear();
    }
    std::stable_sort(changes.begin(), changes.end(), [](auto& a, auto& b) { return a.bucket < b.bucket; });
    for (const Change& change : changes) {
      auto& rows = model[{change.bucket, change.group}];
      change.remove ? void(rows.erase(change.unique)) : void(rows[change.unique] = change.rest);
    }
    FoldIn(changes, std::to_string(round));
    if (random() % 5 == 0) Reopen();
    if (random() % 8 == 0) {
      std::filesystem::remove_all(Path("copy"));
      ASSERT_TRUE(base_->LinkInto(Path("copy")));
      copied = model;
      has_copy = true;
    } else if (has_copy && random() % 8 == 0) {
      base_.reset();
      ASSERT_TRUE(TableBase::RestoreFrom(Path("copy"), folder_));
      model = copied;
      Reopen();
    }
    std::vector<std::pair<int, std::string>> wanted;
    for (int i = 0; i < 100; ++i) wanted.emplace_back(random() % 4, key(2, 4));
    std::vector<GroupKey> groups;
    for (const auto& [bucket, group] : wanted) groups.push_back({bucket, group});
    std::vector<std::map<std::string, std::string>> found(wanted.size());
    ASSERT_TRUE(base_->Scan(groups, [&](size_t i, std::string_view unique, std::string_view rest) {
      EXPECT_TRUE(found[i].emplace(unique, rest).second);
    }));
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(found[i], model[wanted[i]]) << wanted[i].second;
  }
}

}  // namespace
}  // namespace weir
