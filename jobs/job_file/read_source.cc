#include <algorithm>

#include "engine/base/quantity.h"
#include "engine/data/text.h"
#include "jobs/job_file/map_reader.h"
#include "jobs/job_file/read_columns.h"
#include "jobs/job_file/read_sections.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

std::string PropertyText(const DocumentNode& node, const std::string& name, Diagnostics& out) {
  return ReadText(node, name, out).value_or("");
}

void ReadOnError(MapReader& reader, SourceDeclaration& source, Diagnostics& out) {
  const DocumentNode* node = reader.Take("on_error");
  if (node == nullptr) return;
  const bool dead_letter = node->IsMap() || (node->IsScalar() && node->text.starts_with("dead_letter"));
  if (dead_letter) {
    out.Add(node->position, "on_error: dead_letter is not in this version yet; fail and skip are");
    return;
  }
  source.skip_bad_rows = reader.Choice<bool>("on_error", {{"fail", false}, {"skip", true}}).value_or(false);
}

void ReadStart(MapReader& reader, SourceDeclaration& source, Diagnostics& out) {
  const DocumentNode* node = reader.Take("start");
  if (node == nullptr) return;
  if (!node->IsMap()) {
    source.start.kind = reader
                            .Choice<KafkaStart::Kind>("start", {{"earliest", KafkaStart::Kind::kEarliest},
                                                                {"latest", KafkaStart::Kind::kLatest},
                                                                {"committed", KafkaStart::Kind::kCommitted},
                                                                {"timestamp", KafkaStart::Kind::kTimestamp}})
                            .value_or(KafkaStart::Kind::kEarliest);
    if (source.start.kind == KafkaStart::Kind::kTimestamp) {
      out.Add(node->position, "start: timestamp needs the time; write {timestamp: 2026-11-01T00:00:00Z}");
    }
    return;
  }
  MapReader start(*node, "start", out);
  source.start.kind = KafkaStart::Kind::kTimestamp;
  if (const DocumentNode* time = start.Require("timestamp")) {
    const std::string text = ReadText(*time, "timestamp", out).value_or("0");
    const auto number = ParseInteger(text, 0, INT64_MAX / 1000);
    const auto instant = ParseTimestampLtz(text, 3, "UTC");
    if (number) {
      source.start.timestamp_ms = number.value;
    } else if (instant) {
      source.start.timestamp_ms = instant.value / 1000;
    } else {
      out.Add(time->position, fmt::format("timestamp: '{}' is no time; write 2026-11-01T00:00:00Z or epoch "
                                          "milliseconds",
                                          text));
    }
  }
  start.Finish();
}

void ReadKafka(MapReader& reader, SourceDeclaration& source, Diagnostics& out) {
  source.brokers = reader.RequireText("brokers").value_or("");
  source.topic = reader.RequireText("topic").value_or("");
  ReadStart(reader, source, out);
  source.bounded = reader.Choice<bool>("end", {{"latest", true}}).value_or(false);
  source.connect_timeout = reader.Duration("connect_timeout").value_or(source.connect_timeout);
  source.lost_data_fails = reader.Choice<bool>("lost_data", {{"fail", true}, {"skip", false}}).value_or(true);
  source.client = ReadClientProperties(reader.Take("kafka"), out);
}

// Takes `stream`; completes the kind of a nexmark source, whose stream is what the source is called unless it is given.
void ReadGeneratorStream(MapReader& reader, SourceDeclaration& source, FilePosition kind, Diagnostics& out) {
  GeneratorOptions& generator = source.generator;
  const DocumentNode* stream = reader.Take("stream");
  if (generator.kind != "nexmark") {
    if (stream != nullptr) out.Add(stream->position, "stream: only kind nexmark has streams");
    return;
  }
  const std::string name = stream != nullptr ? ReadText(*stream, "stream", out).value_or("") : source.name;
  generator.kind += "." + name;
  if (GeneratorSchema(generator.kind)) return;
  if (stream == nullptr) {
    out.Add(kind, "kind: nexmark has three streams; write stream: person, auction or bid");
  } else {
    out.Add(stream->position, fmt::format("stream: nexmark has no '{}'; there are person, auction and bid{}", name,
                                          DidYouMean(name, {"person", "auction", "bid"})));
  }
}

