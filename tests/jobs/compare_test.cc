// The parts of a comparison: variants, equality of results, figures, reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "jobs/compare/report_html.h"
#include "jobs/compare/report_json.h"
#include "jobs/compare/report_tables.h"
#include "jobs/job_file/job_file.h"
#include "tests/jobs/job_text.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Variants, AreTheUsersJobWithJoinAndStateSet) {
  const auto variants = MakeVariants("job.yaml", {"delta", "regular-rocksdb"}, {"a.b=c"});
  ASSERT_TRUE(variants) << variants.error().message;
  EXPECT_THAT(variants->at(0).overrides, ElementsAre("a.b=c", "options.join=delta", "options.state=memory"));
  EXPECT_THAT(variants->at(1).overrides, ElementsAre("a.b=c", "options.join=regular", "options.state=rocksdb"));
  EXPECT_EQ(MakeVariants("job.yaml", {"detla"}, {}).error().message,
            "there is no variant 'detla'; did you mean delta?; there are regular-memory, regular-rocksdb, delta");
  EXPECT_EQ(MakeVariants("job.yaml", {"delta", "delta"}, {}).error().message, "variant delta is given twice");
}

TEST(Variants, ASweepSplitsAtCommasOutsideQuotesAndBrackets) {
  const auto plain = ParseSweep("sources.*.users=1000,20000");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->key, "sources.*.users");
  EXPECT_THAT(plain->values, ElementsAre("1000", "20000"));
  EXPECT_THAT(ParseSweep("k={a: 1, b: 2},[1,2],'x,y'")->values, ElementsAre("{a: 1, b: 2}", "[1,2]", "'x,y'"));
  EXPECT_FALSE(ParseSweep("users"));
  EXPECT_FALSE(ParseSweep("users=1,,2"));
  EXPECT_FALSE(ParseSweep("users=1,1"));
}

TEST(ResultLines, AreAWeightAndARow) {
  const auto line = ReadResultLine(R"({"op":"-U","k":1,"op2":"x"})");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->weight, -1);
  EXPECT_EQ(line->row, R"("k":1,"op2":"x"})");
  EXPECT_EQ(ReadResultLine(R"({"op":"+I"})")->row, "}");
  EXPECT_FALSE(ReadResultLine(R"({"k":1})"));
  EXPECT_FALSE(ReadResultLine(R"({"op":"++","k":1})"));
  EXPECT_FALSE(ReadResultLine(""));
}

// A folder with parts as a file sink writes them.
class ResultFiles : public ::testing::Test {
 protected:
  std::string Part(const std::string& sink, const std::string& name, const std::string& lines) {
    fs::create_directories(folder_ / sink);
    std::ofstream(folder_ / sink / name) << lines;
    return (folder_ / sink).string();
  }

  const testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

constexpr const char* kFirstPart = "part-000000000001-0000.jsonl";
constexpr const char* kSecondPart = "part-000000000002-0000.jsonl";

TEST_F(ResultFiles, AreEqualWhenTheyCollapseToTheSameRows) {
  const std::string a = Part("a", kFirstPart, R"({"op":"+I","k":1}
{"op":"+I","k":2}
{"op":"-D","k":2}
{"op":"+I","k":3}
{"op":"+I","k":3}
)");
  Part("b", kFirstPart, "{\"op\":\"+I\",\"k\":3}\n{\"op\":\"+U\",\"k\":3}\n");
  const std::string b = Part("b", kSecondPart, "{\"op\":\"+I\",\"k\":1}\n");
  Part("b", ".part-000000000003-0000.jsonl", "half a li");  // not published: no part of the result
  const auto left = FingerprintOf(a);
  const auto right = FingerprintOf(b);
  ASSERT_TRUE(left && right);
  EXPECT_TRUE(left->SameRows(*right));
  EXPECT_EQ(left->rows(), 3);
  EXPECT_EQ(left->lines(), 5);
  EXPECT_EQ(right->lines(), 3);
  EXPECT_TRUE(FingerprintOf((folder_ / "nowhere").string())->SameRows(Fingerprint()));
}

TEST_F(ResultFiles, TheNumberOfEqualRowsCounts) {
  const auto once = FingerprintOf(Part("a", kFirstPart, "{\"op\":\"+I\",\"k\":3}\n"));
  const auto twice = FingerprintOf(Part("b", kFirstPart, "{\"op\":\"+I\",\"k\":3}\n{\"op\":\"+I\",\"k\":3}\n"));
  ASSERT_TRUE(once && twice);
  EXPECT_FALSE(once->SameRows(*twice));
}

TEST_F(ResultFiles, RowsThatDifferAreFound) {
  std::string all;
  std::string some;
  for (int i = 0; i < 5000; ++i) {
    const std::string line = "{\"op\":\"+I\",\"k\":" + std::to_string(i) + "}\n";
    all += line;
    if (i != 77) some += line;
  }
  some += "{\"op\":\"-D\",\"k\":4000}\n{\"op\":\"+I\",\"k\":-1}\n";
  const std::string a = Part("a", kFirstPart, all);
  const std::string b = Part("b", kFirstPart, some);
  const auto rows = DifferingRows(a, *FingerprintOf(a), b, *FingerprintOf(b), 5);
  ASSERT_TRUE(rows) << rows.error().ToString();
  std::vector<std::string> texts;
  for (const DifferingRow& row : *rows) texts.push_back(row.row + " " + std::to_string(row.excess));
  EXPECT_THAT(texts, ElementsAre("{\"k\":-1} -1", "{\"k\":4000} 1", "{\"k\":77} 1"));
}

TEST_F(ResultFiles, ALineThatIsNoChangeIsAnErrorWithItsPlace) {
  const auto result = FingerprintOf(Part("a", kFirstPart, "{\"op\":\"+I\",\"k\":3}\n{\"k\":4}\n"));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().where, HasSubstr("part-000000000001-0000.jsonl:2"));
}

