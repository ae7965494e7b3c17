// Copies libpg_query's JSON tree into the syntax tree of sql/parse/ast.h.  Private to sql/parse.
//
// 1. NodeFields hands out the fields of one JSON node and remembers which were asked for.
// 2. Every Build function ends with RefuseUnread: a field nobody asked for is a part of the grammar that weir does not
//    know, and becomes an error at the node's place.
// 3. Errors are collected; a Build function that refused returns null and its callers go on with the siblings.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "sql/parse/ast.h"
#include "sql/parse/ast_window.h"
#include "sql/parse/source_text.h"

namespace weir {

using Json = nlohmann::json;

class NodeFields {
 public:
  explicit NodeFields(const Json& node);

  // Null when the field is absent.  Fields with the value that stands for "not given" may be absent or not.
  const Json* Take(const char* name);
  bool TakeFlag(const char* name);
  std::string TakeText(const char* name);
  std::vector<const Json*> TakeList(const char* name);
  std::vector<std::string> Unread() const;

 private:
  const Json& node_;
  std::set<std::string> read_;
};

// A wrapped node: {"ColumnRef": {...}}.
struct NamedNode {
  std::string name;  // empty for an absent node
  const Json* fields;
};
NamedNode Unwrap(const Json& wrapped);
// The strings of a list of String nodes; anything else in it gives an empty string.
std::vector<std::string> StringsOf(const std::vector<const Json*>& list);

class AstBuilder {
 public:
  explicit AstBuilder(const SourceText& source) : source_(source) {}

  // `root`: {"version": .., "stmts": [..]}.
  AstStatement Build(const Json& root);
  std::vector<PlacedMessage> TakeErrors() { return std::move(errors_); }

 private:
  // build_statement.cc
  AstStatement BuildInsert(const Json& node);
  AstStatement BuildView(const Json& node);
  AstSelectPtr BuildSelect(const Json& node);
  AstSelectPtr BuildSetOperation(NodeFields& fields, const Json& node, const std::string& operation,
                                 std::shared_ptr<AstSelect> select);
  void BuildCtes(const Json& with, size_t at, std::vector<AstCte>& ctes);
  void BuildItems(NodeFields& fields, AstSelect& select);
  void BuildDistinct(NodeFields& fields, AstSelect& select, AstOrdering& ordering);
  void RefuseSelectClauses(NodeFields& fields, const Json& node, size_t at);
  // build_from.cc
  AstTablePtr BuildTable(const Json& wrapped);
  AstTablePtr BuildNamedTable(const Json& node);
  AstTablePtr BuildSubqueryTable(const Json& node);
  AstTablePtr BuildJoin(const Json& node);
  void BuildAlias(NodeFields& fields, AstTable& table);
  // build_function_table.cc
  AstTablePtr BuildFunctionTable(const Json& node);

  // build_window.cc
  // ORDER BY, LIMIT, OFFSET, FETCH and WINDOW.
  void BuildOrdering(NodeFields& fields, AstOrdering& ordering);
  std::vector<AstSortItem> BuildSort(const std::vector<const Json*>& list);
  AstWindow BuildWindow(const Json& node);
  AstFrame BuildFrame(NodeFields& fields, size_t at);

  // build_grouping.cc
  void BuildGroupBy(NodeFields& fields, size_t at, AstSelect& select);
  std::vector<std::vector<size_t>> BuildGroupElement(const Json& wrapped, AstSelect& select);
  void BuildAggregateOrder(NodeFields& fields, AstExpression& call);

  // build_expression.cc
  AstExpressionPtr BuildExpression(const Json& wrapped);
  AstExpressionPtr DispatchExpression(const NamedNode& node);
  AstExpressionPtr BuildColumn(const Json& node);
  AstExpressionPtr BuildConstant(const Json& node);
  AstExpressionPtr BuildOperator(const Json& node);
  AstExpressionPtr BuildAnyOrPlain(const std::string& kind, const std::string& name, size_t at, const Json* left,
                                   const Json* right);
  AstExpressionPtr BuildPattern(const std::string& kind, const std::string& name, size_t at, const Json* left,
                                const Json* right);
  AstExpressionPtr BuildRange(const std::string& kind, const std::string& name, size_t at, const Json* left,
                              const Json* right);
  AstExpressionPtr BuildBoolean(const Json& node);
  AstExpressionPtr BuildTest(const Json& node, bool null_test);
  AstExpressionPtr BuildCase(const Json& node);
  AstExpressionPtr BuildFunction(const Json& node);
  AstExpressionPtr BuildArgumentList(const Json& node, const char* list, std::string name);
  AstExpressionPtr BuildGroupingFunction(const Json& node);
  AstExpressionPtr BuildMinMax(const Json& node);
  AstExpressionPtr BuildSubscript(const Json& node);
  AstExpressionPtr BuildCurrent(const Json& node);
  AstExpressionPtr BuildSubquery(const Json& node);
  // build_type.cc
  AstExpressionPtr BuildCast(const Json& node);
  std::optional<DataType> BuildType(const Json& node, bool& bare_numeric, int64_t& interval_unit);

  AstExpressionPtr Operator(std::string name, size_t at, std::vector<AstExpressionPtr> arguments);
  // The value of an integer constant: libpg_query 15 writes 0 and negative values as {}, so the text decides.
  std::optional<int64_t> IntegerOf(const Json& constant, size_t at);

  std::nullptr_t Refuse(size_t at, std::string message);
  // Of a tree that is too deep: the first time with its place, then silently.
  std::nullptr_t RefuseDepth(const Json& node, std::string message);
  void RefuseUnread(const NodeFields& fields, const char* what, size_t at);
  // The node's own location, else the smallest location inside it.
  static size_t LocationOf(const Json& node);
  static size_t LastLocationOf(const Json& node);

  const SourceText& source_;
  std::vector<PlacedMessage> errors_;
  int depth_ = 0;
  bool too_deep_ = false;  // reported once
};

}  // namespace weir
