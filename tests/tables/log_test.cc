#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "engine/base/file.h"
#include "tables/log/bucket_log.h"
#include "tables/log/segment_file.h"

namespace weir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Change {
  bool remove = false;
  std::string group;
  std::string unique;
  std::string rest;

  bool operator==(const Change&) const = default;
  LogEntry entry() const { return {remove, group, unique, rest}; }
};

std::ostream& operator<<(std::ostream& out, const Change& change) {
  return out << (change.remove ? "-" : "+") << change.group << "/" << change.unique << "/" << change.rest;
}

Change Numbered(int i) {
  return {i % 5 == 0, fmt::format("group {}", i / 3), std::to_string(i),
          i % 5 == 0 ? "" : fmt::format("row {}", i * 7)};
}

// A folder of its own for every test, gone afterwards.
class Log : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weir-log-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    folder_ = name + "/orders/3/log";
    options_.block_bytes = 200;
    options_.segment_bytes = 1000;
    options_.bucket = 3;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::unique_ptr<BucketLog> Open(const LogPosition& end = {}) {
    auto log = BucketLog::Open(folder_, end, options_);
    EXPECT_TRUE(log) << log.error().ToString();
    return log ? std::move(*log) : nullptr;
  }
  std::string OpenError(const LogPosition& end) {
    auto log = BucketLog::Open(folder_, end, options_);
    return log ? "" : log.error().ToString();
  }

  // Appends the numbered changes [from, to) and makes them durable.
  static LogPosition Write(BucketLog& log, int from, int to) {
    for (int i = from; i < to; ++i) EXPECT_TRUE(log.Append(Numbered(i).entry()));
    EXPECT_TRUE(log.Flush());
    EXPECT_TRUE(log.SyncLater()());
    return log.end();
  }

  std::vector<Change> Read(const LogPosition& from, const LogPosition& to) {
    std::vector<Change> changes;
    const Status status = ReadLog(folder_, from, to, [&](const LogEntry& entry) -> Status {
      changes.push_back({entry.remove, std::string(entry.group), std::string(entry.unique), std::string(entry.rest)});
      return {};
    });
    EXPECT_TRUE(status) << status.error().ToString();
    return changes;
  }
  std::string ReadError(const LogPosition& from, const LogPosition& to) {
    const Status status = ReadLog(folder_, from, to, [](const LogEntry&) -> Status { return {}; });
    if (status) return "";
    EXPECT_EQ(status.error().code, ErrorCode::kState);
    return status.error().ToString();
  }
  static std::vector<Change> Expected(int from, int to) {
    std::vector<Change> changes;
    for (int i = from; i < to; ++i) changes.push_back(Numbered(i));
    return changes;
  }

  std::string Segment(uint64_t number) const { return SegmentPath(folder_, number); }
  std::vector<uint64_t> Segments() const {
    std::vector<uint64_t> numbers;
    const auto segments = ListSegments(folder_);
    for (const SegmentInfo& segment : segments.value()) numbers.push_back(segment.number);
    return numbers;
  }
  int64_t BytesOnDisk() const {
    int64_t bytes = 0;
    const auto segments = ListSegments(folder_);
    for (const SegmentInfo& segment : segments.value()) bytes += static_cast<int64_t>(segment.bytes);
    return bytes;
  }
  static void FlipByte(const std::string& path, uint64_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const auto byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
  }

  std::string root_;
  std::string folder_;
  LogOptions options_;
};

TEST_F(Log, WhatIsWrittenIsRead) {
  auto log = Open();
  EXPECT_EQ(log->end(), LogPosition());
  const LogPosition first = Write(*log, 0, 40);
  const LogPosition second = Write(*log, 40, 500);
  EXPECT_EQ(first.offset, 40u);
  EXPECT_EQ(second.offset, 500u);
  EXPECT_GT(second.segment, 3u);
  EXPECT_EQ(log->bytes(), BytesOnDisk());
  EXPECT_EQ(Read({}, second), Expected(0, 500));
  EXPECT_EQ(Read({}, first), Expected(0, 40));
  EXPECT_EQ(Read(first, second), Expected(40, 500));
  EXPECT_EQ(Read(second, second), Expected(0, 0));
}

TEST_F(Log, AnEmptyLogHasNoFilesAndNothingToRead) {
  auto log = Open();
  EXPECT_TRUE(log->Flush());
  EXPECT_TRUE(log->SyncLater()());
  EXPECT_EQ(log->end(), LogPosition());
  EXPECT_EQ(Segments(), std::vector<uint64_t>());
  EXPECT_EQ(Read({}, {}), Expected(0, 0));
}

