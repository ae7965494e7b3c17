// weir generate: rows of the generator as files, or into Kafka topics named after the kind.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "connectors/generator/lines.h"
#include "connectors/kafka/line_sink.h"
#include "engine/base/quantity.h"
#include "engine/runtime/job.h"
#include "jobs/cli/exit_codes.h"
#include "jobs/cli/verbs.h"
#include "jobs/wire/connectors.h"

namespace weir {
namespace {

using Makers = std::pair<SourceFactory, OperatorFactory>;

// A job of one stage without a state dir: generator in, Kafka out.
JobGraph GeneratorToKafka(const std::string& topic, const Makers& makers) {
  StageSpec stage;
  stage.name = "generate";
  SourceSpec source;
  source.name = topic;
  source.make = makers.first;
  stage.source = std::move(source);
  OperatorSpec sink;
  sink.id = "sink";
  sink.kind = "sink";
  sink.name = topic;
  sink.make = makers.second;
  stage.chain.push_back(std::move(sink));
  JobGraph graph;
  graph.stages.push_back(std::move(stage));
  return graph;
}

// Rows in the sink's own JSON, with the user as their key.
Result<Makers> RowsToKafka(GeneratorOptions generator, KafkaSinkOptions sink) {
  const auto schema = GeneratorSchema(generator.kind);
  if (!schema) {
    return ConfigError(
        fmt::format("there is no kind '{}'; there are orders, visits, behaviour and nexmark", generator.kind));
  }
  for (size_t i = 0; i < schema->size(); ++i) generator.read.push_back(static_cast<int>(i));
  sink.schema = std::make_shared<Schema>(*schema);
  if (const auto user = schema->Find("user_id")) sink.key = {static_cast<int>(*user)};
  return Makers{[generator](int, int) { return MakeGeneratorSource(generator); },
                [sink](int, int) { return MakeKafkaSink(sink); }};
}

// A stream of nexmark in the benchmark's own lines, without keys.
Makers LinesToKafka(const GeneratorOptions& generator, KafkaSinkOptions sink) {
  sink.schema = std::make_shared<Schema>(Schema({{"line", StringType(), false}}));
  return {[generator](int, int) { return MakeLineSource(generator); },
          [sink](int, int) { return MakeKafkaLineSink(sink); }};
}

Status Send(const GeneratorOptions& generator, const KafkaSinkOptions& sink) {
  Makers makers;
  if (generator.kind.starts_with("nexmark.")) {
    makers = LinesToKafka(generator, sink);
  } else {
    WEIR_ASSIGN(makers, RowsToKafka(generator, sink));
  }
  JobOptions options;
  options.name = "generate";
  WEIR_ASSIGN(std::unique_ptr<Job> job, Job::Create(GeneratorToKafka(sink.topic, makers), options));
  WEIR_TRY(job->Start());
  WEIR_TRY(job->Wait());
  return {};
}

Status ToKafka(const GeneratorOptions& generator, const GenerateVerb& verb) {
  KafkaSinkOptions sink;
  sink.brokers = verb.brokers;
  const auto timeout = ParseDuration(verb.connect_timeout);
  if (!timeout) {
    return ConfigError(
        fmt::format("--connect-timeout: '{}' is not a duration; write 500ms or 10s", verb.connect_timeout));
  }
  sink.connect_timeout = *timeout;
  const bool streams = generator.kind == "nexmark";
  if (streams && !verb.topic.empty()) {
    return ConfigError("--topic: nexmark fills three topics, person, auction and bid");
  }
  for (const std::string& stream :
       streams ? std::vector<std::string>{"person", "auction", "bid"} : std::vector<std::string>{generator.kind}) {
    GeneratorOptions one = generator;
    if (streams) one.kind = "nexmark." + stream;
    sink.topic = verb.topic.empty() ? stream : verb.topic;
    sink.name = sink.topic;
    WEIR_TRY(Send(one, sink));
  }
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
