#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "connectors/file/options.h"
#include "connectors/file/parts.h"
#include "connectors/file/record_reader.h"
#include "tests/connectors/fakes.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
  std::string ReadFile(const std::string& name) {
    std::ifstream in(folder + "/" + name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::vector<std::string> Files() {
    auto files = *ListFolder(folder);
    std::sort(files.begin(), files.end());
    return files;
  }

  const testing::TemporaryFolder temporary;
  const std::string folder = temporary.path();
};

std::vector<std::string> AllRecords(const std::string& path, bool csv, int64_t byte = 0, int64_t line = 0) {
  std::vector<std::string> out;
  auto reader = RecordReader::Open(path, csv, byte, line);
  EXPECT_TRUE(reader);
  std::vector<FileRecord> records;
  do {
    EXPECT_TRUE((*reader)->Next(2, records));
    for (const FileRecord& record : records)
      out.push_back(std::to_string(record.line) + ":" + std::string(record.text));
  } while (!records.empty());
  return out;
}

using RecordReaderTest = FileTest;

TEST_F(RecordReaderTest, LinesBlankLinesAndALastOneWithoutNewline) {
  EXPECT_THAT(AllRecords(Write("a", "one\r\n\n\r\ntwo\nthree"), false), ElementsAre("1:one", "4:two", "5:three"));
  EXPECT_THAT(AllRecords(Write("b", "one\ntwo\n"), false, 4, 1), ElementsAre("2:two"));
  EXPECT_THAT(AllRecords(Write("c", ""), false), IsEmpty());
  EXPECT_THAT(AllRecords(Write("d", "\n\n"), false), IsEmpty());
}

TEST_F(RecordReaderTest, QuotedFieldsRunOverSeveralLines) {
  EXPECT_THAT(AllRecords(Write("a", "1,\"x\ny \"\"z\"\"\n\"\n2,b\n"), true),
              ElementsAre("1:1,\"x\ny \"\"z\"\"\n\"", "4:2,b"));
}

TEST_F(RecordReaderTest, RecordsLargerThanABlock) {
  const std::string large(3 << 20, 'x');
  const std::string path = Write("a", "first\n" + large + "\nlast\n");
  EXPECT_THAT(AllRecords(path, false), ElementsAre("1:first", "2:" + large, "3:last"));
}

class FileSourceTest : public FileTest {
 protected:
  FileSourceTest() {
    options.name = "f";
    options.path = folder + "/*.jsonl";
    for (const auto& [name, type] : {std::pair{"id", BigintType()}, std::pair{"name", StringType()}}) {
      SourceColumn column;
      column.name = name;
      column.type = type;
      column.path = {name};
      options.decoder.read.push_back(static_cast<int>(options.decoder.columns.size()));
      options.decoder.columns.push_back(std::move(column));
    }
  }
  Result<std::unique_ptr<Source>> Open(const Positions& restored = {}, int task = 0, int parallelism = 1) {
    WEIR_ASSIGN(auto source, MakeFileSource(options));
    SourceContext context;
    context.task = task;
    context.parallelism = parallelism;
    context.metrics = &metrics;
    WEIR_TRY(source->Open(context, restored));
    return source;
  }

  FileSourceOptions options;
  SourceMetrics metrics;
};

TEST_F(FileSourceTest, ReadsTheFilesInTheOrderOfTheirNames) {
  Write("b.jsonl", "{\"id\":3,\"name\":\"c\"}");
  Write("a.jsonl", "{\"id\":1,\"name\":\"a\"}\n{\"id\":2}\n");
  CollectedSource out;
  auto source = Open();
  ASSERT_TRUE(source);
  EXPECT_EQ(*PollAll(**source, out), SourceState::kEnded);
  EXPECT_EQ(out.Text(), "+I 1 'a'\n+I 2 NULL\n+I 3 'c'\n");
  EXPECT_EQ((*source)->CurrentPositions(), (Positions{{folder + "/a.jsonl", "29:2"}, {folder + "/b.jsonl", "19:1"}}));
  EXPECT_EQ((*source)->Describe({1, 1}), folder + "/b.jsonl:1");
  EXPECT_EQ(metrics.input_bytes.load(), 48);
  EXPECT_EQ(metrics.records_in.load(), 3);
  EXPECT_EQ(out.ended.size(), 2U);
}

TEST_F(FileSourceTest, GoesOnAtARestoredByte) {
  Write("a.jsonl", "{\"id\":1,\"name\":\"a\"}\n{\"id\":2}\n");
  CollectedSource out;
  EXPECT_EQ(*PollAll(**Open({{folder + "/a.jsonl", "20:1"}}), out), SourceState::kEnded);
  EXPECT_EQ(out.Text(), "+I 2 NULL\n");
  EXPECT_EQ((*out.batches[0].positions())[0].offset, 2);
  auto shorter = Open({{folder + "/a.jsonl", "2000:1"}});
  ASSERT_TRUE(shorter);
  EXPECT_THAT((*shorter)->Poll(out).error().message, HasSubstr("shorter"));
  EXPECT_THAT(Open({{folder + "/z.jsonl", "0:0"}}).error().message, HasSubstr("gone"));
}

TEST_F(FileSourceTest, SpreadsFilesOverTasks) {
  for (const char* name : {"a.jsonl", "b.jsonl", "c.jsonl"}) Write(name, "{\"id\":1}\n");
  EXPECT_THAT((*Open({}, 0, 2))->Partitions(), ElementsAre(folder + "/a.jsonl", folder + "/c.jsonl"));
  EXPECT_THAT((*Open({}, 1, 2))->Partitions(), ElementsAre(folder + "/b.jsonl"));
  CollectedSource out;
  EXPECT_EQ(*PollAll(**Open({}, 3, 4), out), SourceState::kEnded);
}

TEST_F(FileSourceTest, NamesBadRecordsAndMissingFiles) {
  Write("a.jsonl", "{\"id\":1}\n\n{\"id\":\n{\"id\":2}\n");
  CollectedSource out;
  const auto failed = PollAll(**Open(), out);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().where, folder + "/a.jsonl:3");
  options.on_error.skip = true;
  EXPECT_EQ(*PollAll(**Open(), out), SourceState::kEnded);
  EXPECT_EQ(out.Text(), "+I 1 NULL\n+I 2 NULL\n");
  options.path = folder + "/nothing*";
  EXPECT_THAT(Open().error().message, HasSubstr("no file matches '" + options.path + "'"));
}

