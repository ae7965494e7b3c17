// A table without a primary_key: a log table, whose rows are only added.

#include "jobs/job_file/map_reader.h"
#include "jobs/job_file/read_columns.h"
#include "jobs/job_file/read_sections.h"

namespace weir {
namespace {

constexpr int kMaxBuckets = 4096;

void ReadBucket(const DocumentNode& node, TableDeclaration& table, Diagnostics& out) {
  MapReader reader(node, "bucket", out);
  if (!reader.ok()) return;
  table.buckets = static_cast<int>(reader.Integer("num", 1, kMaxBuckets).value_or(table.buckets));
  if (const DocumentNode* key = reader.Take("key")) {
    table.bucket_key = ReadColumnNames(*key, "key", table.columns, out);
    for (const int index : table.bucket_key) {
      const SourceColumn& column = table.columns[static_cast<size_t>(index)];
      const TypeKind kind = column.type.kind;
      if (kind != TypeKind::kArray && kind != TypeKind::kBitmap32 && kind != TypeKind::kBitmap64) continue;
      out.Add(key->position, fmt::format("bucket: column {} is a {}, by which rows are not spread", column.name,
                                         column.type.ToString()));
    }
  }
  reader.Finish();
}

// Keys that mean something where rows replace one another.
void RefuseKeyed(MapReader& reader, Diagnostics& out) {
  for (const char* key : {"merge_engine", "sequence", "groups", "aggregate", "nulls", "delete", "auto_increment", "indexes"}) {
    if (const DocumentNode* node = reader.Take(key)) {
      out.Add(node->position, fmt::format("{} is for tables with a primary_key; without one this is a log table, whose "
                                          "rows are only added",
                                          key));
    }
  }
  if (const DocumentNode* node = reader.Take("changelog")) {
    out.Add(node->position, "changelog is for tables with a primary_key; the changes of a log table are its rows, and "
                            "ttl says how long they stay");
  }
  if (const DocumentNode* node = reader.Take("partition")) {
    out.Add(node->position, "partition comes with a later version; ttl lets old rows go");
  }
  reader.Take("primary_key");  // known, and not there
}

}  // namespace

void ReadLogTable(MapReader& reader, TableDeclaration& table, Diagnostics& out) {
  RefuseKeyed(reader, out);
  if (const DocumentNode* ttl = reader.Take("ttl")) {
    const auto duration = ReadDuration(*ttl, "ttl", out);
    table.ttl = duration.value_or(0);
    if (duration && *duration <= 0) out.Add(ttl->position, "ttl: rows stay for longer than no time");
  }
  if (const DocumentNode* bucket = reader.Take("bucket")) ReadBucket(*bucket, table, out);
}

}  // namespace weir
