#include "jobs/embed.h"

#include <fmt/format.h>

#include "jobs/replay/replay_value.h"
#include "jobs/run/job_identity.h"
#include "jobs/run/running_job.h"

namespace weir {

struct EmbeddedJob::State {
  PlannedJob job;
  Feeds feeds;
  MemoryResults results;
  std::string state_dir;
  std::unique_ptr<RunningJob> running;
};

EmbeddedJob::EmbeddedJob(std::unique_ptr<State> state) : state_(std::move(state)) {}
EmbeddedJob::~EmbeddedJob() = default;

Result<std::unique_ptr<EmbeddedJob>> EmbeddedJob::Create(const std::string& text, const EmbedOptions& options) {
  JobFileOptions file_options;
  file_options.overrides = options.overrides;
  auto planned = PlanJobText("job", text, file_options, InputCheck::kFiles);
  if (!planned) {
    std::string messages;
    for (const Error& error : planned.error()) messages += (messages.empty() ? "" : "\n") + error.ToString();
    return ConfigError(std::move(messages));
  }
  auto state = std::make_unique<State>();
  state->state_dir = options.state_dir;
  state->job = std::move(*planned);
  const JobFile& file = state->job.file;
  for (const SourceDeclaration& source : file.sources) {
    if (source.connector != SourceConnector::kMemory) continue;
    state->feeds[source.name] = std::make_shared<MemoryFeed>(source.MakeSchema(), source.partitions);
  }
  for (const SinkDeclaration& sink : file.sinks) {
    if (sink.connector == SinkConnector::kMemory) state->results[sink.name] = std::make_shared<MemoryResult>();
  }
  JobOptions job_options = MakeJobOptions(file, options.state_dir);
  job_options.clock = options.clock;
  job_options.check_operators = options.check_operators;
  state->running =
      std::make_unique<RunningJob>(state->job, WireOptions{state->feeds, state->results}, std::move(job_options));
  return std::unique_ptr<EmbeddedJob>(new EmbeddedJob(std::move(state)));
}

MemoryFeed& EmbeddedJob::feed(std::string_view source) {
  const auto found = state_->feeds.find(std::string(source));
  WEIR_CHECK(found != state_->feeds.end());
  return *found->second;
}

const MemoryResult& EmbeddedJob::result(std::string_view sink) const {
  const auto found = state_->results.find(std::string(sink));
  WEIR_CHECK(found != state_->results.end());
  return *found->second;
}

Status EmbeddedJob::Start() {
  if (state_->state_dir.empty()) return state_->running->Start();
  const std::string identity = JobIdentity(state_->job, false);
  WEIR_TRY(CheckJobIdentity(state_->state_dir, identity));
  WEIR_TRY(state_->running->Start());
  return WriteJobIdentity(state_->state_dir, identity);
}
Status EmbeddedJob::WaitUntilIdle() { return state_->running->WaitUntilIdle(); }
Status EmbeddedJob::Checkpoint() { return state_->running->Checkpoint(); }
void EmbeddedJob::Crash() { state_->running->Crash(); }

Status EmbeddedJob::Finish() {
  for (const auto& [name, feed] : state_->feeds) feed->End();
  const Result<JobEnd> end = state_->running->Wait();
  if (!end) return end.error();
  return {};
}

JobFigures EmbeddedJob::Figures() const { return state_->running->Figures(); }

Result<Batch> MakeRow(const Schema& schema, const std::vector<std::string>& values, RowKind kind) {
  if (values.size() != schema.size()) {
    return DataError(fmt::format("a row of {} values for {} columns", values.size(), schema.size()));
  }
  BatchBuilder builder(std::make_shared<Schema>(schema));
  for (size_t i = 0; i < values.size(); ++i) {
    const DataType& type = schema[i].type;
    ReplayJson value;
    value.text = values[i];
    const bool is_null = values[i] == "NULL";
    value.kind = is_null                           ? ReplayJson::Kind::kNull
                 : type.kind == TypeKind::kBoolean ? ReplayJson::Kind::kBool
                 : type.IsNumeric()                ? ReplayJson::Kind::kNumber
                                                   : ReplayJson::Kind::kString;
    value.boolean = values[i] == "true";
    const Status appended = AppendReplayValue(value, builder.column(i));
    if (!appended) return DataError(fmt::format("column {}: {}", schema[i].name, appended.error().message));
  }
  builder.FinishRow(kind);
  return builder.Build();
}

}  // namespace weir
