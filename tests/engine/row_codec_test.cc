#include "engine/data/row_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace weir {
namespace {

SchemaPtr AllForms() {
  return std::make_shared<const Schema>(std::vector<Field>{{"b", BooleanType()},
                                                           {"i", BigintType()},
                                                           {"d", DoubleType()},
                                                           {"w", DecimalType(38, 2)},
                                                           {"s", StringType()},
                                                           {"j", BigintType()},
                                                           {"t", StringType()},
                                                           {"k", BigintType()},
                                                           {"l", BigintType()}});
}

Batch RandomBatch(uint64_t seed, size_t rows) {
  std::mt19937_64 random(seed);
  const SchemaPtr schema = AllForms();
  BatchBuilder builder(schema);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t c = 0; c < schema->size(); ++c) {
      Column& column = builder.column(c);
      if (random() % 5 == 0) {
        column.AppendNull();
        continue;
      }
      const uint64_t bits = random() >> (random() % 64);
      switch (column.physical()) {
        case Physical::kBool:
          column.AppendBool(bits & 1);
          break;
        case Physical::kInt64:
          column.AppendInt(random() % 2 ? static_cast<int64_t>(bits) : -static_cast<int64_t>(bits));
          break;
        case Physical::kDouble:
          column.AppendDouble(static_cast<double>(bits) / 3);
          break;
        case Physical::kInt128:
          column.AppendWide(Int128{static_cast<int64_t>(bits)} * INT64_MAX);
          break;
        case Physical::kText:
          column.AppendText(std::string(bits % 300, 'x'));
          break;
      }
    }
    builder.FinishRow(RowKind::kInsert);
  }
  return builder.Build();
}

std::vector<DataType> Types(const Schema& schema) {
  std::vector<DataType> types;
  for (const Field& field : schema.fields()) types.push_back(field.type);
  return types;
}

TEST(RowCodec, ComesBackAsItWas) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Batch batch = RandomBatch(seed, 200);
    const RowCodec codec(Types(*batch.schema()), RowCodec::Form::kExact);
    EncodedRows rows;
    codec.Encode(batch, std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8}, rows);
    std::vector<const char*> at;
    std::vector<std::shared_ptr<Column>> columns;
    std::vector<Column*> targets;
    for (size_t i = 0; i < batch.rows(); ++i) {
      at.push_back(rows.row(i).data());
      EXPECT_EQ(codec.EncodedSize(rows.row(i).data()), rows.row(i).size());
    }
    for (size_t c = 0; c < batch.columns().size(); ++c) {
      columns.push_back(std::make_shared<Column>(batch.column(c).type()));
      // Every third seed leaves some columns out.
      targets.push_back(seed % 3 == 0 && c % 2 == 0 ? nullptr : columns.back().get());
    }
    codec.Decode(at, targets, true);
    for (size_t i = 0; i < batch.rows(); ++i) EXPECT_EQ(at[i], rows.row(i).data() + rows.row(i).size());
    for (size_t c = 0; c < columns.size(); ++c) {
      for (size_t i = 0; i < batch.rows() && targets[c] != nullptr; ++i) {
        ASSERT_EQ(FormatValue(*columns[c], i), FormatValue(batch.column(c), i)) << "seed " << seed;
      }
    }
  }
}

TEST(RowCodec, EndsOfTheIntegers) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, (uint64_t{1} << 7) - 1, uint64_t{1} << 7,
                               (uint64_t{1} << 56) - 1, uint64_t{1} << 56, UINT64_MAX}) {
    char bytes[32] = {};
    char* end = PutVarint(bytes, value);
    EXPECT_EQ(static_cast<size_t>(end - bytes), VarintSize(value));
    uint64_t back = 0;
    EXPECT_EQ(GetVarint(bytes, back), end);
    EXPECT_EQ(back, value);
  }
}

TEST(RowCodec, EqualKeysHaveEqualBytes) {
  const auto schema = std::make_shared<const Schema>(std::vector<Field>{{"d", DoubleType()}});
  BatchBuilder builder(schema);
  for (const double value : {0.0, -0.0, std::nan("1"), std::nan("2"), 1.0}) {
    builder.column(0).AppendDouble(value);
    builder.FinishRow(RowKind::kInsert);
  }
  EncodedRows rows;
  RowCodec({DoubleType()}, RowCodec::Form::kKey).Encode(builder.Build(), std::vector<int>{0}, rows);
  EXPECT_EQ(rows.row(0), rows.row(1));
  EXPECT_EQ(rows.row(2), rows.row(3));
  EXPECT_NE(rows.row(0), rows.row(4));
}

}  // namespace
}  // namespace weir
