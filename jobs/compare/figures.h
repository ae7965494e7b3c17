// What a comparison shows of a run: taken from the summary that the run wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace weir {

// Sizes in bytes.  Largest values are taken over all checkpoints; times and pauses over those while rows flowed, which
// is all but the last unless there is no other.
struct RunFigures {
  int64_t records_in = 0;
  double elapsed_s = 0;
  double cpu_s = 0;
  int64_t max_rss_bytes = 0;
  int64_t state_bytes = 0;  // of operators, in memory

  int64_t table_rows = 0;
  int64_t log_bytes = 0;
  int64_t kv_bytes = 0;
  int64_t lookups = 0;
  int64_t cache_hits = 0;

  int64_t checkpoints = 0;
  int64_t full_largest = 0;
  int64_t full_last = 0;
  int64_t written_largest = 0;
  int64_t written_last = 0;
  int64_t manifest_last = 0;
  int64_t operator_state_last = 0;
  double end_to_end_ms = 0;  // longest
  double pause_ms = 0;       // longest sync + alignment

  double first_row_out_time = 0;        // ms since 1970; 0: none
  std::vector<int64_t> source_records;  // in the order of the sources

  bool has_tables() const { return log_bytes + kv_bytes + table_rows > 0; }
  double rows_per_s() const { return elapsed_s > 0 ? static_cast<double>(records_in) / elapsed_s : 0; }
  double cpu_us_per_record() const { return records_in > 0 ? cpu_s * 1e6 / static_cast<double>(records_in) : 0; }
};

// Fields that are missing are 0; text that is no summary is a state error.
Result<RunFigures> ReadRunFigures(const std::string& summary_json);

}  // namespace weir
