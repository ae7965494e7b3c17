#include "jobs/run/summary.h"

#include <sys/resource.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

Json SourceJson(const SourceFigures& source) {
  return {{"name", source.name},
          {"records_in", source.records_in},
          {"bad_records", source.bad_records},
          {"tombstones", source.tombstones},
          {"input_bytes", source.input_bytes},
          {"lag", source.lag}};
}

Json OperatorJson(const OperatorFigures& op) {
  Json parts = Json::array();
  for (const StateSize& size : op.state) {
    parts.push_back({{"part", size.part}, {"rows", size.rows}, {"bytes", size.bytes}});
  }
  return {{"id", op.id},
          {"name", op.name},
          {"kind", op.kind},
          {"records_in", op.records_in},
          {"records_out", op.records_out},
          {"state_bytes", op.state_bytes},
          {"state", std::move(parts)}};
}

Json CheckpointJson(const CheckpointFigures& checkpoint) {
  return {{"id", checkpoint.id},
          {"trigger_time", checkpoint.trigger_time / 1000},
          {"start_delay_ms", checkpoint.start_delay_ms},
          {"alignment_ms", checkpoint.alignment_ms},
          {"sync_ms", checkpoint.sync_ms},
          {"async_ms", checkpoint.async_ms},
          {"end_to_end_ms", checkpoint.end_to_end_ms},
          {"full_bytes", checkpoint.full_bytes},
          {"incremental_bytes", checkpoint.incremental_bytes},
          {"manifest_bytes", checkpoint.manifest_bytes},
          {"operator_state_bytes", checkpoint.operator_state_bytes}};
}

}  // namespace

ProcessFigures ReadProcessFigures() {
  ProcessFigures figures;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    figures.cpu_s = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
    figures.max_rss_bytes = int64_t{usage.ru_maxrss} * 1024;
  }
  return figures;
}

std::string SummaryJson(const JobFigures& job, const ProcessFigures& process) {
  Json json;
  json["records_in"] = job.records_in;
  json["records_out"] = job.records_out;
  json["bad_records"] = job.bad_records;
  json["late_rows"] = job.late_rows;
  json["tombstones"] = job.tombstones;
  json["null_event_time"] = job.null_event_time;
  json["ignored_deletes"] = job.ignored_deletes;
  json["elapsed_s"] = process.elapsed_s;
  json["cpu_s"] = process.cpu_s;
  json["max_rss_bytes"] = process.max_rss_bytes;
  json["input_bytes"] = job.input_bytes;
  json["first_row_out_time"] = nullptr;
  if (job.first_output != 0) json["first_row_out_time"] = static_cast<double>(job.first_output) / 1000.0;
  json["latency_ms"] = {{"p50", nullptr}, {"p99", nullptr}};
  json["sources"] = Json::array();
  for (const SourceFigures& source : job.sources) json["sources"].push_back(SourceJson(source));
  json["operators"] = Json::array();
  for (const OperatorFigures& op : job.operators) json["operators"].push_back(OperatorJson(op));
  json["tables"] = Json::array();
  for (const TableFigures& table : job.tables) {
    json["tables"].push_back({{"name", table.name},
                              {"rows", table.rows},
                              {"log_bytes", table.log_bytes},
                              {"kv_bytes", table.kv_bytes},
                              {"lookups", table.lookups},
                              {"cache_hits", table.cache_hits},
                              {"folds", table.folds}});
  }
  json["checkpoints"] = Json::array();
  for (const CheckpointFigures& checkpoint : job.checkpoints) json["checkpoints"].push_back(CheckpointJson(checkpoint));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status WriteSummary(const std::string& path, const JobFigures& job, const ProcessFigures& process) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << SummaryJson(job, process);
  file.close();
  if (!file) return ConfigError("cannot write the summary", path);
  return {};
}

}  // namespace weir
