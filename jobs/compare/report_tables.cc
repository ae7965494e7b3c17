#include "jobs/compare/report_tables.h"

#include <fmt/format.h>

namespace weir {
namespace {

std::string Kibi(int64_t bytes) { return Grouped(static_cast<double>(bytes) / 1024.0, 1); }
std::string Mebi(int64_t bytes) { return Grouped(static_cast<double>(bytes) / (1024.0 * 1024.0), 1); }

// Runs without tables have no such figures, which is not the same as zero.
std::string IfTables(const RunFigures& figures, std::string cell) { return figures.has_tables() ? cell : "-"; }

std::string Milliseconds(std::optional<double> ms) { return ms ? Grouped(*ms, 0) : "-"; }

std::string HitRate(const RunFigures& figures) {
  if (figures.lookups == 0) return "-";
  return fmt::format("{:.1f}", 100.0 * static_cast<double>(figures.cache_hits) / static_cast<double>(figures.lookups));
}

}  // namespace

TextTable RunTable(const Comparison& comparison) {
  TextTable table({{"variant", "", true},
                   {"speed", "rows/s"},
                   {"CPU", "s"},
                   {"CPU", "us/row"},
                   {"memory", "peak MiB"},
                   {"state", "MiB"},
                   {"table log", "MiB"},
                   {"table base", "MiB"},
                   {"lookups", ""},
                   {"in memory", "%"}});
  for (const VariantReport& variant : comparison.variants) {
    const RunFigures& f = variant.run.figures;
    table.Add({variant.name, Grouped(f.rows_per_s(), 0), Grouped(f.cpu_s, 2), Grouped(f.cpu_us_per_record(), 2),
               Mebi(f.max_rss_bytes), Mebi(f.state_bytes), IfTables(f, Mebi(f.log_bytes)),
               IfTables(f, Mebi(f.kv_bytes)), IfTables(f, Grouped(f.lookups)), IfTables(f, HitRate(f))});
  }
  return table;
}

TextTable CheckpointTable(const Comparison& comparison) {
  TextTable table({{"variant", "", true},
                   {"checkpoints", ""},
                   {"full, largest", "KiB"},
                   {"full, last", "KiB"},
                   {"written, largest", "KiB"},
                   {"written, last", "KiB"},
                   {"end to end", "ms"},
                   {"pause", "ms"},
                   {"recovery", "ms"}});
  for (const VariantReport& variant : comparison.variants) {
    const RunFigures& f = variant.run.figures;
    table.Add({variant.name, Grouped(f.checkpoints), Kibi(f.full_largest), Kibi(f.full_last), Kibi(f.written_largest),
               Kibi(f.written_last), Grouped(f.end_to_end_ms, 0), Grouped(f.pause_ms, 1),
               Milliseconds(variant.recovery_ms())});
  }
  return table;
}

TextTable SweepTable(const std::string& key, const std::vector<SweepStep>& steps) {
  TextTable table({{key, "", true},
                   {"variant", "", true},
                   {"last checkpoint", "full KiB"},
                   {"manifest", "KiB"},
                   {"operator state", "KiB"},
                   {"end to end", "ms"},
                   {"CPU", "us/row"},
                   {"tables", "MiB"}});
  for (const SweepStep& step : steps) {
    for (const VariantReport& variant : step.comparison.variants) {
      const RunFigures& f = variant.run.figures;
      table.Add({step.value, variant.name, Kibi(f.full_last), Kibi(f.manifest_last), Kibi(f.operator_state_last),
                 Grouped(f.end_to_end_ms, 0), Grouped(f.cpu_us_per_record(), 2),
                 IfTables(f, Mebi(f.log_bytes + f.kv_bytes))});
    }
  }
  return table;
}

}  // namespace weir