std::optional<Schema> ReadGeneratorKind(MapReader& reader, SourceDeclaration& source, Diagnostics& out) {
  GeneratorOptions& generator = source.generator;
  const std::vector<std::string> kinds = {"orders", "visits", "behaviour", "nexmark"};
  const DocumentNode* kind = reader.Require("kind");
  if (kind == nullptr) {
    reader.Take("stream");
    return std::nullopt;
  }
  generator.kind = ReadText(*kind, "kind", out).value_or("");
  if (std::find(kinds.begin(), kinds.end(), generator.kind) == kinds.end()) {
    reader.Take("stream");
    out.Add(kind->position,
            fmt::format("kind: there is no generator '{}'{}", generator.kind, DidYouMean(generator.kind, kinds)));
    return std::nullopt;
  }
  ReadGeneratorStream(reader, source, kind->position, out);
  return GeneratorSchema(generator.kind);
}

void ReadGenerator(MapReader& reader, SourceDeclaration& source, Diagnostics& out) {
  GeneratorOptions& generator = source.generator;
  std::optional<Schema> schema = ReadGeneratorKind(reader, source, out);
  generator.rows = reader.Integer("rows", 0, INT64_MAX).value_or(generator.rows);
  generator.rate = reader.Integer("rate", 1, INT64_MAX);
  generator.seed = static_cast<uint64_t>(reader.Integer("seed", 0, INT64_MAX).value_or(1));
  generator.users = reader.Integer("users", 1, INT64_MAX).value_or(generator.users);
  generator.days = static_cast<int>(reader.Integer("days", 1, 36500).value_or(generator.days));
  generator.out_of_orderness = reader.Duration("out_of_orderness").value_or(0);
  generator.partitions = static_cast<int>(reader.Integer("partitions", 1, 1024).value_or(generator.partitions));
  if (!schema) return;
  if (source.columns.empty()) {
    for (const Field& field : schema->fields()) {
      SourceColumn column;
      column.name = field.name;
      column.type = field.type;
      column.path = {field.name};
      source.columns.push_back(std::move(column));
    }
  }
  const DocumentNode* columns = reader.node().Find("columns");
  for (const SourceColumn& column : source.columns) {
    const auto index = schema->Find(column.name);
    if (index && (*schema)[*index].type == column.type) {
      source.generator_columns.push_back(static_cast<int>(*index));
    } else if (columns != nullptr) {
      out.Add(columns->position,
              index ? fmt::format("the generator's column {} is a {}", column.name, (*schema)[*index].type.ToString())
                    : fmt::format("the generator {} makes no column {}", generator.kind, column.name));
    }
  }
}

void ReadChangelog(MapReader& reader, SourceDeclaration& source, Diagnostics& out) {
  const DocumentNode* key = reader.Take("primary_key");
  if (key != nullptr) source.primary_key = ReadColumnNames(*key, "primary_key", source.columns, out);
  const bool carries_kinds = source.format == FormatKind::kChangelogJson || source.format == FormatKind::kDebeziumJson;
  const ChangelogMode by_default = carries_kinds    ? ChangelogMode::kFull
                                   : key != nullptr ? ChangelogMode::kUpsert
                                                    : ChangelogMode::kAppend;
  const DocumentNode* changelog = reader.Take("changelog");
  source.changelog = by_default;
  if (changelog == nullptr) return;
  source.changelog = reader
                         .Choice<ChangelogMode>("changelog", {{"append", ChangelogMode::kAppend},
                                                              {"upsert", ChangelogMode::kUpsert},
                                                              {"full", ChangelogMode::kFull}})
                         .value_or(by_default);
  if (source.changelog == ChangelogMode::kUpsert && key == nullptr) {
    out.Add(changelog->position, "changelog: upsert needs a primary_key: rows of one key replace each other");
  }
}

