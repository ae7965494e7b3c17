// Expressions.  Operators get the names that MakeCall (sql/expr/expression.h) knows.

#include <charconv>

#include "sql/parse/ast_builder.h"

namespace weir {
namespace {

constexpr int kMaxDepth = 500;

std::shared_ptr<AstExpression> NewExpression(AstExpression::Kind kind, size_t at, std::string text = {}) {
  auto expression = std::make_shared<AstExpression>();
  expression->kind = kind;
  expression->at = at;
  expression->text = std::move(text);
  return expression;
}

bool AnyNull(const std::vector<AstExpressionPtr>& arguments) {
  for (const auto& argument : arguments) {
    if (argument == nullptr) return true;
  }
  return false;
}

}  // namespace

AstExpressionPtr AstBuilder::Operator(std::string name, size_t at, std::vector<AstExpressionPtr> arguments) {
  if (AnyNull(arguments)) return nullptr;
  auto expression = NewExpression(AstExpression::Kind::kOperator, at, std::move(name));
  expression->arguments = std::move(arguments);
  return expression;
}

AstExpressionPtr AstBuilder::BuildExpression(const Json& wrapped) {
  if (depth_ >= kMaxDepth) {
    return RefuseDepth(wrapped, "the expression is nested more than " + std::to_string(kMaxDepth) +
                                    " levels deep (a + b + c is nested twice); compute parts of it in a view");
  }
  ++depth_;
  AstExpressionPtr expression = DispatchExpression(Unwrap(wrapped));
  --depth_;
  return expression;
}

AstExpressionPtr AstBuilder::DispatchExpression(const NamedNode& node) {
  const Json& fields = *node.fields;
  const size_t at = LocationOf(fields);
  if (node.name == "ColumnRef") return BuildColumn(fields);
  if (node.name == "A_Const") return BuildConstant(fields);
  if (node.name == "A_Expr") return BuildOperator(fields);
  if (node.name == "BoolExpr") return BuildBoolean(fields);
  if (node.name == "NullTest") return BuildTest(fields, true);
  if (node.name == "BooleanTest") return BuildTest(fields, false);
  if (node.name == "CaseExpr") return BuildCase(fields);
  if (node.name == "FuncCall") return BuildFunction(fields);
  if (node.name == "CoalesceExpr") return BuildArgumentList(fields, "args", "COALESCE");
  if (node.name == "A_ArrayExpr") return BuildArgumentList(fields, "elements", "ARRAY");
  if (node.name == "MinMaxExpr") return BuildMinMax(fields);
  if (node.name == "A_Indirection") return BuildSubscript(fields);
  if (node.name == "SQLValueFunction") return BuildCurrent(fields);
  if (node.name == "SubLink") return BuildSubquery(fields);
  if (node.name == "TypeCast") return BuildCast(fields);
  if (node.name == "CollateClause") {
    return Refuse(at, "COLLATE is not supported: text is compared byte by byte, as with COLLATE \"C\"");
  }
  if (node.name == "ParamRef")
    return Refuse(at, "parameters such as $1 are not supported; the job file fills in ${NAME}");
  if (node.name == "RowExpr") return Refuse(at, "a row such as (a, b) is supported only before IN (SELECT ...)");
  if (node.name == "GroupingFunc") return BuildGroupingFunction(fields);
  if (node.name == "NamedArgExpr") return Refuse(at, "named arguments are not supported");
  if (node.name == "SetToDefault") return Refuse(at, "DEFAULT is not supported here");
  return Refuse(at, "this expression is not supported (" + node.name + ")");
}

AstExpressionPtr AstBuilder::BuildColumn(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  auto expression = NewExpression(AstExpression::Kind::kColumn, at);
  expression->names = StringsOf(fields.TakeList("fields"));
  fields.Take("location");
  RefuseUnread(fields, "a column name", at);
  for (const std::string& name : expression->names) {
    if (name.empty()) return Refuse(at, "* is allowed only as an item of SELECT and in COUNT(*)");
  }
  if (expression->names.size() > 2) return Refuse(at, "write table.column without a schema");
  return expression;
}

std::optional<int64_t> AstBuilder::IntegerOf(const Json& constant, size_t at) {
  const auto value = constant.find("ival");
  if (value == constant.end()) return std::nullopt;
  const auto number = value->find("ival");
  if (number != value->end() && number->is_number_integer()) return number->get<int64_t>();
  const std::string negative = source_.NegativeNumberAt(at);
  if (negative.empty()) return 0;
  int64_t parsed = 0;
  const auto [end, error] = std::from_chars(negative.data(), negative.data() + negative.size(), parsed);
  if (error != std::errc() || end != negative.data() + negative.size()) return std::nullopt;
  return parsed;
}

AstExpressionPtr AstBuilder::BuildConstant(const Json& node) {
  const size_t at = LocationOf(node);
  NodeFields fields(node);
  fields.Take("location");
  const Json* integer = fields.Take("ival");
  const Json* decimal = fields.Take("fval");
  const Json* text = fields.Take("sval");
  const Json* boolean = fields.Take("boolval");
  const bool is_null = fields.TakeFlag("isnull");
  RefuseUnread(fields, "a constant", at);
  if (is_null) return NewExpression(AstExpression::Kind::kNull, at);
  if (integer != nullptr) {
    const std::optional<int64_t> value = IntegerOf(node, at);
    if (!value) return Refuse(at, "this number cannot be read");
    return NewExpression(AstExpression::Kind::kInteger, at, std::to_string(*value));
  }
  if (decimal != nullptr) {
    NodeFields value(*decimal);
    std::string digits = value.TakeText("fval");
    const bool whole = digits.find_first_not_of("0123456789-") == std::string::npos;
    return NewExpression(whole ? AstExpression::Kind::kInteger : AstExpression::Kind::kDecimal, at, std::move(digits));
  }
  if (text != nullptr) {
    NodeFields value(*text);
    return NewExpression(AstExpression::Kind::kString, at, value.TakeText("sval"));
  }
  if (boolean != nullptr) {
    NodeFields value(*boolean);
    return NewExpression(AstExpression::Kind::kBoolean, at, value.TakeFlag("boolval") ? "true" : "false");
  }
  return Refuse(at, "this kind of constant is not supported");
}

AstExpressionPtr AstBuilder::BuildOperator(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  const std::string kind = fields.TakeText("kind");
  const std::vector<std::string> names = StringsOf(fields.TakeList("name"));
  const Json* left = fields.Take("lexpr");
  const Json* right = fields.Take("rexpr");
  fields.Take("location");
  RefuseUnread(fields, "an operator", at);
  if (names.size() != 1 || right == nullptr) return Refuse(at, "this form of an operator is not supported");
  const std::string& name = names[0];
  if (kind == "AEXPR_OP" && left == nullptr) {
    if (name == "+") return BuildExpression(*right);
    if (name == "-") return Operator("-", at, {BuildExpression(*right)});
    return Refuse(at, "the prefix operator " + name + " is not supported");
  }
  if (left == nullptr) return Refuse(at, "this form of an operator is not supported");
  if (kind == "AEXPR_LIKE" || kind == "AEXPR_ILIKE" || kind == "AEXPR_SIMILAR") {
    return BuildPattern(kind, name, at, left, right);
  }
  if (kind == "AEXPR_IN" || kind.find("BETWEEN") != std::string::npos) return BuildRange(kind, name, at, left, right);
  return BuildAnyOrPlain(kind, name, at, left, right);
}

AstExpressionPtr AstBuilder::BuildAnyOrPlain(const std::string& kind, const std::string& name, size_t at,
                                             const Json* left, const Json* right) {
  if (kind == "AEXPR_OP") {
    static const std::set<std::string> known = {"+",  "-", "*",  "/", "%",  "||", "=",
                                                "<>", "<", "<=", ">", ">=", "~",  "!~"};
    if (known.count(name) == 0) return Refuse(at, "the operator " + name + " is not supported");
    if (name == "!~") {
      return Operator("NOT", at, {Operator("~", at, {BuildExpression(*left), BuildExpression(*right)})});
    }
    return Operator(name, at, {BuildExpression(*left), BuildExpression(*right)});
  }
  if (kind == "AEXPR_DISTINCT")
    return Operator("IS DISTINCT FROM", at, {BuildExpression(*left), BuildExpression(*right)});
  if (kind == "AEXPR_NOT_DISTINCT") {
    return Operator("IS NOT DISTINCT FROM", at, {BuildExpression(*left), BuildExpression(*right)});
  }
  if (kind == "AEXPR_NULLIF") return Operator("NULLIF", at, {BuildExpression(*left), BuildExpression(*right)});
  if (kind == "AEXPR_OP_ANY" && name == "=") {
    // = ANY (ARRAY[a, b]) means IN (a, b).
    if (const NamedNode array = Unwrap(*right); array.name == "A_ArrayExpr") {
      std::vector<AstExpressionPtr> arguments = {BuildExpression(*left)};
      NodeFields elements(*array.fields);
      for (const Json* item : elements.TakeList("elements")) arguments.push_back(BuildExpression(*item));
      if (arguments.size() > 1) return Operator("IN", at, std::move(arguments));
    }
    return Operator("ANY =", at, {BuildExpression(*left), BuildExpression(*right)});
  }
  if (kind == "AEXPR_OP_ANY" || kind == "AEXPR_OP_ALL") {
    return Refuse(at, "of ANY and ALL over an array only = ANY is supported");
  }
  return Refuse(at, "this operator is not supported (" + kind + ")");
}

AstExpressionPtr AstBuilder::BuildPattern(const std::string& kind, const std::string& name, size_t at, const Json* left,
                                          const Json* right) {
  const bool negated = name.starts_with("!");
  const Json* pattern = right;
  // The grammar wraps a pattern of SIMILAR TO, and one with ESCAPE, into a function.
  const NamedNode wrapped = Unwrap(*right);
  if (wrapped.name == "FuncCall") {
    NodeFields call(*wrapped.fields);
    const std::vector<std::string> function = StringsOf(call.TakeList("funcname"));
    if (!function.empty() && (function.back() == "like_escape" || function.back() == "similar_to_escape")) {
      const std::vector<const Json*> arguments = call.TakeList("args");
      if (arguments.size() != 1) return Refuse(at, "ESCAPE is not supported; escape with a backslash");
      pattern = arguments[0];
    }
  }
  AstExpressionPtr value = BuildExpression(*left);
  AstExpressionPtr match = BuildExpression(*pattern);
  if (kind == "AEXPR_LIKE") return Operator(negated ? "NOT LIKE" : "LIKE", at, {value, match});
  AstExpressionPtr positive = Operator(kind == "AEXPR_ILIKE" ? "ILIKE" : "SIMILAR TO", at, {value, match});
  return negated ? Operator("NOT", at, {positive}) : positive;
}

AstExpressionPtr AstBuilder::BuildRange(const std::string& kind, const std::string& name, size_t at, const Json* left,
                                        const Json* right) {
  if (kind.ends_with("_SYM")) return Refuse(at, "BETWEEN SYMMETRIC is not supported; order the two bounds");
  const NamedNode list = Unwrap(*right);
  if (list.name != "List") return Refuse(at, "this form of IN or BETWEEN is not supported");
  std::vector<AstExpressionPtr> arguments = {BuildExpression(*left)};
  NodeFields fields(*list.fields);
  for (const Json* item : fields.TakeList("items")) arguments.push_back(BuildExpression(*item));
  if (kind == "AEXPR_IN") {
    AstExpressionPtr in = Operator("IN", at, std::move(arguments));
    return name == "<>" ? Operator("NOT", at, {in}) : in;
  }
  if (arguments.size() != 3) return Refuse(at, "this form of BETWEEN is not supported");
  AstExpressionPtr between = Operator("BETWEEN", at, std::move(arguments));
  return kind == "AEXPR_NOT_BETWEEN" ? Operator("NOT", at, {between}) : between;
}

AstExpressionPtr AstBuilder::BuildBoolean(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  const std::string operation = fields.TakeText("boolop");
  std::vector<AstExpressionPtr> arguments;
  for (const Json* argument : fields.TakeList("args")) arguments.push_back(BuildExpression(*argument));
  fields.Take("location");
  RefuseUnread(fields, "a condition", at);
  const std::string name = operation == "AND_EXPR" ? "AND" : operation == "OR_EXPR" ? "OR" : "NOT";
  return Operator(name, at, std::move(arguments));
}

AstExpressionPtr AstBuilder::BuildTest(const Json& node, bool null_test) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  const Json* argument = fields.Take("arg");
  std::string test = fields.TakeText(null_test ? "nulltesttype" : "booltesttype");
  fields.TakeFlag("argisrow"), fields.Take("location");
  RefuseUnread(fields, "a test", at);
  if (argument == nullptr) return Refuse(at, "this test is not supported");
  for (char& c : test) c = c == '_' ? ' ' : c;  // IS_NOT_TRUE
  return Operator(std::move(test), at, {BuildExpression(*argument)});
}

