#include "engine/data/bucket.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace weir {
namespace {

using Json = nlohmann::json;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string hex;
  for (const char c : bytes) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return hex;
}

Int128 Unscaled(const std::string& text) {
  Int128 value = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') value = value * 10 + (c - '0');
  }
  return text.starts_with('-') ? -value : value;
}

void AppendValue(Column& column, const Json& value) {
  const TypeKind kind = column.type().kind;
  switch (column.physical()) {
    case Physical::kBool:
      return column.AppendBool(value.get<bool>());
    case Physical::kInt64:
      return column.AppendInt(kind == TypeKind::kDecimal ? static_cast<int64_t>(Unscaled(value.get<std::string>()))
                                                         : value.get<int64_t>());
    case Physical::kDouble:
      return column.AppendDouble(value.get<double>());
    case Physical::kInt128:
      return column.AppendWide(Unscaled(value.get<std::string>()));
    case Physical::kText:
      return column.AppendText(kind == TypeKind::kBytes ? FromHex(value.get<std::string>()) : value.get<std::string>());
  }
}

struct Key {
  Batch batch;
  std::vector<int> columns;
};

// `rows` times the same key, and a column before it that is no part of it.
Key MakeKey(const Json& types, const Json& values, size_t rows) {
  std::vector<Field> fields = {{"other", BigintType()}};
  Key key;
  for (const auto& type : types) {
    key.columns.push_back(static_cast<int>(fields.size()));
    fields.push_back({"k", ParseType(type.get<std::string>()).value()});
  }
  BatchBuilder builder(std::make_shared<const Schema>(fields));
  for (size_t row = 0; row < rows; ++row) {
    builder.column(0).AppendInt(static_cast<int64_t>(row));
    for (size_t i = 0; i < types.size(); ++i) AppendValue(builder.column(i + 1), values[i]);
    builder.FinishRow(RowKind::kInsert);
  }
  key.batch = builder.Build();
  return key;
}

Batch OneColumn(DataType type, const std::function<void(Column&)>& fill) {
  BatchBuilder builder(std::make_shared<const Schema>(std::vector<Field>{{"k", type}}));
  fill(builder.column(0));
  builder.FinishRows(builder.column(0).size(), RowKind::kInsert);
  return builder.Build();
}

std::string HexOfRow(const Batch& batch, size_t row) { return ToHex(BucketKeyBytes(batch, std::vector<int>{0}, row)); }

TEST(Bucket, AgreesWithTheFlussClient) {
  std::ifstream file("tests/engine/data/bucket_vectors.jsonl");
  int vectors = 0;
  for (std::string line; std::getline(file, line);) {
    const Json vector = Json::parse(line);
    if (vector.contains("source")) continue;
    SCOPED_TRACE(line);
    ++vectors;
    // More rows than are encoded at a time, and a last chunk of one row.
    const Key key = MakeKey(vector["types"], vector["values"], 1025);
    ASSERT_EQ(ToHex(BucketKeyBytes(key.batch, key.columns, 0)), vector["bytes"]);
    ASSERT_EQ(ToHex(BucketKeyBytes(key.batch, key.columns, 1024)), vector["bytes"]);
    for (const auto& [count, bucket] : vector["bucket"].items()) {
      EXPECT_EQ(BucketHash(FromHex(vector["bytes"].get<std::string>())) % std::stoi(count), bucket.get<int>());
      std::vector<uint16_t> buckets;
      BucketRows(key.batch, key.columns, std::stoi(count), buckets);
      EXPECT_EQ(buckets, std::vector<uint16_t>(1025, bucket.get<uint16_t>())) << count;
    }
  }
  EXPECT_GT(vectors, 90);
}

// From Fluss's own test of its bucketing function.
TEST(Bucket, AgreesWithPublishedHashes) {
  EXPECT_EQ(BucketHash(FromHex("000a")) % 7, 1);
  EXPECT_EQ(BucketHash(FromHex("000a0a0a")) % 12, 0);
  EXPECT_EQ(BucketHash("2bb87d68-baf9-4e64-90f9-f80910419fa6") % 16, 6);
  EXPECT_EQ(BucketHash("The quick brown fox jumps over the lazy dog") % 8, 6);
}

TEST(Bucket, VarintsOfEveryLength) {
  const Batch batch = OneColumn(BigintType(), [](Column& column) {
    for (int bits = 0; bits < 64; ++bits) {
      const uint64_t power = uint64_t{1} << bits;
      column.AppendInt(static_cast<int64_t>(power - 1));
      column.AppendInt(static_cast<int64_t>(power));
      column.AppendInt(static_cast<int64_t>(power | (power >> 1) | 1));
    }
    column.AppendInt(-1);
  });
  for (size_t row = 0; row < batch.rows(); ++row) {
    std::string expected;
    auto value = static_cast<uint64_t>(batch.column(0).ints()[row]);
    for (; value >= 0x80; value >>= 7) expected += static_cast<char>(value | 0x80);
    expected += static_cast<char>(value);
    EXPECT_EQ(HexOfRow(batch, row), ToHex(expected)) << batch.column(0).ints()[row];
  }
}

