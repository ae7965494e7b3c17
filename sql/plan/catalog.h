// What a query may name: sources, tables and sinks of the job file as the planner sees them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/data/types.h"

namespace weir {

enum class ChangelogMode {
  kAppend,  // only +I
  kUpsert,  // +I/+U replace the row of the key, no -U; -D may carry key columns only
  kFull,    // every change, -U before +U
};

// Buckets of a table for which the job says nothing.
inline constexpr int kDefaultBuckets = 8;

struct CatalogRelation {
  enum class Kind { kSource, kTable, kSink };
  Kind kind = Kind::kSource;
  std::string name;
  Schema schema;                 // of a sink: empty, it takes what the query gives
  std::vector<int> primary_key;  // column indexes
  ChangelogMode changelog = ChangelogMode::kAppend;
  std::optional<int> event_time;
  bool deletes_key_only = false;  // a kFull source may send -D rows with NULL beside the key
  // Tables only.  A table without a primary key is a log table.
  std::vector<int> bucket_key;  // a part of the primary key; of a log table any columns, or none
  int buckets = kDefaultBuckets;
  std::vector<int> not_null;  // columns beside the key that take no NULL
  std::vector<std::vector<int>> indexes;  // columns by which rows are found beside the key
  bool IsLogTable() const { return kind == Kind::kTable && primary_key.empty(); }
  // Sinks only.
  bool upsert_sink = false;                    // takes an upsert stream: needs a key
  std::vector<std::string> sink_key;           // option `key`; empty: the query's upsert key
  bool one_writer = false;                     // its INSERTs have to become one: a folder of files
};

struct Catalog {
  std::vector<CatalogRelation> relations;

  const CatalogRelation* Find(const std::string& name) const {
    for (const auto& relation : relations) {
      if (relation.name == name) return &relation;
    }
    return nullptr;
  }
};

}  // namespace weir