AstExpressionPtr AstBuilder::BuildCase(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  const Json* operand = fields.Take("arg");
  const AstExpressionPtr value = operand == nullptr ? nullptr : BuildExpression(*operand);
  std::vector<AstExpressionPtr> arguments;
  for (const Json* wrapped : fields.TakeList("args")) {
    const NamedNode when = Unwrap(*wrapped);
    NodeFields when_fields(*when.fields);
    const Json* condition = when_fields.Take("expr");
    const Json* result = when_fields.Take("result");
    when_fields.Take("location");
    RefuseUnread(when_fields, "CASE", at);
    if (condition == nullptr || result == nullptr) return Refuse(at, "this form of CASE is not supported");
    AstExpressionPtr built = BuildExpression(*condition);
    if (operand != nullptr && built != nullptr) {
      const size_t built_at = built->at;
      built = Operator("=", built_at, {value, built});
    }
    arguments.push_back(std::move(built));
    arguments.push_back(BuildExpression(*result));
  }
  const Json* otherwise = fields.Take("defresult");
  arguments.push_back(otherwise == nullptr ? NewExpression(AstExpression::Kind::kNull, at)
                                           : BuildExpression(*otherwise));
  fields.Take("location");
  RefuseUnread(fields, "CASE", at);
  return Operator("CASE", at, std::move(arguments));
}