TEST_F(Log, EveryFlushedPositionIsAPlaceToReadFrom) {
  auto log = Open();
  std::vector<LogPosition> ends = {log->end()};
  for (int i = 0; i < 60; ++i) ends.push_back(Write(*log, i, i + 1));
  for (size_t from = 0; from < ends.size(); from += 7) {
    for (size_t to = from; to < ends.size(); to += 5) {
      EXPECT_EQ(Read(ends[from], ends[to]), Expected(static_cast<int>(from), static_cast<int>(to)));
    }
  }
}

TEST_F(Log, AppendWritesABlockWhenItIsFull) {
  auto log = Open();
  EXPECT_TRUE(log->Append({false, "g", "u", "small"}));
  EXPECT_EQ(log->end().offset, 0u);
  EXPECT_TRUE(log->Append({false, "g", "u", std::string(300, 'x')}));
  EXPECT_EQ(log->end().offset, 2u);
}

TEST_F(Log, RowsOfAllSizesAndBytes) {
  const std::vector<Change> changes = {
      {false, "", "", ""},
      {true, "", "", ""},
      {false, std::string(127, 'g'), std::string(128, '\0'), std::string(3 << 20, 'r')},
      {false, std::string(127, 'g'), "", std::string("\xff\x00\x80", 3)},
      {true, std::string(20000, 'k'), std::string(5000, 'u'), ""},
      {true, std::string(20000, 'k'), "", ""},
  };
  auto log = Open();
  for (const Change& change : changes) ASSERT_TRUE(log->Append(change.entry()));
  ASSERT_TRUE(log->Flush());
  EXPECT_EQ(Read({}, log->end()), changes);
}

TEST_F(Log, WhatCannotBeCompressedIsStoredAsItIs) {
  std::mt19937_64 random(7);
  std::vector<Change> changes;
  options_.block_bytes = 4096;
  auto log = Open();
  for (int i = 0; i < 200; ++i) {
    Change change{false, "", "", std::string(64, '\0')};
    for (char& c : change.rest) c = static_cast<char>(random());
    ASSERT_TRUE(log->Append(change.entry()));
    changes.push_back(change);
  }
  ASSERT_TRUE(log->Flush());
  EXPECT_EQ(Read({}, log->end()), changes);
  EXPECT_LT(log->bytes(), 200 * (64 + 3) + 5000);
}

TEST_F(Log, WhatLiesBehindTheEndIsCutWithoutBeingRead) {
  auto lost = Open();
  const LogPosition end = Write(*lost, 0, 50);
  Write(*lost, 50, 400);
  lost.reset();
  const std::string last = Segment(end.segment);
  for (uint64_t byte = end.byte; byte < fs::file_size(last); ++byte) FlipByte(last, byte);
  for (const uint64_t number : Segments()) {
    if (number > end.segment) fs::resize_file(Segment(number), 5);
  }

  auto log = Open(end);
  EXPECT_EQ(log->end(), end);
  EXPECT_EQ(Segments().back(), end.segment);
  EXPECT_EQ(fs::file_size(last), end.byte);
  EXPECT_EQ(log->bytes(), BytesOnDisk());
  const LogPosition next = Write(*log, 1000, 1300);
  std::vector<Change> expected = Expected(0, 50);
  for (const Change& change : Expected(1000, 1300)) expected.push_back(change);
  EXPECT_EQ(Read({}, next), expected);
}

TEST_F(Log, OpenedAtTheStartEverythingIsCut) {
  Write(*Open(), 0, 300);
  auto log = Open();
  EXPECT_EQ(Segments(), std::vector<uint64_t>());
  EXPECT_EQ(log->bytes(), 0);
  EXPECT_EQ(Read({}, Write(*log, 7, 9)), Expected(7, 9));
}

TEST_F(Log, ALogThatEndsTooEarlyIsNotOpened) {
  LogPosition end = Write(*Open(), 0, 50);
  end.byte += 1;
  EXPECT_THAT(OpenError(end), HasSubstr(Segment(end.segment)));
  EXPECT_THAT(OpenError(end), HasSubstr(fmt::format("it ends before byte {}", end.byte)));
  EXPECT_THAT(OpenError({end.offset, end.segment + 1, 60}), HasSubstr(Segment(end.segment + 1)));
  end.byte -= 1;
  EXPECT_EQ(OpenError(end), "");
}

