#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/connectors/decode.h"

namespace weir::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

DecoderOptions Csv() {
  return Options({Declare("id", "bigint"), Declare("s", "string"), Declare("ts", "timestamp(3)")}, FormatKind::kCsv);
}

TEST(CsvDecoder, FieldsByPosition) {
  const Decoded decoded =
      Decode(Csv(), {"1,abc,2026-11-30T10:00:00", "2,,", "3,\"\",\r\n", "4,\"a,\"\"b\"\"\nc\",1700000000000",
                     "\xEF\xBB\xBF"
                     "5,\"x\"\"\",\n"});
  EXPECT_EQ(decoded.rows,
            "+I 1 'abc' 2026-11-30T10:00:00.000\n+I 2 NULL NULL\n+I 3 '' NULL\n"
            "+I 4 'a,\"b\"\nc' 2023-11-14T22:13:20.000\n+I 5 'x\"' NULL\n");
  EXPECT_THAT(decoded.errors, IsEmpty());
}

TEST(CsvDecoder, RecordsThatAreBad) {
  const Decoded decoded =
      Decode(Csv(), {"1,a", "1,a,,", "1,\"a,", "1,\"a\"b,", "x,a,", "", "1,\xff,", "1.5,a,", "7,ok,"});
  EXPECT_EQ(decoded.rows, "+I 7 'ok' NULL\n");
  EXPECT_THAT(
      decoded.errors,
      ElementsAre("the record has 2 fields, column ts has none",
                  "the record has more fields than the 3 that are declared", "ends in the middle of a quoted field",
                  "text behind the quoted field 'a'", "column id: 'x' is not a bigint",
                  "the record has 1 fields, column s has none", "not UTF-8 text", "column id: '1.5' is not a bigint"));
}

TEST(CsvDecoder, SomeColumnsDefaultsKeysAndMetadata) {
  DecoderOptions options = Csv();
  options.columns[2] = Declare("n", "int");
  options.columns[2].default_value = "7";
  options.columns.push_back(MetadataColumn("o", "bigint", Metadata::kOffset));
  options.read = {3, 2};
  options.primary_key = {0};
  options.csv_delimiter = ';';
  const Decoded decoded = Decode(options, {"1;a;3", "2;b", ";c;4"});
  EXPECT_EQ(decoded.rows, "+I 0 3\n+I 1 7\n");
  EXPECT_THAT(decoded.errors, ElementsAre("column id: NULL in the primary key"));
}

TEST(CsvDecoder, ValuesOfEveryType) {
  const DecoderOptions options = Options({Declare("b", "boolean"), Declare("d", "double"), Declare("n", "decimal(5,2)"),
                                          Declare("day", "date"), Declare("x", "bytes")},
                                         FormatKind::kCsv);
  const Decoded decoded = Decode(options, {"true,NaN,1.005,2026-11-30,Zm9v", "f,\"1.5\",2,,"});
  EXPECT_EQ(decoded.rows, "+I true NaN 1.01 2026-11-30 Zm9v\n+I false 1.5 2.00 NULL NULL\n");
}

TEST(CsvDecoder, WhatCsvCannotHold) {
  EXPECT_THAT(Decode(Options({Declare("a", "array<int>")}, FormatKind::kCsv), Messages()).errors,
              ElementsAre("column a: csv has no arrays"));
  EXPECT_THAT(Decode(Options({Declare("a", "int", "x.y")}, FormatKind::kCsv), Messages()).errors,
              ElementsAre("column a: csv has no nested fields"));
}

}  // namespace
}  // namespace weir::testing
