// A restart of a table alone: rows in its logs and none of them folded, as a job that is killed just below its bound on
// redo leaves it.
//
//   redo_bench [ROWS] [TASKS] [FOLDER]     5,000,000 rows, 2 tasks, a folder below the temporary one
//
// Writes the log entries of so many rows, each of a key of its own, and opens the table again: the time until every row is
// in memory, as the table's operator is restored, a thread a task; again with the logs out of the page cache where the kernel
// allows it.  Prints wall clock and CPU.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

#include "engine/base/check.h"
#include "engine/data/bucket.h"
#include "engine/data/row_codec.h"
#include "engine/runtime/scheduler.h"
#include "engine/state/key_index.h"
#include "engine/state/keyed_state.h"
#include "engine/state/record_list.h"
#include "tables/row_groups.h"
#include "tables/table_set.h"

namespace weir {
namespace {

constexpr int kBuckets = 16;

void Must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().ToString().c_str());
  std::exit(1);
}
template <class T>
T Must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().ToString().c_str());
  std::exit(1);
}

class PositionWriter final : public SnapshotWriter {
 public:
  explicit PositionWriter(Manifest& manifest) : manifest_(manifest) {}
  Epoch epoch() const override { return manifest_.epoch; }
  void Put(std::string) override {}
  void WriteLater(std::function<Status(File&)>) override {}
  void FinishLater(std::function<Status()> work) override { Must(work()); }
  void PutCommitData(std::string) override {}
  void PutTablePosition(const std::string& table, int bucket, const LogPosition& end) override {
    manifest_.tables[table].resize(kBuckets);
    manifest_.tables[table][static_cast<size_t>(bucket)] = end;
  }
  void PutCounter(const std::string& name, int64_t value) override { manifest_.counters[name] += value; }

 private:
  Manifest& manifest_;
};

// The orders of the attribution job: a key of a user, a day and a number, an amount and a time.
const SchemaPtr kOrders = std::make_shared<const Schema>(std::vector<Field>{{"order_id", BigintType()},
                                                                             {"user_id", BigintType()},
                                                                             {"ds", StringType()},
                                                                             {"amount", BigintType()},
                                                                             {"ts", BigintType()}});

