// FROM: tables, subqueries, functions and joins.

#include "sql/parse/ast_builder.h"

namespace weir {
namespace {

constexpr int kMaxDepth = 500;

}  // namespace

AstTablePtr AstBuilder::BuildTable(const Json& wrapped) {
  if (depth_ >= kMaxDepth) return RefuseDepth(wrapped, "the query is nested too deeply");
  ++depth_;
  const NamedNode node = Unwrap(wrapped);
  AstTablePtr table;
  if (node.name == "RangeVar") {
    table = BuildNamedTable(*node.fields);
  } else if (node.name == "RangeSubselect") {
    table = BuildSubqueryTable(*node.fields);
  } else if (node.name == "JoinExpr") {
    table = BuildJoin(*node.fields);
  } else if (node.name == "RangeTableSample") {
    Refuse(LocationOf(*node.fields),
           "TABLESAMPLE is not supported; filter with WHERE, for example on a hash of the key");
  } else if (node.name == "RangeFunction") {
    table = BuildFunctionTable(*node.fields);
  } else {
    Refuse(LocationOf(wrapped), "this form of FROM is not supported (" + node.name + ")");
  }
  --depth_;
  return table;
}

void AstBuilder::BuildAlias(NodeFields& fields, AstTable& table) {
  const Json* alias = fields.Take("alias");
  if (alias == nullptr) return;
  NodeFields alias_fields(*alias);
  table.alias = alias_fields.TakeText("aliasname");
  table.column_aliases = StringsOf(alias_fields.TakeList("colnames"));
  RefuseUnread(alias_fields, "an alias", table.at);
}

AstTablePtr AstBuilder::BuildNamedTable(const Json& node) {
  auto table = std::make_shared<AstTable>();
  NodeFields fields(node);
  table->at = LocationOf(node);
  table->name = fields.TakeText("relname");
  table->alias = table->name;
  if (fields.Take("schemaname") || fields.Take("catalogname")) {
    return Refuse(table->at, "a table's name has no schema; quote a name that contains a point: \"a.b\"");
  }
  if (!fields.TakeFlag("inh")) Refuse(table->at, "FROM ONLY is not supported");
  fields.Take("relpersistence"), fields.Take("location");
  BuildAlias(fields, *table);
  RefuseUnread(fields, "FROM", table->at);
  return table;
}

AstTablePtr AstBuilder::BuildSubqueryTable(const Json& node) {
  auto table = std::make_shared<AstTable>();
  NodeFields fields(node);
  table->kind = AstTable::Kind::kSubquery;
  table->at = LocationOf(node);
  table->lateral = fields.TakeFlag("lateral");
  const Json* subquery = fields.Take("subquery");
  BuildAlias(fields, *table);
  RefuseUnread(fields, "a subquery", table->at);
  if (subquery != nullptr) table->select = BuildSelect(*Unwrap(*subquery).fields);
  if (table->select == nullptr) return nullptr;
  if (table->alias.empty()) return Refuse(table->at, "a subquery in FROM needs an alias: FROM (SELECT ...) AS name");
  return table;
}

AstTablePtr AstBuilder::BuildJoin(const Json& node) {
  auto table = std::make_shared<AstTable>();
  NodeFields fields(node);
  table->kind = AstTable::Kind::kJoin;
  const Json* left = fields.Take("larg");
  const Json* right = fields.Take("rarg");
  const size_t right_at = right == nullptr ? LocationOf(node) : LocationOf(*right);
  const size_t left_end = left == nullptr ? 0 : LastLocationOf(*left);
  table->at = source_.FindKeyword("join", left_end, right_at, right_at);
  const std::string type = fields.TakeText("jointype");
  if (type == "JOIN_INNER") {
    table->join = AstTable::Join::kInner;
  } else if (type == "JOIN_LEFT") {
    table->join = AstTable::Join::kLeft;
  } else if (type == "JOIN_RIGHT") {
    table->join = AstTable::Join::kRight;
  } else if (type == "JOIN_FULL") {
    table->join = AstTable::Join::kFull;
  } else {
    return Refuse(table->at, "this kind of join is not supported (" + type + ")");
  }
  table->natural = fields.TakeFlag("isNatural");
  table->using_columns = StringsOf(fields.TakeList("usingClause"));
  if (fields.Take("join_using_alias")) Refuse(table->at, "an alias behind USING (...) is not supported");
  if (const Json* on = fields.Take("quals")) table->on = BuildExpression(*on);
  if (fields.Take("alias"))
    Refuse(table->at, "an alias of a whole join is not supported; write a subquery: (SELECT ...) AS name");
  fields.Take("rtindex");
  RefuseUnread(fields, "JOIN", table->at);
  if (left == nullptr || right == nullptr) return nullptr;
  table->left = BuildTable(*left);
  table->right = BuildTable(*right);
  return table->left == nullptr || table->right == nullptr ? nullptr : table;
}

}  // namespace weir
