#include "jobs/planned_job.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "jobs/job_file/query_position.h"
#include "jobs/wire/connectors.h"

namespace weir {
namespace {

enum class Match { kNothing, kOnlyFolders, kFiles };

Match MatchFiles(const std::string& pattern) {
  glob_t found{};
  Match match = Match::kNothing;
  const bool any = ::glob(pattern.c_str(), 0, nullptr, &found) == 0;
  for (size_t i = 0; any && i < found.gl_pathc && match != Match::kFiles; ++i) {
    std::error_code ignored;
    match = std::filesystem::is_directory(found.gl_pathv[i], ignored) ? Match::kOnlyFolders : Match::kFiles;
  }
  ::globfree(&found);
  return match;
}

void CheckInputFiles(const SourceDeclaration& source, Diagnostics& out) {
  const Match match = MatchFiles(source.path);
  if (match == Match::kNothing) out.Add(source.path_position, fmt::format("no file matches {}", source.path));
  if (match != Match::kOnlyFolders) return;
  out.Add(source.path_position, fmt::format("{} is a folder; write {}/* for the files in it", source.path, source.path));
}

void CheckSources(const JobFile& file, InputCheck inputs, Diagnostics& out) {
  for (const SourceDeclaration& source : file.sources) {
    const bool reads_files =
        source.connector == SourceConnector::kFile && inputs == InputCheck::kFiles && !source.path.empty();
    if (reads_files) CheckInputFiles(source, out);
    if (source.connector == SourceConnector::kGenerator || !source.sound) continue;
    std::vector<int> all;
    for (size_t i = 0; i < source.columns.size(); ++i) all.push_back(static_cast<int>(i));
    const auto decoder = MakeDecoder(MakeDecoderOptions(source, all, file.options.time_zone));
    if (!decoder) out.Add(source.position, decoder.error().message);
  }
}

// Two sinks would each take the other's parts for leftovers of their own.
void CheckFoldersOfSinks(const JobFile& file, Diagnostics& out) {
  std::map<std::string, const SinkDeclaration*> by_folder;
  for (const SinkDeclaration& sink : file.sinks) {
    if (sink.connector != SinkConnector::kFile || sink.path.empty()) continue;
    const std::filesystem::path folder = std::filesystem::absolute(sink.path + "/").lexically_normal();
    const auto [other, first] = by_folder.emplace(folder.string(), &sink);
    if (first) continue;
    out.Add(sink.path_position, fmt::format("sink {} writes into this folder already; give each sink its own",
                                            other->second->name));
  }
}

// A sink that writes bare rows would lose what a retraction says.
void CheckSinks(const JobFile& file, const JobPlan& plan, Diagnostics& out) {
  for (const PlanPtr& node : plan.sinks) {
    const SinkDeclaration* sink = file.FindSink(node->relation);
    if (sink == nullptr) continue;
    const bool file_of_rows = sink->connector == SinkConnector::kFile && sink->format != FormatKind::kChangelogJson;
    const bool changes = !node->inputs.empty() && node->inputs.front()->changelog != ChangelogMode::kAppend;
    if (file_of_rows && changes) {
      out.Add(sink->position, fmt::format("sink {} writes rows, and its query changes rows it has written; use format: "
                                          "changelog_json",
                                          sink->name));
    }
    const auto encoder = MakeEncoder(sink->format, node->inputs.empty() ? node->schema : node->inputs.front()->schema);
    const bool encodes = sink->connector == SinkConnector::kFile || sink->connector == SinkConnector::kKafka;
    if (encodes && !encoder) out.Add(sink->position, encoder.error().message);
  }
}

// Whether a query names a source, table or sink that could not be read: its errors would only follow from that.
bool NamesUnsound(const JobFile& file, const std::string& sql) {
  const auto named = [&](const std::string& name) { return sql.find(name) != std::string::npos; };
  for (const SourceDeclaration& source : file.sources) {
    if (!source.sound && named(source.name)) return true;
  }
  for (const SinkDeclaration& sink : file.sinks) {
    if (!sink.sound && named(sink.name)) return true;
  }
  return std::any_of(file.tables.begin(), file.tables.end(),
                     [&](const TableDeclaration& table) { return !table.sound && named(table.name); });
}

JobPlan PlanQueries(const JobFile& file, Diagnostics& out) {
  std::vector<QueryText> queries;
  for (const QueryDeclaration& query : file.queries) {
    queries.push_back({query.sql, query.name, query.allowed_lateness, query.early, query.late});
  }
  if (!std::all_of(file.queries.begin(), file.queries.end(), [](const auto& query) { return query.sound; })) {
    return {};  // others may read the view that it defines
  }
  PlannerOptions options;
  options.join = file.options.join;
  options.time_zone = file.options.time_zone;
  options.allowed_lateness = file.options.allowed_lateness;
  // In one task nothing is exchanged, and an aggregate folds each batch by itself.
  options.two_phase = file.options.two_phase && file.options.parallelism > 1;
  options.two_phase_groups = file.options.two_phase_groups;
  options.mini_batch = file.options.mini_batch;
  PlanOutcome outcome = PlanJob(queries, MakeCatalog(file), options);
  for (const QueryError& error : outcome.errors) {
    if (error.query >= file.queries.size()) {
      out.Add({}, error.message);
      continue;
    }
    const QueryDeclaration& query = file.queries[error.query];
    if (NamesUnsound(file, query.sql) || NamesUnsound(file, query.late)) continue;
    if (error.line == 0) {
      out.Add(query.late_position, error.message);
      continue;
    }
    out.Add(PositionOfQuery(file, query, error.line, error.column), error.message);
  }
  outcome.plan.rocksdb_state = file.options.rocksdb_state;
  return std::move(outcome.plan);
}

}  // namespace

Catalog MakeCatalog(const JobFile& file) {
  Catalog catalog;
  for (const SourceDeclaration& source : file.sources) {
    CatalogRelation relation;
    relation.kind = CatalogRelation::Kind::kSource;
    relation.name = source.name;
    relation.schema = source.MakeSchema();
    relation.primary_key = source.primary_key;
    relation.changelog = source.changelog;
    if (source.event_time) relation.event_time = source.event_time->column;
    catalog.relations.push_back(std::move(relation));
  }
  for (const TableDeclaration& table : file.tables) {
    CatalogRelation relation;
    relation.kind = CatalogRelation::Kind::kTable;
    relation.name = table.name;
    relation.schema = table.MakeSchema();
    relation.primary_key = table.primary_key;
    relation.changelog = table.IsLog() ? ChangelogMode::kAppend : ChangelogMode::kFull;
    relation.bucket_key = table.bucket_key;
    relation.buckets = table.buckets;
    relation.not_null = table.not_null;
    relation.indexes = table.indexes;
    catalog.relations.push_back(std::move(relation));
  }
  for (const SinkDeclaration& sink : file.sinks) {
    CatalogRelation relation;
    relation.kind = CatalogRelation::Kind::kSink;
    relation.name = sink.name;
    relation.upsert_sink = sink.connector == SinkConnector::kKafka && sink.upsert;
    relation.sink_key = sink.key;
    relation.one_writer = sink.connector == SinkConnector::kFile;
    catalog.relations.push_back(std::move(relation));
  }
  return catalog;
}

Checked<PlannedJob> PlanJobText(const std::string& path, const std::string& text, const JobFileOptions& options,
                                InputCheck inputs) {
  Diagnostics out(path);
  PlannedJob job;
  job.file = ReadJobFile(path, text, options, out);
  CheckSources(job.file, inputs, out);
  CheckFoldersOfSinks(job.file, out);
  if (!job.file.queries.empty()) job.plan = PlanQueries(job.file, out);
  if (out.empty()) CheckSinks(job.file, job.plan, out);
  if (!out.empty()) return tl::unexpected(out.Errors());
  return job;
}

Checked<PlannedJob> PlanJobFile(const std::string& path, const JobFileOptions& options, InputCheck inputs) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return tl::unexpected(std::vector<Error>{ConfigError("is a folder, not a job file", path)});
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return tl::unexpected(std::vector<Error>{ConfigError("cannot read the job file", path)});
  return PlanJobText(path, text.str(), options, inputs);
}

}  // namespace weir
