// State goes with its windows: the curve of what a long job keeps, and whether it is flat.
//
//   state_curve [MINUTES] [SPEED] [ROWS] [STATE]
//
// 30 minutes of event time, 100 times as fast, 250 rows of each of the two sources a second of event time, state in memory
// (or rocksdb).
//
// One job: TUMBLE windows of a minute, an interval join of orders with the visits of the minute before, and SESSION
// windows with a gap of 30 seconds.  After each minute of event time a checkpoint is taken, at which the tasks say how
// large their state is, and a line is printed: bytes and rows of each of the three, of all, and the memory of the
// process.  Flat: what the second half of the run needs at most is within 20 % of what the first half did.  Exit code 1
// when it is not.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "jobs/embed.h"

namespace weir {
namespace {

constexpr double kFlat = 1.2;

struct CurveOptions {
  int minutes = 30;
  int speed = 100;
  int64_t rows = 250;  // of each source, a second of event time
  std::string state = "memory";
};

// The sources spread their rows over a whole day; the run ends long before that.
std::string JobText(const CurveOptions& options) {
  const std::string source = fmt::format(
      "connector: generator, days: 1, users: 20000, rows: {}, rate: {}, event_time: {{column: ts, watermark: 5s}}",
      options.rows * 86'400, options.rows * options.speed);
  return fmt::format(R"(
name: state-curve
options: {{parallelism: 2, state: {}}}
sources:
  orders: {{kind: orders, {}}}
  visits: {{kind: visits, {}}}
sinks:
  minutes: {{connector: blackhole}}
  attributed: {{connector: blackhole}}
  sessions: {{connector: blackhole}}
queries:
  - INSERT INTO minutes SELECT user_id, window_end, count(*) AS n, sum(amount) AS total
    FROM TUMBLE(orders, ts, INTERVAL '1' MINUTE) GROUP BY user_id, window_start, window_end
  - INSERT INTO attributed SELECT o.order_id, v.channel FROM orders o JOIN visits v
    ON o.user_id = v.user_id AND v.ts BETWEEN o.ts - INTERVAL '1' MINUTE AND o.ts
  - INSERT INTO sessions SELECT user_id, window_end, count(*) AS n
    FROM SESSION(visits, ts, INTERVAL '30' SECOND, user_id) GROUP BY user_id, window_start, window_end
)",
                     options.state, source, source);
}

void Must(const Status& status) {
  if (status) return;
  fmt::print(stderr, "{}\n", status.error().ToString());
  std::exit(2);
}

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

struct Sample {
  std::vector<int64_t> figures;  // as kNames
};
const std::vector<std::string> kNames = {"TUMBLE bytes", "TUMBLE rows", "SESSION bytes", "SESSION rows", "join bytes",
                                         "join rows",    "all bytes",   "all rows",      "RSS bytes"};

// The two aggregates come in the order of their queries.
Sample Measure(const JobFigures& figures) {
  Sample sample{std::vector<int64_t>(kNames.size(), 0)};
  size_t aggregates = 0;
  for (const OperatorFigures& op : figures.operators) {
    if (op.kind != "aggregate" && op.kind != "join") continue;
    const size_t at = op.kind == "join" ? 4 : 2 * aggregates++;
    int64_t rows = 0;
    for (const StateSize& part : op.state) rows += part.rows;
    sample.figures[at] += op.state_bytes;
    sample.figures[at + 1] += rows;
    sample.figures[6] += op.state_bytes;
    sample.figures[7] += rows;
  }
  sample.figures[8] = ResidentBytes();
  return sample;
}

// Waits until both sources have made the rows of so many minutes.
void WaitForMinute(const EmbeddedJob& job, const CurveOptions& options, int minute) {
  // In the middle of a minute, so that each line sees the windows of a minute at the same age.
  const int64_t wanted = (int64_t{minute} * 60 - 30) * options.rows;
  const auto there = [&] {
    const JobFigures figures = job.Figures();
    return std::all_of(figures.sources.begin(), figures.sources.end(),
                       [&](const SourceFigures& source) { return source.records_in >= wanted; });
  };
  while (!there()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

bool IsFlat(const std::vector<Sample>& samples) {
  bool flat = true;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  for (size_t i = 0; i < kNames.size(); ++i) {
    const auto largest = [&](auto from, auto to) {
      int64_t most = 0;
      for (auto sample = from; sample != to; ++sample) most = std::max(most, sample->figures[i]);
      return most;
    };
    const int64_t first = largest(samples.begin(), middle);
    const int64_t second = largest(middle, samples.end());
    if (static_cast<double>(second) <= kFlat * static_cast<double>(first)) continue;
    fmt::print("not flat: {} {} in the first half, {} in the second\n", kNames[i], first, second);
    flat = false;
  }
  return flat;
}

int Run(const CurveOptions& options) {
  auto created = EmbeddedJob::Create(JobText(options), {.state_dir = {}, .overrides = {}, .check_operators = false});
  if (!created) Must(created.error());
  EmbeddedJob& job = **created;
  Must(job.Start());
  fmt::print("| minute | {} | late rows |\n{}|\n", fmt::join(kNames, " | "),
             std::string("|---") + "|---|---|---|---|---|---|---|---|---|---");
  std::vector<Sample> samples;
  for (int minute = 1; minute <= options.minutes; ++minute) {
    WaitForMinute(job, options, minute);
    Must(job.Checkpoint());
    const JobFigures figures = job.Figures();
    samples.push_back(Measure(figures));
    fmt::print("| {} | {} | {} |\n", minute, fmt::join(samples.back().figures, " | "), figures.late_rows);
    std::fflush(stdout);
  }
  job.Crash();
  const bool flat = IsFlat(samples);
  fmt::print("{}: the second half needs {} 20 % more than the first\n", flat ? "flat" : "NOT FLAT",
             flat ? "at most" : "over");
  return flat ? 0 : 1;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  weir::CurveOptions options;
  if (argc > 1) options.minutes = std::max(2, std::atoi(argv[1]));
  if (argc > 2) options.speed = std::max(1, std::atoi(argv[2]));
  if (argc > 3) options.rows = std::max(1, std::atoi(argv[3]));
  if (argc > 4) options.state = argv[4];
  return weir::Run(options);
}
