// weir inside another program: a job from its text, rows from the program, results back to it.
//
//   auto job = weir::EmbeddedJob::Create(text, {.state_dir = dir});     // sources and sinks with connector: memory
//   (*job)->Start();
//   (*job)->feed("orders").Push(rows);
//   (*job)->Checkpoint();
//   (*job)->result("attributed").Collapsed();
//
// The target to link is weir::weir.  One thread owns an EmbeddedJob; feeds and results may be used from any.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/memory/memory.h"
#include "engine/runtime/job.h"

namespace weir {

struct EmbedOptions {
  std::string state_dir;               // empty: no checkpoints on disk, so no restore
  const Clock* clock = nullptr;        // null: the system's; else it outlives the job
  std::vector<std::string> overrides;  // as --set takes them: "options.parallelism=4"
  bool check_operators = false;        // verify every operator's output while it runs (tests)
};

class EmbeddedJob {
 public:
  // The text of a job file.  The error has every message, a line each, as `weir check` prints them.
  static Result<std::unique_ptr<EmbeddedJob>> Create(const std::string& text, const EmbedOptions& options);
  ~EmbeddedJob();

  // Of a source or sink with connector: memory; REQUIRES: there is one of that name.
  MemoryFeed& feed(std::string_view source);
  const MemoryResult& result(std::string_view sink) const;

  // Starts the tasks; from the newest checkpoint of the state dir if it has one.  A state dir that another job has
  // written, or another form of this one, is an error.
  Status Start();
  // Waits until every row pushed so far has been processed.
  Status WaitUntilIdle();
  // Takes a checkpoint and waits until it is complete.
  Status Checkpoint();
  // Ends the job where it stands, as a crash would; Start begins again from the last checkpoint, with the same feeds
  // and with results as of that checkpoint.
  void Crash();
  // Ends all feeds, processes the rest and takes the last checkpoint.
  Status Finish();

  JobFigures Figures() const;

 private:
  struct State;
  explicit EmbeddedJob(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// One row a value list: appends to a batch of `schema` from the text form of each value, for programs and tests that
// push few rows: MakeRow(schema, {"1", "7", "3.50"}).  A value "NULL" is NULL; the error names the column.
Result<Batch> MakeRow(const Schema& schema, const std::vector<std::string>& values, RowKind kind = RowKind::kInsert);

}  // namespace weir
