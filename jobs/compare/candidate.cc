#include "jobs/compare/candidate.h"

#include <fmt/format.h>

#include <set>

namespace weir {
namespace {

void AddRelations(const PlanPtr& node, std::set<std::string>& relations) {
  relations.insert(node->relation);
  for (const PlanPtr& input : node->inputs) AddRelations(input, relations);
}

// Why two runs of the source could give different rows; empty when they cannot.
std::string WhyNotRepeatable(const SourceDeclaration& source) {
  if (source.connector == SourceConnector::kMemory) {
    return fmt::format(
        "source {} is in memory and holds no rows; a comparison needs a source that it can read several "
        "times: kafka, file or generator",
        source.name);
  }
  if (source.connector != SourceConnector::kKafka) return {};
  if (!source.bounded) {
    return fmt::format(
        "source {} reads its topic for ever; a comparison needs an end: write end: latest, or --set "
        "sources.{}.end=latest",
        source.name, source.name);
  }
  if (source.start.kind == KafkaStart::Kind::kLatest || source.start.kind == KafkaStart::Kind::kCommitted) {
    return fmt::format(
        "source {} starts where others have got to, so the variants would read different rows; write "
        "start: earliest, or --set sources.{}.start=earliest",
        source.name, source.name);
  }
  return {};
}

}  // namespace

Checked<Candidate> PlanCandidate(const Variant& variant) {
  JobFileOptions options;
  options.overrides = variant.overrides;
  const auto job = PlanJobFile(variant.job, options, InputCheck::kFiles);
  if (!job) return tl::unexpected(job.error());

  std::set<std::string> relations;
  for (const PlanPtr& sink : job->plan.sinks) AddRelations(sink, relations);
  for (const PlanPtr& table : job->plan.tables_unread) AddRelations(table, relations);
  Diagnostics out(variant.job);
  for (const SourceDeclaration& source : job->file.sources) {
    if (!relations.contains(source.name)) continue;
    const std::string reason = WhyNotRepeatable(source);
    if (!reason.empty()) out.Add(source.position, reason);
  }
  if (!out.empty()) return tl::unexpected(out.Errors());

  Candidate candidate;
  candidate.variant = variant;
  candidate.job_name = job->file.name;
  for (const SinkDeclaration& sink : job->file.sinks) {
    if (relations.contains(sink.name)) candidate.sinks.push_back(sink.name);
  }
  std::sort(candidate.sinks.begin(), candidate.sinks.end());
  return candidate;
}

}  // namespace weir
