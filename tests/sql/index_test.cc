// Declared indexes: which joins have them as their tables, and what becomes of the others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sql/plan/node_text.h"
#include "sql/plan/nodes.h"
#include "tests/sql/planning.h"

namespace weir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using testing::Find;

const char* const kPages = "INSERT INTO pages SELECT id, v, k FROM t";
const char* const kUsers = "INSERT INTO users SELECT id, k, k FROM t";

// pages: key id; indexes by user_id and by (url, user_id), unless others are given.
PlanOutcome Plan(const std::vector<std::string>& queries, std::vector<std::vector<int>> indexes = {{1}, {2, 1}}) {
  Catalog catalog = testing::TableCatalog();
  for (CatalogRelation& relation : catalog.relations) {
    if (relation.name == "pages") relation.indexes = indexes;
  }
  PlannerOptions options;
  options.join = JoinOption::kDelta;
  return testing::PlanQueries(queries, options, catalog);
}

// "pages[user_id]" of declared ones, "pages[id] (copy)" of others.
std::vector<std::string> Indexes(const JobPlan& plan) {
  std::vector<std::string> names;
  for (const TableText& text : TablesOf(plan)) {
    if (text.table->kind == TableKind::kIndex) names.push_back(text.table->name + (text.table->declared_index ? "" : " (copy)"));
  }
  return names;
}

TEST(IndexPlanTest, AnIndexThatNoJoinReadsIsATableBehindTheDeclaredOne) {
  const PlanOutcome outcome = Plan({kPages, "INSERT INTO out SELECT * FROM pages"});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  EXPECT_THAT(Indexes(outcome.plan), ElementsAre("pages[user_id]", "pages[url, user_id]"));
  ASSERT_EQ(outcome.plan.tables_unread.size(), 2u);
  const PlanNode& index = *outcome.plan.tables_unread[1];
  EXPECT_EQ(index.id, "table-pages[url, user_id]");
  EXPECT_EQ(index.key, (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(index.table.bucket_columns, (std::vector<int>{2, 1}));
  EXPECT_EQ(index.inputs[0]->kind, NodeKind::kExchange);
  EXPECT_EQ(index.inputs[0]->inputs[0], Find(outcome.plan.sinks[0], "table-pages"));
  const std::string text = ExplainText(outcome.plan);
  EXPECT_THAT(text, HasSubstr("table: pages[user_id] (declared index), 8 buckets by (user_id)"));
  EXPECT_THAT(text, HasSubstr("pages[url, user_id]: declared index, key (url, user_id, id), 8 buckets by (url, user_id)"));
}

TEST(IndexPlanTest, IndexesAreKeptThoughNothingReadsTheTable) {
  const PlanOutcome outcome = Plan({kPages});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  EXPECT_EQ(outcome.plan.tables_unread.size(), 2u);
  EXPECT_NE(Find(outcome.plan.tables_unread[0], "table-pages"), nullptr);
}

TEST(IndexPlanTest, AJoinByItsColumnsHasItAsItsTable) {
  const PlanOutcome outcome = Plan({kPages, kUsers,
                                    "INSERT INTO out SELECT u.name, p.url FROM users u JOIN pages p ON u.id = p.user_id "
                                    "WHERE p.url <> ''"});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  const PlanPtr join = Find(outcome.plan.sinks[0], "join-1");
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(join->right_table.name, "pages[user_id]");
  EXPECT_TRUE(join->right_table.declared_index);
  EXPECT_THAT(Indexes(outcome.plan), UnorderedElementsAre("pages[user_id]", "pages[url, user_id]"));
  EXPECT_THAT(ExplainText(outcome.plan), HasSubstr("right table: pages[user_id] (declared index), 8 buckets by (user_id)"));
}

TEST(IndexPlanTest, TheOrderOfTheColumnsDoesNotMatter) {
  const PlanOutcome outcome =
      Plan({kPages, kUsers, "INSERT INTO out SELECT name FROM users",
            "INSERT INTO out SELECT u.city FROM users u JOIN pages p ON u.id = p.user_id AND u.name = p.url"});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  EXPECT_THAT(Indexes(outcome.plan), UnorderedElementsAre("users[id, name] (copy)", "pages[user_id, url]", "pages[user_id]"));
}

// users, which is found by id alone, keeps itself: the rest of the join's columns is a condition on what is found.
TEST(IndexPlanTest, WhatCountsIsByWhichColumnsRowsAreFound) {
  const PlanOutcome outcome = Plan(
      {kPages, kUsers, "INSERT INTO out SELECT u.city FROM users u JOIN pages p ON u.id = p.user_id AND u.name = p.url"});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  EXPECT_EQ(Find(outcome.plan.sinks[0], "join-1")->right_table.name, "pages[user_id]");
  EXPECT_THAT(Indexes(outcome.plan), UnorderedElementsAre("pages[user_id]", "pages[url, user_id]"));
}

TEST(IndexPlanTest, ASecondJoinByTheSameColumnsKeepsItOnceMore) {
  const PlanOutcome outcome = Plan({kPages, "INSERT INTO out SELECT x.url AS a, y.url AS b FROM pages x JOIN pages y ON "
                                            "x.user_id = y.user_id"});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  EXPECT_THAT(Indexes(outcome.plan),
              UnorderedElementsAre("pages[user_id]", "pages[user_id].2", "pages[url, user_id]"));
}

// Names are those of folders and of what a checkpoint holds.
TEST(IndexPlanTest, ADeclarationGivesNoOtherNameToWhatAJoinKeeps) {
  const std::vector<std::string> queries = {
      kPages, kUsers, "INSERT INTO out SELECT id FROM pages",
      "INSERT INTO out SELECT u.city FROM users u JOIN pages p ON u.id = p.user_id AND u.name = p.url"};
  const PlanOutcome without = Plan(queries, {});
  const PlanOutcome with = Plan(queries, {{2, 1}, {1}});  // the join finds rows by user_id
  ASSERT_TRUE(without.errors.empty() && with.errors.empty());
  std::vector<std::string> names;
  for (const TableText& text : TablesOf(without.plan)) names.push_back(text.node->id + " " + text.table->name);
  std::vector<std::string> names_with;
  for (const TableText& text : TablesOf(with.plan)) names_with.push_back(text.node->id + " " + text.table->name);
  names.push_back("table-pages[url, user_id] pages[url, user_id]");
  EXPECT_EQ(names_with, names);
}

TEST(IndexPlanTest, ATableWithIndexesIsNotOneWithAJoin) {
  const PlanOutcome outcome =
      Plan({kPages, kUsers, "INSERT INTO out SELECT u.name, p.url FROM users u JOIN pages p ON u.id = p.id"});
  ASSERT_TRUE(outcome.errors.empty()) << outcome.errors.front().message;
  EXPECT_NE(Find(outcome.plan.sinks[0], "table-pages"), nullptr);
  EXPECT_THAT(Indexes(outcome.plan), UnorderedElementsAre("pages[id] (copy)", "pages[user_id]", "pages[url, user_id]"));
}

}  // namespace
}  // namespace weir
