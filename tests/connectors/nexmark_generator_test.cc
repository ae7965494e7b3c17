#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "connectors/generator/options.h"
#include "tests/connectors/fakes.h"
#include "tests/temporary_folder.h"

namespace weir {
namespace {

using ::testing::HasSubstr;

GeneratorOptions Nexmark(const std::string& stream, int64_t events) {
  GeneratorOptions options;
  options.name = stream;
  options.kind = "nexmark." + stream;
  options.rows = events;
  options.partitions = 1;
  options.read.resize(GeneratorSchema(options.kind)->size());
  std::iota(options.read.begin(), options.read.end(), 0);
  return options;
}

std::unique_ptr<Source> Open(const GeneratorOptions& options, const Positions& restored = {}, int task = 0,
                             int parallelism = 1, const Clock* clock = nullptr) {
  auto source = MakeGeneratorSource(options);
  EXPECT_TRUE(source) << source.error().ToString();
  SourceContext context;
  context.task = task;
  context.parallelism = parallelism;
  context.clock = clock;
  EXPECT_TRUE((*source)->Open(context, restored));
  return std::move(*source);
}

CollectedSource All(const GeneratorOptions& options) {
  CollectedSource out;
  EXPECT_EQ(*PollAll(*Open(options), out), SourceState::kEnded);
  return out;
}

std::vector<std::string> SortedRows(const CollectedSource& source) {
  std::vector<std::string> rows;
  for (const Batch& batch : source.batches) {
    for (size_t row = 0; row < batch.rows(); ++row) rows.push_back(batch.Slice(row, 1).ToString());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The first lines of the public benchmark harness whose figures are compared with ours (seed 1).
TEST(NexmarkGeneratorTest, WritesTheBytesOfTheBenchmarksGenerator) {
  const testing::TemporaryFolder folder;
  GeneratorOptions options;
  options.kind = "nexmark";
  options.rows = 10'000;
  ASSERT_TRUE(GenerateFiles(options, folder.path()));
  const auto persons = Lines(folder / "person.jsonl");
  const auto auctions = Lines(folder / "auction.jsonl");
  const auto bids = Lines(folder / "bid.jsonl");
  ASSERT_EQ(persons.size(), 200U);
  ASSERT_EQ(auctions.size(), 600U);
  ASSERT_EQ(bids.size(), 9200U);
  EXPECT_EQ(
      persons[0],
      R"({"id":1000,"name":"Paul Spencer","emailAddress":"zbl@xlx.com","creditCard":"8528 1864 4290 8978",)"
      R"("city":"Boise","state":"WY","dateTime":"2026-01-01 00:00:00.000",)"
      R"("extra":"bmyzolfwmjskbnknacuewuqobxvrrtwovnlojlndwejffmdfzlmmxancbrmgsghoddfspjfbtgyjwzwmiaewxwgujktepqhkpy)"
      R"(noqgxijqhlbngrprvehaz"})");
  EXPECT_THAT(auctions[0],
              HasSubstr(R"({"id":1000,"itemName":"laow","description":"c kytlyxdsbqpfykv mcjujgnoicdgcdifehnlrvssx)"
                        R"(sqeclwtrnhnccew fh","initialBid":13619,"reserve":26980,)"
                        R"("dateTime":"2026-01-01 00:00:00.000","expires":"2026-01-01 00:00:00.084","seller":1000,)"
                        R"("category":12,"extra":"bkxzbzpnczpfayuigukgtdp)"));
  EXPECT_EQ(bids[0], R"({"auction":1002,"bidder":1001,"price":12048,"channel":"Baidu",)"
                     R"("url":"https://www.nexmark.com/wwurg/ldzbs/twxgk/item.htm?query=1",)"
                     R"("dateTime":"2026-01-01 00:00:00.000",)"
                     R"("extra":"zysxiuczvcvmkmpnxpsaimsujbuwwklyyusiouckyoxmykbkoqdnnnnhkjrt"})");
  EXPECT_EQ(bids.back(),
            R"({"auction":1500,"bidder":1101,"price":224,"channel":"Facebook","url":"https://www.nexmark.com/spspv/)"
            R"(vhien/ainqr/item.htm?query=1","dateTime":"2026-01-01 00:00:00.999","extra":"ibjcvpjnjjnsldwncylexvfu)"
            R"(dsvbjdyzkavrqoqmfdvyfcwmjekmwdk"})");
}

