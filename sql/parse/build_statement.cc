// Statements and SELECT.

#include "sql/parse/ast_builder.h"

namespace weir {
namespace {

constexpr int kMaxDepth = 500;

// The words of PostgreSQL's other statements, for the message that refuses them.
std::string StatementWords(const std::string& node_name) {
  std::string words;
  const std::string stem =
      node_name.size() > 4 && node_name.ends_with("Stmt") ? node_name.substr(0, node_name.size() - 4) : node_name;
  for (const char c : stem) {
    if (c >= 'A' && c <= 'Z' && !words.empty()) words.push_back(' ');
    words.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return words;
}

bool HasAny(const AstOrdering& ordering) {
  return !ordering.order_by.empty() || ordering.limit != nullptr || ordering.offset != nullptr ||
         !ordering.distinct_on.empty() || !ordering.windows.empty();
}

}  // namespace

AstStatement AstBuilder::Build(const Json& root) {
  NodeFields fields(root);
  const std::vector<const Json*> statements = fields.TakeList("stmts");
  if (statements.empty()) {
    Refuse(0, "the query is empty; write INSERT INTO sink SELECT ...");
    return {};
  }
  if (statements.size() > 1) {
    Refuse(LocationOf((*statements[1])["stmt"]), "one statement per query: give the second one an entry of its own");
    return {};
  }
  const NamedNode node = Unwrap((*statements[0])["stmt"]);
  if (node.name == "InsertStmt") return BuildInsert(*node.fields);
  if (node.name == "ViewStmt") return BuildView(*node.fields);
  if (node.name == "SelectStmt") {
    const NodeFields select(*node.fields);
    Refuse(0, node.fields->contains("intoClause")
                  ? "SELECT INTO is not supported; write INSERT INTO sink SELECT ..."
                  : "a SELECT needs a place for its result: write INSERT INTO sink SELECT ...");
  } else {
    Refuse(0, StatementWords(node.name) +
                  " is not supported; a query is INSERT INTO sink SELECT ... or "
                  "CREATE VIEW name AS SELECT ...");
  }
  return {};
}

AstStatement AstBuilder::BuildInsert(const Json& node) {
  AstStatement statement;
  NodeFields fields(node);
  if (const Json* relation = fields.Take("relation")) {
    statement.at = LocationOf(*relation);
    NodeFields name(*relation);
    statement.name = name.TakeText("relname");
    if (name.Take("alias")) Refuse(statement.at, "an alias of the sink is not supported");
    if (name.Take("schemaname") || name.Take("catalogname")) {
      Refuse(statement.at, "a sink's name has no schema; quote a name that contains a point: \"a.b\"");
    }
    name.Take("inh"), name.Take("relpersistence"), name.Take("location");
    RefuseUnread(name, "INSERT", statement.at);
  }
  for (const Json* wrapped : fields.TakeList("cols")) {
    const NamedNode target = Unwrap(*wrapped);
    NodeFields column(*target.fields);
    statement.columns.push_back(column.TakeText("name"));
    statement.columns_at.push_back(LocationOf(*target.fields));
    column.Take("location");
    RefuseUnread(column, "an INSERT column", statement.columns_at.back());
  }
  std::vector<AstCte> outer_ctes;
  if (const Json* with = fields.Take("withClause")) BuildCtes(*with, 0, outer_ctes);
  if (const Json* conflict = fields.Take("onConflictClause")) {
    Refuse(LocationOf(*conflict), "ON CONFLICT is not supported: an upsert sink replaces the row of its key by itself");
  }
  if (const Json* returning = fields.Take("returningList")) {
    Refuse(source_.FindLastKeyword("returning", 0, LocationOf(*returning), LocationOf(*returning)),
           "RETURNING is not supported");
  }
  if (fields.TakeText("override") != "OVERRIDING_NOT_SET") Refuse(statement.at, "OVERRIDING is not supported");
  const Json* select = fields.Take("selectStmt");
  RefuseUnread(fields, "INSERT", statement.at);
  if (select == nullptr) {
    Refuse(statement.at, "INSERT ... DEFAULT VALUES is not supported; write INSERT INTO sink SELECT ...");
    return statement;
  }
  const AstSelectPtr built = BuildSelect(*Unwrap(*select).fields);
  if (built != nullptr && !outer_ctes.empty()) {
    auto with_ctes = std::make_shared<AstSelect>(*built);
    with_ctes->ctes.insert(with_ctes->ctes.begin(), outer_ctes.begin(), outer_ctes.end());
    statement.select = with_ctes;
  } else {
    statement.select = built;
  }
  return statement;
}

AstStatement AstBuilder::BuildView(const Json& node) {
  AstStatement statement;
  statement.kind = AstStatement::Kind::kCreateView;
  NodeFields fields(node);
  if (const Json* view = fields.Take("view")) {
    statement.at = LocationOf(*view);
    NodeFields name(*view);
    statement.name = name.TakeText("relname");
    if (name.TakeText("relpersistence") != "p")
      Refuse(statement.at, "TEMPORARY has no meaning here: views live as long as the job");
    if (name.Take("schemaname") || name.Take("catalogname")) Refuse(statement.at, "a view's name has no schema");
    name.Take("inh"), name.Take("location");
    RefuseUnread(name, "CREATE VIEW", statement.at);
  }
  statement.columns = StringsOf(fields.TakeList("aliases"));
  if (fields.TakeFlag("replace")) Refuse(statement.at, "OR REPLACE is not supported: a view is defined once");
  if (fields.Take("options")) Refuse(statement.at, "options of a view are not supported");
  if (fields.TakeText("withCheckOption") != "NO_CHECK_OPTION")
    Refuse(statement.at, "WITH CHECK OPTION is not supported");
  const Json* query = fields.Take("query");
  RefuseUnread(fields, "CREATE VIEW", statement.at);
  if (query != nullptr) statement.select = BuildSelect(*Unwrap(*query).fields);
  return statement;
}

void AstBuilder::BuildCtes(const Json& with, size_t at, std::vector<AstCte>& ctes) {
  NodeFields fields(with);
  const size_t with_at = LocationOf(with);
  if (fields.TakeFlag("recursive")) {
    Refuse(source_.FindLastKeyword("recursive", 0, LastLocationOf(with) + 1, with_at),
           "WITH RECURSIVE is not supported");
  }
  for (const Json* wrapped : fields.TakeList("ctes")) {
    const NamedNode node = Unwrap(*wrapped);
    NodeFields cte_fields(*node.fields);
    AstCte cte;
    cte.at = LocationOf(*node.fields);
    cte.name = cte_fields.TakeText("ctename");
    cte.columns = StringsOf(cte_fields.TakeList("aliascolnames"));
    cte_fields.Take("ctematerialized");  // a hint for a batch engine; the result is the same
    cte_fields.Take("location");
    const Json* query = cte_fields.Take("ctequery");
    RefuseUnread(cte_fields, "WITH", cte.at);
    const NamedNode body = query == nullptr ? NamedNode{} : Unwrap(*query);
    if (body.name != "SelectStmt") {
      Refuse(cte.at, "WITH takes a SELECT only");
      continue;
    }
    cte.select = BuildSelect(*body.fields);
    ctes.push_back(std::move(cte));
  }
  fields.Take("location");
  RefuseUnread(fields, "WITH", at == 0 ? with_at : at);
}

AstSelectPtr AstBuilder::BuildSelect(const Json& node) {
  if (depth_ >= kMaxDepth) return RefuseDepth(node, "the query is nested too deeply");
  ++depth_;
  auto select = std::make_shared<AstSelect>();
  NodeFields fields(node);
  select->at = LocationOf(node);
  if (const Json* with = fields.Take("withClause")) BuildCtes(*with, select->at, select->ctes);
  RefuseSelectClauses(fields, node, select->at);
  AstOrdering ordering;
  BuildOrdering(fields, ordering);
  const std::string operation = fields.TakeText("op");
  AstSelectPtr result;
  if (operation == "SETOP_NONE" || operation.empty()) {
    BuildDistinct(fields, *select, ordering);
    BuildItems(fields, *select);
    for (const Json* table : fields.TakeList("fromClause")) {
      if (AstTablePtr built = BuildTable(*table)) select->from.push_back(std::move(built));
    }
    if (const Json* where = fields.Take("whereClause")) select->where = BuildExpression(*where);
    BuildGroupBy(fields, select->at, *select);
    if (const Json* having = fields.Take("havingClause")) select->having = BuildExpression(*having);
    RefuseUnread(fields, "SELECT", select->at);
    result = select;
  } else {
    result = BuildSetOperation(fields, node, operation, select);
  }
  if (HasAny(ordering) && result != nullptr) {
    select->ordering = std::make_shared<AstOrdering>(std::move(ordering));
  }
  --depth_;
  return result;
}

AstSelectPtr AstBuilder::BuildSetOperation(NodeFields& fields, const Json& node, const std::string& operation,
                                           std::shared_ptr<AstSelect> select) {
  const char* word = "UNION";
  const char* keyword = "union";
  select->set_operation = AstSelect::SetOperation::kUnion;
  if (operation == "SETOP_INTERSECT") {
    word = "INTERSECT";
    keyword = "intersect";
    select->set_operation = AstSelect::SetOperation::kIntersect;
  } else if (operation == "SETOP_EXCEPT") {
    word = "EXCEPT";
    keyword = "except";
    select->set_operation = AstSelect::SetOperation::kExcept;
  }
  select->all = fields.TakeFlag("all");
  const Json* left = fields.Take("larg");
  const Json* right = fields.Take("rarg");
  RefuseUnread(fields, word, LocationOf(node));
  if (left == nullptr || right == nullptr) {
    return Refuse(select->at, std::string("this form of ") + word + " is not supported");
  }
  select->left = BuildSelect(*left);
  select->right = BuildSelect(*right);
  select->at = source_.FindLastKeyword(keyword, 0, LocationOf(*right), select->at);
  return select;
}

void AstBuilder::BuildDistinct(NodeFields& fields, AstSelect& select, AstOrdering& ordering) {
  const std::vector<const Json*> distinct = fields.TakeList("distinctClause");
  if (distinct.empty()) return;
  select.distinct = Unwrap(*distinct[0]).name.empty();
  if (select.distinct) return;
  for (const Json* wrapped : distinct) {
    if (AstExpressionPtr built = BuildExpression(*wrapped)) ordering.distinct_on.push_back(std::move(built));
  }
}

void AstBuilder::BuildItems(NodeFields& fields, AstSelect& select) {
  for (const Json* wrapped : fields.TakeList("targetList")) {
    const NamedNode target = Unwrap(*wrapped);
    NodeFields item_fields(*target.fields);
    AstSelectItem item;
    item.at = LocationOf(*target.fields);
    item.alias = item_fields.TakeText("name");
    const Json* value = item_fields.Take("val");
    item_fields.Take("location");
    RefuseUnread(item_fields, "a SELECT item", item.at);
    if (value == nullptr) continue;
    const NamedNode node = Unwrap(*value);
    const Json* names = node.name == "ColumnRef" ? &(*node.fields)["fields"] : nullptr;
    if (names != nullptr && !names->empty() && Unwrap(names->back()).name == "A_Star") {
      item.star = true;
      if (names->size() > 2) Refuse(item.at, "write table.* without a schema");
      if (names->size() == 2) item.star_table = StringsOf({&names->front()})[0];
      if (!item.alias.empty()) Refuse(item.at, "* cannot have an alias");
    } else {
      item.expression = BuildExpression(*value);
    }
    select.items.push_back(std::move(item));
  }
  for (const Json* wrapped : fields.TakeList("valuesLists")) {
    NodeFields row(*Unwrap(*wrapped).fields);
    std::vector<AstExpressionPtr>& values = select.values.emplace_back();
    for (const Json* item : row.TakeList("items")) values.push_back(BuildExpression(*item));
  }
}

// The clauses of SELECT that weir does not have, each with what to do in its place.
void AstBuilder::RefuseSelectClauses(NodeFields& fields, const Json& node, size_t at) {
  const size_t end = source_.text().size();
  if (const Json* locking = fields.Take("lockingClause")) {
    (void)locking;
    Refuse(source_.FindLastKeyword("for", LastLocationOf(node), end, at),
           "FOR UPDATE and other row locks are not supported: nothing is locked in a stream");
  }
  if (fields.Take("intoClause")) Refuse(at, "SELECT INTO is not supported; write INSERT INTO sink SELECT ...");
}

}  // namespace weir
