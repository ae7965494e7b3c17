#include "jobs/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir {
namespace {

constexpr size_t kRowsShown = 5;
// Fewer checkpoints than this in a run, with the last one after its end, and a kill would find none complete.
constexpr int64_t kEnoughCheckpoints = 3;

struct NamedResults {
  std::string name;
  const SinkResults* sinks;
};

// Results by position: sinks of two jobs may have different names when each has one.
Status CompareResults(const NamedResults& left, const NamedResults& right, std::vector<Difference>& differences) {
  auto at = right.sinks->begin();
  for (const auto& [sink, expected] : *left.sinks) {
    if (at == right.sinks->end()) break;
    const SinkResult& actual = (at++)->second;
    if (expected.rows.SameRows(actual.rows)) continue;
    Difference difference{sink, left.name, right.name, expected.rows.rows(), actual.rows.rows(), {}};
    WEIR_ASSIGN(difference.rows, DifferingRows(expected.folder, expected.rows, actual.folder, actual.rows, kRowsShown));
    differences.push_back(std::move(difference));
  }
  return {};
}

// A topic that grows between two runs gives the second one more rows: then nothing can be said of the variants.
Status CheckInputs(const std::vector<VariantReport>& variants) {
  const VariantReport& first = variants.front();
  for (const VariantReport& other : variants) {
    if (other.run.figures.source_records == first.run.figures.source_records) continue;
    return StateError(
        fmt::format("the input is not the same: {} read {} records, {} read {}; compare with sources that "
                    "nobody writes to meanwhile",
                    first.name, first.run.figures.records_in, other.name, other.run.figures.records_in));
  }
  return {};
}

Status CompareAll(Comparison& comparison) {
  const VariantReport& first = comparison.variants.front();
  for (const VariantReport& variant : comparison.variants) {
    if (&variant != &first) {
      WEIR_TRY(CompareResults({first.name, &first.sinks()}, {variant.name, &variant.sinks()}, comparison.differences));
    }
    if (!variant.recovery || &variant.sinks() == &variant.recovery->sinks) continue;
    WEIR_TRY(CompareResults({variant.name, &variant.sinks()},
                            {fmt::format("{} killed and recovered", variant.name), &variant.recovery->sinks},
                            comparison.differences));
  }
  return {};
}

Status CheckInterrupt() {
  if (InterruptGuard::interrupted()) return StateError("the comparison was interrupted");
  return {};
}

}  // namespace

Result<Comparison> Compare(const std::vector<Candidate>& candidates, const ComparisonOptions& options) {
  std::vector<VariantRunner> runners;
  for (const Candidate& candidate : candidates) {
    const std::string& name = candidate.variant.name;
    VariantFolders folders{RedirectedSinkFolder(options.folder, name),
                           RedirectedSinkFolder(options.folder + "/work", name)};
    runners.emplace_back(candidate, std::move(folders), options.keep_sinks);
  }
  Comparison comparison;
  int64_t checkpoints = INT64_MAX;
  for (VariantRunner& runner : runners) {
    const std::string& name = runner.candidate().variant.name;
    options.say(fmt::format("running {}", name));
    WEIR_ASSIGN(MeasuredRun run, runner.Measure());
    checkpoints = std::min(checkpoints, run.figures.checkpoints);
    comparison.variants.push_back({name, std::move(run), std::nullopt});
    WEIR_TRY(CheckInterrupt());
  }
  WEIR_TRY(CheckInputs(comparison.variants));
  // After all are measured, so that every variant is killed under the same rule.
  for (size_t i = 0; options.recovery && i < runners.size(); ++i) {
    VariantReport& report = comparison.variants[i];
    options.say(fmt::format("killing and restarting {}", report.name));
    WEIR_ASSIGN(report.recovery,
                runners[i].KillAndRecover(report.run.figures.records_in, checkpoints >= kEnoughCheckpoints));
    WEIR_TRY(CheckInterrupt());
  }
  WEIR_TRY(CompareAll(comparison));
  return comparison;
}

std::string DescribeDifference(const Difference& difference) {
  std::string text = fmt::format("results differ in sink {}: {} has {} rows, {} has {}\n", difference.sink,
                                 difference.left, difference.left_rows, difference.right, difference.right_rows);
  for (const DifferingRow& row : difference.rows) {
    text += fmt::format("  {} more in {}: {}\n", std::abs(row.excess),
                        row.excess > 0 ? difference.left : difference.right, row.row);
  }
  return text;
}

}  // namespace weir
