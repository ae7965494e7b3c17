#include "tables/base/table_base.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <optional>

#include "engine/base/check.h"
#include "engine/base/file.h"
#include "tables/base/base_copy.h"
#include "tables/base/rocksdb_edge.h"
#include "tables/base/sorted_rows.h"

namespace weir {
namespace {

constexpr int64_t kOwnCacheBytes = 32 << 20;

class RocksBase final : public TableBase {
 public:
  RocksBase(std::string folder, const BaseOptions& options)
      : folder_(std::move(folder)),
        options_(MakeBaseOptions(options.block_cache ? options.block_cache : MakeBlockCache(kOwnCacheBytes))) {}

  Status OpenExisting() {
    WEIR_TRY(RemoveTree(FoldingFolder()));
    std::error_code error;
    const bool exists = std::filesystem::exists(std::filesystem::path(folder_) / "CURRENT", error);
    if (error) return BaseError(folder_, "read the folder", error.message());
    if (!exists) return {};
    WEIR_TRY(RemoveUnfinishedFiles());
    WEIR_TRY(OpenDatabase());
    // A database without a marker is that of a first fold which a crash stopped before its ingestion.
    WEIR_ASSIGN(const std::optional<std::string> marker, ReadMarker());
    empty_.store(!marker, std::memory_order_release);
    return {};
  }

  // A file of options that a crash left under its temporary name: RocksDB never removes it.
  Status RemoveUnfinishedFiles() const {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
      if (entry.path().extension() == ".dbtmp") WEIR_TRY(RemoveTree(entry.path()));
    }
    if (error) return BaseError(folder_, "read the folder", error.message());
    return {};
  }

  bool empty() const override { return empty_.load(std::memory_order_acquire); }

  Result<std::string> Marker() const override {
    if (empty()) return std::string();
    return Guarded(folder_, "read the marker", [&]() -> Result<std::string> {
      WEIR_ASSIGN(std::optional<std::string> marker, ReadMarker());
      if (!marker) return BaseError(folder_, "read the marker", "it is not there");
      return std::move(*marker);
    });
  }

  Status Scan(std::span<const GroupKey> groups,
              const std::function<void(size_t, std::string_view, std::string_view)>& take) override {
    if (empty() || groups.empty()) return {};
    return Guarded(folder_, "look up rows", [&]() -> Status {
      SortedRows sorted;
      for (const GroupKey& group : groups) sorted.Add(group.bucket, group.group, {});
      sorted.Sort();
      rocksdb::ReadOptions read;
      read.prefix_same_as_start = true;
      const std::unique_ptr<rocksdb::Iterator> rows(database_->NewIterator(read));
      for (size_t i = 0; i < sorted.size(); ++i) {
        const SortedRows::Row group = sorted.at(i);
        for (rows->Seek(group.key); rows->Valid(); rows->Next()) {
          take(group.index, rows->key().ToStringView().substr(group.key.size()), rows->value().ToStringView());
        }
        WEIR_TRY(BaseStatus(folder_, "look up rows", rows->status()));
      }
      return {};
    });
  }

  Status MultiGet(std::span<const RowKey> rows, const std::function<void(size_t, std::string_view)>& take) override {
    if (empty() || rows.empty()) return {};
    return Guarded(folder_, "look up rows", [&]() -> Status {
      SortedRows sorted;
      for (const RowKey& row : rows) sorted.Add(row.bucket, row.group, row.unique);
      sorted.Sort();
      for (size_t first = 0; first < sorted.size(); first += kRowsAtOnce) {
        WEIR_TRY(GetSome(sorted, first, std::min(kRowsAtOnce, sorted.size() - first), take));
      }
      return {};
    });
  }

  Status ScanBucket(int bucket,
                    const std::function<Status(std::string_view, std::string_view, std::string_view)>& take) override {
    WEIR_CHECK_LT(bucket, kMaxBuckets);
    if (empty()) return {};
    return Guarded(folder_, "read a bucket", [&]() -> Status {
      std::string from;
      std::string to;
      AppendBucket(bucket, from);
      AppendBucket(bucket + 1, to);
      const rocksdb::Slice bound(to);
      rocksdb::ReadOptions read;
      read.total_order_seek = true;
      read.fill_cache = false;
      read.iterate_upper_bound = &bound;
      const std::unique_ptr<rocksdb::Iterator> rows(database_->NewIterator(read));
      for (rows->Seek(from); rows->Valid(); rows->Next()) {
        const std::string_view key = rows->key().ToStringView();
        const size_t prefix = GroupPrefixBytes(key);
        if (prefix == 0) return BaseError(folder_, "read a bucket", "there is a key without a group");
        WEIR_TRY(take(GroupOf(key, prefix), key.substr(prefix), rows->value().ToStringView()));
      }
      return BaseStatus(folder_, "read a bucket", rows->status());
    });
  }