constexpr const char* kRegular = R"({"records_in": 1000000, "elapsed_s": 2.0, "cpu_s": 1.25, "max_rss_bytes": 104857600,
  "first_row_out_time": null, "sources": [{"name": "t", "records_in": 1000000}], "latency_ms": {"p50": null},
  "operators": [{"state_bytes": 1048576}, {"state_bytes": 1048576}], "tables": [],
  "checkpoints": [{"id": 1, "full_bytes": 2048, "incremental_bytes": 2048, "end_to_end_ms": 20.0, "sync_ms": 1.0,
                   "alignment_ms": 2.5, "manifest_bytes": 24, "operator_state_bytes": 2024},
                  {"id": 2, "full_bytes": 61234567, "incremental_bytes": 1024, "end_to_end_ms": 900.0, "sync_ms": 50}]})";
constexpr const char* kDelta = R"({"records_in": 1000000, "elapsed_s": 2.5, "cpu_s": 1.65, "max_rss_bytes": 209715200,
  "sources": [{"name": "t", "records_in": 1000000}], "operators": [],
  "tables": [{"name": "a", "rows": 5, "log_bytes": 1048576, "kv_bytes": 2097152, "lookups": 1200, "cache_hits": 1000}],
  "checkpoints": [{"id": 1, "full_bytes": 3072, "incremental_bytes": 3072}]})";

VariantReport Report(const std::string& name, const char* summary, std::optional<double> recovery_ms) {
  VariantReport report;
  report.name = name;
  report.run.summary = summary;
  report.run.figures = *ReadRunFigures(summary);
  report.run.sinks["out"].rows.Add(*ReadResultLine(R"({"op":"+I","k":1})"));
  report.recovery.emplace();
  report.recovery->recovery_ms = recovery_ms;
  return report;
}

Comparison TwoVariants() {
  Comparison comparison;
  comparison.variants.push_back(Report("regular-memory", kRegular, 900.0));
  comparison.variants.push_back(Report("delta", kDelta, 80.5));
  comparison.left_out.push_back({"regular-rocksdb", "not today"});
  return comparison;
}

TEST(RunFigures, ComeFromTheSummary) {
  const auto figures = ReadRunFigures(kRegular);
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->checkpoints, 2);
  EXPECT_EQ(figures->full_largest, 61234567);
  EXPECT_EQ(figures->full_last, 61234567);
  EXPECT_EQ(figures->written_largest, 2048);
  EXPECT_EQ(figures->written_last, 1024);
  // The last checkpoint is taken when no rows flow any more.
  EXPECT_EQ(figures->end_to_end_ms, 20.0);
  EXPECT_EQ(figures->pause_ms, 3.5);
  EXPECT_EQ(figures->state_bytes, 2097152);
  EXPECT_FALSE(figures->has_tables());
  EXPECT_EQ(ReadRunFigures(kDelta)->lookups, 1200);
  EXPECT_FALSE(ReadRunFigures("[1"));
}

TEST(Reports, TheTextFitsATerminalAndSaysWhereTheCostWent) {
  const std::string text = ComparisonText(TwoVariants());
  size_t from = 0;
  while (from < text.size()) {
    const size_t end = text.find('\n', from);
    EXPECT_LE(end - from, 120U) << text.substr(from, end - from);
    from = end + 1;
  }
  EXPECT_THAT(CostSentences(TwoVariants()),
              ElementsAre("delta against regular-memory: last checkpoint 3.0 KiB instead of 58.4 MiB, recovery 80 ms "
                          "instead of 900; its tables hold 3.0 MiB (log 1.0 MiB, base 2.0 MiB) and answered 1,200 "
                          "lookups, 200 of them from RocksDB, CPU 1.65 us a row instead of 1.25 (+32 %), memory 200.0 "
                          "MiB instead of 100.0 MiB."));
  EXPECT_THAT(text, HasSubstr("regular-rocksdb is left out: not today"));
  EXPECT_THAT(text, HasSubstr("all results are equal: 1 row\n"));
}

