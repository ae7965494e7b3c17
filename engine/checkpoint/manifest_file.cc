#include "engine/checkpoint/manifest_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/file.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kChecksumField = ",\"checksum\":\"";

std::string Hex(uint64_t value) { return fmt::format("{:016x}", value); }

Json StateToJson(const OperatorStateRef& state) {
  Json out = {{"operator", state.operator_id}, {"task", state.task}, {"parallelism", state.parallelism}};
  if (!state.file.empty()) {
    out["file"] = state.file;
    out["bytes"] = state.bytes;
    out["checksum"] = Hex(state.checksum);
  }
  if (!state.commit_data.empty()) out["commit"] = state.commit_data;
  return out;
}

OperatorStateRef StateFromJson(const Json& json) {
  OperatorStateRef state;
  state.operator_id = json.at("operator").get<std::string>();
  state.task = json.at("task").get<int>();
  state.parallelism = json.at("parallelism").get<int>();
  if (json.contains("file")) {
    state.file = json.at("file").get<std::string>();
    state.bytes = json.at("bytes").get<int64_t>();
    state.checksum = std::stoull(json.at("checksum").get<std::string>(), nullptr, 16);
  }
  if (json.contains("commit")) state.commit_data = json.at("commit").get<std::string>();
  return state;
}

Json TablesToJson(const TablePositions& tables) {
  Json out = Json::object();
  for (const auto& [name, buckets] : tables) {
    Json ends = Json::array();
    for (const LogPosition& end : buckets) ends.push_back({end.offset, end.segment, end.byte});
    out[name] = std::move(ends);
  }
  return out;
}

TablePositions TablesFromJson(const Json& json) {
  TablePositions tables;
  for (const auto& [name, ends] : json.items()) {
    std::vector<LogPosition>& buckets = tables[name];
    for (const Json& end : ends) {
      buckets.push_back({end.at(0).get<uint64_t>(), end.at(1).get<uint64_t>(), end.at(2).get<uint64_t>()});
    }
  }
  return tables;
}

Manifest ManifestFromJson(const Json& json) {
  Manifest manifest;
  manifest.version = json.at("version").get<int>();
  manifest.epoch = json.at("epoch").get<Epoch>();
  manifest.finished = json.at("finished").get<bool>();
  manifest.uuid = json.at("uuid").get<std::string>();
  manifest.sources = json.at("sources").get<std::map<std::string, Positions>>();
  manifest.watermarks = json.at("watermarks").get<std::map<std::string, std::map<std::string, Micros>>>();
  manifest.idle = json.at("idle").get<std::map<std::string, std::vector<std::string>>>();
  manifest.counters = json.at("counters").get<std::map<std::string, int64_t>>();
  for (const Json& state : json.at("states")) manifest.states.push_back(StateFromJson(state));
  if (json.contains("tables")) manifest.tables = TablesFromJson(json.at("tables"));
  return manifest;
}

}  // namespace

std::string EncodeManifest(const Manifest& manifest) {
  Json states = Json::array();
  for (const OperatorStateRef& state : manifest.states) states.push_back(StateToJson(state));
  Json json = {{"version", manifest.version}, {"epoch", manifest.epoch},           {"finished", manifest.finished},
                     {"uuid", manifest.uuid},       {"sources", manifest.sources},       {"watermarks", manifest.watermarks},
                     {"idle", manifest.idle},       {"counters", manifest.counters},     {"states", std::move(states)}};
  if (!manifest.tables.empty()) json["tables"] = TablesToJson(manifest.tables);
  std::string text = json.dump();
  text.pop_back();  // the closing brace comes behind the checksum
  const uint64_t checksum = XXH3_64bits(text.data(), text.size());
  text += kChecksumField;
  text += Hex(checksum) + "\"}";
  return text;
}

Result<Manifest> ReadManifest(const std::string& path) {
  WEIR_ASSIGN(const std::string text, ReadFile(path));
  const size_t at = text.rfind(kChecksumField);
  const std::string expected =
      at == std::string::npos
          ? ""
          : std::string(text, 0, at) + std::string(kChecksumField) + Hex(XXH3_64bits(text.data(), at)) + "\"}";
  if (expected != text) return StateError("the checkpoint's manifest is damaged (its checksum is wrong)", path);
  try {
    Manifest manifest = ManifestFromJson(Json::parse(text));
    if (manifest.version != 1) {
      return StateError(fmt::format("the manifest has version {}; this weir reads version 1", manifest.version), path);
    }
    return manifest;
  } catch (const std::exception& e) {
    return StateError(fmt::format("the manifest cannot be read: {}", e.what()), path);
  }
}

std::string EncodeFigures(const CheckpointFigures& f) {
  const auto ms = [](double value) { return std::round(value * 1000) / 1000; };
  const Json json = {{"id", f.id},
                     {"trigger_time", f.trigger_time / 1000},
                     {"start_delay_ms", ms(f.start_delay_ms)},
                     {"alignment_ms", ms(f.alignment_ms)},
                     {"sync_ms", ms(f.sync_ms)},
                     {"async_ms", ms(f.async_ms)},
                     {"end_to_end_ms", ms(f.end_to_end_ms)},
                     {"full_bytes", f.full_bytes},
                     {"incremental_bytes", f.incremental_bytes},
                     {"manifest_bytes", f.manifest_bytes},
                     {"operator_state_bytes", f.operator_state_bytes}};
  return json.dump();
}

Result<CheckpointFigures> ReadFigures(const std::string& path) {
  WEIR_ASSIGN(const std::string text, ReadFile(path));
  try {
    const Json json = Json::parse(text);
    CheckpointFigures f;
    f.id = json.at("id").get<Epoch>();
    f.trigger_time = json.at("trigger_time").get<Micros>() * 1000;
    f.start_delay_ms = json.at("start_delay_ms").get<double>();
    f.alignment_ms = json.at("alignment_ms").get<double>();
    f.sync_ms = json.at("sync_ms").get<double>();
    f.async_ms = json.at("async_ms").get<double>();
    f.end_to_end_ms = json.at("end_to_end_ms").get<double>();
    f.full_bytes = json.at("full_bytes").get<int64_t>();
    f.incremental_bytes = json.at("incremental_bytes").get<int64_t>();
    f.manifest_bytes = json.at("manifest_bytes").get<int64_t>();
    f.operator_state_bytes = json.at("operator_state_bytes").get<int64_t>();
    return f;
  } catch (const std::exception& e) {
    return StateError(fmt::format("the file cannot be read: {}", e.what()), path);
  }
}

std::string CheckpointFolder(const std::string& state_dir, Epoch epoch) {
  return fmt::format("{}/checkpoints/chk-{}", state_dir, epoch);
}

std::vector<Epoch> ListCheckpoints(const std::string& state_dir) {
  std::vector<Epoch> epochs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(state_dir + "/checkpoints", error)) {
    const std::string name = entry.path().filename();
    Epoch epoch = 0;
    if (!name.starts_with("chk-")) continue;
    const auto [end, fault] = std::from_chars(name.data() + 4, name.data() + name.size(), epoch);
    if (fault != std::errc() || end != name.data() + name.size()) continue;
    if (std::filesystem::exists(entry.path() / "manifest.json")) epochs.push_back(epoch);
  }
  std::sort(epochs.begin(), epochs.end());
  return epochs;
}

}  // namespace weir
