#include "jobs/run/running_job.h"

#include <algorithm>

namespace weir {

JobOptions MakeJobOptions(const JobFile& file, std::string state_dir) {
  JobOptions options;
  options.name = file.name;
  options.state_dir = std::move(state_dir);
  options.checkpoint_interval = file.options.checkpoint.interval;
  options.checkpoint_rows = file.options.checkpoint.on_rows;
  options.retain = file.options.checkpoint.retain;
  return options;
}

RunningJob::RunningJob(const PlannedJob& job, WireOptions wire, JobOptions options)
    : job_(job), wire_(std::move(wire)), options_(std::move(options)) {}

RunningJob::~RunningJob() { Crash(); }

Status RunningJob::Start() {
  WEIR_ASSIGN(JobGraph graph, WireJob(job_, wire_));
  WEIR_ASSIGN(std::unique_ptr<Job> job, Job::Create(std::move(graph), options_));
  Job* started = job.get();
  {
    const std::lock_guard lock(mutex_);
    running_ = std::move(job);
  }
  return started->Start();
}

Result<JobEnd> RunningJob::Wait() { return running_->Wait(); }

Status RunningJob::WaitUntilIdle() { return running_->WaitUntilIdle(); }

Status RunningJob::Checkpoint() {
  const auto figures = running_->Checkpoint();
  if (!figures) return figures.error();
  return {};
}

void RunningJob::Crash() {
  std::unique_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    if (!running_) return;
    JobFigures figures = running_->Figures();
    std::vector<CheckpointFigures> checkpoints = std::move(past_.checkpoints);
    checkpoints.insert(checkpoints.end(), figures.checkpoints.begin(), figures.checkpoints.end());
    const Micros first_output = past_.first_output;
    past_ = std::move(figures);
    past_.checkpoints = std::move(checkpoints);
    if (first_output != 0) past_.first_output = first_output;
    job = std::move(running_);
  }
  job->Abort();
}

Status RunningJob::CrashAndRestore() {
  Crash();
  return Start();
}

bool RunningJob::Stop() {
  const std::lock_guard lock(mutex_);
  if (!running_) return false;
  running_->Stop();
  return true;
}

JobFigures RunningJob::Figures() const {
  const std::lock_guard lock(mutex_);
  if (!running_) return past_;
  JobFigures figures = running_->Figures();
  figures.checkpoints.insert(figures.checkpoints.begin(), past_.checkpoints.begin(), past_.checkpoints.end());
  if (past_.first_output != 0) figures.first_output = past_.first_output;
  return figures;
}

}  // namespace weir
