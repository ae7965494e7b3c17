#include <gmock/gmock.h>

#include "connectors/kafka/options.h"
#include "tests/connectors/fakes.h"
#include "tests/connectors/kafka_broker.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class KafkaSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_KAFKA();
    broker.emplace();
    options.name = "out";
    options.brokers = KafkaAddress();
    options.schema = std::make_shared<const Schema>(Schema({{"id", BigintType(), true}, {"name", StringType(), true}}));
    options.key = {0};
  }
  std::unique_ptr<Operator> Open() {
    auto sink = MakeKafkaSink(options);
    EXPECT_TRUE(sink) << sink.error().ToString();
    const Status status = (*sink)->Open(context);
    EXPECT_TRUE(status) << status.error().ToString();
    return std::move(*sink);
  }
  Batch Rows(const std::vector<std::pair<RowKind, std::vector<std::string>>>& rows) {
    return MakeBatch(options.schema, rows);
  }
  static std::vector<std::string> Texts(const std::vector<TestMessage>& messages) {
    std::vector<std::string> out;
    for (const TestMessage& message : messages) {
      out.push_back(message.key.value_or("-") + " " + message.value.value_or("null"));
    }
    return out;
  }

  std::optional<KafkaBroker> broker;
  KafkaSinkOptions options;
  OperatorContext context;
  NoOutput out;
};

TEST_F(KafkaSinkTest, UpsertWritesTheLastRowOfAKeyAndTombstones) {
  options.topic = broker->CreateTopic(1);
  auto sink = Open();
  ASSERT_EQ(*sink->Process(0,
                           Rows({{RowKind::kInsert, {"1", "a"}},
                                 {RowKind::kUpdateBefore, {"1", "a"}},
                                 {RowKind::kUpdateAfter, {"1", "b"}},
                                 {RowKind::kInsert, {"2", "c"}},
                                 {RowKind::kUpdateBefore, {"2", "c"}},  // moved to another key
                                 {RowKind::kUpdateAfter, {"3", "c"}},
                                 {RowKind::kDelete, {"1", "b"}}}),
                           out),
            Progress::kDone);
  FakeSnapshotWriter writer(1);
  ASSERT_TRUE(sink->Snapshot(writer));
  ASSERT_TRUE(writer.RunWork());
  EXPECT_THAT(Texts(broker->Read(options.topic, 0)),
              ElementsAre(R"({"id":1} {"id":1,"name":"a"})", R"({"id":1} {"id":1,"name":"b"})",
                          R"({"id":2} {"id":2,"name":"c"})", R"({"id":2} null)", R"({"id":3} {"id":3,"name":"c"})",
                          R"({"id":1} null)"));
}

TEST_F(KafkaSinkTest, FullWritesEveryChangeAndKeepsARowsChangesTogether) {
  options.topic = broker->CreateTopic(4);
  options.format = FormatKind::kChangelogJson;
  options.upsert = false;
  options.key.clear();
  auto sink = Open();
  ASSERT_TRUE(sink->Process(0, Rows({{RowKind::kInsert, {"1", "a"}}, {RowKind::kDelete, {"1", "a"}}}), out));
  FakeSnapshotWriter writer(1);
  ASSERT_TRUE(sink->Snapshot(writer));
  ASSERT_TRUE(writer.RunWork());
  size_t partitions = 0;
  for (int partition = 0; partition < 4; ++partition) {
    const std::vector<TestMessage> messages = broker->Read(options.topic, partition);
    if (messages.empty()) continue;
    ++partitions;
    EXPECT_THAT(Texts(messages), ElementsAre(R"({"id":1,"name":"a"} {"op":"+I","id":1,"name":"a"})",
                                             R"({"id":1,"name":"a"} {"op":"-D","id":1,"name":"a"})"));
  }
  EXPECT_EQ(partitions, 1U);
}

TEST_F(KafkaSinkTest, DeliversMoreThanFitsInFlightInOrder) {
  options.topic = broker->CreateTopic(2);
  auto sink = Open();
  const std::string text(1000, 'x');
  std::vector<std::pair<RowKind, std::vector<std::string>>> rows;
  for (int i = 0; i < 4000; ++i) rows.push_back({RowKind::kInsert, {std::to_string(i), text}});
  const Batch batch = Rows(rows);
  for (int i = 0; i < 25; ++i) {
    Result<Progress> progress = sink->Process(0, batch, out);
    while (progress && *progress == Progress::kBlocked) progress = sink->Process(0, batch, out);
    ASSERT_TRUE(progress) << progress.error().ToString();
  }
  FakeSnapshotWriter writer(1);
  ASSERT_TRUE(sink->Snapshot(writer));
  ASSERT_TRUE(writer.RunWork());
  EXPECT_EQ(broker->Read(options.topic, 0).size() + broker->Read(options.topic, 1).size(), 100'000U);
}

TEST_F(KafkaSinkTest, NamesWhatIsWrong) {
  options.topic = "weir-test-no-such-topic";
  auto sink = MakeKafkaSink(options);
  ASSERT_TRUE(sink);
  EXPECT_THAT((*sink)->Open(context).error().message, HasSubstr("does not exist"));
  options.upsert = false;
  EXPECT_THAT(MakeKafkaSink(options).error().message, HasSubstr("changelog_json"));
}

}  // namespace
}  // namespace weir