AstExpressionPtr AstBuilder::BuildFunction(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  std::vector<std::string> names = StringsOf(fields.TakeList("funcname"));
  if (names.size() == 2 && names[0] == "pg_catalog") names.erase(names.begin());
  if (names.size() != 1) return Refuse(at, "a function's name has no schema");
  if (fields.TakeFlag("agg_within_group")) return Refuse(at, "WITHIN GROUP is not supported");
  if (fields.TakeFlag("func_variadic")) return Refuse(at, "VARIADIC is not supported");
  auto call = NewExpression(AstExpression::Kind::kFunction, at, names[0]);
  BuildAggregateOrder(fields, *call);
  call->star = fields.TakeFlag("agg_star");
  call->distinct = fields.TakeFlag("agg_distinct");
  bool complete = true;
  for (const AstAggregateOrder& order : call->order) complete = complete && order.expression != nullptr;
  for (const Json* argument : fields.TakeList("args")) {
    call->arguments.push_back(BuildExpression(*argument));
    complete = complete && call->arguments.back() != nullptr;
  }
  if (const Json* filter = fields.Take("agg_filter")) {
    call->filter = BuildExpression(*filter);
    complete = complete && call->filter != nullptr;
  }
  if (const Json* over = fields.Take("over")) {
    AstWindow window = BuildWindow(*over);
    // OVER name: the grammar has it where a definition has its own name.
    window.is_reference = !window.name.empty();
    if (window.is_reference) window.extends = std::exchange(window.name, {});
    call->over = std::make_shared<AstWindow>(std::move(window));
  }
  fields.Take("funcformat"), fields.Take("location");
  RefuseUnread(fields, "a function call", at);
  if (names[0] == "position" && call->arguments.size() == 2) call->text = "strpos";  // the grammar has swapped them
  if (!complete) return nullptr;
  return call;
}

