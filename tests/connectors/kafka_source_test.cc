#include <gmock/gmock.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "connectors/kafka/options.h"
#include "connectors/kafka/position.h"
#include "tests/connectors/fakes.h"
#include "tests/connectors/kafka_broker.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Row(int id) { return "{\"id\":" + std::to_string(id) + "}"; }

std::vector<std::string> SortedLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t from = 0; from < text.size();) {
    const size_t end = text.find('\n', from);
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class KafkaSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_KAFKA();
    broker.emplace();
    options.name = "s";
    options.brokers = KafkaAddress();
    options.bounded = true;
    AddColumn("id", BigintType());
  }
  void AddColumn(const std::string& name, DataType type, Metadata metadata = Metadata::kNone) {
    SourceColumn column;
    column.name = name;
    column.type = type;
    column.path = {name};
    column.metadata = metadata;
    options.decoder.read.push_back(static_cast<int>(options.decoder.columns.size()));
    options.decoder.columns.push_back(std::move(column));
  }
  std::unique_ptr<Source> Open(const Positions& restored = {}) {
    auto source = MakeKafkaSource(options);
    EXPECT_TRUE(source);
    const Status status = (*source)->Open(Context(), restored);
    EXPECT_TRUE(status) << status.error().ToString();
    return std::move(*source);
  }
  Status OpenStatus(const Positions& restored = {}) { return (*MakeKafkaSource(options))->Open(Context(), restored); }
  SourceContext Context() {
    SourceContext context;
    context.source_name = "s";
    context.clock = &clock;
    context.metrics = &metrics;
    context.wake = [this] {
      std::lock_guard lock(mutex);
      woken = true;
      changed.notify_all();
    };
    return context;
  }
  // Until the end, or until `rows` rows have come.
  Result<SourceState> Drain(Source& source, CollectedSource& out, size_t rows = SIZE_MAX) {
    while (true) {
      WEIR_ASSIGN(const SourceState state, source.Poll(out));
      if (state == SourceState::kEnded || out.Rows() >= rows) return state;
      if (state == SourceState::kRunning) continue;
      std::unique_lock lock(mutex);
      if (!changed.wait_for(lock, std::chrono::seconds(30), [this] { return woken; })) {
        return ConnectorError("the source was not woken");
      }
      woken = false;
    }
  }

  std::optional<KafkaBroker> broker;
  KafkaSourceOptions options;
  SystemClock clock;
  SourceMetrics metrics;
  std::mutex mutex;
  std::condition_variable changed;
  bool woken = false;
};

TEST(KafkaPositionTest, ReadsBackWhatItWrites) {
  EXPECT_EQ((KafkaPosition{7, {}}).ToString(), "7/");
  EXPECT_EQ((KafkaPosition{7, 9}).ToString(), "7/9");
  EXPECT_EQ(KafkaPosition::Parse("7/9")->end, 9);
  EXPECT_FALSE(KafkaPosition::Parse("7/")->end);
  EXPECT_TRUE(KafkaPosition::Parse("9/9")->Ended());
  for (const char* text : {"", "7", "/", "x/", "7/x", "-1/", "7/9/"}) EXPECT_FALSE(KafkaPosition::Parse(text)) << text;
}

TEST(KafkaPropertyTest, ChecksNamesAndKeepsSecrets) {
  EXPECT_TRUE(CheckKafkaProperty("security.protocol", "ssl"));
  EXPECT_THAT(CheckKafkaProperty("no.such.thing", "1").error().message, HasSubstr("no.such.thing"));
  EXPECT_THAT(CheckKafkaProperty("linger.ms", "soon").error().message, HasSubstr("linger.ms"));
  EXPECT_TRUE(IsSecretProperty("sasl.password"));
  EXPECT_FALSE(IsSecretProperty("sasl.username"));
}

TEST_F(KafkaSourceTest, ReadsToTheEndFoundAtTheStart) {
  options.topic = broker->CreateTopic(3);  // partition 2 stays empty
  for (int i = 0; i < 6; ++i) broker->Produce(options.topic, {{Row(i), {}, i % 2, 0}});
  auto source = Open();
  broker->Produce(options.topic, {{Row(100), {}, 0, 0}, {Row(101), {}, 2, 0}});
  EXPECT_EQ(source->CurrentPositions(), (Positions{{"0", "0/3"}, {"1", "0/3"}, {"2", "0/0"}}));
  CollectedSource out;
  EXPECT_EQ(*Drain(*source, out), SourceState::kEnded);
  EXPECT_THAT(SortedLines(out.Text()), ElementsAre("+I 0", "+I 1", "+I 2", "+I 3", "+I 4", "+I 5"));
  EXPECT_EQ(source->CurrentPositions(), (Positions{{"0", "3/3"}, {"1", "3/3"}, {"2", "0/0"}}));
  EXPECT_EQ(out.ended.size(), 3U);
  EXPECT_EQ(metrics.records_in.load(), 6);
  EXPECT_GT(metrics.input_bytes.load(), 0);
  EXPECT_EQ(source->Describe({1, 2}), options.topic + "/1/2");
}

