// The sources and sinks that the tests of the planner share, and short forms of its results.
#pragma once

#include <string>
#include <vector>

#include "sql/plan/planner.h"

namespace weir::testing {

struct TestColumn {
  const char* name;
  const char* type;
  bool nullable = true;
};

inline CatalogRelation Source(std::string name, ChangelogMode mode, const std::vector<TestColumn>& columns,
                              std::vector<int> primary_key = {}) {
  CatalogRelation relation;
  relation.name = std::move(name);
  std::vector<Field> fields;
  for (const TestColumn& column : columns) fields.push_back({column.name, *ParseType(column.type), column.nullable});
  relation.schema = Schema(std::move(fields));
  relation.changelog = mode;
  relation.primary_key = std::move(primary_key);
  return relation;
}

inline CatalogRelation Sink(std::string name, bool upsert, std::vector<std::string> key = {}) {
  CatalogRelation relation;
  relation.kind = CatalogRelation::Kind::kSink;
  relation.name = std::move(name);
  relation.upsert_sink = upsert;
  relation.sink_key = std::move(key);
  return relation;
}

inline CatalogRelation Table(std::string name, const std::vector<TestColumn>& columns, std::vector<int> primary_key,
                             std::vector<int> bucket_key, int buckets = 8) {
  CatalogRelation relation = Source(std::move(name), ChangelogMode::kFull, columns, std::move(primary_key));
  relation.kind = CatalogRelation::Kind::kTable;
  std::vector<Field> fields = relation.schema.fields();
  for (const int column : relation.primary_key) fields[static_cast<size_t>(column)].nullable = false;
  relation.schema = Schema(std::move(fields));
  relation.bucket_key = std::move(bucket_key);
  relation.buckets = buckets;
  return relation;
}

inline CatalogRelation LogTable(std::string name, const std::vector<TestColumn>& columns,
                                std::vector<int> bucket_key) {
  CatalogRelation relation = Source(std::move(name), ChangelogMode::kAppend, columns, {});
  relation.kind = CatalogRelation::Kind::kTable;
  relation.bucket_key = std::move(bucket_key);
  return relation;
}

// orders and visits are upsert sources, l and r full changelogs with the key id, bag a full changelog without a key, t,
// u and n (every number type) append only, kd full with deletes that carry the key only.
inline Catalog TestCatalog() {
  Catalog catalog;
  catalog.relations = {
      Source("orders", ChangelogMode::kUpsert,
             {{"order_id", "bigint"},
              {"user_id", "bigint"},
              {"ds", "string"},
              {"amount", "decimal(12,2)"},
              {"ts", "timestamp(3)"}},
             {1, 2, 0}),
      Source("visits", ChangelogMode::kUpsert,
             {{"visit_id", "bigint"},
              {"user_id", "bigint"},
              {"ds", "string"},
              {"channel", "string"},
              {"page", "string"},
              {"ts", "timestamp(3)"}},
             {1, 2, 0}),
      Source("l", ChangelogMode::kFull, {{"id", "bigint"}, {"k", "bigint"}, {"v", "bigint"}}, {0}),
      Source("r", ChangelogMode::kFull, {{"id", "bigint"}, {"k", "bigint"}, {"w", "bigint"}}, {0}),
      Source("bag", ChangelogMode::kFull, {{"k", "bigint"}, {"v", "bigint"}}),
      Source("t", ChangelogMode::kAppend, {{"id", "bigint"}, {"k", "string"}, {"v", "bigint"}, {"ts", "timestamp(3)"}}),
      Source("u", ChangelogMode::kAppend, {{"id", "bigint"}, {"w", "bigint"}}),
      Source("n", ChangelogMode::kAppend,
             {{"i", "int", false},
              {"s", "smallint"},
              {"b", "bigint", false},
              {"d", "double"},
              {"c", "decimal(6,2)"},
              {"tags", "array<string>"}}),
      Source("kd", ChangelogMode::kFull, {{"id", "bigint"}, {"v", "bigint"}}, {0}),
      Sink("out", false),
      Sink("ups", true),
      Sink("by_id", true, {"id"}),
  };
  catalog.relations[8].deletes_key_only = true;
  return catalog;
}

// The same with tables: ot and vt take orders and visits, users has the key id, pages the key id and a user; the log
// tables events and trail take u.
inline Catalog TableCatalog() {
  Catalog catalog = TestCatalog();
  const std::vector<CatalogRelation> tables = {
      Table("ot",
            {{"order_id", "bigint"},
             {"user_id", "bigint"},
             {"ds", "string"},
             {"amount", "decimal(12,2)"},
             {"ts", "timestamp(3)"}},
            {1, 2, 0}, {1}),
      Table("vt",
            {{"visit_id", "bigint"},
             {"user_id", "bigint"},
             {"ds", "string"},
             {"channel", "string"},
             {"page", "string"},
             {"ts", "timestamp(3)"}},
            {1, 2, 0}, {1}),
      Table("users", {{"id", "bigint"}, {"name", "string"}, {"city", "string"}}, {0}, {0}),
      Table("pages", {{"id", "bigint"}, {"user_id", "bigint"}, {"url", "string"}}, {0}, {0}),
      LogTable("events", {{"id", "bigint"}, {"w", "bigint"}}, {0}),
      LogTable("trail", {{"id", "bigint"}, {"w", "bigint"}}, {}),
  };
  catalog.relations.insert(catalog.relations.end(), tables.begin(), tables.end());
  return catalog;
}

inline PlanOutcome PlanQueries(const std::vector<std::string>& queries, PlannerOptions options = {},
                               const Catalog& catalog = TestCatalog()) {
  std::vector<QueryText> texts;
  for (const std::string& query : queries) texts.push_back({query, ""});
  return PlanJob(texts, catalog, options);
}

// "1:24: message", one a line; queries behind the first have their number in front.
inline std::string Errors(const std::vector<std::string>& queries, PlannerOptions options = {},
                          const Catalog& catalog = TestCatalog()) {
  std::string text;
  for (const QueryError& error : PlanQueries(queries, options, catalog).errors) {
    if (!text.empty()) text += "\n";
    if (error.query > 0) text += "query " + std::to_string(error.query) + " ";
    text += std::to_string(error.line) + ":" + std::to_string(error.column) + ": " + error.message;
  }
  return text;
}

// The plan without properties: sink-out(join-1(exchange-1(scan-l), exchange-2(scan-r))).
inline std::string Outline(const PlanNode& node) {
  std::string text = node.id;
  for (size_t i = 0; i < node.inputs.size(); ++i) text += (i == 0 ? "(" : ", ") + Outline(*node.inputs[i]);
  return node.inputs.empty() ? text : text + ")";
}
inline std::string Outline(const std::string& query) {
  const PlanOutcome outcome = PlanQueries({query});
  return outcome.errors.empty() ? Outline(*outcome.plan.sinks[0]) : Errors({query});
}

// The node of that id below the sinks; null when there is none.
inline PlanPtr Find(const PlanPtr& node, const std::string& id) {
  if (node->id == id) return node;
  for (const PlanPtr& input : node->inputs) {
    if (PlanPtr found = Find(input, id)) return found;
  }
  return nullptr;
}
inline PlanPtr Find(const PlanOutcome& outcome, const std::string& id) {
  for (const auto* roots : {&outcome.plan.sinks, &outcome.plan.tables_unread}) {
    for (const PlanPtr& root : *roots) {
      if (PlanPtr found = Find(root, id)) return found;
    }
  }
  return nullptr;
}

}  // namespace weir::testing
