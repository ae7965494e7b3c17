// What the process says when it ends.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace weir {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;  // the job failed; its state dir stays resumable
inline constexpr int kExitWrong = 2;   // the job file or the command is wrong
inline constexpr int kExitInterrupted = 130;

// kConfig and kPlan are the user's to mend: 2; the rest is 1.
int ExitCodeOf(const Error& error);

// One line an error, on stderr.
void PrintErrors(const std::vector<Error>& errors);
// Prints the error and returns its exit code.
int Fail(const Error& error);

}  // namespace weir
