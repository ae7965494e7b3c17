// A comparison: every variant measured on the same input, one after the other, then killed and recovered, and all
// results checked to be equal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobs/compare/variant_run.h"

namespace weir {

struct ComparisonOptions {
  std::string folder;  // exists; gets a folder a variant, and `work`
  bool keep_sinks = false;
  bool recovery = true;
  std::function<void(const std::string&)> say;  // a line a step
};

struct VariantReport {
  std::string name;
  MeasuredRun run;
  std::optional<RecoveredRun> recovery;

  std::optional<double> recovery_ms() const { return recovery ? recovery->recovery_ms : std::nullopt; }
  // What is compared: the measured run's results, or the recovered one's when the measured run kept its sinks.
  const SinkResults& sinks() const { return run.sinks.empty() && recovery ? recovery->sinks : run.sinks; }
};

// Two results that collapse to different rows, with some of them.
struct Difference {
  std::string sink;
  std::string left;  // variants
  std::string right;
  int64_t left_rows = 0;
  int64_t right_rows = 0;
  std::vector<DifferingRow> rows;
};

// A variant that nobody asked for by name and that the job cannot be run as.
struct LeftOutVariant {
  std::string name;
  std::string reason;
};

struct Comparison {
  std::vector<VariantReport> variants;
  std::vector<LeftOutVariant> left_out;
  std::vector<Difference> differences;
  bool equal() const { return differences.empty(); }
};

// Candidates write to the same sinks, or to one sink each.  Fails when a variant does, or when the input changed
// between two runs.
// `left_out` stays empty: the caller has chosen.
Result<Comparison> Compare(const std::vector<Candidate>& candidates, const ComparisonOptions& options);

// "results differ: ..." and the rows, for people.
std::string DescribeDifference(const Difference& difference);

}  // namespace weir
