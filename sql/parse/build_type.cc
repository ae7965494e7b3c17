// Casts and types: PostgreSQL's names and weir's own (string, bytes, tinyint, double, timestamp_ltz, ...).

#include <map>

#include "sql/parse/ast_builder.h"

namespace weir {
namespace {

constexpr int64_t kNoUnit = 0;

// The fields of an INTERVAL '1' MINUTE, as PostgreSQL's grammar numbers them (INTERVAL_MASK in its datetime.h).
const std::map<int64_t, std::string>& IntervalUnits() {
  static const std::map<int64_t, std::string> units = {
      {int64_t{1} << 2, "years"},  {int64_t{1} << 1, "months"},   {int64_t{1} << 3, "days"},
      {int64_t{1} << 10, "hours"}, {int64_t{1} << 11, "minutes"}, {int64_t{1} << 12, "seconds"},
  };
  return units;
}

const std::map<std::string, DataType>& PlainTypes() {
  static const std::map<std::string, DataType> types = {
      {"bool", BooleanType()},
      {"int2", {TypeKind::kSmallint}},
      {"int4", IntType()},
      {"int8", BigintType()},
      {"float4", {TypeKind::kFloat}},
      {"float8", DoubleType()},
      {"double", DoubleType()},
      {"tinyint", {TypeKind::kTinyint}},
      {"text", StringType()},
      {"string", StringType()},
      {"varchar", StringType()},
      {"bytea", {TypeKind::kBytes}},
      {"bytes", {TypeKind::kBytes}},
      {"date", DateType()},
      {"interval", {TypeKind::kInterval}},
      {"bitmap32", {TypeKind::kBitmap32}},
      {"bitmap64", {TypeKind::kBitmap64}},
  };
  return types;
}

std::optional<TypeKind> TimeKind(const std::string& name) {
  if (name == "time") return TypeKind::kTime;
  if (name == "timestamp") return TypeKind::kTimestamp;
  if (name == "timestamptz" || name == "timestamp_ltz") return TypeKind::kTimestampLtz;
  return std::nullopt;
}

bool IsPlainNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

}  // namespace

AstExpressionPtr AstBuilder::BuildCast(const Json& node) {
  NodeFields fields(node);
  const Json* argument = fields.Take("arg");
  const Json* type_node = fields.Take("typeName");
  fields.Take("location");
  const size_t at = LocationOf(node);
  RefuseUnread(fields, "a cast", at);
  if (argument == nullptr || type_node == nullptr) return Refuse(at, "this form of a cast is not supported");
  auto cast = std::make_shared<AstExpression>();
  cast->kind = AstExpression::Kind::kCast;
  cast->at = at;
  int64_t interval_unit = kNoUnit;
  const std::optional<DataType> type = BuildType(*type_node, cast->bare_numeric, interval_unit);
  AstExpressionPtr value = BuildExpression(*argument);
  if (!type || value == nullptr) return nullptr;
  cast->type = *type;
  if (interval_unit != kNoUnit) {
    if (value->kind != AstExpression::Kind::kString || !IsPlainNumber(value->text)) {
      return Refuse(at, "write the unit into the text: INTERVAL '90 seconds'");
    }
    auto with_unit = std::make_shared<AstExpression>(*value);
    with_unit->text += " " + IntervalUnits().at(interval_unit);
    value = with_unit;
  }
  cast->arguments = {std::move(value)};
  return cast;
}

std::optional<DataType> AstBuilder::BuildType(const Json& node, bool& bare_numeric, int64_t& interval_unit) {
  NodeFields fields(node);
  const size_t at = LocationOf(node);
  std::vector<std::string> names = StringsOf(fields.TakeList("names"));
  if (names.size() == 2 && names[0] == "pg_catalog") names.erase(names.begin());
  std::vector<int64_t> modifiers;
  for (const Json* wrapped : fields.TakeList("typmods")) {
    const NamedNode modifier = Unwrap(*wrapped);
    const std::optional<int64_t> value =
        modifier.name == "A_Const" ? IntegerOf(*modifier.fields, LocationOf(*modifier.fields)) : std::nullopt;
    if (!value) return Refuse(at, "the type's modifier is not a whole number"), std::nullopt;
    modifiers.push_back(*value);
  }
  const size_t array_levels = fields.TakeList("arrayBounds").size();
  if (fields.TakeFlag("setof") || fields.TakeFlag("pct_type"))
    return Refuse(at, "this type is not supported"), std::nullopt;
  fields.Take("typemod"), fields.Take("location");
  RefuseUnread(fields, "a type", at);
  if (names.size() != 1) return Refuse(at, "a type's name has no schema"), std::nullopt;
  const std::string& name = names[0];

  std::optional<DataType> type;
  if (const auto plain = PlainTypes().find(name); plain != PlainTypes().end()) {
    type = plain->second;
    if (name == "interval" && modifiers.size() == 1 && IntervalUnits().count(modifiers[0]) > 0) {
      interval_unit = modifiers[0];
    } else if (name == "varchar" && !modifiers.empty()) {
      return Refuse(at, "varchar with a length is not supported; use text, and left(x, n) to cut"), std::nullopt;
    } else if (!modifiers.empty()) {
      return Refuse(at, "this form of type " + name + " is not supported"), std::nullopt;
    }
  } else if (name == "numeric" || name == "decimal") {
    bare_numeric = modifiers.empty();
    const int64_t precision = modifiers.empty() ? 38 : modifiers[0];
    const int64_t scale = modifiers.size() > 1 ? modifiers[1] : 0;
    if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
      return Refuse(at, "decimal takes a precision of 1 to 38 and a scale of 0 to the precision"), std::nullopt;
    }
    type = DecimalType(static_cast<int>(precision), static_cast<int>(scale));
  } else if (const std::optional<TypeKind> time = TimeKind(name)) {
    const int64_t digits = modifiers.empty() ? 6 : modifiers[0];
    if (digits < 0 || digits > 6) return Refuse(at, "the seconds of a " + name + " have 0 to 6 digits"), std::nullopt;
    type = DataType{*time, static_cast<uint8_t>(digits)};
  } else {
    return Refuse(at, "type " + name + " does not exist"), std::nullopt;
  }
  if (array_levels > 1) return Refuse(at, "arrays of arrays are not supported"), std::nullopt;
  if (array_levels == 1) {
    if (bare_numeric) return Refuse(at, "give the decimals of the array a precision: numeric(38,6)[]"), std::nullopt;
    type = ArrayType(*type);
  }
  return type;
}

}  // namespace weir
