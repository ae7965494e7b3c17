#include "jobs/run/job_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/file.h"
#include "sql/plan/node_text.h"
#include "sql/plan/state_backend.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kState = "state";  // where operators' is; "memory" too when none would be elsewhere

std::string PathOf(const std::string& state_dir) { return state_dir + "/job.json"; }

Json SourceIdentity(const SourceDeclaration& source, bool replayed) {
  Json json;
  json["connector"] = replayed ? "replay" : std::string(ToString(source.connector));
  if (!replayed && source.connector == SourceConnector::kKafka) json["topic"] = source.topic;
  if (!replayed && source.connector == SourceConnector::kGenerator) json["kind"] = source.generator.kind;
  json["changelog"] = ModeName(source.changelog);
  for (const SourceColumn& column : source.columns) json["columns"][column.name] = column.type.ToString();
  for (const int key : source.primary_key) json["primary_key"].push_back(source.columns[static_cast<size_t>(key)].name);
  return json;
}

Json Names(const std::vector<int>& columns, const Schema& schema) {
  Json names = Json::array();
  for (const int column : columns) names.push_back(schema[static_cast<size_t>(column)].name);
  return names;
}

// An index that no join keeps is made from the rows of its table wherever it is missing.
constexpr const char* kAddedLater = "declared index";

// What decides where a table's rows are and how they are written; how long they stay may change.
Json TableIdentity(const TableText& text) {
  Json json;
  const bool added_later = text.node->kind == NodeKind::kTable && text.table->kind == TableKind::kIndex;
  json["kind"] = added_later ? kAddedLater : TableKindName(text.table->kind);
  json["operator"] = text.node->id;
  json["columns"] = Json::object();
  for (const Field& field : text.schema->fields()) json["columns"][field.name] = field.type.ToString();
  json["key"] = Names(text.key, *text.schema);
  json["bucket"] = {{"key", Names(text.table->bucket_columns, *text.schema)}, {"num", text.table->buckets}};
  return json;
}

// By name, whatever the order in the job file.
Json TablesIdentity(const JobPlan& plan) {
  std::map<std::string, Json> tables;
  for (const TableText& text : TablesOf(plan)) tables[text.table->name] = TableIdentity(text);
  Json json = Json::object();
  for (auto& [name, table] : tables) json[name] = std::move(table);
  return json;
}

std::string Listed(const Json& names) {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : ", ") + name.get<std::string>();
  return "(" + text + ")";
}

std::string ColumnsDifference(const Json& before, const Json& after) {
  for (const auto& [name, type] : after.items()) {
    if (!before.contains(name)) return fmt::format("column {} is new", name);
    if (before.at(name) == type) continue;
    return fmt::format("column {} was a {} and is a {}", name, before.at(name).get<std::string>(), type.get<std::string>());
  }
  for (const auto& [name, type] : before.items()) {
    if (!after.contains(name)) return fmt::format("column {} is gone", name);
  }
  return "its columns have another order";
}

// What differs between two forms of a table, in words.
std::string TableDifference(const Json& before, const Json& after) {
  if (before.at("columns") != after.at("columns")) return ColumnsDifference(before.at("columns"), after.at("columns"));
  if (before.at("key") != after.at("key")) {
    return fmt::format("its key was {} and is {}", Listed(before.at("key")), Listed(after.at("key")));
  }
  const Json& bucket = before.at("bucket");
  const Json& bucket_now = after.at("bucket");
  if (bucket.at("num") != bucket_now.at("num")) {
    return fmt::format("it had {} buckets and has {}", bucket.at("num").get<int>(), bucket_now.at("num").get<int>());
  }
  if (bucket.at("key") != bucket_now.at("key")) {
    return fmt::format("its bucket key was {} and is {}", Listed(bucket.at("key")), Listed(bucket_now.at("key")));
  }
  return fmt::format("its rows lie with operator {} and would lie with {}", before.at("operator").get<std::string>(),
                     after.at("operator").get<std::string>());
}

