#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/connectors/decode.h"

namespace weir::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One column v, one message with this JSON for v; the value, or the error.
std::string Value(std::string_view type, const std::string& json, Typing typing = Typing::kStrict,
                  FormatKind format = FormatKind::kJson, TimeUnit unit = TimeUnit::kMilliseconds) {
  SourceColumn column = Declare("v", type);
  column.unit = unit;
  DecoderOptions options = Options({column}, format);
  options.typing = typing;
  const Decoded decoded = Decode(options, {"{\"v\":" + json + "}"});
  if (!decoded.errors.empty()) return decoded.errors[0];
  return decoded.rows.substr(3, decoded.rows.size() - 4);
}

std::string Lenient(std::string_view type, const std::string& json) { return Value(type, json, Typing::kLenient); }

TEST(JsonDecoder, FieldsInAnyOrderAmongOthers) {
  const DecoderOptions options = Options({Declare("id", "bigint"), Declare("s", "string"), Declare("d", "double")});
  const Decoded decoded =
      Decode(options, {R"({"id":1,"s":"x","d":0.5})", R"({"d":1.5,"x":{"id":7,"a":[1,{"b":null}]},"s":"y","id":2})",
                       R"( { "id" : 3 , "s" : "z" } )", "{}"});
  EXPECT_EQ(decoded.rows, "+I 1 'x' 0.5\n+I 2 'y' 1.5\n+I 3 'z' NULL\n+I NULL NULL NULL\n");
  EXPECT_THAT(decoded.errors, IsEmpty());
  EXPECT_THAT(decoded.offsets, ElementsAre(0, 1, 2, 3));
}

TEST(JsonDecoder, OnlyTheColumnsRead) {
  DecoderOptions options = Options({Declare("a", "bigint"), Declare("b", "bigint"), Declare("c", "bigint")});
  options.read = {2, 0};
  const Decoded decoded = Decode(options, {R"({"a":1,"b":"no number, but nobody reads it","c":3})"});
  EXPECT_EQ(decoded.rows, "+I 3 1\n");
}

TEST(JsonDecoder, ABadRecordLeavesNothingBehind) {
  const DecoderOptions options = Options({Declare("id", "bigint"), Declare("s", "string"), Declare("n", "int")});
  const Decoded decoded = Decode(options, {R"({"id":1,"s":"x","n":1})", R"({"id":2,"s":"y","n":"z"})",
                                           R"({"id":3,"s":"y")", R"({"id":4,"s":null,"n":4})"});
  EXPECT_EQ(decoded.rows, "+I 1 'x' 1\n+I 4 NULL 4\n");
  EXPECT_THAT(decoded.errors, ElementsAre("column n: 'z' is not a int", "ends in the middle of a value at byte 15"));
  EXPECT_THAT(decoded.offsets, ElementsAre(0, 3));
}

TEST(JsonDecoder, TheLastOfEqualKeysCounts) {
  const DecoderOptions options =
      Options({Declare("id", "bigint"), Declare("n", "bigint"), Declare("p", "bigint", "o.p")});
  const Decoded decoded = Decode(options, {
                                              R"({"id":1,"n":4,"n":77})",
                                              R"({"n":5,"id":2,"o":{"p":1,"p":2},"\u006e":6})",
                                              R"({"id":3,"n":"bad","n":7})",
                                              R"({"id":4,"o":{"p":1},"o":{"q":2}})",
                                              R"({"id":5,"o":{"p":1},"o":3,"n":1,"n":null})",
                                              R"({"id":6,"n":1,"n":"bad"})",
                                          });
  EXPECT_EQ(decoded.rows, "+I 1 77 NULL\n+I 2 6 2\n+I 3 7 NULL\n+I 4 NULL NULL\n+I 5 NULL NULL\n");
  EXPECT_THAT(decoded.errors, ElementsAre("column n: 'bad' is not a bigint"));
}