TEST(Reports, NumbersAreGrouped) {
  EXPECT_EQ(Grouped(int64_t{-1234567}), "-1,234,567");
  EXPECT_EQ(Grouped(int64_t{999}), "999");
  EXPECT_EQ(Grouped(int64_t{-999}), "-999");
  EXPECT_EQ(Grouped(61234.567, 1), "61,234.6");
}

TEST(Reports, TheJsonHasTheSummarysFieldsAndItsOwn) {
  Comparison comparison = TwoVariants();
  const auto json = nlohmann::json::parse(*ComparisonJson(comparison));
  EXPECT_EQ(json["equal"], true);
  EXPECT_EQ(json["variants"][1]["name"], "delta");
  EXPECT_EQ(json["variants"][1]["recovery_ms"], 80.5);
  EXPECT_EQ(json["variants"][1]["cpu_s"], 1.65);
  EXPECT_EQ(json["variants"][0]["checkpoints"].size(), 2U);
  EXPECT_EQ(json["left_out"][0]["name"], "regular-rocksdb");
  comparison.differences.push_back({"out", "regular-memory", "delta", 1, 0, {{"{\"k\":1}", 1}}});
  const std::vector<SweepStep> steps = {{"1000", comparison}, {"5s", TwoVariants()}};
  const auto sweep = nlohmann::json::parse(*SweepJson("users", steps));
  EXPECT_EQ(sweep["equal"], false);
  EXPECT_EQ(sweep["sweep"][0]["value"], 1000);
  EXPECT_EQ(sweep["sweep"][0]["differences"][0]["rows"][0]["excess"], 1);
  EXPECT_EQ(sweep["sweep"][1]["value"], "5s");
  EXPECT_EQ(sweep["sweep"][1]["variants"].size(), 2U);
}

TEST(Reports, ThePageStandsAlone) {
  Comparison comparison = TwoVariants();
  comparison.differences.push_back({"out", "regular-memory", "delta", 1, 0, {{"{\"k\":\"<b>\"}", 1}}});
  const std::string html = ComparisonHtml("weir compare a&b.yaml", comparison);
  EXPECT_THAT(html, HasSubstr("a&amp;b.yaml"));
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(html, HasSubstr("<svg"));
  for (const char* outside : {"http", "src=", "href="}) EXPECT_EQ(html.find(outside), std::string::npos) << outside;
}

constexpr const char* kSinks = R"(sources:
  t: {connector: memory, columns: {k: string}}
sinks:
  a/b: {connector: print}
  c: {connector: kafka, brokers: "b:1", topic: "${TOPIC}", format: changelog_json}
queries:
  - INSERT INTO c SELECT k FROM t
)";

JobFile ReadRedirected(const SinkRedirection& sinks) {
  Diagnostics out("job.yaml");
  JobFileOptions options = WithOverrides({});
  options.sinks = sinks;
  JobFile file = ReadJobFile("job.yaml", kSinks, options, out);
  for (const Error& error : out.Errors()) ADD_FAILURE() << error.ToString();
  return file;
}

TEST(SinkRedirection, MakesFilesOfAllSinks) {
  const JobFile file = ReadRedirected({"some/where", ""});
  ASSERT_EQ(file.sinks.size(), 2U);
  for (const SinkDeclaration& sink : file.sinks) {
    EXPECT_EQ(sink.connector, SinkConnector::kFile);
    EXPECT_EQ(sink.format, FormatKind::kChangelogJson);
  }
  EXPECT_EQ(file.sinks[0].path, "some/where/a%2Fb");
  EXPECT_EQ(file.sinks[1].path, "some/where/c");
  EXPECT_EQ(RedirectedSinkFolder("d", "..%"), "d/%2E.%25");
}

TEST(SinkRedirection, LeavesKafkaSinksWithTopicsOfTheirOwn) {
  const JobFile file = ReadRedirected({"some/where", "-delta"});
  EXPECT_EQ(file.sinks[0].connector, SinkConnector::kFile);
  EXPECT_EQ(file.sinks[1].connector, SinkConnector::kKafka);
  EXPECT_EQ(file.sinks[1].topic, "from_environment-delta");
}

}  // namespace
}  // namespace weir
