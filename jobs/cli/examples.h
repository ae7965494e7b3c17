// The job files of conf/, inside the binary, so that `weir example` works from anywhere.
#pragma once

#include <span>
#include <string_view>

namespace weir {

struct ExampleJob {
  std::string_view name;  // the file's name without .yaml
  std::string_view text;
};

// Defined in a file that the build makes of conf/ (jobs/cli/embed_examples.cmake).
std::span<const ExampleJob> ExampleJobs();

}  // namespace weir
