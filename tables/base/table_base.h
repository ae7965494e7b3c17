// The base of a table: its rows as of the last fold, in RocksDB, without a write-ahead log.  Format:
// docs/formats/base.md.
//
// Key: bucket (2 bytes, big endian), LEB128 length of `group`, `group`, `unique`; value: `rest`.  Rows come in only as
// sorted SST files by one IngestExternalFile call a fold, together with a marker; so the base never holds half a fold.
// The database is made with the first fold: until then the table has no base and nothing to look up.
// Thread-safe: any number of reading calls beside one Fold.  No iterator outlives a call.
// Errors: kState, with the folder and RocksDB's own message; a bad checksum is one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "tables/log/log_entry.h"

namespace rocksdb {
class Cache;
struct Options;
}  // namespace rocksdb

namespace weir {

struct BaseOptions {
  std::shared_ptr<rocksdb::Cache> block_cache;  // shared by all tables of a job; null: 32 MiB of its own
};
std::shared_ptr<rocksdb::Cache> MakeBlockCache(int64_t bytes);

struct GroupKey {
  int bucket = 0;  // below kMaxBuckets
  std::string_view group;
};

struct RowKey {
  int bucket = 0;
  std::string_view group;
  std::string_view unique;
};

// The two largest bucket numbers that fit the key's two bytes are left to the marker.
inline constexpr int kMaxBuckets = 0xfffe;

class TableBase {
 public:
  // Opens the database in `folder` if there is one; makes nothing.  Removes what an abandoned fold left there.
  static Result<std::unique_ptr<TableBase>> Open(const std::string& folder, const BaseOptions& options);
  virtual ~TableBase() = default;

  virtual bool empty() const = 0;  // nothing has ever been folded
  // What the last fold left; empty before the first.
  virtual Result<std::string> Marker() const = 0;

  // Calls take(i, unique, rest) for every row of groups[i]: each group's rows together and in the order of `unique`,
  // the groups in no order (it is that of their keys, so that blocks are visited once).  Bloom filters answer for
  // groups that are not there.  The rows are those of one moment: of no fold or of a whole one.
  virtual Status Scan(std::span<const GroupKey> groups,
                      const std::function<void(size_t i, std::string_view unique, std::string_view rest)>& take) = 0;
  // Calls take(i, rest) for each of rows[i] that is there, in no order.  Not of one moment: beside a fold, rows may be
  // those of before it or of after it.
  virtual Status MultiGet(std::span<const RowKey> rows,
                          const std::function<void(size_t i, std::string_view rest)>& take) = 0;
  // Every row of a bucket in key order: for checks and queries.
  virtual Status ScanBucket(
      int bucket,
      const std::function<Status(std::string_view group, std::string_view unique, std::string_view rest)>& take) = 0;

  // Number of files at level 0: folds back off when there are many, because each costs every lookup.
  virtual int level0_files() const = 0;
  virtual int64_t bytes() const = 0;  // of all files
  // Memory of the indexes and bloom filters of open files, outside the block cache: about 1.5 % of bytes().
  virtual int64_t index_bytes() const = 0;

  // Makes a new folder `path` of the base as it is now: hard links of the SST files, copies of the few small files that
  // RocksDB goes on writing.  Open can open it, and neither copy can damage the other.  Durable.  Not beside a fold.
  // Returns the sizes of its files by name; none when the base is empty.
  virtual Result<std::vector<std::pair<std::string, int64_t>>> LinkInto(const std::string& path) = 0;
  // Makes `folder` what `linked`, a result of LinkInto, is, in the same way.  What was in `folder` goes; it must not be
  // open.  Durable; after a crash inside it, `folder` is the old or the new one or not there: call it again.
  static Status RestoreFrom(const std::string& linked, const std::string& folder);

 private:
  friend class Fold;
  // By any number of threads.
  virtual Result<std::string> NewFile() = 0;
  // Makes the files, whose names came from NewFile, part of the database, all of them or none.
  virtual Status Ingest(const std::vector<std::string>& files) = 0;
  virtual const std::string& folder() const = 0;
  virtual const rocksdb::Options& options() const = 0;
};

// One fold: takes the changes of each bucket in order, keeps the newest of each key, writes sorted files, and ingests
// them with the marker in one call.  Memory: the entries of one bucket.  One thread.  What an abandoned fold wrote is
// deleted by its destructor, or by the next Open.  The first fold of a base writes no removals.
//
// A fold may come in runs: each is a Fold of its own, which Close ends; a later run is newer than an earlier one.  The
// last one is not closed but ingests all of them.  Runs may be written beside another fold; Finish is called by one
// thread at a time.
class Fold {
 public:
  // `first_run`: no run of the same buckets that is not in the base yet goes before this one.
  explicit Fold(TableBase& base, bool first_run = true);
  ~Fold();
  // Of one bucket, in the order in which they happened; buckets in rising order.
  Status Add(int bucket, const LogEntry& entry);
  // Ends the files, which stay outside the base.
  Status Close();
  // Ends the files and ingests them, behind those of the closed runs before it, oldest first.  The base is durable when
  // it returns.  After an error of Add or Finish nothing has changed in the base, and the fold is over.
  Status Finish(std::string_view marker, std::span<const std::unique_ptr<Fold>> runs = {});
  int64_t rows() const;   // written, of all buckets, removals too
  int64_t bytes() const;  // of the files

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir
