// Functions in FROM: TUMBLE(bids, ts, INTERVAL '10' SECOND).  Which functions there are is the binder's to say.

#include "sql/parse/ast_builder.h"

namespace weir {

AstTablePtr AstBuilder::BuildFunctionTable(const Json& node) {
  auto table = std::make_shared<AstTable>();
  NodeFields fields(node);
  table->kind = AstTable::Kind::kFunction;
  table->at = LocationOf(node);
  if (fields.TakeFlag("lateral")) {
    return Refuse(source_.FindLastKeyword("lateral", 0, table->at, table->at),
                  "LATERAL is not supported; write a join with its condition in ON");
  }
  if (fields.TakeFlag("ordinality")) return Refuse(table->at, "WITH ORDINALITY is not supported");
  if (fields.TakeFlag("is_rowsfrom")) return Refuse(table->at, "ROWS FROM (...) is not supported; write a join");
  if (fields.Take("coldeflist")) {
    return Refuse(table->at, "a function in FROM has types of its own; leave out the column definitions");
  }
  const std::vector<const Json*> functions = fields.TakeList("functions");
  BuildAlias(fields, *table);
  RefuseUnread(fields, "FROM", table->at);
  // A list of lists: the call, and its column definitions.
  if (functions.size() != 1) return Refuse(table->at, "this form of FROM is not supported");
  NodeFields pair(*Unwrap(*functions[0]).fields);
  const std::vector<const Json*> items = pair.TakeList("items");
  if (items.empty() || Unwrap(*items[0]).name != "FuncCall") {
    return Refuse(table->at, "this function is not supported in FROM");
  }
  const AstExpressionPtr call = BuildExpression(*items[0]);
  if (call == nullptr) return nullptr;
  if (call->kind != AstExpression::Kind::kFunction || call->star || call->distinct || call->filter != nullptr) {
    return Refuse(call->at, "this form of a function is not supported in FROM");
  }
  table->at = call->at;
  table->name = call->text;
  table->arguments = call->arguments;
  if (table->alias.empty()) table->alias = table->name;
  return table;
}

}  // namespace weir
