#include "jobs/job_file/job_file.h"

#include <filesystem>

#include "jobs/job_file/map_reader.h"
#include "jobs/job_file/read_sections.h"

namespace weir {
namespace {

QueryDeclaration ReadQuery(const DocumentNode& node, Diagnostics& out) {
  QueryDeclaration query;
  query.position = node.position;
  if (node.IsScalar()) {
    query.sql = ReadText(node, "a query", out).value_or("");
    query.written = node.written;
    return query;
  }
  MapReader reader(node, "a query", out);
  if (!reader.ok()) return query;
  if (const DocumentNode* sql = reader.Require("sql")) {
    query.sql = ReadText(*sql, "sql", out).value_or("");
    query.position = sql->position;
    query.written = sql->written;
  }
  query.name = reader.Text("name").value_or("");
  query.allowed_lateness = reader.Duration("allowed_lateness");
  if (const DocumentNode* emit = reader.Take("emit")) {
    MapReader emit_reader(*emit, "emit", out);
    query.early = emit_reader.Duration("early").value_or(0);
    emit_reader.Finish();
  }
  if (const DocumentNode* late = reader.Take("late")) {
    query.late = ReadText(*late, "late", out).value_or("");
    query.late_position = late->position;
  }
  reader.Finish();
  return query;
}

bool IsBlank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

// Sources, tables and sinks share one room of names: a query names them all the same way.
void CheckNames(const DocumentNode& root, Diagnostics& out) {
  std::vector<std::pair<std::string, const char*>> seen;
  for (const char* section : {"sources", "tables", "sinks"}) {
    const DocumentNode* node = root.Find(section);
    if (node == nullptr) continue;
    for (const DocumentNode::Member& member : node->members) {
      if (member.key.empty()) out.Add(member.position, "a name is empty");
      for (const auto& [name, where] : seen) {
        if (name == member.key) out.Add(member.position, fmt::format("{} is a name in {} already", name, where));
      }
    }
    for (const DocumentNode::Member& member : node->members) seen.emplace_back(member.key, section);
  }
}

// A section of named things; an empty one is as good as none.
const DocumentNode* Section(MapReader& reader, const char* key, const char* example) {
  const DocumentNode* node = reader.Take(key);
  if (node == nullptr || node->IsNull()) return nullptr;
  if (node->IsMap()) return node;
  reader.out().Add(node->position, fmt::format("{} takes names with declarations, for example {}", key, example));
  return nullptr;
}

}  // namespace

std::string_view ToString(SourceConnector connector) {
  switch (connector) {
    case SourceConnector::kKafka:
      return "kafka";
    case SourceConnector::kFile:
      return "file";
    case SourceConnector::kGenerator:
      return "generator";
    case SourceConnector::kMemory:
      return "memory";
  }
  return "";
}

std::string_view ToString(SinkConnector connector) {
  switch (connector) {
    case SinkConnector::kKafka:
      return "kafka";
    case SinkConnector::kFile:
      return "file";
    case SinkConnector::kPrint:
      return "print";
    case SinkConnector::kBlackhole:
      return "blackhole";
    case SinkConnector::kMemory:
      return "memory";
  }
  return "";
}

Schema SourceDeclaration::MakeSchema() const {
  std::vector<Field> fields;
  for (const SourceColumn& column : columns) fields.push_back({column.name, column.type, true});
  for (const int index : primary_key) fields[static_cast<size_t>(index)].nullable = false;
  return Schema(std::move(fields));
}

const SourceDeclaration* JobFile::FindSource(std::string_view source_name) const {
  for (const SourceDeclaration& source : sources) {
    if (source.name == source_name) return &source;
  }
  return nullptr;
}

const SinkDeclaration* JobFile::FindSink(std::string_view sink_name) const {
  for (const SinkDeclaration& sink : sinks) {
    if (sink.name == sink_name) return &sink;
  }
  return nullptr;
}

const TableDeclaration* JobFile::FindTable(std::string_view table_name) const {
  for (const TableDeclaration& table : tables) {
    if (table.name == table_name) return &table;
  }
  return nullptr;
}

std::vector<QueryDeclaration> ReadQueries(const DocumentNode& node, Diagnostics& out) {
  std::vector<QueryDeclaration> queries;
  if (!node.IsList() || node.items.empty()) {
    out.Add(node.position, "queries takes a list: - INSERT INTO sink SELECT ...");
    return queries;
  }
  for (const DocumentNode& item : node.items) {
    const size_t before = out.size();
    QueryDeclaration query = ReadQuery(item, out);
    if (out.size() == before && IsBlank(query.sql)) out.Add(query.position, "the query is empty");
    query.sound = !IsBlank(query.sql);
    queries.push_back(std::move(query));
  }
  return queries;
}

JobFile ReadJobFile(const std::string& path, const std::string& text, const JobFileOptions& options, Diagnostics& out) {
  JobFile file;
  file.path = path;
  file.text = text;
  DocumentNode root = ParseDocument(text, out);
  if (!out.empty() && root.IsNull()) return file;  // not YAML: nothing more can be said
  if (!root.IsMap()) {
    const char* empty = root.IsNull() ? "the job file is empty; " : "";
    out.Add({1, 1, {}}, fmt::format("{}a job file has the keys name, options, sources, sinks and queries", empty));
    return file;
  }
  for (const std::string& assignment : options.overrides) ApplyOverride(root, assignment, out);
  FillEnvironment(root, options.environment, out);
  RedirectSinks(root, options.sinks);
  MapReader reader(root, "the job file", out);
  file.name = reader.Text("name").value_or(std::filesystem::path(path).stem().string());
  const DocumentNode none;
  const DocumentNode* section = reader.Take("options");
  file.options = ReadOptions(section ? *section : none, out);
  if ((section = Section(reader, "sources", "orders: {connector: kafka, ...}")) != nullptr) {
    for (const auto& member : section->members) file.sources.push_back(ReadSource(member, out));
  }
  if ((section = Section(reader, "tables", "wide: {columns: {...}}")) != nullptr) {
    for (const auto& member : section->members) file.tables.push_back(ReadTable(member, out));
  }
  if ((section = Section(reader, "sinks", "results: {connector: file, path: out/results}")) != nullptr) {
    for (const auto& member : section->members) file.sinks.push_back(ReadSink(member, out));
  }
  if ((section = reader.Require("queries")) != nullptr) file.queries = ReadQueries(*section, out);
  reader.Finish();
  CheckNames(root, out);
  return file;
}

}  // namespace weir
