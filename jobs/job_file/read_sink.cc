#include "jobs/job_file/map_reader.h"
#include "jobs/job_file/read_sections.h"

namespace weir {
namespace {

void ReadDelivery(MapReader& reader, Diagnostics& out) {
  const auto exactly_once =
      reader.Choice<bool>("delivery", {{"exactly_once", true}, {"at_least_once", false}}).value_or(false);
  if (exactly_once) {
    out.Add(reader.node().Find("delivery")->position,
            "delivery: exactly_once needs Kafka transactions, which this version does not have yet; at_least_once is "
            "the default");
  }
}

void ReadKafka(MapReader& reader, SinkDeclaration& sink, Diagnostics& out) {
  sink.brokers = reader.RequireText("brokers").value_or("");
  sink.topic = reader.RequireText("topic").value_or("");
  sink.format = reader
                    .Choice<FormatKind>("format", {{"json", FormatKind::kJson},
                                                   {"csv", FormatKind::kCsv},
                                                   {"changelog_json", FormatKind::kChangelogJson}})
                    .value_or(FormatKind::kJson);
  const bool carries_kinds = sink.format == FormatKind::kChangelogJson;
  sink.upsert = reader.Choice<bool>("changelog", {{"upsert", true}, {"full", false}}).value_or(!carries_kinds);
  if (!sink.upsert && !carries_kinds) {
    if (const DocumentNode* changelog = reader.node().Find("changelog")) {
      out.Add(changelog->position, "changelog: full needs format: changelog_json, which says what a change is");
    }
  }
  if (const DocumentNode* key = reader.Take("key")) sink.key = ReadTexts(*key, "key", out);
  sink.connect_timeout = reader.Duration("connect_timeout").value_or(sink.connect_timeout);
  sink.client = ReadClientProperties(reader.Take("kafka"), out);
  ReadDelivery(reader, out);
}

}  // namespace

SinkDeclaration ReadSink(const DocumentNode::Member& member, Diagnostics& out) {
  SinkDeclaration sink;
  sink.name = member.key;
  sink.position = member.position;
  const size_t errors_before = out.size();
  MapReader reader(member.value, fmt::format("sink {}", member.key), out);
  if (!reader.ok()) return sink;
  const auto kind = reader.RequireChoice<SinkConnector>("connector", {{"kafka", SinkConnector::kKafka},
                                                                      {"file", SinkConnector::kFile},
                                                                      {"print", SinkConnector::kPrint},
                                                                      {"blackhole", SinkConnector::kBlackhole},
                                                                      {"memory", SinkConnector::kMemory}});
  if (!kind) return sink;
  sink.connector = *kind;
  if (*kind == SinkConnector::kKafka) ReadKafka(reader, sink, out);
  if (*kind == SinkConnector::kFile) {
    sink.path = reader.RequireText("path").value_or("");
    if (const DocumentNode* path = member.value.Find("path")) sink.path_position = path->position;
    sink.format = reader
                      .Choice<FormatKind>("format", {{"changelog_json", FormatKind::kChangelogJson},
                                                     {"json", FormatKind::kJson},
                                                     {"csv", FormatKind::kCsv}})
                      .value_or(FormatKind::kChangelogJson);
  }
  sink.sound = out.size() == errors_before;
  reader.NoteForeign(
      {"brokers", "topic", "changelog", "key", "delivery", "kafka", "path", "format", "connect_timeout"});
  reader.Finish();
  return sink;
}

}  // namespace weir
