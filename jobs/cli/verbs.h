// The verbs of the command line.  Each takes its own options, writes results to stdout and everything else to stderr,
// and returns the exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/job_file/job_file.h"

namespace weir {

enum class TextFormat { kText, kJson, kDot };

struct RunVerb {
  std::string job;
  std::string state_dir;  // empty: .weir/NAME
  std::vector<std::string> overrides;
  std::string summary;  // a path; empty: none
  std::string replay;   // a path; empty: the sources' own connectors
  int64_t replay_batch = 1;
  bool force = false;
  // For `compare` and for tests of crashes; not in --help.
  SinkRedirection sinks;
  int64_t kill_at = 0;  // SIGKILL once this many records are read and a checkpoint is complete; 0: never
};
int Run(const RunVerb& verb);

struct CompareVerb {
  std::vector<std::string> jobs;      // one, or two that are compared with each other
  std::vector<std::string> variants;  // empty: all that the job can be run as
  std::vector<std::string> overrides;
  std::string sweep;   // KEY=V1,V2,...
  std::string json;    // paths; empty: none
  std::string report;
  std::string dir;     // empty: a temporary folder
  bool keep_sinks = false;
};
int CompareJobs(const CompareVerb& verb);

struct CheckVerb {
  std::vector<std::string> jobs;
  std::vector<std::string> overrides;
};
int Check(const CheckVerb& verb);

struct ExplainVerb {
  std::string job;
  std::vector<std::string> overrides;
  TextFormat format = TextFormat::kText;
};
int Explain(const ExplainVerb& verb);

struct CheckpointsVerb {
  std::string state_dir;
  std::optional<uint64_t> epoch;  // show; empty: the newest
  TextFormat format = TextFormat::kText;
};
int ListCheckpointsOf(const CheckpointsVerb& verb);
int ShowCheckpoint(const CheckpointsVerb& verb);

struct GenerateVerb {
  std::string kind;
  int64_t rows = 1'000'000;
  uint64_t seed = 1;
  int64_t users = 200'000;
  int64_t days = 7;
  std::string folder;   // of --out
  std::string brokers;  // of --kafka
  std::string topic;    // empty: the kind
  std::string connect_timeout = "30s";
};
int Generate(const GenerateVerb& verb);

// Lists the example jobs, or prints the one named.
int Example(const std::string& name);

// Reads the command line and runs its verb.
int RunCommandLine(int argc, char** argv);

}  // namespace weir