TEST_F(Log, AnotherBucketsLogIsNotOpened) {
  const LogPosition end = Write(*Open(), 0, 5);
  options_.bucket = 4;
  EXPECT_THAT(OpenError(end), HasSubstr("bucket 3"));
}

TEST_F(Log, EveryDamagedByteIsAnErrorThatNamesFileAndByte) {
  auto log = Open();
  const LogPosition end = Write(*log, 0, 60);
  for (const uint64_t number : Segments()) {
    const std::string path = Segment(number);
    const uint64_t size = number == end.segment ? end.byte : fs::file_size(path);
    for (uint64_t byte = 0; byte < size; ++byte) {
      FlipByte(path, byte);
      EXPECT_THAT(ReadError({}, end), HasSubstr(path)) << byte;
      EXPECT_THAT(ReadError({}, end), HasSubstr("at byte ")) << byte;
      FlipByte(path, byte);
    }
  }
  EXPECT_EQ(ReadError({}, end), "");
}

TEST_F(Log, ACutSegmentIsAnError) {
  auto log = Open();
  const LogPosition end = Write(*log, 0, 200);
  ASSERT_GT(end.segment, 1u);
  // Wherever it is cut, also between two blocks; in the last segment too.
  for (const uint64_t number : {uint64_t{0}, uint64_t{1}, end.segment}) {
    const std::string content = ReadFile(Segment(number)).value();
    for (uint64_t size = 0; size < content.size(); ++size) {
      fs::resize_file(Segment(number), size);
      EXPECT_THAT(ReadError({}, end), HasSubstr(Segment(number))) << size;
    }
    std::ofstream(Segment(number), std::ios::binary) << content;
  }
  EXPECT_EQ(ReadError({}, end), "");
}

TEST_F(Log, AMissingOrForeignSegmentIsAnError) {
  auto log = Open();
  const LogPosition end = Write(*log, 0, 200);
  fs::rename(Segment(1), root_ + "/kept");
  EXPECT_THAT(ReadError({}, end), HasSubstr(Segment(1)));
  fs::copy_file(Segment(0), Segment(1));
  EXPECT_THAT(ReadError({}, end), HasSubstr(Segment(1) + ": "));
  fs::remove(Segment(1));
  fs::rename(root_ + "/kept", Segment(1));
  EXPECT_EQ(ReadError({}, end), "");
}

TEST_F(Log, PositionsThatLieWithinABlockAreErrors) {
  auto log = Open();
  const LogPosition first = Write(*log, 0, 4);
  const LogPosition end = Write(*log, 4, 8);
  ASSERT_EQ(end.segment, first.segment);
  EXPECT_NE(ReadError({}, {end.offset, end.segment, end.byte - 1}), "");
  EXPECT_NE(ReadError({first.offset, first.segment, first.byte + 1}, end), "");
  EXPECT_NE(ReadError({first.offset + 1, first.segment, first.byte}, end), "");
  EXPECT_NE(ReadError({}, {end.offset + 1, end.segment, end.byte}), "");
}

TEST_F(Log, AnErrorOfTheReaderEndsTheReading) {
  auto log = Open();
  const LogPosition end = Write(*log, 0, 20);
  int taken = 0;
  const Status status = ReadLog(folder_, {}, end, [&](const LogEntry&) -> Status {
    return ++taken == 3 ? Status(DataError("enough")) : Status{};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "enough");
  EXPECT_EQ(taken, 3);
}

TEST_F(Log, DropBeforeDeletesWholeSegmentsOnly) {
  auto log = Open();
  const LogPosition middle = Write(*log, 0, 150);
  const LogPosition end = Write(*log, 150, 400);
  ASSERT_GT(middle.segment, 0u);
  ASSERT_GT(end.segment, middle.segment);
  ASSERT_TRUE(log->DropBefore(middle));
  EXPECT_EQ(Segments().front(), middle.segment);
  EXPECT_EQ(log->bytes(), BytesOnDisk());
  EXPECT_EQ(Read(middle, end), Expected(150, 400));
  EXPECT_THAT(ReadError({}, end), HasSubstr(Segment(0)));

  ASSERT_TRUE(log->DropBefore(end));
  EXPECT_EQ(Segments(), std::vector<uint64_t>{end.segment});
  EXPECT_EQ(Read(end, Write(*log, 400, 500)), Expected(400, 500));

  // The log goes on where it was, though its beginning is gone.
  const LogPosition last = log->end();
  log = Open(last);
  EXPECT_EQ(Read(end, Write(*log, 500, 520)), Expected(400, 520));
}

TEST_F(Log, ASyncMayComeLateOrNever) {
  auto log = Open();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(log->Append(Numbered(i).entry()));
  ASSERT_TRUE(log->Flush());
  { const auto never_run = log->SyncLater(); }
  const auto late = log->SyncLater();
  for (int i = 100; i < 200; ++i) ASSERT_TRUE(log->Append(Numbered(i).entry()));
  ASSERT_TRUE(log->Flush());
  const auto last = log->SyncLater();
  log.reset();
  EXPECT_TRUE(last());
  EXPECT_TRUE(late());
}

TEST_F(Log, AfterAFailedSyncTheLogTakesNoMore) {
  auto log = Open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(log->Append(Numbered(i).entry()));
  ASSERT_TRUE(log->Flush());
  const auto first = log->SyncLater();
  const auto second = log->SyncLater();
  fs::remove_all(root_);  // the new segment's folder cannot be made durable
  EXPECT_FALSE(first());
  fs::create_directories(folder_);
  const Status status = second();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kState);
  EXPECT_FALSE(log->Append(Numbered(10).entry()));
  EXPECT_FALSE(log->Flush());
  EXPECT_FALSE(log->SyncLater()());
}