TEST_F(KafkaSourceTest, GoesOnFromRestoredPositionsToTheSameEnd) {
  options.topic = broker->CreateTopic(2);
  for (int i = 0; i < 6; ++i) broker->Produce(options.topic, {{Row(i), {}, i % 2, 0}});
  CollectedSource out;
  EXPECT_EQ(*Drain(*Open({{"0", "2/3"}, {"1", "3/3"}}), out), SourceState::kEnded);
  broker->Produce(options.topic, {{Row(100), {}, 0, 0}});
  EXPECT_EQ(*Drain(*Open({{"0", "2/3"}, {"1", "3/3"}}), out), SourceState::kEnded);
  EXPECT_EQ(out.Text(), "+I 4\n+I 4\n");
}

TEST_F(KafkaSourceTest, IsWokenByMessagesThatComeLater) {
  options.topic = broker->CreateTopic(1);
  options.bounded = false;
  options.start.kind = KafkaStart::Kind::kLatest;
  broker->Produce(options.topic, {{Row(1), {}, 0, 0}});
  auto source = Open();
  CollectedSource out;
  for (int i = 2; i < 5; ++i) {
    broker->Produce(options.topic, {{Row(i), {}, 0, 0}});
    ASSERT_TRUE(Drain(*source, out, static_cast<size_t>(i - 1)));
  }
  EXPECT_EQ(out.Text(), "+I 2\n+I 3\n+I 4\n");
  EXPECT_EQ(source->CurrentPositions(), (Positions{{"0", "4/"}}));
}

TEST_F(KafkaSourceTest, ReadsPartitionsThatAreAddedWhileItRuns) {
  options.topic = broker->CreateTopic(1);
  options.bounded = false;
  options.start.kind = KafkaStart::Kind::kLatest;
  options.client["topic.metadata.refresh.interval.ms"] = "50";
  auto source = Open();
  broker->Grow(options.topic, 3);
  broker->Produce(options.topic, {{Row(1), {}, 2}, {Row(2), {}, 0}, {Row(3), {}, 1}});
  CollectedSource out;
  ASSERT_TRUE(Drain(*source, out, 3));
  EXPECT_EQ(out.Rows(), 3U);
  EXPECT_THAT(source->Partitions(), ElementsAre("0", "1", "2"));
  EXPECT_EQ(source->CurrentPositions(), (Positions{{"0", "1/"}, {"1", "1/"}, {"2", "1/"}}));
  EXPECT_TRUE(source->OnCommit(1, source->CurrentPositions()));
}

TEST_F(KafkaSourceTest, APartitionThatTheCheckpointDoesNotKnowIsReadFromItsStart) {
  options.topic = broker->CreateTopic(2);
  options.bounded = false;
  options.start.kind = KafkaStart::Kind::kLatest;
  broker->Produce(options.topic, {{Row(1), {}, 0}, {Row(2), {}, 1}});
  auto source = Open({{"0", "1/"}});
  CollectedSource out;
  ASSERT_TRUE(Drain(*source, out, 1));
  EXPECT_EQ(source->CurrentPositions(), (Positions{{"0", "1/"}, {"1", "1/"}}));
}

TEST_F(KafkaSourceTest, EndsBehindTransactionMarkersAndReadsCommittedRowsOnly) {
  options.topic = broker->CreateTopic(1);
  broker->ProduceInTransaction(options.topic, {{Row(1), {}, 0, 0}}, true);
  broker->ProduceInTransaction(options.topic, {{Row(2), {}, 0, 0}}, false);
  auto source = Open();
  CollectedSource out;
  EXPECT_EQ(*Drain(*source, out), SourceState::kEnded);
  EXPECT_EQ(out.Text(), "+I 1\n");
  EXPECT_EQ(source->CurrentPositions(), (Positions{{"0", "4/4"}}));
}

