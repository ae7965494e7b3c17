#include <fmt/format.h>

#include <cstdio>

#include "jobs/cli/exit_codes.h"
#include "jobs/cli/verbs.h"
#include "jobs/planned_job.h"

namespace weir {

int Check(const CheckVerb& verb) {
  std::vector<Error> errors;
  for (const std::string& path : verb.jobs) {
    JobFileOptions options;
    options.overrides = verb.overrides;
    const auto job = PlanJobFile(path, options, InputCheck::kFiles);
    if (!job) errors.insert(errors.end(), job.error().begin(), job.error().end());
  }
  PrintErrors(errors);
  return errors.empty() ? kExitDone : kExitWrong;
}

int Explain(const ExplainVerb& verb) {
  JobFileOptions options;
  options.overrides = verb.overrides;
  const auto job = PlanJobFile(verb.job, options, InputCheck::kNone);
  if (!job) {
    PrintErrors(job.error());
    return kExitWrong;
  }
  std::string text = verb.format == TextFormat::kJson  ? ExplainJson(job->plan)
                     : verb.format == TextFormat::kDot ? ExplainDot(job->plan)
                                                       : ExplainText(job->plan);
  if (!text.empty() && text.back() != '\n') text += '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kExitDone;
}

}  // namespace weir
