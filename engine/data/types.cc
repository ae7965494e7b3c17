#include "engine/data/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cctype>

namespace weir {
namespace {

struct NamedKind {
  std::string_view name;
  TypeKind kind;
};

// The first name of a kind is the one that is printed.
constexpr NamedKind kNames[] = {
    {"null", TypeKind::kNull},           {"boolean", TypeKind::kBoolean},
    {"tinyint", TypeKind::kTinyint},     {"smallint", TypeKind::kSmallint},
    {"int", TypeKind::kInt},             {"integer", TypeKind::kInt},
    {"bigint", TypeKind::kBigint},       {"float", TypeKind::kFloat},
    {"real", TypeKind::kFloat},          {"double", TypeKind::kDouble},
    {"decimal", TypeKind::kDecimal},     {"numeric", TypeKind::kDecimal},
    {"string", TypeKind::kString},       {"text", TypeKind::kString},
    {"varchar", TypeKind::kString},      {"bytes", TypeKind::kBytes},
    {"date", TypeKind::kDate},           {"time", TypeKind::kTime},
    {"timestamp", TypeKind::kTimestamp}, {"timestamp_ltz", TypeKind::kTimestampLtz},
    {"interval", TypeKind::kInterval},   {"bitmap32", TypeKind::kBitmap32},
    {"bitmap64", TypeKind::kBitmap64},   {"array", TypeKind::kArray},
};

std::string_view NameOf(TypeKind kind) {
  return std::find_if(std::begin(kNames), std::end(kNames), [&](const NamedKind& n) { return n.kind == kind; })->name;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

std::optional<int> Number(std::string_view text) {
  text = Trim(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string DataType::ToString() const {
  switch (kind) {
    case TypeKind::kDecimal: return fmt::format("decimal({},{})", precision, scale);
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return fmt::format("{}({})", NameOf(kind), precision);
    case TypeKind::kArray: return fmt::format("array<{}>", ElementType().ToString());
    default: return std::string(NameOf(kind));
  }
}

std::optional<DataType> ParseType(std::string_view text) {
  std::string lower(Trim(text));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::string_view rest = lower;
  const size_t name_end = std::min(rest.find_first_of("(<"), rest.size());
  const std::string_view name = Trim(rest.substr(0, name_end));
  rest = Trim(rest.substr(name_end));
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const NamedKind& n) { return n.name == name; });
  if (found == std::end(kNames) || found->kind == TypeKind::kNull || found->kind == TypeKind::kInterval) {
    return std::nullopt;
  }
  DataType type{found->kind};
  if (type.kind == TypeKind::kArray) {
    if (rest.size() < 3 || rest.front() != '<' || rest.back() != '>') return std::nullopt;
    const auto element = ParseType(rest.substr(1, rest.size() - 2));
    if (!element || element->kind == TypeKind::kArray) return std::nullopt;
    return ArrayType(*element);
  }
  const bool has_digits = type.kind == TypeKind::kTime || type.IsTimestamp();
  if (has_digits) type.precision = 3;
  if (type.kind == TypeKind::kDecimal) type.precision = 38;
  if (rest.empty()) return type;
  if (rest.front() != '(' || rest.back() != ')') return std::nullopt;
  rest = rest.substr(1, rest.size() - 2);
  if (has_digits) {
    const auto digits = Number(rest);
    if (!digits || *digits < 0 || *digits > 6) return std::nullopt;
    type.precision = static_cast<uint8_t>(*digits);
    return type;
  }
  if (type.kind == TypeKind::kString) return Number(rest) ? std::optional(type) : std::nullopt;
  if (type.kind != TypeKind::kDecimal) return std::nullopt;
  const size_t comma = rest.find(',');
  const auto precision = Number(rest.substr(0, comma));
  const auto scale = comma == std::string_view::npos ? std::optional(0) : Number(rest.substr(comma + 1));
  if (!precision || !scale || *precision < 1 || *precision > 38 || *scale < 0 || *scale > *precision) {
    return std::nullopt;
  }
  return DecimalType(*precision, *scale);
}

std::optional<size_t> Schema::Find(std::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace weir