// Empty when the rows of all tables can be read as they are.
std::string TablesDifference(const Json& before, const Json& after) {
  for (const auto& [name, table] : after.items()) {
    if (!before.contains(name)) {
      if (table.at("kind") == kAddedLater) continue;
      return fmt::format("table {} is new", name);
    }
    if (before.at(name) != table) return fmt::format("table {} differs: {}", name, TableDifference(before.at(name), table));
  }
  for (const auto& [name, table] : before.items()) {
    if (!after.contains(name) && table.at("kind") != kAddedLater) return fmt::format("table {} is gone", name);
  }
  return {};
}

// What differs, in words; empty when the job can go on from the other's state.
std::string Difference(const Json& written, const Json& now) {
  if (written.value("queries", Json()) != now.value("queries", Json())) return "its queries differ";
  const Json before = written.value("sources", Json::object());
  const Json after = now.value("sources", Json::object());
  for (const auto& [name, source] : after.items()) {
    if (!before.contains(name) || before[name] != source) return fmt::format("source {} differs", name);
  }
  if (before != after) return "it has other sources";
  // State dirs of before this was written do not say it.
  if (written.contains(kState) && written[kState] != now.at(kState)) {
    return fmt::format("options.state was {} and is {}", written[kState].get<std::string>(),
                       now.at(kState).get<std::string>());
  }
  return TablesDifference(written.value("tables", Json::object()), now.value("tables", Json::object()));
}

}  // namespace

std::string NormaliseSql(const std::string& sql) {
  std::string out;
  char quote = '\0';
  bool blank = false;
  for (size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    if (quote == '\0' && c == '-' && i + 1 < sql.size() && sql[i + 1] == '-') {
      while (i < sql.size() && sql[i] != '\n') ++i;
      blank = true;
      continue;
    }
    if (quote == '\0' && std::isspace(static_cast<unsigned char>(c)) != 0) {
      blank = true;
      continue;
    }
    if (blank && !out.empty()) out += ' ';
    blank = false;
    out += c;
    if (quote == c) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    }
  }
  while (!out.empty() && (out.back() == ';' || out.back() == ' ')) out.pop_back();
  return out;
}

std::string JobIdentity(const PlannedJob& job, bool replayed) {
  const JobFile& file = job.file;
  Json json;
  json["version"] = kVersion;
  json["name"] = file.name;
  json["queries"] = Json::array();
  for (const QueryDeclaration& query : file.queries) json["queries"].push_back(NormaliseSql(query.sql));
  json["sources"] = Json::object();
  for (const SourceDeclaration& source : file.sources) json["sources"][source.name] = SourceIdentity(source, replayed);
  json["tables"] = TablesIdentity(job.plan);
  const std::vector<const PlanNode*> nodes = NodesOf(job.plan);
  const bool in_rocksdb = file.options.rocksdb_state && std::any_of(nodes.begin(), nodes.end(), [](const PlanNode* node) {
    return MayKeepStateInRocksDb(*node);
  });
  json[kState] = in_rocksdb ? "rocksdb" : "memory";
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status CheckJobIdentity(const std::string& state_dir, const std::string& identity) {
  std::ifstream file(PathOf(state_dir));
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str() == identity) return {};
  try {
    const Json written = Json::parse(text.str());
    const Json now = Json::parse(identity);
    if (written.value("version", 0) != kVersion) {
      return ConfigError(fmt::format("{} was written by another version of weir", PathOf(state_dir)));
    }
    const std::string before = written.value("name", "");
    const std::string after = now.value("name", "");
    if (before != after) {
      return ConfigError(
          fmt::format("the state dir {} belongs to job {}, this is job {}; give each its own --state-dir", state_dir,
                      before, after));
    }
    if (const std::string difference = Difference(written, now); !difference.empty()) {
      return ConfigError(
          fmt::format("the state dir {} was written by another form of job {}: {}; give the changed job "
                      "its own --state-dir",
                      state_dir, after, difference));
    }
  } catch (const std::exception&) {
    return StateError(fmt::format("{} is damaged: it is not JSON", PathOf(state_dir)));
  }
  return {};
}

Status WriteJobIdentity(const std::string& state_dir, const std::string& identity) {
  if (const auto written = ReadFile(PathOf(state_dir)); written && *written == identity) return {};
  return WriteFileDurably(PathOf(state_dir), identity);
}

}  // namespace weir
