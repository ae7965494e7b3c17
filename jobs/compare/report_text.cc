#include "jobs/compare/report_text.h"

#include <fmt/format.h>

#include "engine/base/quantity.h"
#include "jobs/compare/report_tables.h"

namespace weir {
namespace {

// "CPU 1.65 us a row instead of 1.25 (+32 %)"
std::string CpuText(const RunFigures& first, const RunFigures& other) {
  std::string text =
      fmt::format("CPU {:.2f} us a row instead of {:.2f}", other.cpu_us_per_record(), first.cpu_us_per_record());
  if (first.cpu_us_per_record() > 0) {
    text += fmt::format(" ({:+.0f} %)", 100.0 * (other.cpu_us_per_record() / first.cpu_us_per_record() - 1));
  }
  return text;
}

std::string TablesText(const RunFigures& figures) {
  std::string text = fmt::format("its tables hold {} (log {}, base {}) and answered {} lookups",
                                 FormatSize(figures.log_bytes + figures.kv_bytes), FormatSize(figures.log_bytes),
                                 FormatSize(figures.kv_bytes), Grouped(figures.lookups));
  if (figures.lookups > 0) {
    text += fmt::format(", {} of them from RocksDB", Grouped(figures.lookups - figures.cache_hits));
  }
  return text;
}

std::string CostSentence(const VariantReport& first, const VariantReport& other) {
  const RunFigures& f = other.run.figures;
  std::string text = fmt::format("{} against {}: last checkpoint {} instead of {}", other.name, first.name,
                                 FormatSize(f.full_last), FormatSize(first.run.figures.full_last));
  if (first.recovery_ms() && other.recovery_ms()) {
    text += fmt::format(", recovery {:.0f} ms instead of {:.0f}", *other.recovery_ms(), *first.recovery_ms());
  }
  text += "; ";
  if (f.has_tables()) text += TablesText(f) + ", ";
  text += CpuText(first.run.figures, f);
  text += fmt::format(", memory {} instead of {}", FormatSize(f.max_rss_bytes),
                      FormatSize(first.run.figures.max_rss_bytes));
  return text + ".";
}

std::string Indent(const std::string& text, const char* by) {
  std::string out;
  size_t from = 0;
  while (from < text.size()) {
    const size_t newline = text.find('\n', from);
    const size_t end = newline == std::string::npos ? text.size() : newline + 1;
    if (text[from] != '\n') out += by;
    out += text.substr(from, end - from);
    from = end;
  }
  return out;
}

// Breaks a sentence at blanks so that it fits the terminal.
std::string Wrapped(const std::string& text, size_t width) {
  std::string out;
  size_t column = 0;
  size_t from = 0;
  while (from < text.size()) {
    const size_t blank = std::min(text.find(' ', from), text.size());
    const size_t length = blank - from;
    if (column > 0 && column + 1 + length > width) {
      out += "\n";
      column = 0;
    } else if (column > 0) {
      out += " ";
      ++column;
    }
    out += text.substr(from, length);
    column += length;
    from = blank + 1;
  }
  return out + "\n";
}

std::string LeftOutText(const Comparison& comparison) {
  std::string text;
  for (const LeftOutVariant& variant : comparison.left_out) {
    text += fmt::format("{} is left out: {}\n", variant.name, variant.reason);
  }
  return text;
}

std::string EqualText(const Comparison& comparison) {
  std::string text;
  for (const Difference& difference : comparison.differences) text += DescribeDifference(difference);
  if (!text.empty()) return text;
  const SinkResults& sinks = comparison.variants.front().sinks();
  if (sinks.empty()) return "no results were compared, only costs\n";
  int64_t rows = 0;
  for (const auto& [name, sink] : sinks) rows += sink.rows.rows();
  return fmt::format("all results are equal: {} row{}\n", Grouped(rows), rows == 1 ? "" : "s");
}

}  // namespace

std::string ComparisonText(const Comparison& comparison) {
  std::string text = RunTable(comparison).ToString() + "\n" + CheckpointTable(comparison).ToString() + "\n";
  for (const std::string& sentence : CostSentences(comparison)) text += Wrapped(sentence, 116) + "\n";
  return Indent(text + LeftOutText(comparison) + EqualText(comparison), "  ");
}

std::string SweepText(const std::string& key, const std::vector<SweepStep>& steps) {
  std::string text = SweepTable(key, steps).ToString() + "\n";
  if (!steps.empty()) text += LeftOutText(steps.front().comparison);
  bool equal = true;
  for (const SweepStep& step : steps) {
    equal &= step.comparison.equal();
    for (const Difference& difference : step.comparison.differences) {
      text += fmt::format("{}={}: {}", key, step.value, DescribeDifference(difference));
    }
  }
  if (equal) text += "for each value, all results are equal\n";
  return Indent(text, "  ");
}

std::vector<std::string> CostSentences(const Comparison& comparison) {
  std::vector<std::string> sentences;
  for (const VariantReport& variant : comparison.variants) {
    if (&variant != &comparison.variants.front()) {
      sentences.push_back(CostSentence(comparison.variants.front(), variant));
    }
  }
  return sentences;
}

}  // namespace weir
