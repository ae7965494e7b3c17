#include "jobs/compare/report_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/base/quantity.h"
#include "jobs/compare/report_tables.h"

namespace weir {
namespace {

constexpr const char* kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72em;margin:2em auto;padding:0 1em;color:#222}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid #ddd}"
    "th small{display:block;font-weight:normal;color:#666}"
    ".left{text-align:left}.differ{color:#b00020}"
    ".bars{display:flex;flex-wrap:wrap;gap:1.5em}figure{margin:0}figcaption{font-weight:600}"
    "svg text{font:12px system-ui,sans-serif;fill:#222}svg rect{fill:#3b78b5}";

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string TableHtml(const TextTable& table) {
  const auto& columns = table.columns();
  std::string html = "<table>\n<tr>";
  for (const TableColumn& column : columns) {
    html += fmt::format("<th{}>{}<small>{}</small></th>", column.left ? " class=\"left\"" : "", Escaped(column.title),
                        Escaped(column.unit));
  }
  html += "</tr>\n";
  for (const auto& row : table.rows()) {
    html += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      html += fmt::format("<td{}>{}</td>", columns[i].left ? " class=\"left\"" : "", Escaped(row[i]));
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

struct Bar {
  std::string label;
  double value = 0;
  std::string text;
};

// Horizontal bars, the longest as wide as there is room.
std::string BarsHtml(const std::string& title, const std::vector<Bar>& bars) {
  constexpr double kLabel = 130;
  constexpr double kRoom = 160;
  constexpr int kLine = 24;
  double largest = 0;
  for (const Bar& bar : bars) largest = std::max(largest, bar.value);
  std::string html = fmt::format("<figure><figcaption>{}</figcaption><svg width=\"400\" height=\"{}\">\n",
                                 Escaped(title), static_cast<int>(bars.size()) * kLine + 4);
  int y = 2;
  for (const Bar& bar : bars) {
    const double width = largest > 0 ? std::max(1.0, kRoom * bar.value / largest) : 1.0;
    html += fmt::format(
        "<text x=\"0\" y=\"{}\">{}</text><rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"16\"/>"
        "<text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
        y + 13, Escaped(bar.label), kLabel, y, width, kLabel + width + 6, y + 13, Escaped(bar.text));
    y += kLine;
  }
  return html + "</svg></figure>\n";
}

std::vector<Bar> BarsOf(const Comparison& comparison, const std::function<double(const VariantReport&)>& value,
                        const std::function<std::string(double)>& text) {
  std::vector<Bar> bars;
  for (const VariantReport& variant : comparison.variants) {
    const double amount = value(variant);
    bars.push_back({variant.name, amount, text(amount)});
  }
  return bars;
}

std::string Size(double bytes) { return FormatSize(static_cast<int64_t>(bytes)); }
std::string Millis(double ms) { return ms > 0 ? Grouped(ms, 0) + " ms" : "-"; }

std::string ComparisonBars(const Comparison& comparison) {
  std::string html = "<div class=\"bars\">\n";
  html += BarsHtml(
      "last checkpoint, full",
      BarsOf(
          comparison, [](const VariantReport& v) { return static_cast<double>(v.run.figures.full_last); }, Size));
  html +=
      BarsHtml("recovery", BarsOf(
                               comparison, [](const VariantReport& v) { return v.recovery_ms().value_or(0); }, Millis));
  html += BarsHtml("CPU", BarsOf(
                              comparison, [](const VariantReport& v) { return v.run.figures.cpu_us_per_record(); },
                              [](double us) { return Grouped(us, 2) + " us/row"; }));
  html += BarsHtml(
      "peak memory",
      BarsOf(
          comparison, [](const VariantReport& v) { return static_cast<double>(v.run.figures.max_rss_bytes); }, Size));
  html += BarsHtml("tables", BarsOf(
                                 comparison,
                                 [](const VariantReport& v) {
                                   return static_cast<double>(v.run.figures.log_bytes + v.run.figures.kv_bytes);
                                 },
                                 Size));
  return html + "</div>\n";
}

std::string DifferencesHtml(const Comparison& comparison) {
  if (comparison.equal()) return "<p>All results are equal.</p>\n";
  std::string html;
  for (const Difference& difference : comparison.differences) {
    html += fmt::format("<pre class=\"differ\">{}</pre>\n", Escaped(DescribeDifference(difference)));
  }
  return html;
}

std::string Page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title><style>{1}</style></head>\n"
      "<body><h1>{0}</h1>\n{2}</body></html>\n",
      Escaped(title), kStyle, body);
}

}  // namespace

std::string ComparisonHtml(const std::string& title, const Comparison& comparison) {
  std::string body = DifferencesHtml(comparison) + ComparisonBars(comparison);
  for (const std::string& sentence : CostSentences(comparison)) body += fmt::format("<p>{}</p>\n", Escaped(sentence));
  for (const LeftOutVariant& variant : comparison.left_out) {
    body += fmt::format("<p>{} is left out: {}</p>\n", Escaped(variant.name), Escaped(variant.reason));
  }
  body += "<h2>The run</h2>\n" + TableHtml(RunTable(comparison));
  body += "<h2>Checkpoints and recovery</h2>\n" + TableHtml(CheckpointTable(comparison));
  return Page(title, body);
}

std::string SweepHtml(const std::string& title, const std::string& key, const std::vector<SweepStep>& steps) {
  std::string body = TableHtml(SweepTable(key, steps));
  for (const SweepStep& step : steps) {
    body += fmt::format("<h2>{}</h2>\n", Escaped(key + "=" + step.value));
    body += DifferencesHtml(step.comparison) + ComparisonBars(step.comparison);
  }
  return Page(title, body);
}

}  // namespace weir
