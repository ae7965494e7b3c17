#include "jobs/compare/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Json = nlohmann::json;

// A figure that was not measured is null.
template <class T>
T Number(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<T>() : T{};
}

const Json& List(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto at = object.find(key);
  return at != object.end() && at->is_array() ? *at : kNone;
}

void AddCheckpoints(const Json& list, RunFigures& figures) {
  for (size_t i = 0; i < list.size(); ++i) {
    const Json& checkpoint = list[i];
    ++figures.checkpoints;
    figures.full_last = Number<int64_t>(checkpoint, "full_bytes");
    figures.written_last = Number<int64_t>(checkpoint, "incremental_bytes");
    figures.manifest_last = Number<int64_t>(checkpoint, "manifest_bytes");
    figures.operator_state_last = Number<int64_t>(checkpoint, "operator_state_bytes");
    figures.full_largest = std::max(figures.full_largest, figures.full_last);
    figures.written_largest = std::max(figures.written_largest, figures.written_last);
    const bool after_the_rows = i + 1 == list.size() && list.size() > 1;
    if (after_the_rows) continue;
    figures.end_to_end_ms = std::max(figures.end_to_end_ms, Number<double>(checkpoint, "end_to_end_ms"));
    figures.pause_ms =
        std::max(figures.pause_ms, Number<double>(checkpoint, "sync_ms") + Number<double>(checkpoint, "alignment_ms"));
  }
}

RunFigures Read(const Json& summary) {
  RunFigures figures;
  figures.records_in = Number<int64_t>(summary, "records_in");
  figures.elapsed_s = Number<double>(summary, "elapsed_s");
  figures.cpu_s = Number<double>(summary, "cpu_s");
  figures.max_rss_bytes = Number<int64_t>(summary, "max_rss_bytes");
  figures.first_row_out_time = Number<double>(summary, "first_row_out_time");
  for (const Json& source : List(summary, "sources")) {
    figures.source_records.push_back(Number<int64_t>(source, "records_in"));
  }
  for (const Json& op : List(summary, "operators")) figures.state_bytes += Number<int64_t>(op, "state_bytes");
  for (const Json& table : List(summary, "tables")) {
    figures.table_rows += Number<int64_t>(table, "rows");
    figures.log_bytes += Number<int64_t>(table, "log_bytes");
    figures.kv_bytes += Number<int64_t>(table, "kv_bytes");
    figures.lookups += Number<int64_t>(table, "lookups");
    figures.cache_hits += Number<int64_t>(table, "cache_hits");
  }
  AddCheckpoints(List(summary, "checkpoints"), figures);
  return figures;
}

}  // namespace

Result<RunFigures> ReadRunFigures(const std::string& summary_json) {
  try {
    const Json summary = Json::parse(summary_json);
    if (!summary.is_object()) return StateError("the summary of a run is no JSON object");
    return Read(summary);
  } catch (const std::exception& error) {
    return StateError(fmt::format("the summary of a run cannot be read: {}", error.what()));
  }
}

}  // namespace weir
