// weir generate: rows of the generator as files, or into Kafka topics named after the kind.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "connectors/generator/options.h"
#include "connectors/kafka/options.h"
#include "engine/base/quantity.h"
#include "engine/runtime/job.h"
#include "jobs/cli/exit_codes.h"
#include "jobs/cli/verbs.h"

namespace weir {
namespace {

// A job of one stage without a state dir: generator in, Kafka out.
Result<JobGraph> GeneratorToKafka(const GeneratorOptions& generator, const GenerateVerb& verb) {
  const auto schema = GeneratorSchema(generator.kind);
  if (!schema || schema->size() == 0) {
    return ConfigError(fmt::format("kind {} is not one table; generate it with --out", generator.kind));
  }
  GeneratorOptions source_options = generator;
  for (size_t i = 0; i < schema->size(); ++i) source_options.read.push_back(static_cast<int>(i));
  KafkaSinkOptions sink_options;
  sink_options.name = generator.kind;
  sink_options.brokers = verb.brokers;
  sink_options.topic = verb.topic.empty() ? generator.kind : verb.topic;
  const auto timeout = ParseDuration(verb.connect_timeout);
  if (!timeout) {
    return ConfigError(fmt::format("--connect-timeout: '{}' is not a duration; write 500ms or 10s", verb.connect_timeout));
  }
  sink_options.connect_timeout = *timeout;
  sink_options.schema = std::make_shared<Schema>(*schema);
  if (const auto user = schema->Find("user_id")) sink_options.key = {static_cast<int>(*user)};
  StageSpec stage;
  stage.name = "generate";
  SourceSpec source;
  source.name = generator.kind;
  source.make = [source_options](int, int) { return MakeGeneratorSource(source_options); };
  stage.source = std::move(source);
  OperatorSpec sink;
  sink.id = "sink";
  sink.kind = "sink";
  sink.name = generator.kind;
  sink.make = [sink_options](int, int) { return MakeKafkaSink(sink_options); };
  stage.chain.push_back(std::move(sink));
  JobGraph graph;
  graph.stages.push_back(std::move(stage));
  return graph;
}

Status ToKafka(const GeneratorOptions& generator, const GenerateVerb& verb) {
  WEIR_ASSIGN(JobGraph graph, GeneratorToKafka(generator, verb));
  JobOptions options;
  options.name = "generate";
  WEIR_ASSIGN(std::unique_ptr<Job> job, Job::Create(std::move(graph), options));
  WEIR_TRY(job->Start());
  WEIR_TRY(job->Wait());
  return {};
}

}  // namespace

int Generate(const GenerateVerb& verb) {
  if (verb.folder.empty() == verb.brokers.empty()) {
    return Fail(ConfigError("weir generate writes to --out DIR or to --kafka BROKERS; give one of them"));
  }
  GeneratorOptions options;
  options.name = verb.kind;
  options.kind = verb.kind;
  options.rows = verb.rows;
  options.seed = verb.seed;
  options.users = verb.users;
  options.days = static_cast<int>(std::min<int64_t>(verb.days, 36'500));
  options.partitions = 1;  // in the order of the rows
  if (!verb.brokers.empty()) {
    const Status sent = ToKafka(options, verb);
    return sent ? kExitDone : Fail(sent.error());
  }
  std::error_code failed;
  std::filesystem::create_directories(verb.folder, failed);
  if (failed) return Fail(ConfigError(fmt::format("cannot make the folder {}: {}", verb.folder, failed.message())));
  const Status written = GenerateFiles(options, verb.folder);
  return written ? kExitDone : Fail(written.error());
}

}  // namespace weir