TEST_F(KafkaSourceTest, StartsAtATimestampAndAtCommittedOffsets) {
  options.topic = broker->CreateTopic(2);
  options.group = options.topic + "-group";
  for (int i = 0; i < 4; ++i) broker->Produce(options.topic, {{Row(i), {}, 0, 1'700'000'000'000 + i * 1000}});
  options.start = {KafkaStart::Kind::kTimestamp, 1'700'000'002'000};
  auto source = Open();
  CollectedSource out;
  EXPECT_EQ(*Drain(*source, out), SourceState::kEnded);
  EXPECT_EQ(out.Text(), "+I 2\n+I 3\n");
  ASSERT_TRUE(source->OnCommit(1, {{"0", "3/4"}, {"1", "0/0"}}));
  source->Close();
  options.start.kind = KafkaStart::Kind::kCommitted;
  CollectedSource again;
  EXPECT_EQ(*Drain(*Open(), again), SourceState::kEnded);
  EXPECT_EQ(again.Text(), "+I 3\n");
}

TEST_F(KafkaSourceTest, SaysWhenDataHasExpired) {
  options.topic = broker->CreateTopic(1);
  for (int i = 0; i < 6; ++i) broker->Produce(options.topic, {{Row(i), {}, 0, 0}});
  broker->DeleteBefore(options.topic, 0, 4);
  const Status lost = OpenStatus({{"0", "2/6"}});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().where, options.topic + "/0");
  EXPECT_THAT(lost.error().message, HasSubstr("offset 2"));
  EXPECT_THAT(lost.error().message, HasSubstr("begins at 4"));
  EXPECT_THAT(OpenStatus({{"0", "9/12"}}).error().message, HasSubstr("ends at offset 6, before 9"));
  options.lost_data_fails = false;
  CollectedSource out;
  EXPECT_EQ(*Drain(*Open({{"0", "2/6"}}), out), SourceState::kEnded);
  EXPECT_EQ(out.Text(), "+I 4\n+I 5\n");
}

TEST_F(KafkaSourceTest, TombstonesAndMetadata) {
  options.topic = broker->CreateTopic(1);
  AddColumn("k", StringType(), Metadata::kKey);
  AddColumn("at", TimestampType(3), Metadata::kTimestamp);
  AddColumn("o", BigintType(), Metadata::kOffset);
  options.decoder.primary_key = {1};
  options.decoder.upsert = true;
  broker->Produce(options.topic, {{Row(1), "a", 0, 1'700'000'000'000}, {std::nullopt, "a", 0, 1'700'000'000'001}});
  CollectedSource out;
  EXPECT_EQ(*Drain(*Open(), out), SourceState::kEnded);
  ASSERT_EQ(out.Rows(), 2U);
  EXPECT_THAT(out.Text(), HasSubstr("+I 1 'a' 2023-11-14T22:13:20.000 0\n"));
  EXPECT_THAT(out.Text(), HasSubstr("-D NULL 'a'"));
}

TEST_F(KafkaSourceTest, BadRecordsFollowThePolicyAndAreNamed) {
  options.topic = broker->CreateTopic(1);
  broker->Produce(options.topic, {{Row(1), {}, 0, 0}, {"{\"id\":", {}, 0, 0}, {Row(3), {}, 0, 0}});
  CollectedSource out;
  const auto failed = Drain(*Open(), out);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kData);
  EXPECT_EQ(failed.error().where, options.topic + "/0/1");
  options.on_error.skip = true;
  CollectedSource skipped;
  EXPECT_EQ(*Drain(*Open(), skipped), SourceState::kEnded);
  EXPECT_EQ(skipped.Text(), "+I 1\n+I 3\n");
  EXPECT_EQ(metrics.bad_records.load(), 2);
}

TEST_F(KafkaSourceTest, NamesTopicsAndBrokersThatAreNotThere) {
  options.topic = "weir-test-no-such-topic";
  const Status absent = OpenStatus();
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr("topic 'weir-test-no-such-topic' does not exist"));
  options.brokers = "127.0.0.1:1";
  options.connect_timeout = 300'000;
  const Status unreachable = OpenStatus();
  ASSERT_FALSE(unreachable);
  EXPECT_THAT(unreachable.error().message, HasSubstr("no broker answered at 127.0.0.1:1 within 300ms"));
  EXPECT_EQ(unreachable.error().code, ErrorCode::kConnector);
}

}  // namespace
}  // namespace weir
