// Job files as tests write them: the errors of a text, one a line, as `weir check` prints them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "jobs/planned_job.h"

namespace weir {

inline JobFileOptions WithOverrides(std::vector<std::string> overrides) {
  JobFileOptions options;
  options.overrides = std::move(overrides);
  options.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "TOPIC") return "from_environment";
    return std::nullopt;
  };
  return options;
}

// Of reading alone, without the queries.
inline std::string ReadErrors(const std::string& text, std::vector<std::string> overrides = {}) {
  Diagnostics out("job.yaml");
  ReadJobFile("job.yaml", text, WithOverrides(std::move(overrides)), out);
  std::string lines;
  for (const Error& error : out.Errors()) lines += error.ToString() + "\n";
  return lines;
}

inline JobFile ReadSound(const std::string& text, std::vector<std::string> overrides = {}) {
  Diagnostics out("job.yaml");
  JobFile file = ReadJobFile("job.yaml", text, WithOverrides(std::move(overrides)), out);
  for (const Error& error : out.Errors()) ADD_FAILURE() << error.ToString();
  return file;
}

// Of reading and planning.
inline std::string PlanErrors(const std::string& text) {
  const auto job = PlanJobText("job.yaml", text, WithOverrides({}), InputCheck::kFiles);
  std::string lines;
  if (!job) {
    for (const Error& error : job.error()) lines += error.ToString() + "\n";
  }
  return lines;
}

}  // namespace weir