TEST_F(Log, AfterAFailedWriteTheLogTakesNoMore) {
  auto log = Open();
  const LogPosition good = Write(*log, 0, 10);
  // The kernel refuses what would make a file longer than this.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit limit { good.byte + 20, before.rlim_max };
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  Status status;
  for (int i = 10; i < 200 && status; ++i) status = log->Append(Numbered(i).entry());
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().ToString(), HasSubstr(Segment(good.segment)));
  EXPECT_FALSE(log->Append(Numbered(0).entry()));
  EXPECT_FALSE(log->Flush());
  EXPECT_FALSE(log->SyncLater()());
  // What had been made durable is there, and the half written block is cut.
  log = Open(good);
  EXPECT_EQ(Read({}, Write(*log, 10, 20)), Expected(0, 20));
}

TEST_F(Log, VersionOneIsRead) {
  folder_ = "tests/tables/data/log_v1";
  const LogPosition end{24, 1, 133};
  EXPECT_EQ(Read({}, end), Expected(0, 24));
}

TEST_F(Log, ANewerVersionIsRefused) {
  const LogPosition end = Write(*Open(), 0, 3);
  std::string content = ReadFile(Segment(0)).value();
  content[8] = 2;
  std::ofstream(Segment(0), std::ios::binary) << content;
  EXPECT_THAT(ReadError({}, end), HasSubstr("version 2"));
}

// Any order of appends, flushes, checkpoints, drops and restarts at a checkpoint, against a list.
TEST_F(Log, AgreesWithAList) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  std::vector<Change> changes;
  std::vector<LogPosition> checkpoints = {{}};
  auto log = Open();
  for (int step = 0; step < 3000; ++step) {
    const uint64_t dice = random() % 100;
    if (dice < 85) {
      const Change change{random() % 4 == 0, std::to_string(random() % 6), std::string(random() % 9, 'u'), ""};
      changes.push_back(change);
      if (!change.remove) changes.back().rest.assign(random() % 40, static_cast<char>('a' + random() % 26));
      ASSERT_TRUE(log->Append(changes.back().entry()));
    } else if (dice < 90) {
      ASSERT_TRUE(log->Flush());
    } else if (dice < 95) {
      ASSERT_TRUE(log->Flush());
      ASSERT_EQ(log->end().offset, changes.size());
      ASSERT_TRUE(log->SyncLater()());
      checkpoints.push_back(log->end());
    } else if (dice < 97) {
      const size_t folded = random() % checkpoints.size();
      ASSERT_TRUE(log->DropBefore(checkpoints[folded]));
      checkpoints.erase(checkpoints.begin(), checkpoints.begin() + static_cast<ptrdiff_t>(folded));
    } else if (dice < 98) {
      checkpoints.resize(1 + random() % checkpoints.size());
      changes.resize(checkpoints.back().offset);
      log = Open(checkpoints.back());
    }
    ASSERT_EQ(log->bytes(), BytesOnDisk());
    const size_t from = random() % checkpoints.size();
    const size_t to = from + random() % (checkpoints.size() - from);
    if (step % 10 != 0) continue;
    const auto at = [&](size_t i) { return changes.begin() + static_cast<ptrdiff_t>(checkpoints[i].offset); };
    ASSERT_EQ(Read(checkpoints[from], checkpoints[to]), std::vector<Change>(at(from), at(to)));
  }
}

}  // namespace
}  // namespace weir
