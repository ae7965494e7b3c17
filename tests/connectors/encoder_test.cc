#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/data/array_codec.h"
#include "tests/connectors/decode.h"

namespace weir::testing {
namespace {

using ::testing::ElementsAre;

SchemaPtr SchemaOf(std::vector<std::pair<std::string, std::string>> columns) {
  std::vector<Field> fields;
  for (const auto& [name, type] : columns) fields.push_back({name, ParseType(type).value()});
  return std::make_shared<const Schema>(std::move(fields));
}

std::vector<std::string> Lines(FormatKind format, const Batch& batch) {
  const auto encoder = MakeEncoder(format, batch.schema());
  EXPECT_TRUE(encoder);
  std::string out = "before";
  std::vector<size_t> ends;
  (*encoder)->Encode(batch, out, ends);
  std::vector<std::string> lines;
  size_t from = 6;
  for (const size_t end : ends) {
    lines.push_back(out.substr(from, end - from));
    from = end;
  }
  EXPECT_EQ(from, out.size());
  return lines;
}

// One column, one value.
template <class Fill>
std::string Json(const std::string& type, Fill fill) {
  BatchBuilder builder(SchemaOf({{"v", type}}));
  fill(builder.column(0));
  builder.FinishRow(RowKind::kInsert);
  return Lines(FormatKind::kJson, builder.Build()).at(0);
}

Batch Changes() {
  BatchBuilder builder(SchemaOf({{"id", "bigint"}, {"a \"b\"", "string"}, {"d", "decimal(12,2)"}}));
  int64_t id = 1;
  for (const RowKind kind : {RowKind::kInsert, RowKind::kUpdateBefore, RowKind::kUpdateAfter, RowKind::kDelete}) {
    builder.column(0).AppendInt(id++);
    if (kind == RowKind::kDelete) {
      builder.column(1).AppendNull();
    } else {
      builder.column(1).AppendText("x\n\"y\"");
    }
    builder.column(2).AppendInt(-350);
    builder.FinishRow(kind);
  }
  return builder.Build();
}

TEST(Encoder, JsonObjects) {
  EXPECT_THAT(Lines(FormatKind::kJson, Changes()),
              ElementsAre(R"({"id":1,"a \"b\"":"x\n\"y\"","d":-3.50})", R"({"id":2,"a \"b\"":"x\n\"y\"","d":-3.50})",
                          R"({"id":3,"a \"b\"":"x\n\"y\"","d":-3.50})", R"({"id":4,"a \"b\"":null,"d":-3.50})"));
}

TEST(Encoder, ChangelogJsonBeginsWithTheKind) {
  EXPECT_THAT(Lines(FormatKind::kChangelogJson, Changes()),
              ElementsAre(R"({"op":"+I","id":1,"a \"b\"":"x\n\"y\"","d":-3.50})",
                          R"({"op":"-U","id":2,"a \"b\"":"x\n\"y\"","d":-3.50})",
                          R"({"op":"+U","id":3,"a \"b\"":"x\n\"y\"","d":-3.50})",
                          R"({"op":"-D","id":4,"a \"b\"":null,"d":-3.50})"));
  BatchBuilder none(std::make_shared<const Schema>());
  none.FinishRow(RowKind::kInsert);
  EXPECT_THAT(Lines(FormatKind::kChangelogJson, none.Build()), ElementsAre(R"({"op":"+I"})"));
}

