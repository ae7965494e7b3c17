// State goes with its windows: half an hour of event time with ever new keys, and what the operators keep after each
// minute.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "jobs/embed.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

constexpr Micros kSecond = 1'000'000;
constexpr int kMinutes = 30;
constexpr int kRowsASecond = 10;

const char* const kJob = R"(
name: freed
options: {parallelism: 2}
sources:
  orders: {connector: memory, columns: {id: bigint, user_id: bigint, ts: timestamp(3)},
           event_time: {column: ts, watermark: 5s}}
  visits: {connector: memory, columns: {id: bigint, user_id: bigint, ts: timestamp(3)},
           event_time: {column: ts, watermark: 5s}}
sinks:
  minutes: {connector: blackhole}
  slides: {connector: blackhole}
  attributed: {connector: blackhole}
  sessions: {connector: blackhole}
queries:
  - INSERT INTO minutes SELECT user_id, window_end, count(*) AS n, count(DISTINCT id) AS ids
    FROM TUMBLE(orders, ts, INTERVAL '1' MINUTE) GROUP BY user_id, window_start, window_end
  - INSERT INTO slides SELECT user_id, window_end, count(*) AS n
    FROM HOP(orders, ts, INTERVAL '30' SECOND, INTERVAL '2' MINUTE) GROUP BY user_id, window_start, window_end
  - INSERT INTO attributed SELECT o.id, v.id AS visit FROM orders o JOIN visits v
    ON o.user_id = v.user_id AND v.ts BETWEEN o.ts - INTERVAL '1' MINUTE AND o.ts
  - INSERT INTO sessions SELECT user_id, window_end, count(*) AS n
    FROM SESSION(visits, ts, INTERVAL '30' SECOND, user_id) GROUP BY user_id, window_start, window_end
)";

// Rows of one minute; a user comes for a second and never again.
void PushMinute(MemoryFeed& feed, int minute) {
  BatchBuilder builder(std::make_shared<Schema>(feed.schema()));
  for (int second = 60 * minute; second < 60 * (minute + 1); ++second) {
    for (int i = 0; i < kRowsASecond; ++i) {
      builder.column(0).AppendInt(second * kRowsASecond + i);
      builder.column(1).AppendInt(second);
      builder.column(2).AppendInt(second * kSecond);
      builder.FinishRow(RowKind::kInsert);
    }
  }
  feed.Push(builder.Build());
}

struct Largest {
  int64_t rows = 0;
  int64_t bytes = 0;
};

// By operator, of all parts but the record of the watermark.
void Note(const JobFigures& figures, std::map<std::string, Largest>& largest) {
  for (const OperatorFigures& op : figures.operators) {
    if (op.kind != "aggregate" && op.kind != "join") continue;
    int64_t rows = 0;
    for (const StateSize& size : op.state) rows += size.part == "watermark" ? 0 : size.rows;
    Largest& so_far = largest[op.id];
    so_far.rows = std::max(so_far.rows, rows);
    so_far.bytes = std::max(so_far.bytes, op.state_bytes);
  }
}

void ExpectFlat(const std::string& options) {
  SCOPED_TRACE(options);
  const testing::TemporaryFolder folder;
  auto created =
      EmbeddedJob::Create(kJob, {.state_dir = folder.path(), .overrides = {options}, .check_operators = true});
  ASSERT_TRUE(created) << created.error().ToString();
  EmbeddedJob& job = **created;
  ASSERT_TRUE(job.Start());
  std::map<std::string, Largest> first, second;
  for (int minute = 0; minute < kMinutes; ++minute) {
    for (const char* source : {"orders", "visits"}) PushMinute(job.feed(source), minute);
    ASSERT_TRUE(job.WaitUntilIdle());
    ASSERT_TRUE(job.Checkpoint());
    Note(job.Figures(), minute < kMinutes / 2 ? first : second);
  }
  EXPECT_EQ(second.size(), 4u);
  for (const auto& [id, largest] : second) {
    EXPECT_GT(largest.rows, 0) << id;
    EXPECT_LE(largest.rows, first[id].rows * 6 / 5) << id;
    EXPECT_LE(largest.bytes, first[id].bytes * 6 / 5) << id;
  }
  ASSERT_TRUE(job.Finish());
  std::map<std::string, Largest> left;
  Note(job.Figures(), left);
  for (const auto& [id, largest] : left) {
    if (id.starts_with("aggregate")) {
      EXPECT_EQ(largest.rows, 0) << id;
    }
  }
}

TEST(StateFreed, TheSecondHalfNeedsNoMoreThanTheFirst) { ExpectFlat("options.state=memory"); }

}  // namespace
}  // namespace weir