AstExpressionPtr AstBuilder::BuildArgumentList(const Json& node, const char* list, std::string name) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  std::vector<AstExpressionPtr> arguments;
  for (const Json* argument : fields.TakeList(list)) arguments.push_back(BuildExpression(*argument));
  fields.Take("location");
  RefuseUnread(fields, name.c_str(), at);
  return Operator(std::move(name), at, std::move(arguments));
}

AstExpressionPtr AstBuilder::BuildGroupingFunction(const Json& node) {
  NodeFields fields(node);
  auto call = NewExpression(AstExpression::Kind::kFunction, LocationOf(node), "grouping");
  for (const Json* argument : fields.TakeList("args")) call->arguments.push_back(BuildExpression(*argument));
  fields.Take("location");
  RefuseUnread(fields, "GROUPING", call->at);
  if (AnyNull(call->arguments)) return nullptr;
  return call;
}

AstExpressionPtr AstBuilder::BuildMinMax(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  const std::string operation = fields.TakeText("op");
  std::vector<AstExpressionPtr> arguments;
  for (const Json* argument : fields.TakeList("args")) arguments.push_back(BuildExpression(*argument));
  fields.Take("location");
  RefuseUnread(fields, "GREATEST or LEAST", at);
  return Operator(operation == "IS_GREATEST" ? "GREATEST" : "LEAST", at, std::move(arguments));
}