TEST(NexmarkGeneratorTest, ColumnsHoldWhatTheLinesSay) {
  const testing::TemporaryFolder folder;
  GeneratorOptions options;
  options.kind = "nexmark";
  options.rows = 5'000;
  ASSERT_TRUE(GenerateFiles(options, folder.path()));
  const std::map<std::string, std::vector<std::string>> names = {
      {"person", {"id", "name", "emailAddress", "creditCard", "city", "state", "dateTime", "extra"}},
      {"auction",
       {"id", "itemName", "description", "initialBid", "reserve", "dateTime", "expires", "seller", "category",
        "extra"}},
      {"bid", {"auction", "bidder", "price", "channel", "url", "dateTime", "extra"}}};
  for (const auto& [stream, keys] : names) {
    const auto lines = Lines(folder / (stream + ".jsonl"));
    size_t line = 0;
    for (const Batch& batch : All(Nexmark(stream, 5'000)).batches) {
      for (size_t row = 0; row < batch.rows(); ++row, ++line) {
        const auto json = nlohmann::json::parse(lines.at(line));
        for (size_t i = 0; i < keys.size(); ++i) {
          std::string want =
              json.at(keys[i]).is_string() ? json.at(keys[i]).get<std::string>() : json.at(keys[i]).dump();
          const Column& column = batch.column(i);
          if (column.type().IsTimestamp()) want[10] = 'T';
          if (column.type().kind == TypeKind::kString) want = "'" + want + "'";
          ASSERT_EQ(FormatValue(column, row), want) << stream << " " << line << " " << keys[i];
        }
      }
    }
    EXPECT_EQ(line, lines.size());
  }
}

TEST(NexmarkGeneratorTest, KeepsTheBenchmarksProportions) {
  const CollectedSource bids = All(Nexmark("bid", 100'000));
  EXPECT_EQ(bids.Rows(), 92'000U);
  EXPECT_EQ(All(Nexmark("person", 100'000)).Rows(), 2'000U);
  EXPECT_EQ(All(Nexmark("auction", 100'000)).Rows(), 6'000U);
  int64_t hot_auctions = 0, hot_bidders = 0, hot_channels = 0, row_number = 0;
  int64_t extra = 0;
  std::map<int, int64_t> decades;
  for (const Batch& batch : bids.batches) {
    for (size_t row = 0; row < batch.rows(); ++row, ++row_number) {
      const int64_t epoch = row_number / 46;
      hot_auctions += batch.column(0).ints()[row] == 1000 + (epoch * 3 + 2) / 100 * 100;
      hot_bidders += batch.column(1).ints()[row] == 1000 + epoch / 100 * 100 + 1;
      hot_channels += !batch.column(3).text(row).starts_with("channel-");
      extra += static_cast<int64_t>(batch.column(6).text(row).size());
      int decade = 0;
      for (int64_t price = batch.column(2).ints()[row]; price >= 1000; price /= 10) ++decade;
      ++decades[decade];
      EXPECT_EQ(batch.column(5).ints()[row], (1767225600000 + (epoch * 50 + 4 + row_number % 46) / 10) * 1000);
    }
  }
  const auto near = [&](int64_t count, double share) {
    EXPECT_NEAR(static_cast<double>(count) / static_cast<double>(row_number), share, 0.02);
  };
  near(hot_auctions, 0.505);
  near(hot_bidders, 0.7525);
  near(hot_channels, 0.5);
  EXPECT_NEAR(static_cast<double>(extra) / static_cast<double>(row_number), 67.5, 1);  // 100 bytes a bid
  ASSERT_EQ(decades.size(), 6U);  // 1 to 1,000,000 dollars, each decade as often
  for (const auto& [decade, count] : decades) near(count, 1.0 / 6);
}

TEST(NexmarkGeneratorTest, MakesTheSameRowsWhateverThePartitionsTasksAndRestarts) {
  for (const char* stream : {"person", "auction", "bid"}) {
    GeneratorOptions options = Nexmark(stream, 20'000);
    const std::vector<std::string> want = SortedRows(All(options));
    options.partitions = 5;
    CollectedSource split;
    Positions positions;
    for (int task = 0; task < 3; ++task) {
      auto first = Open(options, {}, task, 3);
      for (int poll = 0; poll < task; ++poll) ASSERT_TRUE(first->Poll(split));
      positions.merge(first->CurrentPositions());
    }
    ASSERT_EQ(positions.size(), 5U);
    for (int task = 0; task < 2; ++task) {
      EXPECT_EQ(*PollAll(*Open(options, positions, task, 2), split), SourceState::kEnded);
    }
    EXPECT_EQ(SortedRows(split), want) << stream;
  }
}

TEST(NexmarkGeneratorTest, ThePaceIsOfAllEvents) {
  ManualClock clock;
  GeneratorOptions options = Nexmark("bid", 10'000);
  options.rate = 1000;
  auto source = Open(options, {}, 0, 1, &clock);
  CollectedSource out;
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  clock.Advance(1'000'000);
  EXPECT_EQ(*PollAll(*source, out), SourceState::kWaiting);
  EXPECT_EQ(out.Rows(), 920U);
  clock.Advance(100'000'000);
  EXPECT_EQ(*PollAll(*source, out), SourceState::kEnded);
  EXPECT_EQ(out.Rows(), 9'200U);
}

TEST(NexmarkGeneratorTest, MovesRowsInTimeByAtMostTheBound) {
  GeneratorOptions options = Nexmark("bid", 10'000);
  options.read = {5};
  const CollectedSource in_order = All(options);
  options.out_of_orderness = 500'000;
  const CollectedSource moved = All(options);
  int64_t largest = 0;
  for (size_t b = 0; b < moved.batches.size(); ++b) {
    for (size_t row = 0; row < moved.batches[b].rows(); ++row) {
      const int64_t shift = in_order.batches[b].column(0).ints()[row] - moved.batches[b].column(0).ints()[row];
      EXPECT_GE(shift, 0);
      largest = std::max(largest, shift);
    }
  }
  EXPECT_LE(largest, options.out_of_orderness);
  EXPECT_GT(largest, options.out_of_orderness / 2);
}

TEST(NexmarkGeneratorTest, SaysWhatIsWrong) {
  GeneratorOptions options = Nexmark("bid", 1);
  options.kind = "nexmark.bids";
  EXPECT_THAT(MakeGeneratorSource(options).error().message, HasSubstr("there is no kind 'nexmark.bids'"));
  EXPECT_FALSE(GeneratorSchema("nexmark.bids"));
  EXPECT_FALSE(GeneratorSchema("nexmark"));
  auto source = MakeGeneratorSource(Nexmark("bid", 1));
  SourceContext context;
  EXPECT_FALSE((*source)->Open(context, {{"0", "17"}}));
}

GeneratorOptions Behaviour(int64_t rows) {
  GeneratorOptions options;
  options.name = "b";
  options.kind = "behaviour";
  options.rows = rows;
  options.users = 1000;
  options.partitions = 1;
  options.read = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  return options;
}

TEST(BehaviourGeneratorTest, ColumnsHoldWhatTheLinesSay) {
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(GenerateFiles(Behaviour(500), folder.path()));
  const auto lines = Lines(folder / "behaviour.jsonl");
  const CollectedSource rows = All(Behaviour(500));
  ASSERT_EQ(rows.Rows(), lines.size());
  const Batch& batch = rows.batches.at(0);
  for (size_t row = 0; row < lines.size(); ++row) {
    const auto json = nlohmann::json::parse(lines[row]);
    EXPECT_EQ(batch.column(0).ints()[row], json["event_id"]);
    EXPECT_EQ(batch.column(1).text(row), json["user_id"].get<std::string>());
    EXPECT_EQ(batch.column(2).ints()[row], json["item_id"]);
    EXPECT_EQ(batch.column(3).ints()[row], json["store_id"]);
    EXPECT_EQ(batch.column(4).text(row), json["behaviour"].get<std::string>());
    EXPECT_EQ(batch.column(5).text(row), json["page"].get<std::string>());
    EXPECT_NEAR(static_cast<double>(batch.column(6).ints()[row]), json["amount"].get<double>() * 100, 0.001);
    EXPECT_EQ(batch.column(7).ints()[row], json["ts"].get<int64_t>() * 1000);
    EXPECT_EQ(batch.column(8).text(row), json["ds"].get<std::string>());
  }
}

TEST(BehaviourGeneratorTest, KeepsItsProportions) {
  const CollectedSource rows = All(Behaviour(50'000));
  std::map<std::string, int> behaviours;
  std::set<std::string> users, pages;
  for (const Batch& batch : rows.batches) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      ++behaviours[std::string(batch.column(4).text(row))];
      users.emplace(batch.column(1).text(row));
      pages.emplace(batch.column(5).text(row));
    }
  }
  EXPECT_EQ(users.size(), 1000U);
  EXPECT_EQ(pages.size(), 100U);
  ASSERT_EQ(behaviours.size(), 5U);
  EXPECT_NEAR(behaviours["view"], 35'000, 500);
  EXPECT_NEAR(behaviours["buy"], 1'500, 200);
}

}  // namespace
}  // namespace weir
