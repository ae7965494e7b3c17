// One map of all operators and functions, and MakeCall.
#include "sql/expr/registry.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "sql/expr/bitmap_functions.h"
#include "sql/expr/kernel.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

using Registry = std::map<std::string_view, FunctionRule>;

const Registry& AllRules() {
  static const Registry registry = [] {
    Registry all;
    for (const auto rules :
         {ArithmeticRules(), ComparisonRules(), LogicRules(), ConditionalRules(), TextRules(), TextSliceRules(),
          PatternRules(), RegexpRules(), MathRules(), TimeRules(), TimeFormatRules(), ArrayRules(), BitmapRules()}) {
      for (const FunctionRule& rule : rules) {
        WEIR_CHECK(all.emplace(rule.name, rule).second);
      }
    }
    return all;
  }();
  return registry;
}

// Functions have lower-case names; operators and CASE are upper-case words or signs.
bool IsFunctionName(std::string_view name) {
  return !name.empty() && std::islower(static_cast<unsigned char>(name[0]));
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

Result<ExpressionPtr> AcceptOne(char parameter, const ExpressionPtr& argument) {
  const DataType& type = argument->type();
  const bool open = IsNullLiteral(*argument) || IsStringLiteral(*argument);
  switch (parameter) {
    case 's':
      // A name of the database's text types is all that a text parameter takes, as in PostgreSQL.
      if (open || type.kind == TypeKind::kString) return Coerce(argument, StringType());
      break;
    case 'i':
      return Coerce(argument, IntType());
    case 'l':
      return Coerce(argument, BigintType());
    case 'd':
      return Coerce(argument, DoubleType());
    case 'b':
      return Coerce(argument, BooleanType());
    case 'n':
      if (type.IsNumeric() && type.kind != TypeKind::kNull) return argument;
      if (open) return Coerce(argument, DoubleType());
      break;
    case 't':
      if (type.IsTimestamp()) return argument;
      if (type.kind == TypeKind::kDate) return MakeCast(argument, TimestampType(0));
      if (open) return Coerce(argument, TimestampType(6));
      break;
    case 'x':
      if (type.IsTimestamp() || type.kind == TypeKind::kDate || type.kind == TypeKind::kTime ||
          type.kind == TypeKind::kInterval) {
        return argument;
      }
      if (open) return Coerce(argument, TimestampType(6));
      break;
    case 'D':
      if (open || type.kind == TypeKind::kDate) return Coerce(argument, DateType());
      break;
    default:
      return argument;
  }
  return PlanError("");
}

}  // namespace

Error NoSuchFunction(const std::string& name, const std::vector<ExpressionPtr>& arguments) {
  return PlanError("function " + name + "(" + TypeList(arguments) + ") does not exist");
}

Error NoSuchOperator(const std::string& name, const std::vector<ExpressionPtr>& arguments) {
  if (arguments.size() == 1) {
    return PlanError("the operator " + name + " takes a number, and this is a " + TypeName(arguments[0]->type()));
  }
  return PlanError("operator does not exist: " + TypeName(arguments[0]->type()) + " " + name + " " +
                   TypeName(arguments[1]->type()));
}

Result<std::vector<ExpressionPtr>> Accept(const std::string& name, std::string_view parameters,
                                          std::vector<ExpressionPtr> arguments) {
  const bool repeats = parameters.ends_with("...");
  if (repeats) parameters.remove_suffix(3);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i >= parameters.size() && !repeats) return NoSuchFunction(name, arguments);
    auto accepted = AcceptOne(parameters[std::min(i, parameters.size() - 1)], arguments[i]);
    if (!accepted) {
      // A literal that denotes no value of the type has a better message of its own.
      if (IsStringLiteral(*arguments[i]) && !accepted.error().message.empty()) return accepted.error();
      return NoSuchFunction(name, arguments);
    }
    arguments[i] = std::move(*accepted);
  }
  return arguments;
}

bool IsKnownFunction(const std::string& lower_name) {
  return IsFunctionName(lower_name) && AllRules().count(lower_name) > 0;
}

std::vector<std::string> SimilarFunctions(const std::string& lower_name) {
  std::vector<std::pair<size_t, std::string>> close;
  for (const auto& [name, rule] : AllRules()) {
    if (!IsFunctionName(name) || name == lower_name) continue;
    const size_t distance = EditDistance(lower_name, name);
    // Two letters of a word of three is another word.
    if (distance <= 2 && distance * 2 < std::min(name.size(), lower_name.size())) close.emplace_back(distance, name);
  }
  std::sort(close.begin(), close.end());
  std::vector<std::string> names;
  for (auto& [distance, name] : close) {
    if (names.size() < 3) names.push_back(std::move(name));
  }
  return names;
}

Result<ExpressionPtr> MakeCall(const std::string& name, std::vector<ExpressionPtr> arguments) {
  const auto found = AllRules().find(name);
  if (found == AllRules().end()) {
    Error error = NoSuchFunction(name, arguments);
    const std::vector<std::string> similar = SimilarFunctions(name);
    for (size_t i = 0; i < similar.size(); ++i) error.message += (i == 0 ? "; did you mean " : " or ") + similar[i];
    if (!similar.empty()) error.message += "?";
    return error;
  }
  const FunctionRule& rule = found->second;
  const int count = static_cast<int>(arguments.size());
  if (count < rule.min_arguments || count > rule.max_arguments) return NoSuchFunction(name, arguments);
  for (ExpressionPtr& argument : arguments) argument = FoldNode(argument);
  return rule.bind(name, std::move(arguments));
}

std::string CallText(const std::string& name, const DataType& type, const std::vector<std::string>& arguments) {
  const auto joined = [&](size_t from, const char* separator) {
    std::string out;
    for (size_t i = from; i < arguments.size(); ++i) out += (i > from ? separator : "") + arguments[i];
    return out;
  };
  const bool word = !name.empty() && std::isupper(static_cast<unsigned char>(name[0]));
  if (name == "CAST") return "CAST(" + arguments[0] + " AS " + type.ToString() + ")";
  if (name == "IN") return "(" + arguments[0] + " IN (" + joined(1, ", ") + "))";
  if (name == "SUBSCRIPT") return arguments[0] + "[" + arguments[1] + "]";
  if (name == "ARRAY") return "ARRAY[" + joined(0, ", ") + "]";
  if (name == "ANY =") return "(" + arguments[0] + " = ANY (" + arguments[1] + "))";
  if (name == "NOT") return "(NOT " + arguments[0] + ")";
  if (word && name.starts_with("IS ") && arguments.size() == 1) return "(" + arguments[0] + " " + name + ")";
  if (word && (name == "COALESCE" || name == "GREATEST" || name == "LEAST")) return name + "(" + joined(0, ", ") + ")";
  if (!IsFunctionName(name)) {
    if (arguments.size() == 1) return "(" + name + arguments[0] + ")";
    return "(" + joined(0, (" " + name + " ").c_str()) + ")";
  }
  return name + "(" + joined(0, ", ") + ")";
}

}  // namespace weir
