// Broken job files and the exact lines they must give.  One row a kind of mistake.
#include <gtest/gtest.h>

#include "tests/jobs/job_text.h"

namespace weir {
namespace {

struct Broken {
  const char* name;
  const char* text;
  const char* errors;
};

class JobFileErrors : public ::testing::TestWithParam<Broken> {};

TEST_P(JobFileErrors, AreExact) { EXPECT_EQ(ReadErrors(GetParam().text), GetParam().errors); }

const Broken kBroken[] = {
    {"NotYaml", "name: [a, b\noptions: {}\n", "job.yaml:2:8: not valid YAML: end of sequence flow not found\n"},
    {"NotAMap", "- a\n- b\n", "job.yaml:1:1: a job file has the keys name, options, sources, sinks and queries\n"},
    {"Empty", "", "job.yaml:1:1: the job file is empty; a job file has the keys name, options, sources, sinks and queries\n"},
    {"TwoDocuments", "queries: [SELECT 1]\n---\nname: b\n", "job.yaml:3:1: a job file is one YAML document\n"},
    {"Tab", "name: a\noptions:\n\tparallelism: 2\n", "job.yaml:3:1: a tab in the indentation; YAML wants spaces\n"},
    {"KeyTwice", "name: a\nqueries: [q]\nname: b\n",
     "job.yaml:3:1: key name is given twice; the first is in line 1\n"},
    {"NestedKeyTwice", "queries: [q]\noptions: {parallelism: 1, join: auto, parallelism: 2}\n",
     "job.yaml:2:39: key parallelism is given twice; the first is in line 2\n"},
    {"UnknownKey", "queries: [q]\nsource: {}\n",
     "job.yaml:2:1: unknown key source in the job file; did you mean sources?\n"},
    {"UnknownOption", "queries: [q]\noptions:\n  paralelism: 2\n",
     "job.yaml:3:3: unknown key paralelism in options; did you mean parallelism?\n"},
    {"NoQueries", "name: a\n", "job.yaml:1:1: the job file needs queries\n"},
    {"EmptyQueries", "queries:\n", "job.yaml:1:1: queries takes a list: - INSERT INTO sink SELECT ...\n"},
    {"EmptyQuery", "queries:\n  - \"  \"\n", "job.yaml:2:5: the query is empty\n"},
    {"QueryWithoutSql", "queries:\n  - {name: a}\n", "job.yaml:2:5: a query needs sql\n"},
    {"Parallelism", "queries: [q]\noptions: {parallelism: 0}\n",
     "job.yaml:2:24: parallelism: 0 is out of range (1 to 128)\n"},
    {"ParallelismText", "queries: [q]\noptions: {parallelism: two}\n",
     "job.yaml:2:24: parallelism: 'two' is not an integer\n"},
    {"Join", "queries: [q]\noptions: {join: regulr}\n",
     "job.yaml:2:17: join: 'regulr' is none of auto, regular, delta; did you mean regular?\n"},
    {"State", "queries: [q]\noptions: {state: rocksd}\n",
     "job.yaml:2:18: state: 'rocksd' is none of memory, rocksdb; did you mean rocksdb?\n"},
    {"Interval", "queries: [q]\noptions:\n  checkpoint: {interval: 10 seconds, retain: 0}\n",
     "job.yaml:3:26: interval: '10 seconds' is not a duration; write 500ms, 10s, 5m, 1h or 7d\n"
     "job.yaml:3:46: retain: 0 is out of range (1 to 1000)\n"},
    {"Memory", "queries: [q]\noptions: {memory: 4GB}\n",
     "job.yaml:2:19: memory: '4GB' is not a size; write 64KiB, 512MiB or 2GiB\n"},
    {"TimeZone", "queries: [q]\noptions: {time_zone: Mars/Base}\n",
     "job.yaml:2:22: time_zone: 'Mars/Base' is not a time zone; write UTC or Europe/Berlin\n"},
    {"NoConnector", "queries: [q]\nsources:\n  s: {columns: {a: bigint}}\n",
     "job.yaml:3:6: source s needs connector\n"},
    {"Connector", "queries: [q]\nsources:\n  s: {connector: kafak}\n",
     "job.yaml:3:18: connector: 'kafak' is none of kafka, file, generator, memory; did you mean kafka?\n"},
    {"TableSource", "queries: [q]\nsources:\n  s: {connector: table, table: t}\n",
     "job.yaml:3:18: connector: table comes with a later version; a query of this job reads a table by its name\n"},
    {"NoColumns", "queries: [q]\nsources:\n  s: {connector: memory}\n", "job.yaml:3:6: source s needs columns\n"},
    {"Type", "queries: [q]\nsources:\n  s: {connector: memory, columns: {a: bigin, b: \"decimal(60,2)\"}}\n",
     "job.yaml:3:39: column a: 'bigin' is not a type; did you mean bigint?\n"
     "job.yaml:3:49: column b: 'decimal(60,2)' is not a type\n"},
    {"ColumnKey", "queries: [q]\nsources:\n  s: {connector: memory, columns: {a: {type: bigint, pth: x}}}\n",
     "job.yaml:3:54: unknown key pth in column a; did you mean path?\n"},
    {"Unit", "queries: [q]\nsources:\n  s: {connector: memory, columns: {a: {type: bigint, unit: seconds}}}\n",
     "job.yaml:3:60: unit is for timestamps; column a is a bigint\n"},
    {"PrimaryKey", "queries: [q]\nsources:\n  s: {connector: memory, columns: {id: bigint}, primary_key: [idd]}\n",
     "job.yaml:3:63: there is no column idd; did you mean id?\n"},
    {"PrimaryKeyTwice", "queries: [q]\nsources:\n  s: {connector: memory, columns: {id: bigint}, primary_key: [id, id]}\n",
     "job.yaml:3:67: primary_key: column id is given twice\n"},
    {"UpsertWithoutKey", "queries: [q]\nsources:\n  s: {connector: memory, columns: {id: bigint}, changelog: upsert}\n",
     "job.yaml:3:60: changelog: upsert needs a primary_key: rows of one key replace each other\n"},
    {"EventTime",
     "queries: [q]\nsources:\n  s: {connector: memory, columns: {id: bigint}, event_time: {column: id, watermark: soon}}\n",
     "job.yaml:3:70: event_time: column id is a bigint, not a timestamp\n"
     "job.yaml:3:85: watermark: 'soon' is not a duration; write 500ms, 10s, 5m, 1h or 7d\n"},
    {"ForeignKey", "queries: [q]\nsources:\n  s: {connector: memory, columns: {id: bigint}, topic: t}\n",
     "job.yaml:3:49: source s takes no topic\n"},
    {"KafkaNeedsTopic", "queries: [q]\nsources:\n  s: {connector: kafka, brokers: b, columns: {id: bigint}}\n",
     "job.yaml:3:6: source s needs topic\n"},
    {"Start", "queries: [q]\nsources:\n  s: {connector: kafka, brokers: b, topic: t, columns: {id: bigint}, start: timestamp}\n",
     "job.yaml:3:77: start: timestamp needs the time; write {timestamp: 2026-11-01T00:00:00Z}\n"},
    {"KafkaProperty",
     "queries: [q]\nsources:\n  s:\n    connector: kafka\n    brokers: b\n    topic: t\n    columns: {id: bigint}\n"
     "    end: today\n",
     "job.yaml:8:10: end: 'today' is none of latest\n"},
    {"DeadLetter", "queries: [q]\nsources:\n  s: {connector: memory, columns: {id: bigint}, on_error: {dead_letter: d}}\n",
     "job.yaml:3:59: on_error: dead_letter is not in this version yet; fail and skip are\n"},
    {"Kind", "queries: [q]\nsources:\n  s: {connector: generator, kind: order}\n",
     "job.yaml:3:35: kind: there is no generator 'order'; did you mean orders?\n"},
    {"NoStream", "queries: [q]\nsources:\n  s: {connector: generator, kind: nexmark}\n",
     "job.yaml:3:35: kind: nexmark has three streams; write stream: person, auction or bid\n"},
    {"Stream", "queries: [q]\nsources:\n  s: {connector: generator, kind: nexmark, stream: bids}\n",
     "job.yaml:3:52: stream: nexmark has no 'bids'; there are person, auction and bid; did you mean bid?\n"},
    {"ForeignStream", "queries: [q]\nsources:\n  s: {connector: generator, kind: visits, stream: bid}\n",
     "job.yaml:3:51: stream: only kind nexmark has streams\n"},
    {"GeneratorColumn", "queries: [q]\nsources:\n  s: {connector: generator, kind: orders, columns: {order_id: int, x: int}}\n",
     "job.yaml:3:52: the generator's column order_id is a bigint\n"
     "job.yaml:3:52: the generator orders makes no column x\n"},
    {"Table", "queries: [q]\ntables:\n  t: {columns: {a: bigint}, primry_key: [a]}\n",
     "job.yaml:3:29: unknown key primry_key in table t; did you mean primary_key?\n"},
    {"TableEngine",
     "queries: [q]\ntables:\n  t: {columns: {a: bigint}, primary_key: [a], merge_engine: aggregation, ttl: 7d, delete: "
     "ignore}\n",
     "job.yaml:3:61: merge_engine: aggregation comes with a later version; deduplicate is the one there is\n"
     "job.yaml:3:79: ttl is for log tables, which have no primary_key; a row with a key stays until it is deleted\n"
     "job.yaml:3:91: delete: ignore comes with a later version; row is the one there is\n"},
    {"TableIndexes",
     "queries: [q]\ntables:\n  t: {columns: {a: int, b: int, c: bitmap32}, primary_key: [a], "
     "indexes: [[b, a], [a, b], [c], [d]]}\n"
     "  u: {columns: {a: int}, primary_key: [a], indexes: [a]}\n",
     "job.yaml:3:83: indexes: an index of these columns is there already\n"
     "job.yaml:3:91: indexes: column c is a bitmap32, by which rows are not found\n"
     "job.yaml:3:97: there is no column d\n"
     "job.yaml:4:53: indexes takes a list of lists of columns: [[item_id, ds], [shop_id]]\n"},
    {"TableIndexesOfItsKey",
     "queries: [q]\ntables:\n  t: {columns: {a: int, b: int, c: int}, primary_key: [a, b], "
     "indexes: [[b, a], [a], [b], [c, c]]}\n"
     "  u: {columns: {a: int, b: int}, primary_key: [a, b], bucket: {key: [b]}, indexes: [[b], [a]]}\n"
     "  l: {columns: {a: int}, indexes: [[a]]}\n",
     "job.yaml:3:73: indexes: the table finds rows by its primary_key without an index\n"
     "job.yaml:3:81: indexes: the table finds rows by the first columns of its primary_key itself when it is spread by "
     "them; write bucket: {key: [a]}\n"
     "job.yaml:3:95: indexes: column c is given twice\n"
     "job.yaml:4:85: indexes: the table finds rows by its bucket key without an index\n"
     "job.yaml:5:35: indexes is for tables with a primary_key; without one this is a log table, whose rows are only "
     "added\n"},
    {"LogTable",
     "queries: [q]\ntables:\n  t: {columns: {a: int, b: bitmap32}, merge_engine: deduplicate, delete: row, ttl: 0s, "
     "changelog: {retain: 1d}, bucket: {key: [b, c]}}\n",
     "job.yaml:3:53: merge_engine is for tables with a primary_key; without one this is a log table, whose rows are only "
     "added\n"
     "job.yaml:3:74: delete is for tables with a primary_key; without one this is a log table, whose rows are only added\n"
     "job.yaml:3:84: ttl: rows stay for longer than no time\n"
     "job.yaml:3:99: changelog is for tables with a primary_key; the changes of a log table are its rows, and ttl says how "
     "long they stay\n"
     "job.yaml:3:127: bucket: column b is a bitmap32, by which rows are not spread\n"
     "job.yaml:3:131: there is no column c\n"},
    {"LogTableTtl", "queries: [q]\ntables:\n  t: {columns: {a: int}, ttl: 0s, partition: {by: [a]}}\n",
     "job.yaml:3:31: ttl: rows stay for longer than no time\n"
     "job.yaml:3:46: partition comes with a later version; ttl lets old rows go\n"},
    {"TableBucket", "queries: [q]\ntables:\n  t: {columns: {a: int, b: int}, primary_key: [a], bucket: {key: [b], num: 0}}\n",
     "job.yaml:3:66: bucket: column b does not belong to the primary_key, and a row must not change its bucket\n"
     "job.yaml:3:76: num: 0 is out of range (1 to 4096)\n"},
    {"TableColumns",
     "queries: [q]\ntables:\n  t: {columns: {a: {type: int, path: x}, b: bitmap32}, primary_key: [a, b], not_null: [c]}\n",
     "job.yaml:3:32: path is for columns of sources; a column of a table has a type alone\n"
     "job.yaml:3:69: primary_key: column b is a bitmap32, which is no key\n"
     "job.yaml:3:88: there is no column c\n"},
    {"SinkConnector", "queries: [q]\nsinks:\n  s: {path: x}\n", "job.yaml:3:6: sink s needs connector\n"},
    {"ExactlyOnce", "queries: [q]\nsinks:\n  s: {connector: kafka, brokers: b, topic: t, delivery: exactly_once}\n",
     "job.yaml:3:57: delivery: exactly_once needs Kafka transactions, which this version does not have yet; "
     "at_least_once is the default\n"},
    {"FullNeedsKinds", "queries: [q]\nsinks:\n  s: {connector: kafka, brokers: b, topic: t, changelog: full}\n",
     "job.yaml:3:58: changelog: full needs format: changelog_json, which says what a change is\n"},
    {"NameTwice", "queries: [q]\nsources:\n  s: {connector: memory, columns: {a: int}}\nsinks:\n  s: {connector: print}\n",
     "job.yaml:5:3: s is a name in sources already\n"},
    {"ClientProperty",
     "queries: [q]\nsinks:\n  s: {connector: kafka, brokers: b, topic: t, kafka: {no.such: 1, linger.ms: soon}}\n",
     "job.yaml:3:55: No such configuration property: \"no.such\"\n"
     "job.yaml:3:78: linger.ms: Invalid value for configuration property \"queue.buffering.max.ms\"\n"},
    {"VariableOfANumber", "queries: [q]\noptions: {parallelism: \"${NOWHERE}\"}\n",
     "job.yaml:2:24: the environment variable NOWHERE is not set; write ${NOWHERE:-default} to give it a default\n"},
    {"VariableOfAQuery", "queries:\n  - INSERT INTO ${NOWHERE} SELECT 1\n",
     "job.yaml:2:5: the environment variable NOWHERE is not set; write ${NOWHERE:-default} to give it a default\n"},
    {"Variable", "queries: [q]\nsinks:\n  s: {connector: file, path: \"${NOWHERE}\"}\n",
     "job.yaml:3:30: the environment variable NOWHERE is not set; write ${NOWHERE:-default} to give it a default\n"},
    {"ColumnsInCharacters", "queries: [q]\nsinks:\n  \"é\": {connector: prnt}\n",
     "job.yaml:3:20: connector: 'prnt' is none of kafka, file, print, blackhole, memory; did you mean print?\n"},
};

INSTANTIATE_TEST_SUITE_P(All, JobFileErrors, ::testing::ValuesIn(kBroken),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(JobFileErrorsTogether, AllAreReportedInTheOrderOfTheFile) {
  EXPECT_EQ(ReadErrors(R"(name: a
options: {joins: auto}
sources:
  s: {connector: memory, columns: {a: bigit}}
sinks:
  out: {connector: fil}
queries: []
)"),
            "job.yaml:2:11: unknown key joins in options; did you mean join?\n"
            "job.yaml:4:39: column a: 'bigit' is not a type; did you mean bigint?\n"
            "job.yaml:6:20: connector: 'fil' is none of kafka, file, print, blackhole, memory; did you mean file?\n"
            "job.yaml:7:10: queries takes a list: - INSERT INTO sink SELECT ...\n");
}

}  // namespace
}  // namespace weir