void ReadEventTime(MapReader& reader, SourceDeclaration& source, Diagnostics& out) {
  const DocumentNode* node = reader.Take("event_time");
  if (node == nullptr) return;
  MapReader event_time(*node, "event_time", out);
  EventTimeDeclaration declaration;
  if (const DocumentNode* column = event_time.Require("column")) {
    const std::string name = PropertyText(*column, "column", out);
    declaration.column = FindColumn(name, column->position, source.columns, out);
    if (declaration.column >= 0) {
      const DataType& type = source.columns[static_cast<size_t>(declaration.column)].type;
      if (!type.IsTimestamp()) {
        out.Add(column->position, fmt::format("event_time: column {} is a {}, not a timestamp", name, type.ToString()));
      }
    }
  }
  declaration.watermark = event_time.Duration("watermark").value_or(0);
  declaration.idle_timeout = event_time.Duration("idle_timeout");
  declaration.every_row = event_time.Choice<bool>("emit", {{"periodic", false}, {"every_row", true}}).value_or(false);
  event_time.Finish();
  source.event_time = declaration;
}

}  // namespace

std::map<std::string, std::string> ReadClientProperties(const DocumentNode* node, Diagnostics& out) {
  std::map<std::string, std::string> client;
  if (node == nullptr) return client;
  if (!node->IsMap()) {
    out.Add(node->position, "kafka takes properties of librdkafka with values");
    return client;
  }
  for (const DocumentNode::Member& member : node->members) {
    const std::string value = PropertyText(member.value, member.key, out);
    const Status status = CheckKafkaProperty(member.key, value);
    if (!status) {
      out.Add(IsKafkaProperty(member.key) ? member.value.position : member.position, status.error().message);
    }
    client[member.key] = value;
  }
  return client;
}

SourceDeclaration ReadSource(const DocumentNode::Member& member, Diagnostics& out) {
  SourceDeclaration source;
  source.name = member.key;
  source.position = member.position;
  const size_t errors_before = out.size();
  MapReader reader(member.value, fmt::format("source {}", member.key), out);
  if (!reader.ok()) return source;
  const DocumentNode* connector = reader.Require("connector");
  if (connector == nullptr) return source;
  if (connector->IsScalar() && connector->text == "table") {
    out.Add(connector->position,
            "connector: table comes with a later version; a query of this job reads a table by its name");
    return source;
  }
  const auto kind = reader.Choice<SourceConnector>("connector", {{"kafka", SourceConnector::kKafka},
                                                                 {"file", SourceConnector::kFile},
                                                                 {"generator", SourceConnector::kGenerator},
                                                                 {"memory", SourceConnector::kMemory}});
  if (!kind) return source;
  source.connector = *kind;
  if (const DocumentNode* columns =
          *kind == SourceConnector::kGenerator ? reader.Take("columns") : reader.Require("columns")) {
    source.columns = ReadColumns(*columns, out);
  }
  if (*kind != SourceConnector::kGenerator) {
    source.format = reader
                        .Choice<FormatKind>("format", {{"json", FormatKind::kJson},
                                                       {"csv", FormatKind::kCsv},
                                                       {"debezium_json", FormatKind::kDebeziumJson},
                                                       {"changelog_json", FormatKind::kChangelogJson}})
                        .value_or(FormatKind::kJson);
    source.typing = reader.Choice<Typing>("typing", {{"strict", Typing::kStrict}, {"lenient", Typing::kLenient}})
                        .value_or(Typing::kStrict);
  }
  ReadOnError(reader, source, out);
  switch (*kind) {
    case SourceConnector::kKafka:
      ReadKafka(reader, source, out);
      break;
    case SourceConnector::kFile:
      source.path = reader.RequireText("path").value_or("");
      if (const DocumentNode* path = member.value.Find("path")) source.path_position = path->position;
      break;
    case SourceConnector::kGenerator:
      ReadGenerator(reader, source, out);
      break;
    case SourceConnector::kMemory:
      source.partitions = static_cast<int>(reader.Integer("partitions", 1, 1024).value_or(1));
      break;
  }
  ReadChangelog(reader, source, out);
  ReadEventTime(reader, source, out);
  source.sound = out.size() == errors_before;  // an unknown key does not hurt a query
  reader.NoteForeign({"brokers", "topic", "start", "end", "connect_timeout", "lost_data", "kafka", "path", "kind",
                      "stream", "rows", "rate", "seed", "users", "days", "out_of_orderness", "partitions", "format",
                      "typing"});
  reader.Finish();
  return source;
}

}  // namespace weir