AstExpressionPtr AstBuilder::BuildSubscript(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  const Json* argument = fields.Take("arg");
  AstExpressionPtr value = argument == nullptr ? nullptr : BuildExpression(*argument);
  for (const Json* wrapped : fields.TakeList("indirection")) {
    const NamedNode step = Unwrap(*wrapped);
    if (step.name != "A_Indices") return Refuse(at, "a field of a row, (a).b, is not supported");
    NodeFields index(*step.fields);
    const bool slice = index.TakeFlag("is_slice");
    const Json* upper = index.Take("uidx");
    if (slice || index.Take("lidx") != nullptr || upper == nullptr) return Refuse(at, "array slices are not supported");
    value = Operator("SUBSCRIPT", at, {value, BuildExpression(*upper)});
  }
  fields.Take("location");
  RefuseUnread(fields, "a subscript", at);
  return value;
}

AstExpressionPtr AstBuilder::BuildCurrent(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  const std::string operation = fields.TakeText("op");
  static const std::vector<std::pair<std::string, std::string>> known = {
      {"SVFOP_CURRENT_TIMESTAMP", "current_timestamp"},
      {"SVFOP_CURRENT_DATE", "current_date"},
      {"SVFOP_LOCALTIMESTAMP", "localtimestamp"},
  };
  for (const auto& [name, function] : known) {
    if (name == operation) return NewExpression(AstExpression::Kind::kFunction, at, function);
  }
  return Refuse(at, "this function is not supported (" + operation + ")");
}

AstExpressionPtr AstBuilder::BuildSubquery(const Json& node) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  const std::string kind = fields.TakeText("subLinkType");
  const Json* test = fields.Take("testexpr");
  const Json* query = fields.Take("subselect");
  const std::vector<std::string> operators = StringsOf(fields.TakeList("operName"));
  fields.Take("location");
  RefuseUnread(fields, "a subquery", at);
  auto subquery = NewExpression(AstExpression::Kind::kSubquery, at);
  if (kind == "EXISTS_SUBLINK") {
    subquery->subquery_kind = AstExpression::SubqueryKind::kExists;
  } else if (kind == "ANY_SUBLINK" && (operators.empty() || operators[0] == "=")) {
    subquery->subquery_kind = AstExpression::SubqueryKind::kIn;
  } else if (kind == "EXPR_SUBLINK") {
    subquery->subquery_kind = AstExpression::SubqueryKind::kScalar;
  } else if (kind == "ALL_SUBLINK" || kind == "ANY_SUBLINK") {
    static const std::set<std::string> comparisons = {"=", "<>", "<", "<=", ">", ">="};
    const std::string name = operators.empty() ? "=" : operators[0];
    if (comparisons.count(name) == 0) {
      return Refuse(at, "ANY and ALL over a subquery are supported with a comparison, and " + name + " is none");
    }
    subquery->subquery_kind =
        kind == "ALL_SUBLINK" ? AstExpression::SubqueryKind::kAll : AstExpression::SubqueryKind::kAny;
    subquery->text = name;
  } else {
    return Refuse(at, "this kind of subquery is not supported (" + kind + ")");
  }
  if (test != nullptr) {
    const NamedNode row = Unwrap(*test);
    if (row.name == "RowExpr") {
      NodeFields row_fields(*row.fields);
      for (const Json* item : row_fields.TakeList("args")) subquery->arguments.push_back(BuildExpression(*item));
    } else {
      subquery->arguments.push_back(BuildExpression(*test));
    }
  }
  if (query != nullptr) subquery->select = BuildSelect(*Unwrap(*query).fields);
  if (subquery->select == nullptr || AnyNull(subquery->arguments)) return nullptr;
  return subquery;
}

}  // namespace weir
