#include "jobs/run/job_identity.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/file.h"
#include "sql/plan/node_text.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

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

// What differs, in words.
std::string Difference(const Json& written, const Json& now) {
  if (written.value("queries", Json()) != now.value("queries", Json())) return "its queries differ";
  const Json before = written.value("sources", Json::object());
  const Json after = now.value("sources", Json::object());
  for (const auto& [name, source] : after.items()) {
    if (!before.contains(name) || before[name] != source) return fmt::format("source {} differs", name);
  }
  return "it has other sources";
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

std::string JobIdentity(const JobFile& file, bool replayed) {
  Json json;
  json["version"] = kVersion;
  json["name"] = file.name;
  json["queries"] = Json::array();
  for (const QueryDeclaration& query : file.queries) json["queries"].push_back(NormaliseSql(query.sql));
  json["sources"] = Json::object();
  for (const SourceDeclaration& source : file.sources) json["sources"][source.name] = SourceIdentity(source, replayed);
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
    if (written != now) {
      return ConfigError(
          fmt::format("the state dir {} was written by another form of job {}: {}; give the changed job "
                      "its own --state-dir",
                      state_dir, after, Difference(written, now)));
    }
  } catch (const std::exception&) {
    return StateError(fmt::format("{} is damaged: it is not JSON", PathOf(state_dir)));
  }
  return {};
}

Status WriteJobIdentity(const std::string& state_dir, const std::string& identity) {
  std::error_code failed;
  if (std::filesystem::exists(PathOf(state_dir), failed)) return {};
  return WriteFileDurably(PathOf(state_dir), identity);
}

}  // namespace weir