Batch Orders(int64_t from, size_t rows) {
  BatchBuilder builder(kOrders);
  for (size_t i = 0; i < rows; ++i) {
    const int64_t id = from + static_cast<int64_t>(i);
    const auto mixed = static_cast<uint64_t>(id) * 0x9e3779b97f4a7c15;
    builder.column(0).AppendInt(id);
    builder.column(1).AppendInt(static_cast<int64_t>(mixed >> 44));
    builder.column(2).AppendText("2026-11-0" + std::to_string(1 + (mixed >> 20) % 7));
    builder.column(3).AppendInt(static_cast<int64_t>((mixed >> 8) % 100'000));
    builder.column(4).AppendInt(1'793'000'000'000'000 + id * 1000);
  }
  builder.FinishRows(rows, RowKind::kInsert);
  return builder.Build();
}

size_t NoUniquePart(const void*, const Record&) { return 0; }

// The rows of the table in one task, as its operator keeps them.
struct Rows {
  Rows(const std::shared_ptr<Table>& table, int task, int parallelism)
      : state("table", {{"rows"}, {"keys", false}}, false, {}),
        index(&state.arena(), sizeof(RowGroup), KeyIndex::KeySize::kInCount),
        lists(&state.arena(), true, &NoUniquePart, nullptr),
        groups(&state, &index, 2, {{table, &lists, 1, &NoUniquePart, nullptr}}, false) {
    context.task = task;
    context.parallelism = parallelism;
    context.metrics = &metrics;
    context.wake = [] {};
    Must(state.Open(context));
    Must(groups.Open(context));
  }

  OperatorMetrics metrics;
  OperatorContext context;
  KeyedState state;
  KeyIndex index;
  RecordLists lists;
  RowGroups groups;
};

struct OpenTable {
  OpenTable(const std::string& folder, int tasks, const Manifest* restored, Scheduler& io)
      : set(TableSetOptions{int64_t{8} << 30, int64_t{8} << 30, int64_t{1} << 40}), table(set.Add({"orders", kBuckets})) {
    Must(set.Open(folder, restored, io, {[] {}, [] {}, [](const Error& error) { Must(Status(error)); }}));
    for (int task = 0; task < tasks; ++task) rows.push_back(std::make_unique<Rows>(table, task, tasks));
  }
  ~OpenTable() {
    rows.clear();
    set.Close();
  }

  TableSet set;
  std::shared_ptr<Table> table;
  std::vector<std::unique_ptr<Rows>> rows;
};

double Cpu() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void DropFromPageCache(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
}

void Restart(const char* name, const std::string& folder, int tasks, const Manifest& manifest, int64_t rows, Scheduler& io) {
  const double cpu = Cpu();
  const auto start = std::chrono::steady_clock::now();
  OpenTable open(folder, tasks, &manifest, io);
  {
    std::vector<std::jthread> threads;
    for (const auto& task : open.rows) threads.emplace_back([&task] { Must(task->groups.Restore()); });
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double spent = Cpu() - cpu;
  size_t keys = 0;
  for (const auto& task : open.rows) keys += task->index.size();
  WEIR_CHECK_EQ(static_cast<int64_t>(keys), rows);
  std::printf("%s: %.2f s, %.2f CPU s, %.3f CPU us a row\n", name, wall, spent, spent * 1e6 / static_cast<double>(rows));
}

Manifest Write(int64_t rows, const std::string& folder, Scheduler& io) {
  Manifest manifest;
  manifest.epoch = 1;
  OpenTable open(folder, 1, nullptr, io);
  const RowCodec key_codec({BigintType(), StringType(), BigintType()}, RowCodec::Form::kKey);
  const RowCodec row_codec({BigintType(), BigintType(), StringType(), BigintType(), BigintType()}, RowCodec::Form::kExact);
  EncodedRows keys, encoded;
  std::vector<uint16_t> buckets;
  for (int64_t from = 0; from < rows; from += static_cast<int64_t>(kBatchRows)) {
    const Batch batch = Orders(from, static_cast<size_t>(std::min<int64_t>(rows - from, kBatchRows)));
    BucketRows(batch, std::vector<int>{1}, kBuckets, buckets);
    key_codec.Encode(batch, std::vector<int>{1, 2, 0}, keys);
    row_codec.Encode(batch, std::vector<int>{0, 1, 2, 3, 4}, encoded);
    for (size_t row = 0; row < batch.rows(); ++row) {
      LogEntry entry;
      entry.group = keys.row(row);
      entry.rest = encoded.row(row);
      Must(open.table->Append(buckets[row], entry));
    }
  }
  PositionWriter writer(manifest);
  std::vector<int> all;
  for (int bucket = 0; bucket < kBuckets; ++bucket) all.push_back(bucket);
  Must(open.table->Snapshot(all, rows, writer));
  std::printf("%lld rows, %.0f MB of logs\n", static_cast<long long>(rows),
              static_cast<double>(open.set.Figures().front().log_bytes) / 1e6);
  return manifest;
}

void Run(int64_t rows, int tasks, const std::string& folder) {
  Scheduler io(2);
  const Manifest manifest = Write(rows, folder, io);
  std::printf("%d tasks\n", tasks);
  for (int i = 0; i < 3; ++i) Restart("logs in the page cache", folder, tasks, manifest, rows, io);
  DropFromPageCache(folder);
  Restart("logs from the disk", folder, tasks, manifest, rows, io);
  io.Shutdown();
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 5'000'000;
  const int tasks = argc > 2 ? std::atoi(argv[2]) : 2;
  const std::string folder =
      argc > 3 ? argv[3] : (std::filesystem::temp_directory_path() / ("weir-redo-bench-" + std::to_string(::getpid()))).string();
  if (rows < 1 || tasks < 1 || tasks > 16) {
    std::fprintf(stderr, "redo_bench [ROWS] [TASKS, at most 16] [FOLDER]\n");
    return 2;
  }
  weir::Run(rows, tasks, folder);
  std::filesystem::remove_all(folder);
  return 0;
}
