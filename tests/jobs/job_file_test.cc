#include "jobs/job_file/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/jobs/job_text.h"

namespace weir {
namespace {

using ::testing::ElementsAre;

constexpr const char* kFull = R"(name: attribution
options:
  parallelism: 2
  join: regular
  state: memory
  checkpoint: {interval: 10s, retain: 3, on_rows: 500}
  memory: 4GiB
  redo_bytes: 64MiB
  redo_rows: 1000
  log_level: warn
  allowed_lateness: 2s
  time_zone: Europe/Berlin
  agg_phase_strategy: one_phase
  mini_batch: {allow_latency: 200ms, size: 100}
sources:
  orders:
    connector: kafka
    brokers: ${BROKERS:-127.0.0.1:9092}
    topic: ${TOPIC}
    start: {timestamp: 2026-11-01T00:00:00Z}
    end: latest
    format: json
    typing: lenient
    on_error: skip
    columns: {id: {type: bigint, path: order.id}, "at": {type: timestamp(3), unit: seconds}, k: {type: string, metadata: key}, n: {type: int, default: 7}}
    primary_key: [id]
    event_time: {column: at, watermark: 5s, idle_timeout: 30s, emit: every_row}
    connect_timeout: 3s
    lost_data: skip
  visits: {connector: generator, kind: visits, rows: 10, rate: 5, seed: 9, users: 3, days: 2, out_of_orderness: 1s, partitions: 6}
sinks:
  attributed: {connector: kafka, brokers: b, topic: t, format: changelog_json, key: [id]}
  files: {connector: file, path: out}
queries:
  - INSERT INTO files SELECT * FROM orders
  - {sql: INSERT INTO files SELECT * FROM visits, name: second, allowed_lateness: 1s}
)";

TEST(JobFile, TakesEveryOption) {
  const JobFile file = ReadSound(kFull);
  EXPECT_EQ(file.name, "attribution");
  EXPECT_EQ(file.options.parallelism, 2);
  EXPECT_EQ(file.options.join, JoinOption::kRegular);
  EXPECT_EQ(file.options.checkpoint.interval, 10'000'000);
  EXPECT_EQ(file.options.checkpoint.retain, 3);
  EXPECT_EQ(file.options.checkpoint.on_rows, 500);
  EXPECT_EQ(file.options.memory, int64_t{4} << 30);
  EXPECT_EQ(file.options.redo_bytes, int64_t{64} << 20);
  EXPECT_EQ(file.options.redo_rows, 1000);
  EXPECT_EQ(file.options.log_level, "warn");
  EXPECT_EQ(file.options.allowed_lateness, 2'000'000);
  EXPECT_EQ(file.options.time_zone, "Europe/Berlin");
  EXPECT_FALSE(file.options.two_phase);
  EXPECT_EQ(file.options.mini_batch, (MiniBatch{100, 200'000}));
}

TEST(JobFile, TakesEverythingOfAKafkaSource) {
  const JobFile file = ReadSound(kFull);
  const SourceDeclaration& orders = *file.FindSource("orders");
  EXPECT_EQ(orders.brokers, "127.0.0.1:9092");
  EXPECT_EQ(orders.topic, "from_environment");
  EXPECT_EQ(orders.start.kind, KafkaStart::Kind::kTimestamp);
  EXPECT_EQ(orders.start.timestamp_ms, 1793491200000);
  EXPECT_TRUE(orders.bounded);
  EXPECT_TRUE(orders.skip_bad_rows);
  EXPECT_EQ(orders.typing, Typing::kLenient);
  EXPECT_EQ(orders.changelog, ChangelogMode::kUpsert);
  EXPECT_THAT(orders.primary_key, ElementsAre(0));
  EXPECT_THAT(orders.columns[0].path, ElementsAre("order", "id"));
  EXPECT_EQ(orders.columns[1].unit, TimeUnit::kSeconds);
  EXPECT_EQ(orders.columns[2].metadata, Metadata::kKey);
  EXPECT_EQ(orders.columns[3].default_value, "7");
  EXPECT_EQ(orders.event_time->column, 1);
  EXPECT_EQ(orders.event_time->watermark, 5'000'000);
  EXPECT_EQ(orders.event_time->idle_timeout, 30'000'000);
  EXPECT_TRUE(orders.event_time->every_row);
  EXPECT_EQ(orders.connect_timeout, 3'000'000);
  EXPECT_FALSE(orders.lost_data_fails);
}

TEST(JobFile, GeneratorsBringTheirColumns) {
  const JobFile file = ReadSound(kFull);
  const SourceDeclaration& visits = *file.FindSource("visits");
  EXPECT_EQ(visits.generator.rows, 10);
  EXPECT_EQ(visits.generator.rate, 5);
  EXPECT_EQ(visits.generator.seed, 9U);
  EXPECT_EQ(visits.generator.partitions, 6);
  EXPECT_EQ(visits.columns.size(), 6U);
  EXPECT_THAT(visits.generator_columns, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(visits.changelog, ChangelogMode::kAppend);
}

TEST(JobFile, HasDefaults) {
  const JobFile file = ReadSound(
      "sources:\n  s: {connector: memory, columns: {a: bigint}}\n"
      "sinks:\n  k: {connector: kafka, brokers: b, topic: t}\n  f: {connector: file, path: p}\nqueries: [q]\n");
  EXPECT_EQ(file.name, "job");
  EXPECT_GE(file.options.parallelism, 1);
  EXPECT_EQ(file.options.join, JoinOption::kAuto);
  EXPECT_FALSE(file.options.checkpoint.interval.has_value());
  EXPECT_EQ(file.options.checkpoint.retain, 2);
  EXPECT_EQ(file.options.time_zone, "UTC");
  EXPECT_TRUE(file.options.two_phase);
  EXPECT_EQ(file.options.mini_batch, MiniBatch{});
  EXPECT_EQ(file.sources[0].partitions, 1);
  EXPECT_FALSE(file.sources[0].skip_bad_rows);
  EXPECT_EQ(file.sources[0].typing, Typing::kStrict);
  EXPECT_TRUE(file.sinks[0].upsert);
  EXPECT_EQ(file.sinks[0].format, FormatKind::kJson);
  EXPECT_EQ(file.sinks[1].format, FormatKind::kChangelogJson);
}

TEST(JobFile, KeyDefaultsFollowTheFormat) {
  const JobFile file = ReadSound(
      "sources:\n  s: {connector: memory, format: changelog_json, columns: {a: bigint}, primary_key: a}\n"
      "  t: {connector: memory, columns: {a: bigint}, primary_key: [a], changelog: append}\n"
      "sinks:\n  k: {connector: kafka, brokers: b, topic: t, format: changelog_json}\nqueries: [q]\n");
  EXPECT_EQ(file.sources[0].changelog, ChangelogMode::kFull);
  EXPECT_EQ(file.sources[1].changelog, ChangelogMode::kAppend);
  EXPECT_FALSE(file.sinks[0].upsert);
}

TEST(JobFile, IntervalOffMeansNone) {
  EXPECT_FALSE(ReadSound("queries: [q]\noptions: {checkpoint: {interval: off}}\n").options.checkpoint.interval);
}

TEST(Overrides, SetValuesOfTheTree) {
  const std::string text =
      "queries: [q]\nsources:\n  a: {connector: generator, kind: orders, users: 5}\n"
      "  b: {connector: generator, kind: visits, users: 6}\n  c: {connector: memory, columns: {x: int}}\n";
  EXPECT_EQ(ReadSound(text, {"options.parallelism=7"}).options.parallelism, 7);
  EXPECT_EQ(ReadSound(text, {"options.checkpoint.interval=1s"}).options.checkpoint.interval, 1'000'000);
  EXPECT_EQ(ReadSound(text, {"options.checkpoint={interval: 2s}"}).options.checkpoint.interval, 2'000'000);
  EXPECT_EQ(ReadSound(text, {"sources.a.rows=3"}).sources[0].generator.rows, 3);
  EXPECT_EQ(ReadSound(text, {"name=other"}).name, "other");
  const JobFile all = ReadSound(text, {"sources.*.users=50"});
  EXPECT_EQ(all.sources[0].generator.users, 50);
  EXPECT_EQ(all.sources[1].generator.users, 50);
}

TEST(Overrides, RefuseWrongPaths) {
  const std::string text = "queries: [q]\nsources:\n  orders: {connector: generator, kind: orders}\n";
  EXPECT_EQ(ReadErrors(text, {"sources.order.rows=3"}),
            "--set sources.order.rows=3: the job file has no order; did you mean orders?\n");
  EXPECT_EQ(ReadErrors(text, {"options.paralelism=3"}),
            "--set options.paralelism=3: unknown key paralelism in options; did you mean parallelism?\n");
  EXPECT_EQ(ReadErrors(text, {"options.parallelism"}),
            "--set options.parallelism: expected PATH=VALUE, for example options.parallelism=4\n");
  EXPECT_EQ(ReadErrors(text, {"sources.*.usrs=3"}), "--set sources.*.usrs=3: none of them has the key usrs\n");
  EXPECT_EQ(ReadErrors(text, {"options.parallelism=x"}),
            "--set options.parallelism=x: parallelism: 'x' is not an integer\n");
}

}  // namespace
}  // namespace weir
