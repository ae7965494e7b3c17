#include "operators/over/over.h"

#include "tests/operators/order_model.h"
#include "tests/slow_build.h"

namespace weir {
namespace {

constexpr uint64_t kSeeds = testing::kSlowBuild ? 1 : 4;

using testing::CapturingOutput;
using testing::Collapsed;
using testing::CompareRows;
using testing::Feed;
using testing::MakeSchema;
using testing::MemorySnapshot;
using testing::MemorySnapshotWriter;
using testing::OrderedRow;
using testing::OrderedRun;
using testing::ParseBatch;
using testing::Partitions;
using testing::TaskContext;

const SchemaPtr kInput = testing::kOrderedInput;

using F = OverFunction;
using B = FrameBound::Kind;

constexpr FrameBound kStart{B::kUnboundedPreceding, 0};
constexpr FrameBound kEnd{B::kUnboundedFollowing, 0};
constexpr FrameBound kHere{B::kCurrentRow, 0};

FrameBound Before(int64_t offset) { return {B::kPreceding, offset}; }
FrameBound Behind(int64_t offset) { return {B::kFollowing, offset}; }
Frame Rows(FrameBound start, FrameBound end) { return {true, start, end}; }
Frame Range(FrameBound start, FrameBound end) { return {false, start, end}; }

OverCall Call(F function, int argument, DataType type, Frame frame = {}, int64_t offset = 1) {
  OverCall call;
  call.function = function;
  call.argument = argument;
  call.frame = frame;
  call.offset = offset;
  call.type = type;
  call.name = "c";
  return call;
}

OverOptions Options(std::vector<SortColumn> sort, std::vector<OverCall> calls, bool retracts) {
  OverOptions options;
  options.input = kInput;
  std::vector<Field> fields = kInput->fields();
  for (const OverCall& call : calls) fields.push_back({call.name, call.type});
  options.schema = MakeSchema(fields);
  options.partition = {0};
  options.sort = std::move(sort);
  options.calls = std::move(calls);
  options.input_retracts = retracts;
  return options;
}

struct Task : testing::OperatorUnderTest {
  explicit Task(const OverOptions& options) : OperatorUnderTest(MakeOver(options), kInput) {}
};

TEST(Over, LaterResultsFollowARowInTheMiddle) {
  Task task(Options({{1, false, false}}, {Call(F::kSum, 3, DecimalType(38, 0), Rows(kStart, kHere))}, true));
  EXPECT_EQ(task.Feed("+I 1 5 x 1\n+I 1 9 x 2\n"), "+I 1 5 'x' 1 1\n+I 1 9 'x' 2 3\n");
  EXPECT_EQ(task.Feed("+I 1 7 x 4\n"), "-U 1 9 'x' 2 3\n+U 1 9 'x' 2 7\n+I 1 7 'x' 4 5\n");
  EXPECT_EQ(task.Feed("-D 1 5 x 1\n"),
            "-D 1 5 'x' 1 1\n-U 1 7 'x' 4 5\n+U 1 7 'x' 4 4\n-U 1 9 'x' 2 7\n+U 1 9 'x' 2 6\n");
  EXPECT_EQ(task.Feed("-D 1 7 x 4\n+I 1 7 x 4\n-D 8 8 x 8\n"), "");
  EXPECT_EQ(task.context.metrics.ignored_deletes, 1);
}

TEST(Over, AnOverflowIsAnError) {
  Task task(Options({{1, false, false}}, {Call(F::kSum, 3, BigintType(), Rows(kStart, kHere))}, true));
  CapturingOutput out;
  const auto progress = task.op->Process(
      0, ParseBatch(kInput, "+I 1 5 x 9000000000000000000\n+I 1 6 x 9000000000000000000\n"), out);
  ASSERT_FALSE(progress);
  EXPECT_EQ(progress.error().code, ErrorCode::kData);
}

TEST(Over, AveragesAreRoundedHalfAwayFromZero) {
  Task task(Options({{1, false, false}}, {Call(F::kAvg, 3, DecimalType(38, 1), Rows(kStart, kHere))}, false));
  EXPECT_EQ(task.Feed("+I 1 1 x -1\n+I 1 2 x -2\n+I 1 3 x -1\n+I 1 4 x -1\n"),
            "+I 1 1 'x' -1 -1.0\n+I 1 2 'x' -2 -1.5\n+I 1 3 'x' -1 -1.3\n+I 1 4 'x' -1 -1.3\n");
}

TEST(Over, InTimeResultsWaitForTheWatermark) {
  OverOptions options = Options({{1, false, false}},
                                {Call(F::kSum, 3, DecimalType(38, 0), Rows(Before(1), kHere)),
                                 Call(F::kCountStar, -1, BigintType(), Range(Before(10), kHere))},
                                false);
  options.time_column = 1;
  Task task(options);
  EXPECT_EQ(task.Feed("+I 1 20 x 2\n+I 1 10 x 1\n+I 2 15 x 7\n+I 1 NULL x 9\n"), "");
  EXPECT_EQ(task.Watermark(15), "+I 1 10 'x' 1 1 1\n");
  EXPECT_EQ(task.Feed("+I 1 14 x 3\n+I 1 15 x 4\n"), "");
  EXPECT_EQ(task.context.metrics.late_rows, 1);
  EXPECT_EQ(task.context.metrics.null_event_time, 1);
  MemorySnapshotWriter writer;
  ASSERT_TRUE(task.op->Snapshot(writer));
  ASSERT_TRUE(writer.Finish());
  MemorySnapshot snapshot;
  snapshot.Add(0, 1, writer.content);
  Task restored(options);
  ASSERT_TRUE(restored.op->Restore(snapshot));
  EXPECT_EQ(restored.Watermark(21), "+I 1 15 'x' 4 5 2\n+I 1 20 'x' 2 6 3\n+I 2 15 'x' 7 7 1\n");
  EXPECT_EQ(restored.Feed("+I 1 31 x 5\n+I 1 40 x 6\n"), "");
  EXPECT_EQ(restored.Watermark(32), "+I 1 31 'x' 5 7 1\n");
  CapturingOutput out;
  ASSERT_TRUE(restored.op->OnEnd(out));
  EXPECT_EQ(out.Text(), "+I 1 40 'x' 6 11 2\n");
  EXPECT_LE(restored.op->StateSizes()[0].rows, 4);
}

// --- against a recomputation

// The rows of the frame of row i, as indexes [from, to).
std::pair<size_t, size_t> FrameOf(const std::vector<OrderedRow>& rows, size_t i, const Frame& frame,
                                  const std::vector<SortColumn>& sort) {
  const auto in_frame = [&](size_t j) {
    for (const bool end : {false, true}) {
      const FrameBound& bound = end ? frame.end : frame.start;
      if (bound.kind == B::kUnboundedPreceding || bound.kind == B::kUnboundedFollowing) continue;
      const int64_t offset = bound.kind == B::kPreceding ? -bound.offset : bound.offset;
      int64_t distance = 0;  // of row j from the bound
      if (frame.rows) {
        distance = static_cast<int64_t>(j) - static_cast<int64_t>(i) - offset;
      } else if (bound.kind == B::kCurrentRow || !rows[i].a) {
        distance = CompareRows(rows[j], rows[i], sort);
      } else if (!rows[j].a) {
        distance = sort[0].nulls_first ? -1 : 1;
      } else {
        const int64_t apart = *rows[j].a - *rows[i].a;
        distance = (sort[0].descending ? -apart : apart) - offset;
      }
      if (end ? distance > 0 : distance < 0) return false;
    }
    return true;
  };
  size_t from = 0;
  while (from < rows.size() && !in_frame(from)) ++from;
  size_t to = from;
  while (to < rows.size() && in_frame(to)) ++to;
  return {from, to};
}

std::string Quoted(const std::optional<std::string>& text) { return text ? "'" + *text + "'" : "NULL"; }

std::string ResultOf(const std::vector<OrderedRow>& rows, size_t i, const OverCall& call,
                     const std::vector<SortColumn>& sort) {
  const auto [from, to] = FrameOf(rows, i, call.frame, sort);
  int64_t count = 0;
  int64_t sum = 0;
  std::optional<std::string> least, greatest;
  for (size_t j = from; j < to; ++j) {
    if (rows[j].a) ++count, sum += *rows[j].a;
    if (rows[j].t && (!least || *rows[j].t < *least)) least = rows[j].t;
    if (rows[j].t && (!greatest || *greatest < *rows[j].t)) greatest = rows[j].t;
  }
  size_t first_peer = i;
  while (first_peer > 0 && CompareRows(rows[first_peer - 1], rows[i], sort) == 0) --first_peer;
  const auto at = [&](int64_t j) { return j >= 0 && j < static_cast<int64_t>(rows.size()); };
  switch (call.function) {
    case F::kRowNumber:
      return std::to_string(i + 1);
    case F::kRank:
      return std::to_string(first_peer + 1);
    case F::kDenseRank: {
      int64_t number = 1;
      for (size_t j = 1; j <= i; ++j) number += CompareRows(rows[j - 1], rows[j], sort) != 0;
      return std::to_string(number);
    }
    case F::kLag:
    case F::kLead: {
      const int64_t j = static_cast<int64_t>(i) + (call.function == F::kLag ? -call.offset : call.offset);
      return at(j) ? std::to_string(rows[static_cast<size_t>(j)].id) : "NULL";
    }
    case F::kFirstValue:
      return from < to ? std::to_string(rows[from].id) : "NULL";
    case F::kLastValue:
      return from < to ? std::to_string(rows[to - 1].id) : "NULL";
    case F::kNthValue: {
      const size_t j = from + static_cast<size_t>(call.offset) - 1;
      return j < to ? std::to_string(rows[j].id) : "NULL";
    }
    case F::kCountStar:
      return std::to_string(to - from);
    case F::kCount:
      return std::to_string(count);
    case F::kSum:
      return count == 0 ? "NULL" : std::to_string(sum);
    case F::kMin:
      return Quoted(least);
    case F::kMax:
      return Quoted(greatest);
    case F::kAvg:
      break;
  }
  return "";
}

std::map<std::string, int> Recompute(const std::vector<OrderedRow>& rows, const OverOptions& options) {
  std::map<std::string, int> result;
  for (const auto& [key, members] : Partitions(rows, options.sort)) {
    for (size_t i = 0; i < members.size(); ++i) {
      std::string line = members[i].Picture();
      for (const OverCall& call : options.calls) line += " " + ResultOf(members, i, call, options.sort);
      ++result[line];
    }
  }
  return result;
}

std::vector<OverCall> AggregatesOver(const Frame& frame) {
  return {Call(F::kCountStar, -1, BigintType(), frame), Call(F::kCount, 1, BigintType(), frame),
          Call(F::kSum, 1, DecimalType(38, 0), frame), Call(F::kMin, 2, StringType(), frame),
          Call(F::kMax, 2, StringType(), frame)};
}

std::vector<OverCall> PicksOver(const Frame& frame) {
  return {Call(F::kFirstValue, 3, BigintType(), frame), Call(F::kLastValue, 3, BigintType(), frame),
          Call(F::kNthValue, 3, BigintType(), frame, 2)};
}

TEST(Over, IsTheRecomputation) {
  const std::vector<SortColumn> total = {{1, true, true}, {2, false, false}, {3, false, false}};
  const std::vector<SortColumn> rising = {{1, false, false}};
  const std::vector<SortColumn> falling = {{1, true, true}};
  std::vector<std::pair<std::vector<SortColumn>, std::vector<OverCall>>> cases = {
      {total, {Call(F::kRowNumber, -1, BigintType()), Call(F::kLag, 3, BigintType()),
               Call(F::kLead, 3, BigintType(), {}, 2)}},
      {total, {Call(F::kLag, 3, BigintType(), {}, 2)}},
      {rising, {Call(F::kRank, -1, BigintType()), Call(F::kDenseRank, -1, BigintType())}},
      {{}, AggregatesOver({})},
  };
  for (const Frame& frame : {Rows(kStart, kHere), Rows(Before(2), kHere), Rows(Before(3), Before(1)),
                             Rows(Before(1), Behind(2)), Rows(Behind(1), Behind(2)), Rows(kHere, kEnd)}) {
    std::vector<OverCall> calls = AggregatesOver(frame);
    const std::vector<OverCall> picks = PicksOver(frame);
    calls.insert(calls.end(), picks.begin(), picks.end());
    cases.emplace_back(total, calls);
  }
  for (const Frame& frame : {Range(kStart, kHere), Range(Before(2), kHere), Range(Before(1), Behind(1)),
                             Range(kHere, kEnd), Range(Behind(1), Behind(3)), Range(kHere, kHere)}) {
    cases.emplace_back(rising, AggregatesOver(frame));
    cases.emplace_back(falling, AggregatesOver(frame));
  }
  for (const bool retracts : {false, true}) {
    for (size_t c = 0; c < cases.size(); ++c) {
      for (const size_t batch : {1, 7, 4096}) {
        for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
          SCOPED_TRACE("seed " + std::to_string(seed) + ", case " + std::to_string(c) + ", batch " +
                       std::to_string(batch) + (retracts ? ", retracts" : ", append"));
          const OverOptions options = Options(cases[c].first, cases[c].second, retracts);
          OrderedRun run(
              seed, batch, retracts, [&] { return MakeOver(options); },
              [&](const std::vector<OrderedRow>& rows) { return Recompute(rows, options); });
          run.Run(batch == 4096 ? 600 : 150);
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace weir
