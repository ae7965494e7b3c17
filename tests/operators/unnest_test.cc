// Unnest: arrays and series, row kinds, and outputs that are full.
#include "operators/unnest.h"

#include "engine/data/array_codec.h"
#include "tests/operators/fake_expression.h"
#include "tests/operators/fakes.h"

namespace weir {
namespace {

using testing::CapturingOutput;
using testing::ColumnReference;
using testing::MakeSchema;
using testing::RowFunction;
using testing::TaskContext;

const SchemaPtr kInput = MakeSchema({{"id", BigintType()}, {"n", BigintType()}});

// The array [n, NULL, n + 2, ...] of n elements; NULL where n is, an error where it is negative.
ExpressionPtr Numbers() {
  return std::make_shared<RowFunction>(
      ArrayType(BigintType()), std::vector<ExpressionPtr>{std::make_shared<ColumnReference>(1, BigintType())},
      [](const std::vector<ColumnPtr>& arguments, size_t row, Column& out) -> std::string {
        if (arguments[0]->IsNull(row)) {
          out.AppendNull();
          return {};
        }
        const int64_t n = arguments[0]->ints()[row];
        if (n < 0) return "no array has so few elements";
        Column elements(BigintType());
        for (int64_t i = 0; i < n; ++i) {
          if (i == 1) {
            elements.AppendNull();
          } else {
            elements.AppendInt(n + i);
          }
        }
        std::string encoded;
        AppendArray(elements, 0, elements.size(), encoded);
        out.AppendText(encoded);
        return {};
      });
}

ExpressionPtr Id() { return std::make_shared<ColumnReference>(0, BigintType()); }
ExpressionPtr N() { return std::make_shared<ColumnReference>(1, BigintType()); }

std::unique_ptr<Operator> Make(TaskContext& task, UnnestFunction function, std::vector<ExpressionPtr> arguments,
                               bool ordinality = false, bool outer = false) {
  std::vector<Field> fields = kInput->fields();
  const size_t values = function == UnnestFunction::kSeries ? 1 : arguments.size();
  for (size_t i = 0; i < values; ++i) fields.push_back({"x", BigintType()});
  if (ordinality) fields.push_back({"ordinality", BigintType()});
  auto made = MakeUnnest({MakeSchema(std::move(fields)), std::move(arguments), function, ordinality, outer, "UTC"});
  EXPECT_TRUE(made);
  EXPECT_TRUE((*made)->Open(task.context));
  return std::move(*made);
}

TEST(Unnest, ARowForEachElement) {
  TaskContext task;
  const auto inner = Make(task, UnnestFunction::kArrays, {Numbers()});
  EXPECT_EQ(testing::Run(*inner, kInput, "+I 1 2\n+I 2 0\n+I 3 NULL\n+I 4 1\n"), "+I 1 2 2\n+I 1 2 NULL\n+I 4 1 1\n");
  EXPECT_EQ(testing::Run(*inner, kInput, "+I 2 0\n"), "");
  const auto outer = Make(task, UnnestFunction::kArrays, {Numbers()}, true, true);
  EXPECT_EQ(testing::Run(*outer, kInput, "+I 1 2\n+I 2 0\n+I 3 NULL\n"),
            "+I 1 2 2 1\n+I 1 2 NULL 2\n+I 2 0 NULL NULL\n+I 3 NULL NULL NULL\n");
}

TEST(Unnest, AnUpdateMayChangeHowManyRowsThereAre) {
  TaskContext task;
  const auto unnest = Make(task, UnnestFunction::kArrays, {Numbers()});
  EXPECT_EQ(testing::Run(*unnest, kInput, "-U 1 1\n+U 1 2\n-D 2 1\n"),
            "-D 1 1 1\n+I 1 2 2\n+I 1 2 NULL\n-D 2 1 1\n");
}

TEST(Unnest, Series) {
  TaskContext task;
  const auto up = Make(task, UnnestFunction::kSeries, {Id(), N()});
  EXPECT_EQ(testing::Run(*up, kInput, "+I 1 2\n+I 3 2\n+I NULL 2\n"), "+I 1 2 1\n+I 1 2 2\n");
  EXPECT_EQ(testing::Run(*up, kInput, "+I 9223372036854775806 9223372036854775807\n"),
            "+I 9223372036854775806 9223372036854775807 9223372036854775806\n"
            "+I 9223372036854775806 9223372036854775807 9223372036854775807\n");
  const auto stepped = Make(task, UnnestFunction::kSeries, {Id(), N(), Id()});
  EXPECT_EQ(testing::Run(*stepped, kInput, "+I 2 7\n+I -9223372036854775808 -9223372036854775808\n"),
            "+I 2 7 2\n+I 2 7 4\n+I 2 7 6\n"
            "+I -9223372036854775808 -9223372036854775808 -9223372036854775808\n");
}

TEST(Unnest, ErrorsSayWhy) {
  TaskContext task;
  CapturingOutput out;
  const auto stepped = Make(task, UnnestFunction::kSeries, {Id(), N(), Id()});
  const auto zero = stepped->Process(0, testing::ParseBatch(kInput, "+I 0 1\n"), out);
  ASSERT_FALSE(zero);
  EXPECT_NE(zero.error().ToString().find("the step of generate_series is 0"), std::string::npos);
  const auto arrays = Make(task, UnnestFunction::kArrays, {Numbers()});
  EXPECT_FALSE(arrays->Process(0, testing::ParseBatch(kInput, "+I 1 -1\n"), out));
}

TEST(Unnest, ALongSeriesIsGivenOutInBatches) {
  TaskContext task;
  const auto series = Make(task, UnnestFunction::kSeries, {Id(), N()}, true);
  testing::Collapsed rows;
  testing::Feed(*series, 0, testing::ParseBatch(kInput, "+I 1 10000\n+I 5 3\n+I 7 8\n"), rows, 1);
  EXPECT_EQ(rows.rows().size(), 10002u);
  EXPECT_EQ(rows.rows().at("1 10000 10000 10000"), 1);
  EXPECT_EQ(rows.rows().at("7 8 8 2"), 1);
}

}  // namespace
}  // namespace weir
