#include "engine/data/encoded_keys.h"

#include <gtest/gtest.h>

#include "engine/data/hash.h"
#include "engine/data/same_value.h"

namespace weir {
namespace {

TEST(EncodedKeys, HaveTheHashesOfTheirRows) {
  const SchemaPtr schema = std::make_shared<const Schema>(
      std::vector<Field>{{"v", BigintType()}, {"name", StringType()}, {"x", DoubleType()}});
  auto ids = std::make_shared<Column>(BigintType());
  auto names = std::make_shared<Column>(StringType());
  auto doubles = std::make_shared<Column>(DoubleType());
  for (int64_t i = 0; i < 50; ++i) {
    ids->AppendInt(i);
    i % 7 == 0 ? names->AppendNull() : names->AppendText(std::string(static_cast<size_t>(i), 'a'));
    doubles->AppendDouble(i % 5 == 0 ? -0.0 : static_cast<double>(i) / 3);
  }
  const Batch batch(schema, {ids, names, doubles}, 50);
  const std::vector<int> key{2, 1};
  const RowCodec codec({DoubleType(), StringType()}, RowCodec::Form::kKey);
  EncodedRows encoded;
  codec.Encode(batch, key, encoded);
  std::vector<std::string> bytes;
  for (size_t row = 0; row < batch.rows(); ++row) {
    bytes.emplace_back(encoded.row(row));
    bytes.back().append(2 * kRowSlack, '\0');
  }
  std::vector<const char*> rows;
  for (const std::string& row : bytes) rows.push_back(row.data());
  std::vector<uint64_t> expected, hashes;
  HashRows(batch, key, expected);
  HashEncodedKeys(codec, *schema, key, rows, hashes);
  EXPECT_EQ(hashes, expected);
}

TEST(SameValue, IsBitByBit) {
  Column column(DoubleType());
  column.AppendDouble(0.0);
  column.AppendDouble(-0.0);
  column.AppendNull();
  column.AppendNull();
  column.AppendDouble(0.0);
  EXPECT_FALSE(SameValue(column, 0, 1));
  EXPECT_FALSE(SameValue(column, 0, 2));
  EXPECT_TRUE(SameValue(column, 2, 3));
  EXPECT_TRUE(SameValue(column, 0, 4));
}

}  // namespace
}  // namespace weir
