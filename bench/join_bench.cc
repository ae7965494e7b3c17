// The regular join alone, on the shape of the attribution job: 1,000,000 orders and 2,000,000 visits of 200,000 users
// over 7 days, joined on (user_id, ds), from batches in memory.  Prints CPU microseconds per record, state bytes, the
// size and the pause of a snapshot, and the time of a restore.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "operators/join/join.h"

namespace weir {
namespace {

double CpuMicros() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double WallMicros() { return static_cast<double>(SystemClock().Monotonic()); }

class CountingOutput final : public Output {
 public:
  void Emit(Batch batch) override { rows += batch.rows(); }
  bool HasRoom() const override { return true; }
  size_t rows = 0;
};

class StringWriter final : public SnapshotWriter {
 public:
  Epoch epoch() const override { return 1; }
  void Put(std::string bytes) override { content += bytes; }
  void WriteLater(std::function<Status(File&)> write) override { later = std::move(write); }
  void FinishLater(std::function<Status()>) override {}
  void PutCommitData(std::string) override {}

  struct StringFile final : File {
    explicit StringFile(std::string& to) : content(to) {}
    Status Append(std::string_view bytes) override {
      content += bytes;
      return {};
    }
    std::string& content;
  };
  std::string content;
  std::function<Status(File&)> later;
};

class StringReader final : public SnapshotReader {
 public:
  explicit StringReader(std::string content) : content_(std::move(content)), parts_{{0, 1, "memory", ""}} {}
  Epoch epoch() const override { return 1; }
  const std::vector<Part>& parts() const override { return parts_; }
  Result<std::string> Read(const Part&) const override { return content_; }

 private:
  std::string content_;
  std::vector<Part> parts_;
};

SchemaPtr OrderSchema() {
  return std::make_shared<const Schema>(std::vector<Field>{{"order_id", BigintType()},
                                                           {"user_id", BigintType()},
                                                           {"ds", StringType()},
                                                           {"amount", DecimalType(12, 2)},
                                                           {"ts", TimestampType()}});
}
SchemaPtr VisitSchema() {
  return std::make_shared<const Schema>(std::vector<Field>{{"visit_id", BigintType()},
                                                           {"user_id", BigintType()},
                                                           {"ds", StringType()},
                                                           {"channel", StringType()},
                                                           {"ts", TimestampType()}});
}

Batch MakeBatch(const SchemaPtr& schema, bool order, int64_t first, std::mt19937_64& random) {
  static const char* const kChannels[] = {"search", "social", "email", "direct", "display"};
  BatchBuilder builder(schema);
  for (int64_t i = 0; i < static_cast<int64_t>(kBatchRows); ++i) {
    const auto day = static_cast<int>(random() % 7);
    builder.column(0).AppendInt(first + i);
    builder.column(1).AppendInt(static_cast<int64_t>(random() % 200000));
    builder.column(2).AppendText("2026-11-0" + std::to_string(day + 1));
    if (order) {
      builder.column(3).AppendInt(static_cast<int64_t>(random() % 100000));
    } else {
      builder.column(3).AppendText(kChannels[random() % 5]);
    }
    builder.column(4).AppendInt(1793491200000000 + (first + i) * 1000);
    builder.FinishRow(RowKind::kInsert);
  }
  return builder.Build();
}

JoinOptions Attribution(ChangelogMode mode) {
  JoinOptions options;
  options.left = {OrderSchema(), {1, 2}, {1, 2, 0}, mode};
  options.right = {VisitSchema(), {1, 2}, {1, 2, 0}, mode};
  options.output_columns = std::vector<int>{1, 2, 0, 3, 8};
  options.schema = std::make_shared<const Schema>(std::vector<Field>{{"user_id", BigintType()},
                                                                     {"ds", StringType()},
                                                                     {"order_id", BigintType()},
                                                                     {"amount", DecimalType(12, 2)},
                                                                     {"channel", StringType()}});
  return options;
}

void Check(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().ToString().c_str());
  std::exit(1);
}

void Run(const char* name, ChangelogMode mode, size_t scale) {
  std::vector<Batch> orders;
  std::vector<Batch> visits;
  std::mt19937_64 random(1);
  for (size_t i = 0; i < scale; ++i) orders.push_back(MakeBatch(OrderSchema(), true, int64_t(i * kBatchRows), random));
  for (size_t i = 0; i < 2 * scale; ++i) {
    visits.push_back(MakeBatch(VisitSchema(), false, int64_t(i * kBatchRows), random));
  }
  const double records = static_cast<double>(3 * scale * kBatchRows);
  OperatorMetrics metrics;
  OperatorContext context;
  context.metrics = &metrics;
  auto join = std::move(*MakeJoin(Attribution(mode)));
  Check(join->Open(context));
  CountingOutput out;
  const double start = CpuMicros();
  for (size_t i = 0; i < scale; ++i) {
    if (!join->Process(0, orders[i], out)) std::exit(1);
    if (!join->Process(1, visits[2 * i], out) || !join->Process(1, visits[2 * i + 1], out)) std::exit(1);
  }
  const double cpu = CpuMicros() - start;
  int64_t bytes = 0;
  for (const StateSize& size : join->StateSizes()) bytes += size.bytes;
  StringWriter writer;
  const double before = WallMicros();
  Check(join->Snapshot(writer));
  const double pause = WallMicros() - before;
  const double write_start = CpuMicros();
  StringWriter::StringFile file(writer.content);
  Check(writer.later(file));
  const double write = CpuMicros() - write_start;
  const size_t snapshot = writer.content.size();
  const StringReader reader(std::move(writer.content));
  double restore = CpuMicros();
  auto restored = std::move(*MakeJoin(Attribution(mode)));
  Check(restored->Open(context));
  Check(restored->Restore(reader));
  restore = CpuMicros() - restore;
  std::printf(
      "%-8s %.0f records, %zu results: %.3f us/record, state %.1f MB, snapshot %.1f MB, pause %.2f ms, write %.2f s"
      " CPU, restore %.2f s CPU\n",
      name, records, out.rows, cpu / records, static_cast<double>(bytes) / 1e6, static_cast<double>(snapshot) / 1e6,
      pause / 1e3, write / 1e6, restore / 1e6);
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  // Batches of orders; twice as many of visits.
  const size_t scale = argc > 1 ? static_cast<size_t>(std::atoi(argv[1])) : 244;
  weir::Run("append", weir::ChangelogMode::kAppend, scale);
  weir::Run("upsert", weir::ChangelogMode::kUpsert, scale);
  return 0;
}