TEST(Bucket, EqualNumbersShareABucket) {
  const Batch doubles = OneColumn(DoubleType(), [](Column& column) {
    column.AppendDouble(0.0);
    column.AppendDouble(-0.0);
    column.AppendDouble(std::nan("1"));
    column.AppendDouble(-std::numeric_limits<double>::quiet_NaN());
  });
  EXPECT_EQ(HexOfRow(doubles, 0), "0000000000000000");
  EXPECT_EQ(HexOfRow(doubles, 1), "0000000000000000");
  EXPECT_EQ(HexOfRow(doubles, 2), HexOfRow(doubles, 3));
  const Batch floats = OneColumn({TypeKind::kFloat}, [](Column& column) {
    column.AppendDouble(-0.0);
    column.AppendDouble(-std::nan("1"));
  });
  EXPECT_EQ(HexOfRow(floats, 0), "00000000");
  EXPECT_EQ(HexOfRow(floats, 1), "0000c07f");
}

TEST(Bucket, NullIsOneByte) {
  const Batch batch = OneColumn(StringType(), [](Column& column) {
    column.AppendText("a");
    column.AppendNull();
    column.AppendText("");
  });
  EXPECT_EQ(HexOfRow(batch, 0), "0161");
  EXPECT_EQ(HexOfRow(batch, 1), "ff");
  EXPECT_EQ(HexOfRow(batch, 2), "00");
}

TEST(Bucket, TimesBefore1970AndFractionsOfTheirPrecision) {
  const Batch coarse = OneColumn(TimestampType(3), [](Column& column) { column.AppendInt(-1000); });
  EXPECT_EQ(HexOfRow(coarse, 0), "ffffffffffffffffff01");
  // -1 us is millisecond -1 and 999,000 nanoseconds.
  const Batch fine = OneColumn(TimestampType(6), [](Column& column) { column.AppendInt(-1); });
  EXPECT_EQ(HexOfRow(fine, 0), "ffffffffffffffffff01d8fc3c");
}

TEST(Bucket, WideDecimalsAreAsShortAsTheirSignAllows) {
  const Batch batch = OneColumn(DecimalType(38, 0), [](Column& column) {
    for (const int value : {0, 127, 128, -128, -129, 255, -1}) column.AppendWide(value);
    column.AppendWide(static_cast<Int128>(1) << 127);
    column.AppendWide(~(static_cast<Int128>(1) << 127));
  });
  const std::vector<std::string> expected = {"0100",
                                             "017f",
                                             "020080",
                                             "0180",
                                             "02ff7f",
                                             "0200ff",
                                             "01ff",
                                             "1080" + std::string(30, '0'),
                                             "107f" + std::string(30, 'f')};
  for (size_t row = 0; row < expected.size(); ++row) EXPECT_EQ(HexOfRow(batch, row), expected[row]);
}

// Keys of several columns, with NULLs and texts of all lengths: a chunk gives what each row gives by itself.
TEST(Bucket, ChunksAgreeWithSingleRows) {
  const uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  SCOPED_TRACE(fmt::format("seed {}", seed));
  BatchBuilder builder(std::make_shared<const Schema>(std::vector<Field>{{"s", StringType()},
                                                                         {"i", BigintType()},
                                                                         {"w", DecimalType(38, 2)},
                                                                         {"t", TimestampType(6)},
                                                                         {"b", {TypeKind::kBytes}}}));
  for (int row = 0; row < 1300; ++row) {
    for (size_t c = 0; c < 5; ++c) {
      Column& column = builder.column(c);
      if (random() % 7 == 0) {
        column.AppendNull();
      } else if (column.physical() == Physical::kText) {
        column.AppendText(std::string(random() % (random() % 50 == 0 ? 3000 : 20), static_cast<char>(random())));
      } else if (column.physical() == Physical::kInt128) {
        column.AppendWide(static_cast<Int128>(random()) * static_cast<int64_t>(random()) >> (random() % 120));
      } else {
        column.AppendInt(static_cast<int64_t>(random()) >> (random() % 64));
      }
    }
    builder.FinishRow(RowKind::kInsert);
  }
  const Batch batch = builder.Build();
  const std::vector<int> columns = {4, 1, 0, 3, 2};
  std::vector<uint16_t> buckets;
  BucketRows(batch, columns, 1000, buckets);
  ASSERT_EQ(buckets.size(), batch.rows());
  for (size_t row = 0; row < batch.rows(); ++row) {
    EXPECT_EQ(buckets[row], BucketHash(BucketKeyBytes(batch, columns, row)) % 1000);
    std::string joined;
    for (const int column : columns) joined += BucketKeyBytes(batch, std::vector<int>{column}, row);
    EXPECT_EQ(ToHex(BucketKeyBytes(batch, columns, row)), ToHex(joined));
  }
}

}  // namespace
}  // namespace weir