  int level0_files() const override {
    std::string text;  // not one of the properties that come as numbers
    int files = 0;
    if (!empty() && database_->GetProperty("rocksdb.num-files-at-level0", &text)) {
      std::from_chars(text.data(), text.data() + text.size(), files);
    }
    return files;
  }
  int64_t bytes() const override { return Property("rocksdb.live-sst-files-size"); }
  int64_t index_bytes() const override { return Property("rocksdb.estimate-table-readers-mem"); }

  Result<std::vector<std::pair<std::string, int64_t>>> LinkInto(const std::string& path) override {
    using Files = std::vector<std::pair<std::string, int64_t>>;
    return Guarded(folder_, "make a copy", [&]() -> Result<Files> {
      Files files;
      if (empty()) {
        WEIR_TRY(MakeFolder(path));
        return files;
      }
      WEIR_TRY(LinkDatabase(*database_, folder_, path));
      for (const auto& file : std::filesystem::directory_iterator(path)) {
        files.emplace_back(file.path().filename().string(), static_cast<int64_t>(file.file_size()));
      }
      std::sort(files.begin(), files.end());
      return files;
    });
  }

 private:
  static constexpr size_t kRowsAtOnce = 256;

  std::string FoldingFolder() const { return (std::filesystem::path(folder_) / "folding").string(); }

  Status OpenDatabase(bool create = false) {
    rocksdb::DB* opened = nullptr;
    rocksdb::Options options = options_;
    options.create_if_missing = create;
    WEIR_TRY(BaseStatus(folder_, "open the table's rows", rocksdb::DB::Open(options, folder_, &opened)));
    database_.reset(opened);
    return {};
  }

  Status CreateDatabase() {
    WEIR_TRY(MakeFolder(folder_));
    WEIR_TRY(OpenDatabase(/*create=*/true));
    const std::filesystem::path folder = std::filesystem::absolute(folder_);
    return SyncFolder(folder.parent_path().string());
  }

  Result<std::optional<std::string>> ReadMarker() const {
    std::string marker;
    const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), rocksdb::Slice(kMarkerKey), &marker);
    if (status.IsNotFound()) return std::optional<std::string>();
    WEIR_TRY(BaseStatus(folder_, "read the marker", status));
    return std::optional<std::string>(std::move(marker));
  }

  Status GetSome(const SortedRows& sorted, size_t first, size_t count,
                 const std::function<void(size_t, std::string_view)>& take) {
    std::array<rocksdb::Slice, kRowsAtOnce> keys;
    std::array<rocksdb::PinnableSlice, kRowsAtOnce> values;
    std::array<rocksdb::Status, kRowsAtOnce> statuses;
    for (size_t i = 0; i < count; ++i) keys[i] = sorted.at(first + i).key;
    database_->MultiGet(rocksdb::ReadOptions(), database_->DefaultColumnFamily(), count, keys.data(), values.data(),
                        statuses.data(), /*sorted_input=*/true);
    for (size_t i = 0; i < count; ++i) {
      if (statuses[i].IsNotFound()) continue;
      WEIR_TRY(BaseStatus(folder_, "look up rows", statuses[i]));
      take(sorted.at(first + i).index, values[i].ToStringView());
    }
    return {};
  }

  int64_t Property(const char* name) const {
    uint64_t value = 0;
    if (!empty()) database_->GetIntProperty(name, &value);
    return static_cast<int64_t>(value);
  }

  Status Ingest(const std::vector<std::string>& files) override {
    if (!database_) WEIR_TRY(CreateDatabase());
    rocksdb::IngestExternalFileOptions how;
    how.move_files = true;
    how.snapshot_consistency = false;  // there are no snapshots, and iterators have their version
    // The number that makes these rows newer than what is there stands in RocksDB's MANIFEST alone: the files stay as
    // they were written, and hard links of them may be shared.
    how.write_global_seqno = false;
    WEIR_TRY(BaseStatus(folder_, "ingest a fold", database_->IngestExternalFile(files, how)));
    empty_.store(false, std::memory_order_release);
    return {};
  }

  Result<std::string> NewFile() override {
    WEIR_TRY(MakeFolder(FoldingFolder()));
    return fmt::format("{}/{:06}.sst", FoldingFolder(), next_file_++);
  }

  const std::string& folder() const override { return folder_; }
  const rocksdb::Options& options() const override { return options_; }

  const std::string folder_;
  const rocksdb::Options options_;
  // Written before empty_ says false, by the one thread that folds; readers look at it only after that.
  std::unique_ptr<rocksdb::DB> database_;
  std::atomic<bool> empty_ = true;
  std::atomic<int> next_file_ = 0;
};

}  // namespace

Result<std::unique_ptr<TableBase>> TableBase::Open(const std::string& folder, const BaseOptions& options) {
  return Guarded(folder, "open the table's rows", [&]() -> Result<std::unique_ptr<TableBase>> {
    auto base = std::make_unique<RocksBase>(folder, options);
    WEIR_TRY(base->OpenExisting());
    return std::unique_ptr<TableBase>(std::move(base));
  });
}

}  // namespace weir
