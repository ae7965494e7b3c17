#include <fmt/format.h>

#include <cstdio>

#include "jobs/cli/examples.h"
#include "jobs/cli/exit_codes.h"
#include "jobs/cli/verbs.h"
#include "sql/plan/suggest.h"

namespace weir {

int Example(const std::string& name) {
  std::vector<std::string> names;
  for (const ExampleJob& example : ExampleJobs()) {
    names.emplace_back(example.name);
    if (example.name == name) {
      fmt::print("{}", example.text);
      return kExitDone;
    }
  }
  if (!name.empty()) {
    return Fail(ConfigError(fmt::format("there is no example {}{}", name, DidYouMean(name, names))));
  }
  for (const ExampleJob& example : ExampleJobs()) {
    // The first comment line of a job file says what it shows.
    const std::string_view text = example.text;
    const std::string_view first = text.substr(0, text.find('\n'));
    fmt::print("{:<20} {}\n", example.name, first.starts_with("# ") ? first.substr(2) : "");
  }
  return kExitDone;
}

}  // namespace weir