TEST(JsonDecoder, KeysWithEscapesCaseAndDots) {
  const DecoderOptions options =
      Options({Declare("id", "bigint"), Declare("caf\xc3\xa9", "bigint"), Declare("x", "bigint", "user.id"),
               Declare("y", "bigint", "\"user.id\""), Declare("z", "bigint", "attrs.\"b.c\"")});
  const Decoded decoded = Decode(options, {R"({"i\u0064":9,"caf\u00e9":2,"ID":5,"Id":6})",
                                           R"({"user.id":5,"user":{"id":6},"attrs":{"a":1,"b.c":2}})"});
  EXPECT_EQ(decoded.rows, "+I 9 2 NULL NULL NULL\n+I NULL NULL 6 5 2\n");
}

TEST(JsonDecoder, ParentsThatAreNoObject) {
  const DecoderOptions options = Options({Declare("id", "bigint"), Declare("city", "string", "loc.city")});
  const Decoded decoded = Decode(options, {R"({"id":1,"loc":{"city":"Oslo"}})", R"({"id":2,"loc":null})", R"({"id":3})",
                                           R"({"id":4,"loc":"x"})", R"({"id":5,"loc":[{"city":"Bergen"}]})"});
  EXPECT_EQ(decoded.rows, "+I 1 'Oslo'\n+I 2 NULL\n+I 3 NULL\n+I 4 NULL\n+I 5 NULL\n");
}

TEST(JsonDecoder, SeveralColumnsOfOneField) {
  const DecoderOptions options = Options({Declare("a", "bigint", "v"), Declare("b", "double", "v"),
                                          Declare("c", "bigint", "o.x"), Declare("d", "string", "o")});
  DecoderOptions lenient = options;
  lenient.typing = Typing::kLenient;
  const Decoded decoded = Decode(lenient, {R"({"v":3,"o":{"x": 1}})", R"({"o":[1 , 2],"v":4})"});
  EXPECT_EQ(decoded.rows, "+I 3 3 1 '{\"x\": 1}'\n+I 4 4 NULL '[1 , 2]'\n");
}

