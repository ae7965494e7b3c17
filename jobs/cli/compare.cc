// weir compare: variants of a job, or two jobs, side by side on the same input.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "engine/base/file.h"
#include "jobs/cli/exit_codes.h"
#include "jobs/cli/verbs.h"
#include "jobs/compare/comparison.h"
#include "jobs/compare/report_html.h"
#include "jobs/compare/report_json.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

// The folder of --dir, which stays; without it a temporary one that goes.
class WorkFolder {
 public:
  static Result<WorkFolder> Make(const std::string& wanted) {
    if (!wanted.empty()) {
      std::error_code ignored;
      if (fs::exists(wanted, ignored) && !fs::is_empty(wanted, ignored)) {
        return ConfigError(fmt::format("--dir {}: the folder is not empty; a comparison needs one of its own", wanted));
      }
      const Status made = MakeFolder(wanted);
      if (!made) return ConfigError(made.error().message, made.error().where);
      return WorkFolder(wanted, true);
    }
    std::error_code error;
    std::string path = (fs::temp_directory_path(error) / "weir-compare-XXXXXX").string();
    if (error || ::mkdtemp(path.data()) == nullptr) {
      return ConfigError(fmt::format("cannot make a temporary folder: {}; name one with --dir", std::strerror(errno)));
    }
    return WorkFolder(path, false);
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::move(other.path_)), keep_(std::exchange(other.keep_, true)) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    if (!keep_) (void)RemoveTree(path_);
  }
  const std::string& path() const { return path_; }

 private:
  WorkFolder(std::string path, bool keep) : path_(std::move(path)), keep_(keep) {}
  std::string path_;
  bool keep_;
};

struct Selection {
  std::vector<Candidate> candidates;
  std::vector<LeftOutVariant> left_out;
};

tl::unexpected<std::vector<Error>> Refused(Error error) { return tl::unexpected(std::vector<Error>{std::move(error)}); }

// Variants that were asked for must run; of the default ones those that this job cannot be run as are left out, with
// the reason.
Checked<Selection> SelectVariants(const CompareVerb& verb, const std::vector<std::string>& overrides) {
  const bool asked = !verb.variants.empty();
  const auto variants = MakeVariants(verb.jobs.front(), asked ? verb.variants : KnownVariants(), overrides);
  if (!variants) return Refused(variants.error());
  Selection selection;
  std::vector<Error> first_errors;
  for (const Variant& variant : *variants) {
    auto candidate = PlanCandidate(variant);
    if (candidate) {
      selection.candidates.push_back(std::move(*candidate));
      continue;
    }
    if (asked) return tl::unexpected(candidate.error());
    if (first_errors.empty()) first_errors = candidate.error();
    selection.left_out.push_back({variant.name, candidate.error().front().ToString()});
  }
  // Then it is the job that is wrong.
  if (selection.candidates.empty()) return tl::unexpected(first_errors);
  return selection;
}

Checked<Selection> SelectJobs(const CompareVerb& verb) {
  if (!verb.variants.empty()) {
    return Refused(ConfigError("--variants goes with one job; two job files are compared as they are"));
  }
  Selection selection;
  for (const std::string& job : verb.jobs) {
    auto candidate = PlanCandidate({"", job, verb.overrides});
    if (!candidate) return tl::unexpected(candidate.error());
    candidate->variant.name = candidate->job_name;
    selection.candidates.push_back(std::move(*candidate));
  }
  const Candidate& first = selection.candidates.front();
  const Candidate& second = selection.candidates.back();
  if (first.job_name == second.job_name) {
    return Refused(
        ConfigError(fmt::format("both jobs have the name {}; a comparison shows them by name", first.job_name)));
  }
  if (first.sinks != second.sinks && (first.sinks.size() != 1 || second.sinks.size() != 1)) {
    return Refused(
        ConfigError(fmt::format("job {} writes to {}, job {} to {}; two jobs are compared sink by sink", first.job_name,
                                fmt::join(first.sinks, ", "), second.job_name, fmt::join(second.sinks, ", "))));
  }
  return selection;
}

Checked<Selection> Select(const CompareVerb& verb, const std::vector<std::string>& overrides) {
  return verb.jobs.size() == 2 ? SelectJobs(verb) : SelectVariants(verb, overrides);
}

