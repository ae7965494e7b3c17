// Runs of one variant: the one that is measured, and the one that is killed and recovers.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "jobs/compare/candidate.h"
#include "jobs/compare/figures.h"
#include "jobs/compare/process.h"
#include "jobs/compare/result_files.h"

namespace weir {

// The result of one sink.
struct SinkResult {
  std::string folder;
  Fingerprint rows;
};
using SinkResults = std::map<std::string, SinkResult>;

// Where a variant's runs write.  `results` is the folder that users look into: a folder a sink; `work` has the rest:
// state dirs, summaries, the log of the processes.
struct VariantFolders {
  std::string results;
  std::string work;
};

struct MeasuredRun {
  std::string summary;  // the JSON that the run wrote
  RunFigures figures;
  SinkResults sinks;  // empty when they were kept
};

struct RecoveredRun {
  // From the exec of the second process to its first row into a sink; empty: it wrote none, or was never killed.
  std::optional<double> recovery_ms;
  int64_t killed_at = 0;  // records read by then, at least; 0: the job had ended before it could be killed
  SinkResults sinks;
};

class VariantRunner {
 public:
  // `keep_sinks`: Kafka sinks write to TOPIC-VARIANT in the measured run.
  VariantRunner(Candidate candidate, VariantFolders folders, bool keep_sinks);

  const Candidate& candidate() const { return candidate_; }

  // Errors carry what the process said on stderr.
  Result<MeasuredRun> Measure();
  // The same job once more: killed after 80 % of the records (earlier when it has ended by then) with at least one
  // checkpoint complete, then restarted to its end.  Without `own_checkpoints`, whose interval may be off or longer
  // than the run, the killed run takes a checkpoint every tenth of the records.
  Result<RecoveredRun> KillAndRecover(int64_t records, bool own_checkpoints);

 private:
  struct RunFolders {
    std::string sinks;
    std::string state;
    std::string summary;
  };

  std::vector<std::string> Arguments(const RunFolders& folders) const;
  // Kills at the record, and says whether it came to that.
  Result<bool> RunUntilKilled(std::vector<std::string> arguments, int64_t kill_at, int64_t checkpoint_rows);
  Result<ProcessEnd> Finish(const std::vector<std::string>& arguments);
  Error Failure(const ProcessEnd& end) const;
  Result<SinkResults> ReadSinks(const std::string& root) const;

  const Candidate candidate_;
  const VariantFolders folders_;
  const bool keep_sinks_;
  const std::string log_;
};

}  // namespace weir
