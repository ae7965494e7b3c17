#include "tables/base/rocksdb_edge.h"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include "tables/base/sorted_rows.h"
#include "tables/base/table_base.h"

namespace weir {
namespace {

// The bloom filters hold groups: they are what a lookup has.
class GroupPrefix final : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "weir.GroupPrefix"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), GroupPrefixBytes(key.ToStringView())};
  }
  bool InDomain(const rocksdb::Slice& key) const override { return GroupPrefixBytes(key.ToStringView()) > 0; }
};

// RocksDB's failures come back from its calls; its LOG files would only lie around in the state dir.
class NoLogger final : public rocksdb::Logger {
 public:
  NoLogger() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
  void LogHeader(const char*, va_list) override {}
};

rocksdb::BlockBasedTableOptions MakeFileOptions(std::shared_ptr<rocksdb::Cache> block_cache) {
  rocksdb::BlockBasedTableOptions file;
  file.format_version = 5;
  file.checksum = rocksdb::kXXH3;
  file.block_size = 8 << 10;
  file.block_restart_interval = 8;  // a seek decodes half as much as with the default, for 3 % larger files
  file.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // A group mostly has one row or all its rows are wanted: the group's filter answers for a row too.
  file.whole_key_filtering = false;
  file.block_cache = std::move(block_cache);
  // In the block cache they would cost a lookup 1 us a file, measured, and a cache smaller than they are would read
  // them again and again.  They are bounded by max_open_files, and index_bytes tells their size.
  file.cache_index_and_filter_blocks = false;
  return file;
}

}  // namespace

std::shared_ptr<rocksdb::Cache> MakeBlockCache(int64_t bytes) {
  return rocksdb::NewLRUCache(static_cast<size_t>(bytes));
}

rocksdb::Options MakeBaseOptions(std::shared_ptr<rocksdb::Cache> block_cache) {
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(MakeFileOptions(std::move(block_cache))));
  options.prefix_extractor = std::make_shared<GroupPrefix>();
  options.compression = rocksdb::kLZ4Compression;
  options.info_log = std::make_shared<NoLogger>();

  // Rows come by ingestion only: the memtable stays empty.
  options.write_buffer_size = 64 << 10;
  options.allow_concurrent_memtable_write = false;

  // One thread for compactions and one for the rest, shared by all databases of the process.
  options.max_background_jobs = 2;
  // Each run of rows that overlap costs a lookup about as much as the first.  A small base is level 0 and one level
  // below, which a fold finds occupied; without dynamic levels folds would fill seven levels before anything is merged.
  options.level0_file_num_compaction_trigger = 4;
  options.level_compaction_dynamic_level_bytes = true;
  options.target_file_size_base = 64 << 20;
  options.compaction_readahead_size = 1 << 20;
  options.bytes_per_sync = 1 << 20;  // so that the fsync at the end of a file finds little to do

  options.max_open_files = 256;
  options.max_manifest_file_size = 1 << 20;  // it is copied into every LinkInto
  options.keep_log_file_num = 1;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.skip_stats_update_on_db_open = true;
  return options;
}

}  // namespace weir
