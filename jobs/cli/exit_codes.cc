#include "jobs/cli/exit_codes.h"

#include <fmt/format.h>

#include <cstdio>

namespace weir {

int ExitCodeOf(const Error& error) {
  return error.code == ErrorCode::kConfig || error.code == ErrorCode::kPlan ? kExitWrong : kExitFailed;
}

void PrintErrors(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) text += error.ToString() + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

int Fail(const Error& error) {
  PrintErrors({error});
  return ExitCodeOf(error);
}

}  // namespace weir
