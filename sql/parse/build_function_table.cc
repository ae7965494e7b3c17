// Functions in FROM: f(a, b) [WITH ORDINALITY] AS alias (columns).  Which functions there are is the binder's to say.

#include "sql/parse/ast_builder.h"

namespace weir {

AstTablePtr AstBuilder::BuildFunctionTable(const Json& node) {
  auto table = std::make_shared<AstTable>();
  NodeFields fields(node);
  table->kind = AstTable::Kind::kFunction;
  table->at = LocationOf(node);
  table->lateral = fields.TakeFlag("lateral");
  table->ordinality = fields.TakeFlag("ordinality");
  const bool rows_from = fields.TakeFlag("is_rowsfrom");
  const std::vector<const Json*> functions = fields.TakeList("functions");
  if (fields.Take("coldeflist")) return Refuse(table->at, "a list of column definitions is not supported here");
  BuildAlias(fields, *table);
  RefuseUnread(fields, "a function in FROM", table->at);
  if (rows_from || functions.size() != 1) return Refuse(table->at, "ROWS FROM (...) is not supported");
  NodeFields list(*Unwrap(*functions[0]).fields);
  const std::vector<const Json*> items = list.TakeList("items");
  const NamedNode call = items.empty() ? NamedNode{} : Unwrap(*items[0]);
  if (call.name != "FuncCall") return Refuse(table->at, "only a function call may stand in FROM here");
  const AstExpressionPtr built = BuildExpression(*items[0]);
  if (built == nullptr) return nullptr;
  if (built->star || built->distinct || built->filter != nullptr) {
    return Refuse(table->at, "*, DISTINCT and FILTER do not belong to a function in FROM");
  }
  table->name = built->text;
  table->arguments = built->arguments;
  if (table->alias.empty()) table->alias = table->name;
  return table;
}

}  // namespace weir
