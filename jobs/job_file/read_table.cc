// The tables section: what a declared table has, and what this version cannot do for it yet.

#include <algorithm>

#include "jobs/job_file/map_reader.h"
#include "jobs/job_file/read_columns.h"
#include "jobs/job_file/read_sections.h"

namespace weir {
namespace {

constexpr int kMaxBuckets = 4096;

void CheckKeyTypes(const DocumentNode& node, const TableDeclaration& table, Diagnostics& out) {
  for (const int index : table.primary_key) {
    const SourceColumn& column = table.columns[static_cast<size_t>(index)];
    const TypeKind kind = column.type.kind;
    if (kind != TypeKind::kArray && kind != TypeKind::kBitmap32 && kind != TypeKind::kBitmap64) continue;
    out.Add(node.position, fmt::format("primary_key: column {} is a {}, which is no key", column.name,
                                       column.type.ToString()));
  }
}

void ReadBucket(const DocumentNode& node, TableDeclaration& table, Diagnostics& out) {
  MapReader reader(node, "bucket", out);
  if (!reader.ok()) return;
  table.buckets = static_cast<int>(reader.Integer("num", 1, kMaxBuckets).value_or(table.buckets));
  if (const DocumentNode* key = reader.Take("key")) {
    table.bucket_key = ReadColumnNames(*key, "key", table.columns, out);
    for (const int column : table.bucket_key) {
      const auto& primary = table.primary_key;
      if (std::find(primary.begin(), primary.end(), column) != primary.end()) continue;
      out.Add(key->position,
              fmt::format("bucket: column {} does not belong to the primary_key, and a row must not change its bucket",
                          table.columns[static_cast<size_t>(column)].name));
    }
  }
  reader.Finish();
}

void ReadEngine(MapReader& reader, Diagnostics& out) {
  const DocumentNode* node = reader.Take("merge_engine");
  if (node == nullptr) return;
  const auto engine = reader.Choice<std::string>("merge_engine", {{"deduplicate", ""},
                                                                  {"first_row", "first_row"},
                                                                  {"versioned", "versioned"},
                                                                  {"partial_update", "partial_update"},
                                                                  {"aggregation", "aggregation"}});
  if (engine && !engine->empty()) {
    out.Add(node->position,
            fmt::format("merge_engine: {} comes with a later version; deduplicate is the one there is", *engine));
  }
}

void ReadChangelogOfTable(const DocumentNode& node, Diagnostics& out) {
  MapReader reader(node, "changelog", out);
  if (!reader.ok()) return;
  const DocumentNode* image = reader.Take("image");
  const auto full = reader.Choice<bool>("image", {{"full", true}, {"after", false}});
  if (image != nullptr && full && !*full) {
    out.Add(image->position, "image: after comes with a later version; full is the one there is");
  }
  for (const char* key : {"retain", "retain_bytes"}) {
    if (const DocumentNode* retain = reader.Take(key)) {
      out.Add(retain->position,
              fmt::format("{} comes with a later version; a table's log is kept as long as a restart needs it", key));
    }
  }
  reader.Finish();
}

// Keys that are known and that would change what a table does, which this version does not do.
void RefuseLater(MapReader& reader, Diagnostics& out) {
  const auto refuse = [&](const char* key, const char* instead) {
    if (const DocumentNode* node = reader.Take(key)) {
      out.Add(node->position, fmt::format("{} comes with a later version{}", key, instead));
    }
  };
  refuse("sequence", "; today the row that arrives last is kept");
  refuse("groups", "");
  refuse("aggregate", "");
  refuse("nulls", "; today a NULL overwrites as any value does");
  refuse("partition", "");
  refuse("auto_increment", "");
  if (const DocumentNode* node = reader.Take("delete")) {
    const auto what = ReadText(*node, "delete", out);
    if (what && *what != "row") {
      out.Add(node->position, fmt::format("delete: {} comes with a later version; row is the one there is", *what));
    }
  }
}

void CheckTableColumns(const DocumentNode& columns, Diagnostics& out) {
  for (const DocumentNode::Member& column : columns.members) {
    for (const DocumentNode::Member& key : column.value.members) {
      if (key.key == "type") continue;
      const bool of_sources = key.key == "path" || key.key == "unit" || key.key == "metadata" || key.key == "default";
      if (!of_sources) continue;  // reported as unknown already
      out.Add(key.position, fmt::format("{} is for columns of sources; a column of a table has a type alone", key.key));
    }
  }
}

void ReadKeyedTable(MapReader& reader, TableDeclaration& table, Diagnostics& out) {
  RefuseLater(reader, out);
  ReadEngine(reader, out);
  if (const DocumentNode* changelog = reader.Take("changelog")) ReadChangelogOfTable(*changelog, out);
  if (const DocumentNode* ttl = reader.Take("ttl")) {
    out.Add(ttl->position, "ttl is for log tables, which have no primary_key; a row with a key stays until it is deleted");
  }
  if (const DocumentNode* key = reader.Require("primary_key")) {
    table.primary_key = ReadColumnNames(*key, "primary_key", table.columns, out);
    CheckKeyTypes(*key, table, out);
  }
  table.bucket_key = table.primary_key;
  if (const DocumentNode* bucket = reader.Take("bucket")) ReadBucket(*bucket, table, out);
  if (const DocumentNode* indexes = reader.Take("indexes")) ReadIndexes(*indexes, table, out);
}

}  // namespace

Schema TableDeclaration::MakeSchema() const {
  std::vector<Field> fields;
  for (const SourceColumn& column : columns) fields.push_back({column.name, column.type, true});
  for (const int index : primary_key) fields[static_cast<size_t>(index)].nullable = false;
  return Schema(std::move(fields));
}

TableDeclaration ReadTable(const DocumentNode::Member& member, Diagnostics& out) {
  TableDeclaration table;
  table.name = member.key;
  table.position = member.position;
  const size_t errors_before = out.size();
  MapReader reader(member.value, fmt::format("table {}", member.key), out);
  if (!reader.ok()) return table;
  if (const DocumentNode* columns = reader.Require("columns")) {
    table.columns = ReadColumns(*columns, out);
    if (columns->IsMap()) CheckTableColumns(*columns, out);
  }
  if (member.value.Find("primary_key") == nullptr) {
    ReadLogTable(reader, table, out);
  } else {
    ReadKeyedTable(reader, table, out);
  }
  if (const DocumentNode* not_null = reader.Take("not_null")) {
    table.not_null = ReadColumnNames(*not_null, "not_null", table.columns, out);
  }
  table.sound = out.size() == errors_before;
  reader.Finish();
  return table;
}

}  // namespace weir
