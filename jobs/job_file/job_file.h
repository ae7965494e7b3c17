// The job file: what it declares, checked and with defaults filled in.  The reference for its users is
// docs/job_file.md.
//
// LoadJobFile reports all errors of a file at once; the SQL of its queries is planned elsewhere (jobs/planned_job.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "connectors/format/format.h"
#include "connectors/generator/options.h"
#include "connectors/kafka/options.h"
#include "jobs/job_file/diagnostics.h"
#include "jobs/job_file/document.h"
#include "sql/plan/catalog.h"
#include "sql/plan/planner.h"

namespace weir {

enum class SourceConnector { kKafka, kFile, kGenerator, kMemory };
enum class SinkConnector { kKafka, kFile, kPrint, kBlackhole, kMemory };
std::string_view ToString(SourceConnector connector);
std::string_view ToString(SinkConnector connector);

// A declared column and where its values come from.
struct EventTimeDeclaration {
  int column = -1;  // index in the source's columns, a timestamp
  Micros watermark = 0;
  std::optional<Micros> idle_timeout;
  bool every_row = false;
};

struct SourceDeclaration {
  std::string name;
  FilePosition position;  // of the name
  bool sound = false;     // read without an error: queries over it can be planned
  SourceConnector connector = SourceConnector::kMemory;
  FormatKind format = FormatKind::kJson;
  Typing typing = Typing::kStrict;
  bool skip_bad_rows = false;  // on_error
  std::vector<SourceColumn> columns;
  std::vector<int> primary_key;
  ChangelogMode changelog = ChangelogMode::kAppend;
  std::optional<EventTimeDeclaration> event_time;
  int partitions = 1;  // memory

  // kafka
  std::string brokers;
  std::string topic;
  KafkaStart start;
  bool bounded = false;
  Micros connect_timeout = 30'000'000;
  bool lost_data_fails = true;
  std::map<std::string, std::string> client;

  // file
  std::string path;
  FilePosition path_position;

  // generator: its options but for name and read; generator_columns[i] is column i in the schema of the kind.
  GeneratorOptions generator;
  std::vector<int> generator_columns;

  Schema MakeSchema() const;
};

// A primary-key table, which keeps the last row of each key, or a log table, which has no key and keeps every row.
struct TableDeclaration {
  std::string name;
  FilePosition position;
  bool sound = false;
  std::vector<SourceColumn> columns;  // their names and types
  std::vector<int> primary_key;
  std::vector<int> bucket_key;  // a part of the primary key, by default all of it; of a log table any columns, or none
  int buckets = kDefaultBuckets;
  std::vector<int> not_null;  // the primary key takes no NULL either
  std::vector<std::vector<int>> indexes;  // of a primary-key table: columns by which rows are found
  Micros ttl = 0;             // of a log table's rows; 0: they stay for ever

  bool IsLog() const { return primary_key.empty(); }
  Schema MakeSchema() const;
};

struct SinkDeclaration {
  std::string name;
  FilePosition position;
  bool sound = false;
  SinkConnector connector = SinkConnector::kBlackhole;
  FormatKind format = FormatKind::kJson;
  std::string path;  // file: a folder
  FilePosition path_position;
  std::string brokers;
  std::string topic;
  bool upsert = false;  // kafka: changelog: upsert
  std::vector<std::string> key;
  Micros connect_timeout = 30'000'000;
  std::map<std::string, std::string> client;
};

struct QueryDeclaration {
  std::string sql;
  std::string name;
  FilePosition position;  // of the SQL's scalar
  WrittenText written;    // the SQL before ${VAR} was filled in
  bool sound = false;     // read without an error: it can be planned
  std::optional<Micros> allowed_lateness;
  Micros early = 0;  // emit: {early: ..}; 0: results come at the end of a window alone
  std::string late;  // the sink of late rows; empty: none
  FilePosition late_position;
};

struct CheckpointDeclaration {
  std::optional<Micros> interval;  // empty: off
  int64_t on_rows = 0;             // 0: off
  int retain = 2;
};

struct OptionsDeclaration {
  int parallelism = 1;
  JoinOption join = JoinOption::kAuto;
  bool rocksdb_state = false;  // state: rocksdb
  CheckpointDeclaration checkpoint;
  int64_t memory = 0;  // bytes
  int64_t redo_bytes = int64_t{512} << 20;
  int64_t redo_rows = 6'000'000;
  std::string log_level = "info";
  Micros allowed_lateness = 0;
  std::string time_zone = "UTC";
  bool two_phase = true;  // agg_phase_strategy: auto or two_phase
  bool two_phase_groups = false;  // agg_phase_strategy: two_phase
  MiniBatch mini_batch;
};

struct JobFile {
  std::string path;  // as given, for messages
  std::string text;  // of the file, for places within queries
  std::string name;
  OptionsDeclaration options;
  std::vector<SourceDeclaration> sources;
  std::vector<SinkDeclaration> sinks;
  std::vector<QueryDeclaration> queries;
  std::vector<TableDeclaration> tables;

  const SourceDeclaration* FindSource(std::string_view source_name) const;
  const SinkDeclaration* FindSink(std::string_view sink_name) const;
  const TableDeclaration* FindTable(std::string_view table_name) const;
};

// Sends the results of a job elsewhere, whatever its sinks say: what `weir compare` does to be able to set them side by
// side.  Every sink becomes a file sink (changelog_json) in a folder of its own below `folder`.
struct SinkRedirection {
  std::string folder;        // empty: sinks stay as they are
  std::string topic_suffix;  // not empty: Kafka sinks stay, and write to their topic with this at its end
};
// The folder of a redirected sink: the name, with what would leave the folder or hide it as %XX.
std::string RedirectedSinkFolder(const std::string& folder, const std::string& sink);

struct JobFileOptions {
  std::vector<std::string> overrides;  // of --set
  Environment environment = ProcessEnvironment();
  SinkRedirection sinks;
};

// Reads a job file's text; what is wrong goes to `out`, and the value is usable only when nothing did.
JobFile ReadJobFile(const std::string& path, const std::string& text, const JobFileOptions& options, Diagnostics& out);

}  // namespace weir
