#include "jobs/wire/connectors.h"

#include <fmt/format.h>

#include "connectors/blackhole/blackhole.h"
#include "connectors/file/options.h"
#include "connectors/print/print.h"

namespace weir {
namespace {

SourceFactory MakeFedSource(const JobFile& file, const SourceDeclaration& source, const std::vector<int>& read,
                            std::shared_ptr<MemoryFeed> feed) {
  MemorySourceOptions options;
  options.name = source.name;
  options.feed = std::move(feed);
  options.read = read;
  options.on_error.skip = source.skip_bad_rows;
  options.decoder = MakeDecoderOptions(source, read, file.options.time_zone);
  return [options](int, int) { return MakeMemorySource(options); };
}

SourceFactory MakeKafka(const JobFile& file, const SourceDeclaration& source, const std::vector<int>& read) {
  KafkaSourceOptions options;
  options.name = source.name;
  options.brokers = source.brokers;
  options.topic = source.topic;
  options.group = "weir-" + file.name;
  options.start = source.start;
  options.bounded = source.bounded;
  options.connect_timeout = source.connect_timeout;
  options.lost_data_fails = source.lost_data_fails;
  options.client = source.client;
  options.decoder = MakeDecoderOptions(source, read, file.options.time_zone);
  options.on_error.skip = source.skip_bad_rows;
  return [options](int, int) { return MakeKafkaSource(options); };
}

SourceFactory MakeFile(const JobFile& file, const SourceDeclaration& source, const std::vector<int>& read) {
  FileSourceOptions options;
  options.name = source.name;
  options.path = source.path;
  options.decoder = MakeDecoderOptions(source, read, file.options.time_zone);
  options.on_error.skip = source.skip_bad_rows;
  return [options](int, int) { return MakeFileSource(options); };
}

SourceFactory MakeGenerator(const SourceDeclaration& source, const std::vector<int>& read) {
  GeneratorOptions options = source.generator;
  options.name = source.name;
  for (const int column : read) options.read.push_back(source.generator_columns[static_cast<size_t>(column)]);
  return [options](int, int) { return MakeGeneratorSource(options); };
}

}  // namespace

DecoderOptions MakeDecoderOptions(const SourceDeclaration& source, const std::vector<int>& read,
                                  const std::string& time_zone) {
  DecoderOptions options;
  options.format = source.format;
  options.typing = source.typing;
  options.columns = source.columns;
  options.read = read;
  options.primary_key = source.primary_key;
  options.upsert = source.changelog == ChangelogMode::kUpsert;
  options.time_zone = time_zone;
  return options;
}

Result<SourceFactory> MakeSourceFactory(const JobFile& file, const SourceDeclaration& source,
                                        const std::vector<int>& read, std::shared_ptr<MemoryFeed> feed) {
  if (feed) return MakeFedSource(file, source, read, std::move(feed));
  switch (source.connector) {
    case SourceConnector::kKafka:
      return MakeKafka(file, source, read);
    case SourceConnector::kFile:
      return MakeFile(file, source, read);
    case SourceConnector::kGenerator:
      return MakeGenerator(source, read);
    case SourceConnector::kMemory:
      break;
  }
  return ConfigError(fmt::format("source {} is in memory, so it needs rows: run with --replay FILE", source.name));
}

Result<OperatorFactory> MakeSinkFactory(const SinkDeclaration& sink, SchemaPtr schema, const std::vector<int>& key,
                                        std::shared_ptr<MemoryResult> result) {
  switch (sink.connector) {
    case SinkConnector::kKafka: {
      KafkaSinkOptions options;
      options.name = sink.name;
      options.brokers = sink.brokers;
      options.topic = sink.topic;
      options.format = sink.format;
      options.upsert = sink.upsert;
      options.key = key;
      options.connect_timeout = sink.connect_timeout;
      options.client = sink.client;
      options.schema = std::move(schema);
      return OperatorFactory([options](int, int) { return MakeKafkaSink(options); });
    }
    case SinkConnector::kFile: {
      FileSinkOptions options;
      options.name = sink.name;
      options.path = sink.path;
      options.format = sink.format;
      options.schema = std::move(schema);
      return OperatorFactory([options](int, int) { return MakeFileSink(options); });
    }
    case SinkConnector::kPrint: {
      PrintSinkOptions options;
      options.name = sink.name;
      options.schema = std::move(schema);
      return OperatorFactory([options](int, int) { return MakePrintSink(options); });
    }
    case SinkConnector::kBlackhole:
      return OperatorFactory([](int, int) { return MakeBlackholeSink(); });
    case SinkConnector::kMemory:
      break;
  }
  if (!result) {
    return ConfigError(fmt::format("sink {} is in memory, which only an embedding program can read", sink.name));
  }
  return OperatorFactory([result](int, int) { return MakeMemorySink(result); });
}

}  // namespace weir