TEST_F(FileSourceTest, MapsCsvColumnsByTheHeader) {
  Write("a.csv", "other,name,id\nx,\"a, b\",1\ny,,2\n");
  options.path = folder + "/a.csv";
  options.decoder.format = FormatKind::kCsv;
  CollectedSource out;
  EXPECT_EQ(*PollAll(**Open(), out), SourceState::kEnded);
  EXPECT_EQ(out.Text(), "+I 1 'a, b'\n+I 2 NULL\n");
  CollectedSource rest;
  EXPECT_EQ(*PollAll(**Open({{folder + "/a.csv", "25:2"}}), rest), SourceState::kEnded);
  EXPECT_EQ(rest.Text(), "+I 2 NULL\n");
  Write("a.csv", "other,name\nx,y\n");
  EXPECT_THAT(PollAll(**Open(), out).error().ToString(), HasSubstr("a.csv:1: the header has no column 'id'"));
}

class FileSinkTest : public FileTest {
 protected:
  std::unique_ptr<Operator> Open(int task = 0) {
    options.path = folder;
    auto sink = MakeFileSink(options);
    EXPECT_TRUE(sink);
    contexts.push_back(std::make_unique<OperatorContext>());
    contexts.back()->task = task;
    EXPECT_TRUE((*sink)->Open(*contexts.back()));
    return std::move(*sink);
  }
  void Put(Operator& sink, int id, RowKind kind = RowKind::kInsert) {
    const auto progress = sink.Process(0, MakeBatch(options.schema, {{kind, {std::to_string(id)}}}), out);
    ASSERT_TRUE(progress) << progress.error().ToString();
  }
  std::string Snapshot(Operator& sink, Epoch epoch) {
    FakeSnapshotWriter writer(epoch);
    EXPECT_TRUE(sink.Snapshot(writer));
    EXPECT_TRUE(writer.RunWork());
    return writer.commit_data;
  }

  FileSinkOptions options{
      "out", {}, FormatKind::kChangelogJson, std::make_shared<const Schema>(Schema({{"id", BigintType(), true}}))};
  std::vector<std::unique_ptr<OperatorContext>> contexts;
  NoOutput out;
};