TEST(Encoder, JsonValuesOfEveryType) {
  EXPECT_EQ(Json("bigint", [](Column& c) { c.AppendInt(INT64_MIN); }), R"({"v":-9223372036854775808})");
  EXPECT_EQ(Json("boolean", [](Column& c) { c.AppendBool(true); }), R"({"v":true})");
  EXPECT_EQ(Json("double", [](Column& c) { c.AppendDouble(0.1); }), R"({"v":0.1})");
  EXPECT_EQ(Json("double", [](Column& c) { c.AppendDouble(1e22); }), R"({"v":1e+22})");
  EXPECT_EQ(Json("double", [](Column& c) { c.AppendDouble(std::nan("")); }), R"({"v":"NaN"})");
  EXPECT_EQ(Json("double", [](Column& c) { c.AppendDouble(-HUGE_VAL); }), R"({"v":"-Infinity"})");
  EXPECT_EQ(Json("float", [](Column& c) { c.AppendDouble(0.1F); }), R"({"v":0.1})");
  EXPECT_EQ(Json("decimal(38,4)", [](Column& c) { c.AppendWide(Int128{1} << 100); }),
            R"({"v":126765060022822940149670320.5376})");
  EXPECT_EQ(Json("date", [](Column& c) { c.AppendInt(20000); }), R"({"v":"2024-10-04"})");
  EXPECT_EQ(Json("time(0)", [](Column& c) { c.AppendInt(3'600'000'000); }), R"({"v":"01:00:00"})");
  EXPECT_EQ(Json("timestamp(3)", [](Column& c) { c.AppendInt(1'700'000'000'123'000); }),
            R"({"v":"2023-11-14T22:13:20.123"})");
  EXPECT_EQ(Json("timestamp_ltz(6)", [](Column& c) { c.AppendInt(1'700'000'000'123'456); }),
            R"({"v":"2023-11-14T22:13:20.123456Z"})");
  EXPECT_EQ(Json("bytes", [](Column& c) { c.AppendText("foob"); }), R"({"v":"Zm9vYg=="})");
  EXPECT_EQ(Json("bitmap64", [](Column& c) { c.AppendText(""); }), R"({"v":""})");
  EXPECT_EQ(Json("array<string>",
                 [](Column& c) {
                   Column elements(StringType());
                   elements.AppendText("a\"");
                   elements.AppendNull();
                   std::string bytes;
                   AppendArray(elements, 0, 2, bytes);
                   c.AppendText(bytes);
                 }),
            R"({"v":["a\"",null]})");
}

TEST(Encoder, KeysAreObjectsOfSomeColumns) {
  const Batch batch = Changes();
  for (const FormatKind format : {FormatKind::kJson, FormatKind::kChangelogJson, FormatKind::kCsv}) {
    const auto encoder = MakeEncoder(format, batch.schema());
    std::string out;
    std::vector<size_t> ends;
    const int columns[] = {2, 0};
    (*encoder)->EncodeKey(batch.Slice(1, 1), columns, out, ends);
    EXPECT_EQ(out, R"({"d":-3.50,"id":2})");
    EXPECT_THAT(ends, ElementsAre(out.size()));
  }
}

TEST(Encoder, CsvQuotesWhatItMust) {
  BatchBuilder builder(SchemaOf({{"s", "string"}, {"n", "bigint"}, {"a", "array<bigint>"}}));
  for (const char* text : {"plain", "", "a,b", "a\"b", "a\nb", "\""}) {
    builder.column(0).AppendText(text);
    builder.column(1).AppendInt(1);
    builder.column(2).AppendNull();
    builder.FinishRow(RowKind::kInsert);
  }
  builder.column(0).AppendNull();
  builder.column(1).AppendNull();
  Column elements(BigintType());
  elements.AppendInt(1);
  elements.AppendInt(2);
  std::string bytes;
  AppendArray(elements, 0, 2, bytes);
  builder.column(2).AppendText(bytes);
  builder.FinishRow(RowKind::kInsert);
  EXPECT_THAT(
      Lines(FormatKind::kCsv, builder.Build()),
      ElementsAre("plain,1,", "\"\",1,", "\"a,b\",1,", "\"a\"\"b\",1,", "\"a\nb\",1,", "\"\"\"\",1,", ",,\"[1,2]\""));
  EXPECT_EQ(CsvHeader(*SchemaOf({{"id", "int"}, {"a,b", "int"}})), "id,\"a,b\"");
}

// What a sink writes, a source of the same columns reads back.
TEST(Encoder, ChangelogsThereAndBack) {
  const std::vector<std::string> lines = {
      R"({"op":"+I","i":-5,"t":"caf\u00e9 \"x\"","d":"12.345678901234567890123","f":"NaN","ts":"2024-03-05T08:00:00.123Z","b":"Zm9v","a":[1,null],"y":true})",
      R"({"op":"-U","i":null,"t":null,"d":null,"f":null,"ts":null,"b":null,"a":null,"y":null})",
      R"({"op":"+U","i":1,"t":"","d":-0.1,"f":1e300,"ts":0,"b":"","a":[],"y":false})"};
  const DecoderOptions options =
      Options({Declare("i", "bigint"), Declare("t", "string"), Declare("d", "decimal(38,21)"), Declare("f", "double"),
               Declare("ts", "timestamp_ltz(3)"), Declare("b", "bytes"), Declare("a", "array<bigint>"),
               Declare("y", "boolean")},
              FormatKind::kChangelogJson);
  Messages messages;
  for (const std::string& line : lines) messages.Add(line);
  const auto decoder = MakeDecoder(options);
  BatchBuilder builder((*decoder)->schema());
  std::vector<RowPosition> positions;
  std::vector<DecodeError> errors;
  (*decoder)->Decode(messages.all(), builder, positions, errors);
  ASSERT_TRUE(errors.empty()) << errors[0].text;
  const Batch batch = builder.Build();
  EXPECT_EQ(Decode(options, Lines(FormatKind::kChangelogJson, batch)).rows, batch.ToString());
}

TEST(Encoder, DebeziumIsRefusedByName) { EXPECT_FALSE(MakeEncoder(FormatKind::kDebeziumJson, SchemaOf({}))); }

}  // namespace
}  // namespace weir::testing
