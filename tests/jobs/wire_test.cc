#include "jobs/wire/wire.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/jobs/job_text.h"

namespace weir {
namespace {

// The graph as text: "0 scan-a x2 | 1 join-1 x2 <- hash(0) 0, hash(1) 1: join, sink".
std::string Picture(const JobGraph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.stages.size(); ++i) {
    const StageSpec& stage = graph.stages[i];
    text += fmt::format("{} x{}", i, stage.parallelism);
    if (stage.source) text += " source " + stage.source->name;
    for (const EdgeSpec& edge : stage.inputs) {
      const char* how = edge.exchange == Exchange::kForward  ? "forward"
                        : edge.exchange == Exchange::kGather ? "gather"
                                                             : "hash";
      text += fmt::format(" <- {} {}", how, edge.from_stage);
    }
    for (const OperatorSpec& op : stage.chain) text += " : " + op.kind;
    text += "\n";
  }
  return text;
}

std::string Wired(const std::string& queries, const std::string& options = "{parallelism: 2}") {
  const std::string text = "options: " + options + R"(
sources:
  a: {connector: memory, columns: {id: bigint, k: bigint, v: bigint}}
  b: {connector: memory, columns: {id: bigint, k: bigint, w: bigint}}
sinks:
  out: {connector: memory}
  more: {connector: memory}
queries:
)" + queries;
  const auto job = PlanJobText("job.yaml", text, WithOverrides({}), InputCheck::kNone);
  if (!job) return job.error().front().ToString();
  WireOptions options_of_wire;
  for (const SourceDeclaration& source : job->file.sources) {
    options_of_wire.feeds[source.name] = std::make_shared<MemoryFeed>(source.MakeSchema());
  }
  options_of_wire.results["out"] = std::make_shared<MemoryResult>();
  options_of_wire.results["more"] = std::make_shared<MemoryResult>();
  const auto graph = WireJob(*job, options_of_wire);
  return graph ? Picture(*graph) : graph.error().ToString();
}

TEST(Wire, AChainIsOneStage) {
  EXPECT_EQ(Wired("- INSERT INTO out SELECT id + 1 AS x FROM a WHERE v > 0\n"),
            "0 x2 source a : filter : project : sink\n");
}

TEST(Wire, AJoinIsBehindTwoHashEdges) {
  EXPECT_EQ(Wired("- INSERT INTO out SELECT a.v, b.w FROM a JOIN b ON a.k = b.k\n"),
            "0 x2 source a\n1 x2 source b\n2 x2 <- hash 0 <- hash 1 : join : sink\n");
}

TEST(Wire, AGlobalAggregateRunsInOneTask) {
  EXPECT_EQ(
      Wired("- INSERT INTO out SELECT COUNT(*) AS n FROM a\n").find("x1 <- gather 0 : aggregate") != std::string::npos,
      true);
}

TEST(Wire, ASourceIsReadOnceByManyQueries) {
  const std::string picture =
      Wired("- INSERT INTO out SELECT id, v FROM a WHERE v > 0\n- INSERT INTO more SELECT id, v FROM a WHERE v < 0\n");
  EXPECT_EQ(picture, "0 x2 source a\n1 x2 <- forward 0 : filter : sink\n2 x2 <- forward 0 : filter : sink\n");
}

TEST(Wire, ASelfJoinReadsItsSourceOnce) {
  const std::string picture = Wired("- INSERT INTO out SELECT x.v, y.v AS yv FROM a x JOIN a y ON x.k = y.k\n");
  EXPECT_EQ(picture, "0 x2 source a\n1 x2 <- hash 0 <- hash 0 : join : sink\n");
}

TEST(Wire, AUnionForwardsItsInputs) {
  EXPECT_EQ(Wired("- INSERT INTO out SELECT id, v FROM a UNION ALL SELECT id, w FROM b\n"),
            "0 x2 source a\n1 x2 source b\n2 x2 <- forward 0 <- forward 1 : union : sink\n");
}

TEST(Wire, AUnionWithASingleTaskGathersTheRest) {
  const std::string picture = Wired("- INSERT INTO out SELECT id AS n FROM a UNION ALL SELECT COUNT(*) FROM b\n");
  EXPECT_NE(picture.find("x1 <- gather"), std::string::npos) << picture;
  EXPECT_NE(picture.find(": union : project : sink"), std::string::npos) << picture;
}

TEST(Wire, AMemorySourceWithoutAFeedIsRefused) {
  const auto job =
      PlanJobText("job.yaml",
                  "sources: {a: {connector: memory, columns: {id: bigint}}}\nsinks: {out: {connector: print}}\n"
                  "queries: [INSERT INTO out SELECT id FROM a]\n",
                  WithOverrides({}), InputCheck::kNone);
  ASSERT_TRUE(job);
  const auto graph = WireJob(*job, {});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "source a is in memory, so it needs rows: run with --replay FILE");
}

}  // namespace
}  // namespace weir