TEST(JsonDecoder, Integers) {
  EXPECT_EQ(Value("bigint", "9007199254740993"), "9007199254740993");
  EXPECT_EQ(Value("bigint", "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Value("bigint", "1.0"), "1");
  EXPECT_EQ(Value("bigint", "1e3"), "1000");
  EXPECT_EQ(Value("bigint", "-0"), "0");
  EXPECT_EQ(Value("bigint", "1.5"), "column v: 1.5 is not a bigint");
  EXPECT_EQ(Value("bigint", "184467440737095516160"), "column v: 184467440737095516160 is out of range for bigint");
  EXPECT_EQ(Value("tinyint", "-128"), "-128");
  EXPECT_EQ(Value("tinyint", "128"), "column v: 128 is out of range for tinyint");
  EXPECT_EQ(Value("smallint", "32768"), "column v: 32768 is out of range for smallint");
  EXPECT_EQ(Value("int", "2147483648"), "column v: 2147483648 is out of range for int");
  EXPECT_EQ(Value("bigint", "true"), "column v: true is not a bigint");
  EXPECT_EQ(Value("bigint", "\"123\""), "column v: '123' is not a bigint");
  EXPECT_EQ(Value("bigint", "{\"a\":1}"), "column v: {\"a\":1} is not a bigint");
  EXPECT_EQ(Value("bigint", "[1]"), "column v: [1] is not a bigint");
  EXPECT_EQ(Lenient("bigint", "\"123\""), "123");
  EXPECT_EQ(Lenient("bigint", "\"12x\""), "column v: '12x' is not a bigint");
  EXPECT_EQ(Lenient("bigint", "\"\""), "column v: '' is not a bigint");
  EXPECT_EQ(Lenient("bigint", "true"), "column v: true is not a bigint");
}

TEST(JsonDecoder, Decimals) {
  EXPECT_EQ(Value("decimal(22,6)", "687298011309623.3"), "687298011309623.300000");
  EXPECT_EQ(Value("decimal(30,0)", "184467440737095516160"), "184467440737095516160");
  EXPECT_EQ(Value("decimal(10,2)", "12.345"), "12.35");
  EXPECT_EQ(Value("decimal(10,2)", "-12.345"), "-12.35");
  EXPECT_EQ(Value("decimal(10,2)", "1e2"), "100.00");
  EXPECT_EQ(Value("decimal(10,2)", "123456789.5"), "column v: 123456789.5 is out of range for decimal(10,2)");
  EXPECT_EQ(Value("decimal(10,2)", "\"1.5\""), "column v: '1.5' is not a decimal(10,2)");
  EXPECT_EQ(Lenient("decimal(10,2)", "\"1.5\""), "1.50");
  EXPECT_EQ(Value("decimal(10,2)", "\"1.5\"", Typing::kStrict, FormatKind::kChangelogJson), "1.50");
}

TEST(JsonDecoder, FloatingNumbers) {
  EXPECT_EQ(Value("double", "184467440737095516160"), "1.844674407370955e+20");
  EXPECT_EQ(Value("double", "1e-400"), "0");
  EXPECT_EQ(Value("double", "1e400"), "column v: 1e400 is out of range for double");
  EXPECT_EQ(Value("double", "-0.0"), "-0");
  EXPECT_EQ(Value("double", "NaN"), "'N' at byte 5 where a value should be");
  EXPECT_EQ(Value("double", "-Infinity"), "'-' at byte 5 where a value should be");
  EXPECT_EQ(Value("double", "\"NaN\""), "column v: 'NaN' is not a double");
  EXPECT_EQ(Lenient("double", "\"1.5\""), "1.5");
  EXPECT_EQ(Lenient("double", "\"NaN\""), "column v: 'NaN' is not a double");
  EXPECT_EQ(Value("double", "\"NaN\"", Typing::kStrict, FormatKind::kChangelogJson), "NaN");
  EXPECT_EQ(Value("double", "\"1.5\"", Typing::kStrict, FormatKind::kChangelogJson), "column v: '1.5' is not a double");
  EXPECT_EQ(Value("float", "0.1"), "0.1");
  EXPECT_EQ(Value("float", "1e39"), "column v: 1e39 is out of range for float");
}

TEST(JsonDecoder, TextsAndBooleans) {
  EXPECT_EQ(Value("string", R"("a\n\t\"\\\/\u00e9\ud83d\ude00")"), "'a\n\t\"\\/\xc3\xa9\xf0\x9f\x98\x80'");
  EXPECT_EQ(Value("string", "\"\""), "''");
  EXPECT_EQ(Value("string", "5"), "column v: 5 is not a string");
  EXPECT_EQ(Value("string", "true"), "column v: true is not a string");
  EXPECT_EQ(Lenient("string", "1.50"), "'1.50'");
  EXPECT_EQ(Lenient("string", "true"), "'true'");
  EXPECT_EQ(Lenient("string", R"({"a": [1, 2]})"), "'{\"a\": [1, 2]}'");
  EXPECT_EQ(Value("boolean", "true"), "true");
  EXPECT_EQ(Value("boolean", "false"), "false");
  EXPECT_EQ(Value("boolean", "1"), "column v: 1 is not a boolean");
  EXPECT_EQ(Value("boolean", "\"true\""), "column v: 'true' is not a boolean");
  EXPECT_EQ(Lenient("boolean", "\"true\""), "true");
  EXPECT_EQ(Value("bytes", "\"Zm9v\""), "Zm9v");
  EXPECT_EQ(Value("bytes", "\"Zm9\""), "column v: 'Zm9' is not a bytes");
}

TEST(JsonDecoder, EscapesThatAreNoText) {
  EXPECT_EQ(Value("string", R"("\ud83d")"), "a surrogate without its partner");
  EXPECT_EQ(Value("string", R"("\ude00\ud83d")"), "a surrogate without its partner");
  EXPECT_EQ(Value("string", R"("\ud83dx")"), "a surrogate without its partner");
  EXPECT_EQ(Value("string", R"("a\u0000b")"), "the character U+0000 in a text");
  EXPECT_EQ(Value("string", R"("\x41")"), "an escape that JSON does not have");
  EXPECT_EQ(Value("string", R"("\u12g4")"), "an escape \\u without four hexadecimal digits");
}

TEST(JsonDecoder, Times) {
  EXPECT_EQ(Value("timestamp(3)", "1700000000000"), "2023-11-14T22:13:20.000");
  EXPECT_EQ(Value("timestamp(3)", "1700000000"), "1970-01-20T16:13:20.000");
  const auto unit = [](const std::string& json, TimeUnit unit) {
    return Value("timestamp(3)", json, Typing::kStrict, FormatKind::kJson, unit);
  };
  EXPECT_EQ(unit("1700000000", TimeUnit::kSeconds), "2023-11-14T22:13:20.000");
  EXPECT_EQ(unit("1700000000.1236", TimeUnit::kSeconds), "2023-11-14T22:13:20.124");
  EXPECT_EQ(unit("1700000000123456", TimeUnit::kMicroseconds), "2023-11-14T22:13:20.123");
  EXPECT_EQ(unit("1700000000000", TimeUnit::kSeconds), "column v: 1700000000000 is out of range for timestamp(3)");
  EXPECT_EQ(unit("1e400", TimeUnit::kSeconds), "column v: 1e400 is out of range for timestamp(3)");
  EXPECT_EQ(unit("-1", TimeUnit::kMilliseconds), "1969-12-31T23:59:59.999");
  EXPECT_EQ(Value("timestamp(3)", "\"2024-03-05T08:00:00.1230+05:00\""), "2024-03-05T08:00:00.123");
  EXPECT_EQ(Value("timestamp_ltz(3)", "\"2024-03-05T08:00:00-0330\""), "2024-03-05T11:30:00.000Z");
  EXPECT_EQ(Value("timestamp(3)", "\"5 March\""), "column v: '5 March' is not a timestamp(3)");
  EXPECT_EQ(Value("timestamp(3)", "\"0000-01-01\""), "column v: '0000-01-01' is out of range for timestamp(3)");
  EXPECT_EQ(Value("timestamp(3)", "\"1700000000000\""), "column v: '1700000000000' is not a timestamp(3)");
  EXPECT_EQ(Lenient("timestamp(3)", "\"1700000000000\""), "2023-11-14T22:13:20.000");
  EXPECT_EQ(Value("date", "\"2026-11-30\""), "2026-11-30");
  EXPECT_EQ(Value("date", "20000"), "column v: 20000 is not a date");
  EXPECT_EQ(Value("time(3)", "\"10:00:00.5\""), "10:00:00.500");
}

TEST(JsonDecoder, LocalTimesTakeTheZoneOfTheJob) {
  DecoderOptions options = Options({Declare("ts", "timestamp_ltz(3)")});
  options.time_zone = "Europe/Berlin";
  const Decoded decoded = Decode(
      options, {R"({"ts":"2024-10-27 02:30:00"})", R"({"ts":"2024-03-31 02:30:00"})", R"({"ts":1700000000000})"});
  EXPECT_EQ(decoded.rows, "+I 2024-10-27T01:30:00.000Z\n+I 2024-03-31T01:30:00.000Z\n+I 2023-11-14T22:13:20.000Z\n");
  options.time_zone = "Europe/Atlantis";
  EXPECT_THAT(Decode(options, std::vector<std::string>{}).errors, ElementsAre("unknown time zone Europe/Atlantis"));
}

TEST(JsonDecoder, Arrays) {
  EXPECT_EQ(Value("array<string>", R"([null,"a", "b\n"])"), R"([null,"a","b\n"])");
  EXPECT_EQ(Value("array<string>", "[]"), "[]");
  EXPECT_EQ(Value("array<string>", "null"), "NULL");
  EXPECT_EQ(Value("array<string>", R"(["b",["c"]])"), "column v: [\"c\"] is not a string");
  EXPECT_EQ(Value("array<string>", R"(["b",1])"), "column v: 1 is not a string");
  EXPECT_EQ(Value("array<string>", R"("b")"), "column v: 'b' is not a array<string>");
  EXPECT_EQ(Value("array<bigint>", "[1,2,-3]"), "[1,2,-3]");
  EXPECT_EQ(Value("array<bigint>", "[1,]"), "']' at byte 8 where a value should be");
  EXPECT_EQ(Value("array<boolean>", "[true,false,null]"), "[true,false,null]");
  EXPECT_EQ(Value("array<decimal(5,2)>", "[1.005,2]"), "[1.01,2.00]");
  const Decoded decoded =
      Decode(Options({Declare("v", "array<bigint>")}), {R"({"v":[1,"x"],"v":[7]})", R"({"v":[8]})"});
  EXPECT_EQ(decoded.rows, "+I [7]\n+I [8]\n");
}

// Each of these is refused whatever columns are read.
TEST(JsonDecoder, EveryFaultOfADocumentIsFound) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  for (const std::string& text : std::vector<std::string>{"",
                                                          "   ",
                                                          "null",
                                                          "42",
                                                          "\"x\"",
                                                          "[{\"id\":1}]",
                                                          "{",
                                                          "}",
                                                          "{\"id\":1",
                                                          "{\"id\":1}}",
                                                          "{\"id\":3} {\"id\":4}",
                                                          "{\"id\":5}]",
                                                          "{\"id\":6} junk",
                                                          "{\"id\":1}//x",
                                                          "/*x*/{\"id\":1}",
                                                          "{'id':1}",
                                                          "{id:1}",
                                                          "{\"id\":1,}",
                                                          "{,}",
                                                          "{\"id\"}",
                                                          "{\"id\":}",
                                                          "{\"id\" 1}",
                                                          "{\"id\":1 \"s\":2}",
                                                          "{\"id\"::1}",
                                                          "{\"id\":1,,\"s\":2}",
                                                          "{\"id\":01}",
                                                          "{\"id\":+1}",
                                                          "{\"id\":.5}",
                                                          "{\"id\":1.}",
                                                          "{\"id\":1e}",
                                                          "{\"id\":-}",
                                                          "{\"id\":0x1}",
                                                          "{\"id\":1a}",
                                                          "{\"id\":tru}",
                                                          "{\"id\":truex}",
                                                          "{\"id\":True}",
                                                          "{\"id\":nul}",
                                                          "{\"id\":NaN}",
                                                          "{\"id\":\"a\nb\"}",
                                                          "{\"id\":\"a}",
                                                          "{\"id\":\"\\u12\"}",
                                                          "{\"id\":\"\\q\"}",
                                                          "{\"id\":\"\\ud800\"}",
                                                          "{\"id\":\"\\u0000\"}",
                                                          "{\"i\\qd\":1}",
                                                          "{\"a\":[1,]}",
                                                          "{\"a\":[1 2]}",
                                                          "{\"a\":[1}",
                                                          "{\"a\":{\"b\":1]}",
                                                          "{\"a\":[,1]}",
                                                          "{\"a\":{\"b\" 1}}",
                                                          "{\"a\":{\"b\":1,}}",
                                                          "{\"a\":{1:1}}",
                                                          "{\"a\":01}",
                                                          "{\"a\":[tru]}",
                                                          "{\"a\":1\"x\"}",
                                                          "{\"a\":true\"x\"}",
                                                          "{\"a\":\"x\"1}",
                                                          "{\"a\"b:1}",
                                                          "{\"\"\"\":1}",
                                                          "{1:2}",
                                                          "{\"a\":" + deep + "}",
                                                          std::string("{\"a\":1}\0", 8),
                                                          std::string("{\"a\":\0}", 7),
                                                          "{\"s\":\"a\xff"
                                                          "b\"}",
                                                          "{\"s\":\"\xed\xa0\x80\"}",
                                                          "{\"s\":\"\xc0\xaf\"}",
                                                          "\xff\xfe{\"id\":1}",
                                                          std::string("\0\0\0\0\7{\"id\":3}", 13)}) {
    for (const char* column : {"id", "a", "s", "other"}) {
      // An array column takes none of the values above, so that a fault of the type could hide nothing: read it
      // leniently.
      DecoderOptions options = Options({Declare(column, "string")});
      options.typing = Typing::kLenient;
      const Decoded decoded = Decode(options, {R"({"id":0,"a":1,"s":2})", text, R"({"id":1,"a":2,"s":3})"});
      EXPECT_EQ(decoded.errors.size(), 1U) << text << " reading " << column << ": " << decoded.rows;
      EXPECT_THAT(decoded.offsets, ElementsAre(0, 2));
    }
  }
}

TEST(JsonDecoder, WhatLooksOddAndIsFine) {
  const DecoderOptions options = Options({Declare("id", "bigint")});
  const std::string nested = std::string(200, '[') + std::string(200, ']');
  const Decoded decoded =
      Decode(options, {"\xEF\xBB\xBF{\"id\":1}", "{\"id\":2}\r\n ", "{\n \"id\" : 3 ,\n\t\"x\" : [ ] }\n",
                       "{\"x\":" + nested + ",\"id\":4}", R"({"x":"{\"id\":9}","id":5,"":1})",
                       R"({"score":184467440737095516160,"id":6,"y":-0.5E+10})"});
  EXPECT_EQ(decoded.rows, "+I 1\n+I 2\n+I 3\n+I 4\n+I 5\n+I 6\n");
  EXPECT_THAT(decoded.errors, IsEmpty());
}

TEST(JsonDecoder, LongTextsAndManyKeys) {
  std::string text = "{";
  for (int i = 0; i < 2000; ++i) text += "\"key_number_" + std::to_string(i) + "\":\"" + std::string(100, 'x') + "\",";
  text += "\"" + std::string(500, 'k') + "\":1,\"v\":7}";
  const Decoded decoded =
      Decode(Options({Declare("v", "bigint"), Declare(std::string(500, 'k'), "int")}), {text, text});
  EXPECT_EQ(decoded.rows, "+I 7 1\n+I 7 1\n");
}

TEST(JsonDecoder, TheOrderOfKeysMayChangeFromRowToRow) {
  const DecoderOptions options = Options({Declare("a", "bigint"), Declare("ab", "bigint"), Declare("b", "bigint")});
  const Decoded decoded =
      Decode(options, {R"({"a":1,"ab":2,"b":3})", R"({"b":3,"ab":2,"a":1})", R"({"ab":2,"x":0,"b":3})",
                       R"({"a":1,"ab":2,"b":3})", R"({"x":0,"ab":2,"xx":0})"});
  EXPECT_EQ(decoded.rows, "+I 1 2 3\n+I 1 2 3\n+I NULL 2 3\n+I 1 2 3\n+I NULL 2 NULL\n");
}

TEST(JsonDecoder, DefaultsAreForMissingFields) {
  SourceColumn a = Declare("a", "bigint");
  a.default_value = "7";
  SourceColumn b = Declare("b", "string", "o.b");
  b.default_value = "x";
  SourceColumn c = Declare("c", "array<int>");
  c.default_value = "[1,null]";
  const Decoded decoded =
      Decode(Options({a, b, c}), {"{}", R"({"a":null,"o":{"b":null},"c":[]})", R"({"a":1,"o":{"b":"y"}})"});
  EXPECT_EQ(decoded.rows, "+I 7 'x' [1,null]\n+I NULL NULL []\n+I 1 'y' [1,null]\n");
  a.default_value = "seven";
  EXPECT_THAT(Decode(Options({a}), std::vector<std::string>{}).errors,
              ElementsAre("default of column a: 'seven' is not a bigint"));
}

TEST(JsonDecoder, ThePrimaryKeyIsNotNullEvenWhenNobodyReadsIt) {
  DecoderOptions options = Options({Declare("id", "bigint"), Declare("v", "bigint")});
  options.primary_key = {0};
  const std::vector<std::string> texts = {R"({"v":1})", R"({"id":null,"v":2})", R"({"id":3,"v":3})"};
  EXPECT_EQ(Decode(options, texts).rows, "+I 3 3\n");
  EXPECT_THAT(Decode(options, texts).errors,
              ElementsAre("column id: NULL in the primary key", "column id: NULL in the primary key"));
  options.read = {1};
  EXPECT_EQ(Decode(options, texts).rows, "+I 3\n");
}

TEST(JsonDecoder, MetadataOfTheMessage) {
  const DecoderOptions options =
      Options({Declare("id", "bigint"), MetadataColumn("k", "string", Metadata::kKey),
               MetadataColumn("ts", "timestamp(3)", Metadata::kTimestamp),
               MetadataColumn("p", "int", Metadata::kPartition), MetadataColumn("o", "bigint", Metadata::kOffset)});
  Messages messages;
  RawMessage& first = messages.Add(R"({"id":1,"k":"not this one"})");
  first.key = "";
  first.timestamp_ms = 1700000000000;
  first.partition_id = 3;
  first.offset = 42;
  messages.Add(R"({"id":2})");
  messages.Add(R"({"id":3})").key = "\xff";
  const Decoded decoded = Decode(options, messages);
  EXPECT_EQ(decoded.rows, "+I 1 '' 2023-11-14T22:13:20.000 3 42\n+I 2 NULL NULL 0 1\n");
  EXPECT_THAT(decoded.errors, ElementsAre("column k: 'a key that is not UTF-8 text' is not a string"));
  EXPECT_THAT(Decode(Options({MetadataColumn("p", "string", Metadata::kPartition)}), Messages()).errors,
              ElementsAre("column p: this metadata is not a string"));
}

TEST(JsonDecoder, TombstonesOfAnAppendSourceAreDroppedAndCounted) {
  Messages messages;
  messages.Add(R"({"id":1})");
  messages.AddTombstone("u1");
  messages.Add("");
  const Decoded decoded = Decode(Options({Declare("id", "bigint")}), messages);
  EXPECT_EQ(decoded.rows, "+I 1\n");
  EXPECT_EQ(decoded.tombstones, 1U);
  EXPECT_THAT(decoded.errors, ElementsAre("an empty document"));
}

TEST(JsonDecoder, ATombstoneDeletesTheKeyThatIsMetadata) {
  DecoderOptions options = Options({MetadataColumn("k", "string", Metadata::kKey), Declare("v", "bigint")});
  options.primary_key = {0};
  options.upsert = true;
  Messages messages;
  messages.Add(R"({"v":3})").key = "a";
  messages.Add(R"({"v":1})");  // no key
  messages.Add(R"({"v":2})").key = "";
  messages.AddTombstone("a");
  messages.AddTombstone(std::nullopt);
  const Decoded decoded = Decode(options, messages);
  EXPECT_EQ(decoded.rows, "+I 'a' 3\n+I '' 2\n-D 'a' NULL\n");
  EXPECT_THAT(decoded.errors, ElementsAre("column k: NULL in the primary key", "a tombstone without a key"));
  EXPECT_EQ(decoded.tombstones, 2U);
}

TEST(JsonDecoder, ATombstoneDeletesTheKeyThatIsAnObject) {
  DecoderOptions options = Options({Declare("v", "bigint"), Declare("b", "string"), Declare("a", "bigint")});
  options.primary_key = {2, 1};
  options.upsert = true;
  Messages messages;
  messages.AddTombstone(R"({"a":1,"b":"x"})");
  messages.AddTombstone(R"({"a":1})");
  messages.AddTombstone("17");
  const Decoded decoded = Decode(options, messages);
  EXPECT_EQ(decoded.rows, "-D NULL 'x' 1\n");
  EXPECT_THAT(decoded.errors, ElementsAre("the tombstone's key: column b: NULL in the primary key",
                                          "the tombstone's key: not a JSON object"));
}

TEST(JsonDecoder, ATombstoneDeletesTheKeyThatIsPlainText) {
  DecoderOptions options = Options({Declare("id", "bigint"), Declare("v", "bigint")});
  options.primary_key = {0};
  options.upsert = true;
  Messages messages;
  messages.AddTombstone("17");
  messages.AddTombstone(R"({"id":18})");
  messages.AddTombstone("x");
  const Decoded decoded = Decode(options, messages);
  EXPECT_EQ(decoded.rows, "-D 17 NULL\n-D 18 NULL\n");
  EXPECT_THAT(decoded.errors, ElementsAre("column id: 'x' is not a bigint"));
  options.columns[0].type = StringType();
  EXPECT_EQ(Decode(options, messages).rows, "-D '17' NULL\n-D '{\"id\":18}' NULL\n-D 'x' NULL\n");
}

TEST(JsonDecoder, ChangelogsCarryTheKindOfTheRow) {
  const DecoderOptions options =
      Options({Declare("id", "bigint"), Declare("m", "bitmap32")}, FormatKind::kChangelogJson);
  const Decoded decoded = Decode(options, {R"({"op":"+I","id":1})", R"({"op":"-U","id":1})",
                                           R"({"id":2,"op":"+U","m":"OjAAAAAAAAA="})", R"({"id":3,"op":"-D"})", R"({"id":4})",
                                           R"({"op":"X","id":5})", R"({"op":null})", R"({"op":"?","op":"-D","id":6})"});
  EXPECT_EQ(decoded.rows, "+I 1 NULL\n-U 1 NULL\n+U 2 OjAAAAAAAAA=\n-D 3 NULL\n+I 4 NULL\n-D 6 NULL\n");
  EXPECT_THAT(decoded.errors, ElementsAre("op: 'X' is none of +I -U +U -D", "op: 'null' is none of +I -U +U -D"));
}

TEST(JsonDecoder, PathsOfTheJobFile) {
  const auto path = [](std::string_view text) { return ParsePath(text).value_or(std::vector<std::string>{"none"}); };
  EXPECT_THAT(path("a"), ElementsAre("a"));
  EXPECT_THAT(path("user.id"), ElementsAre("user", "id"));
  EXPECT_THAT(path("\"user.id\""), ElementsAre("user.id"));
  EXPECT_THAT(path("attrs.\"b.c\".d"), ElementsAre("attrs", "b.c", "d"));
  EXPECT_THAT(path("\"a\"\"b\""), ElementsAre("a\"b"));
  EXPECT_THAT(path("\"\""), ElementsAre(""));
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "a\"b"}) EXPECT_FALSE(ParsePath(bad)) << bad;
}

TEST(JsonDecoder, DebeziumIsRefusedByName) {
  EXPECT_THAT(Decode(Options({Declare("id", "bigint")}, FormatKind::kDebeziumJson), Messages()).errors,
              ElementsAre("format debezium_json is not available yet"));
}

}  // namespace
}  // namespace weir::testing
