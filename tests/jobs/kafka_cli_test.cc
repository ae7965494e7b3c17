// The command line with a real broker: what `weir generate` sends is what the generator makes, and the job over the
// topic says what the job over the generator says.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/connectors/kafka_broker.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

// Runs in the folder; what it said is in the failure.
void Weir(const testing::TemporaryFolder& folder, const std::string& arguments) {
  const std::string command = "cd '" + folder.path() + "' && BROKERS=" + KafkaAddress() + " '" + WEIR_BINARY + "' " +
                              arguments + " 2>stderr </dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << arguments << ": " << std::ifstream(folder / "stderr").rdbuf();
}

// Lines of changelog_json, collapsed: how often each row is there.
class Rows {
 public:
  void Take(const std::string& line) {
    nlohmann::json row = nlohmann::json::parse(line);
    const std::string op = row["op"];
    row.erase("op");
    if ((rows_[row.dump()] += op == "+I" || op == "+U" ? 1 : -1) == 0) rows_.erase(row.dump());
  }
  const std::map<std::string, int>& collapsed() const { return rows_; }

 private:
  std::map<std::string, int> rows_;
};

TEST(KafkaCommandLine, DistinctUsersOfATopicAreThoseOfTheGenerator) {
  WEIR_NEEDS_KAFKA();
  KafkaBroker broker;
  const std::string behaviour = broker.CreateTopic(3);
  const std::string uv = broker.CreateTopic(2);
  const testing::TemporaryFolder folder;
  Weir(folder,
       "generate behaviour --rows 5000 --users 100 --days 1 --kafka " + KafkaAddress() + " --topic " + behaviour);
  Weir(folder, "example uv-kafka >uv-kafka.yaml");
  Weir(folder, "run uv-kafka.yaml --set sources.behaviour.topic=" + behaviour + " --set sinks.uv.topic=" + uv);
  Rows of_topic;
  for (const int partition : {0, 1}) {
    for (const TestMessage& message : broker.Read(uv, partition)) of_topic.Take(message.value.value());
  }
  Weir(folder, "example uv >uv.yaml");
  Weir(folder,
       "run uv.yaml --set sources.behaviour.rows=5000 --set sources.behaviour.users=100 --set sinks.uv.path=out");
  Rows of_generator;
  for (const auto& part : std::filesystem::directory_iterator(folder / "out")) {
    std::ifstream lines(part.path());
    for (std::string line; std::getline(lines, line);) of_generator.Take(line);
  }
  EXPECT_GT(of_topic.collapsed().size(), 1000u);
  EXPECT_EQ(of_topic.collapsed(), of_generator.collapsed());
}

// So that the rows of a user stay in order in one partition.
TEST(KafkaCommandLine, TheUserIsTheKey) {
  WEIR_NEEDS_KAFKA();
  KafkaBroker broker;
  const std::string orders = broker.CreateTopic(2);
  const testing::TemporaryFolder folder;
  Weir(folder, "generate orders --rows 100 --users 9 --kafka " + KafkaAddress() + " --topic " + orders);
  size_t sent = 0;
  for (const int partition : {0, 1}) {
    for (const TestMessage& message : broker.Read(orders, partition)) {
      const nlohmann::json row = nlohmann::json::parse(message.value.value());
      EXPECT_EQ(message.key.value(), "{\"user_id\":" + row["user_id"].dump() + "}");
      ++sent;
    }
  }
  EXPECT_EQ(sent, 100u);
}

}  // namespace
}  // namespace weir
