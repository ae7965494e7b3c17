// The base of a table: its rows as of the last fold, in RocksDB, without a write-ahead log.  Format: docs/formats/base.md.
//
// Key: bucket (2 bytes, big endian), varint length of `group`, `group`, `unique`; value: `rest`.  Rows come in only as
// sorted SST files by one IngestExternalFile call a fold, together with a marker; so the base never holds half a fold.
// The database is made with the first fold: until then the table has no base and nothing to look up.
// Thread-safe: any number of Scan and Get calls beside one Ingest.  No iterator outlives a call.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "tables/log/log_entry.h"

namespace rocksdb {
class Cache;
}

namespace weir {

struct BaseOptions {
  std::shared_ptr<rocksdb::Cache> block_cache;  // shared by all tables of a job; null: 32 MiB of its own
};
std::shared_ptr<rocksdb::Cache> MakeBlockCache(int64_t bytes);

struct GroupKey {
  int bucket = 0;
  std::string_view group;
};

class TableBase {
 public:
  // Opens the database in `folder` if there is one.
  static Result<std::unique_ptr<TableBase>> Open(const std::string& folder, const BaseOptions& options);
  virtual ~TableBase() = default;

  virtual bool empty() const = 0;  // nothing has ever been folded
  // What the last fold left; empty before the first.
  virtual Result<std::string> Marker() const = 0;

  // Calls take(i, unique, rest) for every row of groups[i]; i rises.  Bloom filters answer for groups that are not there.
  virtual Status Scan(std::span<const GroupKey> groups,
                      const std::function<void(size_t i, std::string_view unique, std::string_view rest)>& take) = 0;
  // Every row of a bucket in key order: for checks and queries.
  virtual Status ScanBucket(int bucket, const std::function<Status(std::string_view group, std::string_view unique,
                                                                   std::string_view rest)>& take) = 0;

  // Number of files at level 0: folds back off when there are many.
  virtual int level0_files() const = 0;
  virtual int64_t bytes() const = 0;  // of all files

  // Makes hard links of all files in a new folder `path`: the base as it is now.  Returns the sizes of its files by name.
  virtual Result<std::vector<std::pair<std::string, int64_t>>> LinkInto(const std::string& path) = 0;

 private:
  friend class Fold;
  virtual Status Ingest(const std::vector<std::string>& files) = 0;
  virtual std::string NewFileName() = 0;
  virtual std::string marker_key() const = 0;
};

// One fold: takes the changes of each bucket in order, keeps the newest of each key, writes sorted files, and ingests
// them with the marker in one call.  Memory: the entries of one bucket.  One thread.  What an abandoned fold wrote is
// deleted by its destructor, or by the next Open.
class Fold {
 public:
  explicit Fold(TableBase& base);
  ~Fold();
  // Of one bucket, in the order in which they happened; buckets in rising order.
  Status Add(int bucket, const LogEntry& entry);
  // Ends the files and ingests them.  The base is durable when it returns.
  Status Finish(std::string_view marker);
  int64_t rows() const;   // written, of all buckets
  int64_t bytes() const;  // of the files

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir
