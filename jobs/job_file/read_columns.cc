#include "jobs/job_file/read_columns.h"

#include <algorithm>

#include "jobs/job_file/map_reader.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

std::optional<DataType> ReadType(const DocumentNode& node, const std::string& column, Diagnostics& out) {
  const auto text = ReadText(node, fmt::format("type of {}", column), out);
  if (!text) return std::nullopt;
  const auto type = ParseType(*text);
  if (type) return type;
  static const std::vector<std::string> kNames = {
      "boolean", "tinyint", "smallint", "int",       "bigint",        "float",    "double",   "decimal", "string",
      "bytes",   "date",    "time",     "timestamp", "timestamp_ltz", "bitmap32", "bitmap64", "array"};
  const std::string word = text->substr(0, text->find_first_of("(<"));
  // A right word with wrong numbers is not helped by a suggestion.
  const bool known = std::find(kNames.begin(), kNames.end(), word) != kNames.end();
  out.Add(node.position, fmt::format("column {}: '{}' is not a type{}", column, *text,
                                     known ? std::string() : DidYouMean(word, kNames)));
  return std::nullopt;
}

bool IsTime(const DataType& type) { return type.IsTimestamp(); }

DataType MetadataType(Metadata metadata) {
  switch (metadata) {
    case Metadata::kTimestamp:
      return TimestampType(3);
    case Metadata::kPartition:
      return IntType();
    case Metadata::kOffset:
      return BigintType();
    default:
      return StringType();
  }
}

bool MetadataFits(Metadata metadata, const DataType& type) {
  switch (metadata) {
    case Metadata::kTimestamp:
      return type.IsTimestamp();
    case Metadata::kPartition:
      return type.kind == TypeKind::kInt || type.kind == TypeKind::kBigint;
    case Metadata::kOffset:
      return type.kind == TypeKind::kBigint;
    case Metadata::kKey:
      return type.kind == TypeKind::kString || type.kind == TypeKind::kBytes || type.IsInteger();
    default:
      return true;
  }
}

void ReadLongForm(const DocumentNode& node, SourceColumn& column, Diagnostics& out) {
  MapReader reader(node, fmt::format("column {}", column.name), out);
  if (const DocumentNode* type = reader.Require("type")) {
    column.type = ReadType(*type, column.name, out).value_or(StringType());
  }
  if (const DocumentNode* path = reader.Take("path")) {
    if (const auto text = ReadText(*path, "path", out)) {
      const auto keys = ParsePath(*text);
      if (keys && !keys->empty()) {
        column.path = *keys;
      } else {
        out.Add(path->position,
                fmt::format("path: '{}' is not a path; write user.id, or attrs.\"b.c\" for a key with a "
                            "dot",
                            *text));
      }
    }
  }
  if (const DocumentNode* unit = reader.Take("unit")) {
    column.unit = reader
                      .Choice<TimeUnit>("unit", {{"seconds", TimeUnit::kSeconds},
                                                 {"milliseconds", TimeUnit::kMilliseconds},
                                                 {"microseconds", TimeUnit::kMicroseconds}})
                      .value_or(TimeUnit::kMilliseconds);
    if (!IsTime(column.type)) {
      out.Add(unit->position,
              fmt::format("unit is for timestamps; column {} is a {}", column.name, column.type.ToString()));
    }
  }
  if (const DocumentNode* metadata = reader.Take("metadata")) {
    column.metadata = reader
                          .Choice<Metadata>("metadata", {{"key", Metadata::kKey},
                                                         {"timestamp", Metadata::kTimestamp},
                                                         {"partition", Metadata::kPartition},
                                                         {"offset", Metadata::kOffset}})
                          .value_or(Metadata::kNone);
    if (!MetadataFits(column.metadata, column.type)) {
      out.Add(metadata->position, fmt::format("metadata: column {} is a {}; this metadata is a {}", column.name,
                                              column.type.ToString(), MetadataType(column.metadata).ToString()));
    }
  }
  column.default_value = reader.Text("default");
  reader.Finish();
}

}  // namespace

std::vector<SourceColumn> ReadColumns(const DocumentNode& node, Diagnostics& out) {
  std::vector<SourceColumn> columns;
  if (!node.IsMap() || node.members.empty()) {
    out.Add(node.position, "columns takes names with types, for example {id: bigint, name: string}");
    return columns;
  }
  for (const DocumentNode::Member& member : node.members) {
    SourceColumn column;
    column.name = member.key;
    column.path = {member.key};
    column.type = StringType();  // goes on after an error, so that the rest is checked too
    if (member.value.IsMap()) {
      ReadLongForm(member.value, column, out);
    } else if (const auto type = ReadType(member.value, member.key, out)) {
      column.type = *type;
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

int FindColumn(const std::string& name, const FilePosition& position, const std::vector<SourceColumn>& columns,
               Diagnostics& out) {
  std::vector<std::string> names;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<int>(i);
    names.push_back(columns[i].name);
  }
  out.Add(position, fmt::format("there is no column {}{}", name, DidYouMean(name, names)));
  return -1;
}

std::vector<int> ReadColumnNames(const DocumentNode& node, std::string_view key,
                                 const std::vector<SourceColumn>& columns, Diagnostics& out) {
  std::vector<int> indexes;
  const auto add = [&](const DocumentNode& item) {
    const auto name = ReadText(item, key, out);
    if (!name) return;
    const int index = FindColumn(*name, item.position, columns, out);
    if (index < 0) return;
    if (std::find(indexes.begin(), indexes.end(), index) != indexes.end()) {
      return out.Add(item.position, fmt::format("{}: column {} is given twice", key, *name));
    }
    indexes.push_back(index);
  };
  if (node.IsList()) {
    for (const DocumentNode& item : node.items) add(item);
    if (node.items.empty()) out.Add(node.position, fmt::format("{} names no column", key));
  } else {
    add(node);
  }
  return indexes;
}

}  // namespace weir
