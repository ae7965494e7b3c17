#include "jobs/job_file/query_position.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/jobs/job_text.h"

namespace weir {
namespace {

// Where `needle` of the first query's text is, by the mapping; and where it stands in the file, by search.
struct Places {
  std::string mapped;
  std::string real;
};

std::string Text(int line, int column) { return std::to_string(line) + ":" + std::to_string(column); }

int Characters(const std::string& text) {
  int count = 0;
  for (const char c : text) count += (c & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

std::string PlaceIn(const std::string& text, const std::string& needle) {
  const size_t at = text.find(needle);
  const std::string before = text.substr(0, at);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const size_t newline = before.rfind('\n');
  return Text(line, Characters(newline == std::string::npos ? before : before.substr(newline + 1)) + 1);
}

Places Find(const std::string& file_text, const std::string& needle) {
  const JobFile file = ReadSound(file_text);
  const QueryDeclaration& query = file.queries.front();
  const std::string in_query = PlaceIn(query.sql, needle);
  const size_t colon = in_query.find(':');
  const FilePosition place =
      PositionOfQuery(file, query, std::stoi(in_query.substr(0, colon)), std::stoi(in_query.substr(colon + 1)));
  return {Text(place.line, place.column), PlaceIn(file_text, needle)};
}

struct Style {
  const char* name;
  const char* text;
};

class QueryPosition : public ::testing::TestWithParam<Style> {};

TEST_P(QueryPosition, FindsEveryWord) {
  for (const char* needle : {"INSERT", "SELECT", "NEEDLE", "LAST"}) {
    const Places places = Find(GetParam().text, needle);
    EXPECT_EQ(places.mapped, places.real) << needle;
  }
}

const Style kStyles[] = {
    {"Literal", "name: a\nqueries:\n  - |\n    INSERT INTO o\n    SELECT é, NEEDLE\n\n      FROM x LAST\n"},
    {"LiteralStripped", "queries:\n  - |-\n      INSERT INTO o SELECT\n        NEEDLE LAST\n"},
    {"LiteralIndented", "queries:\n  - |2\n      INSERT INTO o\n     SELECT NEEDLE\n    LAST\n"},
    {"LiteralLeadingBlank", "queries:\n- |\n\n  INSERT INTO o\n  SELECT NEEDLE LAST\n"},
    {"Folded", "queries:\n  - >\n    INSERT INTO o\n    SELECT x,\n\n    NEEDLE\n    LAST\n"},
    {"FoldedIndented", "queries:\n  - >\n    INSERT INTO o\n      SELECT x\n      NEEDLE\n    LAST\n"},
    {"Plain", "queries:\n  - INSERT INTO o SELECT NEEDLE LAST\n"},
    {"PlainLines", "queries:\n  - INSERT INTO o\n    SELECT é,   NEEDLE   \n\n\n    FROM x\n       LAST\n"},
    {"SingleQuoted", "queries:\n  - 'INSERT INTO o SELECT ''a'', NEEDLE\n     LAST'\n"},
    {"DoubleQuoted", "queries:\n  - \"INSERT INTO o SELECT \\\"a\\\",\\n NEEDLE \\u00e9\n\n     LAST\"\n"},
    {"InAMap", "queries:\n  - name: first\n    sql: |\n      INSERT INTO o SELECT\n      NEEDLE LAST\n"},
    {"VariableBefore", "queries:\n  - INSERT INTO ${SINK:-a_long_name} SELECT é, ${TOPIC}, NEEDLE LAST\n"},
    {"VariableInALiteral",
     "queries:\n  - |\n    INSERT INTO ${A:-o}\n    SELECT ${TOPIC} é,\n    ${TOPIC} x, NEEDLE\n    LAST\n"},
    {"VariableInAFold",
     "queries:\n  - >\n    INSERT INTO ${A:-o} SELECT\n    ${TOPIC} x,\n\n    NEEDLE ${TOPIC}\n      y\n    LAST\n"},
    {"InAFlowMap", "queries: [{sql: 'INSERT INTO o SELECT NEEDLE LAST'}]\n"},
};

INSTANTIATE_TEST_SUITE_P(All, QueryPosition, ::testing::ValuesIn(kStyles),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(QueryPositionEdges, TheEndOfTheTextIsBehindItsLastCharacter) {
  const std::string text = "queries:\n  - SELECT a\n";
  const FilePosition place = PositionInFile(text, {2, 5, {}}, "SELECT a", 1, 9);
  EXPECT_EQ(Text(place.line, place.column), "2:13");
}

TEST(QueryPositionEdges, APlaceInAVariableIsItsDollar) {
  const std::string text = "queries:\n  - SELECT ${TOPIC} x\n";
  const JobFile file = ReadSound(text);
  const FilePosition place = PositionOfQuery(file, file.queries.front(), 1, 12);
  EXPECT_EQ(Text(place.line, place.column), "2:12");
}

TEST(QueryPositionEdges, APlaceBeyondTheTextIsItsEnd) {
  const std::string text = "queries:\n  - |\n    SELECT a\n";
  EXPECT_EQ(PositionInFile(text, {2, 5, {}}, "SELECT a\n", 9, 9).line, 3);
}

TEST(QueryPositionEdges, TheCommandLineHasNoPlaces) {
  EXPECT_EQ(PositionInFile("x", {0, 0, "--set queries.0=SELECT"}, "SELECT", 1, 3).origin, "--set queries.0=SELECT");
}

}  // namespace
}  // namespace weir
