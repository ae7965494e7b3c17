// The description of a job that the runtime executes: stages (chains of operators, each in some tasks) and the edges
// between them.  Made by jobs/wire from a plan, or by hand in a test or an embedding program.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/source.h"
#include "engine/runtime/store.h"

namespace weir {

enum class Exchange {
  kForward,  // task i to task i; both stages have the same parallelism
  kHash,     // by key columns: equal keys to one task
  kBucket,   // by the bucket of the key columns: engine/data/bucket.h
  kGather,   // everything to task 0 of the receiving stage
};

struct EdgeSpec {
  int from_stage = 0;  // index in JobGraph::stages, smaller than the receiver's
  Exchange exchange = Exchange::kForward;
  std::vector<int> key_columns;  // kHash, kBucket
  int buckets = 0;               // kBucket: how many there are
  // Not empty: the edge carries the late rows of this operator of the sending stage (engine/runtime/late_rows.h), and
  // none of the stage's results.
  std::string late_of = "";
};

struct OperatorSpec {
  std::string id;    // unique in the job and stable over restarts: names state in checkpoints
  std::string kind;  // "join", "filter", "sink", ...; for metrics and explain
  std::string name;  // for people
  std::function<Result<std::unique_ptr<Operator>>(int task, int parallelism)> make;
  std::string described = "";  // "join-1 of the query at job.yaml:12:5"; errors of its rows say it; may be empty
};

struct EventTimeSpec {
  int column = -1;  // of the source's output batch, a timestamp
  Micros bound = 0;
  std::optional<Micros> idle_timeout;
  bool every_row = false;
};

struct SourceSpec {
  std::string name;  // of the job file
  std::function<Result<std::unique_ptr<Source>>(int task, int parallelism)> make;
  std::optional<EventTimeSpec> event_time;
  // on_error for rows that fail in the chain behind the source: skip (and count) or fail.
  bool skip_bad_rows = false;
};

struct StageSpec {
  std::string name;
  int parallelism = 1;
  std::optional<SourceSpec> source;  // a stage has a source or input edges
  std::vector<EdgeSpec> inputs;      // input i of the chain's first operator
  std::vector<OperatorSpec> chain;   // may be empty for a source stage
};

struct JobGraph {
  std::vector<StageSpec> stages;
  std::shared_ptr<Store> store;  // null: the job has no tables
};

}  // namespace weir