TEST(PartNameTest, ReadsBackWhatItWrites) {
  EXPECT_EQ(FormatPartName({7, 3, true}, "jsonl"), "part-000000000007-0003.jsonl");
  EXPECT_EQ(FormatPartName({7, 3, false}, "csv"), ".part-000000000007-0003.csv");
  EXPECT_EQ(ParsePartName("part-000000000007-0003.jsonl")->number, 7U);
  EXPECT_FALSE(ParsePartName(".part-000000000007-0003.csv")->finished);
  for (const char* name : {"part-7-3.jsonl", "part-000000000007-0003.txt", "notes.jsonl", ".hidden"}) {
    EXPECT_FALSE(ParsePartName(name)) << name;
  }
}

TEST_F(FileSinkTest, PublishesAnEpochWhenItIsCommitted) {
  auto sink = Open();
  Put(*sink, 1);
  Put(*sink, 2, RowKind::kDelete);
  const std::string first = Snapshot(*sink, 5);
  Put(*sink, 3);  // the next epoch runs while the last one is being committed
  EXPECT_THAT(Files(), ElementsAre(".part-000000000001-0000.jsonl", ".part-000000000006-0000.jsonl"));
  ASSERT_TRUE(sink->OnCommit(5, first));
  ASSERT_TRUE(sink->OnCommit(5, first));  // a restore repeats it
  EXPECT_EQ(ReadFile("part-000000000005-0000.jsonl"), "{\"op\":\"+I\",\"id\":1}\n{\"op\":\"-D\",\"id\":2}\n");
  const std::string second = Snapshot(*sink, 9);
  ASSERT_TRUE(sink->OnCommit(9, second));
  const std::string empty = Snapshot(*sink, 10);
  ASSERT_TRUE(sink->OnCommit(10, empty));
  EXPECT_THAT(Files(), ElementsAre("part-000000000005-0000.jsonl", "part-000000000009-0000.jsonl"));
}

TEST_F(FileSinkTest, ARestorePublishesItsEpochAndRemovesLaterOnes) {
  auto sink = Open(1);
  Put(*sink, 1);
  const std::string prepared = Snapshot(*sink, 5);
  Put(*sink, 2);
  Write("part-000000000007-0002.jsonl", "of an epoch that is left\n");
  Write("part-000000000004-0002.jsonl", "of an earlier epoch\n");
  Write("notes.txt", "not a part\n");
  auto again = Open(0);
  ASSERT_TRUE(again->Restore(FakeSnapshotReader(5, {{1, 2, "", prepared}, {0, 2, "", "-"}})));
  EXPECT_THAT(Files(), ElementsAre("notes.txt", "part-000000000004-0002.jsonl", "part-000000000005-0001.jsonl"));
  EXPECT_EQ(ReadFile("part-000000000005-0001.jsonl"), "{\"op\":\"+I\",\"id\":1}\n");
  EXPECT_FALSE(again->Restore(FakeSnapshotReader(6, {{1, 2, "", ".part-000000000006-0001.jsonl part-x"}})));
}

TEST_F(FileSinkTest, CsvPartsBeginWithTheHeaderAndRefuseRetractions) {
  options.format = FormatKind::kCsv;
  auto sink = Open();
  Put(*sink, 1);
  EXPECT_FALSE(sink->Process(0, MakeBatch(options.schema, {{RowKind::kDelete, {"1"}}}), out));
  ASSERT_TRUE(sink->OnCommit(1, Snapshot(*sink, 1)));
  EXPECT_EQ(ReadFile("part-000000000001-0000.csv"), "id\n1\n");
}

TEST_F(FileSinkTest, ANewJobRefusesAFolderWithParts) {
  EXPECT_TRUE(PrepareFileSink(folder + "/none", false));
  Write(".part-000000000001-0000.jsonl", "");
  EXPECT_TRUE(PrepareFileSink(folder, false));
  Write("part-000000000001-0000.jsonl", "");
  Write("notes.txt", "");
  EXPECT_THAT(PrepareFileSink(folder, false).error().message, HasSubstr("--force"));
  EXPECT_TRUE(PrepareFileSink(folder, true));
  EXPECT_THAT(Files(), ElementsAre("notes.txt"));
}

TEST_F(FileSinkTest, NamesThePathOfAnError) {
  Write("blocked", "");
  options.path = folder + "/blocked/out";
  auto sink = MakeFileSink(options);
  OperatorContext context;
  EXPECT_THAT((*sink)->Open(context).error().ToString(), HasSubstr("blocked/out: cannot create the folder"));
}

}  // namespace
}  // namespace weir