Result<Comparison> CompareSelected(const Selection& selection, const ComparisonOptions& options) {
  if (selection.candidates.front().sinks.empty()) {
    options.say(fmt::format("job {} writes tables alone: only what that costs is compared, there are no results to hold side "
                            "by side; give it a sink that reads them", selection.candidates.front().job_name));
  }
  auto comparison = Compare(selection.candidates, options);
  if (comparison) comparison->left_out = selection.left_out;
  return comparison;
}

// Before anything runs: a comparison takes long, and its report is what it is for.
Status CheckWritable(const std::string& path) {
  if (path.empty() || std::ofstream(path, std::ios::app)) return {};
  return ConfigError(fmt::format("cannot write {}", path));
}

Status WriteText(const std::string& path, const Result<std::string>& text) {
  if (path.empty()) return {};
  if (!text) return text.error();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << *text;
  file.close();
  if (!file) return StateError("cannot write the file", path);
  return {};
}

ComparisonOptions OptionsFor(const CompareVerb& verb, std::string folder) {
  ComparisonOptions options;
  options.folder = std::move(folder);
  options.keep_sinks = verb.keep_sinks;
  options.recovery = verb.sweep.empty();
  options.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  return options;
}

std::string Title(const CompareVerb& verb) { return fmt::format("weir compare {}", fmt::join(verb.jobs, " ")); }

int CompareOnce(const CompareVerb& verb, const WorkFolder& folder) {
  const auto selection = Select(verb, verb.overrides);
  if (!selection) {
    PrintErrors(selection.error());
    return kExitWrong;
  }
  const auto comparison = CompareSelected(*selection, OptionsFor(verb, folder.path()));
  if (!comparison) return Fail(comparison.error());
  fmt::print("{}", ComparisonText(*comparison));
  Status written = WriteText(verb.json, ComparisonJson(*comparison));
  if (written) written = WriteText(verb.report, ComparisonHtml(Title(verb), *comparison));
  if (!written) return Fail(written.error());
  return comparison->equal() ? kExitDone : kExitFailed;
}

int CompareSweep(const CompareVerb& verb, const WorkFolder& folder) {
  const auto sweep = ParseSweep(verb.sweep);
  if (!sweep) return Fail(sweep.error());
  std::vector<Selection> selections;  // all before the first run: a mistake in the last value shows now
  for (const std::string& value : sweep->values) {
    std::vector<std::string> overrides = verb.overrides;
    overrides.push_back(fmt::format("{}={}", sweep->key, value));
    auto selection = Select(verb, overrides);
    if (!selection) {
      PrintErrors(selection.error());
      return kExitWrong;
    }
    selections.push_back(std::move(*selection));
  }
  std::vector<SweepStep> steps;
  bool equal = true;
  for (size_t i = 0; i < selections.size(); ++i) {
    const std::string& value = sweep->values[i];
    fmt::print(stderr, "{}={}\n", sweep->key, value);
    const ComparisonOptions options = OptionsFor(verb, RedirectedSinkFolder(folder.path(), sweep->key + "=" + value));
    auto comparison = CompareSelected(selections[i], options);
    if (!comparison) return Fail(comparison.error());
    equal &= comparison->equal();
    steps.push_back({value, std::move(*comparison)});
  }
  fmt::print("{}", SweepText(sweep->key, steps));
  Status written = WriteText(verb.json, SweepJson(sweep->key, steps));
  if (written) written = WriteText(verb.report, SweepHtml(Title(verb), sweep->key, steps));
  if (!written) return Fail(written.error());
  return equal ? kExitDone : kExitFailed;
}

}  // namespace

int CompareJobs(const CompareVerb& verb) {
  if (!verb.sweep.empty() && (verb.jobs.size() == 2 || verb.keep_sinks)) {
    return Fail(ConfigError("--sweep goes with one job, and not with --keep-sinks"));
  }
  for (const std::string* path : {&verb.json, &verb.report}) {
    const Status writable = CheckWritable(*path);
    if (!writable) return Fail(writable.error());
  }
  const InterruptGuard guard;
  const auto folder = WorkFolder::Make(verb.dir);
  if (!folder) return Fail(folder.error());
  const int exit_code = verb.sweep.empty() ? CompareOnce(verb, *folder) : CompareSweep(verb, *folder);
  return InterruptGuard::interrupted() ? kExitInterrupted : exit_code;
}

}  // namespace weir
