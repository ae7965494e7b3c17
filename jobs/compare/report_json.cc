#include "jobs/compare/report_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Json = nlohmann::ordered_json;

Json RecoveryJson(const std::optional<RecoveredRun>& recovery) {
  if (!recovery || !recovery->recovery_ms) return nullptr;
  return *recovery->recovery_ms;
}

// The variant's own fields, then the summary's as they are.
Json VariantJson(const VariantReport& variant) {
  Json json;
  json["name"] = variant.name;
  json["recovery_ms"] = RecoveryJson(variant.recovery);
  json["recovery_killed_at"] =
      variant.recovery && variant.recovery->killed_at > 0 ? Json(variant.recovery->killed_at) : Json(nullptr);
  json["results"] = Json::array();
  for (const auto& [name, sink] : variant.sinks()) {
    json["results"].push_back({{"sink", name}, {"rows", sink.rows.rows()}, {"changes", sink.rows.lines()}});
  }
  const Json summary = Json::parse(variant.run.summary);
  for (const auto& [key, value] : summary.items()) json[key] = value;
  return json;
}

Json DifferencesJson(const Comparison& comparison) {
  Json list = Json::array();
  for (const Difference& difference : comparison.differences) {
    Json rows = Json::array();
    for (const DifferingRow& row : difference.rows) rows.push_back({{"row", row.row}, {"excess", row.excess}});
    list.push_back({{"sink", difference.sink},
                    {"left", difference.left},
                    {"right", difference.right},
                    {"left_rows", difference.left_rows},
                    {"right_rows", difference.right_rows},
                    {"rows", std::move(rows)}});
  }
  return list;
}

void AddComparison(const Comparison& comparison, Json& json) {
  json["variants"] = Json::array();
  for (const VariantReport& variant : comparison.variants) json["variants"].push_back(VariantJson(variant));
  if (!comparison.left_out.empty()) {
    json["left_out"] = Json::array();
    for (const LeftOutVariant& variant : comparison.left_out) {
      json["left_out"].push_back({{"name", variant.name}, {"reason", variant.reason}});
    }
  }
  if (!comparison.equal()) json["differences"] = DifferencesJson(comparison);
}

// 20000 as a number, 5s as text.
Json ValueJson(const std::string& text) {
  const Json number = Json::parse(text, nullptr, false);
  return number.is_number() || number.is_boolean() ? number : Json(text);
}

template <class Build>
Result<std::string> Dumped(const Build& build) {
  try {
    Json json;
    build(json);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  } catch (const std::exception& error) {
    return StateError(fmt::format("the summary of a run cannot be read: {}", error.what()));
  }
}

}  // namespace

Result<std::string> ComparisonJson(const Comparison& comparison) {
  return Dumped([&](Json& json) {
    json["equal"] = comparison.equal();
    AddComparison(comparison, json);
  });
}

Result<std::string> SweepJson(const std::string& key, const std::vector<SweepStep>& steps) {
  return Dumped([&](Json& json) {
    json["equal"] = std::all_of(steps.begin(), steps.end(), [](const SweepStep& s) { return s.comparison.equal(); });
    json["key"] = key;
    json["sweep"] = Json::array();
    for (const SweepStep& step : steps) {
      Json item;
      item["value"] = ValueJson(step.value);
      item["equal"] = step.comparison.equal();
      AddComparison(step.comparison, item);
      json["sweep"].push_back(std::move(item));
    }
  });
}

}  // namespace weir
